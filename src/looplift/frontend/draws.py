"""A loop that draws random numbers in each iteration in; the draws alone, and the loop over what they gave, out.

for row in x:                            drawn = [(rng.uniform(), rng.normal(size=3)) for row in x]
    a = rng.uniform()                    draw_1, draw_2 = zip(*drawn)
    y.append(a * row + rng.normal(       for k, row in enumerate(x):
        size=3))                             a = draw_1[k]
                                             y.append(a * row + draw_2[k])

The draws come one iteration after the other, as in the loop: they stand where every iteration gets to, and what they
are given is not made by the loop, nor changed by it, whatever it is called.
"""

from __future__ import annotations

import ast
import copy
import random
import types
from collections.abc import Iterator, Mapping
from typing import Any

from looplift.base.data import dataclass
from looplift.base.errors import NotLiftable
from looplift.base.streams import numpy_generators, numpy_random
from looplift.base.syntax import children_of, fresh_copy, nodes_of
from looplift.frontend.names import assigned_names, fresh_name, names_of, value_of
from looplift.frontend.simple import written_bases
from looplift.frontend.taints import root_of

FUNCTIONS = {
    "torch": """rand randn randint randperm normal bernoulli multinomial rand_like randn_like randint_like poisson""",
    "numpy.random": """rand randn random random_sample randint uniform normal standard_normal choice permutation
    exponential poisson binomial beta gamma laplace lognormal triangular integers""",
    "random": """random uniform randint gauss choice randrange normalvariate expovariate betavariate triangular""",
}
NAMES = {module: frozenset(names.split()) for module, names in FUNCTIONS.items()}
ARGUMENTS = (
    ast.Name, ast.Attribute, ast.Constant, ast.Subscript, ast.BinOp, ast.UnaryOp, ast.Tuple, ast.List, ast.operator,
    ast.unaryop, ast.expr_context, ast.keyword, ast.Slice,
)  # fmt: skip
ABOUT = frozenset(("shape", "ndim", "dtype", "device"))
"""Attributes that tell nothing of what is in a tensor."""
PURE = frozenset(("len", "range", "enumerate", "zip", "reversed", "int", "float", "min", "max"))
EXITS = (ast.Break, ast.Return, ast.Yield, ast.YieldFrom, ast.Raise, ast.Try)
STATEMENTS = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.If)
HIDDEN = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda, ast.FunctionDef, ast.IfExp)


@dataclass
class Draws:
    """``names``: what is drawn, a value for each iteration; ``text`` is a list of tuples of these, in terms of the
    arguments and of what the assignments ``before`` bind."""

    names: list[str]
    before: list[str]
    text: str
    loop: ast.For
    calls: list[ast.Call]
    chosen: list[ast.expr | None]
    """What the draws choose an item of by its place, which is drawn."""
    index: str
    around: tuple[list[ast.stmt], list[ast.stmt]]
    namespace: Mapping[str, Any]
    read: list[str]
    """What the draws take something of beside shapes and lengths, which the loop must not change."""
    at_once: str | None = None

    def statements(self, columns: Mapping[str, Any]) -> list[ast.stmt]:
        """The region over what was drawn: each iteration has arrays of its own, as a draw gives them."""
        found = zip(map(_place, self.calls), self.names, self.chosen, strict=True)
        items = {place: self._item(name, columns[name], sequence) for place, name, sequence in found}
        copied = _Replaced(items).visit(fresh_copy(self.loop))
        pair = ast.Tuple([ast.Name(self.index, ast.Store()), copied.target], ast.Store())
        numbered = ast.Call(ast.Name("enumerate", ast.Load()), [copied.iter], [])
        made = ast.copy_location(ast.For(pair, numbered, copied.body, []), self.loop)
        before, behind = self.around
        return [*before, ast.fix_missing_locations(made), *behind]

    def _item(self, name: str, column: Any, sequence: ast.expr | None) -> ast.expr:
        item: ast.expr = ast.Subscript(ast.Name(name, ast.Load()), ast.Name(self.index, ast.Load()), ast.Load())
        if sequence is not None:
            return ast.Subscript(sequence, item, ast.Load())
        if isinstance(column, list) or (type(column).__module__ == "numpy" and column.ndim == 1):
            return item
        method = "copy" if type(column).__module__ == "numpy" else "clone"
        return ast.Call(ast.Attribute(item, method, ast.Load()), [], [])

    def given(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The values, with what would be drawn now; generators are left as they were found."""
        from looplift.runtime.snapshot import GeneratorStates

        kinds = (random.Random, *numpy_generators())
        own = {name: copy.deepcopy(value) for name, value in values.items() if isinstance(value, kinds)}
        states, known = GeneratorStates(values.values()), {**self.namespace, **values, **own}
        try:
            exec("\n".join(self.before), known)
            rows = [(one,) for one in eval(self.at_once, known)] if self.at_once else eval(self.text, known)
        except Exception as error:
            raise NotLiftable("requirement", f"what is drawn raises {type(error).__name__}: {error}") from None
        finally:
            states.restore()
        columns = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in self.names]
        return {**values, **dict(zip(self.names, columns, strict=False))}


def draws_of(statements: list[ast.stmt], values: Mapping[str, Any], namespace: Mapping[str, Any]) -> Draws | None:
    """None where nothing is drawn, or in another way."""
    known = {**namespace, **values}
    is_draw = _Draw(known, {*assigned_names(statements)})
    if not any(map(is_draw, _every(statements))):
        return None
    places = [k for k, statement in enumerate(statements) if any(map(is_draw, nodes_of(statement)))]
    loop = statements[places[0]]
    if len(places) > 1 or not isinstance(loop, ast.For) or loop.orelse:
        return None
    found = _in_order(loop, is_draw)
    before = statements[: places[0]]
    if found is None:
        return None
    chosen = [_chosen(call, is_draw) for call in found]
    drawn = [call if one is None else _place_of(call, one) for call, one in zip(found, chosen, strict=True)]
    if (needed := _needed(loop, drawn, before)) is None:
        return None
    taken = {*known, *assigned_names(statements)} | names_of(statements).loads
    names = [fresh_name(f"draw_{k}", taken) for k in range(1, len(found) + 1)]
    text = f"[({', '.join(map(ast.unparse, drawn))},) for {ast.unparse(loop.target)} in {ast.unparse(loop.iter)}]"
    around = before, statements[places[0] + 1 :]
    first = [ast.unparse(statement) for statement in needed]
    at_once = _at_once(loop, found[0], is_draw, known) if len(found) == 1 else None
    read = _contents(loop, drawn, needed)
    if _is_known_otherwise(loop, found, {*assigned_names(needed)} & read, known):
        return None
    read = sorted(read - {*assigned_names([*needed, loop])})
    return Draws(names, first, text, loop, found, chosen, fresh_name("draw", taken), around, namespace, read, at_once)


def _every(statements: list[ast.stmt]) -> Iterator[ast.AST]:
    for statement in statements:
        yield from nodes_of(statement)


def _place(node: ast.expr) -> tuple[int | None, ...]:
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset


class _Draw:
    """Whether a node calls a function that draws random numbers."""

    def __init__(self, known: Mapping[str, Any], bound: set[str]):
        self.known, self.bound = known, bound

    def __call__(self, node: ast.AST) -> bool:
        if not isinstance(node, ast.Call):
            return False
        match node.func:
            case ast.Name(id=name) if name not in self.bound:
                return _draws(self.known.get(name))
            case ast.Attribute(value=owner, attr=name):
                found = value_of(owner, self.known, self.bound)
                kinds = (random.Random, *numpy_generators())
                if isinstance(found, kinds):
                    return name in NAMES["random"] | NAMES["numpy.random"]
                return isinstance(found, types.ModuleType) and name in NAMES.get(found.__name__, ())
        return False


def _draws(function: Any) -> bool:
    """Whether a function that goes by a name of its own is one of a library that draws."""
    import torch

    if not callable(function):
        return False
    libraries = (("torch", torch), ("numpy.random", numpy_random()), ("random", random))
    name = getattr(function, "__name__", "")
    return any(
        library is not None and name in NAMES[module] and getattr(library, name, None) == function
        for module, library in libraries
    )


IN_ONE_STREAM = {
    "normal": 2, "uniform": 2, "laplace": 2, "gamma": 2, "beta": 2, "standard_normal": 0, "random": 0,
    "random_sample": 0, "exponential": 1,
}  # fmt: skip
"""Distributions of NumPy's of which n draws one after the other are those of one call that draws n, with the number of
parameters before the size."""


def _at_once(loop: ast.For, draw: ast.Call, is_draw: _Draw, known: Mapping[str, Any]) -> str | None:
    """The draws of all iterations as one call, where NumPy makes the same of both: then a list of the draws."""
    if not isinstance(draw.func, ast.Attribute) or draw.func.attr not in IN_ONE_STREAM or not _counts(loop, known):
        return None
    owner = value_of(draw.func.value, is_draw.known, is_draw.bound)
    if isinstance(owner, random.Random) or owner is random or getattr(owner, "__name__", "") == "torch":
        return None
    count = f"len({ast.unparse(loop.iter)})"
    given = {keyword.arg: keyword.value for keyword in draw.keywords}
    place = IN_ONE_STREAM[draw.func.attr]
    size = draw.args[place] if len(draw.args) > place else given.pop("size", None)
    if len(draw.args) > place + 1 or given.keys() - {"loc", "scale", "low", "high"}:
        return None
    parameters = [*draw.args[:place], *given.values()]
    targets = {node.id for node in nodes_of(loop.target) if isinstance(node, ast.Name)}
    every = [node for one in (*parameters, size) if one is not None for node in nodes_of(one)]
    if any(isinstance(node, ast.Name) and node.id in targets for node in every):
        return None
    if not all(isinstance(one, ast.Constant) or _is_number(one, known) for one in parameters):
        return None
    match size:
        case None:
            shape = count
        case ast.Tuple(elts=items) if not any(isinstance(item, ast.Starred) for item in items):
            shape = f"({', '.join([count, *map(ast.unparse, items)])})"
        case ast.Name(id=name) if type(known.get(name)) is int:
            shape = f"({count}, {name})"
        case ast.Constant(value=int()) | ast.Subscript(value=ast.Attribute(attr="shape"), slice=ast.Constant()):
            shape = f"({count}, {ast.unparse(size)})"
        case ast.Call(func=ast.Name(id="len")):
            shape = f"({count}, {ast.unparse(size)})"
        case _:
            return None
    words = [*map(ast.unparse, draw.args[:place]), *(f"{name}={ast.unparse(value)}" for name, value in given.items())]
    text = f"{ast.unparse(draw.func)}({', '.join([*words, f'size={shape}'])})"
    return f"{text}.tolist()" if size is None else text


def _is_number(node: ast.expr, known: Mapping[str, Any]) -> bool:
    """Whether a parameter is a number whatever the call: an argument that is one, whose type is guarded."""
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant)
    return isinstance(node, ast.Name) and type(known.get(node.id)) in (int, float)


def _counts(loop: ast.For, known: Mapping[str, Any]) -> bool:
    """Whether the number of iterations is the length of what is iterated."""
    match loop.iter:
        case ast.Call(func=ast.Name(id="range")):
            return True
        case ast.Name(id=name):
            return type(known.get(name)) in (list, tuple) or hasattr(known.get(name), "shape")
    return False


def _chosen(draw: ast.Call, is_draw: _Draw) -> ast.expr | None:
    """What Python's ``choice`` takes an item of, unless all of them are plain values: of others the loop gets the item
    itself, as a row of a tensor that it may change."""
    owner = value_of(draw.func.value, is_draw.known, is_draw.bound) if isinstance(draw.func, ast.Attribute) else None
    named = is_draw.known.get(draw.func.id) if isinstance(draw.func, ast.Name) else None
    of_python = owner is random or isinstance(owner, random.Random) or named == random.choice
    name = draw.func.attr if isinstance(draw.func, ast.Attribute) else "choice"
    if not of_python or name != "choice" or len(draw.args) != 1 or draw.keywords:
        return None
    try:
        found = ast.literal_eval(draw.args[0])
    except ValueError:
        found = value_of(draw.args[0], is_draw.known, is_draw.bound)
    return None if isinstance(found, list | tuple | str | range) and _is_plain_value(found) else draw.args[0]


def _is_plain_value(value: Any) -> bool:
    """Whether a value of Python's own, or each of a list or tuple, cannot be changed."""
    if type(value) in (list, tuple):
        return all(type(item) is not list and _is_plain_value(item) for item in value)
    return type(value) in (int, float, bool, complex, str, range, type(None))


def _place_of(draw: ast.Call, sequence: ast.expr) -> ast.Call:
    """The same draw, of the place of an item: ``choice(range(len(sequence)))``."""
    length = ast.Call(ast.Name("len", ast.Load()), [sequence], [])
    return ast.Call(draw.func, [ast.Call(ast.Name("range", ast.Load()), [length], [])], [])


# ---------------------------------------------------------------- where draws stand


def _in_order(loop: ast.For, is_draw: _Draw) -> list[ast.Call] | None:
    """The draws of a loop in the order of an iteration; None where not every iteration gets to all of them."""
    found: list[ast.Call] = []
    left = False
    for statement in loop.body:
        inside = [node for node in nodes_of(statement) if is_draw(node)]
        if inside and (left or not isinstance(statement, STATEMENTS)):
            return None
        parts = [statement.test] if isinstance(statement, ast.If) else _evaluated(statement)
        ordered = [node for part in parts for node in _ordered(part) if is_draw(node)]
        if len(ordered) != len(inside):
            return None
        found += [node for node in ordered if isinstance(node, ast.Call)]
        if any(isinstance(node, EXITS) for node in _without_inner_jumps(statement)):
            return None
        left = left or any(isinstance(node, ast.Continue) for node in _without_inner_jumps(statement))
    return found


def _without_inner_jumps(statement: ast.stmt) -> Iterator[ast.AST]:
    """What a statement of a loop holds, but for the jumps of loops inside, which stay in it."""
    pending: list[ast.AST] = [statement]
    while pending:
        node = pending.pop()
        yield node
        inner = node.body if isinstance(node, ast.For | ast.While) else []
        yield from (one for one in _every(inner) if not isinstance(one, ast.Break | ast.Continue))
        pending += [one for one in children_of(node) if one not in inner]


def _evaluated(statement: ast.stmt) -> list[ast.expr]:
    """The expressions of a simple statement in the order in which they are evaluated."""
    match statement:
        case ast.Assign(targets=targets, value=value):
            return [value, *targets]
        case ast.AnnAssign(target=target, value=value) if value is not None:
            return [value, target]
        case ast.AugAssign(target=ast.Name(), value=value) | ast.Expr(value=value):
            return [value]
    return []


def _ordered(node: ast.AST) -> Iterator[ast.AST]:
    """What is surely evaluated, in order; a draw after what its arguments take."""
    if isinstance(node, HIDDEN):
        return
    parts = children_of(node)
    if isinstance(node, ast.BoolOp):
        parts = [node.values[0]]
    elif isinstance(node, ast.Compare):
        parts = [node.left, node.comparators[0]]
    for part in parts:
        yield from _ordered(part)
    yield node


def _needed(loop: ast.For, draws: list[ast.Call], before: list[ast.stmt]) -> list[ast.stmt] | None:
    """The assignments before the loop that the arguments of draws, and what is iterated, take something of; None where
    they take what the loop makes or changes."""
    made = {*assigned_names(loop.body), *written_bases([*before, loop])}
    read: set[str] = set()
    for node in (*draws, loop.iter):
        if not _is_plain(node, of_draw=node is not loop.iter):
            return None
        read |= names_of(node).loads
    needed: list[ast.stmt] = []
    for statement in reversed(before):
        bound = {*assigned_names([statement])}
        if not bound & read:
            continue
        if not isinstance(statement, ast.Assign) or not _is_plain(statement.value):
            return None
        needed.insert(0, statement)
        read = (read - bound) | names_of(statement.value).loads
    return None if read & made else needed


def _is_plain(node: ast.expr, *, of_draw: bool = False) -> bool:
    """Whether an expression takes no more than numbers, names, shapes and lengths; a draw itself is looked through."""
    parts = nodes_of(node)
    inner = [part for part in parts if isinstance(part, ast.Call) and not (of_draw and part is node)]
    if any(not (isinstance(part.func, ast.Name) and part.func.id in PURE) for part in inner):
        return False
    return all(isinstance(part, (*ARGUMENTS, ast.Call)) for part in parts)


def _contents(loop: ast.For, draws: list[ast.Call], needed: list[ast.stmt]) -> set[str]:
    """The names, and attributes of names, of which draws take more than shapes and lengths; each with what it is of."""
    found = {name for draw in draws for name in _read(draw)}
    if found & names_of(loop.target).stores:
        found |= {*_read(loop.iter)}
    for statement in reversed(needed):
        if found & {*assigned_names([statement])} and isinstance(statement, ast.Assign):
            found |= {*_read(statement.value)}
    return found


def _read(node: ast.AST) -> Iterator[str]:
    parts = children_of(node)
    match node:
        case ast.Name(id=name, ctx=ast.Load()):
            yield name
        case ast.Attribute(attr=name) if name in ABOUT:
            return
        case ast.Attribute() if _is_dotted(node):
            yield ast.unparse(node)
            return
        case ast.Call(func=ast.Name(id="len")):
            return
        case ast.Call(func=func, args=args, keywords=keywords):
            name = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
            parts = [*args[name.endswith("_like") :], *(keyword.value for keyword in keywords)]
    for part in parts:
        yield from _read(part)


def _is_dotted(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) or (isinstance(node, ast.Attribute) and _is_dotted(node.value))


def _is_known_otherwise(loop: ast.For, draws: list[ast.Call], names: set[str], known: Mapping[str, Any]) -> bool:
    """Whether the loop may change, by another name, what one of these stands for that were bound before it."""
    for node in nodes_of(loop):
        match node:
            case ast.Assign(value=value) | ast.NamedExpr(value=value) if root_of(value) in names:
                return True
            case ast.For(iter=value) if node is not loop and root_of(value) in names:
                return True
            case ast.Call(func=func, args=args) if node not in draws:
                is_known = root_of(func) in PURE or isinstance(known.get(root_of(func)), types.ModuleType)
                if root_of(func) in names or (not is_known and any(root_of(one) in names for one in args)):
                    return True
    return False


class _Replaced(ast.NodeTransformer):
    """Draws as items of what was drawn before."""

    def __init__(self, items: Mapping[tuple[int | None, ...], ast.expr]):
        self.items = items

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if (item := self.items.get(_place(node))) is None:
            return self.generic_visit(node)
        return ast.copy_location(fresh_copy(item), node)
