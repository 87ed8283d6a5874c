"""Functions of NumPy on rows and matrices: one call for all lanes gives what the loop gives."""

import linecache

import numpy as np
import pytest

from looplift import lift
from looplift.base.compare import difference

EXPRESSIONS = """np.convolve(x[i], y[j])
np.convolve(x[i], w, "same")
np.convolve(w, x[i], mode="valid")
np.correlate(x[i], w)
np.correlate(x[i], w[:2], "same")
np.correlate(x[i], y[j], "full")
np.convolve(k[i], k[j])
np.corrcoef(x[i], y[j])
np.corrcoef(x[i], y[j])[0, 1]
np.corrcoef(A[i], rowvar=False)
np.cov(x[i], y[j])
np.cov(x[i])
np.cov(A[i], bias=True)
np.cov(k[i], x[j], ddof=0)
np.histogram(x[i], bins=4, range=(-1.0, 1.0))[0]
np.histogram(x[i] * x[j], bins=edges)[0]
np.histogram(x[i], [-1, 0, 0.5, 1])[1]
np.histogram(k[i], bins=3, range=(0, 5))[0]
np.bincount(k[i], minlength=6)
np.bincount(k[i], weights=y[j], minlength=7)
np.pad(x[i], (1, 2))
np.pad(x[i] + y[j], 2, mode="reflect")
np.pad(A[i], ((1, 1), (0, 2)), constant_values=-1.0)
np.pad(k[i], 1, mode="wrap")
np.percentile(x[i], [25, 50, 75])
np.quantile(A[i], [0.1, 0.9], axis=0)
np.percentile(A[i], 50)
np.isclose(x[i], y[j], atol=0.3)
np.allclose(x[i], y[j], atol=2.0)
np.array_equal(x[i], x[j])
np.select([x[i] > 0, y[j] > 0], [x[i], y[j]], 0.0)
np.select([x[i] > 0, x[j] < 0.5], [k[i], 2 * k[j]], -1)
np.piecewise(x[i], [x[i] < 0, y[j] >= 0], [-1.0, 1.0, 0.5])
np.choose(k[i] % 2, [x[i], y[j]])
c[i].conj() * c[j]
c[i].real + c[j].imag
np.angle(c[i])
np.vdot(c[i], c[j])
np.vecdot(c[i], c[j])
np.asarray(x[i], dtype=np.float32)
np.array(x[i]) * 2
np.ascontiguousarray(A[i].T)
np.full(3, x[i, 0])
np.full((2, 2), x[i, 0] * x[j, 0])
np.full_like(k[i], 2.7)
np.full_like(x[i], y[j, 0])
np.take(x[i], [0, -2])
np.take(x[i], k[j] % 4)
np.take(A[i], [0, 1], axis=1)
np.take(A[i], k[j, 0] % 4, axis=0)
np.take_along_axis(x[i], np.argsort(y[j]), axis=0)
np.take_along_axis(A[i], np.argsort(A[j], axis=1), axis=1)
np.squeeze(A[i][:, :1], axis=1)
np.squeeze(A[i][:1])
np.moveaxis(A[i], 0, 1)
np.transpose(A[i]) @ x[j]
A[i].transpose(1, 0)
np.expand_dims(x[i], (0, 2))
np.atleast_2d(x[i]).T
np.diag(A[i])
np.diag(x[i], 1)
np.diag(A[i], -1)
np.trace(A[i], offset=1)
np.kron(x[i], y[j])
np.kron(A[i], A[j])
np.inner(A[i], A[j])
np.inner(A[i], x[j])
np.tensordot(A[i], A[j])
np.tensordot(A[i], A[j], axes=([0], [1]))
np.linalg.multi_dot([A[i], A[j], x[i]])
np.linalg.multi_dot([x[i], A[i], A[j]])
np.linalg.multi_dot([x[i], A[i], A[j], y[j]])
np.linalg.multi_dot([A[i, :, :2], A[j, :2], A[i]])
np.roll(A[i], 1)
np.roll(x[i], -2)
np.flip(A[i])
np.fliplr(A[i]) + np.flipud(A[j])
np.rot90(A[i], -1)
np.nanstd(A[i])
np.cumsum(A[i])
np.cumulative_sum(x[i])
np.logaddexp2(x[i], y[j])
np.copysign(x[i], y[j])
np.ediff1d(x[i])
np.lexsort((x[i], k[j]))
np.append(x[i], y[j])
np.append(k[i], 2.5)
np.insert(x[i], 2, y[j, 0])
np.delete(x[i], [0, 2])
np.delete(A[i], 1, axis=0)
np.column_stack([x[i], y[j]])
np.dstack([A[i], A[j]])
np.tile(x[i], (2, 2))
np.split(x[i], 2)[1]
np.hsplit(A[i], 2)[0]
np.linalg.norm(A[i], 2)
np.linalg.norm(A[i], "fro")
np.linalg.norm(A[i], np.inf)
np.linalg.norm(A[i], ord=1, axis=(0, 1))
np.linalg.vector_norm(x[i], ord=3)
np.linalg.matrix_norm(A[i])
np.trapezoid(x[i], y[j])
np.average(x[i], weights=np.abs(y[j]) + 1)
np.unravel_index(np.argmax(A[i]), A[i].shape)[1]
np.argmax(A[i] + A[j])
np.divmod(x[i], 0.3)[0]
np.modf(x[i] * 3)[1]
np.sum(x[i], where=y[j] > 0)
np.max(x[i], where=x[i] > 0, initial=-1)
np.mean(A[i], axis=1, where=A[i] > -9)
np.add.reduce(A[i])
np.maximum.accumulate(x[i])
np.add.accumulate(A[i], axis=1)
np.subtract.outer(x[i], y[j])
np.logical_or.reduce(x[i] > 0.9)
np.broadcast_to(x[i], (2, x.shape[1])) * y[j]
np.linspace(x[i, 0], y[j, 0], 4)
np.fft.fft2(A[i])
np.fft.fftshift(x[i])
np.unwrap(5 * x[i])
A[i][np.triu_indices(4, k=1)]
A[i][np.diag_indices(4)]
np.concat([x[i], y[j]])
np.acos(np.clip(x[i], -1, 1))
np.pow(x[i], 2)
np.permute_dims(A[i], (1, 0))
np.c_[x[i], y[j]]
np.c_[A[i], x[j]]
np.r_[x[i], 1.0, y[j]]
np.r_[0, k[i]]
np.vander(x[i], 3)
np.vander(k[i], 4, increasing=True)
np.histogram(x[i] + y[j], bins=5)[0]
np.histogram(x[i], 3)[1]
np.histogram(0 * x[i] + 1, 4)[0]
np.invert(k[i])""".splitlines()

ONE = """def one(x, y, A, k, c, w, edges):
    out = []
    for i in range(x.shape[0]):
        j = i
        out.append({expression})
    return np.array(out)
"""
TWO = """def two(x, y, A, k, c, w, edges):
    out = []
    for i in range(x.shape[0]):
        for j in range(x.shape[0]):
            out.append({expression})
    return np.array(out)
"""
SOME = """def some(x, y, A, k, c, w, edges):
    out = np.zeros((x.shape[0],) + np.shape({first}), dtype=np.asarray({first}).dtype)
    for i in range(x.shape[0]):
        j = i
        if x[i, 0] > 0:
            out[i] = {expression}
    return out
"""


def program(text, expression):
    text = text.replace("{expression}", expression)
    text = text.replace("{first}", expression.replace("[i", "[0").replace("[j", "[0"))
    label = f"<{text.split('(')[0]}: {expression}>"
    linecache.cache[label] = (len(text), None, text.splitlines(keepends=True), label)
    scope = {"np": np}
    exec(compile(text, label, "exec"), scope)
    return scope[text.split("(")[0].removeprefix("def ")]


def arguments(count, size, seed):
    g = np.random.default_rng(seed)
    x, y = g.uniform(-1, 1, (count, size)), g.normal(size=(count, size))
    A, k = g.normal(size=(count, size, size)) + 3 * np.eye(size), g.integers(0, 6, (count, size))
    return x, y, A, k, x + 1j * y, g.normal(size=3), np.linspace(-1, 1, 5)


CALLS = (arguments(5, 6, 0), arguments(2, 8, 1), arguments(1, 6, 2))


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_form(expression):
    for text in (ONE, TWO, SOME):
        function = program(text, expression)
        lifted = lift(function, verify="off", backend="torch")
        for call in CALLS:
            why = difference(lifted(*call), function(*call), magnitude=1.0, path="result")
            assert not why, f"{why}\n{lifted.source}"
        decisions = {loop.decision for loop in lifted.report().loops}
        assert text is SOME or decisions == {"lanes"}, lifted.report()


def test_rows_of_another_type():
    for expression in (
        "np.convolve(x[i], w)",
        "np.percentile(x[i], [10, 90])",
        "np.cov(x[i], y[i])",
        "np.pad(x[i], 1)",
    ):
        function = program(ONE, expression)
        lifted = lift(function, verify="off", backend="torch")
        call = [a.astype(np.float32) if a.dtype == np.float64 else a for a in CALLS[0]]
        why = difference(lifted(*call), function(*call), magnitude=1.0, path="result")
        assert not why, f"{expression}: {why}"


def test_what_a_form_cannot_do_is_the_loop():
    """Counts that get longer, an empty vector: the call of the loop decides."""
    for expression, change in (("np.bincount(k[i], minlength=3)", 1), ("np.convolve(x[i], w[:0])", 0)):
        function = program(ONE, expression)
        lifted = lift(function, verify="off", backend="torch")
        outcomes = []
        for one in (function, lifted):
            try:
                outcomes.append(one(*CALLS[change]).tolist())
            except ValueError as raised:
                outcomes.append(str(raised))
        assert outcomes[0] == outcomes[1]


def test_views_stay_views():
    def halves(x):
        for i in range(x.shape[0]):
            half = np.split(x[i], 2)[0]
            half[:] = 7.0
        return x

    x = np.zeros((3, 4))
    lift(halves)(x)
    assert x[:, :2].min() == 7.0
    assert x[:, 2:].max() == 0.0


def test_differences_along_another_dimension_and_of_order_zero():
    def along_rows(x):
        return np.stack([np.diff(x[i], axis=0) for i in range(len(x))])

    def of_order_zero(x):
        return np.stack([np.diff(x[i], axis=-1, n=0) for i in range(len(x))])

    x = np.random.default_rng(0).normal(size=(4, 3, 5))
    for function, decision in ((along_rows, "lanes"), (of_order_zero, "kept")):
        lifted = lift(function, verify="off", backend="torch")
        for _ in range(2):
            found = lifted(x)
            np.testing.assert_array_equal(found, function(x))
            assert not np.shares_memory(found, x)
        assert {loop.decision for loop in lifted.report().loops} == {decision}
