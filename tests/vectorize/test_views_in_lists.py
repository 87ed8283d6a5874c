"""Lists of views that leave a region: of tensors that nothing else sees they are tensors of their own."""

from __future__ import annotations

import pytest
from tests.vectorize.harness import check
from tests.vectorize.test_distribution import matrix, vector


def handed_out(x, w):
    out, columns = [], []
    for i in range(x.shape[0]):
        out.append((x[i] * w).detach())
        columns.append((x[i] + w).unsqueeze(0).view(-1, 1))
    return out, columns


def seen_twice(x, w):
    out, product = [], w * 2
    for i in range(x.shape[0]):
        out.append(product.detach())
    return out


def changed_later(x, w):
    out = []
    for i in range(x.shape[0]):
        shown = (x[i] * w).detach()
        out.append(shown)
        shown.mul_(2)
    return out


def test_a_list_of_views_of_what_nothing_else_sees():
    check(handed_out, [matrix(3, 2), vector(2)], [matrix(1, 2), vector(2)])


@pytest.mark.parametrize("function", [seen_twice, changed_later])
def test_a_list_of_views_of_what_something_else_sees_is_the_loop_s(function):
    check(function, [matrix(3, 2), vector(2)], decisions={"kept"})
