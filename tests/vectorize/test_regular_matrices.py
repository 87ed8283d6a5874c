"""Functions of matrices that must be regular, in some iterations, with gradients: the loop is the oracle."""

import copy

import pytest
import torch

from looplift import lift


def information(matrices, rows):
    total = torch.zeros((), dtype=matrices.dtype)
    for k in range(len(matrices)):
        if rows[k].sum() > 0:
            total = total + rows[k] @ torch.linalg.inv(matrices[k]) @ rows[k] + torch.logdet(matrices[k])
    return total


def signed(matrices, rows):
    out = []
    for k in range(len(matrices)):
        value = rows[k].sum()
        if value > 0:
            sign, size = torch.linalg.slogdet(matrices[k])
            value = value + sign * size + torch.det(matrices[k]) + torch.linalg.det(2 * matrices[k])
        out.append(value)
    return torch.stack(out)


def factored(matrices, rows):
    out = []
    for k in range(len(matrices)):
        if rows[k].sum() <= 0:
            continue
        lower = torch.linalg.cholesky(matrices[k])
        out.append(lower.sum() + torch.cholesky_solve(rows[k].unsqueeze(1), lower).sum())
    return torch.stack(out)


def solved(matrices, rows):
    out = torch.zeros_like(rows)
    for k in range(len(matrices)):
        if rows[k].sum() > 0:
            out[k] = torch.linalg.solve(matrices[k], rows[k].unsqueeze(1)).squeeze(1)
    return out


def filtered(matrices, rows):
    state, total = torch.ones(rows.shape[1], dtype=rows.dtype), torch.zeros((), dtype=rows.dtype)
    for k in range(len(matrices)):
        x = state
        for _ in range(3):
            x = 0.5 * x + 1
            if rows[k].sum() <= 0:
                continue
            spread = matrices[k] * x.sum() / 3
            x = x + torch.inverse(spread) @ rows[k]
            total = total + torch.logdet(spread)
    return total


def given(seed, dtype, *, singular):
    generator = torch.Generator().manual_seed(seed)
    factors = torch.randn(6, 3, 3, generator=generator, dtype=dtype)
    rows = torch.randn(6, 3, generator=generator, dtype=dtype)
    rows[0], rows[1] = rows[0].abs(), -rows[1].abs()
    matrices = factors @ factors.mT + torch.eye(3, dtype=dtype)
    if singular:
        matrices = matrices * (rows.sum(1) > 0)[:, None, None]
    return matrices, rows


def outcome(function, arguments, asking):
    arguments = copy.deepcopy(arguments)
    leaves = [one.requires_grad_() for k, one in enumerate(arguments) if k in asking]
    result = function(*arguments)
    return result, torch.autograd.grad(
        (result * torch.arange(1.0, result.numel() + 1).view(result.shape)).sum(), leaves
    )


@pytest.mark.parametrize("asking", [(0,), (0, 1)])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("function", [information, signed, factored, solved, filtered])
def test_matrices_of_iterations_that_do_not_need_them_may_be_singular(function, dtype, asking):
    for backend in ("torch", "auto"):
        lifted = lift(function, verify="off", backend=backend)
        for seed in range(3):
            arguments = given(seed, dtype, singular=seed > 0)
            got, want = outcome(lifted, arguments, asking), outcome(function, arguments, asking)
            torch.testing.assert_close(got, want)


@pytest.mark.parametrize("function", [information, signed])
def test_they_run_in_lanes(function):
    lifted = lift(function, backend="torch")
    outcome(lifted, given(0, torch.float64, singular=True), (0, 1))
    assert {loop.decision for loop in lifted.report().loops} == {"lanes"}, str(lifted.report())
