"""Loops that are left by break and by return, where the break stands in a clause, a context or a ``try``."""

import pytest
import torch

from looplift import lift


def in_the_clause_of_a_while(x, i):
    s = torch.zeros(())
    for j in range(x.shape[1]):
        k = 0
        while k < 2:
            if x[i, j] < -1:
                return s
            if x[i, j] + k > 1:
                break
            k += 1
        else:
            break
        s = s + x[i, j] * k
    else:
        s = s + 50
    return s * 2 + 7


def in_the_clause_of_a_clause(x, i):
    s = torch.zeros(())
    for j in range(x.shape[1]):
        for _ in range(2):
            if x[i, j] > 1:
                break
            if x[i, j] < -1:
                return s
        else:
            for k in range(2):
                if x[i, j] > k * 0.3:
                    break
            else:
                break
        s = s + x[i, j]
    return s - 3


def in_a_context(x, i):
    s = torch.zeros(())
    for j in range(x.shape[1]):
        with torch.no_grad():
            if x[i, j] > 1:
                break
            if x[i, j] < -1:
                return s
        s = s + x[i, j]
    return s + 100


def in_a_handler(x, i):
    s, divisors = torch.zeros(()), [3, 4, 0, 5]
    for j in range(x.shape[1]):
        try:
            v = 12 // divisors[j]
        except ZeroDivisionError:
            break
        if x[i, j] > 1:
            return s
        s = s + x[i, j] * v
    return s + 100


def behind_a_try(x, i):
    s, table = torch.zeros(()), {0: 1.5, 1: 2.5, 3: 3.5}
    for j in range(x.shape[1]):
        try:
            v = table[j]
        except KeyError:
            v = -1.0
        else:
            if x[i, j] > 1:
                break
        if x[i, j] < -1:
            return s
        s = s + x[i, j] * v
    return s + 100


HELPERS = [in_the_clause_of_a_while, in_the_clause_of_a_clause, in_a_context, in_a_handler, behind_a_try]


def rows(helper):
    def program(x):
        out = torch.zeros(x.shape[0])
        for i in range(x.shape[0]):
            out[i] = helper(x, i)
        return out

    return program


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize("helper", HELPERS, ids=lambda helper: helper.__name__)
def test_what_follows_runs_after_a_break_and_not_after_a_return(helper, backend):
    program = rows(helper)
    lifted = lift(program, backend=backend, verify="off")
    for seed in range(3):
        x = torch.randn(7, 4, generator=torch.Generator().manual_seed(seed))
        torch.testing.assert_close(lifted(x.clone()), program(x.clone()))


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize("helper", HELPERS, ids=lambda helper: helper.__name__)
def test_the_loop_itself_is_the_program(helper, backend):
    lifted = lift(helper, backend=backend, verify="off")
    for seed in range(3):
        x = torch.randn(3, 4, generator=torch.Generator().manual_seed(seed))
        for i in range(3):
            torch.testing.assert_close(lifted(x.clone(), i), helper(x.clone(), i))
