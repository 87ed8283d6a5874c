"""Kernels give what the loops give, bit for bit, and never touch memory that is not theirs."""

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.emit import native_functions as functions
from tests.emit.native_cases import dtw, newton, recurrence
from tests.emit.native_programs import Native, same

from looplift.base.errors import NotLiftable, RequirementFailed
from looplift.build.native import load
from looplift.emit.native import kernel_of

GOLDEN = Path(__file__).parent / "native_dtw.txt"


def numbers(*shape, dtype=torch.float32, seed=0):
    return torch.rand(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


FLOATS = (torch.float64, torch.float32)

CASES = [
    *((functions.dtw, numbers(5, dtype=d), numbers(4, dtype=d, seed=1)) for d in FLOATS),
    (functions.dtw, numbers(0), numbers(4)),
    (functions.over_relaxation, numbers(6, 5), numbers(6, 5, seed=1), 0.1, 1.5, 1e-3, 30),
    (
        functions.over_relaxation,
        numbers(6, 5, dtype=torch.float64),
        numbers(6, 5, dtype=torch.float64),
        0.1,
        1.5,
        1e-3,
        30,
    ),
    *((functions.total, numbers(*shape)) for shape in ((3, 4), (0, 4), (4, 0), (1, 1))),
    *((functions.total_in_place, numbers(*shape)) for shape in ((3, 4), (0, 4))),
    *((functions.best, numbers(n)) for n in (0, 1, 5)),
    (functions.best, torch.tensor([float("nan"), 1.0, float("nan"), 0.5])),
    *((functions.best_or_none, numbers(n)) for n in (0, 1, 5)),
    (functions.smooth_in_place, numbers(6)),
    (functions.smooth_within, numbers(6)),
    *((functions.newton, torch.tensor(2.0, dtype=d)) for d in FLOATS),
    (functions.edit_distance, torch.tensor([1, 2, 3, 4]), torch.tensor([1, 3, 3, 5, 6])),
    *((functions.hinge, numbers(n) - 0.5) for n in (0, 1, 6)),
    (functions.hinge, -numbers(3)),
    (functions.collatz, 27),
    (functions.crc, torch.arange(9, dtype=torch.uint8)),
    (functions.last_values, numbers(3)),
    *((functions.find, torch.arange(5), v) for v in (3, 9)),
    *((functions.find_and_return, torch.arange(5), v) for v in (3, 9)),
    *((functions.both_hold, numbers(4, seed=s), numbers(4, seed=s + 9)) for s in range(3)),
    *((functions.any_kind, numbers(n, seed=3), flag) for n in (0, 3) for flag in (True, False)),
    (functions.clipped, numbers(6, dtype=torch.float64), torch.zeros(6, dtype=torch.float64)),
    *((functions.bisect, 0.0, 2.0, 2.0), (functions.bisect, torch.tensor(0.0), torch.tensor(2.0), 2.0)),
    (functions.scatter, numbers(5), torch.tensor([0, 2, 2, -1, 1]), torch.zeros(3)),
    (functions.heat, np.random.default_rng(0).random((4, 5)), np.zeros((4, 5))),
    (functions.heat, np.random.default_rng(0).random((4, 5)).astype("float32"), np.zeros((4, 5), "float32")),
    (functions.norm_of_rows, numbers(3, 4)),
    *((functions.fibonacci, n) for n in (0, 1, 2, 90)),
    *((functions.backwards, torch.arange(7), step) for step in (-1, -2, -3)),
    (functions.triangular_solve, numbers(5, 5, dtype=torch.float64) + torch.eye(5), numbers(5, dtype=torch.float64)),
    (functions.escape_time, numbers(5) - 0.5, numbers(4) - 0.5, 40),
    (functions.primes, 50),
    (functions.negative_indices, numbers(5), torch.zeros(5)),
    (functions.swap_columns, numbers(2, 4), torch.tensor([2, 0, 3, 1])),
    *(
        (functions.half_steps, numbers(5, dtype=d), numbers(1, dtype=d, seed=2)[0])
        for d in (torch.float16, torch.bfloat16)
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_same_as_the_loop(case):
    same(*case)


def test_strided_expanded_and_aliased_inputs():
    x, y = numbers(12)[::2], numbers(3, 5).t()[1]
    same(functions.dtw, x, y)
    same(functions.total, numbers(3, 1).expand(3, 4))
    buffer = numbers(8)
    native = Native(functions.negative_indices, buffer[:6], buffer[2:])
    ours, theirs = buffer.clone(), buffer.clone()
    native(ours[:6], ours[2:])
    functions.negative_indices(theirs[:6], theirs[2:])
    assert torch.equal(ours, theirs)


def test_reshaped_arguments_use_the_same_kernel():
    native = Native(functions.total, numbers(2, 2))
    for shape in ((0, 0), (1, 7), (5, 3)):
        x = numbers(*shape)
        assert native(x) == functions.total(x)


def scattered(n, *index, size=2):
    return numbers(n), torch.tensor(index, dtype=torch.int64), torch.zeros(size)


@pytest.mark.parametrize(
    ("function", "good", "bad"),
    [
        (functions.scatter, scattered(2, 0, 1), scattered(2, 0, 2)),
        (functions.scatter, scattered(2, 0, 1), scattered(2, -3, 0)),
        (functions.scatter, scattered(2, 0, 1), scattered(1, 0, 1)),
        (functions.scatter, scattered(2, 0, 1), scattered(2, 2**62, -(2**63), size=0)),
        (functions.fibonacci, (5,), (100,)),
        (functions.fibonacci, (5,), (2**70,)),
        (functions.last_values, (numbers(2),), (numbers(0),)),
        (functions.heat, (np.ones((3, 3)), np.ones((3, 3))), (np.full((3, 3), 1e308), np.ones((3, 3)))),
    ],
)
def test_requirements_that_fail(function, good, bad):
    native = Native(function, *good)
    native(*good)
    with pytest.raises(RequirementFailed):
        native(*bad)


def test_inputs_of_another_kind_are_refused_before_the_kernel_runs():
    native = Native(functions.total, numbers(2, 2))
    native(numbers(2, 2))
    for wrong in (numbers(2, 2, dtype=torch.float64), numbers(4)):
        with pytest.raises(TypeError):
            native(wrong)


def division(x, out):
    for i in range(len(x)):
        out[i] = 1 / x[i].item()


def domain(x, out):
    for i in range(len(x)):
        out[i] = math.log(x[i].item())


def asserted(x, out):
    for i in range(len(x)):
        assert x[i] > 0
        out[i] = x[i]


@pytest.mark.parametrize("function", [division, domain, asserted])
def test_errors_of_python_fail_a_requirement(function):
    native = same(function, torch.tensor([1.0, 2.0]), torch.zeros(2))
    with pytest.raises(RequirementFailed):
        native(torch.tensor([1.0, 0.0]), torch.zeros(2))


def grows(x):
    found = []
    for i in range(len(x)):
        found.append(x[i])
    return found


def row_sums(x, out):
    for i in range(len(x)):
        out[i] = x.sum(0)[i]


def prints(x):
    for i in range(len(x)):
        print(x[i].item())


@pytest.mark.parametrize("function", [grows, row_sums, prints])
def test_what_is_not_scalar_is_refused(function):
    with pytest.raises(NotLiftable):
        Native(function, *([numbers(2, 2)] + [torch.zeros(2)] * (function is row_sums)))(
            *([numbers(2, 2)] + [torch.zeros(2)] * (function is row_sums))
        )


def test_the_text_of_dynamic_time_warping():
    x = torch.zeros(3, dtype=torch.float64)
    kernel = kernel_of(*dtw(torch.zeros(4, 4, dtype=torch.float64), x, x))
    if not GOLDEN.exists():
        GOLDEN.write_text(kernel.source)
    assert kernel.source == GOLDEN.read_text()


def test_loops_built_by_hand():
    h, out = load(kernel_of(*recurrence(torch.rand(3), torch.rand(3), torch.rand(3)), strict=False)), torch.zeros(2)
    (last,) = h(1.0, 2, torch.tensor([2.0, 3.0]), torch.tensor([1.0, 1.0]), out)
    assert out.tolist() == [3.0, 10.0] and last.item() == 10.0
    assert h(1.0, 0, torch.zeros(0), torch.zeros(0), out) == (1.0,)
    root = load(kernel_of(*newton(torch.tensor(2.0, dtype=torch.float64))))
    (found,) = root(torch.tensor(1.0, dtype=torch.float64), torch.tensor(2.0, dtype=torch.float64))
    assert abs(found.item() - math.sqrt(2)) < 1e-9


def test_a_store_counts_as_a_change_in_place():
    out = torch.zeros(3)
    version = out._version
    Native(functions.negative_indices, numbers(3), out)(numbers(3), out)
    assert out._version > version


def test_inexact_functions_are_named():
    def waits(x):
        while torch.exp(x) > 0.1:
            x = x - 1
        return x

    native = same(waits, torch.tensor(2.0))
    (kernel,) = native.kernels.values()
    assert kernel.inexact == kernel.deciding == ("exp",)
