"""Gradients that a loop takes are written out: the derivative of each operation between an output and its inputs.

h = tanh(linear(x, w, b))                      h = tanh(linear(x, w, b))
loss = sum(h)                                  loss = sum(h)
g = slope_of(loss, w)              ->          slope = ones_like(loss)
                                               slope = expand_as(slope, h)
                                               slope = mul(slope, sub(1, mul(h, h)))
                                               g = detach(outer(slope, x))

So they are operations like others, in lanes or not, and have gradients of their own. What is written takes part in
gradients where torch's own does; where that is not known the loop is kept. Operations without a rule for a derivative
get their slopes by torch, from ``slopes_through`` (``ir/slopes.py``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterator
from functools import cached_property
from typing import Any

from looplift.base.data import dataclass, replace
from looplift.base.errors import NotLiftable
from looplift.base.spans import Span
from looplift.ir.derivatives import RULES
from looplift.ir.facts import Facts
from looplift.ir.grammar import (
    Append,
    Atom,
    Block,
    Carry,
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
    Statement,
    Store,
    Var,
    While,
    atoms,
    operands,
    uses,
    walk,
)
from looplift.ir.slopes import GRADIENT, Backwards, Slopes, stops

PULLED_BACK = "torch.autograd.grad"
FLOWS = frozenset(
    """tuple list zipped_lists stack copy cat norm logsumexp amax amin maximum minimum clamp where outer softplus silu
    gelu expand expand_as iter_item unpack""".split()
)
"""Operations without a rule, whose result asks for a gradient if one of their operands does."""


UNLESS_NEEDED = frozenset("contiguous resolve_conj resolve_neg".split())
"""They hand out what they are given where it lies in memory as they want it, which guards do not hold."""
MAY_RAISE = frozenset("cross_entropy nll_loss binary_cross_entropy embedding index_select gather".split())
"""Operations with a rule that raise for some values."""


def takes_gradients(function: Function) -> bool:
    return any(isinstance(s, Let) and s.op.name == GRADIENT for s in walk(function.body))


@dataclass(frozen=True, eq=False)
class Torch:
    """What torch tells of an operation, some of its operands and their values.

    ``backwards``: what it goes back through; ``asks``: whether the result asks for a gradient where these operands do;
    ``may_raise``: whether it raises for some values of operands of the same kinds.
    """

    backwards: Backwards
    asks: Callable[[Op, Container[Atom], Callable[[Atom], Any]], bool]
    may_raise: Callable[[Op], bool]


def with_next_gradient(function: Function, facts: Facts, torch: Torch) -> Function:
    """The function with the first of its gradients, and those taken beside it, written out."""
    first = next(s for s in walk(function.body) if isinstance(s, Let) and s.op.name == GRADIENT)
    block = next(block for block in _blocks(function.body) if first in block.statements)
    lets = [s for s in block if isinstance(s, Let) and s.op.name == GRADIENT and s.op.args[0] is first.op.args[0]]
    beside = [let for let in lets if let.op.kwargs == first.op.kwargs]
    return _Differentiated(function, facts, torch, first, beside).rewritten()


def refuse(message: str, span: Span) -> NotLiftable:
    return NotLiftable("gradient", message, span)


class _Differentiated:
    """One output, and the inputs that it is differentiated by."""

    def __init__(self, function: Function, facts: Facts, torch: Torch, first: Let, beside: list[Let]):
        self.function, self.facts, self.first, self.beside = function, facts, first, beside
        self.torch, self.told = torch, dict[tuple[Var, frozenset[Atom]], bool]()
        self.output: Any = first.op.args[0]
        self.inputs: list[Any] = []
        options = dict(first.op.kwargs)
        self.creates, self.retains = (_flag(options[name]) for name in ("creates", "retains"))
        self.seed = options.get("seed")
        self.lets = {s.var: s for s in walk(function.body) if isinstance(s, Let)}
        self.loops = [s for s in walk(function.body) if isinstance(s, Loop)]
        """Outer ones in front of those inside of them."""
        self.order = {s.var: k for k, s in enumerate(self.lets.values())}
        self.leaves = {var for var in function.attributes["leaves"] if self._is_made_here(var)}
        read = self.reads()
        self.inputs = [self._name_in(read, let.op.args[1]) for let in beside]
        values = function.attributes["values"]
        asking = [var for var in function.params if var in read and getattr(values[var], "requires_grad", False)]
        self.computed = [var for var in asking if not values[var].is_leaf and var not in self.inputs]
        """Live-ins that torch knows how they were made, before the loop: it takes their slopes back to the inputs."""
        self.ends = {*self.inputs, *self.computed}

    def _name_in(self, read: set[Atom], one: Any) -> Any:
        """The name of an input by which the output is made of it, where it is reached by several."""
        same = next((names for names in self.function.attributes["same"] if one in names), {one})
        found = [name for name in same if name in read]
        if len(found) > 1:
            raise refuse("a gradient by a tensor that has several names", self.first.span)
        return found[0] if found else one

    def rewritten(self) -> Function:
        through = self.on_the_way()
        self.check(through)
        backwards = self.torch.backwards
        slopes = Slopes(self.facts, self.lets, self._names(), self.first.span, backwards, creates=self.creates)
        slopes.begin(self.output, self.seed, unread=self.may_raise(through))
        for var in sorted(self.inner(through), key=self.order.__getitem__, reverse=True):
            slopes.through(self.lets[var], through, RULES)
        if not self.computed and any(one not in slopes.of for one in self.inputs):
            raise refuse("a gradient by something that the output is not seen to depend on", self.first.span)
        ends = {}
        back = self.taken_back(slopes) if self.computed else {}
        for let, one in zip(self.beside, self.inputs):
            slope = back[one] if one in back else slopes.of[one]
            made = next((one for one in slopes.lets if isinstance(one, Let) and one.var is slope), None)
            op = Op("method.clone", (slope,)) if made is None else made.op
            ends[let.var] = Let(let.var, op, let.span)
        read = {atom for one in slopes.lets for atom in uses(one)}
        lets = [one for one in slopes.lets if not isinstance(one, Let) or one.var in read]
        return replace(self.function, body=self._placed(self.function.body, lets, ends))

    def _names(self) -> Iterator[str]:
        taken = {var.name for s in walk(self.function.body) for var in _bound(s)}
        number = 0
        while True:
            number += 1
            if f"slope.{number}" not in taken:
                yield f"slope.{number}"

    def _placed(self, block: Block, lets: list[Let | Require], ends: dict[Var, Let]) -> Block:
        made: list[Statement] = []
        for statement in block:
            if statement is self.first:
                made += lets
            match statement:
                case Let(var=var):
                    made.append(ends.get(var, statement))
                case If(then=then, orelse=orelse):
                    both = self._placed(then, lets, ends), self._placed(orelse, lets, ends)
                    made.append(replace(statement, then=both[0], orelse=both[1]))
                case Loop(domain=domain, body=body):
                    if isinstance(domain, While):
                        domain = replace(domain, block=self._placed(domain.block, lets, ends))
                    made.append(replace(statement, domain=domain, body=self._placed(body, lets, ends)))
                case _:
                    made.append(statement)
        return Block(tuple(made))

    # ------------------------------------------------------------ what depends on what

    def on_the_way(self) -> set[Var]:
        """What the output is made of that depends on an input, the inputs among it."""
        found: dict[Atom, bool] = {}

        def depends(atom: Atom) -> bool:
            if atom in found:
                return found[atom]
            let = self.lets.get(atom) if isinstance(atom, Var) else None
            found[atom] = atom in self.ends
            if let is not None and not stops(let.op) and not self.is_discrete(let.var):
                found[atom] |= any([depends(one) for one in operands(let.op)])
            return found[atom]

        depends(self.output)
        return {atom for atom, is_on in found.items() if is_on and isinstance(atom, Var)}

    def is_discrete(self, atom: Atom) -> bool:
        """Whether a value is a tensor without a gradient, as it is of integers or truth values."""
        kind = self.facts.kind(atom)
        return kind.is_array and not any(word in str(kind.dtype) for word in ("float", "complex"))

    def check(self, through: set[Var]) -> None:
        """Refuses what the loop would raise for, and what may depend on an input by a way that is not seen."""
        span = self.first.span
        if self.computed:
            self.check_computed(through)
        elif any(one not in through or not isinstance(one, Var) for one in self.inputs):
            raise refuse("a gradient by something that the output is not seen to depend on", span)
        values = self.function.attributes["values"]
        if len(self.inputs) > 1 and any(one in values and not values[one].is_leaf for one in self.inputs):
            raise refuse("a gradient by tensors that may be made of one another", span)
        made = set().union(*map(self.dependents, self.ends))
        for one in self.inputs:
            if any(other is not one and other not in self.lets for other in self.dependents(one) & {*self.inputs}):
                raise refuse("a gradient by tensors that may be made of one another", span)
        for atom in self.reads():
            if atom in made and atom not in through and not self.is_discrete(atom):
                raise refuse(f"a gradient through '{_hint(atom)}', which loops or branches make", span)
        asking = self.asking()
        if any(one not in asking for one in self.inputs):
            raise refuse("a gradient by something that asks for none", span)
        dtypes = {self.facts.kind(var).dtype for var in through if self.facts.kind(var).is_array}
        if len(dtypes) != 1 or str(next(iter(dtypes))) not in ("torch.float32", "torch.float64"):
            raise refuse("a gradient through values of several dtypes", span)
        grown = {s.ref for s in walk(self.function.body) if isinstance(s, Append | Store)}
        if through & grown:
            raise refuse("a gradient through something that is changed", span)
        for var in self.inner(through):
            name = self.lets[var].op.name
            if name.rpartition(".")[0] in ("math", "cmath", "inplace"):
                raise refuse(f"a gradient through '{name}', of which no derivative is known", span)
        self.check_modules()
        if not self.retains:
            self.check_freed(through)

    def check_modules(self) -> None:
        """A module that stays one has parameters that are not seen: none of them may be an input."""
        values = self.function.attributes["values"]
        held = [values[one] for one in self.inputs if one in values]
        for let in (self.lets[var] for var in self.reads() if var in self.lets):
            module = let.op.args[0].value if let.op.name == "module" and isinstance(let.op.args[0], Const) else None
            if module is not None and any(one is other for one in module.parameters() for other in held):
                raise refuse(f"a gradient by a parameter of '{let.op.args[0]!r}'", self.first.span)

    def check_computed(self, through: set[Var]) -> None:
        """Of tensors that were computed before the loop torch itself knows how: from these on it goes back alone."""
        import torch

        values = self.function.attributes["values"]
        leaves = [values.get(one) for one in self.inputs]
        if self.creates or not self.retains or any(value is None or not value.is_leaf for value in leaves):
            raise refuse("a gradient through tensors that were computed before the loop", self.first.span)
        roots = [values[one] for one in self.computed if one in through]
        if not roots:
            raise refuse("a gradient by something that the output is not seen to depend on", self.first.span)
        try:
            with torch.enable_grad():
                torch.autograd.grad(roots, leaves, [torch.zeros_like(one) for one in roots], retain_graph=True)
        except RuntimeError as error:
            raise refuse(str(error), self.first.span) from None

    def taken_back(self, slopes: Slopes) -> dict[Any, Atom]:
        """The slopes of the inputs, from those of what was computed before the loop, and their own."""
        roots = [one for one in self.computed if one in slopes.of]
        parts = Group("tuple", tuple(roots)), Group("tuple", tuple(self.inputs))
        seeds = Group("tuple", tuple(slopes.let("method.contiguous", slopes.of[one]) for one in roots))
        every = slopes.let(PULLED_BACK, *parts, seeds, retain_graph=Const(True))
        found: dict[Any, Atom] = {}
        for place, one in enumerate(self.inputs):
            slope = slopes.let("getitem", every, Const(place))
            found[one] = slopes.let("add", slope, slopes.of[one]) if one in slopes.of else slope
        return found

    def may_raise(self, through: set[Var]) -> bool:
        """Whether an operation of the output may raise for some values: it then runs, though no slope reads it."""
        for let in (self.lets[var] for var in self.reads() if var in self.lets):
            base = _base(let.op)
            if base in ("getitem", "iter_item"):
                if any(isinstance(one, Var) and self.facts.kind(one).is_array for one in atoms(let.op.args[1])):
                    return True
            elif base in MAY_RAISE:
                if let.var not in through:
                    return True
            elif base not in RULES and not stops(let.op) and base not in FLOWS and self.torch.may_raise(let.op):
                return True
        return False

    def inner(self, through: set[Var]) -> set[Var]:
        """The results on the way of which an operand is on the way too."""
        lets = [self.lets[var] for var in through if var in self.lets and not stops(self.lets[var].op)]
        return {let.var for let in lets if any(one in through for one in operands(let.op))}

    def reads(self) -> set[Atom]:
        """All that the output is made of."""
        found: set[Atom] = set()
        queue: list[Atom] = [self.output] if isinstance(self.output, Var) else []
        while queue:
            atom = queue.pop()
            if atom in found or not isinstance(atom, Var):
                continue
            found.add(atom)
            let = self.lets.get(atom)
            if let is not None and not stops(let.op):
                queue += operands(let.op)
        return found

    def check_freed(self, through: set[Var]) -> None:
        """Without ``retain_graph`` nothing else may go back through what this gradient went through."""
        inner = self.inner(through)
        here = {s.var for s in self._siblings()}
        after = self.reached(inner)
        others = [s for s in self.lets.values() if s.op.name == GRADIENT and s not in self.beside]
        if inner - here or self.escapes(after) or any(s.op.args[0] in after for s in others):
            raise refuse("a gradient after which others go back through the same operations", self.first.span)

    def _siblings(self) -> list[Let]:
        """The operations of the block in which the gradient is taken."""
        for block in _blocks(self.function.body):
            if self.first in block.statements:
                return [s for s in block if isinstance(s, Let)]
        return []

    def asking(self, neutral: Callable[[Atom], bool] = lambda _: False) -> set[Atom]:
        """What asks for a gradient for sure, after a loop that may run no iteration also where ``neutral`` ones began.

        A carried value does if the one before the loop does and, as long as the carried ones do, the next one does.
        """
        values = self.function.attributes["values"]
        sources = {var for var, value in values.items() if getattr(value, "requires_grad", False)} | self.leaves
        carries = [carry for loop in self.loops for carry in loop.carries]
        while True:
            assumed = {carry.inside for carry in carries}
            found = self.surely_reached(sources | assumed, neutral)
            kept = [carry for carry in carries if carry.init in found and carry.next in found]
            if len(kept) == len(carries):
                return found
            carries = kept

    def may_ask(self) -> set[Atom]:
        """Live-ins that ask for a gradient, or hold what does, and the results of modules and functions that do."""
        found = {var for var, value in self.function.attributes["values"].items() if _may_ask(value)}
        for let in self.lets.values():
            if let.op.name == "call" or any(isinstance(one, Const) and _may_ask(one.value) for one in operands(let.op)):
                found.add(let.var)
        return found

    def surely_reached(self, sources: set[Any], neutral: Callable[[Atom], bool]) -> set[Atom]:
        """What is made of some values, in each iteration, by operations that gradients are known to flow through."""
        found, before = set(sources), -1
        while before != len(found):
            before = len(found)
            for statement in walk(self.function.body):
                match statement:
                    case Let(var=var, op=op) if var not in found and any(one in found for one in operands(op)):
                        if self.surely_flows(statement, found):
                            found.add(var)
                    case Append(ref=ref, value=value) | Store(ref=ref, value=value) if value in found:
                        found.add(ref)
                    case If(phis=phis):
                        found |= {phi.var for phi in phis if phi.then in found and phi.orelse in found}
                    case Loop(carries=carries):
                        for carry in (carry for carry in carries if carry.next in found):
                            if carry.init in found or neutral(carry.init) or _has_an_iteration(statement):
                                found.add(carry.after)
        return found

    def surely_flows(self, let: Let, asking: set[Any]) -> bool:
        """Whether the result of an operation asks for a gradient, as some of its operands do."""
        if stops(let.op) or let.op.name == GRADIENT:
            return False
        if _base(let.op) in RULES or _base(let.op) in FLOWS:
            return True
        key = let.var, frozenset(one for one in operands(let.op) if one in asking)
        if key not in self.told:
            self.told[key] = self.torch.asks(let.op, key[1], lambda atom: self.facts[atom].sample)
        return self.told[key]

    def dependents(self, one: Any) -> set[Atom]:
        """What may be made of the tensor that a name stands for, where this name is read."""
        for loop in self.loops:
            for carry in loop.carries:
                if carry.inside is one:
                    return self.dependents_in_turn(loop, carry)
        if self._is_made_here(one):
            body = next((loop.body for loop in reversed(self.loops) if self.lets[one] in [*walk(loop.body)]), None)
            return self.reached({one}, body)
        return self.reached(self.names_of(one))

    def dependents_in_turn(self, loop: Loop, carry: Carry) -> set[Atom]:
        """What may be made of a carried tensor in the iteration that it is carried into.

        It is the one from before the loop there, or the one that the iteration before has handed on.
        """
        first, nexts = self.dependents(carry.init), self.names_of(carry.next)
        if any(other.inside in nexts for other in loop.carries if other is not carry):
            raise refuse(f"a gradient by '{carry.hint}', which is another of the iterations before", self.first.span)
        entered = {other.inside for other in loop.carries if other is not carry and other.init in first}
        while True:
            later = self.reached(nexts | entered if carry.inside in nexts else nexts, loop.body)
            more = {other.inside for other in loop.carries if other is not carry and other.next in later}
            if more <= entered:
                inside = {atom for atom in first if atom not in self.bound_in(loop)}
                return self.reached({carry.inside} | entered | inside, loop.body)
            entered |= more

    def bound_in(self, loop: Loop) -> set[Var]:
        return {var for statement in walk(Block((loop,))) for var in _bound(statement)}

    def names_of(self, one: Any) -> set[Atom]:
        """A name, and others that may stand for the same tensor, or hold it."""
        found: set[Atom] = set()
        queue = [one]
        while queue:
            if (atom := queue.pop()) in found:
                continue
            found.add(atom)
            if atom in self.lets and not self._is_made_here(atom):
                queue += operands(self.lets[atom].op)
            for statement in walk(self.function.body):
                if isinstance(statement, If):
                    queue += [a for phi in statement.phis if phi.var is atom for a in (phi.then, phi.orelse)]
                elif isinstance(statement, Loop):
                    queue += [a for c in statement.carries if c.after is atom for a in (c.init, c.next)]
        return found

    def reached(self, sources: set[Any], body: Block | None = None) -> set[Atom]:
        """What may be made of some values by operations that gradients flow through, in one run of a block."""
        found, before = set(sources), -1
        while before != len(found):
            before = len(found)
            for statement in walk(self.function.body if body is None else body):
                match statement:
                    case Let(var=var, op=op) if any(one in found for one in operands(op)):
                        if not stops(op) and not self.is_discrete(var):
                            found.add(var)
                    case Append(ref=ref, value=value) | Store(ref=ref, value=value) if value in found:
                        found.add(ref)
                    case If(phis=phis):
                        found |= {phi.var for phi in phis if phi.then in found or phi.orelse in found}
                    case Loop(carries=carries):
                        for carry in carries:
                            if carry.next in found or carry.init in found:
                                found |= {carry.inside, carry.after}
        return found

    def escapes(self, found: set[Atom]) -> bool:
        """Whether one of some values leaves the function."""
        if any(atom in found for _, atom in self.function.results):
            return True
        return any(param in found and param not in self.inputs for param in self.function.params)

    def _is_made_here(self, var: Atom) -> bool:
        """Whether a tensor is one that nobody else holds."""
        let = self.lets.get(var) if isinstance(var, Var) else None
        if let is None or let.op.name in ("copy", "attribute", "unpack"):
            return False
        if let.op.name in ("getitem", "iter_item"):
            return self.facts[next(atoms(let.op.args[0]))].kind.is_array
        shown = [one for one in operands(let.op) if self._may_be(let, one)]
        return all(self._is_made_here(one) and self.counts[one] == 1 for one in shown)

    def _may_be(self, let: Let, operand: Atom) -> bool:
        """Whether the result of an operation may be the very tensor that it is given."""
        known = self.facts.of
        if let.op.name == GRADIENT or operand not in known or let.var not in known:
            return False
        if not self.facts.kind(operand).is_array:
            return False
        return _base(let.op) in UNLESS_NEEDED or self.facts[let.var].sample is self.facts[operand].sample

    @cached_property
    def counts(self) -> Counter[Atom]:
        """How often values are read."""
        found = Counter[Atom](atom for statement in walk(self.function.body) for atom in uses(statement))
        found.update(atom for _, atom in self.function.results)
        return found


def check_leaves(function: Function, facts: Facts, torch: Torch) -> None:
    """What is made of a tensor that the region asks gradients for asks for one too, for another reason as well."""
    let = next((s for s in walk(function.body) if isinstance(s, Let)), None)
    leaves = set(function.attributes["leaves"])
    if not leaves or let is None:
        return
    one = _Differentiated(function, facts, torch, replace(let, op=Op(GRADIENT, (let.var, let.var), _NO_FLAGS)), [])
    for statement in walk(function.body):
        for leaf in leaves.intersection(_bound(statement)):
            if leaf not in one.leaves:
                raise refuse("'.requires_grad_()' of a tensor that may be held elsewhere", function.span)
            if one.is_discrete(leaf):
                raise refuse("'.requires_grad_()' of a tensor without a floating dtype, which raises", function.span)
    for leaf in function.attributes["set_leaves"]:
        if leaf in one.reached(one.may_ask() | leaves - {leaf}):
            raise refuse("'requires_grad' of a tensor that may have a history is set, which raises", function.span)
    one.leaves = set()
    shown = one.reached(leaves)
    check_handed_to_numpy(function, facts, shown)
    asking = one.asking(lambda atom: atom not in shown)
    for atom in (*function.params, *(atom for _, atom in function.results)):
        if atom in shown and atom not in asking:
            raise refuse("a tensor that is handed out asks for a gradient that nobody can take", let.span)


def check_handed_to_numpy(function: Function, facts: Facts, shown: set[Atom]) -> None:
    """NumPy raises for a tensor that asks for a gradient; those that may do so are ``shown``."""
    for statement in walk(function.body):
        match statement:
            case Let(op=op) if op.name == "method.numpy" or op.name.startswith("np."):
                taken = [*operands(op)]
            case Store(ref=ref, value=value) if facts.kind(ref).family == "array" and facts.kind(value).rank:
                taken = [value]
            case _:
                continue
        if any(atom in shown for atom in taken):
            raise refuse("a tensor that asks for a gradient is handed to NumPy: '.detach()' it", statement.span)


_NO_FLAGS = (("creates", Const(False)), ("retains", Const(True)))


def _may_ask(value: Any) -> bool:
    import torch

    if isinstance(value, torch.nn.Module):
        return any(one.requires_grad for one in value.parameters())
    if isinstance(value, list | tuple | dict):
        return any(map(_may_ask, value.values() if isinstance(value, dict) else value))
    return isinstance(value, torch.Tensor) and value.requires_grad


def _flag(operand: Operand) -> bool:
    assert isinstance(operand, Const)
    return bool(operand.value)


def _has_an_iteration(loop: Loop) -> bool:
    match loop.domain:
        case Range(lo=Const(value=int(lo)), hi=Const(value=int(hi)), step=Const(value=int(step))):
            return len(range(lo, hi, step)) > 0
    return False


def _base(op: Op) -> str:
    return op.name.rpartition(".")[2]


def _hint(atom: Atom) -> str:
    return atom.hint if isinstance(atom, Var) else repr(atom)


def _bound(statement: Statement) -> Iterator[Var]:
    from looplift.ir.grammar import definitions

    yield from definitions(statement)


def _blocks(block: Block) -> Iterator[Block]:
    from looplift.ir.held_lists import blocks

    yield from blocks(block)
