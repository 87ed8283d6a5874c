"""Results: which are one object, which share memory, which have memory of their own."""

import pytest
import torch

import looplift

X = torch.randn(5, 3, generator=torch.Generator().manual_seed(0))


def sums_and_last(x):
    total, out = torch.zeros(3), torch.empty(x.shape)
    for i in range(len(x)):
        total = total + x[i]
        out[i] = total
    return out, total


def equal_values(x):
    a, b = torch.zeros(len(x)), torch.zeros(len(x))
    for i in range(len(x)):
        a[i] = x[i].sum()
        b[i] = x[i].sum()
    return a, b


def stored_and_last(x):
    out = torch.zeros_like(x)
    for i in range(len(x)):
        value = x[i] * 2
        out[i] = value
    return out, value


def two_lists(x):
    a, b = [], []
    for i in range(len(x)):
        a.append(x[i] * 2)
    for i in range(len(x)):
        b.append(x[i] * 2)
    return a, b


@pytest.mark.parametrize("loop", [sums_and_last, equal_values, stored_and_last, two_lists])
def test_results_have_memory_of_their_own(loop):
    lifted = looplift.lift(loop, verify="off")
    for size in (5, 3, 1, 5):
        first, second = lifted(X[:size])
        before = [row.clone() for row in first]
        for row in second:
            row.fill_(7)
        assert all(torch.equal(a, b) for a, b in zip(first, before, strict=True))
    assert lifted.report().loops[0].decision != "kept"


def rows_and_last(x):
    out = []
    for i in range(len(x)):
        row = x[i] * 2
        out.append(row)
    return out, row


def test_the_last_item_of_a_list_is_the_carried_value():
    lifted = looplift.lift(rows_and_last, verify="off")
    for size in (5, 1, 3):
        out, row = lifted(X[:size])
        assert row is out[-1] and torch.equal(row, X[size - 1] * 2)
    assert lifted.report().loops[0].decision == "lanes"


def one_of_two(x, y):
    best = y
    for i in range(len(x)):
        if x[i, 0] > 10:
            best = x[i]
    return best, len(x)


def view_of_another(x):
    u = x
    for _ in range(3):
        u = torch.sin(u)
        tail = u[1:]
    return u, tail


def test_what_is_one_of_several_objects_in_a_tuple_is_that_object():
    y = torch.ones(3)
    lifted = looplift.lift(one_of_two, verify="off")
    assert lifted(X, y)[0] is y
    assert lifted(X + 20, y)[0] is not y
    assert lifted.report().loops[0].decision == "native"
    lifted = looplift.lift(view_of_another, verify="off")
    u, tail = lifted(X)
    assert tail.data_ptr() == u[1:].data_ptr()


def test_the_greatest_so_far_where_a_nan_comes_first():
    def loop(x):
        m, out = -1e9, []
        for i in range(len(x)):
            m = max(x[i].item(), m)
            out.append(m)
        return out

    lifted = looplift.lift(loop, verify="off")
    x = X[:, 0].clone()
    assert lifted(x) == loop(x)
    x[2] = float("nan")
    got, want = lifted(x), loop(x)
    assert got[2] != got[2] and got[:2] + got[3:] == want[:2] + want[3:]


def greatest(x):
    best, place = None, -1
    for i in range(len(x)):
        if best is None or x[i] > best:
            best, place = x[i], i
    return best, place


def first_and_last(x):
    s = torch.zeros(())
    first = s
    for i in range(len(x)):
        s = torch.tanh(s) + x[i]
        if i == 0:
            first = s
    return first, s


def test_numbers_in_a_tuple_are_the_objects_of_the_loop():
    x = X[:, 0].clone()
    got, want = looplift.lift(greatest, verify="off"), greatest(x)
    for _ in range(2):
        best, place = got(x)
        assert place == want[1] and best.data_ptr() == want[0].data_ptr()
    lifted = looplift.lift(first_and_last, verify="off")
    for size in (5, 1, 2):
        first, last = lifted(x[:size])
        assert (first is last) == (size == 1) and torch.allclose(last, first_and_last(x[:size])[1])


def test_an_argument_that_is_handed_back_is_the_argument():
    def loop(x):
        out = torch.ones_like(x)
        for i in range(2, 1, -1):
            row = out[i]
        return out, x, row

    got = looplift.lift(loop, verify="off")(X)
    assert got[1] is X and got[2].data_ptr() == got[0][2].data_ptr()


def doubled_at_times(x, y):
    total = torch.zeros(x.shape[1], dtype=x.dtype)
    for i in range(len(x)):
        more = x[i] if i <= 2 else total
        total += y[0]
        total = total + more
    return total


def remembers_itself(x, y):
    total = torch.zeros(x.shape[1], dtype=x.dtype)
    best = total
    for i in range(len(x)):
        if i == 2:
            best = total
        total += x[i]
    return best


@pytest.mark.parametrize("function", [doubled_at_times, remembers_itself])
@pytest.mark.parametrize("backend", ["auto", "torch"])
def test_another_name_by_a_condition_sees_changes_in_place(function, backend):
    lifted = looplift.lift(function, verify="off", backend=backend)
    x, y = torch.arange(18.0).reshape(6, 3), torch.ones(2, 3)
    assert torch.equal(lifted(x, y), function(x, y))


def last_of_a_list(items, x):
    total = torch.zeros(3)
    for item in items:
        total = total + item * x
    return total, item


def view_of_the_last_of_a_list(items, x):
    total = torch.zeros(3)
    for item in items:
        part = item[:1]
        total = total + part * x
    return total, part


def last_of_pairs(pairs, x):
    total = torch.zeros(3)
    for one, other in zip(pairs, pairs):
        total = total + one * x + other
    return total, other


@pytest.mark.parametrize("function", [last_of_a_list, view_of_the_last_of_a_list, last_of_pairs])
def test_items_of_a_list_of_the_caller_are_handed_out_themselves(function):
    items = list(torch.randn(4, 3).clone().unbind())
    total, last = looplift.lift(function, verify="off")(items, X[0])
    torch.testing.assert_close(total, function(items, X[0])[0])
    assert last.data_ptr() == items[-1].data_ptr()


def list_in_several_places(x):
    row = [x[0] * 0, x[0] * 2]
    table = {"k": row, "m": row}
    total = torch.zeros(3)
    for i in range(1, len(x)):
        total = total + x[i]
        row[1] = row[0] + x[i]
    return table, [row], row, total


def equal_values_and_one_under_two_names(x):
    first, second, other = x[0] * 0, x[0] * 1, x[0] * 0
    total = x[0] * 0
    for i in range(1, len(x)):
        second = first
        total = total + x[i]
    return other, {"k": first, "m": second}, total, second


def flat(value):
    if isinstance(value, dict):
        value = [*value.values()]
    return [value, *(part for item in value for part in flat(item))] if isinstance(value, list | tuple) else [value]


@pytest.mark.parametrize("function", [list_in_several_places, equal_values_and_one_under_two_names])
def test_one_object_in_several_places_is_one(function):
    lifted = looplift.lift(function, verify="off")
    found, wanted = flat(lifted(X)), flat(function(X))
    assert lifted.report().loops[0].decision != "kept"
    for k in range(len(wanted)):
        assert [one is found[k] for one in found] == [one is wanted[k] for one in wanted]
        if isinstance(wanted[k], torch.Tensor):
            torch.testing.assert_close(found[k], wanted[k])
