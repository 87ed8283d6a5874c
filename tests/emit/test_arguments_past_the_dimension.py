"""What stands behind the dimension, in kernels of tensors and in batched code of slices of one length."""

import numpy as np
import pytest
import torch
from tests.vectorize.harness import appended, check_backends

EVERYWHERE = {"auto", "torch", "native"}


def texts(many):
    return [text.strip() for text in many.split(";")]


@pytest.mark.parametrize(
    "expression",
    texts(
        """torch.softmax(x[i], 0, torch.float64); x[i].log_softmax(0, torch.float64); x[i].softmax(0, None);
    torch.nn.functional.softmax(x[i], 0, 3, torch.float64); torch.norm(x[i], 2, 0, True, None, torch.float64);
    torch.norm(x[i], 2, 0, True); x[i].std(0, False); torch.var(x[i], 0, True); x[i].sum(0, True)"""
    ),
)
def test_vectors(expression):
    loop = appended(expression, "len(x)", {"torch": torch}, join="list")
    given = torch.randn(4, 9, generator=torch.Generator().manual_seed(0))
    check_backends(loop, [given, None, None], gradients=True, kept=EVERYWHERE)


@pytest.mark.parametrize(
    "expression",
    texts(
        """torch.softmax(x[i], 1, torch.float64); x[i].std((0, 1), False); torch.var(x[i], 1, False, True);
    x[i].mean((0, 1), True); torch.log_softmax(x[i], -1)"""
    ),
)
def test_matrices(expression):
    loop = appended(expression, "len(x)", {"torch": torch}, join="list")
    given = torch.randn(4, 3, 5, generator=torch.Generator().manual_seed(0))
    check_backends(loop, [given, None, None], gradients=True, kept=EVERYWHERE)


@pytest.mark.parametrize(
    "expression",
    texts(
        """np.sum(x[i], 0, np.float64); x[i].mean(1, np.float64); np.var(x[i], 0, np.float64);
    np.prod(x[i], None, np.float64); np.cumsum(x[i], 0, np.float64)"""
    ),
)
def test_arrays(expression):
    loop = appended(expression, "len(x)", {"np": np}, join="list")
    given = torch.randn(4, 3, 5, generator=torch.Generator().manual_seed(0)).numpy()
    check_backends(loop, [given, None, None], kept=EVERYWHERE)
