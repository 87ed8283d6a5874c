"""Sums of products of windows and weights are torch's convolutions, and the loop's values and gradients."""

from typing import Any

import numpy as np
import pytest
import torch
from tests.vectorize.harness import check, outcome

from looplift import lift
from looplift.base.compare import difference


def filtered(x, w):
    out = torch.zeros_like(x)
    for i in range(1, x.shape[0] - 1):
        for j in range(1, x.shape[1] - 1):
            total = 0.0
            for u in range(3):
                for v in range(3):
                    total = total + x[i + u - 1, j + v - 1] * w[u, v]
            out[i, j] = total
    return out


def turned(x, w):
    H, W = x.shape
    out = torch.zeros_like(x)
    for i in range(H):
        for j in range(W):
            for u in range(w.shape[0]):
                for v in range(w.shape[1]):
                    if i - u >= 0 and j - v >= 0:
                        out[i, j] += x[i - u, j - v] * w[u, v]
    return out


def channels(x, w):
    C, N = x.shape
    O, _, K = w.shape
    out = torch.zeros(O, N, dtype=x.dtype)
    for o in range(O):
        for t in range(N):
            total = 0.0
            for c in range(C):
                for k in range(K):
                    if 0 <= t + 2 * k - 2 < N:
                        total = total + w[o, c, k] * x[c, t + 2 * k - 2]
            out[o, t] = total
    return out


def depthwise(x, w):
    N, C, H, W = x.shape
    K = w.shape[1]
    out = torch.zeros(C, N, H - K + 1, W - K + 1)
    for n in range(N):
        for c in range(C):
            for i in range(H - K + 1):
                for j in range(W - K + 1):
                    total = 0.0
                    for u in range(K):
                        for v in range(K):
                            total = total + x[n, c, i + u, j + v] * w[c, u, v]
                    out[c, n, i, j] = total
    return out


def grouped(x, w, groups):
    _, H, W = x.shape
    O, share, K, _ = w.shape
    out = torch.zeros(O, H - K + 1, W - K + 1, dtype=x.dtype)
    for o in range(O):
        first = o // (O // groups) * share
        for i in range(H - K + 1):
            for j in range(W - K + 1):
                total = 0.0
                for c in range(share):
                    for u in range(K):
                        for v in range(K):
                            total = total + x[first + c, i + u, j + v] * w[o, c, u, v]
                out[o, i, j] = total
    return out


def outside(x, w):
    out = torch.zeros_like(x)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            for u in range(w.shape[0]):
                for v in range(w.shape[1]):
                    if 0 <= i + u + 50 < x.shape[0] and 0 <= j + v < x.shape[1]:
                        out[i, j] += x[i + u + 50, j + v] * w[u, v]
    return out


R = torch.randn
CALLS = [
    (filtered, [[R(6, 5), R(3, 3)], [R(3, 4), R(3, 3)]]),
    (turned, [[R(4, 6), R(3, 2)], [R(2, 2), R(4, 4)]]),
    (channels, [[R(3, 7), R(2, 3, 3)], [R(1, 4), R(2, 1, 2)], [R(2, 5).double(), R(1, 2, 3).double()]]),
    (depthwise, [[R(2, 3, 5, 4), R(3, 3, 3)], [R(1, 2, 4, 4), R(2, 2, 2)]]),
    (grouped, [[R(4, 5, 5), R(6, 2, 3, 3), 2], [R(4, 5, 5).double(), R(4, 1, 2, 2).double(), 4]]),
]


@pytest.mark.parametrize(("function", "calls"), CALLS, ids=lambda v: getattr(v, "__name__", ""))
def test_convolutions(function, calls):
    check(function, *calls)
    lifted = lift(function, verify="off", backend="torch")
    lifted(*calls[0])
    assert "convolution(" in lifted.source


def test_windows_that_reach_nothing():
    check(outside, [R(4, 5), R(2, 3)], gradients=False)


def test_integers_are_summed_as_they_are():
    x, w = torch.arange(20).view(4, 5), torch.arange(4).view(2, 2)
    lifted = lift(turned, verify="off", backend="torch")
    assert torch.equal(lifted(x, w), turned(x, w))


def in_groups(x, w, of_group):
    """Each output reads the channels of its group."""
    outputs, channels, size = w.shape
    out = torch.zeros(x.shape[0], outputs, x.shape[2] - size + 1)
    for n in range(x.shape[0]):
        for o in range(outputs):
            for i in range(x.shape[2] - size + 1):
                total = torch.zeros(())
                for c in range(channels):
                    for k in range(size):
                        total = total + x[n, of_group[o] * channels + c, i + k] * w[o, c, k]
                out[n, o, i] = total
    return out


def in_even_groups(x, w, groups):
    """Groups as `conv2d` has them, around which there are zeros."""
    outputs, channels, size = w.shape
    out = torch.zeros(x.shape[0], outputs, x.shape[2])
    for n in range(x.shape[0]):
        for o in range(outputs):
            first = o // (outputs // groups) * channels
            for i in range(x.shape[2]):
                total = torch.zeros(())
                for k in range(size):
                    if 0 <= i + k - 1 < x.shape[2]:
                        for c in range(channels):
                            total = total + x[n, first + c, i + k - 1] * w[o, c, k]
                out[n, o, i] = total
    return out


def test_channels_in_groups():
    x, w = torch.randn(2, 6, 9), torch.randn(4, 3, 3)
    for groups in ([0, 0, 1, 1], [1, 1, 0, 0], [0, 1, 0, 1], [0, 0, 0, 1], [1, 1, 1, 1], [-1, -2, 0, 0]):
        check(in_groups, [x, w, torch.tensor(groups)])
    for groups in (1, 2, 4):
        check(in_even_groups, [torch.randn(2, 3 * groups, 7), w, groups])
    check(in_even_groups, [torch.randn(2, 7, 5), w, 2])  # a channel that nothing reads
    check(in_even_groups, [torch.randn(2, 9, 5), torch.randn(5, 3, 3), 2])  # a group of fewer outputs
    check(in_even_groups, [torch.randn(2, 9, 5), torch.randn(4, 3, 3), -4])  # negative channels


def layer(x, w, step):
    N, _, H, W = x.shape
    O, C, K, _ = w.shape
    out = torch.zeros(N, O, (H - K) // step + 1, (W - K) // step + 1, dtype=x.dtype)
    for n in range(N):
        for o in range(O):
            for i in range((H - K) // step + 1):
                for j in range((W - K) // step + 1):
                    total = 0.0
                    for c in range(C):
                        for u in range(K):
                            for v in range(K):
                                total = total + x[n, c, i * step + u, j * step + v] * w[o, c, u, v]
                    out[n, o, i, j] = total
    return out


def test_layers_whose_dimensions_are_those_of_torch():
    x, w = R(2, 3, 6, 7), R(4, 3, 3, 3)
    last = torch.channels_last
    check(layer, [x, w, 1], [x[:1], w, 2], [R(2, 5, 6, 7), w, 1])
    check(layer, [x.to(memory_format=last), w.to(memory_format=last), 1], [x, w.transpose(2, 3), 2])


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
def test_layers_on_backends(backend):
    lifted = lift(layer, backend=backend)
    for x, w, step in ((R(2, 3, 6, 7), R(4, 3, 3, 3), 1), (R(1, 5, 4, 5), R(2, 3, 2, 2), 2)):
        found, wanted = lifted(x, w, step), layer(x, w, step)
        assert found.stride() == wanted.stride()
        torch.testing.assert_close(found, wanted)


def test_groups_are_no_copies():
    lifted = lift(in_even_groups, verify="off", backend="torch")
    lifted(torch.randn(2, 6, 9), torch.randn(4, 3, 3), 2)
    assert "grouped_convolution" in lifted.source and "greatest" not in lifted.source


def test_windows_of_arrays_stay_with_numpy():
    def filtered_channels(x, w, b):
        K, O = w.shape[0], w.shape[3]
        out = np.zeros((x.shape[0], x.shape[1] - K + 1, x.shape[2] - K + 1, O))
        for i in range(out.shape[1]):
            for j in range(out.shape[2]):
                for o in range(O):
                    for n in range(x.shape[0]):
                        total = 0.0
                        for u in range(K):
                            for v in range(K):
                                for c in range(x.shape[3]):
                                    total += x[n, i + u, j + v, c] * w[u, v, c, o]
                        out[n, i, j, o] = total + b[o]
        return out

    lifted: Any = lift(filtered_channels, backend="torch")
    for size in (5, 7, 4):
        r = np.random.default_rng(size)
        x, w, b = r.random((2, size, size + 1, 3)), r.random((3, 3, 3, 4)), r.random(4)
        np.testing.assert_allclose(lifted(x, w, b), filtered_channels(x, w, b), rtol=1e-12)
    assert {record.decision for record in lifted.report().loops} == {"lanes"}


def grouped_in_a_loop_that_stays(x, w, groups):
    (T, _, H, W), (O, share, K, _) = x.shape, w.shape
    state = torch.zeros(O, H - K + 1, W - K + 1, dtype=x.dtype)
    for t in range(T):
        made = torch.zeros_like(state)
        for o in range(O):
            for i in range(H - K + 1):
                for j in range(W - K + 1):
                    total = 0.0
                    for c in range(share):
                        for u in range(K):
                            for v in range(K):
                                total = total + x[t, o // groups * share + c, i + u, j + v] * w[o, c, u, v]
                    made[o, i, j] = total
        state = torch.tanh(state) * 0.5 + made
    return state


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
def test_each_step_has_its_own_convolution(backend):
    lifted = lift(grouped_in_a_loop_that_stays, backend=backend, verify="off")
    given = [R(3, 4, 5, 6).double(), R(4, 2, 2, 2).double(), 2]
    want, got = (outcome(one, given, gradients=True) for one in (grouped_in_a_loop_that_stays, lifted))
    assert difference(got, want) is None
    if backend == "torch":
        (line,) = [line for line in lifted.source.splitlines() if " = grouped_convolution(" in line]
        assert line.startswith(" " * 8)
