"""What the operations of a loop keep for their backward pass in every run: a planned adjoint in, tensors out."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from looplift.base.data import dataclass, field
from looplift.emit.adjoint_plan import Plan, flows, useful
from looplift.emit.adjoint_rules import letters_in, operand_letters
from looplift.emit.native_ops import canonical
from looplift.ir.grammar import Block, Const, Let, Loop, Operand, Range, Var


@dataclass
class Saved:
    """``tensors``: those of which elements are kept, and for which results. ``ends``: the results for which anything
    is kept, so that they go backward once."""

    tensors: dict[Var, set[Var]] = field(default_factory=dict)
    ends: set[Var] = field(default_factory=set)


def surely_saved(plan: Plan, ends: set[Var], running: Collection[Loop]) -> Saved:
    """What is kept outside of ifs, whiles and loops that may have no iteration."""
    found = Saved()
    behind = {end: useful(plan, {end}) for end in ends & plan.active}
    for let in _certain_lets(plan.loop.body, running) if isinstance(plan.loop.domain, Range) else ():
        letters, here = operand_letters(let.op), {end for end, values in behind.items() if let.var in values}
        for letter in _kept_by(plan, let):
            found.ends |= here
            atom = letters.get(letter)
            if isinstance(atom, Var):
                found.tensors.setdefault(plan.findings.origins.get(atom, atom), set()).update(here)
    return found


def _certain_lets(block: Block, running: Collection[Loop]) -> Iterator[Let]:
    for statement in block:
        if isinstance(statement, Let):
            yield statement
        elif isinstance(statement, Loop) and statement in running:
            yield from _certain_lets(statement.body, running)


def _kept_by(plan: Plan, let: Let) -> set[str]:
    """The operands, and the result ("r"), that the derivatives of an operation read; not which side was chosen."""
    if let.var not in plan.active:
        return set()
    if canonical(let.op.name)[1] == "truediv" and _is_number(plan, let.op.args[0]):
        return {"r"}  # PyTorch multiplies the reciprocal
    texts = [text for operand, text in flows(let.op) if isinstance(operand, Var) and plan.carries_gradient(operand)]
    return set().union(*map(letters_in, texts)) - {"g", "d"}


def _is_number(plan: Plan, operand: Operand) -> bool:
    if isinstance(operand, Const):
        return True
    return isinstance(operand, Var) and operand in plan.findings.types and plan.findings.types[operand].is_python
