"""Stores into blocks: slices of one width, side by side, each of another iteration.

out[n, g * k:(g + 1) * k] = v        out.unflatten(1, (-1, k))[:, lo:hi] = v
out[n, g * 8:g * 8 + 5] = v          out.unflatten(1, (-1, 8))[:, lo:hi, :5] = v
"""

from __future__ import annotations

from looplift.base.data import dataclass
from looplift.ir.array import Axis, Node, Write
from looplift.ir.facts import Kind
from looplift.ir.grammar import Operand
from looplift.vectorize import nodes
from looplift.vectorize.context import Array, Context
from looplift.vectorize.indexing import piece_nodes, read
from looplift.vectorize.linear import linear_of, minus
from looplift.vectorize.nodes import Val
from looplift.vectorize.subscripts import Along, Cut, Piece, Segment, Whole


@dataclass
class Block:
    """A dimension that is cut into blocks ``step`` wide, of which each position of an axis takes the first ``width``.

    ``first``: the block of position 0.
    """

    axis: Axis
    first: int
    step: Node
    width: Node

    @property
    def is_whole(self) -> bool:
        return nodes.same_integer(self.step, self.width)


def blocks_of(context: Context, array: Array, pieces: list[Piece]) -> dict[int, Block] | None:
    """The blocks, by dimension, where every iteration of the loops inside has its own; else None."""
    if context.mask is not None or array.axes:
        return None
    found = {dim: _block(piece) for dim, piece in enumerate(pieces) if isinstance(piece, Segment)}
    plain = [piece for dim, piece in enumerate(pieces) if dim not in found]
    blocks = {dim: block for dim, block in found.items() if block is not None}
    if not blocks or len(blocks) < len(found) or not all(isinstance(piece, Along | Whole | Cut) for piece in plain):
        return None
    walked = [piece.axis for piece in plain if isinstance(piece, Along)] + [block.axis for block in blocks.values()]
    own = len(set(walked)) == len(walked) and set(walked) == set(context.axes_inside(array.axes))
    return blocks if own else None


def _block(piece: Segment) -> Block | None:
    if piece.lo is None or piece.hi is None or piece.mask is not None:
        return None
    first, after = linear_of(piece.lo), linear_of(piece.hi)
    gap = minus(after, first) if first is not None and after is not None else None
    if first is None or gap is None or gap.terms or len(first.terms) != 1:
        return None
    ((axis, step),) = first.terms.items()
    start, known, width = map(nodes.constant_of, (first.base, step, gap.base))
    narrow = isinstance(known, int) and isinstance(width, int) and 0 < width <= known
    fits = narrow or nodes.same_integer(step, gap.base)
    if axis.is_ragged or not isinstance(start, int) or not fits:
        return None
    if start == 0:
        return Block(axis, 0, step, gap.base)
    if type(known) is not int or known <= 0 or start < 0 or start % known:  # a negative start is the end's
        return None
    return Block(axis, start // known, step, gap.base)


def store_blocks(
    context: Context, array: Array, pieces: list[Piece], index: Operand, val: Val, combine: str | None
) -> bool:
    """Whether it is a store into blocks, which then is made."""
    from looplift.vectorize.stores import as_it_was, bind, check_store_range, context_combine

    blocks = blocks_of(context, array, pieces)
    if blocks is None or val.items is not None or val.sequence is not None:
        return False
    value = _dense(context, pieces, blocks, val)
    for dim, piece in enumerate(pieces):
        check_store_range(context, array, dim, piece)
    for dim, block in blocks.items():
        _check_inside(context, array.shape[dim], block)
    bind(context, array)
    if combine is not None:
        kind = Kind(array.kind.family, array.kind.dtype, sum(not isinstance(piece, Along) for piece in pieces))
        old = read(context, array.node, index, kind)
        if old.dims is not None:
            raise context.refuse("order", f"'{combine}=' into slices that may be cut off")
        value = context_combine(context, combine, as_it_was(context, combine, old.node, kind), value, kind)
    _write(context, array, pieces, blocks, value)
    return True


def _check_inside(context: Context, extent: Node, block: Block) -> None:
    """The dimension has as many blocks, and nothing beside them."""
    count, step = nodes.plus(block.axis.extent, nodes.const(block.first)), nodes.constant_of(block.step)
    if type(step) is int and step > 0:
        context.check_at_most(nodes.times(count, step), extent)
    else:
        context.check(nodes.compare("ge", block.step, nodes.const(1)))
        context.check(nodes.compare("le", nodes.elementwise("mul", [count, block.step], nodes.INT), extent))
    known = nodes.constant_of(extent)
    if not (isinstance(known, int) and isinstance(step, int) and step > 0 and known % step == 0):
        context.check(nodes.compare("eq", nodes.elementwise("mod", [extent, block.step], nodes.INT), nodes.const(0)))


def _dense(context: Context, pieces: list[Piece], blocks: dict[int, Block], val: Val) -> Node:
    """The value with the width of its block where it might have another length in each iteration."""
    from looplift.vectorize.ragged_stores import densified

    if val.dims is None:
        return val.node
    places = [dim for dim, piece in enumerate(pieces) if not isinstance(piece, Along)][-len(val.dims) :]
    widths = {k: blocks[dim].width for k, dim in enumerate(places) if dim in blocks}
    if len(places) < len(val.dims) or any(axis is not None and k not in widths for k, axis in enumerate(val.dims)):
        raise context.refuse("ragged-shape", "a value of another length in each iteration is stored into a block")
    return densified(context, val, widths)


def _write(context: Context, array: Array, pieces: list[Piece], blocks: dict[int, Block], value: Node) -> None:
    split: list[Piece] = []
    extents: list[Node] = []
    for dim, piece in enumerate(pieces):
        if (block := blocks.get(dim)) is None:
            split.append(piece)
            extents.append(array.shape[dim])
        else:
            within = Whole() if block.is_whole else Cut(None, block.width, None)
            split += [Along(block.axis, 1, nodes.const(block.first)), within]
            extents += [nodes.elementwise("floordiv", [array.shape[dim], block.step], nodes.INT), block.step]
    kind = Kind(array.kind.family, array.kind.dtype, len(split))
    steps = tuple(block.step for block in blocks.values())
    view = Node("blocks", (array.node, *steps), (), kind, {"dims": list(blocks), "extents": extents})
    operands = (value, *steps, *piece_nodes(split))
    render = {"pieces": split, "mask": None, "view": view, "fits": False, "inside": True}
    context.add(Write(array.name, array.node, "set", operands, render))
