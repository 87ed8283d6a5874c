"""A kernel's inputs: which may carry gradients, and which the loop itself keeps for its backward pass."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from looplift.ir.facts import Facts, Kind
from looplift.ir.grammar import (
    UNDEFINED,
    Append,
    Block,
    If,
    Let,
    Loop,
    Statement,
    Store,
    Var,
    operands,
    walk,
)
from looplift.ops.table import CREATION, base_name

WITHOUT_GRADIENT = frozenset(
    "zeros ones empty full tensor zeros_like ones_like empty_like full_like rand_like randn_like detach".split()
)


def reached_by_gradients(facts: Facts) -> set[Var]:
    """Variables whose value may carry a gradient, as parameters that ask for one reach them."""
    function = facts.function
    reached = {var for var in function.params if _asks(facts.of[var].sample)}
    owners = _owners(facts)
    before = -1
    while before < len(reached):
        before = len(reached)
        for statement in walk(function.body):
            for var, sources in _flows(statement):
                if any(source in reached for source in sources) and (
                    var not in facts.of or _may_carry(facts.kind(var))
                ):
                    reached.update(_with_owners(var, owners))
    return reached


def _owners(facts: Facts) -> dict[Var, object]:
    """What elements and rows are views of."""
    return {
        statement.var: statement.op.args[0]
        for statement in walk(facts.function.body)
        if isinstance(statement, Let) and statement.op.name in ("getitem", "iter_item")
    }


def written_before(facts: Facts, loop: Loop) -> set[Var]:
    """Variables that statements in front of a loop write to what may carry a gradient."""
    reached, owners = reached_by_gradients(facts), _owners(facts)
    found: set[Var] = set()
    for statement in facts.function.body:
        inner = list(walk(Block((statement,))))
        if any(isinstance(one, Loop) and one.span == loop.span for one in inner):
            break
        for one in inner:
            if isinstance(one, Store) and one.value in reached:
                found.update(_with_owners(one.ref, owners))
    return found


def surely_reached(facts: Facts) -> set[Var]:
    """Variables whose value carries a gradient in every run, whatever branches and how many iterations it takes."""
    function, found = facts.function, reached_by_gradients(facts)
    items: dict[Var, list[object]] = {}
    for statement in walk(function.body):
        if isinstance(statement, Append):
            items.setdefault(statement.ref, []).append(statement.value)
    while True:
        asking = found.intersection(function.params) - facts.later
        kept = {var for var in asking if _surely_asks(facts.of[var].sample)}
        for statement in walk(function.body):
            kept |= {var for var, *sources in _surely_flows(statement, items) if any(s <= found for s in sources)}
        if found <= kept:
            return found
        found &= kept


def _surely_flows(statement: Statement, items: Mapping[Var, list]) -> Iterator[tuple]:
    """What carries a gradient where one of these sets of values does."""
    match statement:
        case Let(var=var, op=op) if op.name == "list" and not op.args:
            yield var, set(items.get(var, [None]))
        case Let(op=op) if op.name in CREATION and base_name(op.name) not in ("clone", "copy"):
            return
        case Let(var=var, op=op) if op.name in ("builtin.min", "builtin.max"):
            yield var, set(operands(op))  # the result is one of them
        case Let(var=var):
            yield var, *({source} for made, sources in _flows(statement) if made is var for source in sources)
        case If(phis=phis):
            yield from ((phi.var, {phi.then, phi.orelse}) for phi in phis)
        case Loop(carries=carries):
            for carry in carries:
                sources = {carry.next} if carry.init is UNDEFINED else {carry.init, carry.next}
                yield from ((carry.inside, sources), (carry.after, sources))


def _asks(value: object) -> bool:
    if hasattr(type(value), "parameters"):
        return any(parameter.requires_grad for parameter in value.parameters())  # pyright: ignore
    if isinstance(value, (list, tuple)):
        return any(map(_asks, value))
    return not isinstance(value, (int, float, str)) and bool(getattr(value, "requires_grad", True))


def _surely_asks(value: object) -> bool:
    """Whether each item asks: what is stored into a parameter that does not ask itself may be so in some runs only."""
    if isinstance(value, (list, tuple)):
        return bool(value) and all(map(_surely_asks, value))
    return _asks(value)


def _may_carry(kind: Kind) -> bool:
    return not kind.is_number and (not kind.is_array or "float" in str(kind.dtype) or "complex" in str(kind.dtype))


def _flows(statement: Statement) -> Iterator[tuple[Var, list]]:
    """What takes its value from what."""
    match statement:
        case Let(op=op) if base_name(op.name) in WITHOUT_GRADIENT or base_name(op.name).startswith("new_"):
            return
        case Let(var=var, op=op):
            yield var, list(operands(op))
            if op.name.startswith("inplace.") and isinstance(op.args[0], Var):
                yield op.args[0], list(operands(op))
        case Store(ref=ref, value=value) | Append(ref=ref, value=value):
            yield ref, [value]
        case If(phis=phis):
            for phi in phis:
                yield phi.var, [phi.then, phi.orelse]
        case Loop(carries=carries):
            for carry in carries:
                yield carry.inside, [carry.init, carry.next]
                yield carry.after, [carry.init, carry.next]


def _with_owners(var: Var, owners: Mapping[Var, object]) -> Iterator[Var]:
    """The variable, and what it is a view of: they share memory."""
    found: object = var
    while isinstance(found, Var):
        yield found
        found = owners.get(found)
