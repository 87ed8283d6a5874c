"""Kernels of NumPy's operations on rows, lists of its numbers, and what it allocates for a kernel, bit for bit."""

import warnings

import numpy as np
import pytest

from looplift import lift


def statistics(x):
    out = np.zeros((len(x), 8))
    for i in range(len(x)):
        out[i, 0] = x[i].sum()
        out[i, 1] = np.mean(x[i])
        out[i, 2] = x[i].std()
        out[i, 3] = np.var(x[i], ddof=1)
        out[i, 4] = np.median(x[i])
        out[i, 5] = x[i].max() - np.min(x[i])
        out[i, 6] = np.argmax(x[i])
        out[i, 7] = np.count_nonzero(x[i])
    return out


def without_undefined(x):
    out = np.zeros((len(x), 5), dtype=x.dtype)
    for i, row in enumerate(x):
        out[i] = np.array([np.nansum(row), np.nanmean(row), np.nanmedian(row), np.nanmin(row), np.nanmax(row)])
    return out


def of_axes(x):
    totals = []
    for block in range(len(x) // 2):
        part = x[2 * block : 2 * block + 2]
        totals.append(part.mean(axis=0)[1] + part.max(axis=1)[0] + part.T[0].sum() + np.median(part, axis=0)[0])
    return np.array(totals)


def ordered(x):
    found = []
    for row in x:
        found.append(np.sort(row)[1] + np.cumsum(row)[2] + np.diff(row).max())
    return found


def searched(x, places):
    return np.array([np.searchsorted(places, v, side="right") for v in x[:, 0]])


def nearest(x):
    out = np.zeros(len(x), dtype=int)
    for i in range(len(x)):
        gaps = []
        for j in range(3):
            gaps.append(np.sqrt(np.sum((x[i] - x[j]) ** 2)))
        out[i] = gaps.index(min(gaps)) + 10 * np.argmin(gaps)
    return out


def counts(x, least):
    out = np.zeros((len(x), 9), dtype=np.int64)
    for i in range(len(x)):
        out[i] = np.bincount(x[i], minlength=least)
    return out


ROWS = np.random.default_rng(3).normal(size=(6, 300))
UNDEFINED = np.where(np.random.default_rng(4).random(ROWS.shape) < 0.3, np.nan, ROWS)
WIDE, NARROW = ROWS, ROWS.astype(np.float32)
FUNCTIONS = (
    (statistics, (WIDE, NARROW, UNDEFINED, np.arange(12).reshape(3, 4), WIDE.T, WIDE[:, ::-3], WIDE[:0])),
    (without_undefined, (WIDE, NARROW, UNDEFINED)),
    (of_axes, (WIDE, NARROW, WIDE[:, ::2], WIDE[:1])),
    (ordered, (WIDE, NARROW, WIDE[:0])),
    (nearest, (WIDE, NARROW, WIDE[::2], UNDEFINED[:3])),
)


def same(wanted, given):
    assert type(wanted) is type(given)
    if isinstance(wanted, list):
        assert [type(item) for item in wanted] == [type(item) for item in given]
    else:
        assert given.flags.owndata and given.dtype == wanted.dtype
    np.testing.assert_array_equal(wanted, given)


@pytest.mark.parametrize(("function", "values"), FUNCTIONS, ids=[function.__name__ for function, _ in FUNCTIONS])
def test_rows_are_folded_as_numpy_folds_them(function, values):
    lifted = lift(function, verify="off")
    for value in values:
        same(function(value), lifted(value))
    assert {loop.decision for loop in lifted.report().loops} == {"native"}


def test_a_number_is_searched_for():
    lifted = lift(searched, verify="off")
    for places in (np.sort(WIDE[0]), np.array([0.0, 0.0, np.nan]), np.zeros(0)):
        same(searched(WIDE, places), lifted(WIDE, places))


@pytest.mark.parametrize("dtype", (np.int64, np.uint8))
def test_numbers_are_counted(dtype):
    lifted = lift(counts, verify="off")
    numbers = np.random.default_rng(5).integers(0, 9, (4, 30)).astype(dtype)
    for value in (numbers, numbers[:, ::2], numbers[:, :0], numbers[:0], np.full((2, 3), 8, dtype)):
        same(counts(value, 9), lifted(value, 9))
    assert {loop.decision for loop in lifted.report().loops} == {"native"}
    for value, least in ((numbers + dtype(9), 9), (numbers, 12), (numbers, -1)):
        with pytest.raises(ValueError) as wanted:
            counts(value, least)
        with pytest.raises(ValueError) as given:
            lifted(value, least)
        assert str(wanted.value) == str(given.value)


def test_numpy_warns_as_the_loop_does():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for function in (statistics, without_undefined):
            with pytest.raises(RuntimeWarning) as wanted:
                function(np.full((2, 3), np.inf) * [1, -1, 1])
            with pytest.raises(RuntimeWarning) as given:
                lift(function, verify="off")(np.full((2, 3), np.inf) * [1, -1, 1])
            assert str(wanted.value) == str(given.value)


def test_a_product_of_matrices_is_the_librarys():
    def product(a, b):
        out = np.zeros((a.shape[0], b.shape[1]))
        for i in range(a.shape[0]):
            for j in range(b.shape[1]):
                for k in range(a.shape[1]):
                    out[i, j] += a[i, k] * b[k, j]
        return out

    lifted = lift(product, verify="off")
    np.testing.assert_allclose(lifted(WIDE, WIDE.T), product(WIDE, WIDE.T))
    assert "native" not in {loop.decision for loop in lifted.report().loops}
    assert "a @ b" in lifted.source
    for rows, columns in ((WIDE[:1], WIDE.T), (WIDE[:0], WIDE.T), (WIDE[:, :0], WIDE.T[:0]), (WIDE[:, ::-2], WIDE.T)):
        np.testing.assert_allclose(lifted(rows, columns), product(rows, columns))


def greatest(x):
    return [np.max(row) for row in x]


def smallest(x):
    return [row.min() for row in x]


def in_order(x):
    out = np.zeros(x.shape)
    for i in range(len(x)):
        out[i] = np.sort(x[i])
    return out


@pytest.mark.parametrize("function", [greatest, smallest, in_order])
@pytest.mark.parametrize("width", [2, 3, 8, 33])
def test_a_zero_keeps_the_sign_that_numpy_gives_it(function, width):
    for values in ([0.0, -0.0], [0.0, -0.0, 1.0, -1.0], [-0.0], [0.0]):
        x = np.random.RandomState(width).choice(values, size=(4, width))
        got = lift(function, backend="native", verify="off")(x)
        np.testing.assert_array_equal(np.signbit(got), np.signbit(function(x)))
        np.testing.assert_array_equal(got, function(x))
