"""A loop that stays and reads one row of a tensor in each step in, the rows as views that are made once out.

    for t in range(x.shape[0]):          x_rows = x.unbind(0)
        h = torch.tanh(x[t] + h @ u)     for t in range(x.shape[0]):
                                             h = torch.tanh(x_rows[t] + h @ u)

A view made in a step costs about as much as the work on a small row, and its gradient is as large as the tensor.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from looplift.ir.array import For, LeaveUnless, Node, reachable

if TYPE_CHECKING:
    from looplift.emit.source import Printer

_PLACES = ("name", "linear")


def bind_rows(p: Printer, step: For, inner: Iterable[Node], changed: set[str]) -> list[int]:
    """Names for the rows that each step of a loop reads; the nodes that have one in its body."""
    if p.library != "torch" or any(isinstance(one, LeaveUnless) for one in step.body):
        return []
    low, high, stride = (p.text(bound).text for bound in step.bounds)
    if stride not in ("1", "-1"):
        return []
    roots, rows, found = {node.serial for node in inner}, {}, []
    for node in reachable(list(inner)):
        if node.serial in roots or node.serial in p.names or node.op not in ("slice", "at"):
            continue
        if (read := _row_of(p, node, step, changed)) is None:
            continue
        base, dim, place = read
        if node.op == "slice" and f"{base}.shape[{dim}]" not in (low, high) and stride == "1":
            continue
        if (base, dim) not in rows:
            rows[base, dim] = p.fresh(f"{base}_rows")
            p.line(f"{rows[base, dim]} = {base}.unbind({dim})")
        p.names[node.serial] = f"{rows[base, dim]}[{place}]"
        found.append(node.serial)
    return found


def _row_of(p: Printer, node: Node, step: For, changed: set[str]) -> tuple[str, int, str] | None:
    """The tensor, its dimension and the place of a row that the step of a loop alone chooses."""
    if not node.kind.is_array:
        return None
    base = node.args[0]
    places = [node.args[1]] if node.op == "at" else [piece.at for piece in node.attrs["pieces"] if hasattr(piece, "at")]
    if len(places) != 1 or places[0].op not in _PLACES or not _is_of_step(places[0], step, changed):
        return None
    given = base.attrs["text"] if base.op == "name" and not base.attrs.get("memory") else ""
    name = p.names.get(base.serial) or given
    if not name.isidentifier() or name in changed:
        return None
    place = p.text(places[0]).text
    made = re.fullmatch(rf"{name}\[((?::, )*){re.escape(place)}\]", p.own_text(node).text)
    return None if made is None else (name, made[1].count(":"), place)


def _is_of_step(place: Node, step: For, changed: set[str]) -> bool:
    """Whether a place is that of the step, or so many after it."""
    names = [place] if place.op == "name" else [atom for atom, _ in place.attrs["terms"].values()]
    texts = [atom.attrs["text"] for atom in names if atom.op == "name"]
    inner = [text for text in texts if text in changed]
    return len(texts) == len(names) and step.name in texts and inner == [step.name]
