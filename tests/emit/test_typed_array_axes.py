"""Folds along a dimension, other shapes, masks and lists of places of arrays, in typed programs: the same bits."""

import linecache

import numpy as np
import pytest
from strictly import same
from tests.emit.test_typed_array_formulas import row_program
from tests.emit.test_typed_losses import runs_as_program
from tests.emit.test_typed_tensors import first

from looplift import lift

__all__ = ["first"]

NUMBERS = (
    "np.sum(x, axis=0)[k % 4]", "np.sum(x, 1)[k]", "x.sum(axis=-1)[k]", "x.sum(0).sum()", "np.sum(x * x, axis=1)[k]",
    "np.mean(x, axis=0)[k % 4]", "x.mean(1)[k]", "np.min(x, axis=1)[k]", "x.max(0)[k % 4]", "np.argmin(x, axis=1)[k]",
    "x.argmax(axis=0)[k % 4]", "np.any(x > 0.5, axis=1)[k]", "(x > 0).all(axis=0)[k % 4]", "(x > 0).sum(axis=0)[1]",
    "np.sum(x, axis=1, keepdims=True)[k, 0]", "(x / x.sum(axis=0, keepdims=True))[k, 1]",
    "(x - np.max(x, axis=-1, keepdims=True))[k, 2]", "np.sum(w, axis=0)", "w.max(axis=-1)", "np.argmin(n, axis=0)",
    "np.stack([w, w * 2], axis=1)[k % 4, 1]", "np.stack([x > 0] * 3, axis=2)[k, 1, 2] * 1.0",
    "np.stack([x, x], axis=-1)[k, 1, 0]", "np.concatenate([row * 2 for row in x])[k * 4]",
    "np.concatenate([x, x * 2], axis=1)[k, 5]", "np.concatenate((x, x), axis=0)[k + 4, 0]",
    "np.delete(w, k % 4)[2]", "np.delete(w, -1).sum()", "np.delete(x, k, axis=0)[3, 1]",
    "np.delete(x, 1, axis=1)[k, 1]",
    "np.delete(x[k], -2, axis=0)[2]", "x.reshape(4, 5)[k % 4, 1]", "x.reshape((2, -1))[1, k]", "x.reshape(-1)[k * 3]",
    "np.reshape(x, (10, 2))[k, 1]", "x[x > 0].sum()", "len(x[x > 0.5])", "x[x[:, 0] > 0].sum()", "x[n][k % 4, 1]",
    "x[[2, 0, -1]].sum()", "x[:, n][k, 2]",
    "x[k, n].sum()", "x[k][n][1]", "x[-1, [1, 0]][0]", "x[k][x[k] > 0].sum()", "x[k, x[0] > 0].sum()",
    "w[n].sum()", "w[[0, 3]][1]", "w[w > 0].sum()", "n[n > 0][0]",
    "(n ** 2)[k % 4]", "((n - 5) ** 2).sum()", "np.sign(x)[k, 1]", "np.sign(x[k, 0])", "np.sign(n[k % 4])",
    "np.sqrt(np.abs(x)).sum()", "np.square(x)[k, 1]", "np.floor(x)[k, 1]", "np.isnan(x).sum()", "np.ceil(x)[k, 2]",
    "np.sqrt(sum(v * v for v in x[k]))", "np.log(sum(v * v for v in x[k]) + 1)", "np.mean([memo[k - 1], x[k, 1]])",
    "np.max([v * 2 for v in w])", "np.mean([float(v) for v in x[k]])", "np.sum([k, k + 1])",
)  # fmt: skip


@pytest.mark.parametrize("expression", NUMBERS)
def test_functions_of_tables(expression, first):
    rng = np.random.default_rng(3)
    x, w, n = rng.normal(size=(5, 4)), rng.normal(size=4), np.array([2, 0, 1, 2])
    runs_as_program(row_program(expression), lambda: x.copy(), lambda: w.copy(), lambda: n.copy())


def written(body, arguments="x, i, v"):
    text = "\n    ".join([f"def stored({arguments}):", *body.split("\n")])
    name = f"<stored by {body}>"
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    known = {"np": np}
    exec(compile(text, name, "exec"), known)
    return known["stored"]


SUMS = """memo = {-1: 0.0}
for k in range(3):
    memo[k] = memo[k - 1] * 0.5 + x.sum(axis=0).max() + np.sum(x, axis=1).min() + x.sum(axis=0, keepdims=True)[0, -1]
    if memo[k] > 3:
        memo[k + 10] = k
return [memo[k] for k in memo], x.sum(axis=1), np.sum(x, axis=0, keepdims=True)"""


@pytest.mark.parametrize("backend", ["auto", "native"])
def test_order_of_sums(backend):
    function = written(SUMS, "x")
    lifted = lift(function, verify="off", backend=backend)
    rng = np.random.default_rng(5)
    for rows, columns in ((1, 1), (3, 2), (9, 1), (1, 9), (8, 8), (130, 3), (3, 130), (7, 300)):
        x = rng.normal(size=(2 * rows, 2 * columns)) * 10.0 ** rng.integers(-3, 4, size=(2 * rows, 2 * columns))
        for one in (x[:rows, :columns].copy(), x[::2, ::2], x[:rows, :columns].T, np.asfortranarray(x), x[::-1]):
            for kind in (np.float64, np.float32):
                given = one.astype(kind, order="K")
                (found, *rest), (wanted, *others) = lifted(given), function(given)
                assert [float(v).hex() for v in found] == [float(v).hex() for v in wanted]
                for a, b in zip(rest, others, strict=True):
                    assert a.dtype == b.dtype and a.shape == b.shape and a.tolist() == b.tolist()


STORES = """found = []
y = np.ones((3, 3), dtype=x.dtype)
memo = {}
for k in range(3):
    memo[k] = memo.get(k - 1, 0) + k
    STORE
    found.append(memo[k])
return x, y, found"""


@pytest.mark.parametrize(
    "store",
    [
        "x[i] = -1",
        "x[i] = v",
        "x[x > 1] = 0",
        "x[x > v] = v[x > v]",
        "x[[0, k - 1]] = k",
        "x[i] = x[[1, 2, 0]]",
        "y[k, i] = x[0]",
        "y[k][i] = v",
        "y[k, y[k] > 0] = k",
        "y[-1][x > 1] = x[x > 1]",
    ],
)
def test_stores_at_several_places(store):
    function = written(STORES.replace("STORE", store))
    rows = [np.array([1.5, 2.5, -0.5]), np.array([1, 2, 3]), np.array([3.0, 2.0, 1.0], dtype=np.float32)]
    places = [
        np.array([0, 2, 0]),
        np.array([-1, 1, 2]),
        [2, 2, 1],
        np.array([0, 3, 1]),
        np.array([2, 0], dtype=np.uint8),
    ]
    calls = [(row, place, row[::-1].copy()) for row in rows for place in places]
    same(function, *calls, backends=("auto", "native"))


VIEWS = """tables = []
seen = {}
for k in range(len(x)):
    seen[k] = seen.get(k - 1, 0) + k
    one = x[k].reshape(2, 2)
    one[0, 1] = seen[k]
    tables.append(one)
    x[k][i] = 7
return x, tables, x.reshape(-1), x[:, i], x[i], seen"""


def test_views_and_copies_that_are_handed_out():
    function = written(VIEWS, "x, i")
    x = np.arange(12.0).reshape(3, 4)
    for backend in ("auto", "native"):
        for i in ([0, 2], [2], [1, 1]):
            results = []
            for run in (function, lift(function, verify="off", backend=backend)):
                given = x.copy()
                same_one, tables, flat, columns, rows, seen = run(given, i)
                given[0, 0] = 50  # what is a view sees it
                results.append([one.tolist() for one in (same_one, *tables, flat, columns, rows)] + [seen])
                assert same_one is given
            assert results[0] == results[1]


EDGES = """found = []
memo = {}
for k in range(2):
    memo[k] = memo.get(k - 1, 0) + k
    found.append(EDGE)
    memo[k + 5] = 0
return found"""


@pytest.mark.parametrize(
    "edge",
    ["x.max(axis=0)", "np.mean(x, axis=1)", "x[x > 0]", "np.concatenate(v)", "np.delete(x, i, axis=0)", "x[v]",
     "np.sum(x, axis=0)", "x.argmin(1)", "np.stack(v, axis=1)", "x.reshape(-1, 2)", "x[i]"],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_edges(edge):
    function = written(EDGES.replace("EDGE", edge))
    rows = [np.array([1.0, 2.0]), np.array([3.0, 4.0])]
    calls = [
        (np.arange(6.0).reshape(shape), 1, rows if "np." in edge else [0, 1]) for shape in ((3, 2), (6, 1), (1, 6))
    ]
    calls += [(np.zeros(shape), 0, rows[:1] if "np." in edge else [0]) for shape in ((0, 2), (2, 0), (0, 0), (1, 1))]
    calls += [(np.array([[1.0, np.nan], [-0.0, np.inf]]), -3, [np.array([1.0]), np.array([2.0, 3.0])])]
    calls += [(np.eye(2), 5, [])]
    same(function, *calls, backends=("auto", "native"))
