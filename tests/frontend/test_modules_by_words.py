"""Modules of a dict or a ModuleDict that each iteration picks by a word."""

from typing import Any

import pytest
import torch
from tests.vectorize.harness import outcome
from torch import nn

from looplift import lift
from looplift.base.compare import difference


class Adapter(nn.Module):
    def __init__(self):
        super().__init__()
        self.down, self.up = nn.Linear(3, 2), nn.Linear(2, 3)

    def forward(self, x):
        return x + self.up(torch.relu(self.down(x)))


def known_only(x, words, adapters):
    out = []
    for k, word in enumerate(words):
        row = x[k]
        if word in adapters:
            row = adapters[word](row)
        out.append(torch.tanh(row))
    return torch.stack(out) if out else None


def all_of_them(x, words, adapters):
    total = torch.zeros(3)
    for k, word in enumerate(words):
        total = total + adapters[word](x[k]) * len(adapters)
    return total


def one_and_another(x, words, adapters):
    total = torch.zeros(3)
    for k, word in enumerate(words):
        total = total + adapters["de"](x[k]) - adapters[word](x[k])
        if word != "fr":
            total = total * 2
    return total


def one_by_one(x, words, adapters):
    out = []
    for k, word in enumerate(words):
        out.append(adapters[word](x[k]))
    return out


class Model(nn.Module):
    def __init__(self, adapters):
        super().__init__()
        self.adapters = adapters


def of_a_model(x, words, adapters):
    model, total = adapters, torch.zeros(3)
    for k, word in enumerate(words):
        total = total + (x[k] if word not in model.adapters else model.adapters[word](x[k]))
    return total


PROGRAMS = [known_only, all_of_them, one_and_another, one_by_one]
WORDS = (["de", "fr", "de", "sw"], ["fr"], ["de", "de"], ["xx", "de"], ["xx"], [], ["sw", None], ["fr", "sw", "fr"])


def adapters_of(*names, kind=nn.ModuleDict):
    torch.manual_seed(len(names))
    return kind({name: Adapter() for name in names})


def result(function, x, words, adapters):
    try:
        return function(x.clone(), words, adapters)
    except (KeyError, TypeError) as error:
        return type(error), str(error)


@pytest.mark.parametrize("kind", [nn.ModuleDict, dict], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_modules_that_words_pick(program, kind):
    lifted = lift(program, backend="torch", verify="off")
    several = [adapters_of(*names, kind=kind) for names in (("de", "fr", "sw"), ("sw", "xx", "fr", "de"), ("fr", "de"))]
    for words in WORDS:
        x = torch.randn(max(len(words), 1), 3)
        for adapters in (*several, *several[::-1]):
            wanted = result(program, x, words, adapters)
            assert difference(result(lifted, x, words, adapters), wanted, magnitude=1.0) is None, words


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
@pytest.mark.parametrize("words", [WORDS[0], WORDS[1], WORDS[2], WORDS[-1]], ids=str)
def test_gradients_are_none_where_the_loop_has_none(program, words):
    adapters = adapters_of("de", "fr", "sw")
    arguments = [torch.randn(len(words), 3), words, adapters]
    lifted = lift(program, backend="torch", verify="off")
    wanted = outcome(program, arguments, gradients=True)
    for _ in range(2):
        assert difference(outcome(lifted, arguments, gradients=True), wanted, magnitude=1.0) is None
    if program is one_by_one:
        french = next(adapters["fr"].parameters())
        (last,) = torch.autograd.grad(lifted(*arguments)[-1].sum(), [french], allow_unused=True)
        assert (last is None) == (words[-1] != "fr")


def test_they_run_together():
    for program in (known_only, all_of_them):
        lifted: Any = lift(program, backend="torch", verify="off")
        lifted(torch.randn(4, 3), WORDS[0], adapters_of("de", "fr", "sw"))
        assert [loop.decision for loop in lifted.report().loops] == ["lanes"], program.__name__


def test_those_of_a_model():
    lifted: Any = lift(of_a_model, backend="torch", verify="off")
    for words in WORDS[:-2]:
        x = torch.randn(max(len(words), 1), 3)
        for names in (("de", "fr", "sw"), ("fr",), ("xx", "de", "fr")):
            model = Model(adapters_of(*names))
            wanted = result(of_a_model, x, words, model)
            assert difference(result(lifted, x, words, model), wanted, magnitude=1.0) is None, words
    assert [loop.decision for loop in lifted.report().loops] == ["lanes"]
