"""Lists that grow by several items in an iteration, and lists of numbers that arrays are made into."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.vectorize.harness import check, outcome

from looplift import lift
from looplift.base.compare import difference


def two_appends(x):
    out = []
    for i in range(len(x)):
        out.append(x[i] * 2)
        out.append(x[i] + 1)
    return torch.stack(out)


def three_scalars(x):
    out = []
    for row in x:
        total = row.sum()
        out.append(total)
        mean = row.mean()
        out.append(mean)
        out.append(total * mean)
    return out


def extended(x):
    out = []
    for row in x:
        out.extend([row.sum(), row.mean()])
    return torch.stack(out)


def added(x):
    out = []
    for row in x:
        out += [row.sum(), row.mean()]
    return torch.stack(out)


def extended_by_a_list(x):
    out = []
    for row in x:
        out.extend([row[j] * j for j in range(x.shape[1])])
    return torch.stack(out)


def items_of_many(x):
    out = []
    for row in x:
        out.append(row.sum())
        out.append(row.mean())
    return out[1] + out[2] * len(out)


def pairs_of_numbers(x):
    out = []
    for row in x:
        out.append((row.sum().item(), 1))
        out.append((row.mean().item(), 2))
    return out


def places_and_values(x):
    values, places = [], []
    for row in x:
        value, place = torch.topk(row, 2)
        values.append(value)
        places.append(place)
    return values, places


def triangles(x):
    out = []
    for b in range(len(x)):
        parts = []
        for i in range(x.shape[1]):
            for j in range(i + 1):
                parts.append(x[b, i] * x[b, j])
        out.append(torch.stack(parts))
    return torch.stack(out)


TENSORS = [two_appends, three_scalars, extended, added, extended_by_a_list, items_of_many, places_and_values, triangles]


@pytest.mark.parametrize("function", TENSORS, ids=lambda function: function.__name__)
def test_several_items_in_an_iteration(function):
    g = torch.Generator().manual_seed(5)
    check(function, *[[torch.randn(n, 4, generator=g)] for n in (6, 3, 2)], decisions={"lanes"})


def rows_as_lists(x):
    return [row.tolist() for row in x]


def matrices_as_lists(x):
    out = []
    for row in x:
        out.append((row[:, None] * row).tolist())
    return out


def numbers_of_rows(x):
    out = []
    for row in x:
        out.extend(row.tolist())
    return out


def looped_over(x):
    out = []
    for row in x:
        total = 0.0
        for value in row.tolist():
            total += value * 2
        out.append(total)
    return out


NUMBERS = [pairs_of_numbers, rows_as_lists, matrices_as_lists, numbers_of_rows, looped_over]


@pytest.mark.parametrize("function", NUMBERS, ids=lambda function: function.__name__)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16])
def test_lists_of_numbers(function, dtype):
    g = torch.Generator().manual_seed(5)
    calls = [[torch.randn(n, m, generator=g).to(dtype)] for n, m in ((6, 4), (3, 2), (1, 1), (4, 5), (0, 3))]
    check(function, *calls, gradients=False, decisions={"lanes"})


@pytest.mark.parametrize("function", NUMBERS[1:], ids=lambda function: function.__name__)
@pytest.mark.parametrize("dtype", ["float32", "int64", "bool", "float64"])
def test_lists_of_numpy_numbers(function, dtype):
    g = np.random.default_rng(3)
    calls = [[(3 * g.normal(size=(n, m))).astype(dtype)] for n, m in ((6, 4), (3, 2), (1, 1))]
    check(function, *calls, gradients=False, decisions={"lanes"})


def two_kinds(x):
    out = []
    for i in range(len(x)):
        out.append(i)
        out.append(x[i].sum().item())
    return out


def under_a_condition(x):
    out = []
    for row in x:
        out.append(row.sum())
        if row[0] > 0:
            out.append(row.mean())
    return out


def of_two_shapes(x):
    out = []
    for row in x:
        out.append(row)
        out.append(row[:2] * 2)
    return [piece * 2 for piece in out]


def in_two_loops(x):
    out = []
    for row in x:
        out.append(row.sum())
    for row in x:
        out.append(row.mean())
    return torch.stack(out)


def under_two_names(x):
    out = other = []
    for row in x:
        out += [row.sum().item()]
    return out, other


def array_added(x):
    out = x[0] * 0
    for row in x:
        out += row
    return out


def written_meanwhile(x):
    x = x.clone()
    out = []
    for i in range(len(x) - 1):
        numbers = x[i].tolist()
        x[i, 0] = 9.0
        for value in numbers:
            out.append(value)
    return out


def one_result_twice(x):
    values, same = torch.topk(x[0], 2)
    out, other = [], []
    for i in range(len(x)):
        out.append(values)
        other.append(same)
    out[0][0] = 5.0
    return out, other


@pytest.mark.parametrize(
    "function",
    [two_kinds, under_a_condition, of_two_shapes, in_two_loops, under_two_names, array_added, written_meanwhile,
     one_result_twice],
    ids=lambda function: function.__name__,
)  # fmt: skip
@pytest.mark.parametrize("backend", ["auto", "torch"])
def test_what_is_no_such_list_stays_right(function, backend):
    lifted = lift(function, verify="off", backend=backend)
    for n in (5, 2, 1):
        x = torch.randn(n, 4, generator=torch.Generator().manual_seed(n))
        why = difference(outcome(lifted, [x], gradients=False), outcome(function, [x], gradients=False), magnitude=1.0)
        assert not why, f"{why}\n{lifted.source}"


def joined_from_a_buffer(x):
    joined, buffer = torch.zeros(1), torch.zeros(2)
    for i in range(len(x)):
        buffer[0] = x[i, 0]
        joined = torch.cat((joined, buffer))
    return joined


def joined_before_they_change(x):
    joined = torch.zeros(1)
    for i in range(len(x)):
        joined = torch.cat((joined, x[i]))
        x[i] += 1
    return joined


def whole_arrays_before_they_change(x):
    joined = np.zeros((1, x.shape[1]))
    for i in range(len(x)):
        joined = np.vstack((joined, x))
        x[i] += 1
    return joined


@pytest.mark.parametrize("function", [joined_from_a_buffer, joined_before_they_change, whole_arrays_before_they_change])
def test_what_is_joined_is_a_copy(function):
    lifted = lift(function, verify="off", backend="torch")
    for n in (3, 2, 1, 4):
        x = torch.arange(2.0 * n).view(n, 2)
        x = x.numpy() if function is whole_arrays_before_they_change else x
        wanted, found = (outcome(one, [x], gradients=False) for one in (function, lifted))
        assert difference(found, wanted) is None, n


def chosen_rows(x):
    out = torch.empty(0, x.shape[1])
    for row in x:
        if row[0] > 0:
            out = torch.cat([out, row.unsqueeze(0) * 2])
    return out


def chosen_elements(x):
    out = torch.tensor([])
    for i in range(len(x)):
        for j in range(x.shape[1]):
            if x[i, j] > 0:
                if i != j:
                    out = torch.cat((out, x[i, j].view(1)))
    return out


def after_the_first(x):
    out, count = x[:1], 0
    for i in range(1, len(x)):
        if x[i, 0] > 0:
            out = torch.cat((out, x[i : i + 1]))
            count += 1
    return out, count


def to_both_sides(x):
    more, less = torch.tensor([]), torch.tensor([])
    for v in x[:, 0]:
        if v > 0:
            more = torch.cat((more, v[None]))
        else:
            less = torch.cat((less, v[None]))
    return more, less


def all_elements(x):
    out = torch.empty(0, 2)
    for i in range(len(x)):
        for j in range(x.shape[1]):
            out = torch.cat([out, torch.stack([x[i, j], x[i, 0]])[None]])
    return out


@pytest.mark.parametrize("function", [chosen_rows, chosen_elements, after_the_first, to_both_sides, all_elements])
def test_tensors_grow_under_a_condition_and_in_inner_loops(function):
    generator = torch.Generator().manual_seed(1)
    check(function, *([torch.randn(n, 4, generator=generator)] for n in (6, 9, 12)))


def chosen_numbers(x):
    out, places = np.array([]), np.array([], dtype=int)
    for i, v in enumerate(x[:, 0]):
        if v > 0:
            out, places = np.append(out, v * 2), np.append(places, i)
    return out, places


def stacked_below(x):
    out = np.zeros((0, x.shape[1]))
    for row in x:
        if row[0] > 0:
            out = np.vstack([out, row[None] * 2])
    return out


@pytest.mark.parametrize("function", [chosen_numbers, stacked_below])
def test_arrays_grow_under_a_condition(function):
    check(function, *([np.random.default_rng(n).normal(size=(n, 3))] for n in (6, 9, 12)), gradients=False)


def read_meanwhile(x):
    out, count = torch.empty(0, x.shape[1]), 0
    for row in x:
        if row[0] > 0:
            out = torch.cat([out, row[None]])
        count += len(out)
    return out, count


def in_front(x):
    out = torch.tensor([])
    for v in x[:, 0]:
        if v > 0:
            out = torch.cat((v[None], out))
    return out


def long_enough(x):
    out = torch.tensor([])
    for v in x[:, 0]:
        if v > 0:
            out = torch.cat((out, v[None]))
        if len(out) > 2:
            break
    return out


def begun_anew(x):
    out = torch.tensor([])
    for v in x[:, 0]:
        out = torch.cat((out, v[None])) if v > 0 else torch.tensor([7.0])
    return out


def on_both_sides(x):
    out = torch.tensor([])
    for v in x[:, 0]:
        if v > 0:
            out = torch.cat((out, v[None]))
        else:
            out = torch.cat((out, out, v[None]))
    return out


@pytest.mark.parametrize("function", [read_meanwhile, in_front, long_enough, begun_anew, on_both_sides, chosen_rows])
@pytest.mark.parametrize("backend", ["auto", "torch"])
def test_tensors_that_grow_otherwise_stay_right(function, backend):
    lifted = lift(function, verify="off", backend=backend)
    for n in (6, 1, 0, 5):
        x = torch.randn(n, 4, generator=torch.Generator().manual_seed(n)) - (n == 5) * 10
        assert difference(outcome(lifted, [x], gradients=False), outcome(function, [x], gradients=False)) is None


def joined_to_nothing(x):
    rows = torch.tensor([])
    for row in x:
        rows = torch.cat((rows, torch.diag(row)), dim=0)
    return rows.view(len(x), x.shape[1], -1)


def joined_to_an_empty_one(x):
    rows = torch.empty(0)
    for row in x:
        rows = torch.cat([rows, row * 2])
    return rows


def joined_to_nothing_of_a_type(x):
    rows = torch.tensor([], dtype=torch.float64)
    for row in x:
        rows = torch.cat([rows, row])
    return rows


@pytest.mark.parametrize("function", [joined_to_nothing, joined_to_an_empty_one, joined_to_nothing_of_a_type])
def test_tensors_that_grow_from_nothing_are_one_region(function):
    check(function, [torch.randn(5, 3)], [torch.randn(2, 4)], [torch.randn(1, 3)])
    lifted = lift(function, backend="torch", verify="off")
    lifted(torch.randn(4, 3))
    assert ("torch.empty" in lifted.source) is (function is joined_to_nothing_of_a_type)
