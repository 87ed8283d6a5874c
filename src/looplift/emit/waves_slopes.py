"""From a point to what is to be looked at where gradients flow, so that zeros stay zeros on their way through it.

A gradient of one row alone reaches the other rows of a batch as zeros: at singular points, and where a factor of a
derivative is infinite, these become NaN. What a call is given and what it returns is asked to be finite anyway.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from looplift.ops.names import OF_USERS
from looplift.ops.slopes import BOUNDED, KEEPING, LEVEL, LINEAR, ROOTS, SMOOTH
from looplift.ops.table import SINGULAR
from looplift.runtime.waves_program import Apply, Display, Input, Item, Local, Part, Point, Tree, Uniform

SIGNS = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.Pow: "pow", ast.MatMult: "matmul",
    ast.FloorDiv: "floordiv", ast.Mod: "mod", ast.USub: "neg", ast.UAdd: "pos",
}  # fmt: skip
MOVING = frozenset(
    """chunk split tensor_split unbind python_sum unflatten T mT select narrow setitem filled added dropout trace diag
    diagonal tril triu cumsum mean squeeze expand movedim index_select identity embedding""".split()
)
"""Others, that only move rows or add them up."""


def is_steep(point: Point) -> bool:
    """Whether a derivative may be infinite, given what is not finite."""
    return any(not _is_linear(tree) for step in point.steps for tree in _operations(step.tree))


def watched(point: Point) -> dict[Apply, str]:
    """The operations whose results must be "finite", or "nonzero" as well; "edged" ones have no such test."""
    small: dict[str, bool] = {}
    found: dict[Apply, str] = {}
    returned = {name for name, _ in point.outputs}
    for step in point.steps:
        known = _known(step.tree) if len(step.names) == 1 and step.names[0] in returned else []
        for tree in _operations(step.tree):
            if what := _doubt(tree, small, tree in known):
                found[tree] = what
        small |= dict.fromkeys(step.names, _is_small(step.tree, small))
    return found


def _doubt(tree: Apply, small: dict[str, bool], is_known: bool) -> str:
    base = _base(tree)
    if _is_singular(tree):
        return "edged" if base in ("asin", "acos", "arcsin", "arccos") else "nonzero" if base in ROOTS else "finite"
    if is_known or _is_linear(tree) or base in LEVEL | BOUNDED:
        return ""
    return "" if all(_is_small(item, small) for item in _operands(tree)) else "finite"


def _is_small(tree: Tree | None, small: dict[str, bool]) -> bool:
    """Whether a value cannot have overflowed, or is looked at."""
    match tree:
        case Local(name=name):
            return small[name]
        case Item(base=base):
            return _is_small(base, small)
        case Display(items=items):
            return all(_is_small(item, small) for item in items)
        case Apply():
            if _is_singular(tree) or _base(tree) in BOUNDED:
                return True
            level = _is_linear(tree) or _base(tree) in LEVEL
            return level and all(_is_small(item, small) for item in _operands(tree))
    return True


def _is_linear(tree: Apply) -> bool:
    return tree.kind in ("index", "attribute", "number", "store") or _base(tree) in LINEAR | MOVING


def _is_singular(tree: Apply) -> bool:
    base = _base(tree)
    found = SINGULAR.get(base)
    if found is None or base in SMOOTH or len(tree.arguments) <= found[0]:
        return False
    operand = tree.arguments[found[0]]
    if isinstance(operand, Uniform) and operand.rank < 0:
        return False
    return not (base in ("pow", "power") and _is_whole_power(tree))


def _is_whole_power(tree: Apply) -> bool:
    match tree.arguments:
        case (_, Uniform(text=text)):
            return text.isdecimal() and int(text) >= 1
    return False


def _base(tree: Apply) -> str:
    """The name of the operation in the tables, with functions of modules by that of the function."""
    match tree.source:
        case ast.BinOp(op=sign) | ast.AugAssign(op=sign) | ast.UnaryOp(op=sign) if tree.kind == "operator":
            return SIGNS.get(type(sign), "")
        case ast.Compare() if tree.kind == "operator":
            return "eq"
    if isinstance(tree.callee, str) and tree.callee.startswith(OF_USERS):
        return ""
    return tree.name.lower() if tree.kind == "module" else tree.name


def _known(tree: Tree) -> list[Tree]:
    """What is finite if the value is."""
    if isinstance(tree, Apply) and _base(tree) in KEEPING:
        return [tree, *(inner for item in tree.arguments for inner in _known(item))]
    return [tree]


def _operands(tree: Apply) -> list[Tree]:
    return [*tree.arguments, *tree.keywords.values()]


def _operations(tree: Tree | None) -> Iterator[Apply]:
    match tree:
        case Apply():
            yield tree
            for item in _operands(tree):
                yield from _operations(item)
        case Display(items=items):
            for item in items:
                yield from _operations(item)
        case Item(base=base, index=index):
            yield from _operations(base)
            yield from _operations(index)
        case Part(lower=lower, upper=upper, step=step):
            for item in (lower, upper, step):
                yield from _operations(item)
        case Input() | Local() | Uniform():
            pass
