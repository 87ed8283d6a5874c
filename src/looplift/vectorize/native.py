"""A loop of scalar work becomes one call of a native kernel."""

from __future__ import annotations

from looplift.ir.array import Node, Run, Write
from looplift.ir.facts import Kind
from looplift.ir.grammar import Loop, Var, walk
from looplift.vectorize.context import Array, Context
from looplift.vectorize.indexing import Whole, bind
from looplift.vectorize.nodes import Val


def native_loop(context: Context, loop: Loop) -> None:
    """Run the loop as a kernel. Raises NotLiftable where it is not scalar work; nothing is changed then."""
    kernel = context.kernel_of(loop, context.facts, gradients=context.needs_grad)
    for output in kernel.results:
        if output.same_as is not None or output.may_be_none or output.element_of or output.other is not None:
            raise context.refuse("mixed-kinds", f"'{output.var.hint}' is not always of one kind after the loop")
    operands = tuple(_operand(context, var) for var in kernel.inputs)
    gradients = bool(kernel.differentiable) and context.needs_grad
    names = [context.fresh_name(var.hint) for var in kernel.outputs]
    arrays = [context.arrays[var] for var in kernel.stored]
    fresh = [context.fresh_name(f"{array.name}_new") for array in arrays] if gradients else [a.name for a in arrays]
    context.add(Run(kernel, names, operands, fresh, gradients))
    context.kernels.append((kernel, gradients))
    for output, name in zip(kernel.results, names, strict=True):
        context.vals[output.var] = Val(_named(name, output.kind))
    if gradients:
        for array, name in zip(arrays, fresh, strict=True):
            _replace(context, array, name)
    for inner in (loop, *(s for s in walk(loop.body) if isinstance(s, Loop))):
        context.decisions[inner] = ("native", "", "")
    if kernel.deciding:
        context.notes.append(f"a branch or an index depends on {', '.join(kernel.deciding)}, whose last digit may differ from torch's")


def _named(name: str, kind: Kind) -> Node:
    return Node("name", (), (), kind, {"text": name, "local": True}, name)


def _operand(context: Context, var: Var) -> Node:
    if var in context.arrays:
        bind(context, context.arrays[var])
        return context.arrays[var].node
    val = context.vals[var]
    if val.sequence is not None or val.items is not None or val.node.axes:
        raise context.refuse("not-scalar", f"'{var.hint}' is a list that the region makes")
    return val.node


def _replace(context: Context, array: Array, name: str) -> None:
    """The array after a differentiable kernel is a new one; one of the caller gets the values written back."""
    value = Node("name", (), (), array.kind, {"text": name, "local": True, "extents": list(array.shape)}, name)
    if array.fresh:
        array.node, array.name = value, name
        value.attrs["memory"] = True
        return
    pieces = [Whole() for _ in array.shape]
    context.add(Write(array.name, array.node, "set", (value,), {"pieces": pieces, "mask": None}))
