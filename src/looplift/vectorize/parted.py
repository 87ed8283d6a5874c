"""Linear maps of joined tensors, of which a loop carries some: the sum of the maps of each.

for x_t in x:                                      for x_t in x:
    h = torch.tanh(layer(torch.cat([x_t, h], 1)))      h = torch.tanh(linear(x_t, w[:, :n], b) + linear(h, w[:, n:]))

What the loop does not carry is then computed for all iterations at once, and nothing is joined in a step. The sum is
the same in another order: it is not parted where it decides something, nor in half precision.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import torch

from looplift.base.data import dataclass, replace
from looplift.ir.facts import Facts
from looplift.ir.grammar import (
    Atom,
    Block,
    Const,
    Function,
    Group,
    If,
    Let,
    Loop,
    Op,
    Operand,
    Range,
    Require,
    Slice,
    Statement,
    Var,
    children,
    definitions,
    uses,
    walk,
)
from looplift.ops import table
from looplift.vectorize.flow import Flow

NONE = Const(None)
JOINS = ("cat", "concat", "concatenate")
PRODUCTS = ("matmul", "mm", "mv")


def with_parted_products(function: Function, facts: Facts) -> Function | None:
    """The same function with such maps in parts; None if there is none, or products are rounded otherwise."""
    if torch._C._is_any_autocast_enabled():
        return None
    made = _Parted(function, facts)
    body = made.block(function.body)
    if not made.found:
        return None
    attributes = dict(function.attributes)
    attributes["paths"] = attributes["paths"] | {var: path for var, (path, _) in made.given.items()}
    attributes["values"] = attributes["values"] | {var: value for var, (_, value) in made.given.items()}
    attributes["guards"] = [*attributes["guards"], *((path, None) for path in made.absent)]
    return replace(function, params=(*function.params, *made.given), body=body, attributes=attributes)


@dataclass(frozen=True, eq=False)
class _Map:
    """``value @ weight`` where ``weight`` has the rows of the dimension that is summed last, or first."""

    value: Var
    weight: Atom
    bias: Atom | None
    name: str


class _Parted:
    def __init__(self, function: Function, facts: Facts) -> None:
        self.function, self.facts, self.flow = function, facts, Flow(function)
        self.lets = {s.var: s.op for s in walk(function.body) if isinstance(s, Let)}
        self.given: dict[Var, tuple[str, Any]] = {}
        self.absent: set[str] = set()
        """Where layers have no bias."""
        self.numbers = itertools.count()
        self.inits: dict[Var, Var] = {}
        """Of the loop that is looked at, what each carried value was before it."""
        self.joined: set[Var] = set()
        self.results = {atom for _, atom in function.results}
        self.found = False

    def block(self, block: Block) -> Block:
        return Block(tuple(map(self.statement, block)))

    def statement(self, statement: Statement) -> Statement:
        match statement:
            case If(then=then, orelse=orelse):
                return replace(statement, then=self.block(then), orelse=self.block(orelse))
            case Loop():
                return self.loop(replace(statement, body=self.block(statement.body)))
        return statement

    def loop(self, loop: Loop) -> Loop:
        if not isinstance(loop.domain, Range) or loop.stop is not None:
            return loop
        carried = _after(loop)
        inits = {c.inside: c.init for c in loop.carries}
        self.inits = {inside: init for inside, init in inits.items() if isinstance(init, Var)}
        cycle = carried & _before(loop)
        own = {s.var for s in loop.body if isinstance(s, Let)}
        out: list[Statement] = []
        for statement in loop.body:
            made = None
            if isinstance(statement, Let) and statement.var in cycle and statement.var not in self.flow.deciding:
                made = self.parts(statement, carried, own)
            out += made or [statement]
        return replace(loop, body=Block(tuple(self.read_still(out))))

    def read_still(self, body: list[Statement]) -> list[Statement]:
        """A body without the joins whose maps are all in parts now, and the lists of what they joined."""
        for _ in range(2):
            read = {atom for s in body for inner in _within(s) for atom in uses(inner)}
            read |= self.results
            body = [s for s in body if not (isinstance(s, Let) and s.var in self.joined and s.var not in read)]
        return body

    def parts(self, let: Let, carried: set[Var], own: set[Var]) -> list[Statement] | None:
        """The map in two parts, what is carried and what is not, and their sum."""
        linear = self.map_of(let.op)
        if linear is None or linear.value not in own or linear.weight in carried or linear.bias in carried:
            return None
        items = self.items_of(linear.value)
        kinds = [self.facts.kind(one) for one in (linear.value, let.var, *(items or ()))]
        if not items or any(kind.family != "tensor" or kind.dtype != kinds[0].dtype for kind in kinds):
            return None
        if kinds[0].dtype not in (torch.float32, torch.float64):
            return None
        groups = [(key, list(of)) for key, of in itertools.groupby(items, carried.__contains__)]
        if len(groups) != 2:
            return None
        out: list[Statement] = []

        def emit(hint: str, name: str, *args: Operand) -> Var:
            var = Var(f"{hint}.part{next(self.numbers)}")
            out.append(Let(var, Op(name, args), let.span))
            return var

        self.joined.add(linear.value)
        self.joined.update(arg for arg in self.lets[linear.value].args if isinstance(arg, Var))
        (free,), (held,) = ([of for key, of in groups if key is side] for side in (False, True))
        measured = [self.inits.get(item, item) for item in held]  # as wide as before the loop, in each step
        known = all(item in self.inits for item in held)
        widths: list[Atom] = []
        for item in measured if known else free:
            shape = emit("shape", "attribute", item, Const("shape"))
            widths.append(emit("width", "getitem", shape, Const(self.facts.kind(item).rank - 1)))
        width = widths[0]
        for other in widths[1:]:
            width = emit("width", "add", width, other)
        if groups[0][0] is not known:
            width = emit("width", "neg", width)
        cuts = (Slice(NONE, width, NONE), Slice(width, NONE, NONE))
        sides: list[Atom] = []
        for cut, (is_carried, of) in zip(cuts, groups, strict=True):
            value = of[0] if len(of) == 1 else emit("joined", "torch.cat", Group("list", tuple(of)), Const(-1))
            weight = emit("weight", "getitem", linear.weight, self.columns(linear, cut))
            if linear.name == "linear" and is_carried:  # without the bias, by a matrix that no step turns
                sides.append(emit(let.var.hint, "matmul", value, emit("weight", "method.t", weight)))
            elif linear.name == "linear":
                bias = () if linear.bias is None else (linear.bias,)
                sides.append(emit(let.var.hint, "torch.nn.functional.linear", value, weight, *bias))
            else:
                pair = (weight, value) if linear.name == "before" else (value, weight)
                sides.append(emit(let.var.hint, "matmul", *pair))
        self.require_joined(emit, out, [self.inits.get(item, item) for item in items], let)
        out.append(Let(let.var, Op("add", tuple(sides)), let.span))
        self.found = True
        return out

    def require_joined(self, emit: Callable[..., Var], out: list[Statement], items: list[Var], let: Let) -> None:
        """Tensors that are joined have the same sizes but in that dimension; those of a sum are stretched."""
        first, *others = [emit("shape", "attribute", item, Const("shape")) for item in items]
        for dim in range(self.facts.kind(items[0]).rank - 1):
            size = emit("size", "getitem", first, Const(dim))
            for shape in others:
                same = emit("same", "eq", size, emit("size", "getitem", shape, Const(dim)))
                out.append(Require(same, "tensors that are joined have other sizes", let.span))

    def columns(self, linear: _Map, cut: Slice) -> Operand:
        return cut if linear.name == "after" else Group("tuple", (Slice(NONE, NONE, NONE), cut))

    def map_of(self, op: Op) -> _Map | None:
        """What is mapped, and by what, if an operation is a linear map of one tensor."""
        base, args = table.base_name(op.name), op.args
        if op.name == "module":
            return self.layer(op)
        if op.kwargs or not all(isinstance(arg, Var | Const) for arg in args):
            return None
        if base == "linear" and len(args) in (2, 3) and isinstance(args[0], Var):
            bias = args[2] if len(args) == 3 and args[2] is not None else None
            bias = None if isinstance(bias, Const) and bias.value is None else bias
            return _Map(args[0], args[1], bias, "linear")  # type: ignore[arg-type]
        if base not in PRODUCTS or len(args) != 2 or not all(isinstance(arg, Var) for arg in args):
            return None
        first, second = args
        ranks = [self.facts.kind(arg).rank for arg in args]  # type: ignore[arg-type]
        if self.items_of(first) and ranks[1] == 2:  # type: ignore[arg-type]
            return _Map(first, second, None, "after")  # type: ignore[arg-type]
        if self.items_of(second) and ranks == [2, 1]:  # type: ignore[arg-type]
            return _Map(second, first, None, "before")  # type: ignore[arg-type]
        return None

    def layer(self, op: Op) -> _Map | None:
        callee, *args = op.args
        if op.kwargs or len(args) != 1 or not isinstance(callee, Const) or not isinstance(args[0], Var):
            return None
        if type(callee.value) is not torch.nn.Linear or not callee.path:
            return None
        weight = self.parameter(f"{callee.path}.weight", callee.value.weight)
        if callee.value.bias is None:
            self.absent.add(f"{callee.path}.bias")
            return _Map(args[0], weight, None, "linear")
        return _Map(args[0], weight, self.parameter(f"{callee.path}.bias", callee.value.bias), "linear")

    def parameter(self, path: str, value: Any) -> Var:
        for var, other in (*self.function.attributes["paths"].items(), *((v, p) for v, (p, _) in self.given.items())):
            if other == path:
                return var
        var = Var(f"{path.replace('.', '_')}.part{next(self.numbers)}")
        self.given[var] = path, value
        return var

    def items_of(self, value: Atom) -> list[Var] | None:
        """The tensors that a value is, one after the other in its last dimension."""
        op = self.lets.get(value) if isinstance(value, Var) else None
        if op is None or not op.name.startswith("torch.") or table.base_name(op.name) not in JOINS or not op.args:
            return None
        listed = op.args[0]
        made = self.lets.get(listed) if isinstance(listed, Var) else None
        if made is not None and made.name in ("list", "tuple"):
            listed = Group("list", made.args)
        given = [*op.args[1:], *(value for key, value in op.kwargs if key in ("dim", "axis"))]
        dim = given[0] if len(given) == 1 else Const(0)
        if not isinstance(listed, Group) or not isinstance(dim, Const) or len(op.kwargs) > 1 or len(given) > 1:
            return None
        rank = self.facts.kind(value).rank
        if type(dim.value) is not int or dim.value % max(rank, 1) != rank - 1:
            return None
        items = [item for item in listed.items if isinstance(item, Var)]
        same = all(self.facts.kind(item).rank == rank for item in items)
        return items if same and len(items) == len(listed.items) > 1 else None


def _after(loop: Loop) -> set[Var]:
    """What an iteration computes of what it is given by the one before."""
    found = {carry.inside for carry in loop.carries if carry.next is not carry.inside}
    for statement in loop.body:
        if any(atom in found for inner in _within(statement) for atom in uses(inner)):
            found.update(var for inner in _within(statement) for var in definitions(inner))
    return found


def _before(loop: Loop) -> set[Var]:
    """What an iteration computes for the next one."""
    found = {carry.next for carry in loop.carries if isinstance(carry.next, Var)}
    for statement in reversed(loop.body.statements):
        if any(var in found for inner in _within(statement) for var in definitions(inner)):
            found.update(atom for inner in _within(statement) for atom in uses(inner) if isinstance(atom, Var))
    return found


def _within(statement: Statement) -> list[Statement]:
    return [statement, *(inner for block in children(statement) for inner in walk(block))]
