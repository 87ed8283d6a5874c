"""One operation in every lane: alignment, promotion, requirements and the batched form, family by family."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from looplift.base.data import replace
from looplift.ir.array import Node
from looplift.ir.facts import Fact, Kind
from looplift.ir.grammar import LONGEST, STEP, STOP, Const, Group, Let, Op, Operand, Slice, Var, as_atom, operands
from looplift.ir.slopes import THROUGH
from looplift.ops import table
from looplift.ops.autocast import rounds_products
from looplift.ops.names import OF_USERS, said
from looplift.vectorize import (
    arithmetic,
    cells,
    custom,
    evened,
    mapped,
    nodes,
    numbers,
    positions,
    ragged,
    ragged_arrays,
    ragged_joins,
    rows,
    sequences,
    shapes,
    sheltered,
    stacked,
    strips,
)
from looplift.vectorize.context import Context
from looplift.vectorize.items import size_of, structure
from looplift.vectorize.nodes import Affine, Val
from looplift.vectorize.uniform import uniform

SIZES = ("method.size", "method.numel", "method.nelement", "method.dim")

STRUCTURE = frozenset(
    """getitem iter_item iter_len builtin.len attribute unpack tuple tuple_or_none list dict copy
    zipped zipped_lists zipped_dicts mapping""".split()
)


def operation(context: Context, statement: Let) -> Val:
    """The value of one Let in the emitted program."""
    context.span = statement.span
    context.safe = sheltered.operands_in_lanes(context, statement.op, context.facts.kind(statement.var))
    try:
        return _operation(context, statement)
    finally:
        context.safe = {}


def _is_integer(context: Context, op: Op) -> bool:
    return context.facts.kind(as_atom(op.args[0])).family == "int"


def _operation(context: Context, statement: Let) -> Val:
    op, fact = statement.op, context.facts.of[statement.var]
    if op.name == THROUGH:
        from looplift.vectorize.differentiated import slopes_through

        return slopes_through(context, statement)
    if op.name in ("as_divisor", "as_place") or (op.name == "as_key" and _is_integer(context, op)):
        return context.lookup(as_atom(op.args[-1]))  # of which kind they are the probe has seen
    if op.name == "as_key":
        op = replace(op, name="builtin.int")
    if op.name in ragged_joins.JOINS and ragged_joins.is_ragged(context, op):
        return ragged_joins.joined(context, op, fact)
    if _has_ragged_operand(context, op) and (listed := ragged_joins.display(context, statement)) is not None:
        return listed
    if _has_ragged_operand(context, op) or (reads_sequence(context, op) and rows.has_row_subscript(context, op)):
        return ragged.operation(context, statement)
    if op.name in STRUCTURE:
        return structure(context, op, fact, statement.var)
    if op.name == "key_place":
        from looplift.vectorize.key_places import place_of_key

        return place_of_key(context, op, statement.var.hint)
    if op.name.startswith(OF_USERS):
        return custom.called(context, op, fact, statement.var)
    if op.name in SIZES and (size := size_of(context, op, fact)) is not None:
        return size
    if op.name in (STEP, STOP) and (found := strips.bound(context, statement)) is not None:
        return found
    if op.name == LONGEST:
        return evened.longest(context, op)
    values = _flat(context, op)
    if affine := _affine(context, op):
        return affine
    if table.family(op.name) == "random" and context.axes:
        from looplift.vectorize.effects import drawn

        return drawn(context, op, fact, statement.var)
    if op.name == "format":
        return Val(Node("none", (), (), fact.kind))
    if op.name in ("is_", "is_not") and not _tells_objects(context, op):
        raise context.refuse("unknown-op", "'is' of values that are made anew where the loop hands one on")
    if not any(value.axes for value in values):
        return Val(_added(context, statement, uniform(context, op, fact, statement.var)))
    if op.name in ("is_", "is_not") and all(_is_bool(context, arg) for arg in op.args):
        op = replace(op, name="eq" if op.name == "is_" else "ne")  # there is but one True
    if op.name in ("in_", "not_in") and (found := _found_in(context, op, fact, statement.var)) is not None:
        return found
    if op.name in ("is_", "is_not", "call", "format", "in_", "not_in"):
        raise context.refuse(
            "unknown-op", f"'{op.name.rstrip('_').replace('_', ' ')}' of values that differ by iteration"
        )
    if table.base_name(op.name) in FILLED and (made := ragged_arrays.made_of_sizes(context, op, fact)) is not None:
        return made
    if op.name == "torch.arange" and (made := ragged_arrays.counted(context, op, fact)) is not None:
        return made
    made = lanes(context, op, fact, statement.var)
    if op.name.startswith("inplace."):
        made = _of_its_own_type(context, made, fact)
    _added(context, statement, made.node)
    return made


def _of_its_own_type(context: Context, made: Val, fact: Fact) -> Val:
    """``a += b`` keeps the dtype of ``a``: it is computed in the wider one, and rounded."""
    node = made.node
    if node.op != "elementwise" or not fact.kind.is_array:
        return made
    kind = arithmetic.common_kind(context, [arg for arg in node.args if isinstance(arg, Node)], fact.kind)
    if kind.dtype == fact.kind.dtype:
        return made
    computed = Node(node.op, node.args, node.axes, kind, node.attrs, node.hint)
    return Val(Node("cast", (computed,), node.axes, fact.kind, {"dtype": fact.kind.dtype}, node.hint))


FILLED = ("zeros", "ones", "empty", "full")


def _has_ragged_operand(context: Context, op: Op) -> bool:
    return any(val.dims is not None for val in _vals(context, [*op.args, *(value for _, value in op.kwargs)]))


def _vals(context: Context, operands: Iterable[Any]) -> list[Val]:
    found: list[Val] = []
    for operand in operands:
        if isinstance(operand, Group):
            found += _vals(context, operand.items)
        elif isinstance(operand, Slice):
            found += _vals(context, (operand.lo, operand.hi, operand.step))
        else:
            found.append(context.lookup(operand))
    return found


def reads_sequence(context: Context, op: Op) -> bool:
    """Whether an operand is a list in each lane, or a value of another length in each."""
    for atom in operands(op):
        val = context.vals.get(atom) if isinstance(atom, Var) else None
        if atom in context.arrays or (val is not None and (val.sequence is not None or val.dims is not None)):
            return True
    return False


PRODUCTS = ("matmul", "torch.matmul", "torch.mm", "method.matmul", "method.mm")


def _added(context: Context, statement: Let, node: Node) -> Node:
    """Mark a sum with a product of matrices of its shape, of which no digit decides: the product may begin with it."""
    op, fact = statement.op, context.facts.of[statement.var]
    if op.name != "add" or node.op not in ("elementwise", "apply") or node.rank != 2:
        return node
    if statement.var in context.flow.deciding or str(fact.kind.dtype) not in ("torch.float32", "torch.float64"):
        return node
    for position, (operand, arg) in enumerate(zip(op.args, node.args, strict=True)):
        product = arg.op == "matmul" or (arg.op == "apply" and arg.attrs["name"] in PRODUCTS)
        if not product or not isinstance(operand, Var) or context.facts.of[operand].shape != fact.shape:
            continue
        if arg.kind == node.kind and arg.axes == node.axes and not rounds_products(fact.kind.dtype):
            node.attrs["product"] = position
    return node


def _tells_objects(context: Context, op: Op) -> bool:
    """Whether two values are one object in the batched code if they are in the loop: one is the only one of its kind,
    or both come from outside."""
    given = set(context.facts.function.params)
    outside = [isinstance(arg, Const) or arg in given for arg in op.args]
    return all(outside) or any(context.facts.kind(as_atom(arg)).family not in MADE for arg in op.args)


MADE = ("tensor", "array", "numpy", "list", "tuple", "dict", "int", "float", "complex", "str", "record")
"""Kinds of values that batched code makes again."""


def _found_in(context: Context, op: Op, fact: Fact, var: Var) -> Val | None:
    """``v in x`` of an array and a number: whether any element is equal."""
    value, array = (context.node(as_atom(operand)) for operand in op.args)
    if not array.kind.is_array or not array.kind.rank or (value.kind.is_array and value.kind.rank):
        return None
    if not (value.kind.is_array or value.kind.is_number):
        return None
    import numpy as np
    import torch

    dtype = torch.bool if array.kind.family == "tensor" else np.dtype(bool)
    same = arithmetic.arithmetic(context, "eq", [value, array], Kind(array.kind.family, dtype, array.kind.rank), {})
    kind = Kind("numpy" if array.kind.family == "array" else "tensor", dtype, 0)
    sample = np.bool_(False) if kind.family == "numpy" else torch.tensor(False)
    found = shapes.reduction(context, "method.any", [same], {}, Fact(kind, (), (), sample))
    return numbers.number_operation(context, "not" if op.name == "not_in" else "builtin.bool", [found], {}, fact, var)


def _is_bool(context: Context, operand: Operand) -> bool:
    return isinstance(operand, Var | Const) and context.facts.kind(operand).family == "bool"


def _flat(context: Context, op: Op) -> list[Node]:
    """What an operation reads; of a list that differs by iteration there is no one value to be read."""
    for atom in operands(op):
        if isinstance(atom, Var) and context.vals.get(atom, _NOTHING).sequence is not None:
            raise context.refuse("unknown-op", f"'{said(op.name)}' of '{atom.hint}', another list in each iteration")
    return [context.node(atom) for atom in operands(op)]


_NOTHING = Val(nodes.const(None))


# ---------------------------------------------------------------- integers


def _affine(context: Context, op: Op) -> Val | None:
    """Sums and differences of positions stay affine forms, so that subscripts by them are views."""
    name = op.name.removeprefix("inplace.")
    if name not in ("add", "sub", "mul", "neg", "pos") or op.kwargs:
        return None
    integers = [a for a in op.args if isinstance(a, Var | Const) and context.facts.kind(a).family == "int"]
    if len(integers) < len(op.args):
        return None
    forms = [form for atom in integers if (form := context.affine(atom)) is not None]
    if len(forms) < len(integers):
        return None
    made = _affine_of(name, forms)
    if made is None:
        return None
    from looplift.vectorize.context import node_of

    return Val(node_of(made), made) if made.terms else Val(made.base)


def _affine_of(name: str, forms: list[Affine]) -> Affine | None:
    if name == "pos":
        return forms[0]
    if name == "neg":
        return _scaled(forms[0], -1)
    a, b = forms
    if name == "mul":
        for form, factor in ((a, b), (b, a)):
            value = nodes.constant_of(factor.base) if not factor.terms else None
            if value is not None:
                return _scaled(form, value)
        return None
    if name == "sub":
        b = _scaled(b, -1)
    terms = dict(a.terms)
    for axis, coefficient in b.terms:
        terms[axis] = terms.get(axis, 0) + coefficient
    return Affine(tuple((axis, c) for axis, c in terms.items() if c), nodes.plus(a.base, b.base))


def _scaled(form: Affine, factor: int) -> Affine:
    if factor == 0:
        return Affine((), nodes.const(0))
    return Affine(tuple((axis, c * factor) for axis, c in form.terms), nodes.times(form.base, factor))


# ---------------------------------------------------------------- values in lanes


def _of_unlike(context: Context, name: str, args: list[Any], fact: Fact) -> Val | None:
    """``x[i] != "end"`` of a number or tensor and what is neither: one truth of Python's for all lanes."""
    others = [arg for arg in args if not (isinstance(arg, Node) and (arg.kind.is_number or arg.kind.is_array))]
    if len(others) != 1 or fact.kind.family != "bool":
        return None
    if not isinstance(others[0], Node):
        raise context.refuse("mixed-kinds", "a number or tensor is compared with a list or tuple")
    if others[0].kind.family not in ("string", "none") and others[0].op != "const":
        raise context.refuse("mixed-kinds", f"a number or tensor is compared with a {others[0].kind.family}")
    return Val(nodes.const(name == "ne"))


def lanes(context: Context, op: Op, fact: Fact, var: Var) -> Val:
    """The batched form of an operation on values that differ by iteration."""
    name = op.name.removeprefix("inplace.")
    if op.name == "module" and ragged.takes_rows(op):
        return cells.called(context, op, fact, var)
    if op.name == "module" and sequences.takes(op):
        return sequences.called(context, op, fact, var)
    if op.name == "module":
        from looplift.vectorize.network import module_call

        return Val(module_call(context, op, fact, var))
    args = [_argument(context, operand) for operand in op.args]
    if name in ("eq", "ne") and (known := _of_unlike(context, name, args, fact)) is not None:
        return known
    kwargs = {key: _argument(context, operand) for key, operand in op.kwargs}
    of_numbers = fact.kind.is_number or name in ("not", "method.tolist") or name.startswith(("builtin.", "math."))
    if of_numbers and (number := numbers.number_operation(context, name, args, kwargs, fact, var)) is not None:
        return number
    if (found := _form(context, name, args, kwargs, fact)) is not None:
        if found.node.op == "batched":
            found.node.hint = var.hint
        return found
    if context.library == "np" and (made := stacked.stacked(context, name, args, kwargs, fact)) is not None:
        made.hint = var.hint
        return mapped.several(made, fact) if isinstance(fact.sample, tuple) else Val(made)
    is_several = isinstance(fact.sample, tuple)
    if is_several and (pair := mapped.paired(context, name, args, kwargs, fact)) is not None:
        return mapped.several(pair, fact)
    if table.base_name(name) in PLACES and (found := positions.positions(context, op, args, fact)) is not None:
        return found
    family = table.family(name)
    match family:
        case "elementwise":
            node = arithmetic.arithmetic(context, name, args, fact.kind, kwargs)
        case "reduction":
            node = shapes.reduction(context, name, args, kwargs, fact)
            if node.op == "fold" and var in context.flow.compared:
                node.attrs["compared"] = True
            if node.op == "fold" and var in context.flow.deciding:
                node.attrs["decides"] = True
        case "along":
            node = shapes.along(context, name, args, kwargs, fact)
        case "shape":
            from looplift.vectorize.network import special

            node = shapes.shape_operation(context, table.base_name(name), args[:1], args[1:], kwargs, fact)
            node = node or special(context, name, args, kwargs, fact)
        case "contraction":
            from looplift.vectorize.network import contraction

            node = contraction(context, name, args, kwargs, fact)
        case "random" | "blocked":
            raise context.refuse("unknown-op", f"'{said(name)}' in a loop has no batched form")
        case _:
            from looplift.vectorize.network import special

            node = special(context, name, args, kwargs, fact)
    node.hint = var.hint
    return mapped.several(node, fact) if is_several else Val(node)


PLACES = ("where", "nonzero", "argwhere", "flatnonzero")


TENSOR_FORMS = frozenset(
    """bucketize searchsorted isin repeat_interleave bincount moveaxis as_tensor column_stack zeros_like ones_like
    full_like allclose equal""".split()
)
"""Of torch, with a form in ``tensor_forms``, which is imported for these alone."""

LOSSES = frozenset(
    """mse_loss l1_loss smooth_l1_loss huber_loss soft_margin_loss kl_div binary_cross_entropy
    binary_cross_entropy_with_logits cross_entropy nll_loss""".split()
)
"""Those with a form in ``losses``."""


def _form(context: Context, name: str, args: list[Any], kwargs: dict[str, Any], fact: Fact) -> Val | None:
    """The batched form of a function that has one of its own."""
    if "." not in name or name.startswith(("builtin.", "math.")):
        return None
    if context.library == "np":
        from looplift.vectorize import array_forms as forms
    elif name.startswith("torch.nn.functional.") and table.base_name(name) in LOSSES:
        from looplift.vectorize import losses as forms
    elif table.base_name(name) in TENSOR_FORMS:
        from looplift.vectorize import tensor_forms as forms
    else:
        return None
    return forms.form(context, name, args, kwargs, fact)


def _argument(context: Context, operand: Operand) -> Any:
    """A node, or a list of nodes for a display."""
    if isinstance(operand, Group):
        return [_argument(context, item) for item in operand.items]
    if isinstance(operand, Slice):
        raise context.refuse("unsupported-value", "a slice as an argument")
    val = context.val(operand)
    if val.items is not None:
        return [item.node for item in val.items]
    return val.node
