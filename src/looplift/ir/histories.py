"""Rows that a loop carries, and what it appends for a stack, become rows of tables that the loop fills.

state = start                                 table = torch.zeros(n + 1, *start.shape); table[0] = start
for t in range(n):                            for t in range(n):
    state = step(state, x[t])                     table[t + 1] = step(table[t].clone(), x[t])
                                              state = table[n].clone()

outs.append(v) ... torch.stack(outs)          table[t] = v ... table.clone()

So the loop stores into a tensor, as a dynamic program does, and can become a kernel of numbers; and what the backward
pass needs of earlier states is still there. Only loops are taken in which every iteration makes its state in the same
way: then the state asks for a gradient where the table does.
"""

from __future__ import annotations

import itertools
import keyword
from collections.abc import Mapping

from looplift.base.data import dataclass, replace
from looplift.ir.facts import Facts, Kind
from looplift.ir.grammar import (
    UNDEFINED,
    Append,
    Atom,
    Block,
    Carry,
    Const,
    Function,
    If,
    Let,
    Loop,
    Op,
    Operand,
    Range,
    Require,
    Statement,
    Store,
    Var,
    as_atom,
    definitions,
    operands,
    uses,
    walk,
)


def with_histories(function: Function, facts: Facts) -> Function | None:
    """The same function with tables; None if no loop of it carries rows."""
    statements: list[Statement] = []
    found = False
    stacks: dict[Statement, Statement | None] = {}
    for statement in function.body:
        carried = _carried_rows(statement, facts) if isinstance(statement, Loop) else []
        appended = _appended(function, statement, facts, carried) if isinstance(statement, Loop) else {}
        if isinstance(statement, Loop) and (carried or appended):
            history = _History(statement, facts)
            statements += history.written(carried, appended)
            stacks |= history.stacks
            found = True
        else:
            statements.append(statement)
    if not found:
        return None
    kept = [stacks.get(statement, statement) for statement in statements]
    body = Block(tuple(statement for statement in kept if statement is not None))
    return replace(function, body=body, attributes=dict(function.attributes))


def _appended(function: Function, loop: Loop, facts: Facts, carried: list[Carry]) -> dict[Append, Uses]:
    """Where each iteration appends one tensor to a list that is stacked after the loop, and is for nothing else."""
    domain = loop.domain
    if not isinstance(domain, Range) or loop.stop is not None or loop.index is None:
        return {}
    if not isinstance(domain.step, Const) or domain.step.value != 1:
        return {}
    found: dict[Append, Uses] = {}
    for append in (s for s in loop.body if isinstance(s, Append)):
        users = [s for s in walk(function.body) if append.ref in {*uses(s), *definitions(s)} and s is not append]
        made = [s for s in users if isinstance(s, Let) and s.var is append.ref and s in function.body.statements]
        stacks = [s for s in users if s not in made]
        is_result = any(atom is append.ref for _, atom in function.results)
        if len(made) != 1 or made[0].op.name != "list" or made[0].op.args or is_result or not stacks:
            continue
        value = facts.of.get(append.value) if isinstance(append.value, Var) else None
        if value is None or value.kind.family != "tensor" or append.value in facts.mixed:
            continue
        if not _is_held(append, function, facts):
            continue
        like = next((c for c in carried if append.value in (c.next, c.inside)), None)
        if all(_is_stack(s, function) for s in stacks) and value.kind.dtype.is_floating_point:
            if not value.kind.rank or like is not None:
                found[append] = Uses(made[0], stacks, like)
    return found


def _is_held(append: Append, function: Function, facts: Facts) -> bool:
    """Whether the list's items hold, when they are stacked, what they held when they were appended."""
    statements = list(walk(function.body))
    changed = {s.ref for s in statements if isinstance(s, Store)}
    changed |= {as_atom(s.op.args[0]) for s in statements if isinstance(s, Let) and s.op.name.startswith("inplace.")}
    if not any(not isinstance(atom, Var) or facts.kind(atom).is_array for atom in changed):
        return True
    made = next((s for s in statements if isinstance(s, Let) and s.var is append.value), None)
    readers = [s.op.name for s in statements if isinstance(s, Let) and append.value in uses(s)]
    shared = any(name.rpartition(".")[2] in MAY_BE_ITS_OPERAND for name in readers)
    is_result = made is not None and made.op.name.startswith("inplace.")
    return is_made_anew(made, facts) and not is_result and not shared and changed.isdisjoint(_later(append, statements))


def _later(append: Append, statements: list[Statement]) -> set[Atom]:
    """The variables that may be what is appended, later on as well."""
    joined = [(phi.var, (phi.then, phi.orelse)) for s in statements if isinstance(s, If) for phi in s.phis]
    for carry in (carry for s in statements if isinstance(s, Loop) for carry in s.carries):
        joined += [(var, (carry.init, carry.next)) for var in (carry.inside, carry.after)]
    found: set[Atom] = {append.value}
    while more := {var for var, sources in joined if var not in found and not found.isdisjoint(sources)}:
        found |= more
    return found


def _is_stack(statement: Statement, function: Function) -> bool:
    if (
        not isinstance(statement, Let)
        or statement.op.name != "torch.stack"
        or statement not in function.body.statements
    ):
        return False
    rest = [*statement.op.args[1:], *(operand for _, operand in statement.op.kwargs)]
    return all(isinstance(operand, Const) and operand.value == 0 for operand in rest)


@dataclass(eq=False)
class Uses:
    """Of a list: where it is made, where it is stacked, and the carried state that its items are like."""

    made: Let
    stacks: list[Statement]
    like: Carry | None


def _carried_rows(loop: Loop, facts: Facts) -> list[Carry]:
    domain = loop.domain
    if not isinstance(domain, Range) or loop.stop is not None or loop.index is None:
        return []
    if not isinstance(domain.step, Const) or domain.step.value != 1 or _chooses_tensors(loop, facts):
        return []
    made: dict[Atom, Let] = {s.var: s for s in walk(loop.body) if isinstance(s, Let)}
    rows = [c for c in loop.carries if _is_row(c, facts) and is_made_anew(made.get(c.next), facts)]
    return [c for c in rows if _is_made_of(c.next, c.inside, made, facts)]


def _is_made_of(last: Atom, first: Var, made: Mapping[Atom, Let], facts: Facts) -> bool:
    """Whether a gradient of one state reaches the one before it, as one of the table does."""
    seen: set[Atom] = set()
    pending = [last]
    while pending:
        atom = pending.pop()
        if atom is first:
            return True
        let = made.get(atom)
        if atom in seen or let is None or let.op.name.rpartition(".")[2] in ("detach", "attribute"):
            continue
        seen.add(atom)
        sources = [source for source in operands(let.op) if isinstance(source, Var) and source in facts.of]
        pending += [s for s in sources if (kind := facts.kind(s)).family == "tensor" and kind.dtype.is_floating_point]
    return False


MAY_BE_ITS_OPERAND = frozenset(
    """getitem iter_item attribute unpack copy contiguous reshape reshape_as flatten ravel unflatten view view_as to
    type type_as float double half bfloat16 cpu detach pos positive real expand expand_as squeeze unsqueeze narrow
    select permute transpose movedim moveaxis swapaxes swapdims t T mT diagonal unfold as_strided broadcast_to asarray
    as_tensor dropout atleast_1d atleast_2d atleast_3d conj resolve_conj resolve_neg call module min max""".split()
)
"""Operations that may give a view of an operand, or the operand itself."""


def is_made_anew(made: Let | None, facts: Facts) -> bool:
    """Whether an operation gives memory of its own: by its name, and in the iteration that was run."""
    if made is None or made.op.name.rpartition(".")[2] in MAY_BE_ITS_OPERAND:
        return False
    place = _place(facts.of[made.var].sample)
    others = [facts.of[atom].sample for atom in uses(made) if isinstance(atom, Var) and atom in facts.of]
    return place is not None and all(_place(other) != place for other in others)


def _place(value: object) -> int | None:
    storage = getattr(type(value), "untyped_storage", None)
    return storage(value).data_ptr() if storage is not None else None


def _is_row(carry: Carry, facts: Facts) -> bool:
    """Whether a carried value is a tensor of floats that each iteration makes anew, always of one shape."""
    if carry.init is UNDEFINED or carry.next is carry.inside or not isinstance(carry.next, Var):
        return False
    inside, start = facts.of.get(carry.inside), facts[carry.init]
    if inside is None or inside.kind.family != "tensor" or not inside.kind.rank or inside.kind != start.kind:
        return False
    return inside.kind.dtype.is_floating_point and inside.shape == start.shape == facts[carry.next].shape


def _chooses_tensors(loop: Loop, facts: Facts) -> bool:
    """Whether it depends on the run what a tensor of the loop is computed from, or one is changed in place."""
    for statement in walk(loop.body):
        if isinstance(statement, If) and any(_is_tensor(phi.var, facts) for phi in statement.phis):
            return True
        if isinstance(statement, Let) and statement.op.name.startswith("inplace.") and _is_tensor(statement.var, facts):
            return True
    return False


def _is_tensor(var: Var, facts: Facts) -> bool:
    fact = facts.of.get(var)
    return fact is None or fact.kind.is_array


class _History:
    def __init__(self, loop: Loop, facts: Facts):
        self.loop, self.facts = loop, facts
        self.numbers = itertools.count(1)
        self.before: list[Statement] = []
        self.stacks: dict[Statement, Statement | None] = {}

    def fresh(self, hint: str) -> Var:
        index = self.loop.index
        assert index is not None
        return Var(f"{hint}.h{index.name.partition('.')[2]}_{next(self.numbers)}")

    def let(self, into: list[Statement], hint: str, name: str, *args: Operand, var: Var | None = None) -> Var:
        var = var if var is not None else self.fresh(hint)
        into.append(Let(var, Op(name, args), self.loop.span))
        return var

    def written(self, carried: list[Carry], appended: dict[Append, Uses]) -> list[Statement]:
        """The tables, the loop that fills them, and the states after it; ``stacks`` has what becomes of the lists."""
        loop, domain = self.loop, self.loop.domain
        assert isinstance(domain, Range) and loop.index is not None
        starts_at_zero = isinstance(domain.lo, Const) and domain.lo.value == 0
        length = domain.hi if starts_at_zero else self.let(self.before, "length", "sub", domain.hi, domain.lo)
        trips = self.let(self.before, "trips", "builtin.max", length, Const(0))
        # after no iteration the first state is handed out, the very object, and an empty list cannot be stacked
        runs = self.let(self.before, "runs", "lt", Const(0), trips)
        self.before.append(Require(runs, "a loop that carries or stacks rows has no iteration", loop.span))
        first: list[Statement] = []
        place: Atom = loop.index if starts_at_zero else self.let(first, "place", "sub", loop.index, domain.lo)
        last: list[Statement] = []
        after: list[Statement] = []
        following = self.let(last, "following", "add", place, Const(1))
        for carry in carried:
            table = self._table(carry, trips)
            row = self.let(first, "row", "getitem", table, place)
            self.let(first, "", "method.clone", row, var=carry.inside)
            assert isinstance(carry.next, Var)
            last.append(Store(table, following, carry.next, None, loop.span))
            row = self.let(after, "row", "getitem", table, trips)
            self.let(after, "", "method.clone", row, var=carry.after)
        carries = tuple(carry for carry in loop.carries if carry not in carried)
        stores = {append: self._stored(append, used, trips, place) for append, used in appended.items()}
        middle = [stores[s] if isinstance(s, Append) and s in stores else s for s in loop.body]
        body = Block((*first, *middle, *last))
        return [*self.before, replace(loop, carries=carries, body=body), *after]

    def _table(self, carry: Carry, trips: Var) -> Var:
        rows = self.let(self.before, "rows", "add", trips, Const(1))
        hint = f"{carry.hint}s"
        hint = f"{carry.hint}_rows" if keyword.iskeyword(hint) else hint  # of 'a', or 'i'
        table = self._made(hint, rows, self.facts.kind(carry.inside), carry.init)
        self.before.append(Store(table, Const(0), carry.init, None, self.loop.span))
        return table

    def _made(self, hint: str, rows: Atom, kind: Kind, like: Atom | None) -> Var:
        """A table of so many rows, each of them of the shape of ``like``."""
        sizes: list[Atom] = []
        if like is not None:
            shape = self.let(self.before, "shape", "attribute", like, Const("shape"))
            sizes = [self.let(self.before, "size", "getitem", shape, Const(axis)) for axis in range(kind.rank)]
        table = self.fresh(hint)
        op = Op("torch.zeros", (rows, *sizes), (("dtype", Const(kind.dtype)),))
        self.before.append(Let(table, op, self.loop.span))
        return table

    def _stored(self, append: Append, used: Uses, trips: Var, place: Atom) -> Store:
        like = used.like.init if used.like is not None else None
        table = self._made(append.ref.hint, trips, self.facts.kind(append.value), like)
        self.stacks[used.made] = None
        for stack in used.stacks:
            assert isinstance(stack, Let)
            self.stacks[stack] = replace(stack, op=Op("method.clone", (table,)))
        return Store(table, place, append.value, None, append.span)


__all__ = ["is_made_anew", "with_histories"]
