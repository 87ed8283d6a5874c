"""A function of the IR in, its text out: one statement a line, blocks indented, under the author's names.

    function scale(x, n) -> total
      for i.2 in range(0, n, 1):
        carry total.3 = 0 -> total.5 -> total.6
        t.4 = getitem(x, i.2)
        total.5 = add(total.3, t.4)
      return total = total.6

A carry reads ``inside = before the loop -> at the end of the body -> after the loop``, a phi ``then | else``.
"""

from __future__ import annotations

from collections.abc import Iterator

from looplift.ir.facts import Fact, Facts, Kind
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
    Perform,
    Phi,
    Range,
    Require,
    Slice,
    Statement,
    Store,
    Var,
    While,
)  # fmt: skip

INDENT = "  "
_COMMENT_COLUMN = 48


def text(function: Function, facts: Facts | None = None) -> str:
    """The text of a function; with ``facts`` each binding is followed by what is known of it, as a comment."""
    printer = _Printer(facts)
    names = ", ".join(name for name, _ in function.results)
    header = f"function {function.name}({', '.join(map(repr, function.params))})"
    lines = [f"{header} -> {names}" if names else header]
    if facts is not None:
        lines += [printer.noted(f"{INDENT}param {var!r}", var) for var in function.params]
    lines += printer.block(function.body, INDENT)
    if names:
        lines.append(f"{INDENT}return {', '.join(f'{name} = {operand_text(atom)}' for name, atom in function.results)}")
    return "\n".join(lines) + "\n"


def line(statement: Statement) -> str:
    """The first line of a statement's text: the statement itself, without the blocks inside it."""
    return next(_Printer(None).statement(statement, ""))


def operand_text(operand: Operand) -> str:
    """An atom, a slice or a display, as the author would write it."""
    match operand:
        case Const():
            return operand.path or _literal(operand.value)
        case Group(kind=kind, items=items):
            inside = ", ".join(map(operand_text, items))
            return f"[{inside}]" if kind == "list" else f"({inside}{',' if len(items) == 1 else ''})"
        case Slice(lo=lo, hi=hi, step=step):
            return ":".join([_bound(lo), _bound(hi)] + ([] if _is_none(step) else [_bound(step)]))
    return repr(operand)


def op_text(op: Op) -> str:
    """An operation on its operands; a read is written as a subscript."""
    if op.name == "getitem" and len(op.args) == 2 and not op.kwargs:
        return f"{operand_text(op.args[0])}[{_subscript(op.args[1])}]"
    words = [operand_text(argument) for argument in op.args]
    words += [f"{key}={operand_text(argument)}" for key, argument in op.kwargs]
    return f"{op.name}({', '.join(words)})"


def fact_text(fact: Fact) -> str:
    """What is known of a variable: its kind, its shape in the first lane, and the loops that it varies with."""
    words = kind_text(fact.kind)
    if fact.kind.family in ("tensor", "array"):
        words += f" {list(fact.shape)}" + ("" if fact.fixed else " or another shape")
    loops = [repr(loop.index) if loop.index is not None else f"while at {loop.span.line}" for loop in fact.loops]
    return f"{words}, varies with {', '.join(loops)}" if loops else words


def kind_text(kind: Kind) -> str:
    """``tensor float32``, ``int``, ``list of float``, ``tuple of (int, tensor float32)``."""
    if kind.dtype is not None:
        return f"{kind.family} {str(kind.dtype).removeprefix('torch.')}"
    if kind.family == "list":
        return f"list of {kind_text(kind.items[0])}" if kind.items else "list"
    if kind.family == "tuple":
        return f"tuple of ({', '.join(map(kind_text, kind.items))})"
    return kind.family


class _Printer:
    def __init__(self, facts: Facts | None):
        self.facts = facts

    def noted(self, words: str, var: Var) -> str:
        fact = self.facts.of.get(var) if self.facts is not None else None
        return words if fact is None else f"{words:<{_COMMENT_COLUMN}}  # {fact_text(fact)}"

    def block(self, block: Block, indent: str) -> Iterator[str]:
        for statement in block:
            yield from self.statement(statement, indent)

    def body(self, block: Block, indent: str) -> Iterator[str]:
        yield from self.block(block, indent) if block else [f"{indent}pass"]

    def statement(self, statement: Statement, indent: str) -> Iterator[str]:
        match statement:
            case Let(var=var, op=op):
                yield self.noted(f"{indent}{var!r} = {op_text(op)}", var)
            case Store(ref=ref, index=index, value=value, combine=combine):
                sign = f"{combine}=" if combine else "="
                yield f"{indent}{ref!r}[{_subscript(index)}] {sign} {operand_text(value)}"
            case Append(ref=ref, value=value):
                yield f"{indent}{ref!r}.append({operand_text(value)})"
            case Require(cond=cond, why=why):
                yield f"{indent}require {operand_text(cond)}  # else {why}"
            case Perform(op=op):
                yield f"{indent}perform {op_text(op)}"
            case If():
                yield from self.branch(statement, indent)
            case Loop():
                yield from self.loop(statement, indent)

    def branch(self, statement: If, indent: str) -> Iterator[str]:
        yield f"{indent}if {operand_text(statement.cond)}:"
        yield from self.body(statement.then, indent + INDENT)
        if statement.orelse:
            yield f"{indent}else:"
            yield from self.block(statement.orelse, indent + INDENT)
        for phi in statement.phis:
            yield self.phi(phi, indent)

    def phi(self, phi: Phi, indent: str) -> str:
        words = f"{indent}phi {phi.var!r} = {operand_text(phi.then)} | {operand_text(phi.orelse)}"
        return self.noted(words, phi.var)

    def loop(self, loop: Loop, indent: str) -> Iterator[str]:
        inside = indent + INDENT
        domain = loop.domain
        if isinstance(domain, Range):
            words = f"{indent}for {loop.index!r} in {_range(domain)}:"
            yield self.noted(words, loop.index) if loop.index is not None else words
        else:
            yield f"{indent}while {operand_text(domain.cond)}:"
        yield from (self.carry(carry, inside) for carry in loop.carries)
        if isinstance(domain, While):
            yield f"{inside}test:"
            yield from self.body(domain.block, inside + INDENT)
        yield from self.body(loop.body, inside)
        if loop.stop is not None:
            yield f"{inside}stop {operand_text(loop.stop)}"

    def carry(self, carry: Carry, indent: str) -> str:
        steps = f"{operand_text(carry.init)} -> {operand_text(carry.next)} -> {carry.after!r}"
        return self.noted(f"{indent}carry {carry.inside!r} = {steps}", carry.inside)


def _range(domain: Range) -> str:
    words = f"range({operand_text(domain.lo)}, {operand_text(domain.hi)}, {operand_text(domain.step)})"
    return words if domain.source is None else f"{words} of {operand_text(domain.source)}"


def _subscript(index: Operand) -> str:
    if isinstance(index, Group) and index.kind == "tuple" and len(index.items) > 1:
        return ", ".join(map(operand_text, index.items))
    return operand_text(index)


def _bound(atom: Atom) -> str:
    return "" if _is_none(atom) else operand_text(atom)


def _is_none(atom: Atom) -> bool:
    return isinstance(atom, Const) and atom.value is None


def _literal(value: object) -> str:
    """A constant without a path; objects whose ``repr`` shows an address are named by their type."""
    words = repr(value)
    return f"<{type(value).__name__}>" if " at 0x" in words or "\n" in words else words
