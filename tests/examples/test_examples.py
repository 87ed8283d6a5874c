"""Each example runs as a plain script, and its lifted functions give the answers of its loops."""

import importlib.util
import runpy
import sys
from pathlib import Path

import pytest
import torch

from looplift import lift

EXAMPLES = Path(__file__).parents[2] / "examples"

pytestmark = pytest.mark.filterwarnings("ignore:Initializing zero-element tensors")


def load_comparison():
    spec = importlib.util.spec_from_file_location("comparison", EXAMPLES / "comparison.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


comparison = load_comparison()
PATHS = comparison.example_paths()
PAIRS = [
    pytest.param(*pair, id=f"{path.stem}-{pair[0].__name__}") for path in PATHS for pair in comparison.load(path).PAIRS
]
SIZES = [(5, 5, 5), (4, 5, 6), (3, 1, 2), (1, 1, 1), (1, 4, 3), (2, 2, 2), (0, 0, 0), (7, 3, 2)]


def arguments_of(make, sizes):
    return lambda: comparison.small_arguments(make, *sizes)


@pytest.mark.parametrize(("loop", "hand", "make"), PAIRS)
def test_lifted_equals_the_loop_at_every_size_in_turn(loop, hand, make):
    lifted = lift(loop)
    for sizes in SIZES:
        assert comparison.difference_of_calls(lifted, loop, arguments_of(make, sizes)) is None, sizes


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize(("loop", "hand", "make"), PAIRS)
def test_lifted_equals_the_loop_on_its_first_call(loop, hand, make, sizes):
    assert comparison.difference_of_calls(lift(loop), loop, arguments_of(make, sizes)) is None


@pytest.mark.parametrize(("loop", "hand", "make"), PAIRS)
def test_the_hand_batched_form_equals_the_loop(loop, hand, make):
    assert comparison.difference_of_calls(hand, loop, arguments_of(make, (5, 6, 7))) is None


@pytest.mark.parametrize(("loop", "hand", "make"), PAIRS)
def test_no_loop_over_elements_is_kept(loop, hand, make):
    lifted = lift(loop)
    lifted(*comparison.small_arguments(make, 6, 5, 4))
    decisions = {entry.decision for entry in lifted.report().loops}
    assert decisions
    if loop.__name__ != "square_five_times":  # its steps follow each other: keeping it is an answer too
        assert "kept" not in decisions, str(lifted.report())
    assert "def " in lifted.source


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_the_example_runs_as_a_plain_script(path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [str(path), "6"])
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out


def test_the_demo_measures_and_compares(monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLES))
    import demo

    loop, hand, make = comparison.load(EXAMPLES / "add_vectors.py").PAIRS[0]
    row = demo.compare("add_vectors", loop, hand, lambda size=50: make(size), budget=0.01)
    assert row.difference is None
    assert min(row.loop, row.hand, row.lifted) > 0
    assert demo.as_json(row)["times_hand"] == row.hand / row.lifted


def test_a_wrong_answer_is_seen():
    make = lambda: (torch.ones(3),)
    assert comparison.difference_of_calls(lambda x: x + 1e-3, lambda x: x, make)
    assert comparison.difference_of_calls(lambda x: x.double(), lambda x: x, make)
    assert comparison.difference_of_calls(lambda x: x.detach() * 2, lambda x: x * 2, make)
    assert comparison.difference_of_calls(lambda x: 1 / 0, lambda x: x, make)
    assert comparison.difference_of_calls(lambda x: x * 2, lambda x: x * 2, make) is None
