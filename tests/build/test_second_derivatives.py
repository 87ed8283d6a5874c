"""Gradients of gradients of kernels are those of the loop."""

import pytest
import torch

import looplift
from looplift import lift

double = torch.float64


def recurrence(a, b, h):
    out = torch.zeros(a.shape[0], dtype=a.dtype)
    for t in range(a.shape[0]):
        h = torch.tanh(a[t] * h + b[t]) * a[t]
        if h > 0.3:
            h = h * b[t]
        out[t] = h * h
    return out.sum() + h


def written(x, y, table):
    for i in range(1, x.shape[0]):
        for j in range(y.shape[0]):
            table[i, j] = torch.exp(-x[i] * y[j]) * torch.sin(table[i - 1, j] * 1.0)
    return table.sum()


def into_the_callers(x, y, table):
    table = table * y[0]
    for i in range(1, x.shape[0]):
        for j in range(1, y.shape[0]):
            table[i, j] = x[i] * y[j] ** 3 + table[i - 1, j - 1].clone() * x[i]
    return (table**2).sum()


def alignment(x, y, gamma):
    n, m = x.shape[0], y.shape[0]
    table = torch.full((n + 1, m + 1), 1e5, dtype=x.dtype)
    table[0, 0] = 0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            last = torch.stack([-table[i - 1, j], -table[i, j - 1], -table[i - 1, j - 1]]) / gamma
            table[i, j] = (x[i - 1] - y[j - 1]) ** 2 - gamma * torch.logsumexp(last, 0)
    return table[n, m]


def newton(a, b, steps):
    total = torch.zeros((), dtype=a.dtype)
    for i in range(a.shape[0]):
        x = a[i] ** 2 + 1
        while torch.abs(x * x - a[i] ** 2 - 1) > 1e-3:
            x = 0.5 * (x + (a[i] ** 2 + 1) / x)
        total = total + x * b[i] * steps
    return total


def one_of_two(a, b, h):
    for t in range(a.shape[0]):
        h = h * a[t] if h > 0 else h + a[t]
    return h


def softened(a, b, w):
    h = torch.zeros(3, dtype=a.dtype)
    for t in range(a.shape[0]):
        h = torch.tanh(w * h + a[t])
    return (h * b[:3]).sum()


def row(count, seed=0, dtype=double):
    return torch.randn(count, dtype=dtype, generator=torch.Generator().manual_seed(seed)).requires_grad_()


def table(n, m):
    return torch.rand(n, m, dtype=double, generator=torch.Generator().manual_seed(3)).requires_grad_()


PROGRAMS = [
    (recurrence, lambda: (row(5), row(5, 1), torch.tensor(0.5, dtype=double, requires_grad=True))),
    (recurrence, lambda: (row(5), row(5, 1).detach(), torch.tensor(0.5, dtype=double))),
    (recurrence, lambda: (row(1), row(1, 1), torch.tensor(-0.5, dtype=double, requires_grad=True))),
    (written, lambda: (row(4), row(3, 1), table(4, 3).detach())),
    (into_the_callers, lambda: (row(4), row(3, 1), table(4, 3))),
    (into_the_callers, lambda: (row(3), row(3, 1).detach(), table(3, 3))),
    (alignment, lambda: (row(4), row(3, 1), 0.5)),
    (alignment, lambda: (row(4), row(3, 1).detach(), 1)),
    (newton, lambda: (row(4), row(4, 1), 2)),
    (one_of_two, lambda: (row(4), row(4, 1), torch.tensor(0.5, dtype=double, requires_grad=True))),
    (softened, lambda: (row(4), row(4, 1), 0.5)),
]


def twice(function, arguments, penalty):
    """The gradients of a penalty on the gradients, or the error."""
    leaves = [one for one in arguments if isinstance(one, torch.Tensor) and one.requires_grad]
    try:
        result = function(*(one.clone() if isinstance(one, torch.Tensor) else one for one in arguments))
        first = torch.autograd.grad(result, leaves, create_graph=True, allow_unused=True)
        total = penalty(result, [one for one in first if one is not None])
        return first, torch.autograd.grad(total, leaves, allow_unused=True)
    except RuntimeError as error:
        return type(error)


PENALTIES = {
    "norm": lambda result, first: result + sum((one**2).sum() for one in first),
    "one": lambda result, first: (torch.exp(first[0])).sum(),
    "none": lambda result, first: result * 1.0,
}


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize(("function", "make"), PROGRAMS)
def test_second_derivatives(function, make, penalty):
    lifted = lift(function, backend="native", verify="off")
    wanted = twice(function, make(), PENALTIES[penalty])
    found = twice(lifted, make(), PENALTIES[penalty])
    if isinstance(wanted, type):
        assert found == wanted
    else:
        torch.testing.assert_close(found, wanted, rtol=1e-9, atol=1e-12)


def test_most_of_these_are_kernels():
    native = set()
    for function, make in PROGRAMS:
        lifted = lift(function, backend="native", verify="off")
        lifted(*(one.clone() if isinstance(one, torch.Tensor) else one for one in make()))
        native |= {function.__name__ for loop in lifted.report().loops if loop.decision == "native"}
    assert native >= {"recurrence", "into_the_callers", "alignment", "softened"}


def test_third_derivatives_and_one_tensor_in_two_places():
    lifted = lift(alignment, backend="native", verify="off")
    found = []
    for function in (alignment, lifted):
        x = row(3)
        value = function(x, x, 1.0)
        for _ in range(3):
            (value,) = torch.autograd.grad((value**2).sum(), x, create_graph=True)
        found.append(value)
    torch.testing.assert_close(*found)


def test_single_precision_and_hessians():
    lifted = lift(alignment, backend="native", verify="off")
    x, y = row(3, dtype=torch.float32), row(4, 1, dtype=torch.float32)
    wanted, found = (
        torch.autograd.functional.hessian(lambda x, y: one(x, y, 1.0), (x, y)) for one in (alignment, lifted)
    )
    torch.testing.assert_close(found, wanted, rtol=1e-3, atol=1e-4)


def test_gradcheck():
    lifted = lift(recurrence, backend="native", verify="off")
    assert torch.autograd.gradgradcheck(lifted, PROGRAMS[0][1]())


def test_a_graph_that_is_kept():
    lifted = lift(alignment, backend="native", verify="off")
    x, y = row(4), row(3, 1)
    (first,) = torch.autograd.grad(lifted(x, y, 1.0), x, create_graph=True)
    once, again = (torch.autograd.grad((first**2).sum(), x, retain_graph=True) for _ in range(2))
    torch.testing.assert_close(once, again, rtol=0, atol=0)
    with pytest.raises(RuntimeError, match="second time"):
        torch.autograd.grad((first**2).sum(), x)
        torch.autograd.grad((first**2).sum(), x)


def test_what_was_changed_meanwhile():
    """A tensor that the kernel's backward pass does not read, but the loop's would."""

    def loop(x, y):
        h = torch.zeros((), dtype=x.dtype)
        for i in range(x.shape[0]):
            h = h * y[i] + x[i]
        return h

    lifted = lift(loop, backend="native", verify="off")
    x, y = row(3), row(3, 1)
    z = x * 1.0
    result = lifted(z, y)
    with torch.no_grad():
        z.mul_(2)
    (first,) = torch.autograd.grad(result, x, create_graph=True)
    torch.testing.assert_close(first, torch.autograd.grad(loop(x, y), x)[0])
    with pytest.raises(RuntimeError, match=r"changed after it: let the loop work on a copy"):
        torch.autograd.grad((first**2).sum(), y)


def test_a_loaded_program_says_so(tmp_path):
    x, y = row(4), row(3, 1)

    lift(alignment, backend="native").export(tmp_path / "file.pt2", x, y, 1.0)
    loaded = looplift.load(tmp_path / "file.pt2")
    (first,) = torch.autograd.grad(loaded(x, y, 1.0), x, create_graph=True)
    torch.testing.assert_close(first, torch.autograd.grad(alignment(x, y, 1.0), x)[0])
    with pytest.raises(RuntimeError, match=r"call the lifted function itself, or lift it with backend='torch'"):
        torch.autograd.grad((first**2).sum(), x)
