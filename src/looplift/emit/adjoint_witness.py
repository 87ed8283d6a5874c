"""A loop in which it depends on the run what a gradient reaches in; the same loop with flags that tell, out.

A result asks for a gradient in the loop only if some input with one took part in it. Where a branch or an inner loop
without iterations may decide that, each number and tensor that may carry a gradient gets a flag, kept as the author
would keep one: false before anything took part, carried by the loops, chosen by the branches. A kernel whose flags are
not all true in the end hands the call to the original.
"""

from __future__ import annotations

import itertools

from looplift.base.data import replace
from looplift.base.errors import NotLiftable
from looplift.emit.adjoint_plan import Plan, flows
from looplift.ir.grammar import (
    Atom,
    Block,
    Carry,
    Const,
    If,
    Let,
    Loop,
    Op,
    Operand,
    Phi,
    Statement,
    Store,
    Var,
    While,
    operands,
    walk,
)

TRUE, FALSE = Const(True), Const(False)


class Doubtful(NotLiftable):
    """Whether results have gradients depends on the run. ``sure``: the inputs that have one in every run."""

    def __init__(self, plan: Plan, ends: set[Var], sure: set[Var], name: str):
        super().__init__("not-scalar", f"whether '{name}' has a gradient depends on a branch")
        self.plan, self.ends, self.sure = plan, ends, sure


def witnessed(doubt: Doubtful) -> tuple[Loop, tuple[Var, ...]]:
    """The loop with flags, and the flags that must be true after it."""
    witness = _Witness(doubt.plan, doubt.sure)
    statements = witness.block(doubt.plan.top).statements
    flags = [witness.flag(end) for end in sorted(doubt.ends, key=lambda var: var.name)]
    if FALSE in flags:
        raise doubt
    loop = statements[0]
    assert isinstance(loop, Loop) and len(statements) == 1
    return loop, tuple(dict.fromkeys(flag for flag in flags if isinstance(flag, Var)))


class _Witness:
    def __init__(self, plan: Plan, sure: set[Var]):
        self.plan, self.origins = plan, plan.findings.origins
        self.flags: dict[Var, Atom] = dict.fromkeys(sure, TRUE)
        self.numbers = itertools.count(1)

    def flag(self, atom: Operand) -> Atom:
        """Whether a value has a gradient here; an element has one where its tensor has."""
        if not isinstance(atom, Var):
            return FALSE
        return self.flags.get(self.origins.get(atom, atom), FALSE)

    def fresh(self, var: Var) -> Var:
        return Var(f"{var.hint}_reached.w{next(self.numbers)}")

    # ------------------------------------------------------------ statements

    def block(self, block: Block) -> Block:
        return Block(tuple(found for statement in block for found in self.statement(statement)))

    def statement(self, statement: Statement) -> list[Statement]:
        match statement:
            case Let():
                return [statement, *self._let(statement)]
            case Store(ref=ref, value=value):
                return [statement, *self._reach(self.origins[ref], [self.flag(value)])]
            case If():
                return [self._if(statement)]
            case Loop():
                return [self._loop(statement)]
        return [statement]

    def _let(self, statement: Let) -> list[Statement]:
        var, op = statement.var, statement.op
        if var in self.origins:
            changed = op.name.startswith("inplace.")
            return self._reach(self.origins[var], list(map(self.flag, op.args[1:]))) if changed else []
        if var not in self.plan.active:
            return []
        if op.name in ("builtin.min", "builtin.max"):  # the result is one of them
            self.flags[var] = TRUE if all(self.flag(atom) is TRUE for atom in operands(op)) else FALSE
            return []
        return self._set(var, [self.flag(operand) for operand, _ in flows(op)])

    def _reach(self, root: Var, flags: list[Atom]) -> list[Statement]:
        """What a tensor that is changed takes a gradient from, besides what it had."""
        return self._set(root, [self.flags.get(root, FALSE), *flags]) if root in self.plan.active else []

    def _set(self, var: Var, flags: list[Atom]) -> list[Statement]:
        """One of the flags must be true."""
        several = list(dict.fromkeys(flag for flag in flags if flag is not FALSE))
        if TRUE in several or not several:
            self.flags[var] = TRUE if several else FALSE
            return []
        found: list[Statement] = []
        held = several[0]
        for flag in several[1:]:
            both = self.fresh(var)
            found.append(Let(both, Op("or_", (held, flag))))
            held = both
        self.flags[var] = held
        return found

    # ------------------------------------------------------------ branches and loops

    def _if(self, statement: If) -> If:
        before = dict(self.flags)
        then = self.block(statement.then)
        yes, self.flags = self.flags, dict(before)
        orelse = self.block(statement.orelse)
        no = self.flags
        phis = list(statement.phis)
        sides = {root: (yes.get(root, FALSE), no.get(root, FALSE)) for root in {*yes, *no} & self._roots()}
        self.flags = before
        for phi in statement.phis:
            if phi.var in self.plan.active and phi.var not in self.origins:
                sides[phi.var] = (self._in(yes, phi.then), self._in(no, phi.orelse))
        for var in sorted(sides, key=lambda var: var.name):
            first, second = sides[var]
            if first is second:
                self.flags[var] = first
            else:
                self.flags[var] = self.fresh(var)
                phis.append(Phi(self.flags[var], first, second))  # pyright: ignore[reportArgumentType]
        return replace(statement, then=then, orelse=orelse, phis=tuple(phis))

    def _in(self, flags: dict[Var, Atom], atom: Atom) -> Atom:
        return flags.get(self.origins.get(atom, atom), FALSE) if isinstance(atom, Var) else FALSE

    def _roots(self) -> set[Var]:
        return set(self.origins.values()) & self.plan.active

    def _loop(self, loop: Loop) -> Loop:
        """Flags that no iteration changes are constants; the others are carried."""
        before = dict(self.flags)
        tracked = [c for c in loop.carries if {c.inside, c.after} & self.plan.active and c.inside not in self.origins]
        roots = sorted(_changed(loop, self.origins) & self.plan.active, key=lambda var: var.name)
        initial = {**{c.inside: self.flag(c.init) for c in tracked}, **{r: before.get(r, FALSE) for r in roots}}
        entered = {var: flag if isinstance(flag, Const) else self.fresh(var) for var, flag in initial.items()}
        while True:
            self.flags = before | entered
            inner = self._body(loop)
            ends = {c.inside: self.flag(c.next) for c in tracked} | {r: self.flags.get(r, FALSE) for r in roots}
            moved = [var for var, flag in entered.items() if isinstance(flag, Const) and ends[var] is not flag]
            if not moved:
                break
            entered |= {var: self.fresh(var) for var in moved}
        carries = [*loop.carries]
        self.flags = before
        after = {c.inside: c.after for c in tracked}
        for var, flag in entered.items():
            target = after.get(var, var)
            if isinstance(flag, Const):
                self.flags[target] = flag
                continue
            self.flags[target] = last = self.fresh(target)
            carries.append(Carry(flag, initial[var], ends[var], last))
        return replace(inner, carries=tuple(carries))

    def _body(self, loop: Loop) -> Loop:
        domain = loop.domain
        if isinstance(domain, While):
            domain = replace(domain, block=self.block(domain.block))
        return replace(loop, domain=domain, body=self.block(loop.body))


def _changed(loop: Loop, origins: dict[Var, Var]) -> set[Var]:
    """The tensors that a loop stores into."""
    found: set[Var] = set()
    for statement in walk(Block((loop,))):
        if isinstance(statement, Store):
            found.add(origins[statement.ref])
        if isinstance(statement, Let) and statement.op.name.startswith("inplace.") and statement.var in origins:
            found.add(origins[statement.var])
    return found
