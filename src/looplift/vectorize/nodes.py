"""Makes nodes of array programs: constants, names, linear integer expressions, promotion of operands."""

from __future__ import annotations

import math
from functools import cache
from typing import Any, overload

from looplift.base.data import dataclass, field, fields_of
from looplift.ir.array import Axis, Node, anew
from looplift.ir.array import merge_axes as merge_axes
from looplift.ir.facts import Kind, kind_of

INT = Kind("int")
BOOL = Kind("bool")
FLOAT = Kind("float")
INDEX_BITS = 40
"""Integers of at most so many bits are computed with in lanes, which have 64."""
UNKEYED = ("extents", "bits", "key", "pieces", "tiles")
"""Attributes that do not tell how a value is computed."""


@dataclass(frozen=True)
class Affine:
    """``sum(coefficient * position of axis) + base`` with a base that no axis changes."""

    terms: tuple[tuple[Axis, int], ...]
    base: Node

    @property
    def axes(self) -> tuple[Axis, ...]:
        return tuple(axis for axis, _ in self.terms)


@dataclass
class Val:
    """What the lowering knows of one IR variable.

    ``dims``: the dimensions of a value of which some have another length in each lane, those with their ragged axis.
    """

    node: Node
    affine: Affine | None = None
    items: list[Val] | None = None
    sequence: Any = None
    dims: tuple[Axis | None, ...] | None = None
    extra: dict[str, Any] = field(default_factory=dict)


def const(value: Any) -> Node:
    return Node("const", kind=kind_of(value), attrs={"value": value})


def name(text: str, kind: Kind, axes: tuple[Axis, ...] = ()) -> Node:
    return Node("name", axes=axes, kind=kind, attrs={"text": text}, hint=text)


def is_derived(path: str) -> bool:
    """Whether a live-in is made from another one, at the beginning: ``[row[0] for row in pairs]``."""
    return " " in path or "(" in path


def is_const(node: Node, value: Any) -> bool:
    return node.op == "const" and type(node.attrs["value"]) is type(value) and node.attrs["value"] == value


def is_negative_zero(value: Any) -> bool:
    """Whether a value is -0.0, which a sum keeps where all that is added is -0.0 too; sums of arrays begin with 0.0."""
    return type(value) is float and value == 0 and math.copysign(1, value) < 0


# ---------------------------------------------------------------- integers that no axis changes


def length_of(node: Node) -> Node:
    """How many items a list has; a column of a list of rows, ``[row[0] for row in pairs]``, as many as that one."""
    text = node.attrs.get("text", "") if node.op == "derived" else ""
    if text.startswith("[row") and text.count(" for row in ") == 1:
        rows = text.partition(" for row in ")[2].removesuffix("]")
        node = Node("name", (), (), Kind("list"), {"text": rows, "is_list": True}, rows)
    return Node("length", (node,), (), INT, {"key": f"len({key_of(node)})"})


def linear(terms: dict[str, tuple[Node, int]], constant: int) -> Node:
    """``sum(coefficient * atom) + constant``, a Python integer, in normal form."""
    terms = {key: pair for key, pair in sorted(terms.items()) if pair[1] != 0}
    if not terms:
        return const(constant)
    if constant == 0 and len(terms) == 1:
        ((atom, coefficient),) = terms.values()
        if coefficient == 1:
            return atom
    args = tuple(atom for atom, _ in terms.values())
    return Node("linear", args, kind=INT, attrs={"terms": terms, "constant": constant})


def parts(node: Node) -> tuple[dict[str, tuple[Node, int]], int]:
    """The terms and the constant of an integer."""
    if node.op == "const":
        return {}, int(node.attrs["value"])
    if node.op == "linear":
        return dict(node.attrs["terms"]), node.attrs["constant"]
    return {key_of(node): (node, 1)}, 0


def key_of(node: Node) -> str:
    """A text that is equal for equal integers: the path of a size, or the node's own number."""
    return node.attrs.get("key") or node.attrs.get("text") or f"#{node.serial}"


def plus(a: Node, b: Node, sign: int = 1) -> Node:
    terms, constant = parts(a)
    others, added = parts(b)
    for key, (atom, coefficient) in others.items():
        terms[key] = (atom, terms.get(key, (atom, 0))[1] + sign * coefficient)
    return linear(terms, constant + sign * added)


def minus(a: Node, b: Node) -> Node:
    return plus(a, b, -1)


def times(a: Node, factor: int) -> Node:
    terms, constant = parts(a)
    return linear({key: (atom, c * factor) for key, (atom, c) in terms.items()}, constant * factor)


def same_integer(a: Node, b: Node) -> bool:
    difference = minus(a, b)
    return is_const(difference, 0)


def constant_of(node: Node) -> int | None:
    return node.attrs["value"] if node.op == "const" and isinstance(node.attrs["value"], int) else None


def least(node: Node) -> float:
    """A lower bound of an integer, from the extent classes (0, 1, 2 or more) that a variant is guarded by."""
    terms, constant = parts(lowest(node))
    bound: float = constant
    for atom, coefficient in terms.values():
        sample = atom.attrs.get("sample")
        if sample is None or (coefficient < 0 and sample > 1):
            return float("-inf")
        bound += coefficient * min(sample, 2)
    return bound


def lowest(node: Node) -> Node:
    """The integer with the least that its terms can be, of those whose bounds are known."""
    terms, constant = parts(node)
    made = const(constant)
    for atom, coefficient in terms.values():
        made = plus(made, times(atom.attrs.get("least" if coefficient > 0 else "most", atom), coefficient))
    return made


def highest(node: Node) -> Node:
    """The integer with the greatest that its terms can be, of those whose bounds are known."""
    return times(lowest(times(node, -1)), -1)


def sample_of(node: Node) -> int | None:
    """The integer at the call that the variant is made for, where the extents that it is made of are known."""
    terms, value = parts(node)
    for atom, coefficient in terms.values():
        sample = atom.attrs.get("sample")
        if sample is None:
            return None
        value += coefficient * sample
    return value


def is_likely_positive(node: Node) -> bool:
    """Whether an integer is not negative at this call, nor, as far as can be told, at others of the kind.

    Integers that are given, or computed of such, may be any at the next call: that a lag is 0 says nothing. How they
    relate to extents is what the program is about: a window that fits beside its border.
    """
    terms, _ = parts(node)
    atoms = [atom for atom, _ in terms.values()]
    sizes = any(atom.attrs.get("sample") is not None and atom.attrs["sample"] > 1 for atom in atoms)
    return was_positive(node) and (sizes or all("sample" in atom.attrs for atom in atoms))


def was_positive(node: Node) -> bool:
    """Whether an integer is known at this call, and not negative."""
    terms, value = parts(node)
    for atom, coefficient in terms.values():
        sample = atom.attrs.get("sample")
        sample = atom.attrs.get("seen") if sample is None else sample
        if sample is None:
            return False
        value += coefficient * sample
    return value >= 0


def equal_samples(gap: Node) -> tuple[str, str] | None:
    """The keys of two extents whose difference this is, if they are equal at the call that the variant is made for."""
    terms, constant = parts(gap)
    pair = sorted(terms.values(), key=lambda item: item[1])
    if constant or [coefficient for _, coefficient in pair] != [-1, 1]:
        return None
    small, large = (atom for atom, _ in pair)
    samples = small.attrs.get("sample"), large.attrs.get("sample")
    if samples[0] is None or samples[0] != samples[1]:
        return None
    return key_of(large), key_of(small)


# ---------------------------------------------------------------- promotion


def lane_dtype(kind: Kind) -> Any:
    """The dtype that holds one lane's value of this kind."""
    import torch

    if kind.is_array:
        return kind.dtype
    return {"int": torch.int64, "float": torch.float64, "bool": torch.bool, "complex": torch.complex128}[kind.family]


@cache
def _promote(kinds: tuple[tuple[str, Any, int], ...], floats: Any) -> Any:
    """torch's promotion of operands given as (family, dtype, rank), all at once: tensors of one dimension or more come
    first, then those of none, then numbers, of which ``floats`` is the default dtype."""
    import torch

    numbers = {"int": torch.int64, "bool": torch.bool, "float": floats, "complex": floats.to_complex()}
    classes: list[Any] = [None, None, None]
    for family, dtype, rank in kinds:
        which = 2 if family != "tensor" else 0 if rank else 1
        dtype = dtype if family == "tensor" else numbers[family]
        classes[which] = dtype if classes[which] is None else torch.promote_types(classes[which], dtype)
    first, second, third = classes
    return _outranks(first, _outranks(second, third))


def _outranks(first: Any, second: Any) -> Any:
    """The dtype of a class of operands and one after it: that adds no more than being a float, or complex."""
    import torch

    if first is None or second is None or first.is_complex:
        return second if first is None else first
    if first.is_floating_point:
        return first.to_complex() if second.is_complex else first
    more = first is torch.bool or second.is_floating_point or second.is_complex
    return torch.promote_types(first, second) if more else first


def common_dtype(kinds: list[Kind]) -> Any:
    """The dtype in which the loop computes an element-wise operation of operands of these kinds."""
    import torch

    if not any(k.family == "tensor" for k in kinds):
        families = {k.family for k in kinds}
        if "complex" in families:
            return torch.complex128
        return torch.float64 if "float" in families else torch.int64 if "int" in families else torch.bool
    return _promote(tuple((k.family, k.dtype, k.rank) for k in kinds), torch.get_default_dtype())


def batched_dtype(nodes: list[Node]) -> Any:
    """The dtype in which the emitted code would compute it with no casts."""
    import torch

    kinds = []
    for node in nodes:
        if node.kind.is_number and not node.axes:
            kinds.append((node.kind.family, None, 0))
        else:
            kinds.append(("tensor", lane_dtype(node.kind), node.rank))
    if all(kind[0] != "tensor" for kind in kinds):
        return None
    return _promote(tuple(kinds), torch.get_default_dtype())


def may_have_gradient(dtype: Any) -> bool:
    """Whether tensors of a dtype can have gradients: floats and complex numbers."""
    return "float" in str(dtype) or "complex" in str(dtype)


def as_array(node: Node, kind: Kind) -> Node:
    """A value of a kind, which is an array where that is one of no dimensions: one lane of several is a number."""
    if node.axes or kind.family != "array" or kind.rank or node.attrs.get("name") == "np.asarray":
        return node
    return Node("apply", (node,), (), kind, {"name": "np.asarray", "kwargs": [], "positional": 1}, node.hint)


def shown(node: Node) -> Node:
    """The node, as an object of its own where it is a view of all of an array: ``x[:]`` is not ``x``."""
    is_view = node.op == "slice" and not node.axes and node.kind.rank
    return anew(node, attrs=node.attrs | {"shown": True}) if is_view else node


def cast(node: Node, dtype: Any) -> Node:
    """The node's lanes as elements of ``dtype``."""
    if node.kind.is_array and node.kind.dtype == dtype:
        return node
    if node.kind.is_number and node.axes and lane_dtype(node.kind) == dtype:
        return Node("retype", (node,), node.axes, Kind("tensor", dtype, 0))
    if node.kind.is_number and not node.axes:
        return Node("full", (node,), (), Kind("tensor", dtype, 0), {"dtype": dtype})
    return Node("cast", (node,), node.axes, Kind("tensor", dtype, node.kind.rank), {"dtype": dtype})


def undecided(node: Node) -> Node:
    """A tensor that may be a number in the loop, as the loop has it: arithmetic takes a number with all its digits."""
    return node.args[0] if node.op == "settled" else node


def elementwise(op: str, args: list[Node], kind: Kind, **attrs: Any) -> Node:
    """An element-wise operation, its operands aligned by label."""
    axes = merge_axes(*(arg.axes for arg in args))
    return Node("elementwise", tuple(args), axes, kind, {"name": op, **attrs})


def negative(value: Node, dtype: Any) -> Node:
    """The negative of what is taken from a value of a dtype, in that dtype: small integers have no room for it."""
    whole = value.kind.is_array and not may_have_gradient(value.kind.dtype) and str(value.kind.dtype) != "torch.bool"
    if whole and dtype is not None:
        value = cast(value, dtype)
    return elementwise("neg", [value], value.kind)


def compare(op: str, a: Node, b: Node) -> Node:
    return elementwise(op, [a, b], BOOL)


def compares_all(op: str, a: Node, b: Node) -> Node:
    """Whether a comparison holds for all elements of each lane's array."""
    if not a.kind.rank:
        return compare(op, a, b)
    kind = Kind(a.kind.family, lane_dtype(BOOL), a.kind.rank)
    dims = tuple(range(-a.kind.rank, 0))
    attrs = {"name": "all", "dims": dims, "keepdim": False, "all": True, "kwargs": [], "as": ""}
    holds = elementwise(op, [a, b], kind)
    return Node("fold", (holds,), holds.axes, Kind(kind.family, kind.dtype, 0), attrs)


@overload
def both(a: Node, b: Node | None) -> Node: ...
@overload
def both(a: Node | None, b: Node) -> Node: ...
@overload
def both(a: Node | None, b: Node | None) -> Node | None: ...
def both(a: Node | None, b: Node | None) -> Node | None:
    """The conjunction of two masks; None is everywhere."""
    if a is None or b is None:
        return a or b
    if is_const(a, True):
        return b
    if is_const(b, True):
        return a
    return elementwise("and_", [a, b], BOOL)


def negated(mask: Node) -> Node:
    return elementwise("not", [mask], BOOL)


def select(mask: Node, then: Node, orelse: Node, kind: Kind) -> Node:
    """Lanes of ``then`` where the mask holds, of ``orelse`` elsewhere."""
    axes = merge_axes(mask.axes, then.axes, orelse.axes)
    return Node("where", (mask, then, orelse), axes, kind)


def held(mask: Node, factor: Node) -> Node:
    """A factor where the mask holds: the zeros elsewhere stand for no product of the loop's."""
    made = select(mask, factor, const(0.0), factor.kind)
    made.attrs["held"] = True
    return made


def structure_key(node: Node) -> Any:
    """A key that is equal for values that are computed alike; a value that may change in between has its own."""
    if node.op == "name":
        volatile = node.attrs.get("memory") or node.attrs.get("local")
        return ("name", node.serial if volatile else node.attrs["text"])
    if node.op == "const":
        return ("const", type(node.attrs["value"]).__name__, repr(node.attrs["value"]))
    if node.op in ("extent", "length"):
        return ("size", key_of(node))
    if node.op in ("drawn", "apply") or reads_memory(node):
        return ("node", node.serial)
    attrs = tuple(sorted((k, repr(v)) for k, v in node.attrs.items() if k not in UNKEYED))
    pieces = tuple(map(_piece_key, node.attrs.get("pieces", ())))
    return (node.op, attrs, pieces, node.axes, tuple(map(structure_key, node.args)))


def _piece_key(piece: Any) -> Any:
    """What a piece of a subscript is, but for its nodes, which are operands."""
    held = (getattr(piece, name) for name in fields_of(piece))
    return type(piece).__name__, *(one if isinstance(one, int | Axis) else one is None for one in held)


def reads_memory(node: Node) -> bool:
    return node.op not in ("extent", "length") and any(
        (arg.op == "name" and arg.attrs.get("memory")) or reads_memory(arg) for arg in node.args
    )
