"""Which values a gradient surely reaches, whatever branches a run takes.

A result asks for a gradient in the loop only if some input with one took part in it. A kernel decides that once, so
what depends on a branch has no kernel with gradients.
"""

from __future__ import annotations

from looplift.base.data import dataclass, field
from looplift.emit.adjoint_plan import Plan, forward_step
from looplift.ir.grammar import Block, If, Let, Loop, Range, Var, definitions, operands, uses, walk


@dataclass
class Reach:
    """``running``: the loops that are taken to have an iteration, which is for the caller to make sure of."""

    plan: Plan
    float_roots: set[Var]
    running: list[Loop] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._lets = {s.var: s for s in walk(self.plan.top) if isinstance(s, Let)}
        self._inside = {var for statement in walk(self.plan.top) for var in definitions(statement)}

    def after(self, block: Block, reached: set[Var], always: bool = True) -> set[Var]:
        """What is reached after a block that is reached in every run, or in some."""
        reached = set(reached)
        for statement in block:
            match statement:
                case If(then=then, orelse=orelse, phis=phis):
                    here, there = self.after(then, reached, False), self.after(orelse, reached, False)
                    reached |= here & there
                    reached |= {phi.var for phi in phis if self._is(phi.then, here) and self._is(phi.orelse, there)}
                case Loop():
                    reached = self._loop(statement, reached, always)
                case Let(var=var, op=op) if op.name in ("builtin.min", "builtin.max"):
                    if all(self._is(atom, reached) for atom in operands(op)):  # the result is one of them
                        reached.add(var)
                case _:
                    reached |= forward_step(self.plan, statement, reached, self.float_roots)
        return reached

    def _loop(self, loop: Loop, reached: set[Var], always: bool) -> set[Var]:
        """What surely is reached after a loop: of one that may have no iteration, what is so before and inside."""
        runs = always and self._may_run_always(loop)
        if runs and loop not in self.running:
            self.running.append(loop)
        entered = {carry.inside for carry in loop.carries if self._is(carry.init, reached)}
        while True:
            found = self.after(loop.body, reached | entered, runs)
            kept = {c.inside for c in loop.carries if c.inside in entered and self._is(c.next, found)}
            if kept == entered:
                break
            entered = kept
        ends = {c.after for c in loop.carries if self._is(c.next, found) and (runs or self._is(c.init, reached))}
        roots = found & self.float_roots if runs else set()
        return reached | roots | ends

    def _may_run_always(self, loop: Loop) -> bool:
        domain = loop.domain
        if not isinstance(domain, Range) or loop.stop is not None:
            return False
        return all(map(self._is_invariant, (domain.lo, domain.hi, domain.step)))

    def _is_invariant(self, atom: object) -> bool:
        if not isinstance(atom, Var) or atom not in self._inside:
            return True
        let = self._lets.get(atom)
        if let is not None and let.op.name == "iter_len" and self._is_row(let.op.args[0]):
            return True
        return let is not None and all(map(self._is_invariant, uses(let)))

    def _is_row(self, atom: object) -> bool:
        """Whether a value is a row of a tensor: all of them are equally long."""
        let = self._lets.get(atom) if isinstance(atom, Var) else None
        return let is not None and let.op.name == "iter_item" and self._is_invariant(let.op.args[0])

    def _is(self, atom: object, reached: set[Var]) -> bool:
        return isinstance(atom, Var) and (atom in reached or self.plan.findings.origins.get(atom) in reached)
