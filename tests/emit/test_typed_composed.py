"""Operations of rows that are formulas of simpler ones, and choices between rows, in typed programs."""

import linecache

import pytest
import torch
from tests.emit.test_typed_losses import g, runs_as_program
from tests.emit.test_typed_tensors import assert_same, first, outcome
from torch.nn import functional as F

from looplift import lift

__all__ = ["first"]

ROWS = (
    "torch.where(x[k] > 0, x[k], 0.1 * x[k])", "torch.where(x[k] > 0, 1.0, x[k])", "torch.where(x[k] > w, x[k], 2)",
    "torch.where(x[k] > 0, x[k].log(), w)", "torch.where(x[k, 0] > 0, x[k], w)", "torch.where(x[k] > 0, x[k, 0], w)",
    "1.0 / torch.where(x[k] > 0, x[k], -0.0 * w.abs())", "torch.where(x[:2] > w, x[:2], w)[1]",
    "torch.where(w > 0, x[k], x[0])", "x[k].masked_fill(x[k] < 0, 0.0)",
    "torch.masked_fill(x[k], w < 0, -1)", "x[:3].masked_fill(w > 0, 0.5)[2]", "torch.addcmul(x[k], x[0], w)",
    "torch.addcmul(x[k], x[0], w, value=0.3)", "torch.addcdiv(x[k], x[0], w.abs() + 1)",
    "x[k].addcdiv(x[0], w.abs() + 1, value=-2)", "torch.lerp(x[k], w, 0.3)", "x[k].lerp(w, 0.75)",
    "torch.outer(x[k], w).sum(0)", "torch.outer(w, x[k])[1]", "F.normalize(x[k], dim=0)",
    "F.normalize(x[k], dim=-1) * w", "F.layer_norm(x[k], (4,))", "F.layer_norm(x[k], [4], w, x[0], 1e-3)",
    "F.layer_norm(x[k], (4,), weight=w)", "x[k] * x[k].std()", "x[k] - x[k].var(unbiased=False)",
    "x[k] - torch.var(x[k], dim=0)", "x[k] / (1 + x[k].std(0, False))", "x[k] / x[k].std(correction=0)",
    "torch.cumsum(x[k], 0)", "x[k].cumsum(dim=-1) * w", "x[k].flip(0)", "torch.flip(x[k], dims=(0,))",
    "torch.flip(x[:3], [0])[0]", "torch.roll(x[k], 1)", "x[k].roll(-2, 0)", "torch.roll(x, k, 0)[1]",
    "x[k].repeat(2)[1:5]", "F.one_hot(x[k].argmax(), 4) * x[k]", "F.one_hot(torch.tensor(k % 4), num_classes=4) + w",
    "torch.cat([x[:2], x[1:3] * x[0], x[2:4]], dim=1)[1, 2:6]", "torch.cat((x, x[:, :1]), -1)[k, 1:]",
    "torch.concat([x[k:], x], 0)[2]", "torch.cat([x[:2].t(), x[2:4].t(), x[:1].t()], 1).sum(1) * w",
    "x[k][x[k] > -9] * w", "x[x[:, 0] > -9][k]", "x[[0, 2, -1]].sum(0)",
    "x[torch.tensor([k, 0, k])].sum(0) * w", "x[k][[k % 4, 0, 1, 1]]", "x.index_select(0, torch.tensor([k, 1]))[0]",
    "torch.masked_select(x[k], x[k] > -9).sum() * w", "x[k].masked_select(w > x[0] - 9)",
    "torch.diff(x[k]).sum() * w", "x[k].diff()[1] + w", "torch.repeat_interleave(x[k], 2)[2:6] * w",
    "x[k].gather(0, torch.tensor([3, 0, 0, k % 4])) * w", "torch.gather(x[k], -1, x[k].argsort())",
    "x.transpose(0, 1)[k % 4, :4] * w", "torch.transpose(x, -1, -2)[1, 1:] + w", "x.swapaxes(1, 1)[k] * w",
    "torch.arange(4) * w", "w + torch.arange(k, k + 7, 2)", "w * torch.count_nonzero(x[k] > 0)",
    "w * torch.unique(x[k].argsort())", "w * torch.cumsum(x[k].argsort(), 0)", "w + torch.arange(4).diff().sum()",
    "w + torch.bincount(torch.tensor([k, 2, 0, 2]))[2]", "w + x[k].argmax().unsqueeze(0).bincount(minlength=4)",
)  # fmt: skip


def row_program(expression):
    text = "\n    ".join((
        "def program(x, w):", "memo = {-1: torch.zeros(4, dtype=x.dtype)}", "for k in range(len(x)):",
        f"    memo[k] = memo[k - 1] * 0.5 + {expression}", "return memo[len(x) - 1]",
    ))  # fmt: skip
    name = f"<a row: {expression}>"
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    known = {"torch": torch, "F": F}
    exec(compile(text, name, "exec"), known)
    return known["program"]


@pytest.mark.parametrize(("asks", "dtype"), [(True, torch.float32), (False, torch.float64)])
@pytest.mark.parametrize("expression", ROWS)
def test_operations_of_rows(expression, asks, dtype, first):
    x, w = ((lambda k=k, n=n: g(*n, seed=k).to(dtype).requires_grad_(asks)) for k, n in enumerate(((5, 4), (4,))))
    runs_as_program(row_program(expression), x, w)


@pytest.mark.parametrize("asks", [False, True])
@pytest.mark.parametrize(
    "expression",
    [
        "torch.where(x[k] >= 0, x[k].log(), w)", "torch.where(x[k] > 0, x[k].sqrt(), 0.0 * w)", "x[k].std() * w",
        "F.normalize(x[k], dim=0)", "F.one_hot(x[k].sum().long() * 0 + 9, 4) + w", "torch.cumsum(x[k], 0)",
        "x[k].masked_select(x[k] > 9).sum() + w", "x[k][x[k] > 0].sum() + w", "x[k][[0, 1, 9 - k]].sum() + w",
        "torch.addcdiv(x[k], w, x[k])", "x[k].var() + w",
        "F.layer_norm(x[k], (4,))",
        "x[k].masked_fill(x[k] == 0, float('nan'))", "torch.diff(x[k]).sum() + w", "w + torch.count_nonzero(x[k])",
        "x[k].gather(0, torch.tensor([0, 9 - k])).sum() + w",
        "x[k].gather(0, torch.tensor([0, -1])).sum() + w", "torch.where(x[k] > 0, w, float('inf'))",
    ],
)  # fmt: skip
@pytest.mark.parametrize("value", [0.0, float("nan"), float("inf")])
def test_where_slopes_are_none_or_nothing_is_chosen(value, expression, asks, first):
    def x():
        found = g(5, 4)
        found[1:3] = value
        found[3, :2] = -value
        return found.requires_grad_(asks)

    try:
        row_program(expression)(x(), g(4))
    except (RuntimeError, IndexError):
        pytest.skip("the loop itself is not possible")
    runs_as_program(row_program(expression), x, lambda: g(4, seed=1, asks=asks), program=None)


def test_which_side_asks_for_gradients(first):
    for asks in ((True, False), (False, True)):
        for expression in ("torch.where(x[k] > 9, x[k], w)", "torch.where(x[k] > -9, x[k], w)"):
            arguments = ((lambda n=n, a=a: g(*n, asks=a)) for n, a in zip(((5, 4), (4,)), asks, strict=True))
            runs_as_program(row_program(expression), *arguments)


@pytest.mark.parametrize("asks", [False, True])
@pytest.mark.parametrize(
    "expression",
    [
        "torch.var(x[k], correction=0.5) + w", "x[k].var(None) + w", "x[k].std(0, unbiased=False) + w",
        "F.smooth_l1_loss(x[k], w) + w", "F.huber_loss(x[k], w) + w", "F.layer_norm(x[k], (4,), x[0])",
        "F.binary_cross_entropy(torch.sigmoid(w), x[k]) + w", "torch.cumsum(x[k] * 1e8 + w, 0)",
    ],
)  # fmt: skip
@pytest.mark.parametrize("value", [0.0, float("nan"), float("inf")])
def test_what_formulas_leave_to_the_loop(value, expression, asks, first):
    def x():
        found = g(5, 4)
        found[0, 1] = found[3, :2] = value
        return found.requires_grad_(asks)

    def call(function):
        try:
            return outcome(function, [x(), g(4, seed=1, asks=asks)])
        except (RuntimeError, TypeError) as error:
            return type(error)

    lifted = lift(row_program(expression), verify="off")
    for _ in range(2):
        assert_same(call(lifted), call(row_program(expression)))


@pytest.mark.parametrize(
    "expression",
    [
        "x[k].var(0, 0)", "x[k].var(True, 0)", "torch.std(x[k], unbiased=1)", "x[k].cumsum(0.0)", "x[k].flip(0.0)",
        "F.layer_norm(x[k], (4.0,))", "x[k].roll(1, False)", "torch.std(x[k], correction='1')",
    ],
)  # fmt: skip
def test_arguments_of_another_type_raise_as_in_the_loop(expression, first):
    function = row_program(expression)
    with pytest.raises((TypeError, RuntimeError)) as wanted:
        function(g(5, 4), g(4))
    with pytest.raises(wanted.type):
        lift(function, verify="off")(g(5, 4), g(4))


def of_booleans(rows, mask):
    found = {}
    for k, row in enumerate(rows):
        found[str(k)] = (row > 0).masked_fill(mask, 1)
    return found


def of_large_and_small(rows):
    found = {}
    for k, row in enumerate(rows):
        found[str(k)] = torch.cumsum(row, 0)
    return found


def test_dtypes_and_sums_are_those_of_torch(first):
    runs_as_program(of_booleans, lambda: g(3, 4), lambda: g(4) > 0, program=None)
    runs_as_program(of_large_and_small, lambda: [torch.tensor([1e8, 1.0, -1e8])])
