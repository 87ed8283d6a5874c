"""Carried values that begin as numbers of Python's and become tensors: what Python's own arithmetic would raise.

total = 0.0
for row in rows:
    total = row.sum() + total / total      # the first quotient is of two numbers, and raises
"""

from __future__ import annotations

from looplift.base.errors import NotLiftable
from looplift.ir.facts import Facts
from looplift.ir.grammar import Const, If, Let, Loop, Op, Statement, Var, operands, walk
from looplift.ops import table

DIVISIONS = frozenset("truediv floordiv mod".split())


def check_begun_numbers(facts: Facts) -> None:
    """Raises NotLiftable where a value that is a number at first is divided, or raised to a power, by what may make
    that raise, or complex."""
    statements = list(walk(facts.function.body))
    begun = {
        carry.inside
        for loop in statements if isinstance(loop, Loop)
        for carry in loop.carries if facts.kind(carry.inside).is_array and facts.kind(carry.init).is_number
    }  # fmt: skip
    grown = bool(begun)
    while grown:
        size = len(begun)
        for statement in statements:
            begun |= _numbers_too(facts, statement, begun)
        grown = len(begun) > size
    for statement in statements if begun else ():
        if isinstance(statement, Let) and statement.var in begun and not never_raises(statement.op):
            what = (
                f"'{statement.var.hint}' is computed of numbers at first, where Python may raise, and of tensors later"
            )
            raise NotLiftable("mixed-kinds", what, statement.span)


def _numbers_too(facts: Facts, statement: Statement, begun: set[Var]) -> set[Var]:
    """What a statement binds that is a number at first as well."""
    match statement:
        case Let(var=var, op=op) if op.name in table.ARITHMETIC or op.name.startswith("inplace.") or op.name == "copy":
            given = [*operands(op)]
            numbers = all(atom in begun or facts.kind(atom).is_number for atom in given)
            return {var} if numbers and any(atom in begun for atom in given) else set()
        case If(phis=phis):
            return {phi.var for phi in phis if phi.then in begun or phi.orelse in begun}
        case Loop(carries=carries):
            return {carry.inside for carry in carries if carry.init in begun}
    return set()


def never_raises(op: Op) -> bool:
    """Whether arithmetic of numbers of Python's neither divides by zero nor makes complex numbers."""
    name = op.name.rpartition(".")[2]
    if name not in DIVISIONS and name != "pow":
        return True
    other = op.args[1]
    if not isinstance(other, Const):
        return False
    return other.value != 0 if name in DIVISIONS else type(other.value) is int and other.value >= 0
