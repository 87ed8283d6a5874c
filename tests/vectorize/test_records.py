"""Lists of lists, tuples and dicts that loops fill, and dicts that they hand out."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.vectorize.harness import check, outcome

from looplift import lift
from looplift.base.compare import difference


def rows_of_numbers(x):
    out = []
    for i in range(len(x)):
        out.append([x[i, 0].item() * 2, i])
    return out


def table(x):
    out = []
    for i in range(len(x)):
        out.append([x[i, 0].item() * 2, i, x[i, 1].item()])
    return torch.tensor(out)


def chosen_table(x):
    out = []
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            if x[i, j] > 0.5:
                out.append((i, j, x[i, j].item()))
    return torch.tensor(out, dtype=torch.float64)


def comprehended(x):
    return torch.tensor([[j + 0.5, i + 0.25] for i in range(x.shape[0]) for j in range(x.shape[1])])


def tables_in_lanes(x):
    out = []
    for i in range(len(x)):
        rows = []
        for j in range(x.shape[1]):
            rows.append([x[i, j].item(), j])
        out.append(torch.tensor(rows))
    return torch.stack(out)


def named_row(x):
    out = []
    for i in range(len(x)):
        row = [x[i, 0].item(), 2.0 * i]
        out.append(row)
    return out


def dicts(x):
    out = []
    for row in x:
        out.append({"mean": row.mean().item(), "most": row.max().item(), "row": row * 2})
    return out


def chosen_dicts(x):
    out = []
    for i in range(len(x)):
        record = {}
        record["id"] = i
        record["sum"] = float(x[i].sum())
        if x[i, 0] > 0:
            out.append(record)
    return out


def nested(x):
    out = []
    for i in range(len(x)):
        out.append({"box": [x[i, 0].item(), x[i, 1].item()], "id": (i, i + 1)})
    return out


def read_back(x):
    out = []
    for i in range(len(x)):
        out.append([x[i, 0].item(), i])
    total = 0.0
    for value, place in out:
        total += value * place
    for row in out:
        total += row[0] * len(row)
    return total


def handed_out_dict(x):
    found = {}
    for i in range(len(x)):
        found[2 * i] = x[i].sum()
    return found


def pairs_as_keys(x):
    found = {}
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            if x[i, j] > 0:
                found[i, j] = x[i, j].item()
    return found


def repeated_keys(x):
    found = {}
    for i in range(len(x)):
        found[i % 3] = x[i] * 2
    return found


LIFTED = [
    rows_of_numbers, table, chosen_table, comprehended, tables_in_lanes, named_row, dicts, chosen_dicts, nested,
    read_back, handed_out_dict, pairs_as_keys, repeated_keys,
]  # fmt: skip


@pytest.mark.parametrize("function", LIFTED, ids=lambda function: function.__name__)
def test_records_of_lanes(function):
    g = torch.Generator().manual_seed(5)
    calls = [[torch.randn(n, 4, generator=g)] for n in ((6, 3, 1) if function is tables_in_lanes else (6, 3, 1, 0))]
    check(function, *calls, gradients=function in (handed_out_dict, repeated_keys), decisions={"lanes"})


def numpy_table(p):
    out = []
    for a, b in p:
        out.append([a + b, a - b, 2])
    return np.array(out)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
def test_an_array_of_rows(dtype):
    calls = [[(10 * np.random.default_rng(n).normal(size=(n, 2))).astype(dtype)] for n in (5, 2, 1)]
    check(numpy_table, *calls, gradients=False, decisions={"lanes"})


def changed_later(x):
    out = []
    for i in range(len(x)):
        row = [x[i, 0].item(), i]
        out.append(row)
        row[0] = 5.0
    return out


def grown_later(x):
    out = []
    for i in range(len(x)):
        row = [x[i, 0].item(), i]
        out.append(row)
        row.append(3.0)
    return out


def one_object(x):
    out, row = [], [1.0, 2.0]
    for _ in range(len(x)):
        out.append(row)
    out[0][0] = 7.0
    return out


def twice(x):
    out = []
    for i in range(len(x)):
        row = [x[i, 0].item(), i]
        out.append(row)
        out.append(row)
    out[0][0] = 7.0
    return out


def the_last(x):
    out, row = [], None
    for i in range(len(x)):
        row = [x[i, 0].item(), i]
        out.append(row)
    if row is not None:
        row[0] = 9.0
    return out, row


def made_outside(x):
    out, record = [], {}
    for i in range(len(x)):
        record["id"] = i
        out.append(record)
    return out


def of_different_lengths(x):
    out = []
    for i in range(len(x)):
        if x[i, 0] > 0:
            out.append([i])
        else:
            out.append([i, i])
    return out


def items_of_rows(x):
    out = []
    for i in range(len(x)):
        out.append([x[i, 0].item(), i])
    return [sum(row) for row in out], [row + [1] for row in out], out[0] == [1, 2], out[-1]


def changed_in_place(x):
    out = []
    for i in range(len(x)):
        out.append([0.0, i])
    for i in range(len(x)):
        out[i][0] += x[i, 0].item()
    return out


def tensors_as_keys(x):
    found = {}
    for i in range(len(x)):
        found[x[i, 0] > 0] = i
    return [float(key) for key in found], list(found.values())


@pytest.mark.parametrize(
    "function",
    [changed_later, grown_later, one_object, twice, the_last, made_outside, of_different_lengths, items_of_rows,
     changed_in_place, tensors_as_keys],
    ids=lambda function: function.__name__,
)  # fmt: skip
def test_lists_that_are_objects_of_their_own(function):
    lifted = lift(function, verify="off")
    for n in (5, 2, 1):
        x = torch.randn(n, 4, generator=torch.Generator().manual_seed(n))
        why = difference(outcome(lifted, [x], gradients=False), outcome(function, [x], gradients=False), magnitude=1.0)
        assert not why, f"{why}\n{lifted.source}"


def test_rows_are_lists_of_their_own():
    found = lift(rows_of_numbers)(torch.ones(3, 2))
    found[0].append("more")
    assert found == [[2.0, 0, "more"], [2.0, 1], [2.0, 2]]


def unpacked_into_three(x):
    out = []
    for i in range(len(x)):
        out.append([x[i, 0].item(), i])
    return [a for a, _, _ in out]


def test_the_wrong_number_of_names_raises_as_in_the_loop():
    with pytest.raises(ValueError, match="expected 3, got 2"):
        lift(unpacked_into_three)(torch.ones(3, 2))
