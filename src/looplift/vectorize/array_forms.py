"""NumPy's functions of a row or a matrix in; one call for all lanes out, whose dimensions stand in front.

A form binds the arguments by the names that NumPy gives them. It makes a ``batched`` node, text with operands to be
filled in, or nodes that there are already; it gives None where it does not know an argument.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from looplift.base.data import dataclass, replace
from looplift.ir.array import Node, merge_axes
from looplift.ir.facts import Fact, Kind, kind_of
from looplift.vectorize import nodes
from looplift.vectorize.arithmetic import arithmetic
from looplift.vectorize.context import Context
from looplift.vectorize.held import check_number
from looplift.vectorize.nodes import Val


@dataclass(frozen=True)
class Call:
    """A call in a lane: its arguments by name, each a node or a list of such, and what it gives."""

    context: Context
    name: str
    given: dict[str, Any]
    fact: Fact

    def get(self, name: str, default: Any = None) -> Any:
        return self.given.get(name, default)

    @property
    def first(self) -> Any:
        return next(iter(self.given.values()))

    def const(self, name: str, default: Any = None) -> Any:
        """The value of an argument that is a constant, a list of constants or absent; UNKNOWN for others."""
        return constant(self.given[name]) if name in self.given else default

    def made(self, text: str, operands: dict[str, Node], kind: Kind | None = None, **attrs: Any) -> Node:
        """The text with operands, ``{a}`` one of them, ``{a!}`` one that something is asked of."""
        axes = merge_axes(*(node.axes for node in operands.values()))
        kind = self.fact.kind if kind is None else kind
        attrs = {"text": text, "names": list(operands), **attrs}
        return Node("batched", tuple(operands.values()), axes, kind, attrs)


UNKNOWN: Any = object()
Made = Node | Val | None
Form = Callable[[Call], Made]


def constant(value: Any) -> Any:
    """What an argument is, as far as all of it is constant."""
    if isinstance(value, list):
        items = [constant(item) for item in value]
        return UNKNOWN if any(item is UNKNOWN for item in items) else items
    return value.attrs["value"] if value.op == "const" else UNKNOWN


def is_array(value: Any, rank: int | None = None) -> bool:
    """Whether an argument is one array, of some rank."""
    return isinstance(value, Node) and value.kind.is_array and rank in (None, value.kind.rank)


def is_shared(value: Any) -> bool:
    """Whether an argument is one value for all lanes."""
    return isinstance(value, Node) and not value.axes


def is_integer(value: Any) -> bool:
    """Whether an argument is an integer, the same one in all lanes."""
    return is_shared(value) and value.kind.family == "int"


def negative_axis(axis: Any, rank: int) -> int | None:
    """The dimension counted from the last; None if it is no known one."""
    if type(axis) is not int or not -rank <= axis < rank:
        return None
    return axis if axis < 0 else axis - rank


def axes_text(call: Call, rank: int, name: str = "axis") -> str | None:
    """One dimension, several or all, counted from the last; None where that is not known."""
    axis = call.const(name)
    if axis is None:
        return "-1" if rank == 1 else str(tuple(range(-rank, 0)))
    if isinstance(axis, list | tuple):
        found = [negative_axis(one, rank) for one in axis]
        return None if None in found or not found else str(tuple(found))
    one = negative_axis(axis, rank)
    return None if one is None else str(one)


def tree(value: Any) -> Any:
    """An argument whose constant tuples and lists are lists of nodes."""
    if isinstance(value, list):
        return [tree(item) for item in value]
    if value.op == "const" and isinstance(value.attrs["value"], tuple | list):
        return [tree(nodes.const(item)) for item in value.attrs["value"]]
    if value.op == "display":
        return [tree(item) for item in value.args]
    return value


def array_of(call: Call, dtype: Any, rank: int) -> Kind:
    """The kind of an array of this rank in a lane; a scalar of NumPy without dimensions."""
    return Kind("array" if rank else "numpy", dtype, rank)


def of_type(x: Node, dtype: Any) -> Node:
    """The array as one of another dtype."""
    made = nodes.cast(x, dtype)
    if made is not x:
        made.kind = replace(x.kind, dtype=dtype)
    return made


def with_dims(node: Node, *dims: int) -> Node:
    """New dimensions of one lane's value, one after the other."""
    for dim in dims:
        kind = replace(node.kind, family="array", rank=node.kind.rank + 1)
        node = Node("unsqueezed", (node,), node.axes, kind, {"dim": dim})
    return node


def reordered(call: Call, x: Node, order: list[int]) -> Node:
    if order == sorted(order):
        return x
    extents = x.attrs.get("extents")
    attrs = {"order": order, "extents": [extents[k] for k in order] if extents else None}
    return Node("permuted", (x,), x.axes, call.fact.kind, attrs)


# ---------------------------------------------------------------- the table


def bound(parameters: str, args: list[Any], kwargs: dict[str, Any]) -> dict[str, Any] | None:
    """Arguments by name; None for those that the form does not know."""
    names = parameters.split()
    if len(args) > len(names) or set(kwargs) - set(names[len(args) :]):
        return None
    return dict(zip(names, args, strict=False)) | kwargs


def form(context: Context, name: str, args: list[Any], kwargs: dict[str, Any], fact: Fact) -> Val | None:
    """The batched form of a call; None where there is none."""
    key = name.partition(".")[2]
    if not name.startswith(("np.", "method.")) or key not in _forms():
        return None
    parameters, made_by = _forms()[key]
    given = bound(parameters, args, kwargs)
    if not given or not (is_array(next(iter(given.values()))) or key in FREE):
        return None
    made = made_by(Call(context, name, given, fact))
    return Val(made) if isinstance(made, Node) else made


FREE = frozenset(
    """full broadcast_to select append insert linspace unravel_index column_stack dstack lexsort linalg.multi_dot
    r_.__getitem__ c_.__getitem__ choose isclose allclose array_equal bincount full_like divmod copysign""".split()
)
"""Forms whose first argument need not be an array."""

_FORMS: dict[str, tuple[str, Form]] = {}


def _forms() -> dict[str, tuple[str, Form]]:
    if not _FORMS:
        from looplift.vectorize import array_joins, array_products, array_shapes, array_statistics, array_values

        for room in (array_shapes, array_joins, array_products, array_statistics, array_values):
            _FORMS.update(room.FORMS)
        _FORMS.update(FORMS)
    return _FORMS


def names() -> list[str]:
    """The functions that have a form."""
    return list(_forms())


# ---------------------------------------------------------------- element by element


def _of_each(call: Call) -> Made:
    """As a function of NumPy that is applied to every element."""
    args = [value for key, value in call.given.items() if len(key) == 2 and key[0] == "x"]
    named = {key: value for key, value in call.given.items() if not (len(key) == 2 and key[0] == "x")}
    if any(isinstance(a, list) for a in args) or any(not is_shared(v) for v in named.values()):
        return None
    kind = call.fact.kind
    if call.name.startswith("method.conj") and str(kind.dtype) == "bool":
        return None  # the function makes integers of truth values, the method does not
    return arithmetic(call.context, call.name.replace("method.", "np."), args, kind, named) if kind.is_array else None


def _pairs(call: Call) -> Made:
    """Two results for every element."""
    args = list(call.given.values())
    if any(isinstance(a, list) or not (a.kind.is_array or is_shared(a)) for a in args) or not call.fact.sample:
        return None
    from looplift.vectorize.mapped import several

    operands = {f"x{k}": arg for k, arg in enumerate(args)}
    function = "np.divmod" if call.name == "builtin.divmod" else call.name
    text = f"{function}({', '.join('{' + key + '}' for key in operands)})"
    return several(call.made(text, operands, rank=max(a.kind.rank for a in args)), call.fact)


def _close(call: Call) -> Made:
    """Whether all elements are: a Python bool in each lane."""
    a, b = list(call.given.values())[:2]
    named = {key: value for key, value in call.given.items() if key in ("rtol", "atol", "equal_nan")}
    if isinstance(a, list) or isinstance(b, list) or any(not is_shared(v) for v in named.values()):
        return None
    rank = max(a.kind.rank, b.kind.rank)
    extra = "".join(f", {key}={{{key}}}" for key in named)
    every = f".all(axis={'-1' if rank == 1 else tuple(range(-rank, 0))})" if rank else ""
    kind = Kind("numpy", _boolean(), 0)
    text = f"np.isclose({{a}}, {{b}}{extra}){every}"
    return _truth(call, call.made(text, {"a": a, "b": b, **named}, kind, rank=rank))


def _truth(call: Call, made: Node) -> Node:
    return Node("retype", (made,), made.axes, nodes.BOOL) if call.fact.kind.family == "bool" else made


def _boolean() -> Any:
    import numpy as np

    return np.dtype(bool)


def _equal(call: Call) -> Made:
    from looplift.vectorize.subscripts import extent_of

    a, b = list(call.given.values())[:2]
    if len(call.given) > 2 or not is_array(a) or not is_array(b, a.kind.rank) or not a.kind.rank:
        return None
    rank = a.kind.rank
    for dim in range(rank):
        call.context.check(nodes.compare("eq", extent_of(a, dim), extent_of(b, dim)))
    text = f"({{a!}} == {{b!}}).all(axis={'-1' if rank == 1 else tuple(range(-rank, 0))})"
    return _truth(call, call.made(text, {"a": a, "b": b}, Kind("numpy", _boolean(), 0), rank=rank))


def _select(call: Call) -> Made:
    """The first choice whose condition holds."""
    conditions, choices = call.get("condlist"), call.get("choicelist")
    if not isinstance(conditions, list) or not isinstance(choices, list) or len(conditions) != len(choices):
        return None
    dtype = call.fact.kind.dtype
    if not all(is_array(c) and c.kind.dtype == _boolean() for c in conditions):
        return None
    chosen = call.get("default", nodes.const(0))
    values = (*choices, chosen)
    if any(isinstance(value, list) or not (value.kind.is_array or value.kind.is_number) for value in values):
        return None
    for value in values:
        check_number(call.context, value, dtype)
    chosen = nodes.cast(chosen, dtype)
    for condition, choice in zip(conditions[::-1], choices[::-1], strict=True):
        rank = max(condition.kind.rank, choice.kind.rank, chosen.kind.rank)
        kind = array_of(call, dtype, rank)
        chosen = arithmetic(call.context, "np.where", [condition, nodes.cast(choice, dtype), chosen], kind)
    return chosen if chosen.kind.rank == call.fact.kind.rank else None


def _piecewise(call: Call) -> Made:
    """Of constants: the last condition that holds has its way, and where none does the last constant, or zero."""
    x, conditions, values = call.first, call.get("condlist"), call.const("funclist", UNKNOWN)
    if not is_array(x) or not isinstance(conditions, list) or not isinstance(values, list):
        return None
    if not all(type(v) in (int, float) for v in values) or len(values) - len(conditions) not in (0, 1):
        return None
    if not all(is_array(c, x.kind.rank) and c.kind.dtype == _boolean() for c in conditions):
        return None
    dtype, rest = x.kind.dtype, values[len(conditions) :]
    made = nodes.cast(nodes.const(rest[0] if rest else 0), dtype)
    for condition, value in zip(conditions, values, strict=False):
        cast = nodes.cast(nodes.const(value), dtype)
        made = arithmetic(call.context, "np.where", [condition, cast, made], call.fact.kind)
    return made


def _choose(call: Call) -> Made:
    a, choices = call.get("a"), call.get("choices")
    if len(call.given) > 2 or not is_array(a) or not isinstance(choices, list) or not 0 < len(choices) <= 32:
        return None
    if not all(is_array(c) and c.kind.dtype == call.fact.kind.dtype for c in choices):
        return None
    operands = {"a": a} | {f"c{k}": c for k, c in enumerate(choices)}
    inner = ", ".join(f"{{c{k}}}" for k in range(len(choices)))
    return call.made(f"np.choose({{a}}, [{inner}])", operands, rank=max(n.kind.rank for n in operands.values()))


def sizes_of(value: Any) -> list[Node] | None:
    """A shape: integers that are the same in all lanes."""
    sizes = tree(value)
    sizes = sizes if isinstance(sizes, list) else [sizes]
    return sizes if all(is_integer(size) for size in sizes) else None


def fields(call: Call, made: list[Node]) -> Val:
    """A tuple of values that were made one by one."""
    axes = merge_axes(*(node.axes for node in made))
    node = Node("display", tuple(made), axes, call.fact.kind, {"kind": "tuple"})
    return Val(node, items=[Val(item) for item in made])


def kinds_of(call: Call) -> list[Kind]:
    return [kind_of(item) for item in call.fact.sample]


FORMS: dict[str, tuple[str, Form]] = {
    **dict.fromkeys(("copysign", "logaddexp2", "gcd", "lcm", "nextafter"), ("x1 x2", _of_each)),
    **dict.fromkeys(("spacing", "bitwise_count", "conj", "conjugate", "isreal", "iscomplex", "real", "imag", "invert"),
                    ("x1", _of_each)),
    "angle": ("x1 deg", _of_each),
    "isclose": ("x1 x2 rtol atol equal_nan", _of_each),
    "divmod": ("x1 x2", _pairs), "modf": ("x1", _pairs), "frexp": ("x1", _pairs),
    "allclose": ("a b rtol atol equal_nan", _close), "array_equal": ("a1 a2", _equal), "array_equiv": ("a1 a2", _equal),
    "select": ("condlist choicelist default", _select), "piecewise": ("x condlist funclist", _piecewise),
    "choose": ("a choices", _choose),
}  # fmt: skip
