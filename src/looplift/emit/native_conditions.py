"""A branch that only chooses between two values as one C++ expression: ``a && b``, ``a || b``, ``c ? a : b``."""

from __future__ import annotations

from looplift.base.errors import NotLiftable
from looplift.emit import native_statements
from looplift.emit.native_calls import either
from looplift.emit.native_convert import truth
from looplift.emit.native_flow import Home, tail_of_body
from looplift.emit.native_joins import UNKNOWN, Join
from looplift.emit.native_narrowing import where
from looplift.emit.native_ops import AND, CHOICE, OR
from looplift.emit.native_scalar import join_facts
from looplift.emit.native_types import BOOL, Scalar
from looplift.emit.native_values import Number
from looplift.emit.native_writer import Writer
from looplift.ir.grammar import Atom, Block, If, Let, Loop, Phi, Statement, Var, While, uses, walk

LONGEST = 72


def as_expression(writer: Writer, statement: If, rest: tuple[Statement, ...], tail: tuple[Atom, ...]) -> bool:
    """Bind the one phi of a branch to an expression, if its sides need no statements; whether that was possible."""
    phi = _only_phi(writer, statement)
    if phi is None:
        return False
    saved = _Saved(writer, phi)
    number = _expression(writer, statement, phi, saved.lines)
    if number is None:
        saved.restore()
        return False
    if len(number.text) > LONGEST:
        number = writer.bind(number, phi.var.hint)
    writer.values[phi.var] = native_statements.named(writer, phi.var, number, rest, tail)
    return True


def _only_phi(writer: Writer, statement: If) -> Phi | None:
    """The phi, if it is the only one and a number with a variable of its own."""
    if len(statement.phis) != 1:
        return None
    (phi,) = statement.phis
    join = writer.join(phi.var) if phi.var in writer.findings.joins else None
    home = writer.flow.homes.get(phi.var)
    if join is None or join.absent or (home and home.name) or phi.var in writer.findings.aliases:
        return None
    simple = all(isinstance(inner, Let | If) for block in (statement.then, statement.orelse) for inner in walk(block))
    return phi if simple else None


def _expression(writer: Writer, statement: If, phi: Phi, lines: list[str]) -> Number | None:
    """The chosen value, if writing both blocks adds no line."""
    sides: list[Number] = []
    for block, argument, holds in ((statement.then, phi.then, True), (statement.orelse, phi.orelse, False)):
        with where(writer, statement.cond, holds):
            value = _value_apart(writer, block, argument)
        if value is None:
            return None
        sides.append(value)
    writer.lines = lines
    try:
        return _chosen(writer, statement, *sides)
    except NotLiftable:
        return None


def _value_apart(writer: Writer, block: Block, argument: Atom) -> Number | None:
    writer.lines = []
    writer.hoists.append(None)
    native_statements.write_block(writer, block, (argument,))
    writer.end_block(block)
    writer.hoists.pop()
    value = writer.value(argument)
    has_lines = any(not line.lstrip().startswith("//") for line in writer.lines)
    return value if isinstance(value, Number) and not has_lines and not value.bound else None


class _Saved:
    """What writing a block may change, to be undone."""

    def __init__(self, writer: Writer, phi: Phi):
        self.writer = writer
        self.lines = writer.lines
        self.noted, self.proven = writer.noted, set(writer.proven)
        self.values, self.homes = dict(writer.values), dict(writer.flow.homes)
        self.names = {home: home.name for home in writer.flow.homes.values()}
        own = writer.flow.homes.get(phi.var)
        writer.flow.homes = {var: home for var, home in writer.flow.homes.items() if home is not own}

    def restore(self) -> None:
        writer = self.writer
        writer.lines, writer.noted, writer.proven = self.lines, self.noted, self.proven
        writer.values, writer.flow.homes = self.values, self.homes
        for home, name in self.names.items():
            _forget(home, name)


def _forget(home: Home, name: str) -> None:
    if not name:
        home.name = home.flag = home.bound = ""


def _inlined(writer: Writer, statement: If) -> Number:
    """The condition; if it was given a name in the line before, for this branch alone, its expression instead."""
    number = writer.number(statement.cond)
    named = writer.last_bound
    if named is None or not isinstance(statement.cond, Var) or named[0] != number.text:
        return number
    (phi,) = statement.phis
    uses = 1 + (phi.then is statement.cond) + (phi.orelse is statement.cond)
    if writer.flow.counts[statement.cond] != uses or not writer.lines or writer.lines[-1].lstrip() != named[1]:
        return number
    writer.lines.pop()
    return named[2]


def _chosen(writer: Writer, statement: If, first: Number, second: Number) -> Number:
    """``first if condition else second``."""
    (phi,) = statement.phis
    same = first.type == second.type and first.other is None and second.other is None
    logical = (first.type.is_bool and same) or _is_only_tested(writer, phi.var)
    if logical and phi.orelse is statement.cond:
        return _logical(truth(_inlined(writer, statement)), first, "&&", AND, first.type if same else BOOL)
    if logical and phi.then is statement.cond:
        return _logical(truth(_inlined(writer, statement)), second, "||", OR, second.type if same else BOOL)
    condition = truth(writer.number(statement.cond))
    if same:
        text = f"{condition.at(OR)} ? {first.at(CHOICE - 1)} : {second.at(CHOICE - 1)}"
        return join_facts(Number(text, first.type, CHOICE), [condition, first, second])
    return either(writer, condition, first, second)


def _is_only_tested(writer: Writer, var: Var) -> bool:
    """Whether nothing but conditions read a value, so that only its truth matters."""
    for statement in walk(Block((writer.flow.loop,))):
        if var not in list(uses(statement)):
            continue
        match statement:
            case If(phis=phis):
                handed = [phi.var for phi in phis if var in (phi.then, phi.orelse)]
                if not all(_is_only_tested(writer, other) for other in handed):
                    return False
            case Loop(domain=While(cond=cond)) if cond is var and var not in tail_of_body(statement):
                pass
            case _:
                return False
    return True


def _logical(condition: Number, value: Number, symbol: str, level: int, scalar: Scalar) -> Number:
    text = f"{condition.at(level)} {symbol} {truth(value).at(level, strict=True)}"
    return join_facts(Number(text, scalar, level, low=0, high=1), [condition, value])


def guess_again(writer: Writer, phi: Phi) -> None:
    """What nothing was known of before its two sides is of their type, where they have one."""
    if not writer.provisional or writer.findings.joins.get(phi.var) != UNKNOWN:
        return
    sides = [writer.values.get(atom) if isinstance(atom, Var) else None for atom in (phi.then, phi.orelse)]
    numbers = [side for side in sides if isinstance(side, Number) and side.other is None and not side.bound]
    if len(numbers) == 2 and numbers[0].type == numbers[1].type:
        writer.findings.joins[phi.var] = Join(numbers[0].type)
