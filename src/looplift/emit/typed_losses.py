"""Losses of a row, or of several, by their classes in, what a typed program makes of them out."""

from __future__ import annotations

import ast

from torch.nn import functional

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
    """Calls of functions of a row and the class that it should be of."""

    def tensor_cross_entropy(self, owner: Value, nodes: list, keywords: dict, node: ast.Call) -> Value:
        return self._by_class("cross_entropy", owner, nodes, keywords, node)

    def tensor_nll_loss(self, owner: Value, nodes: list, keywords: dict, node: ast.Call) -> Value:
        return self._by_class("nll_loss", owner, nodes, keywords, node)

    def _by_class(self, name: str, owner: Value, nodes: list, keywords: dict, node: ast.Call) -> Value:
        given = dict(zip(("target",), nodes)) | keywords
        reduction = ast.literal_eval(given["reduction"]) if is_constant(given.get("reduction", node)) else "mean"
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
