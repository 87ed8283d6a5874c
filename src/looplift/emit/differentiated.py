"""Source text of the slopes that torch finds, of leaves that an operation runs on once more."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from looplift.emit.text import Text, atom, full
from looplift.ir.array import Node

if TYPE_CHECKING:
    from looplift.emit.source import Printer


def leaf_text(p: Printer, node: Node) -> Text:
    """What each lane differentiates by, of its own."""
    (value,) = node.args
    text = full(p, value, node.axes)
    if node.attrs["creates"]:
        p.need("to_differentiate_by")
        return atom(f"to_differentiate_by({text})")
    return atom(f"{text.removesuffix('.detach()')}.detach().requires_grad_()")


def slopes_text(p: Printer, node: Node) -> Text:
    count, leaves = node.attrs["results"], node.attrs["leaves"]
    results, slopes = node.args[:count], node.args[count : 2 * count]
    ends, asked = node.args[2 * count : 2 * count + leaves], node.args[2 * count + leaves :]
    for end in ends:
        p.bind(end)
    parts = [_listed(full(p, one, node.axes) for one in group) for group in (results, ends, slopes)]
    if node.attrs["creates"]:
        p.need("asks")
        parts.append(f"create_graph=asks({', '.join(p.text(one).text for one in asked)})")
    return atom(f"torch.autograd.grad({', '.join(parts)}, retain_graph=True)")


def _listed(texts: Iterable[str]) -> str:
    found = [*texts]
    return found[0] if len(found) == 1 else f"({', '.join(found)})"


RENDERERS: dict[str, Callable[[Printer, Node], Text]] = {"leaf": leaf_text, "slopes": slopes_text}
