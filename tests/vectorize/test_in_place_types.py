"""What is changed in place keeps its dtype, whatever it is changed by."""

import numpy as np
import pytest
import torch

from looplift import lift


def added_and_scaled(b):
    out = []
    for i in range(len(b)):
        acc = torch.zeros(())
        acc += b[i]
        acc *= b[i]
        out.append(acc)
    return torch.stack(out)


def rows_by_wider_numbers(b):
    out = []
    for i in range(len(b)):
        acc = torch.zeros(2)
        acc += b[i]
        acc /= b[i] + 2
        acc -= torch.tensor([1.0, 2.0], dtype=torch.float64) * b[i]
        out.append(acc)
    return torch.stack(out)


def until_large(b):
    out = []
    for i in range(len(b)):
        acc = torch.ones((), dtype=torch.float16)
        while acc < 9:
            acc += b[i].abs() + 1
        out.append(acc)
    return torch.stack(out)


def over_steps(b):
    out = []
    for i in range(len(b)):
        acc, h = torch.zeros(()), b[i]
        for _ in range(3):
            h = torch.tanh(h * 2)
            if acc < 1:
                acc += h
        out.append(acc)
    return torch.stack(out)


def by_methods(b):
    out = []
    for i in range(len(b)):
        acc, v = torch.zeros((), dtype=torch.float16), b[i].float()
        while v < 3:
            v = v.abs() + 1
            acc.add_(v)
            acc.mul_(v)
        out.append(acc)
    return torch.stack(out)


def one_sum_of_sums(b):
    paid = torch.zeros(())
    for i in range(len(b)):
        steps = 0
        while steps < 5:
            steps += 1
            paid += b[i]
    return paid


def arrays(b):
    x, out = b.numpy(), np.zeros((len(b), 2), dtype=np.float32)
    for i in range(len(x)):
        acc = np.zeros(2, dtype=np.float32)
        acc += np.array([x[i], x[i] * 2])
        acc *= x[i : i + 1]
        out[i] = acc
    return torch.from_numpy(out)


@pytest.mark.parametrize("backend", ["torch", "auto", "native"])
@pytest.mark.parametrize(
    "function",
    [added_and_scaled, rows_by_wider_numbers, until_large, over_steps, by_methods, one_sum_of_sums, arrays],
)
def test_the_dtype_stays(function, backend):
    lifted = lift(function, verify="off", backend=backend)
    for seed in range(2):
        b = torch.randn(5, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
        found, wanted = lifted(b), function(b)
        assert found.dtype == wanted.dtype
        torch.testing.assert_close(found, wanted)


def test_gradients_are_rounded_on_the_way():
    b = torch.randn(5, dtype=torch.float64).requires_grad_()
    lifted = lift(over_steps, verify="off", backend="torch")
    (found,), (wanted,) = (torch.autograd.grad(one(b).sum(), b) for one in (lifted, over_steps))
    torch.testing.assert_close(found, wanted, rtol=1e-6, atol=1e-6)
