"""Stacks of stacks as one stack: labelled values in, cheaper ones out."""

from __future__ import annotations

from looplift.ir.array import Node
from looplift.ir.facts import Kind


def nested_stacks(node: Node) -> Node | None:
    """A stack of stacks, whose dimensions are neighbours, writes every element twice; one stack is cut in two."""
    if not _is_stack(node) or not all(map(_is_stack, node.args)):
        return None
    dims, counts = {row.attrs["dim"] for row in node.args}, {len(row.args) for row in node.args}
    if (
        dims != {node.attrs["dim"] + 1}
        or len(counts) != 1
        or any(row.kind.dtype != node.kind.dtype for row in node.args)
    ):
        return None
    (dim,), (count,) = dims, counts
    items = tuple(item for row in node.args for item in row.args)
    kind = Kind(node.kind.family, node.kind.dtype, node.kind.rank - 1)
    flat = Node("join", items, node.axes, kind, {"join": "stack", "dim": dim}, node.hint)
    attrs = {"dim": dim, "sizes": (len(node.args), count), "extents": node.attrs.get("extents")}
    return Node("unflattened", (flat,), node.axes, node.kind, attrs, node.hint)


def empty_first(node: Node) -> Node | None:
    """What is joined to ``torch.tensor([])``, which has no elements and no shape that counts, is the whole already."""
    if node.op != "apply" or node.attrs["name"] not in ("torch.cat", "torch.concat", "torch.concatenate"):
        return None
    items = node.args[0].args if node.args[0].op == "display" else ()
    if len(items) != 2 or any(item.kind.dtype != node.kind.dtype or not item.kind.rank for item in items):
        return None
    empty, rest = items
    return rest if _is_empty(empty) and rest.op in ("owned", "join") else None


def _is_empty(node: Node) -> bool:
    """Whether a value is a vector without elements, and has no gradient."""
    if node.op == "apply" and node.attrs["name"] in ("torch.empty", "torch.zeros"):
        sizes = [size for arg in node.args for size in (arg.args if arg.op == "display" else (arg,))]
        plain = not node.attrs["kwargs"] and len(sizes) == 1 and sizes[0].op == "const"
        return plain and sizes[0].attrs["value"] in (0, (0,))
    known = node.op == "name" and not node.attrs.get("gradient", True) and not node.attrs.get("memory")
    return known and node.attrs.get("shape") == (0,)


def _is_stack(node: Node) -> bool:
    return node.op == "join" and node.attrs["join"] == "stack" and node.kind.family == "tensor"
