"""Operations on one row, matrix or image of each iteration: values, dtypes and gradients of the loop."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
import torch
from tests.vectorize.harness import appended, check
from torch.nn import functional

from looplift import lift

NAMES = {"torch": torch, "np": np, "math": math, "functional": functional}

ROWS = """x[i].sort().values; torch.sort(x[i])[0]; x[i].topk(2).values; torch.topk(x[i], 3)[1]; x[i].max(dim=0).values
x[i].min(0)[1]; x[i].cummax(0).values; torch.quantile(x[i], 0.3); functional.normalize(x[i], dim=0); x[i].repeat(2)
x[i].expand(2, 6); x[i][None].expand(2, -1); x[i].tile(2); x[i].chunk(2)[0]; x[i].split(3)[1]; x[i].numel() * x[i]
torch.hstack([x[i], a[i]]); functional.pad(x[i], (1, 1)); x[i].size(0) * x[i]; functional.layer_norm(x[i], (6,))
torch.max(x[i], a[i]); torch.meshgrid(x[i], a[i], indexing="ij")[0]; torch.cdist(x[i][None], a[i][None])[0]
x[i].narrow(0, 1, 3); x[i].unfold(0, 2, 1); x[i].view(3, 2).t(); torch.outer(x[i], a[i]); x[i].diff(); x[i].median()
functional.cosine_similarity(x[i], a[i], dim=0); torch.cov(torch.stack([x[i], a[i]])); x[i].roll(1); x[i].argsort()
torch.tensor(math.sin(x[i, 0].item())); math.sqrt(float(x[i, 0]) ** 2) * a[i]; x[i].gather(0, a[i].argsort())
torch.zeros(6).scatter_add(0, a[i].argsort(), x[i]); sum(x[i, j] for j in range(6)); x[i].reshape(len(x) - 1, -1)"""

MATRICES = """x[i] @ a[i]; torch.einsum("ij,jk->ik", x[i], a[i]); x[i].max(dim=1)[0]; x[i].triu(); x[i].unbind(0)[1]
torch.rot90(x[i]); x[i].mean((0, 1)); x[i].flatten(); torch.linalg.svdvals(x[i]); x[i].softmax(-1) @ a[i]
torch.tensordot(x[i], a[i], ([1], [0])); functional.scaled_dot_product_attention(x[i], x[i], x[i])
torch.linalg.norm(x[i]); x[i].roll(1, 0); torch.cat([x[i], x[i]], dim=1); x[i].permute(1, 0); x[i].numel() + a[i]"""

SQUARES = """torch.linalg.inv(x[i]); torch.det(x[i]); x[i].trace(); torch.diag(x[i]); torch.linalg.solve(x[i], a[i])
torch.linalg.qr(x[i])[1]; torch.slogdet(x[i])[1]; torch.kron(x[i], a[i]); torch.linalg.matrix_power(x[i], 3)"""

IMAGES = """functional.conv2d(x[i][None], torch.ones(1, 3, 3, 3))[0]; functional.max_pool2d(x[i], 2)
functional.conv2d(x[i][None], x[i][None], padding=1)[0, 0]; functional.interpolate(x[i][None], scale_factor=2)[0]
functional.pad(x[i], (1, 1, 1, 1)); functional.unfold(x[i][None], 3)[0]; x[i] * a[i][:, None, None]"""


def expressions(text: str) -> list[str]:
    return [part.strip() for line in text.splitlines() for part in line.split(";")]


@pytest.mark.parametrize(
    ("expression", "shapes"),
    [(e, [(4, 6), (4, 6)]) for e in expressions(ROWS)]
    + [(e, [(4, 3, 5), (4, 5, 2)]) for e in expressions(MATRICES)]
    + [(e, [(4, 3, 3), (4, 3, 3)]) for e in expressions(SQUARES)]
    + [(e, [(4, 3, 8, 8), (4, 3)]) for e in expressions(IMAGES)],
)
def test_an_operation_on_one_item_of_each_iteration(expression, shapes):
    generator = torch.Generator().manual_seed(5)
    values = [torch.randn(shape, generator=generator) for shape in shapes]
    check(appended(expression, "len(x)", NAMES, join="torch.stack"), [*values, None])


STACKS = """x[i] @ b; b @ x[i]; x[i] @ a[i]; a[i].mT @ x[i].mT; x[i] @ a[0]; a[0].mT @ x[i].mT; x[i, 0] @ a[i]
a[i].mT @ x[i, 1, 0]; a[i, 0, 0].unsqueeze(0) @ x[i].mT.mT; x[i][None] @ a[i][:, None]; x[i] @ a[i, 0, :, 0]
a[i, 0, :, 0] @ x[i].mT; torch.matmul(x[i], a[i]) @ torch.matmul(a[i].mT, x[i].mT); x[i, :1] @ a[i]"""


@pytest.mark.parametrize("expression", expressions(STACKS))
def test_products_of_stacks_of_matrices(expression):
    generator = torch.Generator().manual_seed(5)
    x, a, b = (torch.randn(*s, generator=generator).double() for s in ((4, 2, 3, 5), (4, 2, 5, 3), (5, 3)))
    check(appended(expression, "len(x)", NAMES, join="torch.stack"), [x, a, b])
    check(appended(expression, "len(x)", NAMES, join="torch.stack"), [x[:1], a[:1], b])


def test_products_of_stacks_that_do_not_fit_raise_as_in_the_loop():
    def products(x, a):
        return torch.stack([x[i] @ a[i] for i in range(len(x))])

    x, a = torch.ones(2, 2, 3, 4), torch.ones(2, 3, 4, 3)
    with pytest.raises(RuntimeError) as wanted:
        products(x, a)
    lifted = lift(products, backend="torch", verify="off")
    lifted(x, a[:, :2])
    with pytest.raises(RuntimeError) as given:
        lifted(x, a)
    assert str(given.value) == str(wanted.value)


def test_a_maximum_that_one_side_always_wins_gives_the_other_no_gradient():
    def larger(x, y):
        return torch.stack([max(x[i], y[i]) for i in range(len(x))])

    check(larger, [torch.tensor([1.0, 5.0]), torch.tensor([3.0, 2.0])])
    x, y = torch.ones(3, requires_grad=True), torch.zeros(3, requires_grad=True)
    got = torch.autograd.grad(lift(larger, verify="off")(x, y).sum(), [x, y], allow_unused=True)
    assert got[1] is None
    assert torch.equal(got[0], torch.ones(3))


def test_a_result_that_nothing_reads_raises_as_in_the_loop():
    def discarded(x):
        for i in range(len(x)):
            _ = torch.max(x[i], 0)
        return i

    lifted = lift(discarded, verify="off")
    assert lifted(torch.ones(3, 2)) == 2
    with pytest.raises(IndexError):
        lifted(torch.ones(3, 0))


@pytest.mark.parametrize("form", ["torch.amin(x[i], ())", "x[i].sum(())", "x[i].var(False)", "x[i].std(0, False)"])
def test_reductions_with_unusual_arguments(form):
    function = appended(form, "len(x)", NAMES, join="torch.stack")
    x = torch.randn(4, 6, dtype=torch.float64)
    torch.testing.assert_close(lift(function, verify="off")(x, None, None), function(x, None, None))


def test_complex_operands_that_no_lane_takes_get_no_gradient():
    def angles(v, f):
        out = torch.zeros(len(f))
        for i in range(len(f)):
            if f[i] > 1.0:
                out[i] += torch.angle(v[i])
        return out

    lifted = lift(angles, verify="off")
    v = torch.ones(3, dtype=torch.complex64, requires_grad=True)
    for f in ([2.0, 0.0, 2.0], [0.0, 0.0, 0.5]):
        assert lifted(v, f).requires_grad == angles(v, f).requires_grad


def test_medians_of_a_tensor_that_was_expanded():
    def medians(x):
        out = []
        for i in range(x.shape[1]):
            out.append(x[:, i].median() + x[:, i].nanmedian())
        return torch.stack(out)

    x = torch.arange(4.0)[None].expand(3, 4)
    lifted = lift(medians, verify="off", backend="torch")
    assert torch.equal(lifted(x), medians(x)) and lifted.report().loops[0].decision == "lanes"


def copied_tensors(x):
    return [torch.tensor(x[i]) for i in range(len(x))]


def histograms(x):
    out = torch.zeros(len(x), 4)
    for i in range(len(x)):
        out[i] = torch.histc(x[i], 4)
    return out


@pytest.mark.parametrize("loop", [copied_tensors, histograms])
def test_nothing_is_warned_of_that_the_loop_does_not_say(loop):
    def told(function):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = function(torch.arange(6.0).reshape(2, 3))
        return repr(found), [str(one.message) for one in caught if one.category is UserWarning]

    assert told(lift(loop, verify="off")) == told(loop)
