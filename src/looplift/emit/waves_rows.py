"""From a point to its body over one row, as the author wrote it; to be run under ``torch.vmap``."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from looplift.base.errors import NotLiftable
from looplift.runtime.waves_program import Apply, Display, Formula, Input, Item, Local, Part, Point, Step, Tree, Uniform

OTHER_PROMOTION = {"where", "clamp", "clip", "clamp_min", "clamp_max", "addcmul", "addcdiv", "lerp", "heaviside"}
"""Operations whose promotion of a tensor without axes differs under ``torch.vmap``."""


Notes = Mapping[Tree, str]
"""The names of what is returned besides, for the scheduler to look at."""


def rows_body(point: Point, notes: Notes) -> list[str]:
    lines = [f"{target(step)} = {ast.unparse(row(step.tree, notes))}" for step in point.steps]
    if not notes:
        return [*lines, f"return {returned(point)}"]
    comma = "," if len(notes) == 1 else ""
    return [*lines, f"return ({returned(point)}), ({', '.join(notes.values())}{comma})"]


def target(step: Step) -> str:
    return ", ".join(step.names) + ("," if step.unpack and len(step.names) == 1 else "")


def returned(point: Point) -> str:
    if len(point.outputs) == 1:
        return point.outputs[0][0]
    return ", ".join(name if arity == -1 else f"*{name}" for name, arity in point.outputs)


def row(tree: Tree | None, notes: Notes = MappingProxyType({})) -> Any:
    """The syntax of a tree, per row."""
    match tree:
        case None:
            return None
        case Input(name=name) | Local(name=name):
            return ast.Name(name)
        case Uniform(text=text):
            return parsed(text)
        case Display(kind="list", items=items):
            return ast.List([row(item, notes) for item in items])
        case Display(items=items):
            return ast.Tuple([row(item, notes) for item in items])
        case Part(lower=lower, upper=upper, step=step):
            return ast.Slice(row(lower, notes), row(upper, notes), row(step, notes))
        case Formula(sizes=sizes):
            return formula(tree, [size(row(tensor, notes), axis) for _, tensor, axis in sizes])
        case Item(base=base, index=index):
            return ast.Subscript(row(base, notes), row(index, notes))
        case Apply():
            made = _row_apply(tree, notes)
            return ast.NamedExpr(ast.Name(notes[tree]), made) if tree in notes else made


def size(tensor: ast.expr, axis: int) -> ast.expr:
    return ast.Subscript(ast.Attribute(tensor, "shape"), parsed(repr(axis)))


def formula(tree: Formula, sizes: list[ast.expr]) -> ast.expr:
    """The number with these sizes in it."""
    known: dict[ast.AST, ast.expr] = {node: made for (node, *_), made in zip(tree.sizes, sizes, strict=True)}
    known |= {node: parsed(text) for node, text in tree.functions}

    def made(node: Any) -> Any:
        if node in known:
            return known[node]
        fields = {name: made(value) for name, value in ast.iter_fields(node) if isinstance(value, ast.expr)}
        lists = {name: list(map(made, value)) for name, value in ast.iter_fields(node) if isinstance(value, list)}
        return type(node)(**{**dict(ast.iter_fields(node)), **fields, **lists})

    return made(tree.node)


def parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def rank_of(tree: Tree) -> int | None:
    """The rank of a row; -1 for what is no tensor, None if it is not known."""
    match tree:
        case (
            Input(role="tensor", rank=rank) | Local(rank=rank) | Item(rank=rank) | Apply(rank=rank) | Uniform(rank=rank)
        ):
            return rank
        case Input():
            return 0
    return None


EXTREMES = {"max": "amax", "min": "amin"}
"""Of all elements; under ``torch.vmap`` the former give a gradient to the first of equal ones alone."""


def _require_same(tree: Apply) -> None:
    """Raises NotLiftable for what does under ``torch.vmap`` something else than alone."""
    if tree.name == "one_hot":
        raise NotLiftable("unknown-op", "'one_hot' of many rows does not ask whether there are such classes")
    if tree.name in ("RNNCell", "GRUCell", "LSTMCell", "bilinear"):
        raise NotLiftable("unknown-op", f"'{tree.name}' of a state whose number of dimensions is not known")
    if tree.kind == "store" and tree.family != "part":
        raise NotLiftable("memory-dependence", "the loop stores into a tensor that its calls have in common")
    ranks = [rank_of(item) for item in (*tree.arguments, *tree.keywords.values())]
    tensors = [rank for rank in ranks if rank is None or rank >= 0]
    if tree.name in OTHER_PROMOTION and len(tensors) > 1 and not all(tensors):
        raise NotLiftable("unknown-op", f"'{tree.name}' promotes a tensor without axes in a way of its own")


def _row_apply(tree: Apply, notes: Notes) -> ast.expr:
    _require_same(tree)
    first = tree.arguments[0] if tree.arguments else None
    if isinstance(first, Input) and first.listed:
        return _row_list(tree, first)
    texts = [row(item, notes) for item in tree.arguments]
    if tree.name in EXTREMES and len(texts) == 1 and not tree.keywords and tree.kind in ("method", "function"):
        return call(ast.Attribute(texts[0], EXTREMES[tree.name]), [])
    if tree.kind == "store":
        return call(parsed(f"{tree.callee}_of_row"), texts)
    return spell(tree, with_weak(tree, texts), {name: row(item, notes) for name, item in tree.keywords.items()})


def with_weak(tree: Apply, texts: list[Any]) -> list[Any]:
    """The operands of an operation; a number of the host gets the dtype that it has beside the other one."""
    return [
        call(parsed(item.cast), [text, texts[1 - place]]) if isinstance(item, Input) and item.role == "weak" else text
        for place, (item, text) in enumerate(zip(tree.arguments, texts))
    ]


def _row_list(tree: Apply, first: Input) -> ast.expr:
    """An operation on a list of tensors, which arrives as one tensor with the list as its first axis."""
    if tree.name == "stack" and len(tree.arguments) == 1 and not tree.keywords:
        return ast.Name(first.name)
    items = call(ast.Attribute(ast.Name(first.name), "unbind"), [])
    return spell(
        tree, [items, *map(row, tree.arguments[1:])], {name: row(item) for name, item in tree.keywords.items()}
    )


def call(function: ast.expr, arguments: list[ast.expr], keywords: dict[str, ast.expr] | None = None) -> ast.Call:
    return ast.Call(function, arguments, [ast.keyword(name, value) for name, value in (keywords or {}).items()])


def spell(tree: Apply, arguments: list[Any], keywords: dict[str, Any]) -> ast.expr:
    """The operation in the author's own form, on given operands."""
    source = tree.source
    match tree.kind:
        case "method":
            return call(ast.Attribute(arguments[0], tree.name), arguments[1:], keywords)
        case "attribute":
            return ast.Attribute(arguments[0], tree.name)
        case "index":
            parts = arguments[1:]
            return ast.Subscript(arguments[0], parts[0] if len(parts) == 1 else ast.Tuple(parts))
        case "number" if isinstance(tree.arguments[0], Input):
            return call(parsed(str(tree.callee)), arguments, keywords)
        case "operator":
            return _operator(tree, source, arguments)
    callee = parsed(tree.callee) if isinstance(tree.callee, str) else ast.Name(tree.callee.name)
    return call(callee, arguments, keywords)


def _operator(tree: Apply, source: Any, arguments: list[ast.expr]) -> ast.expr:
    match source:
        case ast.AugAssign(op=sign):
            return call(parsed(str(tree.callee)), [arguments[0], ast.BinOp(arguments[0], sign, arguments[1])])
        case ast.BinOp(op=sign):
            return ast.BinOp(arguments[0], sign, arguments[1])
        case ast.UnaryOp(op=sign):
            return ast.UnaryOp(sign, arguments[0])
        case ast.Compare(ops=signs):
            return ast.Compare(arguments[0], signs, arguments[1:])
    raise TypeError(source)
