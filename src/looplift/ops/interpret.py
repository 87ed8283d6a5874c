"""The literal interpreter: runs a function of the IR on real values as Python runs its source. It is the oracle."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from looplift.ir.grammar import (
    UNDEFINED,
    Append,
    Atom,
    Block,
    Const,
    Function,
    If,
    Let,
    Loop,
    Operand,
    Perform,
    Range,
    Require,
    Statement,
    Store,
    Var,
    While,
)  # fmt: skip
from looplift.ops.evaluate import apply, evaluate, operand_value

Watch = Callable[[Var, Any], None]
"""Called at each binding with the variable and its value: once for every iteration around it."""


def run(function: Function, values: Mapping[str, Any], *, watch: Watch | None = None) -> dict[str, Any]:
    """The results of a function under their names.

    ``values`` binds the root names of the region; parameters are reached from them by their paths. Arguments are
    changed in place as the source changes them, and what it raises is raised; an unmet Require is an AssertionError.
    """
    interpreter = _Interpreter(watch or _unseen)
    for var, value in arguments(function, values).items():
        interpreter.bind(var, value)
    interpreter.block(function.body)
    return {name: interpreter.value(atom) for name, atom in function.results}


def run_loop(loop: Loop, values: Mapping[Var, Any]) -> Mapping[Var, Any]:
    """What a loop binds, from the values that it reads of what is around it. What it stores into is changed."""
    interpreter = _Interpreter(_unseen)
    interpreter.values |= values
    interpreter.loop(loop)
    return interpreter.values


def arguments(function: Function, values: Mapping[str, Any]) -> dict[Var, Any]:
    """The value of each parameter: that of its path, ``self.layer.weight`` or ``rows[0]``, among ``values``."""
    paths = function.attributes.get("paths", {})
    return {var: eval(paths.get(var, var.name), dict(values)) for var in function.params}


def _unseen(var: Var, value: Any) -> None:
    pass


class _Interpreter:
    def __init__(self, watch: Watch):
        self.watch = watch
        self.values: dict[Var, Any] = {}

    # ------------------------------------------------------------ values

    def bind(self, var: Var, value: Any) -> None:
        self.values[var] = value
        if value is not UNDEFINED:
            self.watch(var, value)

    def held(self, atom: Atom) -> Any:
        """The value of an atom, or UNDEFINED where no path has bound its name."""
        if isinstance(atom, Const):
            return UNDEFINED if atom is UNDEFINED else atom.value
        return self.values[atom]

    def value(self, atom: Atom) -> Any:
        value = self.held(atom)
        if value is UNDEFINED:
            raise UnboundLocalError(f"'{atom}' is read where it may not be bound")
        return value

    def operand(self, operand: Operand) -> Any:
        return operand_value(operand, self.value)

    # ------------------------------------------------------------ statements

    def block(self, block: Block) -> None:
        for statement in block:
            self.statement(statement)

    def statement(self, statement: Statement) -> None:
        match statement:
            case Let(var=var, op=op):
                self.bind(var, evaluate(op, self.value))
            case Perform(op=op):
                evaluate(op, self.value)
            case Store():
                self.store(statement)
            case Append(ref=ref, value=value):
                self.value(ref).append(self.value(value))
            case Require(cond=cond, why=why):
                if not self.value(cond):
                    raise AssertionError(why)
            case If():
                self.branch(statement)
            case Loop():
                self.loop(statement)

    def store(self, statement: Store) -> None:
        ref, index, value = self.value(statement.ref), self.operand(statement.index), self.value(statement.value)
        if statement.combine is not None:
            value = apply(f"inplace.{statement.combine}", [ref[index], value], {})
        ref[index] = value

    def branch(self, statement: If) -> None:
        holds = bool(self.value(statement.cond))
        self.block(statement.then if holds else statement.orelse)
        joined = [self.held(phi.then if holds else phi.orelse) for phi in statement.phis]
        for phi, value in zip(statement.phis, joined, strict=True):
            self.bind(phi.var, value)

    # ------------------------------------------------------------ loops

    def loop(self, loop: Loop) -> None:
        state = [self.held(carry.init) for carry in loop.carries]
        trips = self.range(loop.domain) if isinstance(loop.domain, Range) else None
        while self.enters(loop, trips, state):
            self.block(loop.body)
            state = [self.held(carry.next) for carry in loop.carries]
            if loop.stop is not None and self.value(loop.stop):
                break
        self.leaves(loop, state)

    def leaves(self, loop: Loop, state: list[Any]) -> None:
        """Binds what is left of the carried values after the last iteration."""
        for carry, value in zip(loop.carries, state, strict=True):
            self.bind(carry.after, value)

    def enters(self, loop: Loop, trips: Iterator[int] | None, state: list[Any]) -> bool:
        """Whether there is another iteration: binds what is carried, and the index or what the test computes."""
        index = None if trips is None else next(trips, None)
        if trips is not None and index is None:
            return False
        for carry, value in zip(loop.carries, state, strict=True):
            self.bind(carry.inside, value)
        if isinstance(loop.domain, While):
            self.block(loop.domain.block)
            return bool(self.value(loop.domain.cond))
        assert loop.index is not None
        self.bind(loop.index, index)
        return True

    def range(self, domain: Range) -> Iterator[int]:
        return iter(range(*map(self.value, (domain.lo, domain.hi, domain.step))))
