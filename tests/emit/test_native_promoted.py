"""Elements that a loop updates in one place are variables in a kernel; nobody can tell."""

import numpy as np
import pytest
import torch

from looplift import lift


def product(a, b, out):
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] *= 0.5
            for k in range(a.shape[1]):
                out[i, j] += a[i, k] * b[k, j]
    return out


def under_conditions(a, b, out):
    for i in range(out.shape[0]):
        for k in range(b.shape[0]):
            if b[k, 0] > 0:
                out[i, 0] = out[i, 0] + b[k, 1]
            elif out[i, 0] > 1:
                out[i, 0] -= a[i, 0]
    return out


def nested(a, b, out):
    for k in range(a.shape[0]):
        for m in range(b.shape[1]):
            out[-1, 1] += a[k, 0] * b[0, m]
            for n in range(2):
                out[-1, 1] = out[-1, 1] * 0.5 + n
    return out


def of_others(a, b, out):
    for i in range(1, out.shape[0]):
        for k in range(a.shape[1]):
            out[i, 0] += out[i - 1, 1] * a[i, k]
    return out


def read_later(a, b, out):
    total = 0.0
    for i in range(out.shape[0]):
        for k in range(a.shape[1]):
            first = out[i, 0]
            out[i, 0] += a[i, k]
            total = total + first * b[0, 0] + out[i, 0]
    return total, out


def until(a, b, out):
    k = 0
    while out[0, 0] < 20 and k < 50:
        out[0, 0] += abs(a[k % 3, 0]) + 0.5
        k += 1
    return out, k


def no_trips(a, b, out):
    for i in range(out.shape[0]):
        for k in range(i - 5):
            out[i + 100, 0] += a[i, 0]
        out[i, 0] += b[0, 0]
    return out


def beyond(a, b, out):
    for i in range(out.shape[0]):
        for k in range(3):
            out[i + 1, 0] += a[0, 0]
    return out


LOOPS = (product, under_conditions, nested, of_others, read_later, until, no_trips, beyond)


def arguments(kind):
    generator = np.random.default_rng(1)
    given = [generator.normal(size=shape).astype("float32") for shape in ((4, 4), (4, 4), (4, 4))]
    return [torch.from_numpy(one) for one in given] if kind == "torch" else given


def copied(given):
    """Copies that share memory where these do."""
    memo = {}
    for one in given:
        memo.setdefault(id(one), one.clone() if isinstance(one, torch.Tensor) else one.copy())
    return [memo[id(one)] for one in given]


def outcome(function, given):
    try:
        found = function(*given)
    except Exception as error:
        return type(error).__name__, [np.asarray(one) for one in given]
    parts = found if isinstance(found, tuple) else (found,)
    return [np.asarray(one) for one in parts], [np.asarray(one) for one in given]


def same(one, other):
    if isinstance(one, str) or isinstance(other, str):
        return one == other
    return len(one) == len(other) and all(map(same_numbers, one, other))


def same_numbers(one, other):
    return one.dtype == other.dtype and np.allclose(one, other, rtol=1e-6, equal_nan=True)


@pytest.mark.parametrize("kind", ["numpy", "torch"])
@pytest.mark.parametrize("loop", LOOPS)
def test_loops_and_kernels_agree(loop, kind):
    lifted = lift(loop, backend="native", verify="off")
    a, b, out = arguments(kind)
    for given in ([a, b, out], [out, b, out], [a, out, out], [out, out, out], [a, b, out[:0]], [a, b[:0], out]):
        for _ in range(2):
            wanted, got = outcome(loop, copied(given)), outcome(lifted, copied(given))
            assert same(got[0], wanted[0]) and all(map(same_numbers, got[1], wanted[1]))


@pytest.mark.parametrize("kind", ["numpy", "torch"])
def test_views_of_one_array_share_memory(kind):
    lifted = lift(product, backend="native", verify="off")
    lifted(*copied(arguments(kind)))
    for cut in (slice(0, 4), slice(1, 5), slice(4, 8)):
        found = []
        for function in (product, lifted):
            whole = arguments(kind)[0]
            whole = torch.cat([whole] * 2) if kind == "torch" else np.concatenate([whole] * 2)
            function(whole[cut], arguments(kind)[1], whole[:4])
            found.append(np.asarray(whole))
        assert same_numbers(*found)


def test_a_tensor_that_no_iteration_changes_counts_no_change():
    lifted = lift(no_trips, backend="native", verify="off")
    a, b, out = arguments("torch")
    lifted(a, b, out[:0])
    assert out._version == 0


def sums(x, n):
    out = np.zeros(3)
    for i in range(3):
        for k in range(n):
            out[i] += x[k]
    return out


def test_the_variable_is_there():
    lifted = lift(sums, backend="native")
    assert np.array_equal(lifted(np.arange(4.0), 4), [6, 6, 6])
    assert "double out_now = out(i);" in lifted.source


def by_order(w, parents):
    chosen = []
    for k in np.argsort(-w, kind="stable"):
        parents[k] = parents[k - 1] + 1
        chosen.append(int(parents[k]))
    return chosen, parents


def test_what_a_library_computes_first():
    lifted = lift(by_order, backend="native", verify="off")
    for seed in (0, 1):
        w = np.random.default_rng(seed).integers(0, 5, 30).astype(float)
        for one in (w, w[:0], w.astype(np.float32)):
            wanted, got = by_order(one, np.arange(len(one))), lifted(one, np.arange(len(one)))
            assert got[0] == wanted[0] and np.array_equal(got[1], wanted[1])
    assert lifted.report().loops[0].decision == "native"
    assert "np.argsort(" in lifted.source


def by_values(w):
    total = 0.0
    for value in np.sort(np.cumsum(w) * 2.0):
        total = total * 0.5 + value
    return total


def test_warnings_of_what_is_computed_first_are_the_loops():
    lifted = lift(by_values, backend="native", verify="off")
    w = np.array([1.0, 2.0, 3.0])
    assert lifted(w) == by_values(w)
    with pytest.warns(RuntimeWarning, match="overflow") as wanted:
        by_values(w * 1e308)
    with pytest.warns(RuntimeWarning, match="overflow") as got:
        lifted(w * 1e308)
    assert [str(one.message) for one in got] == [str(one.message) for one in wanted]
