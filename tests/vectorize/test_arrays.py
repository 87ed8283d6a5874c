"""NumPy's functions on one row or matrix of each iteration: values and dtypes of the loop."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.vectorize.harness import appended, check

ROWS = """np.sort(x[i]); np.argsort(x[i]); x[i].cumsum(); np.diff(x[i]); np.roll(x[i], i); np.roll(x[i], 1)
np.hstack([x[i], a[i]]); np.concatenate([x[i], a[i]]); np.cross(x[i][:3], a[i][:3]); np.gradient(x[i]); np.flip(x[i])
np.einsum("i,j->ij", x[i], a[i]); np.expand_dims(x[i], 0); x[i].astype(np.float32); np.ones_like(x[i]) * a[i, 0]
np.partition(x[i], 2) * 1; np.argpartition(x[i], 2) * 1; np.repeat(x[i], 2); np.tile(x[i], 2); np.tile(x[i], reps=3)
np.interp(x[i], np.sort(a[0]), a[1]); np.digitize(x[i], np.sort(a[0])); np.isin(x[i].round(), a[0].round())
np.searchsorted(np.sort(a[0]), x[i], side="right"); np.polyval(a[0], x[i]); np.array(x[i]); np.abs(np.fft.rfft(x[i]))
np.fft.fft(x[i], n=4); np.fft.irfft(x[i], axis=-1); np.heaviside(x[i], 0.5); np.rint(x[i] * 3); np.fix(x[i] * 3)
np.nextafter(x[i], a[i]); np.float_power(2, x[i]); np.isneginf(x[i]); np.degrees(x[i]); np.around(x[i], 1)
np.float32(x[i]) * 2; np.left_shift(x[i].astype(int) + 3, 2); np.right_shift(x[i].astype(np.int32), 1)"""
NUMBERS = """np.percentile(x[i], 30); np.quantile(x[i], 0.3); np.nanmedian(x[i]); round(x[i, 0]); x[i].size * x[i, 0]
int(x[i, 0] * 10); np.dot(x[i], a[i]); np.linalg.norm(x[i] - a[i]); math.exp(x[i, 0]); x[i].argmax()
np.trapezoid(x[i]); np.trapezoid(x[i], dx=0.5); np.average(x[i]); np.nanargmin(x[i]); np.nanvar(x[i], ddof=1)
np.nanprod(x[i]); np.nanstd(x[i]); np.linalg.norm(x[i], 1); np.linalg.norm(x[i], np.inf)
np.interp(x[i, 0], np.sort(a[0]), a[1]); np.digitize(x[i, 0], np.sort(a[0])); np.isin(x[i, 0] > 0, [True])
np.searchsorted(np.sort(a[0]), x[i, 0]); np.polyval([1.0, 2.0, 3.0], x[i, 1]); np.rint(x[i, 0]); np.float32(x[i, 0])
np.float64(i * 0.5) + x[i, 1]; np.heaviside(x[i, 0], 0)"""
MATRICES = """np.linalg.svd(x[i])[1]; np.linalg.pinv(x[i]); np.percentile(x[i], 30, axis=0); np.vstack([x[i], x[i]])
np.einsum("ij,jk->ik", x[i], a[i]); np.tensordot(x[i], a[i], axes=1); np.sort(x[i], axis=0); np.cumsum(x[i], axis=1)"""
SQUARES = """np.linalg.inv(x[i]); np.linalg.solve(x[i], a[i]); np.trace(x[i]); np.triu(x[i]); x[i].diagonal()
np.linalg.eigh(x[i] + x[i].T)[0]; np.linalg.slogdet(x[i])[1]; np.linalg.qr(x[i])[1]
np.linalg.solve(x[i], a[i, 0]); np.linalg.solve(x[i], a[0, 0]); np.linalg.matrix_rank(x[i]); np.linalg.cond(x[i])"""


def expressions(text: str) -> list[str]:
    return [part.strip() for line in text.splitlines() for part in line.split(";")]


@pytest.mark.parametrize(
    ("expression", "shapes", "join"),
    [(e, [(4, 6), (4, 6)], "np.stack") for e in expressions(ROWS)]
    + [(e, [(4, 6), (4, 6)], "np.array") for e in expressions(NUMBERS)]
    + [(e, [(4, 3, 5), (4, 5, 2)], "np.array") for e in expressions(MATRICES)]
    + [(e, [(4, 3, 3), (4, 3, 3)], "np.array") for e in expressions(SQUARES)],
)
def test_a_function_of_one_item_of_each_iteration(expression, shapes, join):
    random = np.random.default_rng(5)
    values = [random.normal(size=shape) for shape in shapes]
    check(appended(expression, "len(x)", {"np": np, "math": math}, join=join), [*values, None], gradients=False)


def flat_append(x, a):
    out = np.array([])
    for i in range(len(x)):
        out = np.append(out, x[i].sum())
    return out


def append_of_matrices(x, a):
    out = a
    for i in range(len(x)):
        out = np.append(out, x[i : i + 1] * 2)
    return out


def joined_rows(x, a):
    out = np.zeros(0, dtype=np.int64)
    for row in x:
        out = np.concatenate([out, row[:2]])
    return out


def append_of_a_count(x, a):
    counts = np.zeros(0, dtype=np.int32)
    for i, row in enumerate(x):
        counts = np.append(counts, i)
    return counts


@pytest.mark.parametrize("function", [flat_append, append_of_matrices, joined_rows, append_of_a_count])
def test_an_array_that_grows_piece_by_piece(function):
    random = np.random.default_rng(5)
    calls = [[random.normal(size=(n, 3)), random.normal(size=(2, 2))] for n in (4, 1, 7)]
    check(function, *calls, gradients=False)


def converted_and_changed(x, a):
    totals = []
    for i in range(len(x)):
        row = np.float64(x[i])
        row += 1
        totals.append(row.sum())
    return totals


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_row_that_has_the_type_already_is_that_row(dtype):
    x = np.arange(6.0).reshape(2, 3).astype(dtype)
    check(converted_and_changed, [x, None], gradients=False, decisions={"kept"})
