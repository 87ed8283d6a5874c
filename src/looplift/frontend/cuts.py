"""``slice(a, b)`` as a value: what a subscript by it stands for."""

from __future__ import annotations

import ast

from looplift.base.data import dataclass
from looplift.frontend import expressions
from looplift.frontend.scope import Builder, Structure, Value
from looplift.ir.grammar import Atom, Const, Operand, Slice


@dataclass(eq=False)
class Cut(Structure):
    """A slice that is made in the region; its bounds may be None."""

    lo: Atom
    hi: Atom
    step: Atom
    noun = "a slice"

    def operand(self, build: Builder) -> Operand:
        return Slice(self.lo, self.hi, self.step)

    def attribute(self, build: Builder, name: str) -> Value:
        parts = {"start": self.lo, "stop": self.hi, "step": self.step}
        if name not in parts:
            raise self.refusal(build, f"asked for '.{name}'")
        return parts[name]


def made(build: Builder, node: ast.Call) -> Cut | None:
    """The value of ``slice(stop)`` or ``slice(start, stop[, step])``; None for other forms."""
    if node.keywords or not 1 <= len(node.args) <= 3 or any(isinstance(arg, ast.Starred) for arg in node.args):
        return None
    parts = [expressions.evaluate_atom(build, arg) for arg in node.args]
    lo, hi, step = [Const(None), *parts, Const(None)] if len(parts) == 1 else [*parts, Const(None)][:3]
    return Cut(lo, hi, step)
