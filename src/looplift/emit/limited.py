"""Source text of choices between a value and a number, by comparing that value with a number.

torch.where(x > 0, x, 0.0)    ->  torch.nn.functional.threshold_(x.nan_to_num(0, torch.inf, -torch.inf), 0, 0.0)
torch.where(1 < x, 1, x)      ->  x.clamp(max=1)

``torch.where`` jumps at each element: where masks have no pattern it takes ten times as long as these, which do not.
Results are the same bit for bit. NaN is on neither side of a limit; where it must become the number, it is put on that
side first. Gradients are those of ``torch.where`` only where nothing but ``threshold`` is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from looplift.emit.spelling import ATOM, literal
from looplift.emit.text import Text, arranged, atom
from looplift.ir.array import Node

if TYPE_CHECKING:
    from looplift.emit.source import Printer

TURNED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le"}
OPPOSITE = {"lt": "ge", "gt": "le", "le": "gt", "ge": "lt"}
FLOATS = ("torch.float32", "torch.float64")


def limited_text(p: Printer, node: Node) -> Text | None:
    """None where a choice is another one."""
    if p.library != "torch" or (found := _limit(node)) is None:
        return None
    value, number = found.shown, _number(_plain(found.instead))
    if number is None or value.axes != node.axes or node.kind != value.kind:
        return None
    if value.kind.family not in ("tensor", "float") or str(p.dtype(value.kind)) not in FLOATS:
        return None
    call = _call(found, number, gradients=p.gradients)
    return None if call is None else atom(call.format(arranged(p, value, node.axes, value.kind.rank, ATOM)))


class _Limit(NamedTuple):
    """``value`` is shown where it is ``kept`` ("lt", "le", "gt", "ge") against a limit; ``instead`` elsewhere."""

    value: Node
    shown: Node
    kept: str
    limit: Any
    instead: Node
    nan_is_kept: bool


def _limit(node: Node) -> _Limit | None:
    if node.op != "where" or len(node.args) != 3:
        return None
    mask, then, orelse = node.args
    if mask.op != "elementwise" or len(mask.args) != 2 or mask.attrs["name"] not in TURNED:
        return None
    relation, (value, bound) = mask.attrs["name"], mask.args
    if value.op == "const":
        relation, value, bound = TURNED[relation], bound, value
    if (limit := _number(bound)) is None:
        return None
    if value is then:
        return _Limit(value, value, relation, limit, orelse, False)
    if value is orelse or _is_within(orelse, value, OPPOSITE[relation], limit):
        return _Limit(value, orelse, OPPOSITE[relation], limit, then, True)
    return None


def _is_within(node: Node, value: Node, kept: str, limit: float) -> bool:
    """Whether something is a value with a limit on its other side, which lies on the side of this one that is kept."""
    other = _limit(node)
    if other is None or other.value is not value or not other.nan_is_kept or other.kept[0] == kept[0]:
        return False
    number = _number(_plain(other.instead))
    return number == other.limit and (number < limit if kept[0] == "l" else number > limit)


def _call(found: _Limit, number: float, *, gradients: bool) -> str | None:
    """Text around the value, which is kept where it has a relation to the limit, and becomes the number elsewhere."""
    bound, other = literal(found.limit, "torch"), literal(number, "torch")
    if found.kept == "gt" and (found.nan_is_kept or (not gradients and _is_never_nan(found.shown))):
        return f"torch.nn.functional.threshold({{}}, {bound}, {other})"
    if gradients:
        return None
    value = "{}"
    if not (found.nan_is_kept or _is_never_nan(found.shown)):
        value = f"{{}}.nan_to_num({bound}, torch.inf, -torch.inf)"
    if found.kept == "gt":
        return f"torch.nn.functional.threshold_({value}, {bound}, {other})"
    if bound not in (other, f"{other}.0", other.removesuffix(".0")) or (found.kept == "lt" and number == 0):
        return None
    return f"{value}.clamp({'min' if found.kept == 'ge' else 'max'}={bound})"


def _is_never_nan(node: Node) -> bool:
    """Whether a value is one that lies on a side of a limit, or a number."""
    found = _limit(node)
    return found is not None and not found.nan_is_kept and _number(_plain(found.instead)) is not None


def _plain(node: Node) -> Node:
    """A number, of a tensor that is made of one."""
    return node.args[0] if node.op == "full" else node


def _number(node: Node) -> Any:
    """A number of Python's that shorter floats have, too; limits are compared as such."""
    if node.op != "const" or type(node.attrs["value"]) not in (int, float):
        return None
    return node.attrs["value"] if abs(node.attrs["value"]) < 2**24 else None
