"""What the backward pass of a loop needs: which values carry a gradient, what is taped, what is computed again.

Reverse mode over the structured loop (Griewank and Walther, Evaluating Derivatives, 2008): the forward pass pushes
what a block must remember at the end of that block; the backward pass takes it back at the start of the block's
reversal. Integers, and values read from tensors that the loop never writes, are computed again instead.
"""

from __future__ import annotations

from looplift.base.data import dataclass, field
from looplift.base.errors import NotLiftable
from looplift.emit.adjoint_rules import gradients_of, is_cheap, letters_in, operand_letters
from looplift.emit.native_flow import bound_by
from looplift.emit.native_writer import Findings
from looplift.ir.grammar import (
    Atom,
    Block,
    Const,
    If,
    Let,
    Loop,
    Operand,
    Range,
    Statement,
    Store,
    Var,
    atoms,
    children,
    operands,
    uses,
    walk,
)  # fmt: skip


@dataclass
class Plan:
    """``active``: variables, and tensors (by their input), that carry a gradient.

    ``kept``: what each block pushes at its end. ``again``: what is computed again. ``counters``, ``decisions`` and
    ``olds`` are made-up variables: the trips of a loop, the choice of a min, an element before it was changed.
    ``places``: elements that a gradient flows to.
    """

    loop: Loop
    findings: Findings
    active: set[Var] = field(default_factory=set)
    kept: dict[Block, list[Var]] = field(default_factory=dict)
    again: set[Var] = field(default_factory=set)
    counters: dict[Loop, Var] = field(default_factory=dict)
    decisions: dict[Var, Var] = field(default_factory=dict)
    olds: dict[Statement, Var] = field(default_factory=dict)
    places: set[Var] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.top = Block((self.loop,))

    def carries_gradient(self, atom: Atom | None) -> bool:
        """Whether a value, or the tensor that it is an element of, has a gradient."""
        return isinstance(atom, Var) and (atom in self.active or self.findings.origins.get(atom) in self.active)

    def all_kept(self) -> frozenset[Var]:
        return frozenset(var for variables in self.kept.values() for var in variables)

    def is_reversed(self, statement: Statement) -> bool:
        """Whether anything inside has a gradient."""
        return any(_has_gradient(self, inner) for inner in walk(Block((statement,))))


def _has_gradient(plan: Plan, statement: Statement) -> bool:
    match statement:
        case Store(ref=ref):
            return plan.carries_gradient(ref)
        case Let(var=var):
            is_number = var in plan.findings.types
            return var in plan.active or (is_number and plan.carries_gradient(var))
    return any(var in plan.active for var in bound_by(statement))


# ---------------------------------------------------------------- activity


def is_differentiable(plan: Plan, var: Var) -> bool:
    scalar = plan.findings.types.get(var)
    if (join := plan.findings.joins.get(var)) is not None:
        scalar = join.type
    return scalar is not None and scalar.family == "tensor" and scalar.is_float


def forward_active(plan: Plan, seeds: set[Var], float_roots: set[Var]) -> set[Var]:
    """Values that depend on the seeds by operations that have a derivative.

    A kernel with gradients requires that its loop runs at least once: what was before it is not what comes after.
    """
    active = set(seeds)
    size = -1
    while size != len(active):
        size = len(active)
        for statement in walk(plan.top):
            active |= forward_step(plan, statement, active, float_roots)
    return active


def forward_step(plan: Plan, statement: Statement, active: set[Var], float_roots: set[Var]) -> set[Var]:
    """What one statement adds to the active values."""

    def is_active(atom: Operand) -> bool:
        return isinstance(atom, Var) and (atom in active or plan.findings.origins.get(atom) in active)

    match statement:
        case Let(var=var, op=op):
            origin = plan.findings.origins.get(var)
            if origin is not None:
                changed = op.name.startswith("inplace.") and any(map(is_active, op.args[1:]))
                return {origin} & float_roots if changed else set()
            if is_differentiable(plan, var) and any(is_active(operand) for operand, _ in flows(op)):
                return {var}
        case Store(ref=ref, value=value) if is_active(value):
            return {plan.findings.origins[ref]} & float_roots
        case If(phis=phis):
            found = {phi.var for phi in phis if is_active(phi.then) or is_active(phi.orelse)}
            return {var for var in found if is_differentiable(plan, var)}
        case Loop(carries=carries):
            found = {c.inside for c in carries if is_active(c.init) or is_active(c.next)}
            runs = statement is plan.loop and isinstance(statement.domain, Range) and statement.stop is None
            found |= {c.after for c in carries if is_active(c.next) or (is_active(c.init) and not runs)}
            return {v for v in found if is_differentiable(plan, v) and v not in plan.findings.origins}
    return set()


def flows(op) -> list[tuple[Operand, str]]:
    """The operands that a gradient flows to, with the text of it."""
    texts = gradients_of(op)
    return [(operand, text) for operand, text in zip(operand_letters(op).values(), texts) if text is not None]


def useful(plan: Plan, results: set[Var]) -> set[Var]:
    """Values that one of the results depends on, by operations that have a derivative."""
    found = set(results)
    size = -1
    while size != len(found):
        size = len(found)
        for statement in walk(plan.top):
            found |= _backward(plan, statement, found)
    return found


def _backward(plan: Plan, statement: Statement, found: set[Var]) -> set[Var]:
    origins = plan.findings.origins
    match statement:
        case Let(var=var, op=op) if var in origins:
            changes = op.name.startswith("inplace.") and origins[var] in found
            more = {a for a in op.args if isinstance(a, Var)} if changes else set()
            return _with_origins(plan, more) | ({origins[var]} if var in found else set())
        case Let(var=var, op=op) if var in found:
            return _with_origins(plan, {operand for operand, _ in flows(op) if isinstance(operand, Var)})
        case Store(ref=ref, value=value) if origins.get(ref) in found and isinstance(value, Var):
            return _with_origins(plan, {value})
        case If(phis=phis):
            sides = {a for phi in phis if phi.var in found for a in (phi.then, phi.orelse) if isinstance(a, Var)}
            return _with_origins(plan, sides)
        case Loop(carries=carries):
            ends = [c for c in carries if c.after in found or c.inside in found]
            more = {a for c in ends for a in (c.init, c.next, c.inside) if isinstance(a, Var)}
            return _with_origins(plan, more)
    return set()


def _with_origins(plan: Plan, variables: set[Var]) -> set[Var]:
    return variables | {plan.findings.origins[var] for var in variables if var in plan.findings.origins}


# ---------------------------------------------------------------- what the backward pass reads


@dataclass
class Needs:
    """Works out what is taped and what is computed again."""

    plan: Plan
    inputs: set[Var]
    scalars: set[Var]
    lets: dict[Var, Let] = field(default_factory=dict)
    blocks: dict[Var, Block] = field(default_factory=dict)
    indices: dict[Var, Range] = field(default_factory=dict)
    same: dict[Var, Atom] = field(default_factory=dict)
    seen: set[Var] = field(default_factory=set)
    pending: list[Var] = field(default_factory=list)

    def collect(self) -> None:
        self._index(self.plan.top)
        for statement in walk(self.plan.top):
            if self.plan.is_reversed(statement):
                self._statement(statement)
        while self.pending:
            self._settle(self.pending.pop())

    def _index(self, block: Block) -> None:
        for statement in block:
            if isinstance(statement, Let):
                self.lets[statement.var] = statement
            if isinstance(statement, Loop):
                self._index_loop(statement)
            for var in bound_by(statement):
                self.blocks.setdefault(var, block)
            for inner in children(statement):
                self._index(inner)

    def _index_loop(self, loop: Loop) -> None:
        if loop.index is not None and isinstance(loop.domain, Range):
            self.indices[loop.index] = loop.domain
        for carry in loop.carries:
            self.blocks[carry.inside] = loop.body
            if carry.inside in self.plan.findings.origins:
                self.same[carry.inside] = self.same[carry.after] = carry.init

    def need(self, atom: Operand | None) -> None:
        for inner in atoms(atom) if atom is not None else ():
            if isinstance(inner, Var) and inner not in self.seen:
                self.seen.add(inner)
                self.pending.append(inner)

    def keep(self, var: Var, block: Block) -> None:
        self.plan.kept.setdefault(block, []).append(var)

    # ------------------------------------------------------------ by statement

    def _statement(self, statement: Statement) -> None:
        match statement:
            case Let():
                self._let(statement)
            case Store(ref=ref, index=index, value=value, combine=combine):
                self.need(ref)
                self.need(index)
                if combine not in (None, "add", "sub"):
                    self._change(statement, value)
            case If(cond=cond):
                self.need(cond)
            case Loop(domain=domain):
                self._loop(statement, domain)

    def _let(self, statement: Let) -> None:
        op, var = statement.op, statement.var
        if var in self.plan.findings.origins:
            self._place(statement)
            if op.name.startswith("inplace.") and op.name not in ("inplace.add", "inplace.sub"):
                self._change(statement, op.args[1])
            return
        letters = operand_letters(op)
        for operand, text in flows(op):
            if not self.plan.carries_gradient(operand if isinstance(operand, Var) else None):
                continue
            for letter in letters_in(text):
                self._letter(statement, letter, letters)

    def _place(self, statement: Let) -> None:
        """Where an element is, for its gradient."""
        self.plan.places.add(statement.var)
        for operand in () if statement.op.name.startswith("inplace.") else operands(statement.op):
            self.need(operand)

    def _letter(self, statement: Let, letter: str, letters: dict[str, Operand]) -> None:
        match letter:
            case "r":
                self.need(statement.var)
            case "d":
                decision = self.plan.decisions.setdefault(statement.var, Var(f"{statement.var.hint}_is_second"))
                if decision not in self.seen:
                    self.seen.add(decision)
                    self.keep(decision, self.blocks[statement.var])
            case "g":
                pass
            case _:
                self._saved(letters[letter])

    def _saved(self, operand: Operand) -> None:
        """An operand that autograd would save: if it is changed later, the original raises in its backward pass."""
        if isinstance(operand, Var) and self._is_written(operand):
            raise NotLiftable("aliasing", "an element that the gradient needs is changed in place later")
        self.need(operand)

    def _is_written(self, var: Var) -> bool:
        """Whether a value is an element of a tensor that the loop writes to."""
        findings = self.plan.findings
        is_number = var in findings.types or findings.origins.get(var) in self.scalars
        return is_number and findings.origins.get(var) in findings.stored and var in findings.aliases

    def _change(self, statement: Statement, value: Operand) -> None:
        old = self.plan.olds[statement] = Var("old")
        self.keep(old, self._block_of(statement))
        self._saved(value)

    def _block_of(self, statement: Statement) -> Block:
        def search(block: Block) -> Block | None:
            if any(inner is statement for inner in block):
                return block
            return next((b for inner in block for child in children(inner) if (b := search(child))), None)

        found = search(self.plan.top)
        assert found is not None
        return found

    def _loop(self, loop: Loop, domain) -> None:
        if isinstance(domain, Range) and loop.stop is None and self._is_again(domain.hi) and self._is_again(domain.lo):
            self.need(domain.hi)
        else:
            counter = self.plan.counters[loop] = Var(f"{loop.index.hint if loop.index else 'loop'}_trips")
            self.keep(counter, self._block_of(loop))
        if isinstance(domain, Range):
            self.need(domain.lo)
            self.need(domain.step)
        for carry in loop.carries:
            if carry.inside in self.same and self.plan.findings.origins.get(carry.inside) not in self.scalars:
                self.need(carry.init)

    # ------------------------------------------------------------ taped or computed again

    def _settle(self, var: Var) -> None:
        if self._is_written(var):
            raise NotLiftable("aliasing", "an element that the backward pass needs is changed in place")
        if var in self.inputs:
            return
        if var in self.same:
            self.need(self.same[var])
        elif var in self.indices:
            self.need(self.indices[var].lo)
            self.need(self.indices[var].step)
        elif self._is_structure(var) or self._is_again(var):
            self.plan.again.add(var)
            for operand in operands(self.lets[var].op):
                self.need(operand)
        elif var in self.plan.findings.types or var in self.plan.findings.joins:
            self.keep(var, self.blocks[var])
        else:
            raise NotLiftable("not-scalar", f"the gradient needs '{var.hint}', which is more than a number")

    def _is_structure(self, var: Var) -> bool:
        """Views and tuples: they are where they are, whatever they hold."""
        if var not in self.lets or self.lets[var].op.name.startswith("inplace."):
            return False
        return var not in self.plan.findings.types or var in self.plan.findings.origins

    def _is_again(self, atom: Atom) -> bool:
        """Whether a value can be computed again from the inputs and the indices."""
        if isinstance(atom, Const) or atom in self.inputs:
            return True
        if atom in self.indices:
            return True
        let = self.lets.get(atom)
        if let is None or not is_cheap(let.op) or self.plan.findings.origins.get(atom) in self.plan.findings.stored:
            return False
        if let.op.name in ("getitem", "iter_item") and self._reads_stored(let):
            return False
        return all(self._is_again(operand) for operand in operands(let.op))

    def _reads_stored(self, let: Let) -> bool:
        owners = [atom for atom in uses(let) if isinstance(atom, Var)]
        return any(self.plan.findings.origins.get(owner) in self.plan.findings.stored for owner in owners[:1])
