"""Losses of samples of another length in each iteration: the loop's values and gradients, or its errors."""

from __future__ import annotations

import pytest
import torch
from tests.vectorize.harness import outcome, written

from looplift import lift
from looplift.base.compare import difference

LOSSES = [
    "F.cross_entropy(x[i, : n[i]], y[i, : n[i]])",
    'F.cross_entropy(x[i, : n[i]], y[i, : n[i]], reduction="sum")',
    "F.cross_entropy(x[i, : n[i]], y[i, : n[i]], ignore_index=1)",
    "F.cross_entropy(x[i, : n[i]], y[i, : n[i]], label_smoothing=0.1)",
    'F.cross_entropy(x[i, : n[i]], y[i, : n[i]], reduction="none").max()',
    "F.nll_loss(F.log_softmax(x[i, : n[i]], -1), y[i, : n[i]])",
    "F.mse_loss(x[i, : n[i]], z[i, : n[i]])",
    'F.l1_loss(x[i, : n[i]], z[i, : n[i]], reduction="sum")',
    "F.smooth_l1_loss(x[i, : n[i], 0], z[i, : n[i], 1], beta=0.5)",
    "F.huber_loss(x[i, : n[i]], z[i, : n[i]], delta=0.3)",
    "F.binary_cross_entropy_with_logits(x[i, : n[i]], (z[i, : n[i]] > 0).float())",
    "F.binary_cross_entropy(torch.sigmoid(x[i, : n[i], 0]), (z[i, : n[i], 0] > 0).float())",
]
OTHERS = [
    "F.cross_entropy(x[i, : n[i]], y[i, : n[i]], weight=z[0, 0].abs())",
    "F.cross_entropy(x[i, : n[i]], torch.softmax(z[i, : n[i]], -1))",
    'F.kl_div(F.log_softmax(x[i, : n[i]], -1), torch.softmax(z[i, : n[i]], -1), reduction="batchmean")',
    "F.cross_entropy(x[i, : n[i]], y[i, : n[i] + 1])",
]


def loop_of(expression: str):
    text = f"def loop(x, y, z, n):\n    out = []\n    for i in range(len(x)):\n        out.append({expression})\n"
    scope = {"torch": torch, "F": torch.nn.functional}
    return written(text + "    return torch.stack(out)\n", f"<losses: {expression}>", scope)["loop"]


def values(lengths: list[int], *, special: bool = False):
    generator = torch.Generator().manual_seed(len(lengths))
    x, z = (torch.randn(len(lengths), 5, 3, generator=generator) for _ in range(2))
    y = torch.randint(0, 3, (len(lengths), 5), generator=generator)
    if special:
        x[0, 0, 0], y[1] = float("nan"), 1
    return [x, y, z, torch.tensor(lengths)]


def compared(function, calls, decisions=None):
    for gradients in (False, True):
        lifted = lift(function, verify="off", backend="torch")
        for call in calls:
            outcomes = []
            for run in (lifted, function):
                try:
                    outcomes.append(outcome(run, call, gradients=gradients))
                except (RuntimeError, ValueError) as error:
                    outcomes.append(f"{type(error).__name__}: {error}")
            assert not (why := difference(*outcomes, magnitude=1.0, path="call")), f"{why}\n{lifted.source}"
        assert decisions is None or {one.decision for one in lifted.report().loops} == decisions


@pytest.mark.parametrize("expression", LOSSES)
def test_losses_are_those_of_the_loop(expression):
    function = loop_of(expression)
    compared(function, [values([3, 5, 1]), values([2, 4, 4])], {"lanes"})
    compared(function, [values([3, 5, 1], special=True), values([2, 0, 5, 1]), values([1])])


@pytest.mark.parametrize("expression", OTHERS)
def test_other_losses_keep_the_loop(expression):
    compared(loop_of(expression), [values([3, 4, 1])] * 2)


def chosen_by_loss(x, y, z, n):
    out = []
    for i in range(len(x)):
        if torch.nn.functional.cross_entropy(x[i, : n[i]], y[i, : n[i]]) > 1.0:
            out.append(x[i, 0])
    return torch.stack(out)


def test_a_loss_that_decides_keeps_the_order_of_its_sum():
    compared(chosen_by_loss, [values([3, 5, 1, 4])] * 2, {"kept"})


def over_lists(xs, ys, model):
    loss = 0.0
    for x, y in zip(xs, ys, strict=True):
        loss = loss + torch.nn.functional.cross_entropy(model(x), y)
    return loss / len(xs)


def test_losses_of_the_items_of_lists():
    generator = torch.Generator().manual_seed(0)
    xs = [torch.randn(k, 4, generator=generator) for k in (3, 1, 6)]
    ys = [torch.randint(0, 2, (k,), generator=generator) for k in (3, 1, 6)]
    model = torch.nn.Linear(4, 2)
    lifted = lift(over_lists, verify="off", backend="torch")
    for _ in range(2):
        found = []
        for run in (lifted, over_lists):
            model.zero_grad()
            loss = run(xs, ys, model)
            loss.backward()
            found.append([loss.detach(), *(one.grad.clone() for one in model.parameters())])
        torch.testing.assert_close(*found)
    assert {one.decision for one in lifted.report().loops} == {"lanes"}
