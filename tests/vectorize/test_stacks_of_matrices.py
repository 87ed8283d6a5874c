"""Functions of one matrix in each iteration are those functions of the stack of all of them."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from tests.vectorize.harness import appended, check

from looplift import lift

EXPRESSIONS = """torch.linalg.inv(x[i])
torch.inverse(x[i]) @ a[i]
x[i].det()
torch.logdet(x[i])
torch.linalg.slogdet(x[i]).logabsdet
torch.linalg.cholesky(x[i]).diagonal().log().sum()
torch.diagonal(torch.linalg.cholesky(x[i]), 1)
torch.linalg.eigvalsh(x[i])
torch.linalg.svd(x[i]).S
torch.linalg.matrix_power(x[i], 3)
torch.linalg.solve(x[i], b)
torch.linalg.solve(b, x[i])
torch.linalg.solve(x[i], a[i])
torch.linalg.solve(x[i], a[i].unsqueeze(1)).squeeze(1)
torch.linalg.solve_triangular(torch.linalg.cholesky(x[i]), a[i].unsqueeze(1), upper=False).squeeze(-1)
torch.linalg.solve_triangular(torch.tril(b), x[i], upper=False)
torch.cholesky_solve(a[i].unsqueeze(1), torch.linalg.cholesky(x[i]))
torch.linalg.inv(x[i])[:1].squeeze(0)
torch.stack([torch.linalg.solve(x[i], x[j]) for j in range(len(a))])""".splitlines()


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_function_of_each_matrix(expression):
    function = appended(expression, "x.shape[0]", {"torch": torch}, join="torch.stack")
    generator, calls = torch.Generator().manual_seed(2), []
    for count, size in ((5, 3), (3, 3), (2, 4), (1, 2)):
        x, a, b = (
            torch.randn(*s, generator=generator, dtype=torch.float64)
            for s in ((count, size, size), (count, size), (size, size))
        )
        eye = torch.eye(size, dtype=torch.float64)
        calls.append([x @ x.mT + eye, a, b + 3 * eye])
    check(function, *calls)


def test_one_call_and_no_map():
    def inverses(x):
        return torch.stack([torch.linalg.inv(one) for one in x])

    lifted: Any = lift(inverses, backend="torch")
    lifted(torch.randn(3, 2, 2))
    assert "vmap" not in lifted.source
    with pytest.raises(RuntimeError, match="singular"):
        lifted(torch.zeros(3, 2, 2))
