"""The state of one lowering: axes in force, the mask, what is known of each variable, the steps made so far."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from looplift.base.data import dataclass, field
from looplift.base.errors import NotLiftable
from looplift.base.spans import NOWHERE, Span
from looplift.ir.array import Axis, Check, Node, Step, ancestors, merge_axes
from looplift.ir.facts import Facts, Kind
from looplift.ir.grammar import Atom, Carry, Const, If, Loop, Operand, Statement, Var
from looplift.vectorize import doubts, nodes, reached, rounding, sheltered
from looplift.vectorize.flow import Flow, stored_roots
from looplift.vectorize.nodes import Affine, Val

if TYPE_CHECKING:
    from looplift.vectorize import carried_inputs, grown
    from looplift.vectorize.reductions import Accumulator


@dataclass(eq=False)
class Array:
    """A tensor, array or list that the region writes to.

    ``node`` is its present value; once it is written in place it is bound to ``name``. ``fresh`` arrays were made in
    the region, so that a store that covers all of one may replace it.
    """

    var: Var
    node: Node
    kind: Kind
    shape: tuple[Node, ...]
    fresh: bool
    axes: tuple[Axis, ...]
    name: str = ""
    written: bool = False
    home: Any = None
    """The steps among which it was made; among these alone a store that covers it may replace it."""
    rows: Axis | None = None
    """Of arrays of another length in each lane: the axis of their rows, all of which are in one array."""
    outside: Node | None = None
    """The mask under which such an array was made."""


@dataclass
class Contribution:
    operator: str
    value: Node
    mask: Node | None
    axes: tuple[Axis, ...]
    leads: bool = False
    """Whether it is the first operand of Python's ``max`` or ``min``, which stays where either is NaN."""


Lowered = tuple[list[Step], int, Node, Node | None]


@dataclass(frozen=True)
class Update:
    """The place at ``ref[index]`` is combined with ``value``."""

    ref: Var
    index: Operand
    operator: str
    value: Atom
    reads: frozenset[Var]
    leads: bool = False
    """Whether the value is the first operand of Python's ``max`` or ``min``, which stays where either is NaN."""


@dataclass
class Updates:
    """``of`` a store or an If; ``absorbed`` are the variables that are read by nothing but the updates."""

    of: dict[Statement, Update] = field(default_factory=dict)
    absorbed: set[Var] = field(default_factory=set)


@dataclass
class Context:
    """Everything that the pieces of the lowering share."""

    facts: Facts
    flow: Flow
    library: str
    steps: list[list[Step]] = field(default_factory=lambda: [[]])
    axes: list[Axis] = field(default_factory=list)
    mask: Node | None = None
    vals: dict[Var, Val] = field(default_factory=dict)
    arrays: dict[Var, Array] = field(default_factory=dict)
    accumulators: dict[Var, Accumulator] = field(default_factory=dict)
    contributions: dict[Accumulator, list[Contribution]] = field(default_factory=dict)
    decisions: dict[Loop, tuple[str, str, str]] = field(default_factory=dict)
    checked: set[str] = field(default_factory=set)
    names: dict[str, int] = field(default_factory=dict)
    span: Span = NOWHERE
    needs_grad: bool = False
    depth: int = 0
    notes: list[str] = field(default_factory=list)
    serial_loops: list[Loop] = field(default_factory=list)
    blocks_around: list[list[Step]] = field(default_factory=list)
    """The steps among which each of these loops stands."""
    growing: list[grown.Grown] = field(default_factory=list)
    """Lists that these loops make longer."""
    active_in: dict[Loop, Node | None] = field(default_factory=dict)
    """Of these loops: in which lanes their iterations run, all of them where it is None."""
    in_while: bool = False
    discarded: set[Var] = field(default_factory=set)
    """What nothing reads and is computed all the same, in the loop that stays, as it may raise."""
    lowered_where: dict[Var, Node] = field(default_factory=dict)
    """The condition, one for all lanes, under which a variable was made."""
    lowered: list[Lowered] = field(default_factory=list)
    """Values that are read, each with the steps among which it was made, and how many there were, and the
    condition, the same for all lanes, under which it was."""
    doubts: dict[int, list[doubts.Doubt]] = field(default_factory=dict)
    """Where choices take the inputs that only one side has, by the number of the choice."""
    doubtful_checks: list[tuple[Check, int, frozenset[int]]] = field(default_factory=list)
    """Those of such lanes that another choice drops, of inputs that what reads that choice may reach anyway."""
    made_of: dict[int, carried_inputs.Made] = field(default_factory=dict)
    """The inputs of what names stand for that an ``if`` or a loop that stays has bound, by serial."""
    moved: set[int] = field(default_factory=set)
    """Inputs that all lanes may lack of a value that was taken from among others."""
    told: rounding.Told = field(default_factory=rounding.Told)
    """What statements would tell of numbers that are elements of tensors in lanes."""
    items_given: list[Node] = field(default_factory=list)
    """Items of lists of the caller, as one array for each list."""
    parts_ways: bool = False
    """Whether some lanes take what others do not, and multiply it, with gradients."""
    is_parted: bool = False
    """Whether gradients may flow to some lanes of a value alone."""
    is_triangular: bool = False
    """Whether an inner loop has fewer iterations in some lanes than in others, which a mask leaves out."""
    wanted_equal: set[tuple[str, str]] = field(default_factory=set)
    kernel_of: Any = None
    kernels: list[Any] = field(default_factory=list)
    no_kernels: list[NotLiftable] = field(default_factory=list)
    ragged_axes: dict[Any, Any] = field(default_factory=dict)
    when_apart: set[Var] = field(default_factory=set)
    unbounded: dict[int, bool] = field(default_factory=dict)
    """Which nodes may be infinite though no input is, by serial."""
    safe: dict[Var, Val] = field(default_factory=dict)
    """Operands of the operation at hand, with zeros in lanes that do not run it."""
    told_apart: set[Var] = field(default_factory=set)
    """Integers that differ by iteration, so that a proof takes the places that they name to be others."""
    changing: dict[Loop, set[Var]] = field(default_factory=dict)
    """What loops compute from the memory that they write to."""
    vanishing: dict[int, Any] = field(default_factory=dict)
    """Reads that are zero where a mask does not hold, by serial."""
    best_places: dict[int, Node] = field(default_factory=dict)
    """Where the best of running extremes stands, by the serial of what tells them."""
    updates: Updates = field(default_factory=Updates)
    axis_of: dict[Loop, Axis] = field(default_factory=dict)
    lanes_of: dict[Loop, tuple[Axis, Node | None]] = field(default_factory=dict)
    settles: dict[Carry, Node] = field(default_factory=dict)
    """Where loops that stay have made of a carried number what it ends as, of those whose kind is asked for."""
    distributed: set[Loop] = field(default_factory=set)
    only: frozenset[int] | None = None
    before_pieces: list[int] = field(default_factory=list)
    """How deep the steps are in which each loop over pieces stands, of those that are lowered now."""

    def refuse(self, code: str, message: str) -> NotLiftable:
        return NotLiftable(code, message, self.span)

    @property
    def strips(self) -> dict[Loop, Loop]:
        """Loops over pieces of others, each with the loop over the iterations of a piece."""
        return self.facts.function.attributes.get("strips", {})

    @property
    def given(self) -> set[str]:
        """What the author calls the live-ins."""
        return set(self.facts.function.attributes["paths"].values())

    # ------------------------------------------------------------ values

    def val(self, atom: Atom) -> Val:
        """What is known of a value whose shape is the same in all lanes."""
        found = self.lookup(atom)
        if found.dims is not None:
            raise self.refuse("ragged-shape", f"'{getattr(atom, 'hint', atom)}' has another length in each iteration")
        return found

    def lookup(self, atom: Atom) -> Val:
        if isinstance(atom, Const):
            node = nodes.const(atom.value)
            if atom.path:
                node = Node("name", kind=node.kind, attrs={"text": atom.path, "value": atom.value})
            return Val(node)
        if atom in self.safe:
            return self.safe[atom]
        if atom in self.arrays:
            return self.array_value(self.arrays[atom])
        found = self.vals.get(atom)
        if found is None:
            raise self.refuse("unsupported-value", f"'{atom.hint}' is not known where it is read")
        if found.node.op == "none":
            raise self.refuse("unknown-op", "text that is made of values is not only printed")
        return found

    def array_value(self, array: Array) -> Val:
        if array.rows is not None:
            from looplift.vectorize.ragged_arrays import value_of

            return value_of(array)
        return Val(array.node)

    def node(self, atom: Atom) -> Node:
        return self.val(atom).node

    def affine(self, atom: Atom) -> Affine | None:
        """The integer as an affine form of positions on axes, if it is one."""
        val = self.val(atom)
        if val.affine is not None:
            return val.affine
        if not val.node.axes and val.node.kind.family in ("int", "bool"):
            return Affine((), val.node)
        return None

    def fresh_name(self, hint: str) -> str:
        """A name like this one, which may be a path or a name that no author can give."""
        hint = hint if hint.isidentifier() else re.sub(r"\W+", "_", hint)
        hint = hint.strip("_0123456789") or "value" if hint.startswith("_") else hint
        hint = f"{hint}_value" if hasattr(builtins, hint) or keyword.iskeyword(hint) else hint
        count = self.names.get(hint, 0)
        self.names[hint] = count + 1
        return hint if count == 0 else f"{hint}_{count}"

    def is_overwritten(self, var: Var) -> bool:
        """Whether what a backward pass keeps of an array is written to by a later iteration of a loop that stays."""
        if not self.needs_grad or not self.serial_loops or not nodes.may_have_gradient(self.facts.kind(var).dtype):
            return False
        root = self.flow.root(var)
        return any(root in stored_roots(self.flow, loop.body) for loop in self.serial_loops)

    # ------------------------------------------------------------ steps

    def add(self, step: Step) -> None:
        self.steps[-1].append(step)

    def check(self, cond: Node, key: str = "") -> Check | None:
        """Require a condition, for the active lanes; the same one only once."""
        if nodes.is_const(cond, True) or (key and key in self.checked):
            return None
        if key and len(self.steps) == 1:
            self.checked.add(key)
        if cond.axes and self.mask is not None:
            cond = nodes.elementwise("or_", [cond, nodes.negated(self.mask)], nodes.BOOL)
        made = Check(cond, self.span)
        self.add(made)
        return made

    def add_check(self, cond: Node) -> None:
        """Require a condition on all lanes together."""
        self.add(Check(cond, self.span))

    def check_at_most(self, small: Node, large: Node) -> None:
        """Require ``small <= large`` of two integers that no axis changes."""
        gap = nodes.minus(large, small)
        if nodes.least(gap) >= 0:
            return
        if self.before_pieces:
            small, large = nodes.highest(small), nodes.lowest(large)
            gap = nodes.minus(large, small)
        if (pair := nodes.equal_samples(gap)) is not None:
            self.wanted_equal.add(pair)
        with self.before_strip(gap):
            self.check(nodes.elementwise("le", [small, large], nodes.BOOL), _key_of_gap(gap))

    def is_required(self, small: Node, large: Node) -> bool:
        """Whether ``small <= large`` was required already, in every run."""
        gap = nodes.minus(large, small)
        return nodes.least(gap) >= 0 or _key_of_gap(gap) in self.checked

    def select(self, mask: Node, then: Node, orelse: Node, kind: Kind) -> Node:
        """Lanes of ``then`` where the mask holds, of ``orelse`` elsewhere.

        A side that no lane takes gets no gradient in the loop, and zeros from a select: where the sides depend on
        other leaves, the result is the other side alone if no lane takes one.
        """
        if not (self.needs_grad and kind.is_array and mask.axes):
            return nodes.select(mask, then, orelse, kind)
        other = nodes.negated(mask)
        if self.library == "torch":
            then, orelse = sheltered.sheltered(self, then, mask), sheltered.sheltered(self, orelse, other)
        found = nodes.select(mask, then, orelse, kind)
        made = found
        for lanes, side, besides in ((mask, then, orelse), (other, orelse, then)):
            doubts.check(self, side, lanes, besides, made)
        for lanes, side, besides in ((mask, then, orelse), (other, orelse, then)):
            if inputs := reached.leaves(side) - reached.leaves(besides, surely=True):
                doubts.record(self, made, lanes, inputs)
                self.check_taken(lanes, side, besides)
                found = nodes.select(self._some(lanes), found, besides, kind)
                found.attrs["inputs"] = frozenset(inputs)
        return found

    def _some(self, mask: Node) -> Node:
        """Whether a mask holds in some lane that is active."""
        return Node("some", (self._where_reached(nodes.both(self.mask, mask)),), (), nodes.BOOL)

    def _where_reached(self, mask: Node) -> Node:
        """A mask of outer lanes, where these have an entry of the inner ragged loops that are active."""
        for axis in self.active_axes():
            outer = {*ancestors(axis)}
            within = any(own is axis or axis in ancestors(own) for own in mask.axes)
            if axis.is_ragged and axis.lengths is not None and not within and not outer.isdisjoint(mask.axes):
                mask = nodes.both(mask, nodes.compare("ge", axis.lengths, nodes.const(1)))
        return mask

    def check_taken(self, mask: Node, value: Node, other: Node | None = None) -> None:
        """Items of a list get a gradient each: where a value is made of them, every lane must take it."""
        if self.items_of(value) - (self.items_of(other) if other is not None else set()):
            self.add(Check(mask, self.span))

    def items_of(self, value: Node) -> set[int]:
        """What a gradient of a value may reach one item of in each lane; nothing where no item asks for one."""
        return reached.items_of(value) if self.needs_grad and self.items_given else set()

    @contextmanager
    def before_strip(self, gap: Node) -> Iterator[None]:
        """Before the loop over pieces, if the integer is made of live-ins and their extents alone; else here."""
        saved = self.steps
        atoms = [atom.args[0] if atom.op == "extent" else atom for atom, _ in nodes.parts(gap)[0].values()]
        if self.before_pieces and all(atom.op == "name" and atom.attrs["text"] in self.given for atom in atoms):
            self.steps = saved[: self.before_pieces[-1]]
        try:
            yield
        finally:
            self.steps = saved

    def check_some(self, mask: Node) -> None:
        """Require that a mask holds in some lane."""
        mask = self._where_reached(mask)
        self.add(Check(Node("some", (mask,), (), nodes.BOOL) if mask.axes else mask, self.span))

    @contextmanager
    def masked(self, mask: Node | None) -> Iterator[None]:
        saved, self.mask = self.mask, nodes.both(self.mask, mask)
        yield
        self.mask = saved

    @contextmanager
    def unmasked(self) -> Iterator[None]:
        saved, self.mask = self.mask, None
        yield
        self.mask = saved

    @contextmanager
    def among(self, lanes: tuple[Axis, ...]) -> Iterator[None]:
        """All lanes of some of the loops, as where a value was made that loops inside of them read."""
        around = {*lanes, *(axis for lane in lanes for axis in ancestors(lane))}
        saved, self.axes = self.axes, [axis for axis in self.axes if axis in around]
        with self.unmasked():
            yield
        self.axes = saved

    @contextmanager
    def nested(self, steps: list[Step]) -> Iterator[None]:
        self.steps.append(steps)
        yield
        self.steps.pop()

    def takes(self, item: Any) -> bool:
        """Whether a statement or join belongs to what is lowered now, or holds something that does."""
        if self.only is None or id(item) in self.only:
            return True
        return isinstance(item, If) and (
            any(map(self.takes, (*item.then, *item.orelse))) or any(id(phi) in self.only for phi in item.phis)
        )

    @contextmanager
    def inside(self, statement: Statement) -> Iterator[None]:
        """A statement that belongs to what is lowered now is lowered with all that is in it."""
        saved = self.only
        if saved is not None and id(statement) in saved:
            self.only = None
        yield
        self.only = saved

    # ------------------------------------------------------------ axes

    def active_axes(self) -> tuple[Axis, ...]:
        return merge_axes(tuple(self.axes))

    def axes_inside(self, outer: tuple[Axis, ...]) -> tuple[Axis, ...]:
        """Active axes beyond those of an enclosing scope."""
        implied = set(outer) | {a for axis in outer for a in ancestors(axis)}
        return tuple(axis for axis in self.axes if axis not in implied)

    def value_of(self, const: Any) -> Node:
        return nodes.const(const)


def _key_of_gap(gap: Node) -> str:
    return f"{nodes.parts(gap)[0].keys()}{[c for _, c in nodes.parts(gap)[0].values()]}{nodes.parts(gap)[1]}"


def index_node(axis: Axis) -> Node:
    """The position on an axis as a lane value: ``lo + step * k``."""
    return Node("index", (), (axis,), nodes.INT, {"axis": axis}, axis.name)


def node_of(affine: Affine) -> Node:
    """The integer that an affine form stands for."""
    total: Node | None = None if nodes.is_const(affine.base, 0) and affine.terms else affine.base
    for axis, coefficient in affine.terms:
        term = index_node(axis)
        if coefficient == -1 and total is not None:
            total = nodes.elementwise("sub", [total, term], nodes.INT)
            continue
        if coefficient != 1:
            term = nodes.elementwise("mul", [term, nodes.const(coefficient)], nodes.INT)
        total = term if total is None else nodes.elementwise("add", [total, term], nodes.INT)
    assert total is not None
    return total
