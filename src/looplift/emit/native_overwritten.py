"""Arrays whose elements are all stored before any of them is read: a kernel need not fill them first.

out = torch.zeros(n, m)            Array<float, 2> out;
for i in range(n):                 for (int64_t i = 0; i < n; ++i)
    for j in range(m):               for (int64_t j = 0; j < m; ++j)
        out[i, j] = x[i] * y[j]        out(i, j) = x(i) * y(j);
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from looplift.emit.native_ops import canonical
from looplift.ir.facts import Facts
from looplift.ir.grammar import (
    Block,
    Const,
    Group,
    Let,
    Loop,
    Op,
    Operand,
    Range,
    Slice,
    Statement,
    Store,
    Var,
    atoms,
    children,
    definitions,
    uses,
    walk,
)

_MADE = frozenset("zeros ones empty full".split())
_ARITHMETIC = frozenset("add sub mul floordiv".split())


def overwritten(loop: Loop, facts: Facts) -> frozenset[Var]:
    """The variables of arrays that the statement after them which first uses them stores as a whole."""
    sizes = _Sizes(loop, facts)
    found: set[Var] = set()
    for block in _blocks(Block((loop,))):
        for place, statement in enumerate(block.statements):
            if isinstance(statement, Let) and _is_made(statement.op):
                first = next((s for s in block.statements[place + 1 :] if _users(s, statement.var)), None)
                if isinstance(first, Loop) and _stores_all(first, statement.var, sizes):
                    found.add(statement.var)
    return frozenset(found)


def _blocks(block: Block) -> Iterator[Block]:
    yield block
    for statement in block.statements:
        for inner in children(statement):
            yield from _blocks(inner)


def _is_made(op: Op) -> bool:
    namespace, short = canonical(op.name)
    return namespace in ("torch", "np") and short.removesuffix("_like") in _MADE


def _asks_for_sizes(op: Op) -> bool:
    """Whether an operation on an array looks at no element."""
    namespace, short = canonical(op.name)
    if op.name == "attribute":
        return isinstance(op.args[1], Const) and op.args[1].value in ("shape", "ndim", "dtype")
    return short in ("len", "iter_len") or (namespace, short) in (("method", "size"), ("method", "dim"))


def _uses_elements(statement: Statement, var: Var) -> bool:
    """Whether a statement itself uses more of an array than its sizes."""
    return var in uses(statement) and not (isinstance(statement, Let) and _asks_for_sizes(statement.op))


def _users(statement: Statement, var: Var) -> list[Statement]:
    return [one for one in walk((statement,)) if _uses_elements(one, var)]


def _stores_all(nest: Loop, var: Var, sizes: _Sizes) -> bool:
    """Whether a nest of loops stores each element, in each of its iterations, and uses it in no other way."""
    others = _users(nest, var)
    if len(others) != 1 or not isinstance(others[0], Store) or others[0].ref is not var:
        return False
    store, loops = others[0], list[Loop]()
    statement: Statement | None = nest
    while isinstance(statement, Loop):
        loops.append(statement)
        inside = statement.body.statements
        statement = next((one for one in inside if one is store or store in walk((one,))), None)
    return statement is store and _is_whole(store, loops, sizes)


def _is_whole(store: Store, loops: list[Loop], sizes: _Sizes) -> bool:
    if store.combine is not None or store.method or store.ref in (store.value, *atoms(store.index)):
        return False
    items = store.index.items if isinstance(store.index, Group) and store.index.kind == "tuple" else (store.index,)
    left = {loop.index: loop for loop in loops}
    for axis, item in enumerate(items):
        if isinstance(item, Slice):
            if any(not isinstance(part, Const) or part.value is not None for part in (item.lo, item.hi, item.step)):
                return False
        elif not isinstance(item, Var) or item not in left or not _runs_over(left.pop(item), store.ref, axis, sizes):
            return False
    return not left


def _runs_over(loop: Loop, var: Var, axis: int, sizes: _Sizes) -> bool:
    """Whether a loop counts the places of an axis, from the first to the last."""
    domain = loop.domain
    if not isinstance(domain, Range) or loop.stop is not None:
        return False
    starts = [bound.value for bound in (domain.lo, domain.step) if isinstance(bound, Const)]
    wanted = sizes.axis(var, axis)
    return starts == [0, 1] and wanted is not None and sizes.of(domain.hi) == wanted


class _Sizes:
    """Numbers that are known to be equal, by what they are made of."""

    def __init__(self, loop: Loop, facts: Facts) -> None:
        self._lets = {one.var: one.op for one in walk((loop,)) if isinstance(one, Let)}
        made = {var for one in walk((loop,)) for var in definitions(one)}
        self._arrays = {v for v in facts.of if v not in made and facts.kind(v).family in ("tensor", "array")}

    def of(self, atom: Operand) -> Any:
        if isinstance(atom, Const):
            return ("constant", atom.value) if type(atom.value) is int else None
        op = self._lets.get(atom) if isinstance(atom, Var) else None
        if op is None:
            return ("variable", atom)
        _, short = canonical(op.name)
        if op.name == "getitem" and isinstance(op.args[0], Var) and isinstance(op.args[1], Const):
            shape = self._lets.get(op.args[0])
            if shape is not None and _is_shape(shape):
                return self._axis_of(shape.args[0], op.args[1].value) or ("variable", atom)
        if short in ("len", "iter_len") and len(op.args) == 1:
            return self._axis_of(op.args[0], 0) or ("variable", atom)
        if short == "size" and len(op.args) == 2 and isinstance(op.args[1], Const):
            return self._axis_of(op.args[0], op.args[1].value) or ("variable", atom)
        if op.name in _ARITHMETIC:
            parts = [self.of(one) for one in op.args]
            return (op.name, *parts) if None not in parts else ("variable", atom)
        return ("variable", atom)

    def axis(self, var: Var, axis: int) -> Any:
        """The size of an array that is made here."""
        op = self._lets[var]
        _, short = canonical(op.name)
        if short.endswith("_like"):
            return self._axis_of(op.args[0], axis)
        named = dict(op.kwargs)
        args: list[Operand] = [*op.args]
        for name in ("size", "shape"):
            args = [named[name], *args] if name in named else args
        if short == "full" or not args:
            args = args[:1]
        if len(args) == 1 and isinstance(args[0], Group):
            args = [*args[0].items]
        elif len(args) == 1 and isinstance(args[0], Var) and _is_shape(self._lets.get(args[0])):
            return self._axis_of(self._lets[args[0]].args[0], axis)
        return self.of(args[axis]) if axis < len(args) and not isinstance(args[axis], Slice) else None

    def _axis_of(self, array: Operand, axis: Any) -> Any:
        """The size of an array or a tensor; None of what may be a list, whose length can change."""
        if not isinstance(array, Var) or type(axis) is not int or axis < 0:
            return None
        op = self._lets.get(array)
        if op is not None:
            return self.axis(array, axis) if _is_made(op) else None
        return ("size", array, axis) if array in self._arrays else None


def _is_shape(op: Op | None) -> bool:
    return op is not None and op.name == "attribute" and isinstance(op.args[1], Const) and op.args[1].value == "shape"
