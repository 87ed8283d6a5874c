"""Names that are None until an iteration gives them a value, and results of one kind or another."""

import numpy as np
import pytest
import torch
from tests.vectorize.harness import check

import looplift
from looplift.base.compare import difference


def greatest_of_rows(x, w):
    best = None
    for i in range(x.shape[0]):
        best = x[i] * w if best is None else torch.maximum(best, x[i] * w)
    return best


def added(x, w):
    total = None
    for row in x:
        y = torch.exp(row) * w
        if total is None:
            total = y
        else:
            total = total + y
    return total


def steps(x, w):
    previous, out = None, []
    for row in x:
        if previous is not None:
            out.append(row - previous * w)
        previous = row
    return torch.stack(out) if len(out) else None


def states(x, w):
    outs = []
    for b in range(len(x)):
        h = None
        for t in range(x.shape[1]):
            z = x[b, t] * w
            h = torch.tanh(z if h is None else z + h)
        outs.append(h)
    return torch.stack(outs) if outs else None


def history(x, w):
    h, hs = None, []
    for t in range(x.shape[0]):
        z = torch.sin(x[t])
        if h is not None:
            z = z + h * w
        h = torch.tanh(z)
        hs.append(h)
    return torch.stack(hs) if hs else None, h


def until_far(x, w):
    m = None
    for row in x:
        d = (row * w).sum()
        if m is None:
            m = d
        elif d > m + 2:
            break
        else:
            m = torch.minimum(m, d)
    return m


def forgetful(x, w):
    previous, out = None, []
    for row in x:
        out.append(row.sum() if previous is None else (row - previous).sum())
        previous = None if row[0] > 0.5 else row * w
    return out


PROGRAMS = {
    greatest_of_rows: "lanes", added: "lanes", steps: "lanes", states: "lanes", history: "sequential",
    until_far: None, forgetful: None,
}  # fmt: skip


def inputs(n):
    generator = torch.Generator().manual_seed(n)
    return torch.randn(n, 4, generator=generator, dtype=torch.float64), torch.tensor(0.7, dtype=torch.float64)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
@pytest.mark.parametrize("sizes", [(5, 1, 0, 2, 9), (0, 1, 2, 5), (1, 0, 3)], ids=str)
@pytest.mark.parametrize("backend", ["auto", "torch"])
def test_markers(program, sizes, backend):
    lifted = looplift.lift(program, verify="off", backend=backend)
    for n in sizes:
        x, w = inputs(n)
        assert difference(lifted(x, w), program(x, w), magnitude=10) is None
        x.requires_grad_()
        wanted, got = program(x, w), lifted(x, w)
        assert difference(got, wanted, magnitude=10) is None
        if isinstance(wanted, torch.Tensor):
            mine, theirs = (torch.autograd.grad(one.sum(), x)[0] for one in (got, wanted))
            torch.testing.assert_close(mine, theirs)


@pytest.mark.parametrize("program", [p for p, found in PROGRAMS.items() if found], ids=lambda p: p.__name__)
def test_what_becomes_of_markers(program):
    lifted = looplift.lift(program, verify="off", backend="torch")
    lifted(*inputs(6))
    assert lifted.report().loops[0].decision == PROGRAMS[program]


def test_arrays():
    def least(x):
        m = None
        for row in x:
            m = np.exp(row) if m is None else np.minimum(m, np.exp(row))
        return m

    lifted = looplift.lift(least, verify="off", backend="torch")
    for n in (4, 1, 0, 7):
        x = inputs(n)[0].numpy()
        assert difference(lifted(x), least(x)) is None
    assert [loop.decision for loop in lifted.report().loops] == ["lanes"]


def test_the_list_holds_none():
    def greatest(items):
        m = None
        for v in items:
            m = v if m is None else max(m, v)
        return m

    lifted = looplift.lift(greatest, verify="off")
    for items in ([1.0, 2.0], [None, 3.0], [None, None], []):
        for _ in range(2):
            try:
                wanted = greatest(items)
            except TypeError:
                with pytest.raises(TypeError):
                    lifted(items)
            else:
                assert lifted(items) == wanted


# ---------------------------------------------------------------- bound anew


def dominant(a):
    values = []
    ones = torch.ones(3, dtype=a.dtype)
    scaled = ones * 2
    for k in range(a.shape[0]):
        v, last = scaled, 0.0
        for _ in range(20):
            w = a[k] @ v
            v = w / w.norm()
            new = v @ a[k] @ v
            if abs(new - last) < 1e-6:
                break
            last = new
        values.append(new)
    return torch.stack(values)


def ends_of_rows(x, counts):
    out = torch.zeros(len(x), dtype=x.dtype)
    for i in range(len(x)):
        for j in range(counts[i]):
            last = torch.sin(x[i, j])
        out[i] = last
    return out


def test_bound_in_an_inner_loop():
    generator = torch.Generator().manual_seed(1)
    a = torch.rand(5, 3, 3, generator=generator, dtype=torch.float64)
    check(dominant, [a], [a[:2]], decisions={"lanes", "sequential"})


@pytest.mark.parametrize("counts", [[2, 1, 4], [2, 0, 4], [0, 1, 2]])
def test_bound_by_an_earlier_iteration(counts):
    x = inputs(3)[0]
    lifted = looplift.lift(ends_of_rows, verify="off")
    try:
        wanted = ends_of_rows(x, counts)
    except UnboundLocalError:
        with pytest.raises(UnboundLocalError):
            lifted(x, counts)
    else:
        assert torch.equal(lifted(x, counts), wanted)


# ---------------------------------------------------------------- results of two kinds


def stacked_or_none(x, w):
    out = []
    for row in x:
        out.append(row * w)
    return torch.stack(out) if out else None


def stacked_or_rows(x, w):
    out = []
    for row in x:
        out.append((row * w).sum())
    return torch.stack(out) if len(out) > 2 else x


def count_or_sum(x, w):
    total = torch.zeros((), dtype=x.dtype)
    for row in x:
        total = total + (row * w).sum()
    if total > 1:
        return total
    return None


@pytest.mark.parametrize("program", [stacked_or_none, stacked_or_rows, count_or_sum], ids=lambda p: p.__name__)
def test_results_of_two_kinds(program):
    lifted = looplift.lift(program, verify="off", backend="torch")
    for n in (5, 1, 0, 2, 9, 3):
        x, w = inputs(n)
        got, wanted = lifted(x, w), program(x, w)
        assert difference(got, wanted, magnitude=10) is None
        assert (got is x) == (wanted is x)
        x.requires_grad_()
        got, wanted = lifted(x, w), program(x, w)
        assert (got is x) == (wanted is x)
        if wanted is not None and wanted.grad_fn is not None:
            torch.testing.assert_close(*(torch.autograd.grad(one.sum(), x)[0] for one in (got, wanted)))
    expected = "scan" if program is count_or_sum else "lanes"  # a sum that decides is added in the loop's order
    assert {loop.decision for loop in lifted.report().loops} == {expected}
