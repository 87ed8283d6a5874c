"""The state of a kernel being written: its lines, names, the values of the IR's variables, and what was found out."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import contextmanager
from typing import NamedTuple

import torch

from looplift.base.data import dataclass, field, replace
from looplift.base.errors import NotLiftable
from looplift.base.spans import NOWHERE, Span
from looplift.emit.native_convert import constant
from looplift.emit.native_doubts import HERE
from looplift.emit.native_flow import ArrayType, Flow, Home
from looplift.emit.native_joins import UNKNOWN, Join
from looplift.emit.native_ops import ADD, ATOM
from looplift.emit.native_types import INT, Scalar, type_of_constant
from looplift.emit.native_values import Fixed, Items, Names, Number, Value
from looplift.ir.grammar import UNDEFINED, Atom, Block, Group, Loop, Operand, Slice, Statement, Store, Var

WIDTH = 112
"""How long a line of a kernel may be."""


@dataclass
class Findings:
    """What one pass over the loop learns and the next one uses.

    ``made``: arrays that the kernel makes; ``renamed``: names that hold one of several arrays; ``lent``: the inputs
    and made arrays among those; ``has_rows``: some arrays that it computes may be long; ``items``: what is appended to
    a list; ``closed``: lists that one loop makes, and nothing appends to after it; ``handed``: NumPy arrays that the
    kernel makes and hands out. ``mixes``: Python's integers and floats may come together; ``mixed``: the lists that
    hold both.
    """

    possible: dict[Var, frozenset[Scalar]] = field(default_factory=dict)
    types: dict[Var, Scalar] = field(default_factory=dict)
    origins: dict[Var, Var] = field(default_factory=dict)
    joins: dict[Var, Join] = field(default_factory=dict)
    aliases: set[Var] = field(default_factory=set)
    updates: set[Var] = field(default_factory=set)
    zeros: set[Var] = field(default_factory=set)
    stored: set[Var] = field(default_factory=set)
    inexact: dict[str, set[Var]] = field(default_factory=dict)
    made: set[Var] = field(default_factory=set)
    renamed: set[Var] = field(default_factory=set)
    lent: set[Var] = field(default_factory=set)
    items: dict[Var, ArrayType] = field(default_factory=dict)
    closed: set[Var] = field(default_factory=set)
    handed: set[Var] = field(default_factory=set)
    mixes: bool = False
    mixed: set[Var] = field(default_factory=set)
    has_vectors: bool = False
    has_rows: bool = False

    def is_apart(self, origin: Var | None) -> bool:
        """Whether the kernel makes an array and no other name may hold it: nothing else shares its memory."""
        return origin in self.made and origin not in self.renamed and origin not in self.lent


@dataclass
class Hoist:
    """Range checks that may be made before a loop: each of its iterations makes them, and has no other way out.

    ``guard``: whether the loop runs at all; ``end`` and ``offset``: its greatest index; ``start``: the least, where it
    goes up by one; ``known``: the names bound before it. ``doubts``: what seldom holds, and asks for care; ``demands``:
    what must not hold, with the outcome.
    """

    index: str
    guard: str
    end: Number
    offset: int
    mark: int
    known: frozenset[str]
    start: Number | None = None
    conditions: dict[str, None] = field(default_factory=dict)
    doubts: dict[str, None] = field(default_factory=dict)
    demands: dict[str, str] = field(default_factory=dict)

    def condition(self, number: Number, size: str) -> str | None:
        """The check for the whole loop; None if it cannot be made before."""
        if number.homes or number.reads or not (size.isdigit() or size.split(".")[0] in self.known):
            return None
        if number.affine is not None and number.affine[0] == self.index:
            return f"outside({_shifted(self.end, self.offset + number.affine[1])}, {size})"
        names = set(re.findall(r"[A-Za-z_]\w*", f"{number.text} {size}")) - {"size"}
        return f"outside({number.text}, {size})" if names <= self.known else None

    def takes_as_usual(self, number: Number, size: str) -> bool:
        """Whether it is asked before the loop that none of its places is counted from the end."""
        if self.start is None or number.affine is None or self.condition(number, size) is None:
            return False
        index, offset = number.affine
        first, last = _shifted(self.start, offset), _shifted(self.end, self.offset + offset)
        self.doubts |= {f"unusual({first}, {last}, {size})": None} if index == self.index else {}
        return index == self.index

    def lines(self) -> list[str]:
        """The checks, as many in a line as fit."""
        demands = [*((doubt, "doubtful") for doubt in self.doubts), *self.demands.items()]
        lines = [f"if ({self.guard} && {condition}) return {outcome};" for condition, outcome in demands]
        group: list[str] = []
        for condition in [*self.conditions, None]:
            if group and (condition is None or len(" || ".join([*group, condition])) > WIDTH - 48):
                test = group[0] if len(group) == 1 else f"({' || '.join(group)})"
                lines.append(f"if ({self.guard} && {test}) return index_out_of_range;")
                group = []
            group.append(condition or "")
        return lines


def _shifted(number: Number, offset: int) -> str:
    if number.constant is not None:
        return str(number.constant + offset)
    if offset == 0:
        return number.text
    return f"{number.at(ADD)} {'+' if offset > 0 else '-'} {abs(offset)}"


class Adopted(NamedTuple):
    """An array or a tensor that its library allocates for a kernel, which hands it out."""

    scalar: Scalar


@dataclass
class Writer:
    """Collects C++ statements. With ``checks`` off, requirements are known to hold and are not written again.

    ``inputs``: the number of each array that is an input, ``input_roots`` its name; ``grown``: the names of lists whose
    lengths change; ``extents``: the sizes of arrays that are known, by the name of the array.

    ``provisional``: in a first pass, types that are not known yet are assumed.
    ``failure``: inside of a C++ function of its own, the variable for what goes wrong.
    ``fleeting``: the value that is being computed is an operand of the next statement's arithmetic, and nothing else.
    ``adopted``: arrays that their libraries allocate for the kernel. ``flags``: the variables that tell whether a
    tensor of the caller was changed. ``settled``: results that need not be looked at, as others show what they are;
    None where each is looked at as soon as it is there. ``used``: what is surely computed; ``storing``: the store with
    an operation that is written now.
    ``slow``: sums that cannot overflow. ``equal``: for each size the other texts that are the same number.
    ``writes_first``: something is written before the first loop, or beside the loops. ``device``: where the kernel
    runs, if not on the CPU. ``overwritten``: arrays that need not be filled. ``promoted``: elements that a variable
    holds now; ``separate``: pairs of inputs that share no memory then.
    """

    flow: Flow
    findings: Findings
    source_line: Callable[[Span], str] = lambda span: ""
    checks: bool = True
    provisional: bool = False
    inputs: dict[Var, int] = field(default_factory=dict)
    input_roots: dict[Var, str] = field(default_factory=dict)
    grown: set[str] = field(default_factory=set)
    extents: dict[str, tuple[int | None, ...]] = field(default_factory=dict)
    values: dict[Var, Value] = field(default_factory=dict)
    names: Names = field(default_factory=Names)
    lines: list[str] = field(default_factory=list)
    depth: int = 1
    hint: str = ""
    span: Span = NOWHERE
    current: Var | None = None
    fleeting: bool = False
    failure: str = ""
    proven: set[str] = field(default_factory=set)
    noted: str = ""
    ran: str = ""
    last_bound: tuple[str, str, Number] | None = None
    hoists: list[Hoist | None] = field(default_factory=list)
    adopted: dict[str, Adopted] = field(default_factory=dict)
    device: torch.device | None = None
    flags: dict[Var, str] = field(default_factory=dict)
    settled: frozenset[Var] | None = None
    used: frozenset[Var | Store] = frozenset()
    storing: Store | None = None
    slow: frozenset[Var | Store] = frozenset()
    equal: dict[str, set[str]] = field(default_factory=dict)
    writes_first: bool = False
    overwritten: frozenset[Var] = frozenset()
    promoted: dict[tuple[Operand, Operand], Number] = field(default_factory=dict)
    separate: dict[tuple[str, str], None] = field(default_factory=dict)
    may_share: Callable[[Var, Var], bool] = lambda value, current: False

    # ------------------------------------------------------------ text

    def line(self, text: str) -> None:
        self.lines.append("  " * self.depth + text if text else "")

    def note(self, span: Span) -> None:
        """A comment with the author's line, once for each."""
        text = self.source_line(span)
        if text and text != self.noted:
            self.line(f"// {text}")
        self.noted = text

    @contextmanager
    def block(self, opening: str):
        """An indented block; what is proven inside holds only there."""
        self.line(opening + " {")
        saved, self.proven = self.proven, set(self.proven)
        self.depth += 1
        yield
        self.depth -= 1
        self.proven = saved
        self.line("}")

    def fail_if(self, condition: str, outcome: str) -> None:
        if not self.checks or condition in self.proven:
            return
        if self.failure:
            self.line(f"if ({condition}) {self.failure} = {outcome};")
            return
        before, ending = self.lines[-1] if self.lines else "", f") return {outcome};"
        start = "  " * self.depth + "if ("
        merges = before.startswith(start) and before.endswith(ending) and "&&" not in before + condition
        if merges and len(before) + len(condition) < WIDTH:
            self.lines[-1] = before.removesuffix(ending) + f" || {condition}{ending}"
        else:
            self.line(f"if ({condition}{ending}")

    def fail_before(self, name: str, condition: str, outcome: str) -> None:
        """The same of a condition on one name, before the loop where it is known there."""
        hoist = self.hoists[-1] if self.hoists and self.checks and not self.failure else None
        if hoist is not None and name in hoist.known:
            hoist.demands[condition] = outcome
        else:
            self.fail_if(condition, outcome)

    def doubt(self, result: Number, operands: list[Number]) -> None:
        """What NumPy would warn of ends the kernel, at once or when all else is done."""
        texts = ", ".join(number.text for number in (result, *operands))
        if self.settled is None or self.failure or result.type.is_half:
            return self.fail_if(f"surprising({texts})", "warned")
        is_used = self.current in self.used or self.storing in self.used
        alone = bool(self.hoists) and self.hoists[-1] is None  # no several iterations of such a loop at once
        kind = "later" if self.current in self.settled else "used" if is_used else "kept" if alone else "found"
        self.fail_if(f"doubt.{kind}({texts})", "warned")

    @property
    def is_slow(self) -> bool:
        """Whether the sum that is written now cannot overflow."""
        return self.current in self.slow or self.storing in self.slow

    def are_equal(self, one: str, other: str) -> None:
        """Note that two texts, of names and sizes that never change, are the same number."""
        if not {one.partition(".")[0], other.partition(".")[0]} & self.grown:
            whole = self.equal.get(one, {one}) | self.equal.get(other, {other})
            self.equal |= dict.fromkeys(whole, whole)

    def grows(self, root: str) -> None:
        """Note that the length of a list changes."""
        self.grown.add(root)
        for texts in self.equal.values():
            texts -= {text for text in texts if text.partition(".")[0] == root}

    def is_within(self, number: Number, size: str) -> bool:
        """Whether a number is known to be a place in what has this size."""
        if number.low < 0 or size.partition(".")[0] in self.grown:
            return False
        return not number.below.isdisjoint(self.equal.get(size, {size}))

    def last_look(self) -> None:
        """From here on what NumPy would warn of ends the kernel at once."""
        if self.settled is not None:
            self.line(HERE)
            self.settled = None

    def changes(self, origin: Var) -> None:
        """Note that memory is written to; autograd wants to know whether that happens to a tensor of the caller."""
        self.findings.stored.add(origin)
        self.writes_first |= not self.hoists
        text = f"{self.flags.get(origin)} = true;"
        if origin in self.flags and text not in self.proven:
            self.proven.add(text)
            self.line(text)

    def fresh(self, hint: str) -> str:
        return self.names.fresh(hint)

    def destination(self) -> str:
        """An int64_t that the current value may be written to: its own variable, or a new one."""
        home = self.flow.homes.get(self.current) if self.current is not None else None
        if home is not None and home.name and not home.flag and not home.bound:
            return home.name
        name = self.fresh("value" if self.hint == "t" else self.hint)
        self.line(f"int64_t {name};")
        return name

    def refuse(self, code: str, message: str) -> NotLiftable:
        return NotLiftable(code, message, self.span)

    def differs(self, name: str) -> None:
        """Note an operation that PyTorch's own kernel rounds in another way."""
        self.findings.inexact.setdefault(name, set()).update({self.current} if self.current else set())

    # ------------------------------------------------------------ values

    def bind(self, number: Number, hint: str = "") -> Number:
        """The number under a name of its own, unless it is a literal or has one."""
        if number.is_simple:
            return number
        name = self.fresh(hint or "value")
        self.line(f"const {number.type.cpp} {name} = {number.text};")
        if number.type == INT and not number.homes and not number.reads:
            self.are_equal(name, number.text)
        self.last_bound = (name, f"const {number.type.cpp} {name} = {number.text};", number)
        flag = number.flag
        if number.other is not None and number.homes and flag not in ("", "true", "false"):
            flag = self.fresh(f"{name}_is_typed")
            self.line(f"const bool {flag} = {number.flag};")
        return replace(
            number, text=name, level=ATOM, homes=frozenset(), reads=False, alias=False, place="", flag=flag
        )  # fmt: skip

    def value(self, atom: Atom) -> Value:
        if isinstance(atom, Var):
            return self.values[atom]
        scalar = type_of_constant(atom.value)
        if scalar is None:
            return Fixed(None if atom is UNDEFINED else atom.value)
        if scalar == INT and not -(2**63) <= atom.value < 2**63:
            raise self.refuse("integer-range", f"{atom.value} does not fit 64 bits")
        return constant(atom.value, scalar)

    def operand(self, operand: Operand) -> Value:
        match operand:
            case Group(items=items):
                return Items(tuple(self.operand(item) for item in items))
            case Slice():
                raise self.refuse("not-scalar", "a slice is not a single element")
        return self.value(operand)

    def number(self, operand: Operand) -> Number:
        """The operand as a number that is bound."""
        value = self.operand(operand)
        if not isinstance(value, Number):
            raise self.refuse("not-scalar", f"'{self.hint or 'a value'}' is computed from more than single elements")
        if value.bound:
            self.fail_if(f"!{value.bound}", "unbound")
            value = replace(value, bound="")
        return value

    def of_home(self, home: Home, join: Join) -> Number:
        """What a shared variable holds."""
        text = f"{join.type.cpp}({home.name})" if home.is_element else home.name
        return Number(
            text, join.type, ATOM, homes=frozenset({home}), reads=home.is_element,
            alias=home.is_element, other=join.other, flag=home.flag, rounded=join.rounded, zero=join.zero,
            sure=join.sure, bound=home.bound if join.absent else "",
            absent=join.absent_value,
        )  # fmt: skip

    def join(self, var: Var, start: Value | None = None) -> Join | None:
        """How a joined variable is held; in a provisional pass as what it starts from, if that is all that is known."""
        found = self.findings.joins.get(var)
        if found is None and self.provisional:
            found = UNKNOWN
            if isinstance(start, Number) and start.other is None and not start.bound:
                found = Join(start.type)
            self.findings.joins[var] = found
        return found

    # ------------------------------------------------------------ what gradients add

    def end_block(self, block: Block) -> None:
        """Called when the statements of a block are written."""

    def before_loop(self, loop: Loop) -> None:
        """Called before a loop is written."""

    def count_trip(self, loop: Loop) -> None:
        """Called at the start of a loop's body."""

    def decided(self, comparison: Number) -> Number | None:
        """Called with the comparison that ``min`` or ``max`` decides by; a name for it where it must be kept."""
        return None

    def before_reference(self, var: Var) -> None:
        """Called before a live view of an element is held while the tensor may change."""

    def before_change(self, statement: Statement, old: Number) -> None:
        """Called before an element is changed from its old value."""
