"""Losses by elements, or of rows by their classes in, what a typed program makes of them out."""

from __future__ import annotations

import ast
from functools import partialmethod

from torch.nn import functional

from looplift.emit.typed_element_losses import OF_ELEMENTS, SIZES
from looplift.emit.typed_modules import Modules
from looplift.emit.typed_scope import Value, refuse
from looplift.emit.typed_tensor_made import is_constant
from looplift.emit.typed_tensor_ops import is_tensor


def nll_loss(x, y):
    assert y >= 0  # -100 is a class that does not count
    return -x[y]


def sum_of_nll_loss(x, y):
    assert len(x) == len(y)
    total = nll_loss(x[0], y[0])
    for k in range(1, len(y)):
        total = total + nll_loss(x[k], y[k])
    return total


def mean_of_nll_loss(x, y):
    return sum_of_nll_loss(x, y) / len(y)


def cross_entropy(x, y):
    return nll_loss(functional.log_softmax(x, -1), y)


def sum_of_cross_entropy(x, y):
    return sum_of_nll_loss(functional.log_softmax(x, -1), y)


def mean_of_cross_entropy(x, y):
    return sum_of_nll_loss(functional.log_softmax(x, -1), y) / len(y)


_OF_A_ROW = {"nll_loss": nll_loss, "cross_entropy": cross_entropy}
_OF_ROWS = {
    ("nll_loss", "mean"): mean_of_nll_loss, ("nll_loss", "sum"): sum_of_nll_loss,
    ("cross_entropy", "mean"): mean_of_cross_entropy, ("cross_entropy", "sum"): sum_of_cross_entropy,
}  # fmt: skip


class Losses(Modules):
    """Calls of functions of a row and the class that it should be of, and of two tensors of the same sizes."""

    def _by_elements(self, name: str, owner: Value, nodes: list, keywords: dict, node: ast.Call) -> Value:
        function, more = OF_ELEMENTS[name]
        given = dict(zip(("target",), nodes)) | keywords
        reduction = _reduction(given, node)
        if len(nodes) > 1 or not {"target"} <= {*given} <= {"target", "reduction", *more} or reduction is None:
            raise refuse(node, "is called in another way")
        others = [given.get(one, ast.Constant(default)) for one, default in more.items()]
        read = [lambda one=one: self.present(self.expression(one)) for one in (given["target"], *others)]
        owner, target, *others = map(self.keep, self.in_order([lambda: owner, *read]))
        if not (is_tensor(owner) and is_tensor(target) and owner.type == target.type and "float" in owner.type.dtype):
            raise refuse(node, "is of other values")
        if owner.type.rank > 2 or any(is_tensor(one) for one in others):
            raise refuse(node, "is of other values")
        rank = owner.type.rank
        if rank:
            self.keep(self._by_function(SIZES[rank], [owner, target], node))
        found = self.keep(self._by_function(function, [owner, target, *others], node))
        if reduction == "none" or not rank:
            return found
        whole = self.apart_as(f"the value {self.fresh()}", found, node)
        return self.expression(ast.copy_location(ast.Call(ast.Attribute(whole, reduction, ast.Load()), [], []), node))

    tensor_mse_loss = partialmethod(_by_elements, "mse_loss")
    tensor_l1_loss = partialmethod(_by_elements, "l1_loss")
    tensor_smooth_l1_loss = partialmethod(_by_elements, "smooth_l1_loss")
    tensor_huber_loss = partialmethod(_by_elements, "huber_loss")
    tensor_binary_cross_entropy = partialmethod(_by_elements, "binary_cross_entropy")
    tensor_binary_cross_entropy_with_logits = partialmethod(_by_elements, "binary_cross_entropy_with_logits")

    def tensor_cross_entropy(self, owner: Value, nodes: list, keywords: dict, node: ast.Call) -> Value:
        return self._by_class("cross_entropy", owner, nodes, keywords, node)

    def tensor_nll_loss(self, owner: Value, nodes: list, keywords: dict, node: ast.Call) -> Value:
        return self._by_class("nll_loss", owner, nodes, keywords, node)

    def _by_class(self, name: str, owner: Value, nodes: list, keywords: dict, node: ast.Call) -> Value:
        given = dict(zip(("target",), nodes)) | keywords
        reduction = _reduction(given, node)
        if len(nodes) > 1 or not {"target"} <= {*given} <= {"target", "reduction"} or reduction not in ("mean", "sum"):
            raise refuse(node, "is called in another way")
        owner, target = map(
            self.keep, self.in_order([lambda: owner, lambda: self.present(self.expression(given["target"]))])
        )
        ranks = (owner.type.rank, target.type.rank) if is_tensor(owner) and is_tensor(target) else ()
        if ranks not in ((1, 0), (2, 1)) or target.type.dtype != "int64" or "float" not in owner.type.dtype:
            raise refuse(node, "is of other values")
        function = _OF_A_ROW[name] if ranks == (1, 0) else _OF_ROWS[name, reduction]
        return self._by_function(function, [owner, target], node)


def _reduction(given: dict, node: ast.Call) -> str | None:
    """How the losses of several elements or rows become one; None of what is not known here."""
    if "reduction" not in given:
        return "mean"
    found = ast.literal_eval(given["reduction"]) if is_constant(given["reduction"]) else None
    return found if found in ("mean", "sum", "none") else None
