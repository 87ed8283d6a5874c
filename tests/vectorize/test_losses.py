"""Losses of one sample each are those of all samples at once, folded as the loop folds them."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from tests.vectorize.harness import appended, check, outcome, written
from torch import nn

from looplift import lift
from looplift.base.compare import difference
from looplift.vectorize import losses
from looplift.vectorize.operations import LOSSES

ELEMENTS = """F.mse_loss(x[i], a[i])
F.mse_loss(x[i, 0], a[i, 0], reduction="sum")
F.mse_loss(x[i], a[i][None, :][0])
F.l1_loss(x[i], a[i], reduction="none").sum()
F.smooth_l1_loss(x[i], a[i], beta=0.5)
F.huber_loss(x[i], a[i], delta=0.5)
F.soft_margin_loss(x[i], torch.sign(a[i]).detach())
F.binary_cross_entropy(torch.sigmoid(x[i]), torch.sigmoid(a[i]))
F.binary_cross_entropy(torch.sigmoid(x[i]), torch.sigmoid(a[i]), weight=weight)
F.binary_cross_entropy_with_logits(x[i], torch.sigmoid(a[i]), pos_weight=weight)
F.kl_div(torch.log_softmax(x[i], 0), torch.softmax(a[i], 0), reduction="batchmean")
F.kl_div(torch.log_softmax(x[i], 0), torch.log_softmax(a[i], 0), reduction="sum", log_target=True)
mse(x[i], a[i])
logits(x[i], torch.sigmoid(a[i]))""".splitlines()

CLASSES = """F.cross_entropy(x[i], b[i, 0])
F.cross_entropy(x[i], b[i, 0], reduction="none")
F.cross_entropy(x[i], b[i, 0], weight)
F.cross_entropy(x[i].unsqueeze(0), b[i, :1], label_smoothing=0.1)
F.cross_entropy(x[i].expand(3, -1), b[i])
F.cross_entropy(x[i].expand(3, -1), b[i], weight, ignore_index=2)
F.cross_entropy(x[i].expand(3, -1), b[i], reduction="sum", ignore_index=2)
F.cross_entropy(x[i].expand(3, -1), b[i], weight, label_smoothing=0.2)
F.cross_entropy(x[i].expand(2, -1).unsqueeze(2).expand(-1, -1, 3), b[i].expand(2, 3))
F.nll_loss(torch.log_softmax(x[i], 0), b[i, 1])
F.nll_loss(torch.log_softmax(x[i], 0)[None], b[i, 1:2], weight, ignore_index=1)
entropy(x[i], b[i, 2])
weighted(x[i][None], b[i, :1])""".splitlines()

NAMESPACE = {
    "torch": torch,
    "F": nn.functional,
    "weight": torch.tensor([0.5, 1.0, 2.0, 0.25]),
    "mse": nn.MSELoss(),
    "logits": nn.BCEWithLogitsLoss(reduction="sum"),
    "entropy": nn.CrossEntropyLoss(),
    "weighted": nn.CrossEntropyLoss(weight=torch.tensor([1.0, 2.0, 3.0, 4.0]), ignore_index=0),
}


def arguments(count: int) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(count)
    x, a = (torch.randn(count, 4, generator=generator) for _ in range(2))
    return [x, a, torch.randint(0, 4, (count, 3), generator=generator)]


@pytest.mark.parametrize("expression", ELEMENTS + CLASSES)
def test_loss(expression):
    function = appended(expression, "x.shape[0]", NAMESPACE, join="torch.stack")
    check(function, arguments(6), arguments(2))
    check(function, arguments(1))


def test_all_losses_are_known():
    assert set(losses.FORMS) == LOSSES


def test_settings_of_a_module_are_followed():
    criterion = nn.CrossEntropyLoss()
    loop = appended("criterion(x[i], b[i, 0])", "len(x)", {"torch": torch, "criterion": criterion}, join="torch.stack")
    lifted = lift(loop, backend="torch")
    for name, value in (("reduction", "sum"), ("ignore_index", 1), ("label_smoothing", 0.3), ("weight", torch.rand(4))):
        setattr(criterion, name, value)
        for _ in range(2):
            torch.testing.assert_close(lifted(*arguments(5)), loop(*arguments(5)), equal_nan=True)


def test_targets_of_another_size_stay():
    loop: Any = appended("F.mse_loss(x[i], a[i, :1])", "x.shape[0]", NAMESPACE, join="torch.stack")
    lifted = lift(loop, backend="torch")
    with pytest.warns(UserWarning, match="target size"):
        torch.testing.assert_close(lifted(*arguments(3)), loop(*arguments(3)))
    assert {loop.decision for loop in lifted.report().loops} == {"kept"}


# ---------------------------------------------------------------- of some iterations


def under_a_test(expression: str) -> Any:
    """A loop over samples that adds up the losses of some of them."""
    text = (
        "def summed(x, a, b):\n    total = torch.zeros(())\n    for i in range(x.shape[0]):\n"
        f"        if a[i, 0] > 0:\n            total = total + ({expression}).sum()\n    return total\n"
    )
    return written(text, f"<some of {expression}>", NAMESPACE)["summed"]


WITHOUT_NONE = [text for text in CLASSES if "weight" not in text]
OF_SOME = """F.binary_cross_entropy(x[i] / a[i, 0], torch.sigmoid(a[i]))
F.cross_entropy(torch.log(a[i, 0]) + x[i], b[i, 0] + 2 * (a[i, 0] < 0).long())
F.mse_loss(torch.sqrt(a[i, 0]), x[i, 0])""".splitlines()
"""Operands that are not allowed, or have no finite gradient, where the test does not hold."""


@pytest.mark.parametrize("expression", ELEMENTS + WITHOUT_NONE + OF_SOME)
def test_loss_of_some_samples(expression):
    function = under_a_test(expression)
    for signs in ([1, -1, 1, 0, -1, 1], [1], [-1, 1], [1, 1]):
        x, a, b = arguments(len(signs))
        x, a = (x.abs() / 8, a.sign() * (1 + a.abs())) if "/" in expression else (x, a)
        a[:, 0] = torch.tensor(signs) * (a[:, 0].abs() + 0.1)
        check(function, [x, a, b])


def test_a_mean_of_classes_that_weigh_nothing():
    """The mean of no class is NaN, also where no sample takes it."""
    settings = {"weight": torch.tensor([0.0, 1.0, 1.0, 1.0]), "ignore_index": 0}
    for name, value in settings.items():
        function = under_a_test(f"F.cross_entropy(x[i], b[i, 0], {name}=settings[{name!r}])")
        function.__globals__["settings"] = {name: value}
        x, a, b = arguments(5)
        b[:, 0] = (a[:, 0] > 0).long()
        wanted, found = (outcome(one, [x, a, b], gradients=True) for one in (function, lift(function, backend="torch")))
        assert difference(found, wanted, magnitude=1.0) is None
