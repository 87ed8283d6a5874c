"""Gradients that come in infinite, or as NaN, to folds whose slopes are computed for all lanes at once."""

import pytest
import torch

from looplift import lift

D = torch.float64
INF, NAN = float("inf"), float("nan")


def distances(x):
    out = torch.zeros(len(x), len(x), dtype=D)
    for i in range(len(x)):
        for j in range(i):
            out[i, j] = (x[i] - x[j]).norm()
    return out


def pooled(x):
    out = torch.zeros(x.shape[0] // 2, x.shape[1] // 2, dtype=D)
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = x[2 * i : 2 * i + 2, 2 * j : 2 * j + 2].max()
    return out


def pooled_over(x):
    out = torch.zeros(x.shape[0] - 1, x.shape[1] - 1, dtype=D)
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = x[i : i + 2, j : j + 2].max()
    return out


def products(x):
    out = torch.zeros(len(x), dtype=D)
    for i in range(len(x)):
        out[i] = x[i].prod()
    return out


def products_along(x):
    out = torch.zeros(len(x), dtype=D)
    for i in range(len(x)):
        out[i] = x[i].prod(0)
    return out


def first_products(x):
    out = torch.zeros_like(x)
    for i in range(len(x)):
        out[i] = x[: i + 1].prod()
    return out


def slices(x):
    ends = [0, 2, 3, 6]
    out = []
    for i in range(3):
        out.append(x[ends[i] : ends[i + 1]].prod())
    return torch.stack(out)


def slices_along(x):
    ends = [0, 2, 3, 6]
    out = []
    for i in range(3):
        out.append(x[ends[i] : ends[i + 1]].prod(0))
    return torch.stack(out)


def steps_of_products(x):
    out = torch.zeros(len(x), dtype=D)
    for i in range(len(x)):
        product = torch.ones((), dtype=D)
        for j in range([3, 4, 0, 2][i]):
            product = product * x[i, j]
        out[i] = product
    return out


def products_of_rows(x):
    out = torch.zeros(len(x), 2, dtype=D)
    for i in range(len(x)):
        product = torch.ones(2, dtype=D)
        for j in range(i):
            product = product * x[j, 1:3]
        out[i] = product
    return out


def products_by_label(x):
    labels = torch.tensor([0, 1, 0, 2, 1, 0])
    out = torch.zeros_like(x)
    for i in range(len(x)):
        product = torch.ones((), dtype=D)
        for j in range(len(x)):
            if labels[j] == labels[i]:
                product = product * x[j]
        out[i] = product
    return out


def first_norms(x):
    out = torch.zeros_like(x)
    for i in range(len(x)):
        out[i] = x[: i + 1].norm()
    return out


def deviations(x):
    ends = [0, 2, 4, 6]
    out = []
    for i in range(3):
        out.append(x[ends[i] : ends[i + 1]].std())
    return torch.stack(out)


ROWS = [[1.0, 2.0], [1.0, 2.0], [0.0, 0.0], [3.0, -1.0]]
TABLE = [[0.0, -1.0, 2.0, 2.0], [-1.0, -2.0, 0.0, 2.0], [1.0, 0.0, -3.0, 0.0], [0.0, 0.0, 0.0, 1.0]]
CASES = [
    (distances, ROWS), (pooled, TABLE), (pooled_over, TABLE), (products, TABLE), (products_along, TABLE),
    (first_products, [1.0, 2.0, 0.0, 3.0, 0.0, 1.0]), (slices, [0.0, 0.0, 2.0, 0.0, 3.0, 1.0]),
    (slices_along, [0.0, 0.0, 2.0, 0.0, 3.0, 1.0]), (first_norms, [0.0, 0.0, 1.0, 0.0]),
    (deviations, [1.0, 1.0, 2.0, 2.0, 0.0, 0.0]), (steps_of_products, TABLE), (products_of_rows, TABLE),
    (products_by_label, [0.0, 2.0, 0.0, 3.0, 0.0, 1.0]),
]  # fmt: skip


def gradient(function, x, incoming):
    x = torch.tensor(x, dtype=D, requires_grad=True)
    result = function(x)
    far = torch.tensor(incoming, dtype=D).repeat(result.numel())[: result.numel()].view_as(result)
    return result.detach(), torch.autograd.grad(result, x, far)[0]


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize(("function", "x"), CASES, ids=[one.__name__ for one, _ in CASES])
def test_gradients_are_the_loops_whatever_comes_in(function, x, backend):
    lifted = lift(function, backend=backend, verify="off")
    for incoming in ([1.0, 2.0], [INF, 1.0], [1.0, -INF, 2.0], [NAN, 1.0, INF], [INF]):
        expected, given = gradient(function, x, incoming), gradient(lifted, x, incoming)
        for ours, loops in zip(given, expected, strict=True):
            torch.testing.assert_close(ours, loops, equal_nan=True)
    if backend == "torch":
        assert {loop.decision for loop in lifted.report().loops} == {"lanes"}


STEEP = [
    case for case in CASES
    if case[0] in (pooled, products, products_along, first_products, slices, slices_along, steps_of_products,
                   products_of_rows, products_by_label)
]  # fmt: skip


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize(("function", "x"), STEEP, ids=[one.__name__ for one, _ in STEEP])
def test_second_and_third_derivatives_are_the_loops(function, x, backend):
    def derivatives(one):
        z = torch.tensor(x, dtype=D, requires_grad=True)
        (first,) = torch.autograd.grad(one(z).add(1).square().sum(), z, create_graph=True)
        (second,) = torch.autograd.grad(first.square().sum(), z, create_graph=True)
        return first.detach(), second.detach(), torch.autograd.grad(second.sum(), z)[0]

    lifted = lift(function, backend=backend, verify="off")
    for _ in range(2):
        for ours, loops in zip(derivatives(lifted), derivatives(function), strict=True):
            torch.testing.assert_close(ours, loops)


def test_second_derivatives_of_products_of_two_zeros():
    x = torch.tensor([[1.0, 2, 3, 4], [0, 0, 4, 2], [1, 2, 3, 4], [0, 0, 5, 5]], dtype=D, requires_grad=True)
    lifted = lift(steps_of_products, backend="torch", verify="off")
    (first,) = torch.autograd.grad(lifted(x).sum(), x, create_graph=True)
    assert first.tolist() == [[6, 3, 2, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
    (second,) = torch.autograd.grad(first.sum(), x)
    assert second.tolist() == [[5, 4, 3, 0], [8, 8, 0, 0], [0, 0, 0, 0], [1, 1, 0, 0]]


@pytest.mark.parametrize(
    ("function", "x"), [case for case in CASES if case[0] in (products, pooled, distances, steps_of_products)]
)
def test_many_gradients_are_computed_at_once(function, x):
    def slopes(one):
        return torch.autograd.functional.jacobian(one, torch.tensor(x, dtype=D).unique(dim=0) + 0.5, vectorize=True)

    torch.testing.assert_close(slopes(lift(function, backend="torch", verify="off")), slopes(function))
