"""Where values flow: which ones decide (a branch, an index, a trip count), who uses what, which array is meant."""

from __future__ import annotations

from looplift.base.data import dataclass, field
from looplift.ir.grammar import (
    Append,
    Atom,
    Block,
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
    While,
    atoms,
    operands,
    uses,
    walk,
)
from looplift.ops import table

DECIDING_OPS = frozenset(("builtin.int", "builtin.round", "method.long", "method.int", "math.floor", "math.ceil"))
TRUTH = ("not", "builtin.bool")
TESTS = frozenset("eq ne lt le gt ge equal not_equal less less_equal greater greater_equal".split())


@dataclass
class Flow:
    """Definitions, uses and the backward slices of one function."""

    function: Function
    definition: dict[Var, Statement] = field(default_factory=dict)
    users: dict[Var, list[Statement]] = field(default_factory=dict)
    sources: dict[Var, list[Atom]] = field(default_factory=dict)
    deciding: set[Var] = field(default_factory=set)
    """What a branch, an index or a trip count depends on."""
    compared: set[Var] = field(default_factory=set)
    """What a comparison depends on."""

    def __post_init__(self) -> None:
        for statement in walk(self.function.body):
            self._record(statement)
        self._mark_deciding()

    def _record(self, statement: Statement) -> None:
        for atom in uses(statement):
            if isinstance(atom, Var):
                self.users.setdefault(atom, []).append(statement)
        match statement:
            case Let(var=var, op=op):
                self.definition[var] = statement
                if not asks_for_size(op) and not (op.name in TRUTH and self._is_list(op.args[0])):
                    self.sources.setdefault(var, []).extend(operands(op))
            case If(phis=phis):
                for phi in phis:
                    self.definition[phi.var] = statement
                    self.sources.setdefault(phi.var, []).extend((phi.then, phi.orelse))
            case Loop(carries=carries):
                for carry in carries:
                    self.definition[carry.inside] = self.definition[carry.after] = statement
                    self.sources.setdefault(carry.inside, []).extend((carry.init, carry.next))
                    self.sources.setdefault(carry.after, []).extend((carry.init, carry.next))
            case Store(ref=ref, value=value) | Append(ref=ref, value=value):
                self.sources.setdefault(self.root(ref), []).append(value)

    def root(self, ref: Var) -> Var:
        """The array that a chain of subscripts ends in: ``x[i][j]`` is about ``x``."""
        statement = self.definition.get(ref)
        if isinstance(statement, Let) and statement.op.name in ("getitem", "iter_item"):
            owner = statement.op.args[0]
            if isinstance(owner, Var):
                return self.root(owner)
        return ref

    def _is_list(self, operand: Operand) -> bool:
        """A list that the function makes: as a condition, only how long it is counts."""
        statement = self.definition.get(operand) if isinstance(operand, Var) else None
        return isinstance(statement, Let) and statement.op.name == "list"

    def _is_continuous(self, branch: If) -> bool:
        """``x if x > c else c`` and ``x if x > 0 else a * x``: where the sides meet, rounding decides nothing."""
        test = self.definition.get(branch.cond) if isinstance(branch.cond, Var) else None
        if not isinstance(test, Let) or test.op.name not in ("gt", "ge", "lt", "le") or len(branch.phis) != 1:
            return False
        (phi,) = branch.phis
        inner = [*branch.then.statements, *branch.orelse.statements]
        sides = [side for side in (phi.then, phi.orelse) if isinstance(side, Var | Const)]
        for value, bound in (test.op.args, test.op.args[::-1]):
            if isinstance(value, Var) and isinstance(bound, Const) and len(sides) == 2:
                met = [self._met(side, value, bound, inner) for side in sides]
                return all(met) and len([s for s in inner if getattr(s, "var", None) not in sides]) == 0
        return False

    def _met(self, side: Atom, value: Var, bound: Const, inner: list[Statement]) -> bool:
        """Whether one side is the bound where the value is."""
        if side is value:
            return True
        if isinstance(side, Const):
            return type(side.value) in (int, float) and side.value == bound.value
        made = self.definition.get(side)
        if bound.value != 0 or not isinstance(made, Let) or made not in inner:
            return False
        plain = all(arg is value or isinstance(arg, Const) for arg in made.op.args)
        return plain and made.op.name in ("neg", "mul") and any(arg is value for arg in made.op.args)

    def _mark_deciding(self) -> None:
        pending: list[Var] = []
        for statement in walk(self.function.body):
            if isinstance(statement, If) and self._is_continuous(statement):
                continue
            for operand in _deciders(statement):
                if not (isinstance(statement, If | Require) and self._is_list(operand)):
                    pending += [atom for atom in atoms(operand) if isinstance(atom, Var)]
        self.deciding = self._slice(pending)
        tests = [s.op for s in walk(self.function.body) if isinstance(s, Let) and table.base_name(s.op.name) in TESTS]
        self.compared = self._slice([atom for op in tests for atom in operands(op) if isinstance(atom, Var)])

    def _slice(self, pending: list[Var]) -> set[Var]:
        """All that some variables are computed from, and themselves."""
        found: set[Var] = set()
        while pending:
            var = pending.pop()
            if var not in found:
                found.add(var)
                pending += [atom for atom in self.sources.get(var, ()) if isinstance(atom, Var)]
        return found


def asks_for_size(op: Op) -> bool:
    """Whether the result depends on the size of the operand alone, not on what it holds."""
    if op.name == "attribute":
        return isinstance(op.args[1], Const) and op.args[1].value in ("shape", "dtype", "device", "ndim")
    return op.name in ("builtin.len", "iter_len", "method.size", "method.dim", "method.numel")


def _deciders(statement: Statement):
    match statement:
        case If(cond=cond) | Require(cond=cond):
            yield cond
        case Loop(domain=domain, stop=stop):
            if isinstance(domain, Range):
                yield from (domain.lo, domain.hi, domain.step)
            elif isinstance(domain, While):
                yield domain.cond
            if stop is not None:
                yield stop
        case Store(index=index):
            yield index
        case Let(op=op) if op.name == "getitem":
            yield op.args[1]
        case Let(op=op) if op.name in DECIDING_OPS:
            yield op.args[0]


def is_stored(flow: Flow, var: Var) -> bool:
    """Whether something is written to an array or list, by the variable that stands for it."""
    known = flow.function.attributes
    if "stored" not in known:
        known["stored"] = stored_roots(flow, flow.function.body)
    return var in known["stored"]


def stored_roots(flow: Flow, block: Block) -> set[Var]:
    """The arrays and lists that statements of a block write to."""
    return {flow.root(s.ref) for s in walk(block) if isinstance(s, Store | Append)}
