"""From a point to its body over lanes: each tensor has one leading axis, with a row for each call.

Each operation has a rule by its family; ranks are those of one row. What has no rule is left to ``torch.vmap``.
"""

from __future__ import annotations

import ast
from typing import Any

from looplift.base.data import dataclass, replace
from looplift.emit.waves_rows import call, formula, parsed, returned, row, size, spell, target, with_weak
from looplift.emit.waves_slopes import watched
from looplift.runtime.waves_program import Apply, Display, Formula, Input, Item, Local, Part, Point, Tree, Uniform


class NoRule(Exception):
    """An operation that has no form over lanes here."""


@dataclass(frozen=True)
class Lanes:
    """Syntax of a value. ``laned``: has the axis of lanes. ``rank`` of one row; -1 for what is no tensor."""

    text: Any
    laned: bool
    rank: int


def lanes_body(point: Point) -> list[str]:
    rules = Rules(point)
    lines = []
    for step in point.steps:
        value = rules.value(step.tree)
        rules.locals.update(dict.fromkeys(step.names, value))
        lines.append(f"{target(step)} = {ast.unparse(value.text)}")
    for name, _ in point.outputs:
        if not rules.locals[name].laned:
            raise NoRule
    return [*lines, f"return {returned(point)}"]


def literal(tree: Tree | None) -> Any:
    """The value of a literal argument; refuses anything else."""
    if tree is None:
        return None
    try:
        return ast.literal_eval(row(tree))
    except (ValueError, TypeError):
        raise NoRule from None


def shifted(axis: Any, rank: int) -> Any:
    """An axis of a row of so many dimensions, counted in lanes."""
    if isinstance(axis, tuple | list):
        return tuple(shifted(one, rank) for one in axis)
    if not isinstance(axis, int) or not -rank <= axis < rank:
        raise NoRule
    return axis + 1 if axis >= 0 else axis


def constant(value: Any) -> ast.expr:
    return parsed(repr(value))


ALONG_AXIS = {
    "softmax",
    "log_softmax",
    "softmin",
    "cumsum",
    "cumprod",
    "logcumsumexp",
    "chunk",
    "split",
    "tensor_split",
}
ROWWISE = {"Linear", "linear", "LayerNorm", "RMSNorm", "Identity", "Dropout", "Bilinear", "layer_norm"}
MATRICES = {"matrix_exp", "inverse", "tril", "triu"}


class Rules:
    """The rules, for one point."""

    def __init__(self, point: Point):
        self.point = point
        self.locals: dict[str, Lanes] = {}
        self.watched = watched(point)
        tensors = [item for item in point.parameters if item.role != "shared"]
        if not tensors:
            raise NoRule
        self.count = call(ast.Name("len"), [ast.Name(tensors[0].name)])

    def value(self, tree: Tree) -> Lanes:
        match tree:
            case Input(name=name, role=role, rank=rank, listed=listed):
                if role == "tensor" and (rank is None or rank < 0 or listed):
                    raise NoRule
                return Lanes(ast.Name(name), True, 0 if rank is None or role != "tensor" else rank)
            case Local(name=name):
                return Lanes(ast.Name(name), self.locals[name].laned, self.locals[name].rank)
            case Uniform(text=text, rank=rank):
                return Lanes(parsed(text), False, rank)
            case Item(base=base, index=index, rank=rank):
                inner = self.value(base)
                return Lanes(ast.Subscript(inner.text, row(index)), inner.laned, self.known(rank))
            case Formula(sizes=sizes):
                return Lanes(formula(tree, [self.size(tensor, axis) for _, tensor, axis in sizes]), False, -1)
            case Apply():
                return self.looked_at(tree, self.apply(tree))
        raise NoRule

    def size(self, tensor: Tree, axis: int) -> ast.expr:
        found = self.value(tensor)
        if not -found.rank <= axis < found.rank:
            raise NoRule
        return size(found.text, axis + 1 if found.laned and axis >= 0 else axis)

    def looked_at(self, tree: Apply, value: Lanes) -> Lanes:
        """The value, of which the scheduler makes a note where a gradient of zero may become NaN."""
        if tree not in self.watched or not value.laned:
            return value
        noted = ast.Attribute(ast.Name(self.point.scheduler), "noted")
        return replace(value, text=call(noted, [value.text, constant(self.watched[tree])]))

    def known(self, rank: int | None) -> int:
        if rank is None or rank < 0:
            raise NoRule
        return rank

    def apply(self, tree: Apply) -> Lanes:
        if not isinstance(tree.callee, str) and len({type(module).__name__ for module in tree.modules}) != 1:
            raise NoRule
        first = tree.arguments[0] if tree.arguments else None
        if isinstance(first, Input) and first.listed:
            return self.of_list(tree, first)
        if tree.kind == "store":
            return self.store(tree)
        if not self.has_lanes(tree):
            return Lanes(row(tree), False, self.known(tree.rank))
        rank = self.known(tree.rank)
        if tree.kind == "number":
            return Lanes(row(tree), True, 0)
        rule = getattr(self, f"rule_{tree.family}", None)
        if rule is None:
            raise NoRule
        if isinstance(tree.callee, str):
            return Lanes(rule(tree), True, rank)
        made = [rule(replace(tree, module=module)) for module in tree.modules]
        return Lanes(made[0], True, rank)

    def has_lanes(self, tree: Tree | None) -> bool:
        match tree:
            case Input():
                return True
            case Local(name=name):
                return self.locals[name].laned
            case Formula(sizes=sizes):
                return any(self.has_lanes(tensor) for _, tensor, _ in sizes)
            case Display(items=items):
                return any(map(self.has_lanes, items))
            case Item(base=base):
                return self.has_lanes(base)
            case Part(lower=lower, upper=upper, step=step):
                return any(map(self.has_lanes, (lower, upper, step)))
            case Apply(arguments=arguments, keywords=keywords, callee=callee):
                laned = any(map(self.has_lanes, (*arguments, *keywords.values())))
                if not laned and not isinstance(callee, str):
                    raise NoRule
                return laned
        return False

    def plain(self, trees: Any) -> list[Any]:
        """Arguments that may not have lanes."""
        if any(map(self.has_lanes, trees)):
            raise NoRule
        return [row(item) for item in trees]

    def keywords(self, tree: Apply, without: tuple[str, ...] = ()) -> dict[str, Any]:
        names = [name for name in tree.keywords if name not in without]
        return dict(zip(names, self.plain([tree.keywords[name] for name in names])))

    def lane_operand(self, tree: Tree, rank: int | None = None) -> Lanes:
        found = self.value(tree)
        if not found.laned or (rank is not None and found.rank != rank):
            raise NoRule
        return found

    # ------------------------------------------------------------ families

    def rule_elementwise(self, tree: Apply) -> ast.expr:
        """Operands are aligned from the right; a row of no axes keeps to itself, since it promotes in another way."""
        operands = [self.value(item) for item in tree.arguments]
        weak = [isinstance(item, Input) and item.role == "weak" for item in tree.arguments]
        tensors = [item for item, is_weak in zip(operands, weak) if item.rank >= 0 and not is_weak]
        rank = max(item.rank for item in tensors)
        if any(item.laned and item.rank == 0 for item in tensors) and not all(
            item.laned and item.rank == 0 for item in tensors
        ):
            raise NoRule
        if tree.name == "update" and len({item.rank for item in operands}) > 1:
            raise NoRule
        if tree.name == "where" and len(operands) != 3:
            raise NoRule
        texts = with_weak(tree, [self.widened(item, rank) for item in operands])
        return spell(tree, texts, self.keywords(tree))

    def widened(self, operand: Lanes, rank: int) -> Any:
        if not operand.laned or operand.rank == rank:
            return operand.text
        parts = [ast.Slice(), *(ast.Constant(None) for _ in range(rank - operand.rank))]
        return ast.Subscript(operand.text, ast.Tuple(parts))

    def rule_same(self, tree: Apply) -> ast.expr:
        name = tree.name
        if name in ("RNNCell", "GRUCell", "LSTMCell"):
            return self.cell(tree)
        if name in ("cat", "concat", "concatenate"):
            return self.joined(tree)
        operand = self.lane_operand(tree.arguments[0])
        if name in ALONG_AXIS and tree.kind != "module":
            return self.along_axis(tree, operand)
        if name in ("T", "t", "mT") and operand.rank == 2:
            return ast.Attribute(operand.text, "mT")
        if name in MATRICES and operand.rank == 2 and len(tree.arguments) == 1:
            return spell(tree, [operand.text], self.keywords(tree))
        if name in ROWWISE and operand.rank >= 1 and (name == "Bilinear" or _acts_on_rows(tree.module, operand.rank)):
            others = [
                self.lane_operand(item).text if name == "Bilinear" else self.plain([item])[0]
                for item in tree.arguments[1:]
            ]
            return spell(tree, [operand.text, *others], self.keywords(tree))
        if tree.kind == "module" and _acts_on_rows(tree.module, operand.rank):
            return spell(tree, [operand.text], {})
        raise NoRule

    def rule_sequential(self, tree: Apply) -> ast.expr:
        operand = self.lane_operand(tree.arguments[0])
        if not all(_acts_on_rows(child, operand.rank) for child in tree.module):
            raise NoRule
        return spell(tree, [operand.text], {})

    def along_axis(self, tree: Apply, operand: Lanes) -> ast.expr:
        """``softmax(x, dim)``, ``chunk(x, count, dim)``: the axis is the last argument."""
        position = 2 if tree.name in ("chunk", "split", "tensor_split") else 1
        if len(tree.arguments) > position + 1:
            raise NoRule
        default = 0 if position == 2 else None
        given = tree.arguments[position] if len(tree.arguments) > position else tree.keywords.get("dim")
        axis = shifted(default if given is None else literal(given), operand.rank)
        middle = self.plain(tree.arguments[1:position])
        return spell(tree, [operand.text, *middle], {**self.keywords(tree, without=("dim",)), "dim": constant(axis)})

    def joined(self, tree: Apply) -> ast.expr:
        """``cat`` and ``stack`` of a list of operands, all with lanes."""
        display = tree.arguments[0]
        if not isinstance(display, Display):
            raise NoRule
        items = [self.lane_operand(item) for item in display.items]
        if len({item.rank for item in items}) != 1:
            raise NoRule
        given = tree.arguments[1] if len(tree.arguments) > 1 else tree.keywords.get("dim", tree.keywords.get("axis"))
        rank = items[0].rank + (tree.name == "stack")
        axis = shifted(0 if given is None else literal(given), rank)
        return spell(tree, [ast.List([item.text for item in items])], {"dim": constant(axis)})

    rule_stack = joined

    def cell(self, tree: Apply) -> ast.expr:
        """A recurrent cell takes one batch axis: that of lanes, or both of them flattened."""
        operand = self.lane_operand(tree.arguments[0])
        states: list[Tree] = []
        if len(tree.arguments) > 1:
            state = tree.arguments[1]
            states = list(state.items) if isinstance(state, Display) else [state]
        values = [self.lane_operand(item, operand.rank).text for item in states]
        if operand.rank == 1:
            return spell(tree, [operand.text, *self.state(tree, values)], {})
        if operand.rank != 2:
            raise NoRule
        flat = [call(ast.Attribute(item, "flatten"), [constant(0), constant(1)]) for item in (operand.text, *values)]
        made = spell(tree, [flat[0], *self.state(tree, flat[1:])], {})
        sizes = ast.Tuple([self.count, constant(-1)])
        if tree.name != "LSTMCell":
            return call(ast.Attribute(made, "unflatten"), [constant(0), sizes])
        item = call(ast.Attribute(ast.Name("state"), "unflatten"), [constant(0), sizes])
        comprehension = ast.comprehension(ast.Name("state"), made, [], 0)
        return call(ast.Name("tuple"), [ast.GeneratorExp(item, [comprehension])])

    def state(self, tree: Apply, values: list[Any]) -> list[Any]:
        return [ast.Tuple(values)] if tree.name == "LSTMCell" and values else values

    def rule_reduction(self, tree: Apply) -> ast.expr:
        operand = self.lane_operand(tree.arguments[0])
        given = tree.arguments[1] if len(tree.arguments) > 1 else tree.keywords.get("dim")
        if len(tree.arguments) > 2:
            raise NoRule
        keywords = self.keywords(tree, without=("dim",))
        if given is not None:
            if tree.name in ("max", "min"):
                raise NoRule
            return spell(tree, [operand.text], {"dim": constant(shifted(literal(given), operand.rank)), **keywords})
        axes = tuple(range(1, operand.rank + 1))
        single = tree.name in ("prod", "all", "any", "argmax", "argmin") and operand.rank == 1
        if operand.rank == 0 or not (single or tree.name in ("sum", "mean", "amax", "amin")):
            raise NoRule
        return spell(tree, [operand.text], {"dim": constant(1 if single else axes), **keywords})

    def rule_unsqueeze(self, tree: Apply) -> ast.expr:
        operand = self.lane_operand(tree.arguments[0])
        given = tree.arguments[1] if len(tree.arguments) > 1 else tree.keywords.get("dim")
        return spell(tree, [operand.text, constant(shifted(literal(given), operand.rank + 1))], {})

    def rule_squeeze(self, tree: Apply) -> ast.expr:
        operand = self.lane_operand(tree.arguments[0])
        given = tree.arguments[1] if len(tree.arguments) > 1 else tree.keywords.get("dim")
        axis = literal(given)
        if not isinstance(axis, int):
            raise NoRule
        scheduler = ast.Attribute(ast.Name(self.point.scheduler), "squeezed")
        return call(scheduler, [operand.text, constant(shifted(axis, operand.rank))])

    def rule_sizes(self, tree: Apply) -> ast.expr:
        operand = self.lane_operand(tree.arguments[0])
        sizes = tree.arguments[1:]
        if len(sizes) == 1 and isinstance(sizes[0], Display):
            sizes = sizes[0].items
        if tree.kind != "method":
            raise NoRule
        return call(ast.Attribute(operand.text, tree.name), [self.count, *self.plain(sizes)])

    def rule_flatten(self, tree: Apply) -> ast.expr:
        operand = self.lane_operand(tree.arguments[0])
        if operand.rank == 0 or len(tree.arguments) > 1 or tree.keywords:
            raise NoRule
        return call(ast.Attribute(operand.text, "flatten"), [constant(1)])

    def rule_drop(self, tree: Apply) -> ast.expr:
        operand = self.lane_operand(tree.arguments[0])
        if tree.name != "unbind":
            raise NoRule
        given = tree.arguments[1] if len(tree.arguments) > 1 else tree.keywords.get("dim")
        return spell(
            tree, [operand.text], {"dim": constant(shifted(0 if given is None else literal(given), operand.rank))}
        )

    def rule_index(self, tree: Apply) -> ast.expr:
        base, *parts = tree.arguments
        owner = self.value(base)
        if not owner.laned:
            if len(parts) == 1 and isinstance(parts[0], Input) and parts[0].role == "index":
                return ast.Subscript(owner.text, ast.Name(parts[0].name))
            raise NoRule
        return ast.Subscript(owner.text, ast.Tuple([ast.Slice(), *self.plain(parts)]))

    def rule_embedding(self, tree: Apply) -> ast.expr:
        operand = self.lane_operand(tree.arguments[0])
        return spell(tree, [operand.text, *self.plain(tree.arguments[1:])], self.keywords(tree))

    def rule_scalar(self, tree: Apply) -> ast.expr:
        return self.dot(*(self.lane_operand(item, 1).text for item in tree.arguments))

    def dot(self, left: Any, right: Any) -> ast.expr:
        return call(ast.Attribute(ast.Name(self.point.scheduler), "dot"), [left, right])

    def rule_matmul(self, tree: Apply) -> ast.expr:
        """Products of vectors and matrices, with lanes on either side or both."""
        left, right = (self.value(item) for item in tree.arguments)
        match (left.rank, left.laned), (right.rank, right.laned):
            case (1, True), (1, True):
                return self.dot(left.text, right.text)
            case (1, True), (2, False) | (1, False):
                return ast.BinOp(left.text, ast.MatMult(), right.text)
            case (2, False), (1, True):
                return ast.BinOp(right.text, ast.MatMult(), ast.Attribute(left.text, "T"))
            case (2, True), (1, True):
                column = call(ast.Attribute(right.text, "unsqueeze"), [constant(-1)])
                return call(ast.Attribute(ast.BinOp(left.text, ast.MatMult(), column), "squeeze"), [constant(-1)])
            case (1, True), (2, True):
                line = call(ast.Attribute(left.text, "unsqueeze"), [constant(-2)])
                return call(ast.Attribute(ast.BinOp(line, ast.MatMult(), right.text), "squeeze"), [constant(-2)])
            case ((2, _), (2, _)) | ((1, False), (2, True)) | ((2, True), (1, False)):
                return ast.BinOp(left.text, ast.MatMult(), right.text)
        raise NoRule

    def store(self, tree: Apply) -> Lanes:
        """``v[k] = value``: the rows after it."""
        before, value = self.value(tree.arguments[0]), self.value(tree.arguments[2])
        place, number = tree.arguments[1:]
        if tree.family == "part":
            return self.store_of_part(tree, before, row(place), value)
        if isinstance(place, Apply) or before.rank < 1 or not (value.rank < 0 or value.laned):
            raise NoRule
        if value.rank >= 0 and value.rank != before.rank - 1:
            raise NoRule
        if isinstance(number, Input) and number.role == "number" and before.rank != 1:
            raise NoRule
        made = call(parsed(str(tree.callee)), [self.each(before), row(place), value.text])
        return Lanes(made, True, before.rank)

    def store_of_part(self, tree: Apply, before: Lanes, place: ast.expr, value: Lanes) -> Lanes:
        """``v[1:, k] = value`` at places that are the same in all rows."""
        assert isinstance(place, ast.Tuple)
        rank = before.rank - sum(not isinstance(part, ast.Call) for part in place.elts)
        number = tree.arguments[2]
        if rank < 0 or not (value.rank in (-1, rank) or (isinstance(number, Input) and number.role == "number")):
            raise NoRule
        given = self.each(value) if value.rank >= 0 else value.text
        return Lanes(call(parsed(str(tree.callee)), [self.each(before), place, given]), True, before.rank)

    def each(self, value: Lanes) -> ast.expr:
        """The rows of a value, which may be one for all."""
        if value.laned:
            return value.text
        return call(ast.Attribute(value.text, "expand"), [self.count, *[constant(-1)] * value.rank])

    # ------------------------------------------------------------ lists

    def of_list(self, tree: Apply, items: Input) -> Lanes:
        """A list of tensors is one tensor, whose second axis is the list."""
        name = ast.Name(items.name)
        rank = self.known(items.rank)
        alone = len(tree.arguments) == 1 and not tree.keywords
        if tree.name == "stack" and alone:
            return Lanes(name, True, rank + 1)
        if tree.name == "python_sum" and alone:
            return Lanes(call(ast.Name("sum"), [call(ast.Attribute(name, "unbind"), [constant(1)])]), True, rank)
        if tree.name in ("cat", "concat") and alone and rank >= 1:
            return Lanes(call(ast.Attribute(name, "flatten"), [constant(1), constant(2)]), True, rank)
        raise NoRule


def _acts_on_rows(module: Any, rank: int) -> bool:
    """Whether a module of ``torch.nn`` acts on the last axis or on each element, so that more axes change nothing."""
    name = type(module).__name__
    if name in ("Softmax", "LogSoftmax"):
        return module.dim is not None and -rank <= module.dim < 0
    if name == "Linear":
        return rank >= 1
    if name in ("LayerNorm", "RMSNorm"):
        return rank >= len(module.normalized_shape)
    if name == "Sequential":
        return all(_acts_on_rows(child, rank) for child in module)
    return name not in ("Embedding", "Bilinear", "RNNCell", "GRUCell", "LSTMCell")
