"""Products of vectors and matrices in typed programs: ``a @ b`` of arrays and of tensors, ``np.dot`` and ``torch.mv``.

Their last digit may be another than that of the library, which adds in an order of its own.
"""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
import torch

from looplift.emit.typed_scope import Value, refuse
from looplift.emit.typed_types import DTYPES, FLOAT, NEVER, Arr, Ten, array_type
from looplift.ops import autocast

_ALL = ((1, 1), (2, 1), (1, 2), (2, 2))
OF_ARRAYS = {np.dot: _ALL, np.matmul: _ALL, np.inner: _ALL[:1], np.vdot: _ALL[:1]}
"""The ranks of arrays of which a function is a plain product."""
_WITH_STACKS = (*_ALL, (3, 1))
OF_TENSORS = {"matmul": _WITH_STACKS, "mv": ((2, 1),), "mm": ((2, 2),)}


def of_arrays(writer: Any, left: Value, right: Value, node: ast.AST, ranks: Any = _ALL) -> Value:
    """The product of two arrays of floats."""
    if NEVER in (left.type, right.type):
        return Value(NEVER, "None_()")
    if not all(isinstance(one.type, Arr) for one in (left, right)):
        raise refuse(node, "is no product of arrays")
    element = left.type.element
    pair = left.type.rank, right.type.rank
    if element is not right.type.element or element.plain is not FLOAT or pair not in ranks:
        raise refuse(node, "is a product without a form")
    writer.inexact.add("matmul")
    left, right = writer.keep(left), writer.keep(right)
    if pair == (1, 1):
        return writer.scalar(Value(FLOAT, f"F(dot_of({left.code}, {right.code}))"), element)
    made = array_type(element, sum(pair) - 2)
    return writer.keep(Value(made, f"product_of({left.code}, {right.code})"))


def of_tensors(writer: Any, left: Value, right: Value, node: ast.AST, ranks: Any = _WITH_STACKS) -> Value:
    """The product of two tensors of floats."""
    if not all(isinstance(one.type, Ten) for one in (left, right)):
        raise refuse(node, "is no product of tensors")
    pair = left.type.rank, right.type.rank
    if left.type.dtype != right.type.dtype or left.type.dtype not in ("float32", "float64") or pair not in ranks:
        raise refuse(node, "is a product without a form")
    if autocast.rounds_products(getattr(torch, left.type.dtype)):
        raise refuse(node, "is a product of other dtypes under autocast")
    writer.inexact.add("matmul")
    left, right = writer.keep(left), writer.keep(right)
    if pair == (1, 1):
        writer.emit(f"if ({left.code}.size[0] != {right.code}.size[0]) bail(KIND);")
        return writer.fold("sum", writer.operation("mul", left, right), None, False)
    writer.makes_rows = True
    if pair == (3, 1):
        return _of_stack(writer, left, right, node)
    made = Ten(left.type.dtype, sum(pair) - 2)
    code = f"product_of<{DTYPES[made.dtype]}>({writer.op('mul')}, {left.code}, {right.code})"
    return writer.keep(Value(made, code))


def _of_stack(writer: Any, stack: Value, vector: Value, node: ast.AST) -> Value:
    """The product of several matrices, one on top of the other, and a vector."""
    rows = Value(Ten(stack.type.dtype, 2), f"one_below_other({stack.code})")
    made = of_tensors(writer, rows, vector, node)
    sizes = f"{stack.code}.size[0], {stack.code}.size[1]"
    return writer.keep(Value(Ten(stack.type.dtype, 2), f"in_rows({made.code}, {sizes})"))
