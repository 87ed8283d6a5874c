"""Tensors that a list begins with: a store into one of them, after the list was written out, is seen in it."""

import pytest
import torch
from tests.vectorize.harness import check_backends


def stored_after_the_loop(x, w, n):
    first = x * 2
    out = [first]
    for k in range(n):
        out.append(w[k] * first)
    first[0] = 50.0
    return out


def stored_before_the_list(x, w, n):
    first = x * 2
    first[0] = 50.0
    out = [first, x + 1]
    for k in range(n):
        out.append(w[k] * first)
    return out


def stored_in_the_loop(x, w, n):
    first = x * 2
    out = [x, first]
    for k in range(n):
        out.append(w[k] * first)
        first[k] = 4.0
    return torch.stack(out)


def stored_in_between(x, w, n):
    first = x * 2
    out = [first[1:]]
    first[1] = 3.0
    for k in range(n):
        out.append(w[k] * first[1:])
    return torch.stack(out)


@pytest.mark.parametrize(
    "function", [stored_after_the_loop, stored_before_the_list, stored_in_the_loop, stored_in_between]
)
@pytest.mark.parametrize("size", [3, 5])
def test_what_a_list_begins_with_is_stored_to(function, size):
    r = torch.Generator().manual_seed(size)
    given = [torch.randn(size, generator=r), torch.randn(size, generator=r), 3]
    check_backends(function, given, gradients=True, kept={"auto", "torch", "native"})
