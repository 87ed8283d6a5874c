"""The forward pass that remembers: a kernel's text with pushes to a tape at the end of each block."""

from __future__ import annotations

from looplift.base.data import dataclass, replace
from looplift.emit.adjoint_plan import Plan
from looplift.emit.native_types import BOOL, INT
from looplift.emit.native_values import Number
from looplift.emit.native_writer import Writer
from looplift.ir.grammar import Block, Loop, Statement, Var


@dataclass
class TapedWriter(Writer):
    """Writes what a plan keeps; see the hooks of Writer."""

    plan: Plan = None  # type: ignore[assignment]

    def end_block(self, block: Block) -> None:
        kept = self.plan.kept.get(block, [])
        if not kept:
            return
        self.line(f"if (!tape.reserve({len(kept)})) return out_of_memory;")
        for var in kept:
            number = self.values[var]
            assert isinstance(number, Number)
            push = "push" if number.type.is_float else "push_integer"
            text = f"float({number.text})" if number.type.is_half else number.text
            self.line(f"tape.{push}({text});")

    def before_loop(self, loop: Loop) -> None:
        counter = self.plan.counters.get(loop)
        if counter is not None:
            name = self.fresh(counter.hint)
            self.line(f"int64_t {name} = 0;")
            self.values[counter] = Number(name, INT)

    def count_trip(self, loop: Loop) -> None:
        counter = self.plan.counters.get(loop)
        if counter is not None:
            number = self.values[counter]
            assert isinstance(number, Number)
            self.line(f"++{number.text};")

    def decided(self, comparison: Number) -> Number | None:
        decision = self.plan.decisions.get(self.current) if self.current is not None else None
        if decision is None:
            return None
        number = self.bind(replace(comparison, type=BOOL), decision.hint)
        self.values[decision] = number
        return number

    def before_change(self, statement: Statement, old: Number) -> None:
        var = self.plan.olds.get(statement)
        if var is not None:
            self.values[var] = self.bind(old, var.hint)

    def before_reference(self, var: Var) -> None:
        if self.plan.carries_gradient(var):
            raise self.refuse("aliasing", f"'{var.hint}' is read after the tensor that it belongs to has changed")
