"""NumPy's functions on one row or matrix of each iteration: values and dtypes of the loop."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.vectorize.harness import appended, check

ROWS = """np.sort(x[i]); np.argsort(x[i]); x[i].cumsum(); np.diff(x[i]); np.roll(x[i], i); np.roll(x[i], 1)
np.hstack([x[i], a[i]]); np.concatenate([x[i], a[i]]); np.cross(x[i][:3], a[i][:3]); np.gradient(x[i]); np.flip(x[i])
np.einsum("i,j->ij", x[i], a[i]); np.expand_dims(x[i], 0); x[i].astype(np.float32); np.ones_like(x[i]) * a[i, 0]"""
NUMBERS = """np.percentile(x[i], 30); np.quantile(x[i], 0.3); np.nanmedian(x[i]); round(x[i, 0]); x[i].size * x[i, 0]
int(x[i, 0] * 10); np.dot(x[i], a[i]); np.linalg.norm(x[i] - a[i]); math.exp(x[i, 0]); x[i].argmax()"""
MATRICES = """np.linalg.svd(x[i])[1]; np.linalg.pinv(x[i]); np.percentile(x[i], 30, axis=0); np.vstack([x[i], x[i]])
np.einsum("ij,jk->ik", x[i], a[i]); np.tensordot(x[i], a[i], axes=1); np.sort(x[i], axis=0); np.cumsum(x[i], axis=1)"""
SQUARES = """np.linalg.inv(x[i]); np.linalg.solve(x[i], a[i]); np.trace(x[i]); np.triu(x[i]); x[i].diagonal()
np.linalg.eigh(x[i] + x[i].T)[0]; np.linalg.slogdet(x[i])[1]; np.linalg.qr(x[i])[1]"""


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
