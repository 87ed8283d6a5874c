"""A function of the IR in; out the same, with the side that is taken of each ``if`` that its arguments alone decide.

for z in points:                            for z in points:
    if rows == columns:                         require not rows == columns
        found = np.linalg.inv(system)    ->     found = np.linalg.solve(system, right)
    else:
        found = np.linalg.solve(system, right)

What decides is required to be as it is in the call that the function is made for.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from looplift.base.data import replace
from looplift.ir.grammar import (
    UNDEFINED,
    Atom,
    Block,
    Const,
    Function,
    If,
    Let,
    Loop,
    Op,
    Require,
    Statement,
    Var,
    operands,
)
from looplift.ops.evaluate import evaluate

_TOLD = frozenset(
    "eq ne lt le gt ge is_ is_not not and_ or_ xor add sub mul floordiv mod neg abs builtin.bool copy".split()
)
"""What is known of numbers, strings and flags that are known."""
_PLAIN = (bool, int, float, str, type(None))


def with_settled_conditions(function: Function) -> Function | None:
    """The function in which loops have no such conditions; None if they have none as it is."""
    values = {var: value for var, value in function.attributes["values"].items() if type(value) in _PLAIN}
    settling = _Settling(values)
    body = settling.block(function.body, inside=False)
    return replace(function, body=body) if settling.settled else None


class _Settling:
    def __init__(self, known: dict[Atom, Any]):
        self.known = known
        self.settled = 0

    def block(self, block: Block, *, inside: bool) -> Block:
        made: list[Statement] = []
        for statement in block:
            made += self._statement(statement, inside)
        return Block(tuple(made))

    def _statement(self, statement: Statement, inside: bool) -> list[Statement]:
        match statement:
            case Let():
                self._note(statement)
            case If(cond=cond) if inside and self._is_known(cond) and (side := self._side(statement)) is not None:
                return side
            case If(then=then, orelse=orelse):
                sides = (self.block(side, inside=inside) for side in (then, orelse))
                return [replace(statement, then=next(sides), orelse=next(sides))]
            case Loop(body=body):
                return [replace(statement, body=self.block(body, inside=True))]
        return [statement]

    def _note(self, statement: Let) -> None:
        """What a statement computes of what is known, as it is in each iteration."""
        if statement.op.name in _TOLD and all(map(self._is_known, operands(statement.op))):
            with suppress(Exception):
                value = evaluate(statement.op, self._value)
                if type(value) in _PLAIN:
                    self.known[statement.var] = value

    def _is_known(self, atom: Atom) -> bool:
        return atom in self.known if isinstance(atom, Var) else type(atom.value) in _PLAIN

    def _value(self, atom: Atom) -> Any:
        return atom.value if isinstance(atom, Const) else self.known[atom]

    def _side(self, statement: If) -> list[Statement] | None:
        """The side that is taken, behind its condition; None where it binds less than is read later."""
        holds = bool(self._value(statement.cond))
        chosen = [(phi.var, phi.then if holds else phi.orelse) for phi in statement.phis]
        if any(value is UNDEFINED or value is None for _, value in chosen):
            return None
        self.settled += 1
        cond, made = statement.cond, list[Statement]()
        if not holds:
            cond = Var(f"settled.s{self.settled}")
            made.append(Let(cond, Op("not", (statement.cond,)), statement.span))
        made.append(Require(cond, "a condition is as it was in the first call", statement.span))
        made += self.block(statement.then if holds else statement.orelse, inside=True)
        return [*made, *(Let(var, Op("copy", (value,)), statement.span) for var, value in chosen)]
