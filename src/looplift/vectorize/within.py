"""Integers of lanes in, what counters make of them out: whether they are surely places of something of a length.

for t in range(1, n[i]): x[t - 1]           t is 1 + c, with a counter 0 <= c < n[i] - 1: 0 <= t - 1 < n[i]
for t in range(n[i] - 1, -1, -1): x[t]      t is n[i] - 1 - c, with 0 <= c < n[i]: 0 <= t < n[i]
"""

from __future__ import annotations

from looplift.ir.array import Node
from looplift.vectorize import nodes

Sum = dict[int, tuple[Node, int]]
"""Integers with their factors, by serial; a constant has the serial -1."""

_CONSTANT = -1
_ONE: Sum = {_CONSTANT: (nodes.const(1), 1)}


def is_below(at: Node, length: Node) -> bool:
    """Whether ``at < length`` in all lanes that run, by what counters in it are below."""
    return _is_never_negative(_plus(_plus(_sum_of(length), _sum_of(at), -1), _ONE, -1))


def is_never_negative(node: Node) -> bool:
    """Whether an integer is surely not negative in lanes that run, by where counters in it begin and end."""
    return _is_never_negative(_sum_of(node))


def _is_never_negative(given: Sum) -> bool:
    """Whether a sum is at least zero: so it is where it is with the greatest that is taken off for a counter."""
    if all(factor > 0 and (key == _CONSTANT or _starts_at_zero(node)) for key, (node, factor) in given.items()):
        return True
    for key, (counter, factor) in given.items():
        if key != _CONSTANT and factor == -1:
            rest = _plus({other: term for other, term in given.items() if other != key}, _ONE)
            if any(_is_never_negative(_plus(rest, limit, -1)) for limit in _limits_of(counter)):
                return True
    return False


def _starts_at_zero(node: Node) -> bool:
    from looplift.vectorize.segments import is_positive

    return "below" in node.attrs or is_positive(node)


def _limits_of(counter: Node) -> list[Sum]:
    """What a counter stays below, in lanes that run."""
    if "below" in counter.attrs:
        return _not_passed(_of_iterations(counter.attrs["below"]))
    axis = counter.attrs["axis"] if counter.op == "index" else None
    limit = None if axis is None else axis.below or axis.lengths
    if axis is None or limit is None or axis.step != 1 or not nodes.is_const(axis.lo, 0):
        return []
    return _not_passed(_of_iterations(limit))


def _of_iterations(limit: Node) -> Node:
    """A number of iterations where there is one: lanes without any have 0 in its place."""
    if limit.op == "elementwise" and limit.attrs["name"] == "clamp_min" and nodes.is_const(limit.args[1], 0):
        return _of_iterations(limit.args[0])
    if limit.op == "where" and nodes.is_const(limit.args[2], 0):
        return _of_iterations(limit.args[1])
    return limit


def _not_passed(node: Node) -> list[Sum]:
    """Sums that an integer does not pass: itself, and where it is the least of two, each of them."""
    found = [_sum_of(node)]
    if node.op == "where":
        test, then, orelse = node.args
        if test.op == "elementwise" and test.attrs["name"] == "lt" and test.args[0] is then and test.args[1] is orelse:
            found += [*_not_passed(then), *_not_passed(orelse)]
    elif (sign := _sign_of(node)) is not None:
        found += [_plus(one, _sum_of(node.args[1]), sign) for one in _not_passed(node.args[0])[1:]]
    return found


def _sign_of(node: Node) -> int | None:
    """1 of a sum of two integers, -1 of a difference."""
    if node.op != "elementwise" or node.kind.family != "int":
        return None
    return {"add": 1, "sub": -1}.get(node.attrs["name"])


def _sum_of(node: Node) -> Sum:
    if (value := nodes.constant_of(node)) is not None:
        return {_CONSTANT: (node, value)} if value else {}
    if node.op == "linear":
        terms, constant = nodes.parts(node)
        made: Sum = {_CONSTANT: (node, constant)} if constant else {}
        for atom, factor in terms.values():
            made = _plus(made, _sum_of(atom), factor)
        return made
    if (sign := _sign_of(node)) is not None:
        return _plus(_sum_of(node.args[0]), _sum_of(node.args[1]), sign)
    return {node.serial: (node, 1)}


def _plus(a: Sum, b: Sum, times: int = 1) -> Sum:
    made = dict(a)
    for key, (node, factor) in b.items():
        total = times * factor + (made[key][1] if key in made else 0)
        made[key] = node, total
    return {key: (node, factor) for key, (node, factor) in made.items() if factor}
