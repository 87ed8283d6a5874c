"""Values of an array program in; out: the inputs that their gradients reach, and those reached by another way anyway.

iou = inter / (area_i + area_j - inter)     whether 'inter' has a gradient of a corner does not matter: the areas have

A choice of which no lane takes one side leaves the inputs of that side without a gradient. Where everything that reads
it reaches them anyway, in each of its lanes, nobody can tell, and nothing has to be asked about the lanes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from looplift.ir.array import Node, Step, operands_of, reachable
from looplift.vectorize import nodes

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

    from looplift.vectorize.context import Context

Inputs = frozenset[int]

TOGETHER = frozenset("elementwise fold cast retype relabel unsqueezed transposed spread along_dim slice".split())
"""Operations of which each lane takes all operands, in one lane each."""


def settle_choices(context: Context, steps: Iterable[Step], results: Iterable[Node]) -> None:
    """Mark the choices that would only tell no gradient from zeros, and drop the checks that do, where nobody can."""
    roots = [*results, *(node for step in steps for node in operands_of(step))]
    order = _in_order(roots)
    if not any("choice" in node.attrs for node in order):
        return
    besides = _besides(order, roots)
    reached: dict[int, Inputs] = {}
    for node in order:
        own = besides.get(node.serial)
        if own is not None and "choice" in node.attrs:
            reached[node.attrs["choice"]] = reached.get(node.attrs["choice"], own) & own
        if own is not None and "inputs" in node.attrs:
            node.attrs["needless"] = node.attrs["inputs"] <= own
    for check, choice, inputs in context.doubtful_checks:
        if inputs <= reached.get(choice, frozenset()):
            check.cond = nodes.const(True)


def reached_besides(value: Node) -> dict[int, Inputs]:
    """For each node of a value, by serial: the inputs that all lanes of the value that read it reach besides."""
    return _besides(_in_order([value]), [value])


def _besides(order: list[Node], roots: list[Node]) -> dict[int, Inputs]:
    """``order`` has each node before its operands."""
    surely: dict[int, Inputs] = {}
    for node in reversed(order):
        surely[node.serial] = _in_each_lane(node, surely)
    found: dict[int, Inputs] = {root.serial: frozenset() for root in roots}
    for node in order:
        own = found.get(node.serial)
        if own is None or _is_cut(node):
            continue
        for arg in node.args:
            given = own
            if node.op in TOGETHER:
                given = own.union(*(surely[other.serial] for other in node.args if other is not arg))
            found[arg.serial] = found.get(arg.serial, given) & given
    return found


def _in_each_lane(node: Node, surely: dict[int, Inputs]) -> Inputs:
    if _is_cut(node):
        return frozenset()
    if node.op in ("name", "history"):
        return frozenset((node.serial,) if node.kind.is_array else ())
    if node.op in ("at", "collect"):
        return surely[node.args[0].serial]
    args = [surely[arg.serial] for arg in node.args]
    if node.op == "where":  # of a safe operand, the lanes that the loop has are those of the first side
        return args[1] if node.attrs.get("safe") else args[1] & args[2]
    return frozenset().union(*args) if node.op in TOGETHER or node.op == "matmul" else frozenset()


def in_each_lane(value: Node) -> Inputs:
    """The inputs that each lane of a value takes."""
    surely: dict[int, Inputs] = {}
    for node in operands_first(value):
        surely[node.serial] = _in_each_lane(node, surely)
    return surely[value.serial]


def _is_cut(node: Node) -> bool:
    """Whether no gradient flows through a value."""
    name = node.attrs.get("name", "").rpartition(".")[2]
    return _has_no_gradient(node) or _only_like(node) or name in ("detach", "item", "data", *LIKE)


def operands_first(value: Node) -> list[Node]:
    """All nodes that a value is made of, each behind its operands."""
    return _in_order([value])[::-1]


def _in_order(roots: list[Node]) -> list[Node]:
    """All nodes that the roots are made of, each before its operands."""
    seen: set[int] = set()
    found: list[Node] = []
    pending = [(root, False) for root in roots]
    while pending:
        node, is_done = pending.pop()
        if is_done:
            found.append(node)
        elif node.serial not in seen:
            seen.add(node.serial)
            pending.append((node, True))
            pending += [(arg, False) for arg in node.args]
    return found[::-1]


# ---------------------------------------------------------------- inputs that gradients reach


def gradient_nodes(node: Node, closed: Container[str] = ()) -> list[Node]:
    """The nodes through which gradients may flow from this one. ``closed``: those that are not looked into, as their
    lanes are not those of their operands."""
    seen: dict[int, Node] = {}
    pending = [node]
    while pending:
        current = pending.pop()
        if current.serial in seen or _has_no_gradient(current):
            continue
        seen[current.serial] = current
        if not _only_like(current) and not (current.op in closed or (closed and current.attrs.get("moved"))):
            pending += current.args
    return list(seen.values())


def leaves(node: Node, surely: bool = False, past: Container[int] = ()) -> set[int]:
    """The inputs that a gradient of the node may reach, or surely reaches: float tensors of the caller, and modules.

    What nodes of the serials in ``past`` are made of does not count.
    """
    found: set[int] = set()
    seen: set[int] = set()
    pending = [node]
    while pending:
        current = pending.pop()
        if current.serial in seen or current.serial in past or _has_no_gradient(current):
            continue
        seen.add(current.serial)
        if current.op == "history":  # what it is made of is known of itself
            found.add(current.serial)
            continue
        if current.op in ("module", "cell"):
            found.add(hash(current.attrs["path"]))
        if current.op in ("name", "pack", "items") and nodes.may_have_gradient(current.kind.dtype):
            found.update(() if _asks_for_none(current) else (current.serial,))
        if current.op == "name" and not current.kind.is_array and not surely:
            found.add(current.serial)  # a list: another item is another input
        if surely and current.op == "where" and not current.args[0].axes:
            found |= leaves(current.args[1], True) & leaves(current.args[2], True)
        elif surely and current.op == "apply" and current.attrs["name"] in ("builtin.min", "builtin.max"):
            found |= set.intersection(*(leaves(one, True) for one in current.args))
        elif not _only_like(current) and current.op not in ("pack", "items"):
            pending += current.args
    return found


def _asks_for_none(node: Node) -> bool:
    """Whether a value is a tensor of the caller that asks for no gradient, as all calls of this variant have it."""
    return node.op == "name" and node.attrs.get("gradient") is False and not node.attrs.get("memory")


def _has_no_gradient(node: Node) -> bool:
    kind = node.kind
    if kind.is_number or (node.op == "method" and node.attrs["name"] == "detach"):
        return True
    if node.op == "slopes" and not node.attrs["creates"]:
        return True
    if node.op in ("pack", "items") and node.attrs.get("gradient") is False:
        return True
    return kind.is_array and not nodes.may_have_gradient(kind.dtype)


def _only_like(node: Node) -> bool:
    """Whether a value depends on the sizes and dtypes of its operands alone."""
    if node.op == "attribute":  # of sizes and the like, not `x.T` or `x.max(0).values`
        return not node.kind.is_array or node.attrs["name"] in ("data", "grad")
    if node.op in ("extent", "length") or node.attrs.get("like"):
        return True
    name = node.attrs.get("name", "") if node.op in ("apply", "vmapped") else ""
    return name.rpartition(".")[2] in LIKE and name.startswith(("torch.", "np.", "method.new_"))


LIKE = frozenset(
    """zeros ones empty full zeros_like ones_like empty_like full_like new_zeros new_ones new_empty new_full
    arange eye""".split()
)


def items_of(node: Node) -> set[int]:
    """The lists of the caller of whose items a gradient may reach one in each lane, also by what lanes carry."""
    made = reachable([node])
    found = {one.serial for one in made if one.op in ("pack", "items") or (one.op in ("name", "history") and one.axes)}
    return found & leaves(node)
