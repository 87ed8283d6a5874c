"""One operation in every lane: alignment, promotion, requirements and the batched form, family by family."""

from __future__ import annotations

from typing import Any

from looplift.ir.array import Node, merge_axes
from looplift.ir.facts import Fact, Kind
from looplift.ir.grammar import Atom, Const, Group, Let, Op, Operand, Slice, Var, as_atom, atoms, constant, operands
from looplift.ops import table
from looplift.vectorize import nodes, numbers
from looplift.vectorize.context import Context
from looplift.vectorize.indexing import extent_of, read
from looplift.vectorize.nodes import Affine, Val


def operation(context: Context, statement: Let) -> Val:
    """The value of one Let in the emitted program."""
    op, fact = statement.op, context.facts.of[statement.var]
    context.span = statement.span
    if op.name in ("getitem", "iter_item", "iter_len", "builtin.len", "attribute", "unpack", "tuple", "list", "copy"):
        return structure(context, op, fact, statement.var)
    values = _flat(context, op)
    if affine := _affine(context, op):
        return affine
    if table.family(op.name) == "random" and context.axes:
        from looplift.vectorize.effects import drawn

        return drawn(context, op, fact, statement.var)
    if op.name == "format":
        return Val(Node("none", (), (), fact.kind))
    if not any(value.axes for value in values):
        return Val(uniform(context, op, fact, statement.var))
    if op.name in ("is_", "is_not", "call", "format", "in_", "not_in"):
        raise context.refuse(
            "unknown-op", f"'{op.name.rstrip('_').replace('_', ' ')}' of values that differ by iteration"
        )
    return lanes(context, op, fact, statement.var)


def _flat(context: Context, op: Op) -> list[Node]:
    return [context.node(atom) for atom in operands(op)]


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


# ---------------------------------------------------------------- values that no axis changes


def operand_node(context: Context, operand: Operand) -> Node:
    """A node for any operand, groups and slices included, for operations that are spelled as written."""
    match operand:
        case Group(kind=kind, items=items):
            made = tuple(operand_node(context, item) for item in items)
            return Node("display", made, (), Kind("tuple"), {"kind": kind})
        case Slice(lo=lo, hi=hi, step=step):
            return Node("cut", tuple(context.node(part) for part in (lo, hi, step)), (), Kind("object"))
    return context.node(operand)


def uniform(context: Context, op: Op, fact: Fact, var: Var, *, random: bool = False) -> Node:
    """The operation as its author wrote it, once for all lanes."""
    if (not random and table.family(op.name) == "random") or op.name == "call":
        raise context.refuse("random-order", "random numbers are drawn here, and their order must stay")
    args = tuple(operand_node(context, operand) for operand in op.args)
    kwargs = tuple((key, operand_node(context, operand)) for key, operand in op.kwargs)
    attrs: dict[str, Any] = {"name": op.name, "kwargs": [key for key, _ in kwargs], "positional": len(args)}
    if context.mask is not None and fact.kind.is_number:
        attrs["unsafe"] = True
    node = Node("apply", args + tuple(node for _, node in kwargs), (), fact.kind, attrs, var.hint)
    if op.name.startswith("inplace.") and fact.kind.is_array:
        return _in_dtype(context, node, args, fact)
    return node


def _in_dtype(context: Context, node: Node, args: tuple[Node, ...], fact: Fact) -> Node:
    """``a += b`` keeps the dtype and shape of ``a``."""
    if fact.kind.family == "array" and not fact.kind.rank:
        raise context.refuse("aliasing", "a NumPy array without dimensions is changed in place")
    if args[1].kind.is_array and args[1].kind.rank > fact.kind.rank:
        raise context.refuse("requirement", "a larger tensor is added in place")
    return Node("cast", (node,), (), fact.kind, {"dtype": fact.kind.dtype}, node.hint)


# ---------------------------------------------------------------- structure: items, sizes, tuples, lists


def structure(context: Context, op: Op, fact: Fact, var: Var) -> Val:
    match op.name:
        case "copy":
            return context.val(as_atom(op.args[0]))
        case "tuple" | "list":
            return _display(context, op, fact)
        case "unpack":
            return _item(context, as_atom(op.args[0]), constant(op.args[1]), fact, op)
        case "attribute":
            return _attribute(context, op, fact, var)
        case "iter_len" | "builtin.len":
            return _length(context, op)
    return _getitem(context, op, fact, var)


def _display(context: Context, op: Op, fact: Fact) -> Val:
    items = [
        Val(operand_node(context, item)) if isinstance(item, Group) else context.val(as_atom(item)) for item in op.args
    ]
    axes = merge_axes(*(item.node.axes for item in items))
    node = Node("display", tuple(item.node for item in items), axes, fact.kind, {"kind": op.name})
    return Val(node, items=items)


def _item(context: Context, owner: Atom, position: int, fact: Fact, op: Op) -> Val:
    val = context.val(owner)
    if val.items is not None:
        return val.items[position]
    kind = val.node.kind
    if kind.family == "tensor" or kind.family == "array":
        count = context.facts[owner].shape[0]
        if len(op.args) == 3 and constant(op.args[2]) != count:
            raise context.refuse("requirement", "the number of values does not fit")
        extent = extent_of(val.node, 0)
        context.check(nodes.compare("eq", extent, nodes.const(count)), f"={nodes.key_of(extent)}:{count}")
        return read(context, val.node, Const(position), fact.kind)
    if val.node.axes:
        raise context.refuse("unknown-op", "an item of a value that differs by iteration")
    attrs = {"name": "getitem", "kwargs": [], "positional": 2}
    return Val(Node("apply", (val.node, nodes.const(position)), (), fact.kind, attrs))


def _attribute(context: Context, op: Op, fact: Fact, var: Var) -> Val:
    owner, name = context.node(as_atom(op.args[0])), constant(op.args[1])
    if name == "shape" and owner.kind.is_array:
        items = [Val(extent_of(owner, dim)) for dim in range(owner.kind.rank)]
        return Val(Node("display", tuple(i.node for i in items), (), fact.kind, {"kind": "tuple"}), items=items)
    if name in ("dtype", "device", "ndim", "is_cuda"):
        if name == "ndim":
            return Val(nodes.const(owner.kind.rank))
        return Val(Node("attribute", (owner,), (), fact.kind, {"name": name}))
    if name in ("T", "mT") and owner.kind.is_array:
        return Val(shape_operation(context, name, [owner], [], {}, fact))
    if not owner.axes:
        return Val(Node("attribute", (owner,), (), fact.kind, {"name": name}, var.hint))
    raise context.refuse("unknown-op", f"the attribute '.{name}' of a value that differs by iteration")


def _length(context: Context, op: Op) -> Val:
    val = context.val(as_atom(op.args[0]))
    if val.items is not None:
        return Val(nodes.const(len(val.items)))
    if val.node.kind.is_array:
        return Val(extent_of(val.node, 0))
    if val.sequence is not None:
        return Val(val.sequence.length(context))
    if val.node.axes:
        raise context.refuse("ragged-shape", "the length of a list that differs by iteration")
    return Val(Node("length", (val.node,), (), nodes.INT, {"key": f"len({nodes.key_of(val.node)})"}))


def _getitem(context: Context, op: Op, fact: Fact, var: Var) -> Val:
    owner, index = op.args
    val = context.val(as_atom(owner))
    if val.sequence is not None:
        return val.sequence.item(context, index, fact)
    if val.items is not None:
        return _displayed_item(context, val.items, index, fact)
    if val.node.kind.is_array:
        form = read(context, val.node, index, fact.kind)
        form.node.hint = var.hint
        return form
    if not val.node.axes and not any(context.node(a).axes for a in _index_atoms(index)):
        return Val(uniform(context, op, fact, var))
    from looplift.vectorize.lists import packed

    return packed(context, as_atom(owner), val, index, fact)


def _index_atoms(index: Operand):
    return list(atoms(index))


def _displayed_item(context: Context, items: list[Val], index: Operand, fact: Fact) -> Val:
    """An item of a list display: known by a constant, else one of a small table."""
    form = context.affine(index) if isinstance(index, Var | Const) else None
    position = nodes.constant_of(form.base) if form is not None and not form.terms else None
    if position is not None and -len(items) <= position < len(items):
        return items[position]
    if all(item.node.op == "const" and item.node.kind.is_number for item in items) and form is not None:
        values = [item.node.attrs["value"] for item in items]
        if len({type(v) for v in values}) != 1:
            raise context.refuse("mixed-kinds", "a tuple of different kinds of numbers")
        kind = Kind("array" if context.library == "np" else "tensor", nodes.lane_dtype(fact.kind), 1)
        table_node = Node("vector", (), (), kind, {"values": values, "extents": [nodes.const(len(values))]})
        got = read(context, table_node, index, Kind(kind.family, kind.dtype, 0)).node
        if not got.axes:
            return Val(Node("apply", (got,), (), fact.kind, {"name": "method.item", "kwargs": [], "positional": 1}))
        return Val(Node("retype", (got,), got.axes, fact.kind))
    raise context.refuse("unsupported-value", "a list is read at a place that differs by iteration")


# ---------------------------------------------------------------- values in lanes


def lanes(context: Context, op: Op, fact: Fact, var: Var) -> Val:
    """The batched form of an operation on values that differ by iteration."""
    name = op.name.removeprefix("inplace.")
    if op.name == "module":
        from looplift.vectorize.network import module_call

        return Val(module_call(context, op, fact, var))
    args = [_argument(context, operand) for operand in op.args]
    kwargs = {key: _argument(context, operand) for key, operand in op.kwargs}
    if (number := numbers.number_operation(context, name, args, kwargs, fact, var)) is not None:
        return number
    family = table.family(name)
    match family:
        case "elementwise":
            node = arithmetic(context, name, args, fact.kind, kwargs)
        case "reduction":
            node = reduction(context, name, args, kwargs, fact)
        case "along":
            node = along(context, name, args, kwargs, fact)
        case "shape":
            node = shape_operation(context, table.base_name(name), args[:1], args[1:], kwargs, fact)
        case "contraction":
            from looplift.vectorize.network import contraction

            node = contraction(context, name, args, kwargs, fact)
        case "random" | "blocked":
            raise context.refuse("unknown-op", f"'{_said(name)}' in a loop has no batched form")
        case _:
            from looplift.vectorize.network import special

            node = special(context, name, args, kwargs, fact)
    node.hint = var.hint
    return Val(node)


def _said(name: str) -> str:
    return name.replace("method.", ".").replace("builtin.", "")


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


def arithmetic(context: Context, name: str, args: list[Any], kind: Kind, kwargs: dict[str, Any] | None = None) -> Node:
    """An element-wise operation in the dtype in which the loop computes it."""
    kwargs = kwargs or {}
    if any(isinstance(a, list) for a in [*args, *kwargs.values()]):
        raise context.refuse("unknown-op", f"a list as an argument of '{_said(name)}'")
    if kind.family in ("tuple", "list", "object", "string"):
        raise context.refuse("unknown-op", f"'{_said(name)}' of a {kind.family}")
    base = table.base_name(name)
    if base in ("float", "double", "long", "int", "half", "bfloat16", "bool", "to", "type", "type_as") and args:
        return nodes.cast(args[0], kind.dtype)
    args = [_guarded(context, base, position, arg) for position, arg in enumerate(args)]
    args = _promoted(base, args, kind) if context.library == "torch" else _promoted_arrays(base, args)
    axes = merge_axes(*(a.axes for a in args), *(k.axes for k in kwargs.values()))
    attrs = {"name": name, "kwargs": list(kwargs), "positional": len(args)}
    node = Node("elementwise", (*args, *kwargs.values()), axes, kind, attrs)
    node.attrs["extents"] = _broadcast_extents(node, args)
    return node


def _broadcast_extents(node: Node, args: list[Node]) -> list[Node | None] | None:
    for arg in args:
        if arg.kind.rank == node.kind.rank and arg.attrs.get("extents") and len(args) == 1:
            return arg.attrs["extents"]
    return None


def _promoted(base: str, args: list[Node], kind: Kind) -> list[Node]:
    """Cast operands whose batched promotion would differ from the loop's, where 0-dim tensors and numbers are weak."""
    if base == "where":
        if len(args) != 3:
            return args
        pair = _promoted("add", args[1:], kind)
        return [args[0], *pair]
    tensors = [a for a in args if a.kind.is_array or a.kind.is_number]
    wanted = nodes.common_dtype([a.kind for a in tensors])
    if nodes.batched_dtype(tensors) in (wanted, None):
        return args
    return [nodes.cast(a, wanted) if (a.kind.is_array or a.axes) else a for a in args]


def common_kind(context: Context, args: list[Node], kind: Kind) -> Kind:
    """The kind in which an operation of these operands is computed; of ``kind`` otherwise."""
    if context.library == "torch":
        return Kind(kind.family, nodes.common_dtype([a.kind for a in args]), kind.rank)
    import numpy as np

    weak: dict[str, Any] = {"int": 0, "float": 0.0, "bool": False, "complex": 0j}
    dtype = np.result_type(*(a.kind.dtype if a.kind.is_array else weak[a.kind.family] for a in args))
    return Kind(kind.family, dtype, kind.rank)


def _promoted_arrays(base: str, args: list[Node]) -> list[Node]:
    """NumPy's promotion: Python numbers are weak in the loop, and would be strong as arrays of lanes."""
    import numpy as np

    weak: dict[str, Any] = {"int": 0, "float": 0.0, "bool": False, "complex": 0j}
    values = args[1:] if base == "where" and len(args) == 3 else args
    if not any(a.kind.is_array for a in values) or not any(a.kind.is_number and a.axes for a in values):
        return args
    wanted = np.result_type(*(a.kind.dtype if a.kind.is_array else weak[a.kind.family] for a in values))
    made = [nodes.cast(a, wanted) if a.kind.is_number and a.axes else a for a in values]
    return [*args[: len(args) - len(values)], *made]


def _guarded(context: Context, base: str, position: int, arg: Node) -> Node:
    """Where a lane does not run, operands that would make NaN (and NaN gradients) are replaced by a safe one."""
    singular = table.SINGULAR.get(base)
    if context.mask is None or singular is None or singular[0] != position or arg.op == "const":
        return arg
    if not (context.needs_grad or base in ("floordiv", "mod", "remainder", "fmod", "floor_divide")):
        return arg
    safe = nodes.const(1 if "int" in str(arg.kind.dtype) or arg.kind.family == "int" else singular[1])
    return nodes.select(context.mask, arg, safe, arg.kind)


# ---------------------------------------------------------------- reductions and shapes of one lane's value


def _static(context: Context, value: Any, what: str) -> Any:
    """An argument that must be known before the loop: a dimension, a flag, a shape."""
    if isinstance(value, list):
        return [_static(context, item, what) for item in value]
    if value.op == "const":
        return value.attrs["value"]
    raise context.refuse("unsupported-value", f"{what} is not a constant")


def _negative(dim: Any, rank: int) -> Any:
    if isinstance(dim, list | tuple):
        return tuple(_negative(d, rank) for d in dim)
    return dim if dim < 0 else dim - max(rank, 1)


DIM_NAMES = ("dim", "axis")


def reduction(context: Context, name: str, args: list[Any], kwargs: dict[str, Any], fact: Fact) -> Node:
    """Folds dimensions of each lane's value; dimensions are counted from the end."""
    base = table.base_name(name)
    if isinstance(args[0], list) or not args[0].kind.is_array or fact.kind.family in ("tuple", "object"):
        raise context.refuse("unknown-op", f"'{_said(name)}' in this form")
    x = args[0]
    rank = x.kind.rank
    extra = {k: v for k, v in kwargs.items() if k not in (*DIM_NAMES, "keepdim", "keepdims")}
    positional = args[1:]
    if base in ("norm", "vector_norm") and positional:
        extra.setdefault("p" if base == "norm" else "ord", positional.pop(0))
    dims = next((kwargs[k] for k in DIM_NAMES if k in kwargs), positional.pop(0) if positional else None)
    keep = next((kwargs[k] for k in ("keepdim", "keepdims") if k in kwargs), positional.pop(0) if positional else None)
    if positional or any(isinstance(v, list) or v.axes for v in extra.values()):
        raise context.refuse("unknown-op", f"'{_said(name)}' with these arguments")
    dim = None if dims is None else _static(context, dims, "the dimension")
    if base in ("max", "min") and dim is not None and x.kind.family == "tensor":
        raise context.refuse("unknown-op", f"'{base}' along a dimension, which gives two results")
    if rank == 0:
        raise context.refuse("unknown-op", f"'{_said(name)}' of a number")
    x = _guarded(context, base, 0, x)
    wanted = tuple(range(-rank, 0)) if dim is None else _negative(dim, rank)
    wanted = wanted if isinstance(wanted, tuple) else (wanted,)
    attrs = {
        "name": base, "dims": wanted, "keepdim": bool(keep is not None and _static(context, keep, "keepdim")),
        "all": dim is None, "kwargs": list(extra), "as": name,
    }  # fmt: skip
    return Node("fold", (x, *extra.values()), merge_axes(x.axes), fact.kind, attrs)


def along(context: Context, name: str, args: list[Any], kwargs: dict[str, Any], fact: Fact) -> Node:
    """Keeps the shape, works along one dimension."""
    base = table.base_name(name)
    x, rank = args[0], args[0].kind.rank
    if base not in ("softmax", "log_softmax", "cumsum", "cumprod", "flip", "softmin", "logcumsumexp") or not rank:
        from looplift.vectorize.network import special

        return special(context, name, args, kwargs, fact)
    dims = next((kwargs.pop(k) for k in (*DIM_NAMES, "dims") if k in kwargs), args[1] if len(args) > 1 else None)
    if dims is None or kwargs or len(args) > 2:
        raise context.refuse("unknown-op", f"'{_said(name)}' without a dimension")
    dim = _negative(_static(context, dims, "the dimension"), rank)
    attrs = {"name": base, "dim": dim, "as": name, "extents": x.attrs.get("extents")}
    return Node("along_dim", (x,), x.axes, fact.kind, attrs)


def shape_operation(
    context: Context, base: str, args: list[Any], rest: list[Any], kwargs: dict[str, Any], fact: Fact
) -> Node:
    """Rearranges the dimensions of one lane's value."""
    x = args[0]
    if isinstance(x, list):
        raise context.refuse("unknown-op", f"'{base}' of a list")
    rank = x.kind.rank
    if base in ("detach", "clone", "contiguous", "copy", "cpu"):
        return Node(
            "method",
            (x,),
            x.axes,
            fact.kind,
            {"name": "copy" if base == "copy" else base, "extents": x.attrs.get("extents")},
        )
    if base in ("t", "T", "mT") and rank == 2:
        extents = x.attrs.get("extents")
        return Node("transposed", (x,), x.axes, fact.kind, {"extents": extents[::-1] if extents else None})
    if base in ("t", "T") and rank < 2:
        return x
    if kwargs and set(kwargs) - {"dim"}:
        raise context.refuse("unknown-op", f"'{base}' with these arguments")
    given = [_static(context, value, "a size or dimension") for value in [*rest, *kwargs.values()]]
    if base == "unsqueeze":
        dim = given[0] if given[0] < 0 else given[0] - rank - 1
        return Node("unsqueezed", (x,), x.axes, fact.kind, {"dim": dim})
    if base in ("transpose", "swapaxes") and len(given) == 2:
        pair = [_negative(d, rank) for d in given]
        return Node("method", (x,), x.axes, fact.kind, {"name": "swapaxes", "args": pair})
    if base in ("flatten", "ravel") and not given:
        given, base = [-1], "reshape"
    if base in ("reshape", "view"):
        sizes = given[0] if len(given) == 1 and isinstance(given[0], list) else given
        shape = context.value_of(tuple(sizes))
        return Node("reshaped", (x, shape), x.axes, fact.kind, {"sizes": sizes})
    raise context.refuse("unknown-op", f"'{base}' in this form has no batched rule")
