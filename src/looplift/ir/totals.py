"""Numbers that a region makes and changes in place: new ones each time, where nothing else sees the old one change.

total = torch.zeros(())              total = torch.zeros(())
for i in range(n):                   for i in range(n):
    total += x[i] * w                    total = total + x[i] * w

Who differentiates a loop then has values only. What is read inside of a loop while it changes, or has two names, stays:
what autograd keeps of it would be touched, in the loop.
"""

from __future__ import annotations

from looplift.base.data import dataclass, replace
from looplift.ir.facts import Facts
from looplift.ir.grammar import Atom, Block, Function, If, Let, Loop, Statement, Var, uses, walk

_MAKES = frozenset(f"torch.{name}" for name in "zeros ones full tensor zeros_like ones_like full_like".split())
_MAKES |= {f"method.{name}" for name in ("new_zeros", "new_ones", "new_full", "new_tensor")}
_OF_ANY = ("inplace.add", "inplace.sub")
"""Changes of which autograd keeps nothing."""
_OF_NUMBERS = ("inplace.mul", "inplace.truediv")
"""Those of which it keeps nothing where the operand is a number of Python's."""


class _Seen(Exception):
    """Something else may see a number change."""


def with_new_totals(function: Function, facts: Facts) -> Function | None:
    """The same function with such numbers made anew; None if it has none."""
    made = [one.var for one in function.body if isinstance(one, Let) and _is_made(one, facts)]
    names: set[Var] = set()
    for var in made:
        names |= _Total(function, facts, var).changes()
    if not names:
        return None
    return replace(function, body=_anew(function.body, names), attributes=dict(function.attributes))


def _is_made(let: Let, facts: Facts) -> bool:
    fact = facts.of.get(let.var)
    if fact is None or let.op.name not in _MAKES or fact.kind.family != "tensor" or fact.kind.rank:
        return False
    return fact.kind.dtype.is_floating_point and not fact.sample.requires_grad


@dataclass(eq=False)
class _Total:
    """Follows one number through a function. ``names``: all variables that it goes by. ``changed``: the results of
    changes in place. ``is_read``: whether something has read it, after which nothing may change it."""

    function: Function
    facts: Facts
    made: Var

    def changes(self) -> set[Var]:
        """The results of its changes, if all of them may be numbers of their own."""
        self.names, self.changed, self.is_read = self._all_names(), set(), False
        try:
            last = self._block(self.function.body, self.made, depth=0)
        except _Seen:
            return set()
        ends = {atom for _, atom in self.function.results} & self.names
        return self.changed if ends <= {last} else set()

    def _all_names(self) -> set[Var]:
        names, size = {self.made}, 0
        while size != len(names):
            size = len(names)
            for statement in walk(self.function.body):
                names |= _names_after(statement, names)
        return names

    def _block(self, block: Block, now: Var, depth: int) -> Var:
        """The name of the number after a block."""
        for statement in block:
            now = self._statement(statement, now, depth)
        return now

    def _statement(self, statement: Statement, now: Var, depth: int) -> Var:
        match statement:
            case Let(var=var, op=op) if var in self.names and var is not self.made:
                if op.args[0] is not now or self.is_read or not self._keeps_nothing(statement):
                    raise _Seen
                self.changed.add(var)
                return var
            case If():
                return self._branch(statement, now, depth)
            case Loop():
                return self._loop(statement, now, depth)
        if used := self.names.intersection(uses(statement)):
            self._read(used, now, depth)
        return now

    def _read(self, used: set[Var], now: Var, depth: int) -> None:
        if depth or used != {now}:
            raise _Seen
        self.is_read = True

    def _keeps_nothing(self, change: Let) -> bool:
        """Whether the change is what the operation gives that makes a new number, and autograd keeps nothing of it."""
        if len(change.op.args) != 2 or change.op.kwargs or not isinstance(operand := change.op.args[1], Atom):
            return False
        if operand in self.names:
            return False
        kind, own = self.facts.kind(operand), self.facts.kind(self.made)
        if kind.is_number:
            return kind.family != "complex" and change.op.name in (*_OF_ANY, *_OF_NUMBERS)
        is_alike = kind.family == "tensor" and kind.rank == 0 and kind.dtype == own.dtype
        return is_alike and change.op.name in _OF_ANY

    def _branch(self, branch: If, now: Var, depth: int) -> Var:
        if branch.cond in self.names:
            raise _Seen
        ends = self._block(branch.then, now, depth + 1), self._block(branch.orelse, now, depth + 1)
        joined = [phi for phi in branch.phis if self.names & {phi.then, phi.orelse}]
        if not joined and ends == (now, now):
            return now
        if len(joined) != 1 or ends != (joined[0].then, joined[0].orelse):
            raise _Seen
        return joined[0].var

    def _loop(self, loop: Loop, now: Var, depth: int) -> Var:
        carried = [carry for carry in loop.carries if self.names & {carry.init, carry.inside, carry.next, carry.after}]
        used = self.names.intersection(uses(loop)) - {atom for one in carried for atom in (one.init, one.next)}
        domain = [*walk(loop.domain.block)] if hasattr(loop.domain, "block") else []  # pyright: ignore
        if used or len(carried) > 1 or any(self.names.intersection(uses(one)) for one in domain):
            raise _Seen
        if not carried:
            if self._block(loop.body, now, depth + 1) is not now:
                raise _Seen
            return now
        (carry,) = carried
        if carry.init is not now or self._block(loop.body, carry.inside, depth + 1) is not carry.next:
            raise _Seen
        return carry.after


def _names_after(statement: Statement, names: set[Var]) -> set[Var]:
    """Other names that a statement gives what goes by these."""
    match statement:
        case Let(var=var, op=op) if op.name.startswith("inplace.") and op.args[0] in names:
            return {var}
        case If(phis=phis):
            return {phi.var for phi in phis if names & {phi.then, phi.orelse}}
        case Loop(carries=carries):
            ends = [carry for carry in carries if names & {carry.init, carry.next, carry.inside}]
            return {var for carry in ends for var in (carry.inside, carry.after)}
    return set()


def _anew(block: Block, names: set[Var]) -> Block:
    """The statements, with new numbers under these names."""
    return Block(tuple(_statement_anew(statement, names) for statement in block))


def _statement_anew(statement: Statement, names: set[Var]) -> Statement:
    match statement:
        case Let(var=var, op=op) if var in names:
            return replace(statement, op=replace(op, name=op.name.removeprefix("inplace.")))
        case If(then=then, orelse=orelse):
            return replace(statement, then=_anew(then, names), orelse=_anew(orelse, names))
        case Loop(body=body):
            return replace(statement, body=_anew(body, names))
    return statement


__all__ = ["with_new_totals"]
