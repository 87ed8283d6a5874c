"""What may fail is computed before the first write into an array of the caller, or what was written is put back."""

import copy
from typing import Any

import failing_late as programs
import numpy as np
import pytest
import torch

import looplift

N = 20


def _array(*shape):
    return torch.rand(shape)


def _given(name, bad):
    torch.manual_seed(0)
    idx = torch.arange(N) % 7
    if bad:
        idx[10] = 99
    x, y = _array(N), _array(7)
    return {
        "sums_beside_a_store": (_array(N), x, y, idx),
        "two_stores": (_array(N), _array(N), x, y, idx),
        "a_store_that_is_read": (_array(N), x, y, idx),
        "added_at_strides": (_array(3 * N), x, y, idx, 3),
        "on_the_diagonal": (_array(N, N), x, y, idx),
    }[name]


@pytest.mark.parametrize("backend", ["torch", "auto"])
@pytest.mark.parametrize("name", ["sums_beside_a_store", "two_stores", "a_store_that_is_read", "added_at_strides",
                                  "on_the_diagonal"])  # fmt: skip
def test_an_iteration_that_fails_leaves_what_the_loop_leaves(name, backend):
    loop = getattr(programs, name)
    lifted = looplift.lift(loop, backend=backend)
    for bad in (*[False] * 25, True, False, True):
        given, same = _given(name, bad), _given(name, bad)
        if not bad:
            torch.testing.assert_close(lifted(*given), loop(*same))
        else:
            with pytest.raises(IndexError, match="index 99"):
                loop(*same)
            with pytest.raises(IndexError, match="index 99"):
                lifted(*given)
        torch.testing.assert_close(given, same)


def test_checks_of_sizes_come_before_all_writes():
    lifted: Any = looplift.lift(programs.rows_of_five, backend="torch")
    out, x = _array(23), _array(23)
    same = copy.deepcopy(out)
    lifted(out, x)
    programs.rows_of_five(same, x)
    torch.testing.assert_close(out, same)
    lines = lifted.source.split("def rows_of_five")[1].splitlines()
    first = next(k for k, line in enumerate(lines) if line.strip().startswith("out["))
    assert not any("raise" in line for line in lines[first:])


def _read_only(count):
    made = np.zeros(count)
    made.flags.writeable = False
    return made


SHAPES = {
    "numbers_and_rows": (
        lambda: (_array(N), _array(N, 5), _array(N), _array(5)),
        lambda: (_array(N), _array(N, 5), _array(N), _array(4)),
    ),
    "numbers_and_a_column": (
        lambda: (_array(N), _array(N, 5), _array(N)),
        lambda: (_array(N), _array(N, 3), _array(N)),
    ),
    "places_that_wrap": (lambda: (_array(N, N), _array(N)), lambda: (_array(3, 3), _array(N))),
    "after_a_loop_that_stays": (
        lambda: (_array(N), _array(N + 5), _array(N, 6)),
        lambda: (_array(N), _array(N - 5), _array(N, 6)),
    ),
    "two_arrays": (
        lambda: (np.zeros(N), np.zeros(N), np.arange(N) * 1.0),
        lambda: (np.zeros(N), _read_only(N), np.arange(N) * 1.0),
    ),
}


@pytest.mark.parametrize("backend", ["torch", "auto"])
@pytest.mark.parametrize("name", SHAPES)
def test_a_write_that_fails_leaves_what_the_loop_leaves(name, backend):
    loop = getattr(programs, name)
    lifted = looplift.lift(loop, backend=backend)
    for made in (*[SHAPES[name][0]] * 3, SHAPES[name][1]):
        torch.manual_seed(0)
        given = made()
        torch.manual_seed(0)
        same, errors = made(), []
        for function, arguments in ((loop, same), (lifted, given)):
            try:
                function(*arguments)
            except (IndexError, RuntimeError, ValueError) as error:
                errors.append(type(error))
        assert len(errors) == (0 if made is SHAPES[name][0] else 2) and len(set(errors)) < 2
        for one, other in zip(given, same, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-6)


def test_columns_need_no_copy():
    lifted: Any = looplift.lift(programs.numbers_and_a_column, backend="torch")
    lifted(_array(N), _array(N, 5), _array(N))
    lines = lifted.source.split("def numbers_and_a_column")[1].splitlines()
    first = next(k for k, line in enumerate(lines) if line.strip().startswith("out["))
    assert any("4 <= rows.shape[1]" in line for line in lines[:first])


@pytest.mark.parametrize("backend", ["torch", "auto"])
def test_what_is_asked_for_its_size_is_computed_after_the_write_that_it_reads(backend):
    lifted = looplift.lift(programs.sizes_of_what_was_written, backend=backend)
    for _ in range(3):
        z, x, bounds = _array(9), _array(9), _array(9)
        same = z.clone()
        wanted = programs.sizes_of_what_was_written(same, x, bounds)
        torch.testing.assert_close(lifted(z, x, bounds), wanted)
        torch.testing.assert_close(z, same)
