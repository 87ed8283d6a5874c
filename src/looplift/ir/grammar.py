"""The grammar of the loop IR: structured SSA, immutable, every statement with its span.

    Function = name(params) Block -> results          one region of the user's code
    Block    = Statement*
    Statement
      = Let(var, Op)                                  one operation on atoms
      | Store(ref, index, value, combine)             ref[index] = value, or ref[index] (combine)= value
      | Append(ref, value)                            ref.append(value)
      | If(cond, then, orelse, phis)                  both blocks are pure SSA; phis join them
      | Loop(domain, index, carries, body, stop)      stop: leave after this iteration (break, return)
      | Require(cond, why)                            else the original is run, and raises by itself
      | Perform(op)                                   an effect without result: print, unknown call
    Domain   = Range(lo, hi, step) | While(block, cond)
    Carry    = (inside, init, next, after)            value at entry of the body; before; at its end; after the loop
    Phi      = (var, then, orelse)
    Atom     = Var | Const;  Operand = Atom | Group(Operand*) | Slice(Atom, Atom, Atom)

``continue`` becomes an If around the rest of the body, ``break`` and ``return`` set a flag that is carried, guards
the rest and stops the loop.  ``for x in rows`` becomes a Range over ``iter_len(rows)`` with ``x = iter_item(rows, i)``
as first statement.  Names bound to the same object share one Var, so that aliases made by assignment are visible.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from looplift.base.data import dataclass, field
from looplift.base.spans import NOWHERE, Span


@dataclass(frozen=True, eq=False)
class Var:
    """A value bound once. ``name`` is unique in its function and starts with the author's name."""

    name: str

    @property
    def hint(self) -> str:
        return self.name.split(".")[0]

    def __repr__(self) -> str:
        return self.name


@dataclass(frozen=True, eq=False)
class Const:
    """A literal, or an object known before the loop runs (a function, a module, a dtype).

    ``path`` is the text by which the author reaches it (``torch.float32``, ``self.layer``), empty for a literal.
    """

    value: Any
    path: str = ""

    def __repr__(self) -> str:
        return self.path or repr(self.value)


Atom = Var | Const


@dataclass(frozen=True, eq=False)
class Slice:
    """``lo:hi:step`` in a subscript; an absent part is ``Const(None)``."""

    lo: Atom
    hi: Atom
    step: Atom


@dataclass(frozen=True, eq=False)
class Group:
    """A list or tuple display used directly as an argument or subscript: ``torch.stack([a, b])``, ``x[i, j]``."""

    kind: str  # "list" | "tuple"
    items: tuple[Operand, ...]


Operand = Atom | Slice | Group


@dataclass(frozen=True, eq=False)
class Op:
    """One operation. ``name`` is a row of the op table, for instance ``add``, ``torch.exp``, ``method.sum``.

    Reads are ``Op("getitem", (ref, index))``; a call of something without a row is
    ``Op("call", (callee, *args))`` and has unknown effects.
    """

    name: str
    args: tuple[Operand, ...] = ()
    kwargs: tuple[tuple[str, Operand], ...] = ()


@dataclass(frozen=True, eq=False)
class Let:
    var: Var
    op: Op
    span: Span = NOWHERE


@dataclass(frozen=True, eq=False)
class Store:
    """``ref[index] = value``; with ``combine`` (an op name as ``add``) ``ref[index] = combine(ref[index], value)``.

    ``method``: the author's text is ``ref[index].method(value)``, which is that only for a view of a tensor.
    """

    ref: Var
    index: Operand
    value: Atom
    combine: str | None = None
    span: Span = NOWHERE
    method: str = ""


@dataclass(frozen=True, eq=False)
class Append:
    ref: Var
    value: Atom
    span: Span = NOWHERE


@dataclass(frozen=True, eq=False)
class Phi:
    var: Var
    then: Atom
    orelse: Atom


@dataclass(frozen=True, eq=False)
class If:
    cond: Atom
    then: Block
    orelse: Block
    phis: tuple[Phi, ...] = ()
    span: Span = NOWHERE


@dataclass(frozen=True, eq=False)
class Range:
    """``range(lo, hi, step)``; ``source`` is the sequence that a ``for`` loop iterates, None for a real range."""

    lo: Atom
    hi: Atom
    step: Atom
    source: Atom | None = None


@dataclass(frozen=True, eq=False)
class While:
    """Runs while ``cond``, computed by ``block`` from the carried values, holds."""

    block: Block
    cond: Atom


Domain = Range | While


@dataclass(frozen=True, eq=False)
class Carry:
    inside: Var
    init: Atom
    next: Atom
    after: Var

    @property
    def hint(self) -> str:
        return self.inside.hint


@dataclass(frozen=True, eq=False)
class Loop:
    """One ``for`` or ``while``.

    ``index`` counts the range's values (None for While); ``stop`` is read at the end of the body.
    """

    domain: Domain
    index: Var | None
    carries: tuple[Carry, ...]
    body: Block
    stop: Atom | None = None
    span: Span = NOWHERE


@dataclass(frozen=True, eq=False)
class Require:
    cond: Atom
    why: str
    span: Span = NOWHERE


@dataclass(frozen=True, eq=False)
class Perform:
    op: Op
    span: Span = NOWHERE


Statement = Let | Store | Append | If | Loop | Require | Perform


@dataclass(frozen=True, eq=False)
class Block:
    statements: tuple[Statement, ...] = ()

    def __iter__(self):
        return iter(self.statements)

    def __bool__(self) -> bool:
        return bool(self.statements)


@dataclass(frozen=True, eq=False)
class Function:
    """A region: ``params`` are its live-ins, ``results`` its live-outs, each under the author's name.

    A result named ``return`` is the value that the region returns from the user's function.
    """

    name: str
    params: tuple[Var, ...]
    body: Block
    results: tuple[tuple[str, Atom], ...]
    file: str = ""
    span: Span = NOWHERE
    attributes: dict[str, Any] = field(default_factory=dict)


UNDEFINED = Const(NotImplemented, "<undefined>")
"""The value of a name that no path has bound yet."""

RESULT = "return"
"""The name of the value that a region returns, which no author can give."""
INNER_RESULT = "_result "
"""How the names of values begin that functions return in the place of their calls; the space is in no author's name."""
TABLE = "table"
"""The operation that makes an empty dict whose keys are not known one by one."""
SORTED = "sorted_places"
"""The operation that gives the places of a list's numbers in their order, or in reverse."""
DISTINCT = "distinct"
"""The operation that gives the different integers of a list, in the order in which they come first."""
TIMES = "times"
"""The operation that gives how often each of these is in the list."""
UNRECORDED = "unrecorded"
"""The operation around what a block under ``torch.no_grad()`` computes, until it is known what has a history."""
STEP = "strip_step"
"""The operation that gives the iterations of a piece of a loop, by the text of an expression and the loop's step."""
STOP = "strip_stop"
"""Where a piece ends: from where it starts, the step, the end of the range, and the range's own step."""
LONGEST = "longest"
"""The operation that gives a number of iterations that is at least that of each lane."""


def children(statement: Statement) -> tuple[Block, ...]:
    """The blocks directly inside a statement."""
    match statement:
        case If(then=then, orelse=orelse):
            return (then, orelse)
        case Loop(domain=While(block=block), body=body):
            return (block, body)
        case Loop(body=body):
            return (body,)
    return ()


def walk(block: Iterable[Statement]) -> Iterator[Statement]:
    """Every statement of a block, outermost first, in program order."""
    return iter(_walked(block) if isinstance(block, Block) else _flat(block))


def _walked(block: Block) -> list[Statement]:
    """Of a block, which never changes, they are collected once."""
    found = vars(block).get("_walked")
    if found is None:
        found = vars(block)["_walked"] = _flat(block.statements)
    return found


def _flat(statements: Iterable[Statement]) -> list[Statement]:
    found: list[Statement] = []
    for statement in statements:
        found.append(statement)
        if isinstance(statement, If | Loop):
            for inner in children(statement):
                found += _walked(inner)
    return found


def atoms(operand: Operand):
    """The atoms inside one operand."""
    match operand:
        case Group(items=items):
            for item in items:
                yield from atoms(item)
        case Slice(lo=lo, hi=hi, step=step):
            yield from (lo, hi, step)
        case _:
            yield operand


def as_atom(operand: Operand) -> Atom:
    """An operand that is neither a group nor a slice."""
    assert isinstance(operand, Var | Const)
    return operand


def constant(operand: Operand) -> Any:
    """The value of an operand that is a constant."""
    assert isinstance(operand, Const)
    return operand.value


def operands(op: Op) -> Iterator[Atom]:
    """The atoms that an operation reads."""
    found = vars(op).get("_operands")
    if found is None:
        read = [*op.args, *(argument for _, argument in op.kwargs)]
        found = vars(op)["_operands"] = [atom for argument in read for atom in atoms(argument)]
    return iter(found)


def uses(statement: Statement) -> Iterator[Atom]:
    """The atoms that a statement itself reads (not those of its inner blocks)."""
    found = vars(statement).get("_uses")
    if found is None:
        found = vars(statement)["_uses"] = [*_used(statement)]
    return iter(found)


def _used(statement: Statement) -> Iterator[Any]:
    match statement:
        case Let(op=op) | Perform(op=op):
            yield from operands(op)
        case Store(ref=ref, index=index, value=value):
            yield ref
            yield value
            yield from atoms(index)
        case Append(ref=ref, value=value):
            yield ref
            yield value
        case If(cond=cond, phis=phis):
            yield cond
            for phi in phis:
                yield phi.then
                yield phi.orelse
        case Loop(domain=domain, carries=carries, stop=stop):
            for carry in carries:
                yield carry.init
                yield carry.next
            if isinstance(domain, Range):
                yield from (domain.lo, domain.hi, domain.step)
                if domain.source is not None:
                    yield domain.source
            else:
                yield domain.cond
            if stop is not None:
                yield stop
        case Require(cond=cond):
            yield cond


def definitions(statement: Statement):
    """The variables that a statement binds (not those of its inner blocks)."""
    match statement:
        case Let(var=var):
            yield var
        case If(phis=phis):
            for phi in phis:
                yield phi.var
        case Loop(index=index, carries=carries):
            if index is not None:
                yield index
            for carry in carries:
                yield carry.inside
                yield carry.after


def is_returned(var: Var) -> bool:
    """Whether a variable is what a function or a region returns: a flag says where there is one."""
    return var.hint == RESULT or var.hint.startswith(INNER_RESULT)


def is_backwards(index: object) -> bool:
    """Whether a subscript is ``[::-1]``."""
    if not isinstance(index, Slice):
        return False
    parts = [part.value for part in (index.lo, index.hi, index.step) if isinstance(part, Const)]
    return parts == [None, None, -1]
