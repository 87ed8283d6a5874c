"""Methods of lists, dicts, sets and deques: what they put in and what they return."""

from __future__ import annotations

import ast

from looplift.frontend.host_flow import Flow, refuse
from looplift.frontend.host_tables import READ_METHODS
from looplift.frontend.host_values import HOST, Atom, Container, External, Host, is_tensor_atom


def container_method(flow: Flow, owner: Container, name: str, node: ast.Call) -> set[Atom]:
    """A method of a container that the region made."""
    arguments = [flow.values[item] for item in node.args]
    inside = flow.inside(owner)
    if node.keywords:
        refuse("unknown-call", f"'{ast.unparse(node)}' with keywords is not understood", node)
    match name, arguments:
        case (("append" | "appendleft" | "add"), [value]):
            flow.add(inside.rest, value)
            return {HOST}
        case "insert", [_, value]:
            flow.add(inside.rest, value)
            return {HOST}
        case (("extend" | "extendleft"), [values]):
            flow.add(inside.rest, flow.elements(values, node))
            return {HOST}
        case (("pop" | "popleft"), _):
            return inside.everything().union(*arguments[1:])
        case "setdefault", [key, value]:
            flow.add(inside.keys, key)
            flow.add(inside.rest, value)
            return inside.everything()
        case "update", [other]:
            _update(flow, owner, other, node)
            return {HOST}
        case "popitem", []:
            return {flow.container(node, "tuple", fields={0: inside.keys, 1: inside.everything()})}
        case (("reverse" | "clear" | "rotate"), _):
            return {HOST}
        case (("remove" | "discard"), _):
            _require_plain(flow, owner, node)
            return {HOST}
        case "sort", []:
            _require_plain(flow, owner, node)
            return {HOST}
    return read_method(flow, owner, name, node)


def external_method(flow: Flow, owner: External, name: str, node: ast.Call) -> set[Atom]:
    """A method of a builtin container given from outside: only those that change nothing."""
    plain = issubclass(owner.type, (list, tuple, dict, set, frozenset)) or owner.type.__name__ == "deque"
    if not plain or name not in READ_METHODS:
        refuse("unknown-call", f"'{ast.unparse(node.func)}' may change an object given from outside", node)
    return read_method(flow, owner, name, node)


def read_method(flow: Flow, owner: Container | External, name: str, node: ast.Call) -> set[Atom]:
    inside = flow.inside(owner)
    arguments = [flow.values[item] for item in node.args]
    match name:
        case "get":
            key = node.args[0].value if isinstance(node.args[0], ast.Constant) else None
            found = inside.at(key) if isinstance(key, str) else inside.everything()
            return found.union({HOST} if len(arguments) < 2 else arguments[1])
        case "values":
            return {flow.container(node, "iterator", inside.everything())}
        case "keys":
            return {flow.container(node, "iterator", inside.keys)}
        case "items":
            pair = flow.container(node.func, "tuple", fields={0: inside.keys, 1: inside.everything()})
            return {flow.container(node, "iterator", {pair})}
        case "copy":
            kind = owner.kind if isinstance(owner, Container) else _kind(owner.type)
            made = flow.container(node, kind, inside.rest, inside.fields)
            flow.add(flow.inside(made).keys, inside.keys)
            return {made}
        case "index" | "count":
            _require_plain(flow, owner, node)
            return {HOST}
    refuse("unknown-call", f"'{ast.unparse(node.func)}' is not understood here", node)


def _kind(cls: type) -> str:
    return next((kind.__name__ for kind in (list, tuple, dict, set, frozenset) if issubclass(cls, kind)), "deque")


def _require_plain(flow: Flow, owner: Container | External, node: ast.Call) -> None:
    """Comparing elements must not compare tensors."""
    if any(is_tensor_atom(atom) or not isinstance(atom, Host) for atom in flow.inside(owner).everything()):
        refuse("recursion", f"'{ast.unparse(node)}' compares tensors or objects", node)


def _update(flow: Flow, owner: Container, other: set[Atom], node: ast.Call) -> None:
    for atom in other:
        if not isinstance(atom, (Container, External)) or (
            isinstance(atom, External) and not issubclass(atom.type, dict)
        ):
            refuse("unknown-call", f"'{ast.unparse(node)}' is not understood here", node)
        flow.add(flow.inside(owner).rest, flow.inside(atom).everything())
        flow.add(flow.inside(owner).keys, flow.inside(atom).keys)
