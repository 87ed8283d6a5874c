"""Calls that may give their argument as it is: what a store makes of them is memory of its own."""

import pytest
import torch

from looplift import lift
from looplift.base.compare import difference


def of_integers(x):
    out = torch.zeros(x.shape, dtype=x.dtype)
    for i in range(x.shape[0]):
        out[i] = x[i].conj()
    return out


def as_tensors(x):
    out = torch.zeros(x.shape, dtype=x.dtype)
    for i in range(x.shape[0]):
        out[i] = torch.asarray(x[i])
    return out


def in_rows(x):
    out = torch.zeros(x.shape, dtype=x.dtype)
    for i in range(x.shape[0]):
        out[i] = torch.einsum("a->a", x[i])
    return out


@pytest.mark.parametrize("function", [of_integers, as_tensors, in_rows], ids=lambda f: f.__name__)
def test_stores_copy(function):
    for x in (torch.arange(6, dtype=torch.int32).reshape(3, 2), torch.randn(4, 3)):
        lifted = lift(function, verify="off", backend="torch")
        before = x.clone()
        result = lifted(x)
        assert torch.equal(result, before)
        result.zero_()
        assert torch.equal(x, before)


def complex_products(x):
    return torch.stack([torch.vdot(x[i], x[j]) for i in range(x.shape[0]) for j in range(x.shape[0])])


def test_the_first_factor_of_a_complex_product_is_conjugated():
    x = torch.complex(torch.randn(4, 3), torch.randn(4, 3))
    lifted = lift(complex_products, verify="off", backend="torch")
    torch.testing.assert_close(lifted(x), complex_products(x))


FILLS = ["row[:] = torch.sort(x[i]).values", "row[i % 3] = x[i, 0]", "row.copy_(x[i])"]
USES = ["out[i] = row", "out[:, i % 3] = row[0]", "out[i, 1:] = row[1:]", "out[i] += row", "rows.append(row)",
        "rows.append(row.clone())", "out[i].copy_(row)", "out[i] = row if x[i, 0] > 0 else 0"]  # fmt: skip


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("fill", FILLS)
def test_a_row_that_each_iteration_fills_anew(fill, use):
    text = "def filled(x):\n    row, out, rows = torch.zeros(3), torch.zeros(4, 3), []\n    for i in range(4):\n"
    scope = {"torch": torch}
    exec(f"{text}        {fill}\n        {use}\n    return row, out, rows", scope)
    x = torch.randn(4, 3, generator=torch.Generator().manual_seed(0))
    lifted = lift(scope["filled"], verify="off", backend="torch")
    assert not difference(lifted(x), scope["filled"](x), path="result")


def held_in_a_list(x, places):
    out = []
    for i in range(x.shape[0]):
        row = torch.zeros(3)
        out.append(row)
        for k in places[i]:
            row[k] = x[i, k]
    return torch.stack(out)


def held_in_tuples(x, places):
    out = []
    for i in range(x.shape[0]):
        row = torch.zeros(3)
        out.append((row, i))
        row[places[i][0]] = x[i, 0]
    return torch.stack([row for row, _ in out])


def held_in_a_dict(x, places):
    out = {}
    for i in range(x.shape[0]):
        row = torch.zeros(3)
        out[i] = row
        if x[i, 0] > 0:
            row[places[i][0]] = x[i, 0]
    return torch.stack([out[i] for i in range(x.shape[0])])


def held_from_the_middle_on(x, places):
    out = []
    for i in range(x.shape[0]):
        row = torch.zeros(3)
        for k in range(3):
            if k == places[i][0]:
                out.append(row)
            row[k] = x[i, k]
    return torch.stack(out)


HELD = (held_in_a_list, held_in_tuples, held_in_a_dict, held_from_the_middle_on)


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize("function", HELD, ids=lambda f: f.__name__)
def test_what_is_held_shows_later_stores(function, backend):
    places = [[0], [1, 2], [2, 2], [1]]
    lifted = lift(function, verify="off", backend=backend)
    for n in (4, 1, 2, 4):
        x = torch.randn(n, 3)
        assert torch.equal(lifted(x, places[:n]), function(x, places[:n]))


class Buffers:
    def __init__(self, x, out):
        self.x, self.out = x, out


@pytest.mark.parametrize("shared", [False, True])
def test_parts_of_an_object_are_looked_at_one_by_one(shared):
    def shifted(buffers):
        for i in range(1, buffers.x.shape[0]):
            buffers.out[i] = buffers.x[i - 1] * 2
        return buffers.out

    lifted = lift(shifted, verify="off", backend="torch")
    for _ in range(3):
        found = []
        for function in (shifted, lifted):
            x = torch.arange(5.0)
            found.append(function(Buffers(x, x if shared else torch.zeros(5))))
        assert torch.equal(*found)
    if not shared:
        assert {loop.decision for loop in lifted.report().loops} == {"lanes"}
