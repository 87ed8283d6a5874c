"""Views in other shapes, stores where a mask holds, and dicts that take the items of others, in typed programs."""

import linecache

import pytest
import torch
from tests.emit.test_typed_losses import g, runs_as_program
from tests.emit.test_typed_tensors import assert_same, first, outcome

from looplift import lift

__all__ = ["first"]

EXPRESSIONS = (
    "x[:2].reshape(-1)[k:k + 4]", "x.reshape(-1)[k] * w", "x[k].view(2, -1).sum(0)[0] * w",
    "x[k].view(-1, 2)[1].sum() * w",
    "x.reshape(4, 5)[k % 4, 1:]", "x.reshape((2, 10))[1, k:k + 4]", "x[k].reshape(1, 4)[0] + w",
    "w.view(-1, 1)[k % 4] * x[k]",
    "x[k, 0].view(-1) * w", "x[k, 0].reshape(1) + w", "x[k, 0].reshape(1, 1)[0] + w", "x[k].view(len(w)) * w",
    "x[k].view([4]) - w", "x.reshape((-1,))[k] + w", "x[k].view(w.shape) * w", "x.t().t().reshape(-1)[3] * w",
)  # fmt: skip
NONE = (
    "x.t().view(-1)[k] * w", "x[:, 1:].view(-1)[k] * w", "x.view(3, -1)[0, 0] * w", "x.view(-2, 4)[0]",
    "x[k].view(5) + w", "x[k].view(-1, -1) + w", "x[:0].view(-1, 0).sum() * w", "x[k].view(2, 2, 1).sum() * w",
)  # fmt: skip


def program(*lines):
    text = "\n    ".join((
        "def program(x, w):", "memo = {-1: torch.zeros(4, dtype=x.dtype)}", "for k in range(len(x)):",
        *(f"    {line}" for line in lines), "return memo[len(x) - 1]",
    ))  # fmt: skip
    name = f"<{lines}>"
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    known = {"torch": torch}
    exec(compile(text, name, "exec"), known)
    return known["program"]


def made(asks, dtype):
    return tuple(
        (lambda n=n, seed=seed: g(*n, seed=seed).to(dtype).requires_grad_(asks))
        for seed, n in enumerate(((5, 4), (4,)))
    )


@pytest.mark.parametrize(("asks", "dtype"), [(True, torch.float32), (False, torch.float64)])
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_shapes(expression, asks, dtype, first):
    runs_as_program(program(f"memo[k] = memo[k - 1] * 0.5 + {expression}"), *made(asks, dtype))


@pytest.mark.parametrize("asks", [True, False])
@pytest.mark.parametrize("expression", NONE)
def test_shapes_that_are_none(expression, asks, first):
    some = program(f"memo[k] = memo[k - 1] * 0.5 + {expression}")
    runs_as_program(some, *made(asks, torch.float32), program=None)


STORES = (
    "y = x[k] * 2; y[y > 0] = 1; memo[k] = memo[k - 1] + y", "y = torch.zeros(4, dtype=x.dtype); "
    "y[x[k] < w] = 0.5; memo[k] = memo[k - 1] + y * w",
    "y = x * 1.0; y[y < 0.2] = -1.5; memo[k] = memo[k - 1] + y.sum(0)",
    "y = x[k].clone(); y[w > 9] = 3; memo[k] = memo[k - 1] + y",
    "y = x[k] + 0; y[y == y] = 2; memo[k] = memo[k - 1] + y * w",
    "y = x * 1; y[k][y[k] > 0] = 0; memo[k] = memo[k - 1] + y.sum(0)",
    "y = x * w; y.view(-1)[(x > 0).view(-1)] = 0; memo[k] = memo[k - 1] + y[k]",
    "y = torch.ones(4, dtype=x.dtype); y[x[k] > w] = w[k % 4].abs(); memo[k] = memo[k - 1] + y",
    "y = x[k] * 1; m = y > 0; y[m] = 0; m[0] = False; y[m] = 7; memo[k] = memo[k - 1] + y",
    "y = x[k].argsort(); y[y > 1] = -1; memo[k] = memo[k - 1] + y * w",
    "y = (x[k] > 0).clone() if k < 9 else x[k] > 0; y[y] = False; memo[k] = memo[k - 1] + w * y",
)  # fmt: skip


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("asks", [True, False])
@pytest.mark.parametrize("store", STORES)
def test_stores_under_masks(store, asks, dtype, first):
    runs_as_program(program(store), *made(asks, dtype), program=None)


@pytest.mark.parametrize("store", STORES[:6])
def test_stores_under_masks_are_programs(store, first):
    runs_as_program(program(store), *made(False, torch.float32))
    runs_as_program(program(store), *made(True, torch.float64), program=None)


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize("store", [
    "x[k][x[k] > 0] = 0.5; memo[k] = x[k] * w", "x[x > 0] = w[k]; memo[k] = x[k] + w",
    "x[w > 0] = 1; memo[k] = x[k] + w",
    "x[k][w > 9] = 0; memo[k] = x[k] + w", "w[w != w] = 0; memo[k] = memo[k - 1] + w + x[k]",
])  # fmt: skip
def test_tensors_of_the_caller(store, backend):
    function = program(store)
    lifted = lift(function, verify="off", backend=backend)
    for count in (5, 4, 1):
        given = [[g(count, 4), g(4, seed=2)] for _ in range(2)]
        views = [[one[0].t(), one[1][1:]] for one in given]
        assert_same(outcome(lifted, given[0]), outcome(function, given[1]))
        assert_same(views[0], views[1])


def merged(frames):
    known, seen = {}, []
    for frame in frames:
        new = {}
        for name, value in frame.items():
            new[name] = known.get(name, 0.0) * 0.5 + value
        known.update(new)
        seen.append(sum(known.values()))
    known.update(known)
    return known, seen


def of_tensors(frames):
    known, out = {}, []
    for k, frame in enumerate(frames):
        new = dict(frame)
        for name in frame:
            if name in known:
                new[name] = new[name] * known[name].tanh() + k
        known.update(new)
        out.append(sum(known.values()))
    return torch.stack(out), list(known)


def of_pairs(frames):
    known = {}
    for frame in frames:
        known.update([(name, 2 * value) for name, value in frame.items()])
    return known


FRAMES = [{"a": 1.0, "b": 2.0}, {}, {"b": 0.5, "c": -1.0}, {"d": 4.0, "a": 3.0}]


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize("function", [merged, of_pairs])
@pytest.mark.parametrize("frames", [FRAMES, FRAMES[:1], [], [{}]])
def test_dicts_take_items(function, frames, backend):
    lifted = lift(function, verify="off", backend=backend)
    for _ in range(2):
        given = [[dict(frame) for frame in frames] for _ in range(2)]
        assert_same(outcome(lifted, [given[0]]), outcome(function, [given[1]]))


@pytest.mark.parametrize("asks", [True, False])
@pytest.mark.parametrize("count", [4, 1])
def test_dicts_take_tensors(count, asks, first):
    def frames():
        found = [
            {name: g(3, seed=k + ord(name)).requires_grad_(asks) for name in frame} for k, frame in enumerate(FRAMES)
        ]
        return found[:count]

    runs_as_program(of_tensors, frames)
    runs_as_program(merged, lambda: [dict(frame) for frame in FRAMES])
