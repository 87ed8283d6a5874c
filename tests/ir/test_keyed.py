"""Dicts under items of a list of the caller, which are all different: the loop's values, gradients and errors."""

from typing import Any

import pytest
import torch

from looplift import lift
from looplift.base.compare import difference


def of_records(rows, w):
    codes = {row["name"]: torch.tanh(row["x"] * w) for row in rows}
    total = torch.zeros(())
    for a in rows:
        for b in rows:
            if a["size"] < b["size"]:
                total = total + torch.dot(codes[a["name"]], codes[b["name"]])
    return total


def through_another(rows, w):
    first = {}
    for row in rows:
        first[row["name"]] = row["x"] * w
    second = {name: value.cumsum(0) for name, value in first.items()}
    out = []
    for row in rows:
        out.append(second[row["name"]][row["size"]] - first[row["name"]].sum())
    return torch.stack(out), len(second)


def of_names(rows, w):
    names = [row["name"] for row in rows]
    return _of_names(names, rows, w)


def _of_names(names, rows, w):
    return sum(row["size"] for row in rows) * w.sum(), len(names)


def under_two_parts(rows, w):
    near = {}
    for row in rows:
        for j in range(w.shape[0]):
            near[row["name"], j] = row["x"][j] * w[j]
    out = []
    for row in rows:
        total = torch.zeros(())
        for j in range(w.shape[0]):
            total = total + near[row["name"], j] * near[row["name"], 0]
        out.append(total)
    return torch.stack(out)


def keys_at_its_end(rows, w):
    codes = {}
    for row in rows:
        codes[row["number"]] = row["x"].sum()
    out = []
    for row in rows:
        out.append(codes[row["number"]] * w[0])
    total = torch.zeros(())
    for key in codes:
        total = total + codes[key] * key
    return torch.stack(out) + total


def handed_out(rows, w):
    codes = {}
    for row in rows:
        codes[row["name"]] = row["x"].sum() * w[0]
    return codes


def some_only(rows, w):
    codes = {}
    for row in rows:
        if row["size"] > 0:
            codes[row["name"]] = row["x"].sum() * w
    out = []
    for row in rows:
        out.append(codes[row["name"]])
    return torch.stack(out)


def other_keys(rows, w):
    codes = {}
    for row in rows:
        codes[row["name"]] = row["x"].sum() * w
    out = []
    for row in rows:
        out.append(codes[row["other"]])
    return torch.stack(out)


def rows_of(names: list[Any], sizes: tuple[int, ...] = (2, 0, 1, 2), *, gradients: str = "") -> Any:
    generator = torch.Generator().manual_seed(0)
    rows = []
    for number, (name, size) in enumerate(zip(names, sizes, strict=True)):
        x = torch.randn(3, generator=generator).requires_grad_(gradients == "all")
        rows.append({"name": name, "other": names[-1 - number], "number": 7 - number, "size": size, "x": x})
    return rows, torch.randn(3, generator=generator).requires_grad_(bool(gradients))


def called(function: Any, rows: Any, w: Any) -> Any:
    try:
        result = function(rows, w)
    except (KeyError, TypeError) as error:
        return type(error), str(error)
    first = result[0] if isinstance(result, tuple) else result
    if isinstance(first, torch.Tensor) and first.requires_grad:
        first.sum().backward()
    return result, w.grad, [row["x"].grad for row in rows]


LIFTED = [of_records, through_another, under_two_parts]
OTHERS = [of_names, keys_at_its_end, handed_out, some_only, other_keys]
NAMES = [list("abcd"), list("abca"), [3, 1, 2, 0], [1, True, 2, "1"]]


@pytest.mark.parametrize("backend", ["auto", "torch"])
@pytest.mark.parametrize("gradients", ["", "weights", "all"])
@pytest.mark.parametrize("function", LIFTED + OTHERS, ids=lambda function: function.__name__)
def test_answers_are_the_loops(function, gradients, backend):
    lifted = lift(function, verify="off", backend=backend)
    for names in NAMES:
        got = called(lifted, *rows_of(names, gradients=gradients))
        assert difference(got, called(function, *rows_of(names, gradients=gradients))) is None, names


@pytest.mark.parametrize("function", LIFTED, ids=lambda function: function.__name__)
def test_different_keys_are_lanes(function):
    lifted = lift(function, verify="off", backend="torch")
    called(lifted, *rows_of(list("abcd"), gradients="weights"))
    assert {entry.decision for entry in lifted.report().loops} == {"lanes"}


def test_keys_that_are_equal_later_are_seen():
    """What runs for different keys does not run for equal ones: the last value under a key is read."""
    lifted = lift(through_another, verify="off", backend="torch")
    for names in (list("abcd"), list("abba"), list("abcd")):
        got, want = called(lifted, *rows_of(names)), called(through_another, *rows_of(names))
        assert difference(got, want) is None
    assert got[0][1] == 4 and called(lifted, *rows_of(list("abba")))[0][1] == 2
