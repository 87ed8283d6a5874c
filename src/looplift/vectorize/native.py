"""A loop of scalar work becomes one call of a native kernel."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from looplift.base.data import replace
from looplift.ir.array import Node, Run, Write
from looplift.ir.facts import Kind
from looplift.ir.grammar import (
    UNDEFINED,
    Append,
    Block,
    Carry,
    Const,
    If,
    Let,
    Loop,
    Range,
    Statement,
    Store,
    Var,
    While,
    operands,
    uses,
    walk,
)
from looplift.ops.table import ARITHMETIC, base_name
from looplift.vectorize import nodes, ownership, rounding, settled, stores
from looplift.vectorize.context import Array, Context
from looplift.vectorize.flow import stored_roots
from looplift.vectorize.memory import check_shared
from looplift.vectorize.nodes import Val
from looplift.vectorize.numbers import CONVERSIONS
from looplift.vectorize.subscripts import Whole

if TYPE_CHECKING:
    from looplift.ir.kernel import Kernel


def native_loop(context: Context, loop: Loop) -> None:
    """Run the loop as a kernel. Raises NotLiftable where it is not scalar work; nothing is changed then."""
    with _asking(context):
        once = not context.serial_loops
        made = context.kernel_of(loop, context.facts, gradients=context.needs_grad, once=once)
    kernel = _renamed(made, len(context.kernels))
    for statement in walk(loop.body):
        if isinstance(statement, Let) and statement.op.name.startswith("inplace."):
            if context.facts.kind(statement.var).is_array:
                ownership.check_owned(context, statement.op, statement)
    for output in kernel.results:
        if output.same_as is not None or output.may_be_none or output.element_of or output.other is not None:
            raise context.refuse("mixed-kinds", f"'{output.var.hint}' is not always of one kind after the loop")
        if output.kind != context.facts.kind(output.var):
            raise context.refuse("not-scalar", f"'{output.var.hint}' is no single number")
    inner = [s for s in walk(loop.body) if isinstance(s, Loop)] if _takes_mixed(context, kernel) else []
    for each in (loop, *inner):
        if any(_begins_as_another(context, carry) for carry in each.carries) and not _has_an_iteration(context, each):
            raise context.refuse(
                "mixed-kinds", "what is of another kind before the loop stays so if it has no iteration"
            )
    gradients = bool(kernel.differentiable) and context.needs_grad
    if gradients:
        _check_gradients(context, loop, kernel)
    if context.needs_grad:
        _check_detached(context, loop, set(kernel.differentiable) if gradients else set())
    _check_settled(context, loop, kernel)
    operands = tuple(_operand(context, var, kernel.stored) for var in kernel.inputs)
    names = [context.fresh_name(var.hint) for var in kernel.outputs]
    if strange := [var for var in kernel.stored if var not in context.arrays]:
        raise context.refuse("not-scalar", f"'{strange[0].hint}' is stored into, and is no array that is known here")
    for var in kernel.stored:
        if (refusal := check_shared(context, var, loop.span, beside=loop)) is not None:
            raise refusal
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
        context.notes.append(
            f"a branch or an index depends on {', '.join(kernel.deciding)}, whose last digit may differ from torch's"
        )


def _begins_as_another(context: Context, carry: Carry) -> bool:
    """Whether a tensor may be a number before the loop, or a float an integer."""
    facts = context.facts
    if carry.init is UNDEFINED or carry.next is carry.inside:
        return False
    before, after = facts.kind(carry.init), facts.kind(carry.after)
    if after.is_number:
        return carry.init in facts.mixed or before.family != after.family
    return after.is_array and (before.is_number or carry.init in facts.mixed)


def _takes_mixed(context: Context, kernel: Kernel) -> bool:
    """Whether the kernel is given as one kind what is of two kinds in the loop, so that it cannot tell these apart."""
    return any(var in context.facts.mixed for var in kernel.inputs)


def _check_settled(context: Context, loop: Loop, kernel: Kernel) -> None:
    """Require that what may be a number is the tensor that the kernel takes it for, where a tensor is asked for."""
    mixed = {var for var in kernel.inputs if var in context.facts.mixed}
    for statement in walk(loop.body) if mixed else ():
        rounding.check_inside(context, statement)
        if isinstance(statement, Let) and statement.op.name not in ARITHMETIC:
            for atom in mixed & {*operands(statement.op)}:
                settled.check(context, atom)


@contextmanager
def _asking(context: Context) -> Iterator[None]:
    """Arrays that a loop around the kernel writes to ask for gradients from its second iteration on."""
    of, later = context.facts.of, context.facts.later
    kept = dict(of)
    stored = {root for loop in context.serial_loops for root in stored_roots(context.flow, loop.body)}
    for var in stored & set(context.facts.function.params):
        if context.needs_grad and of[var].kind.family == "tensor" and of[var].kind.dtype.is_floating_point:
            if not of[var].sample.requires_grad:
                later.add(var)
            of[var] = replace(of[var], sample=of[var].sample.detach().requires_grad_())
    try:
        yield
    finally:
        of.update(kept)
        later.clear()


def _renamed(kernel, number: int):
    """Kernels of one region have names of their own."""
    if not number:
        return kernel
    name = f"{kernel.name}_{number + 1}"
    texts = {key: getattr(kernel, key) for key in ("source", "caller", "adjoint", "adjoint_caller")}
    changed = {key: text.replace(kernel.name, name) for key, text in texts.items() if text is not None}
    return replace(kernel, name=name, **changed)


def _check_gradients(context: Context, loop: Loop, kernel) -> None:
    """What the loop may never write needs no gradient: that must happen in every run, outside of ifs and loops that
    may have no iteration. So must what its results depend on."""
    certain: set[Var] = set()
    _collect(context, Block((loop,)), certain)
    for var in () if kernel.is_witnessed else kernel.stored:
        if var not in certain and context.facts.kind(var).is_array:
            raise context.refuse("not-scalar", f"'{var.hint}' may not be written to, and then has no gradient")
    for running in kernel.running:
        if not _has_an_iteration(context, running):
            raise context.refuse("not-scalar", "a loop may have no iteration, and its results then no gradient")


def _has_an_iteration(context: Context, loop: Loop) -> bool:
    """Require that a loop has an iteration; False where its bounds are not known before."""
    if not isinstance(loop.domain, Range):
        return False
    atoms = (loop.domain.lo, loop.domain.hi, loop.domain.step)
    if not all(isinstance(atom, Const) or (atom in context.vals and not context.facts[atom].loops) for atom in atoms):
        return False
    count = Node("count", tuple(map(context.node, atoms)), (), nodes.INT, {"key": f"#{id(loop)}"})
    context.check_at_most(nodes.const(1), count)
    return True


def _check_detached(context: Context, loop: Loop, differentiable: set[Var]) -> None:
    """Tensors that ask for gradients and get none from the kernel may only be read as Python numbers."""
    for statement in walk(loop.body):
        if not isinstance(statement, Let) or statement.op.name in ("getitem", "iter_item", *CONVERSIONS):
            continue
        kind = context.facts.kind(statement.var)
        if kind.family != "tensor" or not kind.dtype.is_floating_point:
            continue
        for atom in operands(statement.op):
            root = context.flow.root(atom) if isinstance(atom, Var) else None
            flat = base_name(statement.op.name) in ("floordiv", "floor_divide")
            if root is None or ((root in differentiable or root in context.arrays) and not flat):
                continue
            if root in context.facts.function.params and getattr(context.facts[root].sample, "requires_grad", False):
                raise context.refuse("not-scalar", f"'{root.hint}' asks for gradients that the kernel does not give")


def _collect(context: Context, block: Block, certain: set[Var]) -> None:
    """Arrays that statements of a block surely read or write."""
    for statement in block:
        if isinstance(statement, Store):
            values = (statement.ref, statement.value)
            certain.update(context.flow.root(atom) for atom in values if isinstance(atom, Var))
        if isinstance(statement, Loop):
            if isinstance(statement.domain, While) or statement.stop is not None:
                continue
            if _has_an_iteration(context, statement):
                certain.update(c.init for c in statement.carries if isinstance(c.init, Var))
                _collect(context, statement.body, certain)
            continue
        if isinstance(statement, If):
            certain |= _of_both(context, statement)
        certain.update(context.flow.root(atom) for atom in _computed_from(context, statement))


def _of_both(context: Context, branch: If) -> set[Var]:
    """Arrays that either side surely reads or writes, whose loops may have no iteration."""
    sides: list[set[Var]] = [set(), set()]
    for block, certain in zip((branch.then, branch.orelse), sides, strict=True):
        _collect(context, Block(tuple(one for one in block if not isinstance(one, Loop))), certain)
    return sides[0] & sides[1]


def _computed_from(context: Context, statement: Statement) -> list[Var]:
    """What a statement takes numbers from, whatever they are: not what it compares, or only finds an element of."""
    match statement:
        case Let(var=var, op=op):
            kind = context.facts.kind(var)
            if op.name in ("getitem", "iter_item", "copy") or "float" not in str(kind.dtype or kind.family):
                return []
        case Append():
            pass
        case _:
            return []
    return [atom for atom in uses(statement) if isinstance(atom, Var)]


def _named(name: str, kind: Kind) -> Node:
    return Node("name", (), (), kind, {"text": name, "local": True}, name)


def _operand(context: Context, var: Var, stored: tuple[Var, ...]) -> Node:
    if var in context.arrays:
        stores.bind(context, context.arrays[var])
        node = context.arrays[var].node
        if context.is_overwritten(var) and var not in stored:
            return Node("method", (node,), node.axes, node.kind, {"name": "clone"})
        return node
    val = context.lookup(var)
    if val.sequence is not None or val.items is not None or val.node.axes:
        raise context.refuse("not-scalar", f"'{var.hint}' is a list that the region makes")
    return val.node


def _replace(context: Context, array: Array, name: str) -> None:
    """The array after a differentiable kernel is a new one; one of the caller gets the values written back."""
    value = Node("name", (), (), array.kind, {"text": name, "local": True, "extents": list(array.shape)}, name)
    if array.fresh and not context.serial_loops:
        array.node, array.name = value, name
        value.attrs["memory"] = True
        return
    pieces = [Whole() for _ in array.shape]
    context.add(Write(array.name, array.node, "set", (value,), {"pieces": pieces, "mask": None}))
