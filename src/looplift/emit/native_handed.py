"""Whether a list that another list takes is known by no other name from then on, so that a copy will do."""

from __future__ import annotations

from looplift.emit.native_values import View
from looplift.emit.native_writer import Writer
from looplift.ir.grammar import Append, Block, Let, Op, Statement, Store, Var, children, uses, walk


def is_handed_over(writer: Writer, value: View) -> bool:
    """Whether a list that is put into another has no other reader, or none after it."""
    origin = value.origin
    if origin is None or origin in writer.flow.kept:
        return False
    if writer.flow.counts[origin] == 1:
        return True
    block = next((b for b in _blocks(writer.flow.loop.body) if any(_makes(s, origin) for s in b.statements)), None)
    readers = [s for s in block.statements if origin in writer.flow.reads(s)] if block is not None else []
    if not readers or not _takes(readers[-1], origin):
        return False
    inner = [s for s in walk(readers[:-1]) if origin in uses(s)]
    count = sum(list(uses(s)).count(origin) for s in (*inner, readers[-1]))
    return count == writer.flow.counts[origin] and all(_only_fills(s, origin, value.rank) for s in inner)


def _blocks(block: Block) -> list[Block]:
    inner = (child for statement in block.statements for child in children(statement))
    return [block, *(found for child in inner for found in _blocks(child))]


def _makes(statement: Statement, var: Var) -> bool:
    return isinstance(statement, Let) and statement.var is var


def _takes(statement: Statement, var: Var) -> bool:
    """Whether a statement puts a list into another, once."""
    match statement:
        case Append(ref=ref, value=value):
            return value is var and ref is not var
        case Let(op=Op(name="list", args=args)):
            return list(args).count(var) == 1
    return False


def _only_fills(statement: Statement, var: Var, rank: int) -> bool:
    """Whether a statement reads or changes items of a list, and gives neither it nor lists in it another name."""
    match statement:
        case Append(ref=ref, value=value) | Store(ref=ref, value=value):
            return ref is var and value is not var
        case Let(op=Op(name=("getitem" | "builtin.len" | "iter_item" | "iter_len"), args=(first, *rest))):
            return first is var and var not in rest and rank == 1
    return False
