"""The plan of a region: which loops become axes, which stay, which become kernels, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

import torch

from looplift.base.data import dataclass, field
from looplift.base.errors import NotLiftable, TwoLibraries
from looplift.ir.array import Axis, Program
from looplift.ir.facts import Facts
from looplift.ir.grammar import Atom, Const, Function, Let, Loop, Var, While, operands, walk
from looplift.ops import table
from looplift.vectorize.begun import check_begun_numbers
from looplift.vectorize.context import Context
from looplift.vectorize.decisions import Decision
from looplift.vectorize.devices import check_devices
from looplift.vectorize.given import finite_at_first
from looplift.vectorize.lower import lower


@dataclass
class Plan:
    """A region's schedule: decisions, and the array program or the kernels that carry it out."""

    facts: Facts
    decisions: list[Decision]
    program: Program
    apart: set[tuple[str, str]] = field(default_factory=set)
    whole: set[str] = field(default_factory=set)
    mutated: list[str] = field(default_factory=list)
    random: bool = False
    notes: list[str] = field(default_factory=list)
    kernels: list[Any] = field(default_factory=list)
    no_kernels: list[NotLiftable] = field(default_factory=list)
    loops: dict[Axis, Loop] = field(default_factory=dict)
    """What each axis was."""
    rewritten: bool = False
    """Whether loops that remember, or are left early, were made others that can be lanes; a kernel needs no such."""
    once: bool = False
    """Whether it holds only where no two iterations change one place."""
    unsearched: Plan | None = None
    """The plan in which loops that are left early are no searches."""
    searches: tuple[Loop, ...] = ()
    """The loops that they are here."""

    @property
    def is_all_lanes(self) -> bool:
        """Whether no loop is left."""
        return all(decision.decision in ("lanes", "scan") for decision in self.decisions)

    def describe(self) -> str:
        """The plan in words, one line for each loop."""
        return "\n".join(
            f"line {d.line}: {d.decision}" + (f" ({d.reason})" if d.reason else "") for d in self.decisions
        )


def library_of(facts: Facts) -> str:
    """Whether the region is about tensors or about NumPy arrays; not about both."""
    families = {fact.kind.family for fact in facts.of.values()}
    families |= {item.family for fact in facts.of.values() for item in fact.kind.items}
    if "array" in families or "numpy" in families:
        if "tensor" in families:
            raise TwoLibraries(span=facts.function.span)
        return "np"
    return "torch"


def needs_grad(facts: Facts) -> bool:
    """Whether gradients may flow through the region; the mode is guarded."""
    if not torch.is_grad_enabled():
        return False
    function = facts.function
    values = [*function.attributes["values"].values(), *function.attributes["modules"].values()]
    if any(isinstance(v, torch.nn.Module) and any(p.requires_grad for p in v.parameters()) for v in values):
        return True
    return _any_asks(lambda: iter(values))


def _any_asks(values: Callable[[], Iterator[Any]]) -> bool:
    """Whether a tensor among values, or in lists and tuples of them, asks for a gradient."""
    kinds = {*map(type, values())}
    if any(issubclass(kind, torch.Tensor) for kind in kinds):
        if any(value.requires_grad for value in values() if isinstance(value, torch.Tensor)):
            return True
    held = {kind for kind in kinds if issubclass(kind, list | tuple)}
    if not held:
        return False
    if held == kinds:  # many short ones, as edges of a graph
        return _any_asks(lambda: chain.from_iterable(values()))
    return _any_asks(lambda: chain.from_iterable(one for one in values() if isinstance(one, list | tuple)))


PASSED_ON = frozenset("squeeze transpose ravel diagonal trace swapaxes shape ndim size".split())
"""NumPy's functions that call the tensor's own method in a way that it understands."""


def _is_of_numpy(facts: Facts, let: Let) -> bool:
    """Whether a statement calls a function of NumPy's with a tensor, which makes an array of it."""
    if not let.op.name.startswith("np.") or table.base_name(let.op.name) in PASSED_ON:
        return False
    return any(facts[atom].kind.family == "tensor" for atom in operands(let.op) if isinstance(atom, Var))


def _check_derivatives(facts: Facts) -> None:
    """Backward raises where a quotient was rounded down, in the loop only if an iteration took it; NumPy's functions
    raise for tensors that ask for gradients."""
    for statement in walk(facts.function.body):
        if isinstance(statement, Let) and _is_of_numpy(facts, statement):
            raise NotLiftable("unknown-op", f"'{statement.op.name}' of tensors, with gradients", statement.span)
        if isinstance(statement, Let) and table.base_name(statement.op.name) in ("floordiv", "floor_divide"):
            kind = facts.kind(statement.var)
            if kind.family == "tensor" and "float" in str(kind.dtype):
                raise NotLiftable("unknown-op", "'//' of tensors has no derivative", statement.span)


KernelMaker = Callable[..., Any]


def plan(
    facts: Facts,
    *,
    backend: str,
    kernel_of: KernelMaker | None = None,
    reuses: Callable[[Program], bool] = lambda program: False,
) -> Plan:
    """The schedule of a region. Raises NotLiftable with the reason when nothing is gained.

    ``kernel_of(loop, facts, gradients=..., once=...)`` makes the native kernel of a loop or raises NotLiftable;
    ``once`` if no loop that stays is around it. ``reuses`` says whether loops that stay gain something, as their values
    go into old memory. Under "auto" a region is lanes where all its loops can be; loops that remember, and lanes that
    part ways, are native if they are scalar work, else sequential around what can be lanes.
    """
    loops = [s for s in walk(facts.function.body) if isinstance(s, Loop)]
    if not loops:
        raise NotLiftable("no-loop", "there is no loop here", facts.function.span)
    lanes, native = (None,), (kernel_of,)
    if backend == "torch" or kernel_of is None:
        orders = lanes
    elif backend == "native":
        orders = native
    else:
        orders = native + lanes if any(_is_uneven(facts, loop) for loop in loops) else lanes + native
    refusals: list[NotLiftable] = []
    found: list[Plan] = []
    last: list[Plan] = []
    for maker in orders:
        try:
            made = _planned(facts, loops, maker, reuses)
        except NotLiftable as refusal:
            refusals.append(refusal)
            continue
        except Exception as error:  # another order may do
            refusals.append(NotLiftable("internal", f"{type(error).__name__}: {error}", loops[0].span))
            continue
        if backend == "native" and any(one.decision in ("lanes", "scan") for one in made.decisions):
            plain = NotLiftable("not-scalar", "the loop is no work on single numbers", loops[0].span)
            refusals.append(next((one for one in made.no_kernels if one.code == "device"), plain))
            continue
        if _is_final(made) and not (maker is not None and made.once):
            return made
        if maker is not None and all(one.decision != "native" for one in made.decisions):
            last.append(made)  # without kernels updates of places are seen too
            continue
        found.append(made)
    found += last
    if not found:
        raise refusals[0] if backend != "native" else refusals[-1]
    return max(found, key=_preference)


def _is_uneven(facts: Facts, loop: Loop) -> bool:
    """Whether iterations of a loop around this one run it for another number of trips, which no formula tells."""
    domain = loop.domain
    if isinstance(domain, While):
        return True
    counted = {other.index for other in walk(facts.function.body) if isinstance(other, Loop)}
    definitions = {s.var: s.op for s in walk(facts.function.body) if isinstance(s, Let)}

    def is_formula(atom: Atom) -> bool:
        if isinstance(atom, Const) or atom in counted or not facts[atom].loops:
            return True
        op = definitions.get(atom)
        return op is not None and op.name in ("add", "sub", "mul", "neg") and all(map(is_formula, operands(op)))

    return not (is_formula(domain.lo) and is_formula(domain.hi))


def _preference(made: Plan) -> int:
    """Kernels before sequential loops around lanes."""
    return sum({"native": 3, "lanes": 2, "scan": 2, "sequential": 1}.get(d.decision, 0) for d in made.decisions)


def _is_final(made: Plan) -> bool:
    return all(d.decision in ("lanes", "native") for d in made.decisions)


def _planned(facts: Facts, loops: list[Loop], kernel_of: KernelMaker | None, reuses: Callable[[Program], bool]) -> Plan:
    attributes = facts.function.attributes
    for name in ("apart", "whole", "asked", "random", "stored"):
        attributes.pop(name, None)
    attributes["equal"] = ()
    check_begun_numbers(facts)
    check_devices(facts)
    library, gradients = library_of(facts), needs_grad(facts)
    if gradients:
        _check_derivatives(facts)
    program, context = lower(facts, library=library, needs_grad=gradients, kernel_of=kernel_of)
    if context.wanted_equal:
        attributes["equal"] = _representatives(context.wanted_equal)
        program, context = lower(facts, library=library, needs_grad=gradients, kernel_of=kernel_of)
    decided = context.decisions
    program.gradients = gradients
    program.is_finite = finite_at_first(facts)
    program.overwrites = not gradients and not torch._C._is_any_autocast_enabled()
    gained = any(decision in ("lanes", "native", "scan") for decision, _, _ in decided.values())
    if not gained and not context.distributed and not reuses(program):
        raise _first_reason(facts.function, decided)
    hidden = _told_twice(context, attributes.get("again", {}))
    decisions = [_decision(context, loop) for loop in loops if loop not in context.strips and loop not in hidden]
    decisions = _with_unrolled(decisions, attributes.get("unrolled", {}))
    mutated = [array.node.attrs["text"] for array in context.arrays.values() if not array.fresh]
    return Plan(
        facts, decisions, program, attributes.get("apart", set()), attributes.get("whole", set()), mutated,
        attributes.get("random", False), list(dict.fromkeys(context.notes)), context.kernels,
        no_kernels=context.no_kernels, loops={axis: loop for loop, (axis, _) in context.lanes_of.items()},
        once=bool(context.when_apart),
    )  # fmt: skip


def _decision(context: Context, loop: Loop) -> Decision:
    found = context.decisions.get(loop, ("kept", "internal", "not reached"))
    in_pieces = loop in context.strips.values()
    return Decision(loop.span.line, *found, notes=("in pieces that fit into memory",) if in_pieces else ())


def _told_twice(context: Context, again: dict[Loop, Loop]) -> set[Loop]:
    """Of a search and the loop over the iterations before its end, which are one loop of the author's, the one that
    says less."""
    stays = {loop for loop in again if context.decisions.get(loop, ("kept",))[0] not in ("lanes", "scan")}
    return {search if loop in stays else loop for loop, search in again.items()}


def _with_unrolled(decisions: list[Decision], unrolled: dict[Any, int]) -> list[Decision]:
    """The decisions in the order of the source, with loops over modules and the like: their items run one by one."""
    found = {(d.line, d.decision): d for d in decisions}
    for span, count in unrolled.items():
        reason = f"its {count} items, known before the loop runs, are taken one after the other"
        found.setdefault((span.line, "sequential"), Decision(span.line, "sequential", "", reason, is_unrolled=True))
    return sorted([*decisions, *(d for d in found.values() if d not in decisions)], key=lambda d: d.line)


def _representatives(pairs: set[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """For each extent of a class of equal ones the one that stands for it."""
    of: dict[str, str] = {}

    def find(key: str) -> str:
        return find(of[key]) if key in of else key

    for large, small in sorted(pairs):
        a, b = find(large), find(small)
        if a != b:
            of[a] = b
    return tuple((key, find(key)) for key in of)


def _first_reason(function: Function, decided: dict) -> NotLiftable:
    for loop, (_, code, message) in decided.items():
        if message:
            return NotLiftable(code, message, loop.span)
    return NotLiftable("too-small", "no loop of it becomes an axis", function.span)
