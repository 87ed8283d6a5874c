"""A plan in, the work of a kernel that does the same in one pass out."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

from looplift.base.data import dataclass, field
from looplift.emit.sizes import Size, Sizes, extents_of, item_size, product
from looplift.ir.array import operands_of, reachable
from looplift.ir.grammar import Block, If, Let, Loop, Op, Var
from looplift.ops.table import base_name, family

_READS = frozenset("getitem iter_item zipped attribute tuple list unpack len iter_len".split())
FUNCTIONS = frozenset(
    """exp exp2 expm1 log log2 log10 log1p sin cos tan sinh cosh tanh arcsin arccos arctan arctan2 arcsinh arccosh
    arctanh asin acos atan atan2 asinh acosh atanh float_power sigmoid erf erfc softplus gelu silu logsumexp""".split()
)
"""What takes ten times as long as arithmetic for an element."""
FOLDS = frozenset("sum dot vdot inner norm mean prod matmul mv mm var std cdist max min amax amin".split())


@dataclass
class Work:
    """Of one call, by the extents of its arguments: the bytes that are ``touched``, and how many elements come from
    ``arithmetic``, from ``functions`` of mathematics, and from ``additions`` of which each waits for the one before."""

    touched: Size = field(default_factory=Size)
    arithmetic: Size = field(default_factory=Size)
    functions: Size = field(default_factory=Size)
    additions: Size = field(default_factory=Size)

    def counts(self, names: Mapping[str, Any]) -> dict[str, float]:
        """The numbers for the values under these names."""
        return {key: eval(size.text, dict(names)) for key, size in vars(self).items()}


def work_of(plan: Any, names: set[str]) -> Work:
    """The work of a plan; ``names`` are the live-ins of its region."""
    work, program = Work(), plan.program
    sizes = Sizes(program, names)
    results = [node for _, node in program.results]
    for node in reachable([*results, *(n for step in program.steps for n in operands_of(step))]):
        if node in results or (node.op == "name" and node.rank):
            work.touched += sizes.elements(node, item_size(node))
    trips = {plan.loops[axis]: text for axis, text in extents_of(program, plan.loops, names).items()}
    _count(work, plan.facts, plan.facts.function.body, trips, [])
    return work


def _count(work: Work, facts: Any, block: Block, trips: Mapping[Loop, str], around: list[str]) -> None:
    """Add what the statements of a block compute; ``around``: how often the loops around it run."""
    for statement in block:
        match statement:
            case Loop(body=body, carries=carries):
                inside = [*around, trips.get(statement, "1")]
                _count(work, facts, body, trips, inside)
                totals = [carry for carry in carries if _is_total(body, carry.next)]
                work.additions += product(inside, len(totals))
            case If(then=then, orelse=orelse):
                _count(work, facts, then, trips, around)
                _count(work, facts, orelse, trips, around)
            case Let(var=var, op=op) if var in facts.of and around:
                _count_one(work, facts, var, op, around)


def _count_one(work: Work, facts: Any, var: Var, op: Op, around: list[str]) -> None:
    name = base_name(op.name)
    known = [facts.of[one] for one in (var, *op.args) if isinstance(one, Var) and one in facts.of]
    elements = product(around, max(prod(fact.shape) for fact in known))
    if name in FOLDS:
        work.additions += elements
    elif name in FUNCTIONS:
        work.functions += elements
    elif name not in _READS and family(op.name) != "shape":
        work.arithmetic += elements


def _is_total(body: Block, value: object) -> bool:
    """Whether a carried value is a sum or a product of the one before it."""
    made = [statement.op for statement in body if isinstance(statement, Let) and statement.var is value]
    return any(base_name(op.name) in ("add", "sub", "mul") for op in made)
