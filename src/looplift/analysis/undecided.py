"""Arithmetic of a tensor and of what is a Python integer in some iterations and a float or tensor in others, in; a
reason where PyTorch computes the two in different dtypes, out.

s = 3000000001 if k % 3 else y[k]        y: int64
r = s * x[k]                             x: uint8, which PyTorch takes the number as; with ``y[k]`` it computes in int64
"""

from __future__ import annotations

from collections.abc import Set

import torch

from looplift.base.errors import NotLiftable
from looplift.ir.facts import Facts
from looplift.ir.grammar import UNDEFINED, Atom, If, Let, Loop, operands, walk
from looplift.ops import table


def check_dtypes(facts: Facts, let: Let, mixed: Set[Atom]) -> None:
    """Raises NotLiftable where the number would be taken as what the tensor in its place is not, or an integer as what
    the float in its place is not."""
    given = [(atom in mixed, atom, facts[atom]) for atom in operands(let.op)]
    surely = [one.sample for is_mixed, _, one in given if one.kind.family == "tensor" and not is_mixed]
    either = [(atom, one) for is_mixed, atom, one in given if is_mixed and one.kind.family in ("tensor", "float")]
    for tensor in surely:
        for atom, one in either:
            is_float = one.kind.family == "float" or one.sample.dtype.is_floating_point
            taken = {torch.result_type(tensor, number) for number in ((1, 1.0) if is_float else (1,))}
            if one.kind.family == "tensor":
                taken.add(torch.result_type(tensor, one.sample))
            if len(taken) > 1 and _may_be_integer(facts, atom):
                text = "a number in some iterations, and a tensor or another type of number in others,"
                raise NotLiftable("mixed-kinds", f"{text} meets a tensor of {tensor.dtype}", let.span)


def _may_be_integer(facts: Facts, atom: Atom) -> bool:
    """Whether a value is a Python integer in some iteration: it, or what was bound to its name."""
    sources: dict[Atom, list[Atom]] = {}
    for statement in walk(facts.function.body):
        match statement:
            case Let(var=var, op=op) if op.name == "copy" or op.name in table.ARITHMETIC:
                sources[var] = list(operands(op))
            case If(phis=phis):
                sources |= {phi.var: [phi.then, phi.orelse] for phi in phis}
            case Loop(carries=carries):
                sources |= {one.inside: [one.init, one.next] for one in carries}
                sources |= {one.after: [one.init, one.next] for one in carries}
    pending, seen = [atom], set[Atom]()
    while pending:
        one = pending.pop()
        if one in seen or one is UNDEFINED:
            continue
        seen.add(one)
        if facts.kind(one).family in ("int", "bool"):
            return True
        pending += [source for source in sources.get(one, ()) if facts.kind(source).rank == 0]
    return False
