"""What a loop over strings may do between its lookups, and what callers may give it later. The loop is the oracle."""

import pytest
import torch
from tests.frontend.oracle import outcome

from looplift import lift
from looplift.base.compare import difference

WORDS = "the cat sat on the mat and the dog sat too".split()
X = torch.linspace(-2, 2, 30, dtype=torch.float64)
VECTORS = {word: X[:3] * (place + 1) for place, word in enumerate(dict.fromkeys(WORDS))}


def prefix_that_changes(words, size, x):
    total = x[0] * 0
    for i in range(len(words)):
        if words[i][:size] == "the"[:size]:
            total = total + x[i]
        size = 2
    return total


size = 7


def prefix_by_a_local(words, x):
    total = x[0] * 0
    for i, w in enumerate(words):
        size = i % 4
        if w[:size] == "the":
            total = total + x[i]
    return total


def default_that_is_drawn(words, vectors):
    total = torch.zeros(3, dtype=torch.float64)
    for w in words:
        total = total + vectors.get(w, torch.rand(3, dtype=torch.float64))
    return total, torch.rand(())


def default_that_may_raise(words, numbers, x):
    total = x[0] * 0
    for i, w in enumerate(words):
        total = total + x[i] * numbers.get(w, x[i + 26])
    return total


def default_of_a_list(words, numbers, defaults):
    total = 0.0
    for i, w in enumerate(words):
        total = total + numbers.get(w, defaults[i])
    return total


def default_by_division(words, numbers, x):
    total = 0.0
    for w in words:
        total = total + numbers.get(w, 1 / x)
    return total


def unknown_ones(words, vectors):
    total = torch.zeros(3, dtype=torch.float64)
    for w in words:
        total = total + vectors.get(w, vectors["<unk>"])
    return total


def pairs(words, numbers, x):
    total = x[0] * 0
    for i, w in enumerate(words):
        a, b = numbers[w]
        total = total + a * x[i] + b
    return total


def lowered(words, x):
    total = x[0] * 0
    for i, w in enumerate(words):
        if w.lower() == "the":
            total = total + x[i]
    return total


def shadowed(words, type, x, one):
    total = x[0] * 0
    for i, w in enumerate(words):
        if w == type or w in one:
            total = total + x[i] * one["the"]
    return total


class Article(str):
    def lower(self):
        return "the"


NUMBERS = {word: float(place) for place, word in enumerate(WORDS)}
PAIRS = {"a": (1.0, 2.0), "b": (3.0, 4.0)}

CASES = [
    (prefix_that_changes, [(WORDS, 1, X), (WORDS, 3, X), (["them", "thx"], 3, X)]),
    (prefix_by_a_local, [(WORDS, X), (["them"] * 9, X)]),
    (default_that_is_drawn, [(WORDS, VECTORS), (["q", "the"], VECTORS)]),
    (default_that_may_raise, [(WORDS[:4], NUMBERS, X), (WORDS, NUMBERS, X)]),
    (default_of_a_list, [(WORDS[:2], NUMBERS, [1.0, 2.0]), (WORDS, NUMBERS, [1.0, 2.0])]),
    (default_by_division, [(WORDS, NUMBERS, 2.0), (WORDS, NUMBERS, 0.0)]),
    (unknown_ones, [(WORDS, VECTORS | {"<unk>": X[:3]}), (WORDS, VECTORS), ([], VECTORS)]),
    (
        pairs,
        [
            (["a", "b"], PAIRS, X), (["a", "b"], {"a": (1.0, 2.0, 3.0), "b": (1.0, 2.0, 3.0)}, X),
            (["a", "b"], PAIRS | {"b": (1.0, 2.0, 3.0)}, X), (["a", "b"], PAIRS | {"b": [1.0, 2.0]}, X),
        ],
    ),
    (lowered, [(WORDS, X), (["a", Article("a")], X), ([Article("a"), "a"], X), (["THE", None], X)]),
    (shadowed, [(WORDS, "cat", X, {"the": 2.0}), (WORDS, "the", X, {"the": 3.0, "mat": 1.0})]),
]  # fmt: skip


@pytest.mark.parametrize(("fn", "calls"), CASES)
@pytest.mark.parametrize("backend", ["auto", "torch"])
def test_later_calls_are_as_in_the_loop(fn, calls, backend):
    lifted = lift(fn, verify="off", backend=backend)
    for arguments in [*calls, *calls]:
        torch.manual_seed(0)
        found = outcome(lifted, arguments)
        torch.manual_seed(0)
        assert difference(found, outcome(fn, arguments)) is None
