"""Statements that are kept for their effects in; loops that run them one iteration after the other out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from looplift.emit.text import full
from looplift.ir.array import Effect

if TYPE_CHECKING:
    from looplift.emit.source import Printer


def together(effects: list[Effect]) -> list[Effect]:
    """Statements that are repeated over one axis, one after the other, in one loop: their outputs alternate."""
    found: list[Effect] = []
    for effect in effects:
        if found and effect.axis is not None and found[-1].axis is effect.axis:
            found[-1] = _both(found[-1], effect)
        else:
            found.append(effect)
    return found


def _both(first: Effect, second: Effect) -> Effect:
    *before, extent = first.operands
    text = re.sub("\x00(\\d+)\x01", lambda place: f"\x00{int(place[1]) + len(before)}\x01", second.text)
    return Effect(f"{first.text}\n{text}", (*before, *second.operands[:-1], extent), first.axis)


def write(p: Printer, step: Effect) -> None:
    axis, text = step.axis, step.text
    values: list[str] = []
    names: list[str] = []
    for position, node in enumerate(step.operands[: len(step.operands) - (axis is not None)]):
        if axis is not None and node.axes:
            source = full(p, node, (axis,))
            content = p.fresh(node.hint or "value")
            names.append(content)
            values.append(f"{source}.tolist()" if node.kind.is_number else source)
        else:
            content = p.text(node).text
            inside = f"{{\x00{position}\x01" in text  # of a text with braces, where no quotes may stand
            if inside and any(letter in content for letter in "'\"\\"):
                name = p.fresh(node.hint or "value")
                p.line(f"{name} = {content}")
                content = name
        text = text.replace(f"\x00{position}\x01", content)
    if axis is None:
        p.line(text)
        return
    targets = ", ".join(names)
    if not names:
        p.line(f"for _ in range({p.extent(axis)}):")
    elif len(names) == 1:
        p.line(f"for {targets} in {values[0]}:")
    else:
        p.line(f"for {targets} in zip({', '.join(values)}):")
    for line in text.split("\n"):
        p.line(f"    {line}")
