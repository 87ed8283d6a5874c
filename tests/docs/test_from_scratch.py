"""The miniature in ``docs/from_scratch.py``: its examples against their literal loops, and the text that it emits."""

from __future__ import annotations

import importlib.util
import inspect
import subprocess
import sys
from pathlib import Path

import pytest
import torch

FILE = Path(__file__).parents[2] / "docs" / "from_scratch.py"


def load():
    spec = importlib.util.spec_from_file_location("from_scratch", FILE)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


scratch = load()
EXAMPLES = [function.__name__ for function, _ in scratch.examples(1)]
LANES = ["pairwise_distance", "soften", "energy", "differences"]
SEQUENTIAL = ["decay", "final_level"]


def example(name: str, size: int):
    """A fresh lift of an example, and its arguments."""
    function, arguments = next(pair for pair in scratch.examples(size) if pair[0].__name__ == name)
    return scratch.Lift(function.original), arguments


def copies(arguments):
    return tuple(value.clone() if isinstance(value, torch.Tensor) else value for value in arguments)


def outcome(function, arguments):
    """What a call leaves behind: its error if any, and its value and arguments."""
    try:
        return "", (function(*arguments), arguments)
    except Exception as error:
        return repr(error), arguments


def assert_as_the_loop(lifted, arguments):
    """The first call compares with the loop, the second one is only the batched form: both must be the loop's."""
    expected_error, expected = outcome(lifted.original, copies(arguments))
    for _ in range(2):
        error, left_behind = outcome(lifted, copies(arguments))
        assert error == expected_error
        torch.testing.assert_close(left_behind, expected, equal_nan=True)
    assert "bug" not in lifted.report()


@pytest.mark.parametrize("size", [0, 1, 2, 5])
@pytest.mark.parametrize("name", EXAMPLES)
def test_example_gives_the_answer_of_its_loop(name, size):
    assert_as_the_loop(*example(name, size))


@pytest.mark.parametrize("name", EXAMPLES)
def test_example_in_double_precision(name):
    lifted, arguments = example(name, 5)
    doubles = [value.double() if isinstance(value, torch.Tensor) else value for value in arguments]
    assert_as_the_loop(lifted, doubles)


@pytest.mark.parametrize("name", LANES)
def test_lifted_text_has_no_loop(name):
    lifted, arguments = example(name, 5)
    lifted(*arguments)
    assert "for " not in lifted.source
    assert "lanes" in lifted.report()
    lifted(*arguments)
    assert lifted.fallback is None


@pytest.mark.parametrize("name", SEQUENTIAL)
def test_time_stays_and_samples_become_lanes(name):
    lifted, arguments = example(name, 5)
    lifted(*arguments)
    assert lifted.source.count("for ") == 1
    assert "for t: sequential" in lifted.report()
    assert "for sample: lanes" in lifted.report()


def test_recurrence_is_kept_with_a_reason():
    lifted, arguments = example("smooth", 5)
    lifted(*arguments)
    assert lifted.source.count("for ") == 1
    assert "kept: an iteration of 'i' reads 'out[i - 1]', which another iteration may store to" in lifted.report()


def test_emitted_text_runs_alone():
    lifted, arguments = example("pairwise_distance", 5)
    expected = lifted(*arguments)
    namespace = {}
    exec(lifted.source, namespace)
    torch.testing.assert_close(namespace["pairwise_distance"](*arguments), expected)


def test_no_new_variant_for_a_new_length():
    lifted, arguments = example("energy", 5)
    lifted(*arguments)
    lifted(*example("energy", 2)[1])
    assert len(lifted.variants) == 1


def test_overlapping_memory_runs_the_original():
    lifted, _ = example("differences", 5)
    buffer = torch.arange(6.0) ** 2
    expected = lifted.original(*(lambda whole: (whole, whole[1:5]))(buffer.clone()))
    torch.testing.assert_close(lifted(buffer, buffer[1:5]), expected)
    assert "share no memory" in lifted.fallback


def test_failed_requirement_raises_the_error_of_the_loop_and_leaves_its_partial_state():
    lifted, _ = example("differences", 5)
    out = torch.zeros(6)
    with pytest.raises(IndexError, match="index 4 is out of bounds"):
        lifted(torch.arange(4.0), out)
    assert out.tolist() == [1, 1, 1, 0, 0, 0]
    assert "i + 1 stays inside x" in lifted.fallback


def test_no_iteration_leaves_a_python_number():
    lifted, arguments = example("energy", 0)
    assert type(lifted(*arguments)) is float
    assert "takes some value" in lifted.fallback


def test_gradients_run_the_original():
    lifted, (x,) = example("smooth", 5)
    lifted(x.requires_grad_()).sum().backward()
    assert x.grad is not None
    assert "gradients" in lifted.fallback


# Programs on which a careless version would give another answer.


def wraps_around(x, y, out):
    for i in range(x.shape[0]):
        out[i] = x[i - 1]
    return out


def last_value(x, y, out):
    for i in range(x.shape[0]):
        value = x[i] * 2.0
        out[i] = value
    return value


def last_writer(x, y, out):
    for i in range(x.shape[0]):
        out[0] = x[i]
    return out


def view_sees_the_store(x, y, out):
    for i in range(x.shape[0]):
        value = x[i]
        x[i] = 1.0
        out[i] = value
    return out


def changes_its_bound(x, y, out):
    count = x.shape[0]
    for i in range(count):
        count = count + x[i]
        out[i] = y[i]
    return count


def prefix_sum(x, y, out):
    total = 0.0
    for i in range(x.shape[0]):
        total = total + x[i]
        out[i] = total
    return total


def decides_on_a_rounded_value(x, y, out):
    for i in range(x.shape[0]):
        if torch.exp(x[i]) > 1.0:
            out[i] = y[i]
    return out


def else_branch(x, y, out):
    for i in range(x.shape[0]):
        if x[i] > 0:
            if y[i] > 0:
                out[i] = y[i]
        else:
            out[i] = torch.exp(x[i])
    return out


def two_regions(x, y, out):
    for i in range(x.shape[0]):
        out[i] = x[i] * y[i]
    total = 0
    for i in range(x.shape[0]):
        total = total + out[i]
    return total


def negative_bound(x, y, out):
    for i in range(x.shape[0] - 3):
        out[i] = x[i]
    return out


def triangle(x, y, out):
    for i in range(x.shape[0]):
        for j in range(i):
            out[i] = out[i] + x[j]
    return out


def allocates_over_an_argument(x, y, out):
    same = torch.zeros(x.shape[0], out=out)
    for i in range(x.shape[0]):
        same[i] = same[i] + x[i]
    return out


def subscript_by_a_truth_value(x, y, out):
    for i in range(x.shape[0]):
        out[i] = x[i] + torch.sum(y[True])
    return out


HARD = [
    allocates_over_an_argument,
    subscript_by_a_truth_value,
    wraps_around,
    last_value,
    last_writer,
    view_sees_the_store,
    changes_its_bound,
    prefix_sum,
    decides_on_a_rounded_value,
    else_branch,
    two_regions,
    negative_bound,
    triangle,
]


@pytest.mark.parametrize("size", [0, 1, 2, 5])
@pytest.mark.parametrize("function", HARD, ids=lambda function: function.__name__)
def test_hard_program_gives_the_answer_of_its_loop(function, size):
    draw = torch.Generator().manual_seed(size)
    arguments = [torch.randn(size, generator=draw) for _ in range(3)]
    assert_as_the_loop(scratch.Lift(function), arguments)


@pytest.mark.parametrize("function", [else_branch, two_regions, negative_bound])
def test_hard_program_that_lifts(function):
    lifted = scratch.Lift(function)
    lifted(*(torch.randn(5) for _ in range(3)))
    assert lifted.fallback is None
    assert "for " not in lifted.source


# The file as a text to read.


def test_script_shows_before_and_after():
    printed = subprocess.run([sys.executable, str(FILE)], capture_output=True, text=True, check=True).stdout
    assert "for j in range(b.shape[0]):" in printed
    assert "difference = a[:, None] - b" in printed
    assert "it raised: index 5 is out of bounds" in printed


def test_functions_are_small():
    functions = [value for value in vars(scratch).values() if inspect.isfunction(value)]
    functions += [value for kind in (scratch.Reader, scratch.Emitter, scratch.Lift) for value in vars(kind).values()]
    written = [value for value in functions if inspect.isfunction(value) and value.__code__.co_filename == str(FILE)]
    lengths = [len(inspect.getsourcelines(value)[0]) for value in written]
    assert max(lengths) < 50


def test_every_room_has_its_place_in_the_last_section():
    last = FILE.read_text().split("Where each piece lives")[1]
    for room in ["frontend", "ir", "ops", "analysis", "vectorize", "optimize", "emit", "build", "runtime", "explain"]:
        assert f"`{room}`" in last
