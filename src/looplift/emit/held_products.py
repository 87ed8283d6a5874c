"""Products of factors that are zero where the loop has none, as functions of what is theirs, for their gradients.

windows(x, 0, -1, ...) @ w        product_where(lambda x, w: windows(x, 0, -1, ...) @ w, x, w)
(m ? a : 0) @ b                   product_where(lambda a, b: a @ b, a, b, m)
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from typing import TYPE_CHECKING

from looplift.emit.text import Text, atom, full
from looplift.ir.array import Node

if TYPE_CHECKING:
    from looplift.emit.source import Printer

LINEAR = frozenset(("turned", "cast", "retype", "relabel"))


def product_text(p: Printer, factors: tuple[Node, ...], render: Callable[[list[Text]], Text]) -> Text:
    """A product of two factors; as a function of them where one has zeros that stand for nothing."""
    masks = [_mask_of(factor) for factor in factors]
    sources = [_padded_source(factor) for factor in factors]
    if not _asks(p, factors) or not any((*masks, *sources)):
        return render([p.text(factor) for factor in factors])
    for mask in masks:
        if mask is not None and mask.axes:
            _name_of(p, mask)
    given = [source or factor for source, factor in zip(sources, factors, strict=True)]
    names = [_name_of(p, node) for node in given]
    if names[0] == names[1]:
        names[1] = p.fresh(names[0])
        p.line(f"{names[1]} = {names[0]}")
    held = [None if mask is None else _held(p, mask, factor) for mask, factor in zip(masks, factors, strict=True)]
    texts = [_seen_from(p, *one) for one in zip(factors, given, names, strict=True)]
    p.need("comes_finite")
    p.need("product_where")
    body = render(texts).text
    function = f"lambda {', '.join([*names, *_bound(p, body, names)])}: {body}"
    return atom(f"product_where({', '.join([function, *names, *_given(held)])})")


def _asks(p: Printer, factors: tuple[Node, ...]) -> bool:
    return p.library == "torch" and p.gradients and all(p.dtype(one.kind).is_floating_point for one in factors)


def _mask_of(factor: Node) -> Node | None:
    """Where a factor is the loop's, if it is nothing elsewhere."""
    return factor.args[0] if factor.op == "where" and factor.attrs.get("held") else None


def _padded_source(node: Node) -> Node | None:
    """What windows are read from that have zeros around them; None for other factors."""
    while node.op in LINEAR and len(node.args) == 1:
        (node,) = node.args
    padded = False
    while node.op == "stencil":
        padded, node = padded or bool(node.attrs.get("padded")), node.args[0]
    return node if padded else None


def _name_of(p: Printer, node: Node) -> str:
    text = p.text(node).text
    return text if text.isidentifier() else p.bind(node)


def _held(p: Printer, mask: Node, factor: Node) -> str:
    return full(p, mask, factor.axes) + (f"[...{', None' * factor.kind.rank}]" if factor.kind.rank else "")


def _seen_from(p: Printer, factor: Node, source: Node, name: str) -> Text:
    """The text of a factor that is made anew of what goes by a name."""
    between = [factor]
    while between[-1] is not source:
        between.append(between[-1].args[0])
    saved, uses = dict(p.names), dict(p.uses)
    for node in between[:-1]:
        p.names.pop(node.serial, None)
        p.uses[node.serial] = 1
    p.names[source.serial] = name
    text = p.own_text(factor)
    for node in between:
        p.names.pop(node.serial, None)
        if node.serial in saved:
            p.names[node.serial] = saved[node.serial]
    p.uses.update(uses)
    return text


def _bound(p: Printer, body: str, names: list[str]) -> list[str]:
    """What else a function reads, as it is now: names may be others' in the next step of a loop that stays."""
    if not p.scopes:
        return []
    read = {node.id for node in ast.walk(ast.parse(body, mode="eval")) if isinstance(node, ast.Name)}
    known = {"torch", *p.helpers, *names, *dir(builtins)}
    return [f"{name}={name}" for name in sorted(read - known)]


def _given(held: list[str | None]) -> list[str]:
    first, second = held
    if second is None:
        return [] if first is None else [first]
    return [str(first), second]
