"""A subscript in, the same with its slices written as ending where what they cut ends, out.

x[i:i + n]        x[i:min(i + n, len(x))]

Python cuts slices short at the end; as written, every slice of one length is a window, which is faster in lanes.
"""

from __future__ import annotations

from looplift.frontend import evident
from looplift.frontend.scope import Builder
from looplift.ir.grammar import Atom, Const, Function, Group, Let, Operand, Slice, Store, Var, walk


def has_ends(function: Function) -> bool:
    """Whether a slice ends where the data or an index says, which may lie behind the end of what it cuts."""
    return any(
        isinstance(part, Slice) and isinstance(part.hi, Var)
        for statement in walk(function.body)
        for part in _parts(_place(statement))
    )


def _place(statement: object) -> Operand | None:
    match statement:
        case Let(op=op) if op.name == "getitem":
            return op.args[1]
        case Store(index=index):
            return index
    return None


def _parts(place: Operand | None) -> tuple[Operand | None, ...]:
    return place.items if isinstance(place, Group) and place.kind == "tuple" else (place,)


def clipped(build: Builder, owner: Atom, place: Operand) -> Operand:
    """A subscript of ``owner``, whose slices end at its end if the builder clips them."""
    if not build.clips or not isinstance(owner, Var) or owner in build.sites:
        return place
    parts = _parts(place)
    made: list[Operand] = []
    for dim, part in enumerate(parts):
        if not isinstance(part, Slice) and not evident.is_integer(build, part):  # type: ignore[arg-type]
            made += parts[dim:]  # type: ignore[arg-type]
            break
        made.append(_ended(build, owner, dim, part) if isinstance(part, Slice) else part)  # type: ignore[arg-type]
    return Group("tuple", tuple(made)) if isinstance(place, Group) else made[0]


def _ended(build: Builder, owner: Var, dim: int, part: Slice) -> Slice:
    if not isinstance(part.hi, Var) or not isinstance(part.step, Const) or part.step.value is not None:
        return part
    shape = build.emit("attribute", owner, Const("shape"), hint="shape")
    size = build.emit("getitem", shape, Const(dim), hint="size")
    return Slice(part.lo, build.emit("builtin.min", part.hi, size, hint="end"), part.step)
