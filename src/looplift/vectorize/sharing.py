"""A statement in, whether what it makes may be the memory of one of its operands out."""

from __future__ import annotations

from typing import Any

from looplift.ir.grammar import Const, Group, Let, Op, Var, as_atom, constant, operands
from looplift.ops import table
from looplift.vectorize.context import Context

ITEMS = ("getitem", "iter_item", "attribute", "unpack", "copy")
PIECES = frozenset("chunk split unbind hsplit vsplit dsplit tensor_split array_split split_with_sizes unstack".split())
"""What gives several views."""
SEVERAL = frozenset(
    """topk sort max min median nanmedian mode kthvalue cummax cummin aminmax std_mean var_mean qr svd eigh eig slogdet
    lu lu_factor lstsq inv_ex cholesky_ex modf frexp""".split()
)
"""What gives several tensors of their own."""
ARRAY_COPIES = frozenset("copy flatten repeat astype pos positive".split())
"""What makes memory of its own in NumPy, whether there is something to change or not."""


def copies(context: Context, statement: Let) -> bool:
    """Whether a read makes a copy: by an index tensor, or a scalar of NumPy."""
    if context.facts.kind(statement.var).family == "numpy":
        return True
    index = statement.op.args[1] if statement.op.name == "getitem" else None
    items = index.items if isinstance(index, Group) else (index,)
    return any(isinstance(i, Var) and context.facts.kind(i).is_array and context.facts.kind(i).rank for i in items)


def may_give_its_argument(context: Context, made: Let) -> bool:
    """Whether a call may return its argument or a view of it."""
    op, kind = made.op, context.facts.kind(made.var)
    if op.name not in ITEMS and kind.family in ("tuple", "list"):
        return table.base_name(op.name) in PIECES
    if op.name in (*ITEMS, "builtin.min", "builtin.max") or not kind.is_array:
        return False
    if op.name == "module":
        name = type(constant(op.args[0])).__name__
        return name not in table.STATELESS_MODULES or name in ("Identity", "Flatten")
    if op.name == "call" or _is_seen_to_share(context, made):
        return True
    base = table.base_name(op.name)
    if base in (ARRAY_COPIES if context.library == "np" else table.COPIES):
        return False
    if base in table.UNCOPIED:
        return _has_kind_of_operand(context, op, kind.dtype) or base in ("real", "imag")
    return table.family(op.name) == "shape"


def result_item(context: Context, op: Op) -> Var | None:
    """Which of several results ``a, b = torch.topk(...)`` an item is: the first name for it; None of other items."""
    owner = op.args[0] if op.name in ("getitem", "unpack") else None
    made = context.flow.definition.get(owner) if isinstance(owner, Var) else None
    if not isinstance(made, Let) or table.base_name(made.op.name) not in SEVERAL or made.op.name.startswith("builtin."):
        return None
    results = context.facts.of[made.var].sample
    count = len(results) if isinstance(results, tuple) else 0
    if (place := _place_among(op, count)) is None:
        return None
    for user in context.flow.users[made.var]:
        if isinstance(user, Let) and user.op.args[0] is owner and _place_among(user.op, count) == place:
            return user.var
    return None


def _place_among(op: Op, count: int) -> int | None:
    index = op.args[1] if op.name in ("getitem", "unpack") else None
    if not isinstance(index, Const) or type(index.value) is not int or not -count <= index.value < count:
        return None
    return index.value % count


def is_view(context: Context, made: Let) -> bool:
    """Whether the result may be memory of the first operand: a subscript without a copy, or a call as above."""
    if made.op.name in ("getitem", "iter_item", "unpack", "attribute"):
        if result_item(context, made.op) is not None:
            return False
        return context.facts.kind(made.var).is_array and not copies(context, made)
    return may_give_its_argument(context, made)


def origin(context: Context, var: Var) -> Var:
    """The array that a chain of views ends in."""
    made = context.flow.definition.get(var)
    if isinstance(made, Let) and is_view(context, made):
        owners = [a for a in operands(made.op) if isinstance(a, Var) and context.facts.kind(a).family in OWNERS]
        if owners:
            return origin(context, owners[0])
    return context.flow.root(var)


OWNERS = ("tensor", "array", "list", "tuple", "object")


def _has_kind_of_operand(context: Context, op: Op, dtype: Any) -> bool:
    first = as_atom(op.args[0]) if op.args and not isinstance(op.args[0], Group) else None
    return not isinstance(first, Var) or context.facts.kind(first).dtype == dtype


def _is_seen_to_share(context: Context, made: Let) -> bool:
    """Whether it does in the lane that was probed."""
    place = _place(context.facts.of[made.var].sample)
    found = [context.facts.of[a].sample for a in operands(made.op) if isinstance(a, Var) and a in context.facts.of]
    return place is not None and any(_place(value) == place for value in found)


def _place(value: Any) -> int | None:
    """Where the memory of an array begins; None of what has none."""
    if hasattr(type(value), "untyped_storage"):
        return value.untyped_storage().data_ptr() or None
    if not hasattr(type(value), "__array_interface__"):
        return None
    while hasattr(type(getattr(value, "base", None)), "__array_interface__"):
        value = value.base
    if value.ndim and value.size:
        return value.__array_interface__["data"][0]
    return None
