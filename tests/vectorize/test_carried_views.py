"""What a loop carries may be an array under another name, which it stores to under its own."""

from __future__ import annotations

import pytest
import torch
from tests.vectorize.harness import written

from looplift import lift

NEXT = (
    "c.view(-1)",
    "c[:]",
    "c.real",
    "c.to(torch.float64)",
    "c",
    "c.detach()",
    "(c,)[0]",
    "a",
    "a if x[i] > 0 else c",
)
STORES = (
    "a[-1] = c.sum() * 0.25",
    "a[-1] += c.sum() * 0.25",
    "a[i] = c[i + 1] * 2",
    "for j in range(3): a[j] = c[j + 1]",
)
BODIES = {
    "store first": "{store}\n        c = {next}\n        total = total + c.sum()",
    "store last": "total = total + c.sum() * x[i]\n        c = {next}\n        {store}",
    "read at places": "c = {next}\n        {store}\n        total = total + c[i]",
}


def program_of(begin, body):
    text = f"def program(x, a, b):\n    total = 0.0\n    c = {begin}\n    for i in range(len(x)):\n        {body}\n"
    text += "    return total + c[0], a\n"
    return written(text, f"<carried {begin} {body}>", {"torch": torch})["program"]


def arguments():
    g = torch.Generator().manual_seed(1)
    return [torch.randn(n, dtype=torch.float64, generator=g) for n in (5, 6, 6)]


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
@pytest.mark.parametrize("begin", ["a", "a[:]", "b", "a.clone()"])
@pytest.mark.parametrize("backend", ["torch", "native"])
def test_what_is_carried_shows_what_is_stored(backend, begin, body):
    for after in NEXT:
        for store in STORES[: None if backend == "torch" else 2]:
            program = program_of(begin, body.format(next=after, store=store))
            given = arguments()
            total, a = lift(program, backend=backend, verify="off")(*given)
            wanted, b = program(*arguments())
            assert torch.allclose(total, wanted, rtol=1e-9) and torch.allclose(a, b, rtol=1e-9), (after, store)
            assert torch.allclose(given[1], a)


def table(x, n):
    before = [0.0] * n
    for i in range(len(x)):
        row = [0.0] * n
        for j in range(1, n):
            row[j] = max(before[j], before[j - 1] + x[i, j])
        before = row
    return before[n - 1]


def test_rows_that_take_turns_are_lifted():
    x = torch.rand(6, 5, dtype=torch.float64)
    lifted = lift(table, backend="native", verify="off")
    assert abs(float(lifted(x, 5)) - float(table(x, 5))) < 1e-12
    assert all(loop.decision != "kept" for loop in lifted.report().loops)


def whole(x, n):
    out, k = [], None
    for i in range(n):
        k = x[...]
        out.append(x[i, 0] * 2)
    return out, k, x


def whole_before(x, n):
    out, k = [], x[:]
    for i in range(n):
        out.append(k[i, 0] * 2)
    return out, k, x


def whole_again(x, n):
    out, k = [], x
    for i in range(n):
        out.append(k[i, 0] * 2)
        k = k[:]
    return out, k, x


@pytest.mark.parametrize("program", [whole, whole_before, whole_again])
@pytest.mark.parametrize("library", ["torch", "np"])
def test_a_view_of_all_of_an_array_is_an_object_of_its_own(program, library):
    x = torch.arange(6.0).reshape(3, 2)
    x = x if library == "torch" else x.numpy()
    _, k, same = lift(program, backend="torch", verify="off")(x, 3)
    assert same is x and k is not x
    k[0, 0] = 7.0
    assert x[0, 0] == 7.0


LISTS = ("[a] * 3", "[a] + [b, a]", "[b] + [a] * 2", "2 * [a, a]", "(a,) * 3", "[a, b] + [a]", "[a, a, b]")
READS = (
    "a[:] = ys[1] * q[i] * 0.5\n        a[0] = x[i]",
    "a[0] = x[i]\n        t = t + ys[1].sum()",
    "t = t + ys[1].sum()\n        a[0] = x[i]",
    "for z in ys: t = t + z.sum()\n        a[0] = x[i]",
    "t = t + a.sum()\n        ys[1][0] = x[i]",
    "ys[0][0] = x[i]\n        t = t + ys[1][0] + ys[2][0]",
)


@pytest.mark.parametrize("listed", LISTS)
@pytest.mark.parametrize("backend", ["torch", "native"])
def test_lists_hold_what_is_stored_to(backend, listed):
    for read in READS:
        text = (
            f"def program(x, a, b, q):\n    t = 0.0\n    ys = {listed}\n    for i in range(len(x)):\n        {read}\n"
        )
        text += "    return t, a\n"
        program = written(text, f"<listed {listed} {read}>", {})["program"]
        t, a = lift(program, backend=backend, verify="off")(*arguments(), arguments()[1])
        wanted, b = program(*arguments(), arguments()[1])
        assert torch.allclose(torch.as_tensor(t), torch.as_tensor(wanted)) and torch.allclose(a, b), read
