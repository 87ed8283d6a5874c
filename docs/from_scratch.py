"""looplift from scratch: the whole system in one file, from a Python loop to the batched PyTorch that replaces it.

Read it from top to bottom, or run it::

    python docs/from_scratch.py

It knows five operations (``+``, ``-``, ``*``, ``torch.sum``, ``torch.exp``), comparisons, ``for`` over a ``range``
and ``if``.  The package knows many more, but it is made of the same pieces in the same order::

    source --read--> IR --prove, schedule--> plan --facts, emit--> text --build--> callable --run--> results

The one idea: **a loop is an axis**.  Its body is run once, for all iterations together; each iteration is a *lane*.
So ``x[i]`` becomes ``x``, ``a[i, :] - b[j, :]`` becomes ``a[:, None] - b``, and ``for`` disappears.

The one promise: **never another answer**.  What cannot be proven is kept as the loop that it was, with a reason.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import textwrap
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import update_wrapper
from typing import Any, assert_never

import torch

# ## 1. The grammar
#
# The IR is small enough to see at once.  Nodes are immutable; a stage that changes something returns a new node.
#
#     Function  = name(params) Statement*
#     Statement = Let(var, Expr) | Store(ref, Index, Expr, mask) | If(mask, condition, then, orelse, phis)
#               | Loop(axis, carries, body) | Return(text)
#     Expr      = Const | Var | Op(name, args) | Read(ref, Index) | Reduce(axis, Expr) | Host(text)
#     Index     = (Affine(axis, offset) | WHOLE)*                 i + 2, or the constant 2 where axis is None, or ``:``
#     Carry     = (inside, init, next, after)                     what one iteration hands to the next
#     Phi       = (var, then, orelse)                             what an ``if`` leaves behind
#
# It is in static single assignment form: a ``Var`` is bound once, and is known by identity.  Several may bear the
# author's one name, as ``total`` does before, in and after its loop.

production = dataclass(frozen=True, eq=False)


@production
class Var:
    name: str


@production
class Axis:
    """A loop, as a subscript sees it: ``for name in range(low, high)``; both bounds are text for the host."""

    name: str
    low: str
    high: str
    depth: int
    line: int


@dataclass(frozen=True)
class Affine:
    axis: Axis | None
    offset: int


WHOLE = slice(None)
Index = tuple[Affine | slice, ...]


@production
class Const:
    value: int | float


@production
class Op:
    name: str
    args: tuple[Expr, ...]


@production
class Read:
    ref: Var
    index: Index


@production
class Reduce:
    """The sum of ``value`` over the lanes of ``axis``."""

    axis: Axis
    value: Expr


@production
class Host:
    """An expression outside of all loops: it runs as written."""

    text: str
    allocates: bool


@production
class Let:
    var: Var
    value: Expr


@production
class Store:
    ref: Var
    index: Index
    value: Expr
    mask: Expr | None = None


@production
class Phi:
    var: Var
    then: Var
    orelse: Var


@production
class If:
    mask: Var
    condition: Expr
    then: Block
    orelse: Block
    phis: tuple[Phi, ...]


@production
class Carry:
    inside: Var
    init: Var
    next: Var
    after: Var


@production
class Loop:
    axis: Axis
    carries: tuple[Carry, ...]
    body: Block
    text: str


@production
class Return:
    text: str


@production
class Function:
    name: str
    params: tuple[Var, ...]
    body: Block


Expr = Const | Var | Op | Read | Reduce | Host
Statement = Let | Store | If | Loop | Return
Block = tuple[Statement, ...]


class Refusal(Exception):
    """Why a loop is kept, in words that its author can act on."""


# ## 2. The operations
#
# One row for each: how Python's syntax spells it, and how the emitted text does.  ``not``, ``and`` and ``where`` have
# no syntax: only the treatment of ``if`` makes them.  ``sum`` has no template, since its text depends on a rank.

SYNTAX = {ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Lt: "less", ast.Gt: "greater"}
TEXT = {
    "add": "({} + {})",
    "subtract": "({} - {})",
    "multiply": "({} * {})",
    "less": "({} < {})",
    "greater": "({} > {})",
    "exp": "torch.exp({})",
    "not": "(~{})",
    "and": "({} & {})",
    "where": "torch.where({}, {}, {})",
}
CALLS = ("sum", "exp")
ALLOCATORS = ("zeros", "ones", "zeros_like", "ones_like")
HOST_SYNTAX = (ast.Name, ast.Constant, ast.Attribute, ast.Subscript, ast.Tuple, ast.BinOp, ast.Call)
HOST_SYNTAX += (ast.operator, ast.expr_context)


# ## 3. Reading: Python source -> IR
#
# ``Reader`` walks the syntax tree with an environment from the author's names to the ``Var`` that each stands for now.
# Outside of loops it keeps expressions as text (they run on the host, as written).  Inside, it understands or refuses.


class Reader:
    def __init__(self, function: ast.FunctionDef) -> None:
        self.params = tuple(Var(argument.arg) for argument in function.args.args)
        self.environment: dict[str, Var | Axis] = {var.name: var for var in self.params}
        self.outer: set[Var] = set(self.params)
        self.taken = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
        self.depth = 0
        self.branch = ""

    def block(self, nodes: list[ast.stmt]) -> Block:
        return tuple(self.statement(node) for node in nodes)

    def statement(self, node: ast.stmt) -> Statement:
        match node:
            case ast.Assign([ast.Name(name)], value):
                expression = self.expression(value) if self.depth else self.host(value)
                return Let(self.bind(name), expression)
            case ast.Assign([ast.Subscript() as target], value) if self.depth:
                place = self.read(target)
                return Store(place.ref, place.index, self.expression(value))
            case ast.If(test, then, orelse) if self.depth:
                return self.conditional(test, then, orelse)
            case ast.For(ast.Name(name), ast.Call(ast.Name("range"), bounds, []), body, []):
                return self.loop(node, name, bounds, body)
            case ast.Return(ast.expr() as value) if not self.depth:
                return Return(self.host(value).text)
        raise Refusal(f"line {node.lineno}: '{ast.unparse(node).splitlines()[0]}' is not in the miniature's language")

    def expression(self, node: ast.expr) -> Expr:
        match node:
            case ast.Constant(value) if type(value) in (int, float):
                return Const(value)
            case ast.Name(name):
                return self.variable(name)
            case ast.BinOp(left, operator, right) if type(operator) in SYNTAX:
                return Op(SYNTAX[type(operator)], (self.expression(left), self.expression(right)))
            case ast.Call(ast.Attribute(ast.Name("torch"), name), [argument], []) if name in CALLS:
                return Op(name, (self.expression(argument),))
            case ast.Subscript():
                return self.read(node)
        raise Refusal(f"'{ast.unparse(node)}' is not one of the five operations")

    def variable(self, name: str) -> Var:
        match self.environment.get(name):
            case Var() as var:
                return var
            case Axis():
                raise Refusal(f"'{name}' is used as a number, not only as a subscript")
        raise Refusal(f"'{name}' is not bound on every path to this line")

    def bind(self, name: str) -> Var:
        """A new value under the author's name; in a branch under a fresh one, since the old value is still needed."""
        if isinstance(self.environment.get(name), Axis):
            raise Refusal(f"the index '{name}' is assigned to")
        var = Var(self.fresh(name + self.branch) if self.branch else name)
        self.environment[name] = var
        if not self.depth:
            self.outer.add(var)
        return var

    def fresh(self, name: str) -> str:
        count = 2
        unique = name
        while unique in self.taken:
            unique, count = f"{name}_{count}", count + 1
        self.taken.add(unique)
        return unique

    def read(self, node: ast.Subscript) -> Read:
        if not isinstance(node.value, ast.Name) or self.variable(node.value.id) not in self.outer:
            raise Refusal(f"'{ast.unparse(node)}' is not a subscript of a tensor that was there before the loop")
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return Read(self.variable(node.value.id), tuple(map(self.affine, parts)))

    def affine(self, node: ast.expr) -> Affine | slice:
        match node:
            case ast.Slice(None, None, None):
                return WHOLE
            case ast.Constant(value) if type(value) is int:
                return Affine(None, value)
            case ast.Name(name) if isinstance(self.environment.get(name), Axis):
                return Affine(self.environment[name], 0)
            case ast.BinOp(ast.Name() as name, ast.Add() | ast.Sub() as sign, ast.Constant(int() as value)):
                match self.affine(name):
                    case Affine(axis, 0) if axis is not None:
                        return Affine(axis, value if isinstance(sign, ast.Add) else -value)
        raise Refusal(f"the subscript '{ast.unparse(node)}' is not an index plus a constant")

    def host(self, node: ast.expr) -> Host:
        """Text that may be run again without harm: names, shapes, arithmetic, allocations."""
        for inner in ast.walk(node):
            match inner:
                case ast.Call(ast.Attribute(ast.Name("torch"), name)) if name in ALLOCATORS:
                    continue
                case ast.Call():
                    raise Refusal(f"'{ast.unparse(inner)}' may have effects")
                case _ if not isinstance(inner, HOST_SYNTAX):
                    raise Refusal(f"'{ast.unparse(node)}' is not in the miniature's language")
            if isinstance(inner, ast.Name) and inner.id != "torch" and self.variable(inner.id) not in self.outer:
                raise Refusal(f"'{ast.unparse(node)}' is another one in each iteration")
        return Host(ast.unparse(node), isinstance(node, ast.Call))

    def conditional(self, test: ast.expr, then: list[ast.stmt], orelse: list[ast.stmt]) -> If:
        match test:
            case ast.Compare(left, [operator], [right]) if type(operator) in SYNTAX:
                condition = Op(SYNTAX[type(operator)], (self.expression(left), self.expression(right)))
            case _:
                raise Refusal(f"'{ast.unparse(test)}' is not one comparison")
        mask = Var(self.fresh("mask"))
        before, branch = self.environment, self.branch
        then_block, then_environment = self.side(then, before, "_then")
        orelse_block, orelse_environment = self.side(orelse, before, "_else")
        self.environment, self.branch = dict(before), branch
        joined = [name for name in before if then_environment[name] is not orelse_environment[name]]
        phis = tuple(Phi(self.bind(name), then_environment[name], orelse_environment[name]) for name in joined)
        return If(mask, condition, then_block, orelse_block, phis)

    def side(self, nodes: list[ast.stmt], before: dict[str, Var | Axis], branch: str) -> tuple[Block, dict[str, Any]]:
        self.environment, self.branch = dict(before), branch
        return self.block(nodes), self.environment

    def loop(self, node: ast.For, name: str, bounds: list[ast.expr], body: list[ast.stmt]) -> Loop:
        if self.branch or name in self.environment or len(bounds) > 2:
            raise Refusal(f"line {node.lineno}: a loop in an 'if', over a name in use, or with a step")
        low, high = ["0", *(self.host(bound).text for bound in bounds)][-2:]
        changed = assigned_names(body)
        if changed & {inner.id for bound in bounds for inner in ast.walk(bound) if isinstance(inner, ast.Name)}:
            raise Refusal(f"line {node.lineno}: the loop changes its own bounds")
        axis = Axis(name, low, high, self.depth, node.lineno)
        before = self.environment
        carried = [each for each in sorted(changed) if isinstance(before.get(each), Var)]
        insides = {each: Var(each) for each in carried}
        self.environment = before | insides | {name: axis}
        self.depth += 1
        block = self.block(body)
        self.depth -= 1
        # What the body bound for the first time is forgotten here.  Python would show its last value after the loop,
        # so a later read of it finds no name and refuses.
        at_end, self.environment = self.environment, dict(before)
        carries = tuple(Carry(insides[each], before[each], at_end[each], self.bind(each)) for each in carried)
        return Loop(axis, carries, block, ast.unparse(node))


def assigned_names(body: list[ast.stmt]) -> set[str]:
    nodes = (node for statement in body for node in ast.walk(statement))
    return {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def read_function(function: Callable[..., Any]) -> Function:
    """The IR of a Python function; its source must be at hand, and its names must mean what they seem to."""
    lines, first_line = inspect.getsourcelines(function)
    module = ast.increment_lineno(ast.parse(textwrap.dedent("".join(lines))), first_line - 1)
    match module.body:
        case [ast.FunctionDef(args=ast.arguments([], _, None, [], [], None, _)) as definition]:
            pass
        case _:
            raise Refusal("only a plain function with positional arguments is understood")
    bound = assigned_names(module.body) | {argument.arg for argument in definition.args.args}
    namespace = function.__globals__
    if namespace.get("torch") is not torch or "range" in namespace or {"torch", "range"} & bound:
        raise Refusal("the function gives 'torch' or 'range' another meaning")
    body = definition.body[1:] if ast.get_docstring(definition) is not None else definition.body
    reader = Reader(definition)
    return Function(definition.name, reader.params, reader.block(body))


# ## 4. Walking
#
# Analyses are pure functions of the IR, and all of them are folds over these two walks.


def statements(block: Block) -> Iterator[Statement]:
    for statement in block:
        yield statement
        match statement:
            case Loop(body=body):
                yield from statements(body)
            case If(then=then, orelse=orelse):
                yield from statements(then + orelse)


def parts(expression: Expr) -> Iterator[Expr]:
    yield expression
    match expression:
        case Op(args=args):
            for argument in args:
                yield from parts(argument)
        case Reduce(value=value):
            yield from parts(value)


def expressions(block: Block) -> Iterator[Expr]:
    """Every expression in a block without branches, with all its parts."""
    for statement in statements(block):
        match statement:
            case Let(value=value):
                yield from parts(value)
            case Store(value=value, mask=mask):
                yield from parts(value)
                yield from parts(mask) if mask is not None else ()
            case Loop(carries=carries):
                yield from (var for carry in carries for var in (carry.init, carry.next))


# ## 5. If conversion: from control to activity
#
# In a lane there is no "the branch was not taken", there is only "this lane is not active".  Both sides run in all
# lanes; stores happen under a mask, and a phi selects (Allen, Kennedy, Porterfield and Warren, 1983)::
#
#     if value > 0:                         mask = value > 0
#         value = torch.exp(0 - value)  ->  value_then = torch.exp(0 - value)
#     out[i] = value                        value = torch.where(mask, value_then, value)
#                                           out[i] = value


def without_branches(block: Block, active: Expr | None = None) -> Block:
    return tuple(flat for statement in block for flat in flatten(statement, active))


def flatten(statement: Statement, active: Expr | None) -> Iterator[Statement]:
    match statement:
        case If(mask, condition, then, orelse, phis):
            yield Let(mask, condition)
            yield from without_branches(then, both(active, mask))
            yield from without_branches(orelse, both(active, Op("not", (mask,))))
            for phi in phis:
                yield Let(phi.var, Op("where", (mask, phi.then, phi.orelse)))
        case Store():
            yield replace(statement, mask=active)
        case Loop(body=body):
            yield replace(statement, body=without_branches(body))
        case Let() | Return():
            yield statement
        case _:
            assert_never(statement)


def both(active: Expr | None, mask: Expr) -> Expr:
    return mask if active is None else Op("and", (active, mask))


# ## 6. Proof obligations
#
# Each is one named function, which returns a reason, or None for "proven".
#
# *Independent*: no iteration touches an element that another one stores.  Proven for two accesses where some position
# of both subscripts is the same ``i + c`` of this very axis: then equal elements mean equal iterations.  The store is
# also compared with itself, since two iterations might store to one element.


def check_independent(axis: Axis, body: Block) -> str | None:
    stores = [statement for statement in statements(body) if isinstance(statement, Store)]
    reads = [expression for expression in expressions(body) if isinstance(expression, Read)]
    for store in stores:
        for other in (*stores, *reads):
            if other.ref is store.ref and not same_lane(axis, store.index, other.index):
                verb = "stores to" if isinstance(other, Store) else "reads"
                place = f"{other.ref.name}[{', '.join(map(spell, other.index))}]"
                return f"an iteration of '{axis.name}' {verb} '{place}', which another iteration may store to"
    return None


def same_lane(axis: Axis, one: Index, two: Index) -> bool:
    pairs = zip(one, two, strict=False)
    return any(a == b and isinstance(a, Affine) and a.axis is axis for a, b in pairs)


def spell(part: Affine | slice) -> str:
    match part:
        case Affine(axis, offset):
            return str(offset) if axis is None else plus(axis.name, offset)
    return ":"


def plus(text: str, offset: int) -> str:
    if text.isdigit():
        return str(int(text) + offset)
    return text if offset == 0 else f"{text} {'+' if offset > 0 else '-'} {abs(offset)}"


# *Reducible*: what is carried from one iteration to the next is a running sum, and only the sum of all is ever looked
# at.  ``next = inside + term``, where ``inside`` and ``next`` occur nowhere else.  The answer is the term, or a reason.


def sum_term(carry: Carry, body: Block) -> Expr | str:
    recurrence = f"'{carry.inside.name}' is carried from one iteration to the next, and is not just a sum"
    uses = [expression for expression in expressions(body) if expression in (carry.inside, carry.next)]
    terms = addends(definitions(body).get(carry.next))
    rest = [term for term in terms if term is not carry.inside]
    if uses != [carry.inside] or len(rest) != len(terms) - 1 or not rest:
        return recurrence
    total, *others = rest
    for term in others:
        total = Op("add", (total, term))
    return total


def definitions(body: Block) -> dict[Var, Expr]:
    return {statement.var: statement.value for statement in statements(body) if isinstance(statement, Let)}


def addends(expression: Expr | None) -> list[Expr]:
    match expression:
        case None:
            return []
        case Op("add", (left, right)):
            return addends(left) + addends(right)
    return [expression]


# *Exact where it decides*: a batched sum adds in another order, and a batched ``exp`` may round otherwise.  That is
# allowed for a value, and not for a value that an ``if`` looks at: there one bit changes the answer altogether.


def check_decisions(loop: Loop, flat: Loop, inputs: set[Var]) -> str | None:
    values = definitions(flat.body)
    for statement in statements(loop.body):
        if isinstance(statement, If) and not is_exact(statement.condition, values, inputs):
            return "an 'if' looks at a value that may be rounded differently in a batch, by a 'sum' or an 'exp'"
    return None


def is_exact(expression: Expr, values: dict[Var, Expr], inputs: set[Var]) -> bool:
    match expression:
        case Var() as var if var in values:
            return is_exact(values[var], values, inputs)
        case (Var() as var) | Read(ref=var):
            return var in inputs
        case Op(name, args):
            return name not in CALLS and all(is_exact(argument, values, inputs) for argument in args)
    return isinstance(expression, Const)


# *No live views*: ``value = x[i]`` is a view, so a later store to ``x[i]`` shows in ``value``.  Simple to refuse.


def check_views(block: Block) -> str | None:
    stored = stored_refs(block)
    for statement in statements(block):
        match statement:
            case Let(var, Read(ref)) if ref in stored:
                return f"'{var.name}' is a view of '{ref.name}', which the loop stores to"
    return None


def stored_refs(block: Block) -> set[Var]:
    return {statement.ref for statement in statements(block) if isinstance(statement, Store)}


# ## 7. The plan
#
# From the inside out, each loop gets a schedule.  ``Lanes``: the loop is gone, its body runs once.  ``Sequential``: the
# loop stays, but what is in it (or around it) is batched.  ``Kept``: the region runs as written.  A plan is data.


@production
class Lanes:
    pass


@production
class Sequential:
    reason: str


@production
class Kept:
    reason: str


Plan = dict[Axis, Lanes | Sequential | Kept]


def schedule(loop: Loop, plan: Plan) -> Loop:
    """The same loop, its running sums turned into reductions where it became lanes."""
    body = tuple(schedule(inner, plan) if isinstance(inner, Loop) else inner for inner in loop.body)
    terms = {carry: sum_term(carry, body) for carry in loop.carries}
    reasons = [check_independent(loop.axis, body), *(term for term in terms.values() if isinstance(term, str))]
    if reason := next(filter(None, reasons), None):
        plan[loop.axis] = Sequential(reason)
        return replace(loop, body=body)
    plan[loop.axis] = Lanes()
    totals = {carry.next: reduction(loop.axis, carry, term) for carry, term in terms.items()}
    return replace(loop, carries=(), body=with_totals(body, totals))


def reduction(axis: Axis, carry: Carry, term: Expr) -> Let:
    """``total = total + x[i]`` in every iteration  ->  ``total = total + Reduce(i, x[i])`` once."""
    return Let(carry.after, Op("add", (carry.init, Reduce(axis, term))))


def with_totals(body: Block, totals: dict[Var, Let]) -> Block:
    result = []
    for statement in body:
        match statement:
            case Let(var):
                result.append(totals.get(var, statement))
            case Loop(body=inner):
                result.append(replace(statement, body=with_totals(inner, totals)))
            case _:
                result.append(statement)
    return tuple(result)


# ## 8. Facts: which values are lane values
#
# A value varies with some axes (it is uniform if with none), and has a rank *in one lane*: None for a Python number.
# ``a[i, :]`` varies with ``i`` and has rank 1.  Only axes that became lanes count; a sequential index is just a number.


@dataclass(frozen=True)
class Fact:
    axes: tuple[Axis, ...]
    rank: int | None


Facts = dict[Var, Fact]


def fact_of(expression: Expr, facts: Facts, plan: Plan) -> Fact:
    match expression:
        case Const():
            return Fact((), None)
        case Var() as var:
            if var not in facts:
                raise Refusal(f"the kind of '{var.name}' is not known before the call")
            return facts[var]
        case Read(ref, index):
            return fact_of_read(fact_of(ref, facts, plan), index, plan)
        case Reduce(axis, value):
            fact = fact_of(value, facts, plan)
            if axis not in fact.axes:
                raise Refusal(f"each iteration of '{axis.name}' adds the same number")
            return replace(fact, axes=tuple(other for other in fact.axes if other is not axis))
        case Op(name, args):
            return fact_of_op(name, [fact_of(argument, facts, plan) for argument in args])
    raise Refusal(f"{expression} belongs outside of loops")


def fact_of_read(fact: Fact, index: Index, plan: Plan) -> Fact:
    picked = [part.axis for part in index if isinstance(part, Affine)]
    lanes = [axis for axis in picked if isinstance(plan.get(axis), Lanes)]
    places = [part for part in index if part == WHOLE or part.axis in lanes]
    if fact.rank is None or fact.rank < len(index):
        raise Refusal("a subscript has more positions than its tensor has dimensions")
    if tuple(lanes) != in_order(set(lanes)) or WHOLE in places[: len(lanes)]:
        raise Refusal("a subscript is not in the order of the loops (the package transposes)")
    return Fact(tuple(lanes), fact.rank - len(picked))


def fact_of_op(name: str, args: list[Fact]) -> Fact:
    axes = in_order({axis for fact in args for axis in fact.axes})
    ranks = [fact.rank for fact in args]
    if name == "sum":
        if not ranks[0]:
            raise Refusal("'torch.sum' of a single number")
        return Fact(axes, 0)
    if name == "where" and (ranks[0] != 0 or ranks[1] != ranks[2] or ranks[1] is None):
        raise Refusal("the two sides of an 'if' leave different kinds of value, or its condition is no lane value")
    known = [rank for rank in ranks if rank is not None]
    return Fact(axes, max(known, default=None))


def in_order(axes: set[Axis]) -> tuple[Axis, ...]:
    return tuple(sorted(axes, key=lambda axis: axis.depth))


def add_facts(block: Block, facts: Facts, plan: Plan) -> None:
    for statement in block:
        match statement:
            case Let(var, value):
                facts[var] = fact_of(value, facts, plan)
            case Store(ref, index, value, mask):
                place, stored = fact_of_read(fact_of(ref, facts, plan), index, plan), fact_of(value, facts, plan)
                masked = fact_of(mask, facts, plan) if mask is not None else Fact((), 0)
                if (stored.rank or 0) > place.rank or masked.rank != 0:
                    raise Refusal(f"what is stored to '{ref.name}' is no single value for its place")
                if not {*stored.axes, *masked.axes} <= {*place.axes}:
                    raise Refusal(f"several lanes store to one place of '{ref.name}'")
            case Loop(carries=carries, body=body):
                facts |= {carry.inside: fact_of(carry.init, facts, plan) for carry in carries}
                add_facts(body, facts, plan)
                for carry in carries:
                    facts[carry.after] = facts[carry.inside]
                    if facts[carry.inside] != fact_of(carry.next, facts, plan):
                        raise Refusal(f"'{carry.inside.name}' becomes another kind of value in the first iteration")


# ## 9. Emission: IR -> text
#
# A lane value is a tensor with its axes first, in the order of the nest, and then the dimensions it has in one lane.
# Operands are aligned to the axes and the rank of their operation by ``None`` in a subscript, as an expert would.


@production
class Emitter:
    facts: Facts
    plan: Plan

    def fact(self, expression: Expr) -> Fact:
        return fact_of(expression, self.facts, self.plan)

    def lines(self, block: Block, indent: str) -> Iterator[str]:
        for statement in block:
            match statement:
                case Let(var, value):
                    yield f"{indent}{var.name} = {tidy(self.text(value))}"
                case Store():
                    yield f"{indent}{self.store(statement)}"
                case Loop(axis, _, body) if isinstance(self.plan[axis], Lanes):
                    yield from self.lines(body, indent)
                case Loop():
                    yield from self.sequential(statement, indent)

    def sequential(self, loop: Loop, indent: str) -> Iterator[str]:
        """Carried values bear one name before, in and after the loop, so nothing needs a copy."""
        yield f"{indent}for {loop.axis.name} in range({loop.axis.low}, {loop.axis.high}):"
        yield from self.lines(loop.body, indent + "    ")

    def store(self, store: Store) -> str:
        view = self.view(store.ref, store.index)
        place = fact_of_read(self.facts[store.ref], store.index, self.plan)
        value = self.aligned(store.value, place)
        if store.mask is not None:
            value = f"torch.where({self.aligned(store.mask, place)}, {value}, {view})"
        return f"{view if view.endswith(']') else view + '[...]'} = {tidy(value)}"

    def text(self, expression: Expr) -> str:
        match expression:
            case Const(value):
                return repr(value)
            case Var(name):
                return name
            case Read(ref, index):
                return self.view(ref, index)
            case Reduce(axis, value):
                return f"torch.sum({self.text(value)}, {self.fact(value).axes.index(axis)})"
            case Op("sum", (value,)):
                dimensions = tuple(range(-self.fact(value).rank, 0))
                return f"torch.sum({self.text(value)}, {dimensions[0] if len(dimensions) == 1 else dimensions})"
            case Op(name, args):
                whole = self.fact(expression)
                return TEXT[name].format(*(self.aligned(argument, whole) for argument in args))
        raise Refusal(f"{expression} belongs outside of loops")

    def aligned(self, expression: Expr, wanted: Fact) -> str:
        """A value with axes (i) and rank 0, wanted with axes (i, j) and rank 1  ->  ``value[:, None, None]``."""
        text, own = self.text(expression), self.fact(expression)
        if own.rank is None:
            return text
        places = [":" if axis in own.axes else "None" for axis in wanted.axes]
        places += ["None"] * (wanted.rank - own.rank) + [":"] * own.rank
        while places and places[0] == "None":
            del places[0]
        while places and places[-1] == ":":
            del places[-1]
        return f"{text}[{', '.join(places)}]" if places else text

    def view(self, ref: Var, index: Index) -> str:
        """The elements that all lanes read or store, as a view: a slice, so it copies nothing."""
        places = [self.place(ref, position, part) for position, part in enumerate(index)]
        while places and places[-1] == ":":
            del places[-1]
        return f"{ref.name}[{', '.join(places)}]" if places else ref.name

    def is_lane(self, part: Affine | slice) -> bool:
        return isinstance(part, Affine) and isinstance(self.plan.get(part.axis), Lanes)

    def place(self, ref: Var, position: int, part: Affine | slice) -> str:
        """``i + 1`` for ``i`` in ``range(n)``  ->  ``1:n + 1``."""
        if not self.is_lane(part):
            return spell(part)
        if (part.axis.low, part.axis.high, part.offset) == ("0", f"{ref.name}.shape[{position}]", 0):
            return ":"
        start, stop = plus(part.axis.low, part.offset), plus(part.axis.high, part.offset)
        return f"{'' if start == '0' else start}:{stop}"


def tidy(text: str) -> str:
    """Without the parentheses that precedence makes needless."""
    return ast.unparse(ast.parse(text, mode="eval"))


# ## 10. Requirements
#
# What could not be proven once and for all may hold *for this call*.  The emitted text asserts it before its first
# store.  Where an assertion fails the original runs, and raises by itself if it must.
#
# - Subscripts stay inside their tensors.  Python wraps negative ones and raises ``IndexError``; a slice does neither.
# - A running sum has something to add: after no iteration, ``total = 0.0`` is still a Python number.
# - A tensor that is stored to shares no memory with another one, nor with itself.


def requirements(loop: Loop, params: tuple[Var, ...], emitter: Emitter) -> dict[str, str]:
    """Conditions, each with what it means."""
    places = [node for node in (*statements((loop,)), *expressions((loop,))) if isinstance(node, Read | Store)]
    required = {}
    for place in places:
        for position, part in enumerate(place.index):
            if emitter.is_lane(part) and emitter.place(place.ref, position, part) != ":":
                condition, meaning = stays_inside(place.ref, position, part)
                required[condition] = meaning
    for expression in expressions((loop,)):
        if isinstance(expression, Reduce):
            required[f"{expression.axis.low} < {expression.axis.high}"] = f"{expression.axis.name} takes some value"
    return required | separate_storages(loop, params, emitter.facts)


def stays_inside(ref: Var, position: int, part: Affine) -> tuple[str, str]:
    start, stop = plus(part.axis.low, part.offset), plus(part.axis.high, part.offset)
    chain = ["0"] * (not start.isdigit()) + [start, stop, f"{ref.name}.shape[{position}]"]
    return " <= ".join(chain), f"{spell(part)} stays inside {ref.name}"


def separate_storages(loop: Loop, params: tuple[Var, ...], facts: Facts) -> dict[str, str]:
    """A tensor allocated by the function itself shares no memory with an argument: proven, so there is no assert."""
    tensors = [var for var in params if facts[var].rank is not None]
    required = {}
    for ref in (var for var in tensors if var in stored_refs((loop,))):
        required[f"{ref.name}.is_contiguous()"] = f"the elements of {ref.name} do not overlap"
        for other in (var for var in tensors if var is not ref):
            storages = [f"{var.name}.untyped_storage().data_ptr()" for var in (ref, other)]
            required[" != ".join(storages)] = f"{ref.name} and {other.name} share no memory"
    return required


# ## 11. The pipeline
#
# A *region* is an outermost loop.  Regions are lifted one by one; one that is refused stays as its author wrote it,
# and its siblings go on.


@production
class Lifted:
    source: str
    plan: Plan
    stored: tuple[str, ...]
    run: Callable[..., Any]


def lift_region(loop: Loop, function: Function, facts: Facts) -> tuple[list[str], Plan]:
    """The region's lines and what became of its loops; ``facts`` of the values that it leaves are added."""
    plan: Plan = {}
    try:
        (flat,) = without_branches((loop,))
        inputs = {*function.params} - stored_refs(function.body)
        if reason := check_decisions(loop, flat, inputs) or check_views((flat,)):
            raise Refusal(reason)
        scheduled = schedule(flat, plan)
        if not any(isinstance(decision, Lanes) for decision in plan.values()):
            raise Refusal(plan[loop.axis].reason)
        known = dict(facts)
        add_facts((scheduled,), known, plan)
        emitter = Emitter(known, plan)
        tests = requirements(scheduled, function.params, emitter)
        lines = [f"    assert {test}, {meaning!r}" for test, meaning in tests.items()]
        lines += emitter.lines((scheduled,), "    ")
    except Refusal as refusal:
        return textwrap.indent(loop.text, "    ").splitlines(), {loop.axis: Kept(str(refusal))}
    if isinstance(plan[loop.axis], Lanes):
        facts |= {carry.after: known[carry.after] for carry in loop.carries}
    return lines, plan


def lift_function(original: Callable[..., Any], arguments: dict[str, Any]) -> Lifted:
    """Everything from source to callable, for arguments of these kinds."""
    function = read_function(original)
    facts = {var: Fact((), rank_of(arguments[var.name])) for var in function.params}
    values, plan = dict(arguments), {}
    lines = ["import torch", "", "", f"def {function.name}({', '.join(arguments)}):"]
    for statement in function.body:
        match statement:
            case Let(var, Host() as host):
                lines.append(f"    {var.name} = {host.text}")
                probe(var, host, values, facts)
            case Loop():
                region, decisions = lift_region(statement, function, facts)
                lines, plan = lines + region, plan | decisions
                for carry in statement.carries:
                    values.pop(carry.after.name, None)
            case Return(text):
                lines.append(f"    return {text}")
    source = "\n".join(lines) + "\n"
    stored = tuple(ref.name for ref in stored_refs(function.body).intersection(function.params))
    return Lifted(source, plan, stored, build(function.name, source))


def probe(var: Var, host: Host, values: dict[str, Any], facts: Facts) -> None:
    """Learn the kind of a value by computing it from the real ones; one that depends on a loop stays unknown."""
    try:
        value = values[var.name] = eval(host.text, {"torch": torch}, values)
    except NameError:
        values.pop(var.name, None)
        return
    except Exception as error:
        raise Refusal(f"'{host.text}' raises {error}") from error
    check_kinds(values.values())
    if isinstance(value, torch.Tensor) and not host.allocates:
        raise Refusal(f"'{var.name}' may be a view of another tensor")
    if kind_of(value) is not None:
        facts[var] = Fact((), rank_of(value))


def build(name: str, source: str) -> Callable[..., Any]:
    """Compile text such that tracebacks show its lines, and such that ``python -O`` does not remove its asserts."""
    file = f"<lifted {name} {hash(source):x}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    namespace: dict[str, Any] = {}
    exec(compile(source, file, "exec", optimize=0), namespace)
    return namespace[name]


# ## 12. Running
#
# A variant is made for the *kinds* of the arguments, never for their extents: a new length is no new variant.  The
# miniature follows no gradients and mixes no dtypes; other calls run the original.


def kind_of(value: Any) -> Any:
    match value:
        case torch.Tensor() if type(value) is torch.Tensor and value.dtype in (torch.float32, torch.float64):
            plain = not value.requires_grad and value.layout is torch.strided
            return (value.dtype, value.device, value.dim()) if plain else None
        case int() | float() if type(value) is not bool:
            return type(value)
    return None


def rank_of(value: Any) -> int | None:
    return value.dim() if isinstance(value, torch.Tensor) else None


def check_kinds(values: Any) -> None:
    tensors = [value for value in values if isinstance(value, torch.Tensor)]
    if any(kind_of(tensor) is None for tensor in tensors) or len({tensor.dtype for tensor in tensors}) > 1:
        raise Refusal("tensors of several dtypes, of integers, or that require gradients")


class Lift:
    """The decorator.  The first call of each variant also runs the loop, and compares."""

    def __init__(self, original: Callable[..., Any]) -> None:
        update_wrapper(self, original)
        self.original = original
        self.signature = inspect.signature(original)
        self.variants: dict[Any, Lifted | Refusal] = {}
        self.fallback: str | None = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        key = (torch.get_default_dtype(), *map(kind_of, bound.arguments.values()))
        is_new = key not in self.variants
        if is_new:
            self.variants[key] = variant(self.original, bound.arguments)
        match self.variants[key]:
            case Refusal() as refusal:
                self.fallback = str(refusal)
                return self.original(*args, **kwargs)
            case lifted if not is_new:
                return self.run(lifted, bound.arguments)
            case lifted:
                return self.compare(key, lifted, bound.arguments)

    def run(self, lifted: Lifted, arguments: dict[str, Any]) -> Any:
        saved = {name: arguments[name].clone() for name in lifted.stored}
        self.fallback = None
        try:
            return lifted.run(*arguments.values())
        except Exception as error:
            # Whatever it was: roll back, and let the original give its own answer or raise its own error.
            self.fallback = f"{type(error).__name__}: {error}"
            restore(arguments, saved)
            return self.original(*arguments.values())

    def compare(self, key: Any, lifted: Lifted, arguments: dict[str, Any]) -> Any:
        before = {name: arguments[name].clone() for name in lifted.stored}
        result = self.run(lifted, arguments)
        if self.fallback is not None:
            return result
        batched = [result, *(arguments[name].clone() for name in lifted.stored)]
        restore(arguments, before)
        expected = self.original(*arguments.values())
        try:
            torch.testing.assert_close(batched, [expected, *(arguments[name] for name in before)], equal_nan=True)
        except (AssertionError, TypeError) as difference:
            self.variants[key] = Refusal(f"the loop and its batched form differ, which is a bug: {difference}")
        return expected

    @property
    def source(self) -> str:
        """The text of the newest variant."""
        lifted = [made for made in self.variants.values() if isinstance(made, Lifted)]
        return lifted[-1].source if lifted else inspect.getsource(self.original)

    def report(self) -> str:
        """Loop by loop: what became of it, and why."""
        match [*self.variants.values()]:
            case [*_, Lifted(plan=plan)]:
                return "\n".join(describe(axis, plan[axis]) for axis in sorted(plan, key=lambda axis: axis.line))
            case [*_, Refusal() as refusal]:
                return f"kept: {refusal}"
        return "not called yet"


def variant(original: Callable[..., Any], arguments: dict[str, Any]) -> Lifted | Refusal:
    try:
        check_kinds(arguments.values())
        if not all(map(kind_of, arguments.values())):
            raise Refusal("an argument is neither a number nor a tensor")
        return lift_function(original, arguments)
    except Refusal as refusal:
        return refusal


def describe(axis: Axis, decision: Lanes | Sequential | Kept) -> str:
    reason = "" if isinstance(decision, Lanes) else f": {decision.reason}"
    return f"line {axis.line}, for {axis.name}: {type(decision).__name__.lower()}{reason}"


def restore(arguments: dict[str, Any], saved: dict[str, torch.Tensor]) -> None:
    for name, value in saved.items():
        if arguments[name].is_contiguous():  # another one was refused before the first store to it
            arguments[name].copy_(value)


# ## 13. Examples
#
# A dense nest: two axes, each a dimension.  ``difference`` has both, and rank 1 in each lane.


@Lift
def pairwise_distance(a, b):
    squares = torch.zeros((a.shape[0], b.shape[0]))
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            difference = a[i, :] - b[j, :]
            squares[i, j] = torch.sum(difference * difference)
    return squares


# A branch becomes a mask.


@Lift
def soften(x, threshold, above):
    out = torch.zeros_like(x)
    for i in range(x.shape[0]):
        value = x[i] - threshold
        if value > 0:
            value = 1 - torch.exp(0 - value)
            above[i] = 1.0
        out[i] = value
    return out


# A running sum becomes a reduction, and a nest of them becomes two.


@Lift
def energy(field, weight):
    total = 0.0
    for i in range(field.shape[0]):
        for j in range(field.shape[1]):
            total = total + field[i, j] * field[i, j] * weight[j]
    return total


# Time is a recurrence, so its loop stays; but all samples take each step at once.


@Lift
def decay(x):
    state = torch.zeros_like(x)
    for t in range(1, x.shape[0]):
        for sample in range(x.shape[1]):
            state[t, sample] = state[t - 1, sample] * 0.5 + x[t, sample]
    return state


# The same with the loops the other way round, and a carried value instead of a stored one: ``level`` has all samples.


@Lift
def final_level(x, out):
    for sample in range(x.shape[1]):
        level = x[0, sample]
        for t in range(1, x.shape[0]):
            level = level * 0.5 + x[t, sample]
        out[sample] = level
    return out


# A recurrence with nothing around it is kept.  (The package knows that it is a scan.)


@Lift
def smooth(x):
    out = torch.zeros_like(x)
    for i in range(1, x.shape[0]):
        out[i] = out[i - 1] * 0.5 + x[i]
    return out


# Lifted when what it requires holds, and else the original: ``x`` may be too short, or ``out`` a view of it.


@Lift
def differences(x, out):
    for i in range(out.shape[0]):
        out[i] = x[i + 1] - x[i]
    return out


def examples(size: int) -> list[tuple[Lift, tuple[Any, ...]]]:
    """Each example with arguments of this size."""
    generator = torch.Generator().manual_seed(size)

    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=generator)

    return [
        (pairwise_distance, (draw(size, 3), draw(size + 1, 3))),
        (soften, (draw(size), 0.25, torch.zeros(size))),
        (energy, (draw(size, size + 1), draw(size + 1))),
        (decay, (draw(size, 4),)),
        (final_level, (draw(size + 1, 4), torch.zeros(4))),
        (smooth, (draw(size),)),
        (differences, (draw(size + 1), torch.zeros(size))),
    ]


def seconds(function: Callable[..., Any], *arguments: Any) -> float:
    start = time.perf_counter()
    function(*arguments)
    return time.perf_counter() - start


def show(function: Lift, arguments: tuple[Any, ...]) -> None:
    function(*arguments)
    print("=" * 100, textwrap.dedent(inspect.getsource(function.original)), sep="\n")
    print(function.report(), "", function.source, sep="\n")
    before, after = seconds(function.original, *arguments), seconds(function, *arguments)
    print(f"loop {before * 1e3:.2f} ms, lifted {after * 1e3:.2f} ms")


def main() -> None:
    for function, arguments in examples(40):
        show(function, arguments)
    print("=" * 100)
    x = torch.arange(5.0)
    differences(x, x[:4])
    print("overlapping memory: the original ran, since not", differences.fallback)
    try:
        differences(x, torch.zeros(5))
    except IndexError as error:
        print(f"too short: the original ran, since not {differences.fallback}\nit raised: {error}")


# ## 14. Where each piece lives in the package
#
# | here                                   | room        | what the package adds                                |
# |----------------------------------------|-------------|------------------------------------------------------|
# | 1 the grammar, 4 walking               | `ir`        | more nodes, spans, a printer, a spec, an interpreter |
# | 2 the operations                       | `ops`       | many rows: dtypes, requirements, NumPy, C++          |
# | 3 `Reader`                             | `frontend`  | regions in any code, calls inlined, `break`, `while` |
# | 6 `is_exact`, 8 facts, 11 `probe`      | `analysis`  | kinds, dtypes, aliases, effects, strided subscripts  |
# | 5 without branches, 6 proofs, 7 a plan | `vectorize` | ragged axes, scans, native kernels, waves, keys      |
# | nothing                                | `optimize`  | contractions, common subexpressions, memory plans    |
# | 9 `Emitter`, 10 requirements           | `emit`      | NumPy, C++ and CUDA, comments, safe masked operands  |
# | 11 `build`                             | `build`     | the system compiler, kernels cached on disk          |
# | 12 `Lift.run`, `kind_of`, `restore`    | `runtime`   | gradients, random streams, budgets, cheap guards     |
# | 12 `Lift.report`, `describe`           | `explain`   | times, carets, hints, text, HTML and JSON            |
#
# The order of the arrows is `lift_function` here, and one room, `pipeline`, there.

if __name__ == "__main__":
    main()
