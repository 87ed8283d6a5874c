"""The law of the IR: what holds for every function between any two stages."""

from __future__ import annotations

from collections.abc import Iterable

from looplift.base.spans import NOWHERE
from looplift.ir.grammar import (
    UNDEFINED,
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
    Perform,
    Phi,
    Range,
    Require,
    Slice,
    Statement,
    Store,
    Var,
    While,
    atoms,
)  # fmt: skip
from looplift.ir.printer import line, op_text, operand_text

ARITY = {
    "getitem": 2,
    "iter_item": 2,
    "iter_len": 1,
    "attribute": 2,
    "unpack": 3,
    "copy": 1,
    "in_": 2,
    "not_in": 2,
    "as_key": 1,
    "key_place": 2,
    "as_place": 1,
    "as_divisor": 2,
}


class InvalidIR(Exception):
    """The IR breaks one of its laws: a defect of the stage that made it."""


def check(function: Function) -> None:
    """Raises InvalidIR unless the function is valid.

    Every variable has a name of its own and is bound once, before it is read. What a block binds is seen in it and
    after it in that block only: beyond an If through its phis, beyond a Loop through its carries. ``UNDEFINED``
    is the start of a carry or the operand of a phi, and nothing else.
    """
    _Check(function).run()


class _Check:
    def __init__(self, function: Function):
        self.function = function
        self.bound: dict[str, Var] = {}
        self.where: Statement | None = None

    def run(self) -> None:
        visible: set[Var] = set()
        for var in self.function.params:
            self.bind(var, visible)
        self.block(self.function.body, visible)
        self.where = None
        self.results(visible)
        self.attributes()

    def fail(self, message: str) -> InvalidIR:
        if self.where is None:
            return InvalidIR(f"{self.function.name}: {message}")
        place = f"{self.function.name}, line {self.where.span.line}"
        return InvalidIR(f"{place}: '{line(self.where)}': {message}")

    def require(self, holds: bool, message: str) -> None:
        if not holds:
            raise self.fail(message)

    # ------------------------------------------------------------ names

    def bind(self, var: Var, visible: set[Var]) -> None:
        self.require(isinstance(var, Var), f"{var!r} is bound, which is no variable")
        self.require(bool(var.name), "a variable has no name")
        other = self.bound.get(var.name)
        self.require(other is not var, f"'{var}' is bound twice")
        self.require(other is None, f"two variables are named '{var}'")
        self.bound[var.name] = var
        visible.add(var)

    def read(self, operand: Operand, visible: set[Var], role: str = "an operand", *, undefined: bool = False) -> None:
        for atom in atoms(operand):
            self.require(isinstance(atom, Var | Const), f"{role} is {atom!r}, which is no atom")
            self.require(undefined or atom is not UNDEFINED, f"{role} is undefined")
            if isinstance(atom, Var) and atom not in visible:
                known = self.bound.get(atom.name) is atom
                raise self.fail(f"'{atom}' is read {'outside of its block' if known else 'before it is bound'}")

    def read_atom(self, atom: Atom, visible: set[Var], role: str, *, undefined: bool = False) -> None:
        self.require(isinstance(atom, Var | Const), f"{role} is {atom!r}, which is no atom")
        self.read(atom, visible, role, undefined=undefined)

    # ------------------------------------------------------------ statements

    def block(self, block: Block, outer: set[Var]) -> set[Var]:
        """Check a block; returns what is visible at its end."""
        visible = outer if block is self.function.body else set(outer)
        for statement in block:
            self.where = statement
            self.require(statement.span != NOWHERE, "has no span")
            self.statement(statement, visible)
        return visible

    def statement(self, statement: Statement, visible: set[Var]) -> None:
        match statement:
            case Let(var=var, op=op):
                self.op(op, visible)
                self.bind(var, visible)
            case Perform(op=op):
                self.op(op, visible)
            case Store():
                self.store(statement, visible)
            case Append(ref=ref, value=value):
                self.require(isinstance(ref, Var), "appends to something that is no variable")
                self.read_atom(ref, visible, "what it appends to")
                self.read_atom(value, visible, "the item")
            case Require(cond=cond, why=why):
                self.read_atom(cond, visible, "the condition")
                self.require(bool(why), "does not say why")
            case If():
                self.branch(statement, visible)
            case Loop():
                self.loop(statement, visible)
            case _:
                raise self.fail(f"{type(statement).__name__} is no statement")

    def op(self, op: Op, visible: set[Var]) -> None:
        self.require(bool(op.name), "the operation has no name")
        count = ARITY.get(op.name, len(op.args))
        self.require(len(op.args) == count, f"'{op.name}' takes {count} operands, not {len(op.args)}")
        keys = [key for key, _ in op.kwargs]
        self.require(len(set(keys)) == len(keys), f"'{op_text(op)}' names an operand twice")
        for position, operand in enumerate(op.args):
            self.operand(operand, visible, subscript=op.name == "getitem" and position == 1)
        for _, operand in op.kwargs:
            self.operand(operand, visible)
        if op.name in ("call", "module"):
            callee = op.args[0] if op.args else None
            self.require(isinstance(callee, Const) and callable(callee.value), f"'{op.name}' of something not known")
        if op.name == "attribute":
            name = op.args[1]
            self.require(isinstance(name, Const) and isinstance(name.value, str), "the attribute has no name")

    def operand(self, operand: Operand, visible: set[Var], *, subscript: bool = False) -> None:
        match operand:
            case Slice():
                self.require(subscript, f"the slice '{operand_text(operand)}' stands outside of a subscript")
            case Group(kind=kind, items=items):
                self.require(kind in ("list", "tuple"), f"a display of kind '{kind}'")
                for item in items:
                    self.operand(item, visible, subscript=subscript)
        self.read(operand, visible)

    def store(self, statement: Store, visible: set[Var]) -> None:
        self.require(isinstance(statement.ref, Var), "stores into something that is no variable")
        self.require(statement.combine is None or bool(statement.combine), "combines by an operation without a name")
        self.read_atom(statement.ref, visible, "what it stores into")
        self.operand(statement.index, visible, subscript=True)
        self.read_atom(statement.value, visible, "the value")

    # ------------------------------------------------------------ joins

    def branch(self, statement: If, visible: set[Var]) -> None:
        self.read_atom(statement.cond, visible, "the condition")
        then = self.block(statement.then, visible)
        orelse = self.block(statement.orelse, visible)
        self.where = statement
        for phi in statement.phis:
            self.require(isinstance(phi, Phi), f"{phi!r} is no phi")
            self.read_atom(phi.then, then, f"'{phi.var}' after the first block", undefined=True)
            self.read_atom(phi.orelse, orelse, f"'{phi.var}' after the second block", undefined=True)
            both = phi.then is UNDEFINED and phi.orelse is UNDEFINED
            self.require(not both, f"'{phi.var}' is undefined on both sides")
        for phi in statement.phis:
            self.bind(phi.var, visible)

    def loop(self, loop: Loop, visible: set[Var]) -> None:
        inside = set(visible)
        self.domain(loop, visible)
        for carry in loop.carries:
            self.require(isinstance(carry, Carry), f"{carry!r} is no carry")
            self.read_atom(carry.init, visible, f"the start of '{carry.inside}'", undefined=True)
            self.bind(carry.inside, inside)
        if isinstance(loop.domain, While):
            tested = self.block(loop.domain.block, inside)
            self.where = loop
            self.read_atom(loop.domain.cond, tested, "the condition")
        elif loop.index is not None:
            self.bind(loop.index, inside)
        end = self.block(loop.body, inside)
        self.where = loop
        for carry in loop.carries:
            self.read_atom(carry.next, end, f"the next '{carry.inside}'")
        if loop.stop is not None:
            self.read_atom(loop.stop, end, "the stop flag")
        for carry in loop.carries:
            self.bind(carry.after, visible)

    def domain(self, loop: Loop, visible: set[Var]) -> None:
        domain = loop.domain
        if isinstance(domain, While):
            self.require(loop.index is None, "a while loop has an index")
            return
        self.require(isinstance(domain, Range), f"{type(domain).__name__} is no domain")
        self.require(isinstance(loop.index, Var), "a for loop has no index")
        for atom, role in ((domain.lo, "the start"), (domain.hi, "the end"), (domain.step, "the step")):
            self.read_atom(atom, visible, role)
        if domain.source is not None:
            self.read_atom(domain.source, visible, "the sequence")

    # ------------------------------------------------------------ the whole

    def results(self, visible: set[Var]) -> None:
        names = [name for name, _ in self.function.results]
        self.require(all(names) and len(set(names)) == len(names), "its results need names of their own")
        for name, atom in self.function.results:
            self.read_atom(atom, visible, f"the result '{name}'")

    def attributes(self) -> None:
        for key in ("paths", "values"):
            known: Iterable[Var] | None = self.function.attributes.get(key)
            missing = [] if known is None else [var for var in self.function.params if var not in known]
            self.require(not missing, f"'{key}' lacks {missing}")
