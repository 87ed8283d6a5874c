"""Gradients of kernels are those of the loops: against autograd of the loop itself, and by finite differences."""

import pytest
import torch
from tests.emit.native_programs import Native

from looplift.base.errors import NotLiftable, RequirementFailed

double = torch.float64


def recurrence(a, b, h, out):
    for t in range(len(a)):
        h = a[t] * h + b[t]
        out[t] = h
    return h, out


def dtw(x, y):
    n, m = x.shape[0], y.shape[0]
    R = torch.full((n + 1, m + 1), float("inf"), dtype=x.dtype)
    R[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost = (x[i - 1] - y[j - 1]) ** 2
            R[i, j] = cost + min(R[i - 1, j], R[i, j - 1], R[i - 1, j - 1])
    return R[n, m]


def soft_dtw(x, y):
    n, m = x.shape[0], y.shape[0]
    R = torch.full((n + 1, m + 1), 1e6, dtype=x.dtype)
    R[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost = (x[i - 1] - y[j - 1]) ** 2
            s = torch.exp(-R[i - 1, j]) + torch.exp(-R[i, j - 1]) + torch.exp(-R[i - 1, j - 1])
            R[i, j] = cost - torch.log(s)
    return R[n, m]


def newton(a):
    x = a * 0.5
    while abs(x * x - a) > 1e-12:
        x = x - (x * x - a) / (2 * x)
    return x


def conditional(x, w, out):
    s = 0.0
    for i in range(len(x)):
        v = x[i] * w
        if v > 0.2:
            v = torch.sin(v) * x[i]
        else:
            v = v * v
        out[i] = v
        s = s + v
    return s, out


def stops(x, w):
    s = w * 1.0
    for i in range(len(x)):
        s = s * x[i]
        if s > 3.0:
            break
    return s


def in_place(x):
    s = torch.zeros((), dtype=x.dtype)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            s += x[i, j] * x[i, j]
    return s


def swaps(x):
    a = x[0] * 1.0
    b = x[1] * 1.0
    for i in range(len(x)):
        a, b = b, a * x[i]
    return a, b


def accumulates(x, idx, out):
    for k in range(len(idx)):
        out[idx[k]] += x[k] * x[k]
    return out


def multiplies_in_place(x, out):
    for k in range(len(x)):
        out[0] *= x[k]
        out[-1] /= x[k]
    return out


def nested(x, w):
    s = 0.0
    for i in range(x.shape[0]):
        h = 0.0
        for j in range(x.shape[1] - 1, -1, -1):
            h = torch.tanh(h * w + x[i, j])
        s = s + h
    return s


def products_of_rows(x):
    s = 0.0
    for row in x:
        p = 1.0
        for v in row:
            p = p * v
        s = s + torch.sqrt(p)
    return s


def functions(x, w):
    s = w * 0.0
    for i in range(0, len(x), 2):
        v = x[i]
        s = s + torch.exp(v) / (1 + v) - torch.log1p(v) * torch.atan(w) + torch.sigmoid(v * w) ** 3
        s = s + torch.maximum(v, w) - torch.minimum(v * 2, w) + torch.clamp(v, 0.3, 0.7) + v**w + 2.0 / v
        s = s + torch.where(v > w, v * w, v + w) + abs(v - w) + torch.relu(v - w) + v % 0.4 + torch.sqrt(v).clone()
    return s


def cuts(x, w):
    s = 0.0
    for i in range(len(x)):
        s = s + x[i] * x[i].item() + w * float(x[i].detach())
    return s


def overwrites(x, out):
    for i in range(len(x)):
        out[0] = x[i] * 2
        out[1] = out[1] + out[0]
    return out


def number(*shape, seed=0):
    made = torch.rand(shape, generator=torch.Generator().manual_seed(seed), dtype=double) + 0.1
    return made.requires_grad_()


CASES = [
    (recurrence, number(4), number(4), number(), torch.zeros(4, dtype=double)),
    (recurrence, number(4), number(4), number(), number(4)),
    (dtw, number(3), number(4, seed=1)),
    (soft_dtw, number(3), number(4, seed=1)),
    (newton, number()),
    (conditional, number(5), number(), number(5)),
    (stops, number(5), number()),
    (in_place, number(3, 2)),
    (swaps, number(5)),
    (accumulates, number(4), torch.tensor([0, 1, 1, -1]), number(3)),
    (multiplies_in_place, number(3), number(2)),
    (nested, number(2, 3), number()),
    (products_of_rows, number(2, 3)),
    (functions, number(5), number(seed=3)),
    (cuts, number(3), number()),
    (overwrites, number(3), number(2)),
]

ROUNDED = (soft_dtw, conditional, nested, functions)
"""Of functions as exp: torch's differ in the last digit from one processor to the next."""


def fresh(values, *, leaves=True):
    """Copies; what requires a gradient is made from a leaf, so that it may be changed in place."""
    copies = [v.detach().clone().requires_grad_(v.requires_grad) if isinstance(v, torch.Tensor) else v for v in values]
    return copies, [v * 1.0 if isinstance(v, torch.Tensor) and v.requires_grad else v for v in copies]


def differentiable(results):
    results = results if isinstance(results, tuple) else (results,)
    return [result for result in results if isinstance(result, torch.Tensor) and result.requires_grad]


def backward(results):
    generator = torch.Generator().manual_seed(5)
    sum((result * torch.rand(result.shape, generator=generator, dtype=double)).sum() for result in results).backward()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_gradients_are_the_loops(case):
    function, *values = case
    theirs, want = fresh(values)
    ours, got = fresh(values)
    native = Native(function, *got, gradients=True)
    wanted, found = differentiable(function(*want)), differentiable(native(*got))
    bound = 1e-13 if function in ROUNDED else 0
    torch.testing.assert_close(found, wanted, rtol=bound, atol=bound)
    backward(wanted)
    backward(found)
    for expected, given in zip(theirs, ours):
        if isinstance(expected, torch.Tensor) and expected.requires_grad and expected.is_leaf:
            assert (expected.grad is None) == (given.grad is None)
            assert expected.grad is None or torch.allclose(expected.grad, given.grad, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("case", [case for case in CASES if case[0] is not cuts], ids=lambda case: case[0].__name__)
def test_gradients_by_finite_differences(case):
    function, *values = case
    native = Native(function, *fresh(values)[1], gradients=True)

    def call(*leaves):
        given = iter(leaves)
        _, copies = fresh(values)
        arguments = [next(given) * 1.0 if v.requires_grad else copy for v, copy in zip(values, copies)]
        return tuple(differentiable(native(*arguments)))

    assert torch.autograd.gradcheck(call, [v for v in values if v.requires_grad])


def test_single_precision_and_halves():
    for dtype, tolerance in ((torch.float32, 1e-5), (torch.float16, 1e-2), (torch.bfloat16, 5e-2)):
        grads = []
        for run in (recurrence, None):
            a = torch.tensor([0.5, 0.25, 0.75], dtype=dtype, requires_grad=True)
            b = torch.tensor([1.0, 2.0, 3.0], dtype=dtype, requires_grad=True)
            values = (a, b, torch.tensor(1.0, dtype=dtype), torch.zeros(3, dtype=dtype))
            h, out = (run or Native(recurrence, *values, gradients=True))(*values)
            (h * 2 + out.sum()).backward()
            grads.append((a.grad, b.grad))
        for expected, given in zip(*grads):
            assert given.dtype == dtype and torch.allclose(expected, given, rtol=tolerance)


def test_backward_twice_and_unused_inputs():
    a, b = number(3), number(3)
    native = Native(recurrence, a, b, torch.ones((), dtype=double), torch.zeros(3, dtype=double), gradients=True)
    h, _ = native(a, b, torch.ones((), dtype=double), torch.zeros(3, dtype=double))
    h.backward(retain_graph=True)
    first = a.grad.clone()
    h.backward()
    assert torch.equal(a.grad, 2 * first)


def test_the_inputs_are_not_changed():
    out = torch.zeros(3, dtype=double)
    native = Native(recurrence, number(3), number(3), number(), out, gradients=True)
    _, new = native(number(3), number(3), number(), out)
    assert torch.equal(out, torch.zeros(3, dtype=double)) and not torch.equal(new, out)


def test_aliased_stores_run_the_original():
    base = number(3) * 1.0
    native = Native(recurrence, number(3), number(3), number(), torch.zeros(3, dtype=double), gradients=True)
    native(number(3), number(3), number(), torch.zeros(3, dtype=double))
    with pytest.raises(RequirementFailed):
        native(base, number(3), number(), base)
    with pytest.raises(RequirementFailed):
        native(number(3), number(3), number(), torch.zeros(1, dtype=double).expand(3))


def spoils(x, out):
    for t in range(1, len(x)):
        out[t] = out[t - 1] * x[t]
    return out


def test_a_saved_element_that_changes_is_refused_as_autograd_does():
    with pytest.raises(NotLiftable):
        Native(spoils, number(3), number(3) * 1.0, gradients=True)(number(3), number(3) * 1.0)


def last_one_counts(x, y, threshold):
    total = x[0]
    for j in range(len(x)):
        total = torch.sqrt(x[j]) * (x[0] if y[0] < threshold else y[0])
    return total


@pytest.mark.parametrize("threshold", [2.0, -2.0], ids=["y is only compared", "y is a factor"])
def test_what_no_result_depends_on_has_no_gradient_and_spoils_none(threshold):
    """The infinite derivative of a root at zero, in an iteration whose value is overwritten, is not in the gradient."""
    x = torch.tensor([0.5, 0.0, 0.25], dtype=double, requires_grad=True)
    y = torch.tensor([0.5, 1.0], dtype=double, requires_grad=True)
    native = Native(last_one_counts, x, y, threshold, gradients=True)
    result = native(x, y, threshold)
    assert isinstance(result, torch.Tensor)
    found = torch.autograd.grad(result, (x, y), allow_unused=True)
    wanted = torch.autograd.grad(last_one_counts(x, y, threshold), (x, y), allow_unused=True)
    torch.testing.assert_close(found, wanted)
    assert (wanted[1] is None) == (threshold == 2.0)


def bounded(x, low, high):
    total = x[0] * 0
    for i in range(len(x)):
        total = total * 0.5 + torch.clamp(x[i], low[i], high[i]) + x[i].clamp(max=high[i])
    return total


def within(x, low, high):
    total = x[0] * 0
    for i in range(len(x)):
        total = total + x[i].clamp(low, 0.7) * torch.clamp(x[i], max=high)
    return total


def remainders(x, low, high):
    total = x[0] * 0
    for i in range(len(x)):
        total = total + x[i] % high[i] * low[i]
    return total


ROW = (1.0, 3.0, 0.6, 7.0)
EDGES = [
    (bounded, torch.tensor(ROW, dtype=double), torch.tensor((0.5, 3.0, 1.0, 8.0)), torch.tensor((0.7, 3.0, 0.5, 9.0))),
    (within, torch.tensor((0.1, 0.7, 0.3, 0.5)), 0.1, 0.3),
    (remainders, torch.tensor(ROW, dtype=double), torch.ones(4), torch.tensor((0.1, 0.3, 0.2, 0.7), dtype=double)),
]


@pytest.mark.parametrize("case", EDGES, ids=lambda case: case[0].__name__)
def test_gradients_at_the_edges(case):
    """Of values that are their bounds, or quotients that are all but whole: bit for bit which side they are on."""
    function, *values = case
    found = []
    for run in (function, None):
        given = [v.clone().requires_grad_() if isinstance(v, torch.Tensor) else v for v in values]
        leaves = [v for v in given if isinstance(v, torch.Tensor)]
        result = (run or Native(function, *given, gradients=True))(*given)
        found.append(torch.autograd.grad(result, leaves))
    torch.testing.assert_close(*found)


def slopes(x, out):
    for i in range(len(x)):
        out[0, i] = torch.relu(x[i])
        out[1, i] = x[i] ** 0.5
        out[2, i] = 2 ** x[i]
    return out


def angles(x, y, out):
    for i in range(len(x)):
        out[i] = torch.atan2(x[i], y[i])
    return out


def cubes(x, out):
    for i in range(len(x)):
        out[i] += x[i]
        out[i] **= 3
    return out


INFINITE = float("inf")
SPECIAL = [
    (slopes, ((0.0, -0.0, 1.0, -2.0, INFINITE, -INFINITE, float("nan")),), (3, 7)),
    (angles, ((0.0, -0.0, 0.0, 1.0, INFINITE), (0.0, 0.0, 1e-310, 0.0, 1.0)), (5,)),
    (cubes, ((1.0, 2.0, -3.0),), (3,)),
]


@pytest.mark.parametrize("case", SPECIAL, ids=lambda case: case[0].__name__)
def test_gradients_of_numbers_that_are_zero_infinite_or_none(case):
    function, rows, shape = case
    found = []
    for run in (function, None):
        leaves = [torch.tensor(row, dtype=double, requires_grad=True) for row in rows]
        out = torch.zeros(shape, dtype=double)
        result = (run or Native(function, *leaves, out, gradients=True))(*leaves, out)
        found.append(torch.autograd.grad(result.sum() if run is None else out.sum(), leaves))
    torch.testing.assert_close(*found, equal_nan=True)


@pytest.mark.parametrize("penalty", [lambda y, g: y + (g**2).sum(), lambda y, g: g.sum()])
def test_a_second_derivative_is_never_left_out(penalty):
    """Also where only some inputs are asked for, and autograd would not pass by what the kernel is made of."""
    a, b = number(3), number(3)
    given = (torch.ones((), dtype=double), torch.zeros(3, dtype=double))
    native = Native(recurrence, a, b, *given, gradients=True)
    found = []
    for run in (native, recurrence):
        h, _ = run(a, b, given[0], given[1].clone())
        (gradient,) = torch.autograd.grad(h, a, create_graph=True)
        found.append(torch.autograd.grad(penalty(h, gradient), (a, b), allow_unused=True))
    torch.testing.assert_close(*found)
