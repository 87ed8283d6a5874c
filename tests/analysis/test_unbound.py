"""Stores through items of tensors that are iterated or unpacked: where gradients are recorded PyTorch refuses them."""

import pytest
import torch

from looplift import lift

BACKENDS = ("auto", "torch", "native")


def elements(y, w):
    for row in y:
        row[1] = w
    return y


def filled(y, w):
    for row in y:
        row[0].fill_(2.0)
        row[1].mul_(w)
    return y


def masked(y, w):
    for row in y:
        row[row > 0.5] = 0.0
    return y


def updated(y, w):
    for row in y:
        row[0] += w
        row += 1
    return y


def numbered(y, w):
    for k, row in enumerate(y):
        row[k] = w
    return y


def zipped(y, w):
    for row, other in zip(y, y * 2):
        row[0] = other[1]
    return y


def unpacked(y, w):
    for k in range(2):
        a, b, _ = y
        a[k] = b[0] + w
    return y


def unpacked_rows(y, w):
    for k in range(3):
        a, _, _ = y[k]
        a.fill_(2.0)
    return y


def nested(y, w):
    for row in y:
        for item in row:
            item.mul_(2)
    return y


def held(y, w):
    last = y[0]
    for row in y:
        last[0] = w
        last = row
    return y


def seen_otherwise(y, w):
    for row in y:
        row.view(3, 1)[0, 0] = w
    return y


def by_index(y, w):
    for k in range(len(y)):
        row = y[k]
        row[0] = w
    return y


def of_a_list(y, w):
    rows = [y[0] * 2, y[1] * 2]
    for row in rows:
        row[0] = w
    return torch.stack(rows)


def under_no_grad(y, w):
    for row in y:
        with torch.no_grad():
            row[0] = 3.0
    return y


def copied(y, w):
    out = []
    for row in y:
        row = row.clone()
        row[0] = w
        out.append(row)
    return torch.stack(out)


PROGRAMS = [
    elements, filled, masked, updated, numbered, zipped, unpacked, unpacked_rows, nested, held, seen_otherwise,
    by_index, of_a_list, under_no_grad, copied,
]  # fmt: skip


def ones(**options):
    return torch.full((3, 3), 1.5, dtype=torch.float64, **options)


def with_history():
    given = ones(requires_grad=True)
    return given, given * 2, 2.0


def with_numbers_that_ask():
    given = torch.tensor(0.5, dtype=torch.float64, requires_grad=True)
    return given, ones(), given * 2


def leaf():
    given = ones(requires_grad=True)
    return given, given, 2.0


def plain():
    return None, ones(), torch.tensor(2.0, dtype=torch.float64)


def outcome(function, make):
    given, *arguments = make()
    try:
        found = function(*arguments)
        if found.requires_grad and given is not None:
            return found.tolist(), torch.autograd.grad((found**2).sum(), given, allow_unused=True)
        return found.tolist(), found.requires_grad
    except RuntimeError as error:
        return f"{type(error).__name__}: {error}"


def check(function, lifted, make):
    want, got = outcome(function, make), outcome(lifted, make)
    if isinstance(want, str):
        assert got == want
    else:
        torch.testing.assert_close(got, want, rtol=1e-12, atol=0)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", PROGRAMS)
def test_stores_through_items(function, backend):
    for makes in ([with_history], [plain, with_history], [with_numbers_that_ask], [plain, leaf, with_history]):
        lifted = lift(function, backend=backend, verify="off")
        for make in (*makes, *makes):
            check(function, lifted, make)
            with torch.no_grad():
                check(function, lifted, make)


def test_what_stays_lifted():
    for function in (elements, copied, by_index, of_a_list):
        for make in (plain,) if function is elements else (plain, with_history):
            lifted = lift(function, verify="off")
            outcome(lifted, make)
            assert "kept" not in str(lifted.report()), function
