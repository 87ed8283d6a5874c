"""Values of another length in each iteration that meet themselves as rows and columns: all pairs of their entries."""

import numpy as np
import torch
from tests.vectorize.harness import check_backends

STARTS, ENDS = torch.tensor([0, 2, 7, 3]), torch.tensor([3, 8, 9, 10])
EVERYWHERE = {"auto", "torch", "native"}


def rows(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def of_slices(x, s, e):
    out = torch.zeros(len(s), dtype=x.dtype)
    for i in range(len(s)):
        v = x[s[i] : e[i]]
        out[i] = (v[:, None] - v[None, :]).abs().sum()
    return out


def of_masks(x, m):
    out = torch.zeros(x.shape[0], dtype=x.dtype)
    for i in range(x.shape[0]):
        v = x[i][m[i]]
        out[i] = (v.unsqueeze(1) * v).square().sum()
    return out


def of_lists(x, near):
    out = []
    for i in range(len(near)):
        v = x[near[i]]
        out.append(((v[:, None] - v[None]) ** 2).sum(-1).mean())
    return torch.stack(out)


def of_items(xs):
    out = []
    for v in xs:
        out.append((torch.softmax(v[:, None] * v[None, :], 1) * v).sum())
    return torch.stack(out)


def of_columns(xs):
    out = []
    for v in xs:
        out.append(torch.where(v[:, 0][:, None] > v[:, 1][None], v[:, 1][:, None], v[:, 0][None]).sum())
    return torch.stack(out)


def ranks(x, s, e):
    out = torch.zeros(len(x), dtype=x.dtype)
    for i in range(len(s)):
        v = x[s[i] : e[i]]
        out[s[i] : e[i]] = (v[:, None] > v[None, :]).sum(1) * 1.0
    return out


def losses(x, s, e):
    out = torch.zeros(len(s), dtype=x.dtype)
    for i in range(len(s)):
        v = x[s[i] : e[i]]
        out[i] = torch.nn.functional.l1_loss(
            v[:, None] * torch.ones(len(v), dtype=x.dtype), v[None, :].expand(len(v), -1)
        )
    return out


def of_arrays(x, s, e):
    out = []
    for i in range(len(s)):
        v = x[s[i] : e[i]]
        out.append(np.abs(v[:, None] - v[None, :]).max() + np.sum(v[:, None] == v[None, :]))
    return out


def test_pairs_of_slices():
    check_backends(of_slices, [rows(10), STARTS, ENDS], gradients=True, kept=EVERYWHERE)


def test_pairs_of_what_a_mask_takes():
    mask = rows(4, 6, seed=1) > -0.5
    check_backends(of_masks, [rows(4, 6), mask], gradients=True, kept=EVERYWHERE)


def test_pairs_of_listed_rows():
    check_backends(of_lists, [rows(9, 3), [[1, 2, 3], [4, 4], [8, 0, 5, 7, 2]]], gradients=True, kept=EVERYWHERE)


def test_pairs_of_items():
    check_backends(of_items, [[rows(n, seed=n) for n in (4, 1, 6)]], gradients=True, kept=EVERYWHERE)


def test_one_column_as_rows_and_another_as_columns():
    check_backends(of_columns, [[rows(n, 2, seed=n) for n in (4, 1, 6)]], gradients=True, kept=EVERYWHERE)


def test_a_rank_of_each_entry_is_stored():
    check_backends(ranks, [rows(10), STARTS, ENDS], kept=EVERYWHERE)


def test_losses_between_rows_and_columns():
    check_backends(losses, [rows(10), STARTS, ENDS], gradients=True, kept=EVERYWHERE)


def test_pairs_of_arrays():
    check_backends(of_arrays, [rows(10).numpy(), STARTS.numpy(), ENDS.numpy()], kept=EVERYWHERE)
