"""The backward pass: the statements of a loop in reverse, each handing its gradient to what it was computed from."""

from __future__ import annotations

from typing import ClassVar

from looplift.base.data import dataclass, field, replace
from looplift.emit.adjoint_plan import Plan, flows
from looplift.emit.adjoint_rules import gradients_of, operand_letters
from looplift.emit.native_access import element, indexed
from looplift.emit.native_calls import compute
from looplift.emit.native_convert import convert, truth
from looplift.emit.native_flow import bound_by
from looplift.emit.native_loops import bound, holds_loop, index_of, poll, unchanged
from looplift.emit.native_ops import ADD, UNARY, canonical
from looplift.emit.native_signature import Signature
from looplift.emit.native_types import BOOL, INT, Scalar
from looplift.emit.native_values import Number, View
from looplift.emit.native_writer import Writer
from looplift.ir.grammar import Atom, Block, Carry, Const, If, Let, Loop, Op, Operand, Range, Statement, Store, Var


@dataclass
class Reversal:
    """Writes the backward pass. ``gradients``: the C++ variable that holds the gradient of a value."""

    writer: Writer
    plan: Plan
    signature: Signature
    branch_ends: set[Atom] = field(default_factory=set)
    gradients: dict[Var, str] = field(default_factory=dict)
    places: dict[Var, Number] = field(default_factory=dict)
    forward_names: dict[Var, str] = field(default_factory=dict)
    pending: set[Var] = field(default_factory=set)
    flowing: set[str] = field(default_factory=set)
    trip: str = ""
    element: ClassVar[str] = "double"
    nothing: ClassVar[str] = "0"

    # ------------------------------------------------------------ blocks

    def block(self, block: Block, entered: tuple[Var, ...] = ()) -> None:
        """A block in reverse; ``entered``: the carried values that it starts from."""
        self._take_back(block)
        self._compute_again(block)
        for var in entered:
            self._declare(var, block.statements)
        for position, statement in enumerate(block.statements):
            for var in _bound_here(statement):
                self._declare(var, block.statements[position + 1 :])

    def statements(self, block: Block) -> None:
        for statement in reversed(block.statements):
            if self.plan.is_reversed(statement):
                self.writer.span = statement.span
                self.writer.note(statement.span)
                self._statement(statement)

    def _take_back(self, block: Block) -> None:
        for var in reversed(self.plan.kept.get(block, [])):
            scalar = self._type(var)
            name = self.writer.fresh(self.forward_names.get(var, var.hint))
            pop = "pop" if scalar.is_float else "pop_integer"
            value = f"tape.{pop}()"
            text = value if scalar.cpp in ("double", "int64_t") else f"{scalar.cpp}({value})"
            self.writer.line(f"const {scalar.cpp} {name} = {text};")
            self.writer.values[var] = Number(name, scalar)

    def _type(self, var: Var) -> Scalar:
        if var in self.plan.counters.values():
            return INT
        if var in self.plan.decisions.values():
            return BOOL
        for statement, old in self.plan.olds.items():
            if old is var:
                assert isinstance(statement, Store | Let)
                ref = statement.ref if isinstance(statement, Store) else statement.var
                return self.signature.of(self.plan.findings.origins[ref]).scalar
        join = self.plan.findings.joins.get(var)
        return join.type if join is not None else self.plan.findings.types[var]

    def _compute_again(self, block: Block) -> None:
        writer = self.writer
        for statement in block:
            if not isinstance(statement, Let) or statement.var not in self.plan.again | self.plan.places:
                continue
            if statement.op.name.startswith("inplace."):
                continue
            writer.hint, writer.current, writer.span = statement.var.hint, statement.var, statement.span
            value = compute(writer, statement.op)
            if isinstance(value, Number) and value.place and statement.var in self.plan.places:
                self.places[statement.var] = value
            if isinstance(value, Number) and statement.var in self.plan.again and _is_long(value):
                value = writer.bind(value, statement.var.hint)
            writer.values.setdefault(statement.var, value)
            if statement.var in self.plan.again:
                writer.values[statement.var] = value

    def _declare(self, var: Var, rest: tuple[Statement, ...] = ()) -> None:
        """A variable for the gradient of a value that the block binds; a constant if only one thing adds to it."""
        is_number = var in self.plan.findings.types or var in self.plan.findings.joins
        if not is_number or not self.plan.carries_gradient(var) or self._is_input_element(var):
            return
        if var in self.gradients:
            return
        if self.writer.flow.counts[var] == 1 and self._has_one_reader(var, rest):
            self.pending.add(var)
            return
        self.gradients[var] = name = self.writer.fresh(f"{var.hint}_grad")
        self.writer.line(f"{self.element} {name} = {self.nothing};")

    def _has_one_reader(self, var: Var, rest: tuple[Statement, ...]) -> bool:
        """Whether the one use of a value is a statement of its own block, or the next iteration."""
        readers = [statement for statement in rest if var in self.writer.flow.reads(statement)]
        return all(isinstance(reader, Let | Store) for reader in readers) and var not in self.branch_ends

    def _is_input_element(self, var: Var) -> bool:
        """Whether a value is a 0-dim input itself, under whatever name."""
        origin = self.plan.findings.origins.get(var)
        return origin is not None and self.signature.of(origin).kind.rank == 0

    def gradient(self, atom: Operand | None) -> str | None:
        """The C++ variable or element that collects the gradient of a value."""
        if not isinstance(atom, Var) or not self.plan.carries_gradient(atom):
            return None
        if self._is_input_element(atom):
            return f"{self.signature.of(self.plan.findings.origins[atom]).name}_grad"
        return self.gradients.get(atom) or ("" if atom in self.pending else None)

    def give(self, atom: Operand | None, text: str) -> None:
        """Add to the gradient of a value."""
        target = self.gradient(atom)
        if target == "":
            assert isinstance(atom, Var)
            self.pending.discard(atom)
            is_name = text.replace("_", "").isalnum() and text not in self.flowing
            self.gradients[atom] = text if is_name else self.writer.fresh(f"{atom.hint}_grad")
            if self.gradients[atom] != text:
                self.writer.line(f"const double {self.gradients[atom]} = {text};")
        elif target is not None:
            self.writer.line(f"{target} -= {text[1:]};" if _is_negative(text) else f"{target} += {text};")

    def give_all(self, atom: Operand | None, gradient: str) -> None:
        """Hand the whole gradient of a value to another."""
        self.give(atom, gradient)

    # ------------------------------------------------------------ statements

    def _statement(self, statement: Statement) -> None:
        match statement:
            case Let():
                self._let(statement)
            case Store():
                self._store(statement)
            case If():
                self._branch(statement)
            case Loop():
                self._loop(statement)

    def _let(self, statement: Let) -> None:
        var, op = statement.var, statement.op
        if op.name.startswith("inplace.") and self.plan.findings.origins.get(var) is not None:
            target = self.gradient(var)
            assert target is not None
            self._change(statement, target, op.name.removeprefix("inplace."), op.args[1])
            return
        own = self.gradients.get(var)
        if own is not None:
            self._hand_on(statement, own)

    def _hand_on(self, statement: Let, own: str) -> None:
        """Gives the gradient of a value to what it was computed from."""
        if statement.var in self.places:
            self.writer.line(f"{self._place_of(self.places[statement.var])} += {own};")
            return
        values = self._texts(statement, own)
        for operand, text in flows(statement.op):
            if self.gradient(operand) is not None:
                self.give(operand, text.format(**values))

    def _texts(self, statement: Let, own: str) -> dict[str, str]:
        """What the letters of gradient texts stand for."""
        scalar = self.plan.findings.types.get(statement.var)
        values = {"g": own, "T": _computed_in(scalar)}
        for letter, operand in operand_letters(statement.op).items():
            value = self.writer.values.get(operand) if isinstance(operand, Var) else self._constant(operand)
            if isinstance(value, Number):
                values[letter] = self._compared(statement, value).at(UNARY, strict=True)
        result = self.writer.values.get(statement.var)
        if isinstance(result, Number):
            values["r"] = result.text
        decision = self.plan.decisions.get(statement.var)
        number = self.writer.values.get(decision) if decision is not None else None
        if isinstance(number, Number):
            values["d"] = number.text
        return values

    def _compared(self, statement: Let, value: Number) -> Number:
        """A bound of Python's in the type of what lies between them: PyTorch compares in that type."""
        scalar = self.plan.findings.types.get(statement.var)
        if canonical(statement.op.name)[1] != "clamp" or not value.type.is_python or scalar is None:
            return value
        return convert(self.writer, value, scalar)

    def _constant(self, operand: Operand):
        return self.writer.value(operand) if isinstance(operand, Const) else None

    def _place_of(self, number: Number) -> str:
        """The gradient of an element: the same place in the gradient of its tensor."""
        assert number.origin is not None
        root = self.signature.of(number.origin).name
        return f"{root}_grad{number.place.removeprefix(root)}"

    def _store(self, statement: Store) -> None:
        ref = self.writer.value(statement.ref)
        assert isinstance(ref, View)
        target = element(self.writer, indexed(self.writer, ref, statement.index))
        assert isinstance(target, Number)
        place = self._place_of(target)
        if statement.combine is not None:
            self._change(statement, place, statement.combine, statement.value)
            return
        self._overwrite(statement, place)

    def _overwrite(self, statement: Store, place: str) -> None:
        self.give(statement.value, place)
        self.writer.line(f"{place} = 0;")

    def _change(self, statement: Statement, place: str, combine: str, value: Operand) -> None:
        """``ref (op)= value``: the gradient of the old element stays in its place."""
        if combine in ("add", "sub"):
            self.give(value, place if combine == "add" else f"-{place}")
            return
        texts = gradients_of(Op(combine, (Const(None), value)))
        old = self.writer.values[self.plan.olds[statement]]
        number = self.writer.value(value) if isinstance(value, Var | Const) else None
        assert isinstance(old, Number) and isinstance(number, Number)
        name = self.writer.fresh("change")
        self.writer.line(f"const double {name} = {place};")
        letters = {"a": old.text, "b": number.at(UNARY, strict=True), "g": name, "T": _computed_in(old.type)}
        if texts[1] is not None and self.gradient(value) is not None:
            result = self._result_text(combine, letters)
            self.give(value, texts[1].format(r=result, **letters))
        self.writer.line(f"{place} = {(texts[0] or '0').format(r=self._result_text(combine, letters), **letters)};")

    def _result_text(self, combine: str, letters: dict[str, str]) -> str:
        return f"math::pow({letters['a']}, {letters['b']})" if combine == "pow" else "0"

    def _branch(self, statement: If) -> None:
        condition = truth(self.writer.number(statement.cond))
        sides = [
            (statement.then, [(phi.var, phi.then) for phi in statement.phis], condition.text),
            (
                statement.orelse,
                [(phi.var, phi.orelse) for phi in statement.phis],
                f"!{condition.at(UNARY, strict=True)}",
            ),
        ]
        for block, pairs, test in sides:
            if self._has_work(block, pairs):
                with self.writer.block(f"if ({test})"):
                    self._side(block, pairs)

    def _has_work(self, block: Block, pairs: list[tuple[Var, Atom]]) -> bool:
        flowing = any(self.gradients.get(var) and self.plan.carries_gradient(_as_var(side)) for var, side in pairs)
        return flowing or bool(self.plan.kept.get(block)) or any(map(self.plan.is_reversed, block))

    def _side(self, block: Block, pairs: list[tuple[Var, Atom]]) -> None:
        self.block(block)
        for var, side in pairs:
            own = self.gradients.get(var)
            if own is not None:
                self.give_all(side, own)
        self.statements(block)

    # ------------------------------------------------------------ loops

    def _loop(self, loop: Loop) -> None:
        writer = self.writer
        carried = [carry for carry in loop.carries if carry.inside in self.plan.active]
        for carry in loop.carries:
            if carry.inside in self.plan.findings.origins and (value := unchanged(writer, loop, carry)) is not None:
                writer.values[carry.inside] = writer.values[carry.after] = value
        flowing = {carry: self._start(carry) for carry in carried}
        with writer.block(self._opening(loop)):
            self._index_line(loop)
            if holds_loop(loop) or (flowing and writer.depth == 2):
                writer.line(poll(64 if holds_loop(loop) else 1))
            self.block(loop.body, tuple(carry.inside for carry in carried))
            for carry in carried:
                self.give_all(carry.next, flowing[carry])
            self.statements(loop.body)
            for carry in carried:
                writer.line(f"{flowing[carry]} = {self.gradients[carry.inside]};")
        for carry in carried:
            self.give_all(carry.init, flowing[carry])

    def _start(self, carry: Carry) -> str:
        """The gradient that travels from iteration to iteration, at first that of the value after the loop."""
        after = self.gradients.get(carry.after)
        name = self.writer.fresh(f"{carry.hint}_grad")
        self.flowing.add(name)
        self.writer.line(f"{self.element} {name} = {after or self.nothing};")
        return name

    def _opening(self, loop: Loop) -> str:
        counter = self.plan.counters.get(loop)
        if counter is not None:
            number = self.writer.values[counter]
            assert isinstance(number, Number)
            self.trip = self.writer.fresh("trip")
            return f"for (int64_t {self.trip} = {number.text}; {self.trip}-- > 0;)"
        assert isinstance(loop.domain, Range) and loop.index is not None
        lo, hi, step = (bound(self.writer, atom) for atom in (loop.domain.lo, loop.domain.hi, loop.domain.step))
        self.trip = ""
        name = self.writer.fresh(loop.index.hint)
        self.writer.values[loop.index] = index_of(name, lo, hi, step)
        match step.constant:
            case 1:
                return f"for (int64_t {name} = {hi.text}; {name}-- > {lo.at(ADD)};)"
            case -1:
                return f"for (int64_t {name} = {hi.text}; {name}++ < {lo.at(ADD)};)"
        self.trip = self.writer.fresh("trip")
        trips = f"range_length({lo.text}, {hi.text}, {step.text})"
        return f"for (int64_t {self.trip} = {trips}; {self.trip}-- > 0;)"

    def _index_line(self, loop: Loop) -> None:
        """The index of a loop that counts its trips."""
        if not self.trip or not isinstance(loop.domain, Range) or loop.index is None:
            return
        lo, step = (bound(self.writer, atom) for atom in (loop.domain.lo, loop.domain.step))
        hi = Number("", INT)
        known = self.writer.values.get(loop.index)
        name = known.text if isinstance(known, Number) else self.writer.fresh(loop.index.hint)
        self.writer.values[loop.index] = replace(index_of(name, lo, hi, step), text=name)
        self.writer.line(f"const int64_t {name} = {lo.at(ADD)} + {self.trip} * {step.at(UNARY, strict=True)};")


def _computed_in(scalar: Scalar | None) -> str:
    """The type of C++ in which PyTorch computes a derivative."""
    return "float" if scalar is None or scalar.is_half else scalar.cpp


def _bound_here(statement: Statement) -> tuple[Var, ...]:
    """Variables that a statement binds for the rest of its block."""
    if isinstance(statement, Loop):
        return tuple(carry.after for carry in statement.carries)
    return bound_by(statement)


def _is_long(number: Number) -> bool:
    """Whether an expression had better have a name."""
    return number.reads or len(number.text) > 12


def _as_var(atom: Atom) -> Var | None:
    return atom if isinstance(atom, Var) else None


def _is_negative(text: str) -> bool:
    """Whether a text is one product that starts with a minus."""
    return text.startswith("-") and not any(symbol in text for symbol in ("+", "?", " - "))
