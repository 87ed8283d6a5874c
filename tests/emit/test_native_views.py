"""Elements of tensors under names of their own in kernels: they show later stores, and take changes in place."""

from typing import Any

import pytest
import torch

from looplift import lift
from looplift.base.compare import difference


def two_before(x, y):
    for i in range(x.shape[0]):
        last = 0.0
        before = 0.0
        for j in range(x.shape[1]):
            y[i, j] = 0.5 * x[i, j] + 0.25 * last - 0.125 * before
            before = last
            last = y[i, j]
    return y


def two_before_in_new_array(x, y):
    z = torch.zeros(x.shape[0], x.shape[1])
    for i in range(x.shape[0]):
        last = 0.0
        before = 0.0
        for j in range(x.shape[1]):
            z[i, j] = x[i, j] + 0.25 * last - 0.125 * before
            before = last
            last = z[i, j]
    return z


def shown_after_the_store(x, y):
    for i in range(1, x.shape[0]):
        first = x[i, 0]
        x[i, 0] = y[i, 0]
        y[i - 1, 1] = first
    return x, y


def swapped_through_views(x, y):
    for i in range(x.shape[0]):
        for j in range(x.shape[1] - 1):
            if x[i, j] > x[i, j + 1]:
                x[i, j], x[i, j + 1] = x[i, j + 1], x[i, j]
    return x


def changed_through_the_view(x, y):
    for i in range(1, x.shape[0]):
        rest = x[i, 0]
        for j in range(x.shape[1]):
            rest -= 0.5 * y[i, j] * x[i - 1, j]
        y[i, 0] = rest / 2
    return x, y


def closure_of_a_relation(x, y):
    near = x.clone()
    for k in range(near.shape[1]):
        for i in range(near.shape[1]):
            for j in range(near.shape[1]):
                if near[i, k] > 0 and near[k, j] > 0:
                    near[i, j] = 1
    return near


def best_of_two(x, y):
    table = torch.zeros(x.shape[0], x.shape[1])
    for i in range(1, x.shape[0]):
        for j in range(1, x.shape[1]):
            if x[i, j] > y[i, j]:
                table[i, j] = max(table[i - 1, j], table[i, j - 1] + 1)
            else:
                table[i, j] = max(table[i, j - 1], table[i - 1, j])
    return table


def last_sum_kept(x, y):
    before = 0.0
    for i in range(x.shape[0]):
        total = 0.0
        for j in range(x.shape[1]):
            total += x[i, j]
        y[i, 0] = total + before
        before = total
    return y


def sums_stored_on_the_way(x, y):
    run = 0.0
    for i in range(x.shape[0]):
        run += x[i, 0]
        y[i, 1] = run
    return y


def choice_held_in_an_inner_loop(x, y):
    u = x[0, 0] * 2
    for i in range(1, x.shape[0]):
        w = x[i, 0]
        for j in range(2):
            w, u = w, x[i, j] - x[i - 1, 0]
            u = w
            break
        x[i, 0] = y[i, 0]
        y[i - 1, 1] = u
    return x, y


def changed_under_another_name(x, y):
    u = x[0, 0].clone()
    for i in range(x.shape[0]):
        w = y[i, 0] + 1
        for j in range(x.shape[1]):
            u += w
            u = w
            w = w
        x[i, 0] -= u
    return x


def changed_from_outside(x, y):
    w = x[0, 0]
    for i in range(x.shape[0]):
        if y[i, 0] > 0:
            w -= y[i, 1]
        x[i, 1] = max(y[i, 0], w)
        w = float(y[i, 1])
    return x


def one_object_twice(x, y):
    v = x[0, 0]
    w = 0.0
    u = y[1, 1] * 2
    for i in range(x.shape[0]):
        x[i, 1] = y[-1, i % 2]
        v = w
        v = u
        w = v
    return x, v, w


def number_after_the_product_of_a_tensor(x, y):
    w = x[1, 0] * 2
    u = 0.0
    for i in range(1, x.shape[0]):
        x[i, 1] = y[i, 0] + u
        if x[i, 0] > -100:
            u = w * 0.5
            w = 0.0
    return x, u + 0


NATIVE = (
    two_before, two_before_in_new_array, shown_after_the_store, swapped_through_views, changed_through_the_view,
    closure_of_a_relation, best_of_two, last_sum_kept, sums_stored_on_the_way,
)  # fmt: skip
OTHERS = (
    choice_held_in_an_inner_loop,
    changed_under_another_name,
    changed_from_outside,
    one_object_twice,
    number_after_the_product_of_a_tensor,
)


@pytest.mark.parametrize("loop", [*NATIVE, *OTHERS], ids=lambda loop: loop.__name__)
@pytest.mark.parametrize("backend", ["native", "auto"])
def test_a_kernel_shows_what_views_show(loop, backend):
    lifted = lift(loop, backend=backend, verify="off")
    for seed, size in enumerate((3, 5, 2, 7)):
        torch.manual_seed(seed)
        x, y = torch.randn(2, size, size)
        mine, theirs = [x.clone(), y.clone()], [x.clone(), y.clone()]
        got, want = lifted(*mine), loop(*theirs)
        assert difference((got, mine), (want, theirs)) is None
    if loop in NATIVE:
        assert {record.decision for record in lifted.report().loops} <= {"native", "lanes", "scan", "sequential"}


def test_two_results_that_are_one_object_stay_one():
    lifted = lift(one_object_twice, verify="off")
    _, v, w = lifted(torch.randn(3, 3), torch.randn(3, 3))
    assert v is w


def test_bounds_that_one_branch_each_moves_are_two_objects():
    def halved(x):
        out = torch.zeros_like(x)
        for i in range(x.shape[0]):
            low = torch.zeros(())
            high = torch.ones(()) * 2
            for _ in range(20):
                middle = (low + high) / 2
                if middle * middle > x[i]:
                    high = middle
                else:
                    low = middle
            out[i] = low + high
        return out

    x = torch.rand(9) + 0.5
    lifted: Any = lift(halved, backend="native")
    assert torch.equal(lifted(x), halved(x))
    assert {record.decision for record in lifted.report().loops} == {"native"}


def test_a_tensor_that_a_loop_hands_on_is_that_tensor():
    def handed_on(x, y, w):
        v = 0.0
        for j in range(1, x.shape[0]):
            x[j] = x[j - 1] * 0.5
            v = w
            y[j] = x[j]
        return v

    lifted = lift(handed_on, verify="off")
    w = torch.tensor(2.0)
    for _ in range(3):
        assert lifted(torch.randn(4), torch.randn(4), w) is w
