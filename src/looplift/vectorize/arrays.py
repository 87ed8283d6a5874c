"""Arrays that the region writes to: those that it makes, and what a store is aimed at."""

from __future__ import annotations

from looplift.ir.array import Node
from looplift.ir.grammar import Const, Let, Operand, Var, as_atom
from looplift.vectorize import nodes, ownership, ragged_arrays
from looplift.vectorize.context import Array, Context
from looplift.vectorize.nodes import Val
from looplift.vectorize.subscripts import extent_of


def new_array(context: Context, var: Var, made: Val, fact) -> None:
    """An array made in the region and written to: private to the axes in force where it is made."""
    if not fact.kind.is_array:
        raise context.refuse("unsupported-value", f"'{var.hint}', a {fact.kind.family}, is written to")
    axes = context.active_axes()
    ownership.check_fresh(context, var)
    if made.dims is not None:
        return ragged_arrays.new_array(context, var, made, fact)
    shape = tuple(extent_of(made.node, dim) for dim in range(fact.kind.rank))
    node = made.node
    if axes and node.axes != axes:
        node = Node("spread", (node,), axes, fact.kind, {"extents": list(shape)}, var.hint)
    node.attrs["extents"] = creation_extents(node, shape)
    shape = tuple(extent_of(node, dim) for dim in range(fact.kind.rank))
    context.arrays[var] = Array(var, node, fact.kind, shape, True, axes, home=context.steps[-1])


def creation_extents(node: Node, shape: tuple[Node | None, ...]) -> list[Node | None]:
    """The extents given to ``torch.zeros(n, m)``, so that loops over ``range(n)`` are seen to cover the array."""
    made = node.args[0] if node.op == "spread" else node
    if made.op != "apply":
        return list(shape)
    name, args = made.attrs["name"], made.args[: made.attrs["positional"]]
    base = name.rpartition(".")[2]
    if base in ("zeros_like", "ones_like", "empty_like", "full_like", "clone", "copy") and args[0].kind.rank == len(
        shape
    ):
        return [extent_of(args[0], dim) for dim in range(len(shape))]
    if base not in ("zeros", "ones", "empty", "full", "new_zeros", "new_ones", "new_full", "new_empty"):
        return list(shape)
    if base.startswith("new_"):
        args = args[1:]
    sizes = args[0].args if args and args[0].op == "display" else args
    if args and args[0].op == "const" and isinstance(args[0].attrs["value"], tuple):
        sizes = tuple(map(nodes.const, args[0].attrs["value"]))
    if base in ("full", "new_full") and args and args[0].op != "display":
        sizes = args[:1]
    if len(sizes) == len(shape) and all(s.kind.family == "int" for s in sizes):
        return list(sizes)
    return list(shape)


def target(context: Context, ref: Var, index: Operand) -> tuple[Array, Operand]:
    """The array that a store writes to, chained subscripts put together: ``x[i][j] = v`` is ``x[i, j] = v``."""
    from looplift.ir.grammar import Group, Slice

    if ref in context.arrays:
        return context.arrays[ref], index
    statement = context.flow.definition.get(ref)
    if isinstance(statement, Let) and statement.op.name in ("getitem", "iter_item"):
        owner, first = statement.op.args
        if isinstance(owner, Var) and context.facts.kind(owner).is_array:
            array, lead = target(context, owner, first)
            items = list(lead.items) if isinstance(lead, Group) else [lead]
            if any(isinstance(i, Slice) or (isinstance(i, Const) and not isinstance(i.value, int)) for i in items):
                raise context.refuse("aliasing", "a store through a slice of an array")
            if any(kind.is_array and kind.rank for kind in (context.facts.kind(as_atom(i)) for i in items)):
                raise context.refuse("aliasing", "a store into a copy made by an index tensor")
            last = list(index.items) if isinstance(index, Group) else [index]
            return array, Group("tuple", (*items, *last))
    raise context.refuse("aliasing", f"a store into '{ref.hint}', which is no array of its own")
