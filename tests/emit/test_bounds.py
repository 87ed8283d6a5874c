"""What is required of all integers is read off the least and the greatest one."""

import pytest
import torch

from looplift import lift


def pieces(x, starts, length):
    out = []
    for row, start in zip(x, starts):
        out.append(row[start : start + length])
    return torch.stack(out)


def outcome(function, *args):
    try:
        return function(*args)
    except Exception as error:
        return type(error), str(error)


STARTS = [[0, 3, 1], [4, 4, 4], [5, 0, 0], [-1, 0, 0], [-6, 0, 2], [0, 9, 0], [2**62, 0, 0]]


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32])
@pytest.mark.parametrize("starts", STARTS, ids=str)
def test_pieces_are_those_of_the_loop(starts, dtype):
    if dtype == torch.int32 and max(starts) > 2**31:
        pytest.skip("no 32-bit integer")
    lifted = lift(pieces, backend="torch", verify="off")
    x = torch.randn(3, 6)
    assert torch.equal(lifted(x, torch.tensor([1, 2, 0], dtype=dtype), 2), pieces(x, torch.tensor([1, 2, 0]), 2))
    for length in (2, 1, 0):
        args = (x, torch.tensor(starts, dtype=dtype), length)
        wanted, got = outcome(pieces, *args), outcome(lifted, *args)
        assert torch.equal(got, wanted) if isinstance(wanted, torch.Tensor) else got == wanted


def test_no_array_of_booleans_is_made():
    lifted = lift(pieces, backend="torch")
    lifted(torch.randn(3, 6), torch.tensor([1, 2, 0]), 2)
    assert "least(starts) >= 0" in lifted.source and ".all()" not in lifted.source


def diagonals(x):
    out = torch.zeros(x.shape[0], x.shape[1], x.shape[1], dtype=x.dtype)
    for i in range(x.shape[0]):
        out[i] = torch.diag(x[i])
    return out


@pytest.mark.parametrize("shape", [(3, 4), (1, 1), (2, 0), (0, 3)])
def test_diagonal_matrices_are_made_at_once(shape):
    lifted = lift(diagonals, backend="torch")
    lifted(torch.randn(5, 6))
    assert "torch.diag_embed(x)" in lifted.source
    x = torch.randn(shape, requires_grad=True)
    assert torch.equal(lifted(x), diagonals(x))
    if x.numel():
        weight = torch.randn(shape[0], shape[1], shape[1])
        (wanted,), (got,) = (torch.autograd.grad((f(x) * weight).sum(), x) for f in (diagonals, lifted))
        assert torch.equal(got, wanted)


def masked_hits(ids, keys):
    out = torch.zeros(ids.shape[0], dtype=torch.int64)
    for i in range(ids.shape[0]):
        if ids[i] > 1:
            hits = torch.where(keys == ids[i])[0]
            if len(hits) > 0:
                out[i] = hits[0] + 10
    return out


@pytest.mark.parametrize("count", [0, 1, 7])
def test_masks_are_joined(count):
    lifted = lift(masked_hits, backend="torch")
    for size in (5, 1, 9):
        ids, keys = torch.randint(0, 6, (size,)), torch.randint(0, 6, (count,))
        assert torch.equal(lifted(ids, keys), masked_hits(ids, keys))
