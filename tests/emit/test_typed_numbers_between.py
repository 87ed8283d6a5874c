"""NumPy's functions of several numbers or rows, and of numbers in their order, in typed programs: values, dtypes and
errors as NumPy has them."""

import linecache

import numpy as np
import pytest
from tests.emit.test_typed_losses import runs_as_program
from tests.emit.test_typed_tensors import first

from looplift import lift

__all__ = ["first"]

OF_ROWS = (
    "np.clip(x[k], 0, 1).sum()", "np.clip(x[k], -0.5, None)[1]", "np.clip(x[k], None, w)[2]", "x[k].clip(-1, w).sum()",
    "np.clip(n, 1, 2).sum()", "np.clip(n, 0.5, 1)[1]", "np.clip(x[k], a_min=w - 1, a_max=w)[0]",
    "np.clip(x, -1, x[k])[2, 1]", "np.clip(x[k], 1, -1)[3]", "np.clip(u, 3, 200).sum()",
    "np.clip(u, 3, 200)[k % 4] + 1",
    "np.maximum(x[k], w).sum()", "np.minimum(x[k], 0.5)[2]", "np.maximum(0, n)[1]", "np.minimum(n, w)[k % 4]",
    "np.hypot(x[k], w).sum()", "np.hypot(x[k], 1)[3]", "np.hypot(n, 2)[0]",
    "np.where(x[k] > 0, x[k], w).sum()", "np.where(x[k] > w, 1, 0).sum()", "np.where(n, x[k], 0.5)[1]",
    "np.where(k > 2, x[k], w)[1]", "np.where(x > 0, w, k)[3, 1]", "np.where(x[k] > 0, n, 2)[2]",
    "np.maximum.accumulate(x[k]).sum()", "np.minimum.accumulate(n)[3]", "np.maximum.accumulate(x[:, 1])[k]",
    "np.median(x[k])", "np.median(x[:, 1])", "np.median(n)", "np.median(m)", "np.quantile(x[k], 0.3)",
    "np.quantile(x[:, 0], [0.25, 0.75])[1]", "np.percentile(x[k], 90)", "np.percentile(x[k], [25, 75]).sum()",
    "np.percentile(x[:, 2], (0, 12.5, 100))[k % 3]", "np.percentile(n, 40)", "np.percentile(x[k], np.abs(w))[0]",
    "np.quantile(x[k], x[0, 0] * 0)", "np.percentile(n, [30, 60])[1]", "np.quantile(m, 1)",
)  # fmt: skip
OF_NUMBERS = (
    "np.clip(x[k, 0], 0, 1)", "np.clip(k, 1, 3)", "np.clip(k, 0.5, 3)", "np.clip(k * 0.7, 1, 2)",
    "x[k, 1].clip(-0.5, w[0])",
    "np.clip(u[1], 3, 200)", "np.clip(x[k, 0], None, 0.25)", "np.clip(n[1], w[0], w[1])",
    "np.maximum(x[k, 0], 0)", "np.minimum(k, 2)", "np.maximum(k, 1.5)", "np.minimum(x[k, 1], w[2])",
    "np.maximum(n[k % 4], k)",
    "np.maximum(max(0.0, x[k, 2]), w[1])", "np.hypot(x[k, 0], x[k, 1])", "np.hypot(k, 3)", "np.hypot(2.5, k)",
    "np.where(x[k, 0] > 0, x[k, 1], w[0]) + 1", "2 * np.where(k > 1, 1, 0)",
    "np.where(k > 1, 1.5, 0) * np.where(k < 3, 2, 3)",
    "float(np.where(n[1], 1, 0.5) > w[0])",
)  # fmt: skip


def program_of(expression):
    text = "\n    ".join((
        "def program(x, w, n, u):", "memo, m = {}, [0.5, 2.0, -1.0]", "for k in range(len(x)):",
        f"    memo[k] = {expression}", "return [memo[k] for k in range(len(x))]",
    ))  # fmt: skip
    name = f"<numbers of NumPy: {expression}>"
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    known = {"np": np}
    exec(compile(text, name, "exec"), known)
    return known["program"]


def made(seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(5, 4)), rng.normal(size=4), np.array([2, 0, 1, 2]), np.array([1, 9, 250, 4], np.uint8)


@pytest.mark.parametrize("expression", OF_ROWS + OF_NUMBERS)
def test_same_values_and_dtypes(expression, first):
    runs_as_program(program_of(expression), *(lambda place=place: made()[place] for place in range(4)))


def shown(found):
    return [(type(one), float(one).hex()) for one in found]


@pytest.mark.parametrize("value", [0.0, -0.0, float("nan"), float("inf"), -1e308, 1e308])
@pytest.mark.parametrize("expression", [
    "np.clip(x[k], 0, 1)[0]", "np.clip(x[k, 0], -0.0, 1)", "np.maximum(x[k], 0)[0]", "np.hypot(x[k, 0], x[k, 2])",
    "np.where(x[k], w, 2)[0]", "np.where(x[k, 0], w[0], 2) + 0", "np.median(x[k])", "np.percentile(x[k], 30)",
    "np.maximum.accumulate(x[k])[3]",
])  # fmt: skip
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_special_numbers(expression, value, first):
    x, w, n, u = made()
    x[1, :2] = x[2, 1] = value
    x[3, 0], x[3, 2] = -value, value
    function = program_of(expression)
    lifted = lift(function, verify="off")
    for _ in range(2):
        assert shown(lifted(x, w, n, u)) == shown(function(x, w, n, u))


@pytest.mark.parametrize("expression, error", [
    ("np.percentile(x[k], 101 - 1e-3 * k)", "Percentiles must be in the range"),
    ("np.quantile(x[k], k)", "Quantiles must be in the range"),
    ("np.clip(x[k], w[:3], 2)[0]", "could not be broadcast"),
])  # fmt: skip
def test_errors(expression, error, first):
    function = program_of(expression)
    lifted = lift(function)
    for _ in range(2):
        with pytest.raises(ValueError, match=error):
            lifted(*made())


def dither(image, palette):
    image, used = image.astype(np.float64), {}
    h, w = image.shape
    out = np.zeros((h, w), dtype=np.uint8)
    for y in range(h):
        for x in range(w):
            old = image[y, x]
            k = 0 if old < 100 else 1
            out[y, x] = k
            used[k] = used.get(k, 0) + 1
            error = old - palette[k]
            for dy, dx, weight in ((0, 1, 7), (1, -1, 3), (1, 0, 5), (1, 1, 1)):
                if y + dy < h and 0 <= x + dx < w:
                    image[y + dy, x + dx] = np.clip(image[y + dy, x + dx] + error * weight / 16, 0, 255)
    return out, palette[out], used


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
def test_dithering(backend):
    image = np.random.default_rng(1).integers(0, 256, (20, 30)).astype(np.uint8)
    palette = np.array([20.0, 230.0])
    lifted, wanted = lift(dither, backend=backend), dither(image, palette)
    for _ in range(3):
        found = lifted(image, palette)
        assert found[2] == wanted[2]
        for one, other in zip(found[:2], wanted[:2], strict=True):
            assert one.dtype == other.dtype
            assert one.tobytes() == other.tobytes()
    if backend != "torch":
        assert {one.decision for one in lifted.report().loops} <= {"native", "lanes"}, str(lifted.report())
