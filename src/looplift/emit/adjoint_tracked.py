"""The backward pass that knows which values have a gradient at all, for calls in which that decides the answer.

A value that no result depends on in this run has no gradient in the loop (``None``, not zeros), and what it was
computed from is not touched: an infinite derivative times no gradient is no gradient, not NaN. The plain backward pass
has zeros there. Where its outcome leaves the two apart open (all zeros, or not finite), this one runs on the same tape.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar

from looplift.emit.adjoint_backward import Reversal
from looplift.ir.grammar import Let, Operand, Statement, Store, Var, operands


class TrackedReversal(Reversal):
    """Writes gradients of the type ``Gradient``; of an input as a whole, ``NAME_there`` tells whether it has one."""

    element: ClassVar[str] = "Gradient"
    nothing: ClassVar[str] = "{}"

    def _has_one_reader(self, var: Var, rest: tuple[Statement, ...]) -> bool:
        return False

    def give(self, atom: Operand | None, text: str) -> None:
        target = self.gradient(atom)
        if target is None:
            return
        assert isinstance(atom, Var)
        if self._is_input_element(atom):
            self.writer.line(f"{target} += {text};")
            self._mark(atom)
        else:
            self.writer.line(f"{target}.add({text});")

    def give_all(self, atom: Operand | None, gradient: str) -> None:
        if self.gradient(atom) is not None:
            with self._where(f"{gradient}.there"):
                self.give(atom, f"{gradient}.value")

    def _hand_on(self, statement: Let, own: str) -> None:
        with self._where(f"{own}.there"):
            if statement.op.name in ("builtin.min", "builtin.max"):
                self._hand_to_chosen(statement, f"{own}.value")
                return
            super()._hand_on(statement, f"{own}.value")
            if statement.var in self.places:
                self._mark(statement.var)

    def _hand_to_chosen(self, statement: Let, own: str) -> None:
        """What Python's ``min`` and ``max`` hand out is one of the two; the other one takes no part."""
        second = self._texts(statement, own)["d"]
        for operand, condition in zip(operands(statement.op), (f"!({second})", second), strict=True):
            if self.gradient(operand) is not None:
                with self._where(condition):
                    self.give(operand, own)

    def _overwrite(self, statement: Store, place: str) -> None:
        with self._where(self._there(statement.ref)):
            super()._overwrite(statement, place)

    def _change(self, statement: Statement, place: str, combine: str, value: Operand) -> None:
        assert isinstance(statement, Store | Let)
        with self._where(self._there(statement.ref if isinstance(statement, Store) else statement.var)):
            super()._change(statement, place, combine, value)

    def _there(self, var: Var) -> str:
        return f"{self.signature.of(self.plan.findings.origins[var]).name}_there"

    def _mark(self, var: Var) -> None:
        self.writer.line(f"{self._there(var)} = 1;")

    @contextmanager
    def _where(self, condition: str) -> Iterator[None]:
        with self.writer.block(f"if ({condition})"):
            yield
