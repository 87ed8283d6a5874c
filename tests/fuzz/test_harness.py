"""The differential test itself: it accepts the loop, and notices each kind of wrong answer."""

import random

import pytest
import torch

from . import fakes
from .differential import check, difference
from .programs import program_of, write_program
from .shrink import shrink

SUM = """
import torch

def program(x, out):
    total = torch.zeros(())
    for i in range(x.shape[0]):
        total = total + x[i] ** 2
        out[i] = x[i] * 2
    return total, out

def arguments(seed):
    x = torch.arange(1.0, 4.0 + seed).requires_grad_()
    return x, torch.zeros(3 + seed)
"""

UNUSED_LEAF = """
import torch

def program(x, y):
    total = 0
    for i in range(x.shape[0]):
        if x[i] > 100:
            total = total + y[i]
        total = total + x[i]
    return total

def arguments(seed):
    return torch.arange(1.0, 4.0).requires_grad_(), torch.ones(3).requires_grad_()
"""

NOISY = """
import torch

def program(n):
    total = 0.0
    for i in range(n):
        print("at", i)
        total += torch.rand(()).item()
    return total

def arguments(seed):
    return (2 + seed,)
"""

RAISING = """
import torch

def program(x):
    for i in range(4):
        x[i] = 1 / (2 - i)
    return x

def arguments(seed):
    return (torch.zeros(4),)
"""

VIEWS = """
import torch

def program(x):
    rows = []
    for i in range(2):
        rows.append(x[i])
    return rows

def arguments(seed):
    return (torch.ones(2, 3) * seed,)
"""

LISTS = """
def program(n):
    cells = [[0] * 2] * n
    for i in range(n):
        cells[i][0] = i
    return cells

def arguments(seed):
    return (3,)
"""

SCALARS = """
import numpy as np

def program(x):
    best = x[0]
    for i in range(len(x)):
        best = max(best, x[i])
    return best

def arguments(seed):
    return (np.arange(3.0) + seed,)
"""

WRONG = {
    "values": (SUM, fakes.mapped(lambda t: t + 1e-3)),
    "dtype": (SUM, fakes.mapped(lambda t: t.double())),
    "shape": (SUM, fakes.mapped(lambda t: t[None])),
    "detached": (SUM, fakes.mapped(lambda t: t.detach())),
    "gradient": (SUM, fakes.mapped(lambda t: t + 0.5 * (t - t.detach()))),
    "zero instead of no gradient": (
        UNUSED_LEAF,
        fakes.after(lambda result, arguments: result + 0 * arguments[1].sum()),
    ),
    "mutation": (RAISING.replace("2 - i", "5 - i"), fakes.without_mutation),
    "copy instead of argument": (SUM, fakes.mapped(lambda t: t.clone())),
    "print": (NOISY, fakes.without_print),
    "generator": (NOISY, fakes.one_draw_more),
    "swallowed exception": (RAISING, fakes.swallowed),
    "other message": (RAISING, fakes.other_message),
    "partial state": (RAISING, fakes.rolled_back),
    "copies instead of views": (VIEWS, fakes.mapped(lambda t: t.clone())),
    "rows that are no longer the same": (LISTS, fakes.after(lambda result, arguments: [list(r) for r in result])),
    "python number": (SCALARS, fakes.after(lambda result, arguments: fakes.as_python_number(result))),
    "stale variant": (NOISY, fakes.stale),
}


@pytest.mark.parametrize("source", [SUM, UNUSED_LEAF, NOISY, RAISING, VIEWS, LISTS, SCALARS])
def test_the_loop_agrees_with_itself(source):
    assert difference(source, lift=fakes.unchanged) is None


@pytest.mark.parametrize("name", WRONG)
def test_each_kind_of_wrong_answer_is_noticed(name):
    source, lift = WRONG[name]
    assert difference(source, lift=lift) is not None


def test_rounding_is_not_a_difference():
    def close(function, **settings):
        return lambda x, out: tuple(t * (1 + 1e-6) if t.dim() == 0 else t for t in function(x, out))

    assert difference(SUM, lift=close) is None


def test_ill_conditioned_sums_may_differ_by_their_rounding():
    source = """
import torch

def program(x):
    total = torch.zeros(())
    for i in range(x.shape[0]):
        total = total + x[i]
    return total

def arguments(seed):
    values = torch.randn(64, generator=torch.Generator().manual_seed(seed)) * 1e4
    return (torch.cat([values, -values.flip(0)]),)
"""
    assert difference(source, lift=lambda function, **settings: lambda x: x.flip(0).sum()) is None
    assert difference(source, lift=lambda function, **settings: lambda x: x.sum() + 1.0) is not None


POWERS = """
import torch

def program(x):
    return [torch.sqrt(x[i]) for i in range(x.shape[0])]

def arguments(seed):
    return (torch.tensor([4.0, 0.0, 1.0, 9.0]).requires_grad_(),)
"""


class Scaled(torch.autograd.Function):
    """The same values, with other gradients, and the gradients of these as they are."""

    @staticmethod
    def forward(context, values, factor):
        context.factor = factor
        return values.clone()

    @staticmethod
    def backward(context, gradient):
        return gradient + (context.factor - 1) * gradient.detach(), None


def scaled(function, **settings):
    def call(x, out):
        total, out = function(x, out)
        return Scaled.apply(total, 1.01), out

    return call


def together(function, **settings):
    return lambda x: [one.clone() for one in torch.sqrt(x).unbind()]


def test_no_gradient_is_taken_for_rounding():
    assert "gradient" in (difference(SUM, lift=scaled) or "")
    assert "gradient of result" in (difference(POWERS, lift=together) or "")


NARROW_SUM = """
import torch

def program(y):
    total = torch.zeros(y.shape[0], dtype=torch.float64)
    for i in range(60):
        total = total + y
    return total

def arguments(seed):
    return (torch.ones(3, dtype=torch.bfloat16).requires_grad_(),)
"""


@pytest.mark.parametrize(("factor", "is_right"), [(1.0, True), (1.04, False), (0.93, False)])
def test_gradients_that_are_nearer_to_those_in_double_precision_are_right(factor, is_right):
    def lift(function, **settings):
        return lambda y: Scaled.apply(y, factor).double() * 60

    assert (difference(NARROW_SUM, lift=lift) is None) == is_right


def test_gradients_of_which_the_loop_has_lost_all_digits_may_differ():
    source = """
import torch

def program(x):
    steep = torch.nn.functional.normalize(x - x.clone(), dim=0).sum()
    return steep + 0.3 * x.sum() + steep

def arguments(seed):
    return (torch.tensor([1.5, 0.5 + seed]).requires_grad_(),)
"""

    def lift(share):
        return lambda function, **settings: lambda x: 0.3 * x.sum() + share * (x - x.detach()).sum()

    assert difference(source, lift=lift(-0.5)) is None
    assert difference(source, lift=lift(2.0)) is not None
    assert difference(source.replace("dim=0)", "dim=0, eps=0.1)"), lift=lift(0.1)) is not None


def test_second_gradients_that_are_noise_may_differ():
    source = """
import torch

def program(x):
    return torch.stack([torch.sqrt(x)] * 3).std()

def arguments(seed):
    return (torch.tensor(0.7 + 0.01 * seed).requires_grad_(),)
"""

    def lift(factor):
        return lambda function, **settings: lambda x: (torch.sqrt(x) * 0 + factor * x * x).sum()

    assert difference(source, lift=lift(0.0)) is None
    assert difference(source, lift=lift(1.0)) is not None


def test_random_programs_agree_with_themselves_and_few_raise():
    verdicts = [check(program_of(seed), lift=fakes.unchanged) for seed in range(150)]
    assert [v.why for v in verdicts] == [None] * 150
    assert 0.03 < sum(v.raised for v in verdicts) / 150 < 0.25


SPOILED = {
    fakes.Backwards: 0.2,
    fakes.FirstLane: 0.4,
    fakes.Forgetful: 0.25,
    fakes.Unbroken: 0.2,
    fakes.Inclusive: 0.03,
    fakes.Eager: 0.0,
}


CONCERNED = {fakes.Forgetful: "+=", fakes.Unbroken: "break"}
"""What a program has in it to be spoiled."""


@pytest.mark.parametrize("transformer", SPOILED)
def test_random_programs_notice_spoiled_loops(transformer):
    lift = fakes.rewritten(transformer)
    sources = [source for source in map(program_of, range(120)) if CONCERNED.get(transformer, "") in source]
    noticed = sum(difference(source, lift=lift) is not None for source in sources)
    assert noticed / len(sources) >= SPOILED[transformer]


def test_programs_are_repeatable():
    assert program_of(11) == program_of(11) == write_program(random.Random(11))


def test_shrinking_keeps_the_failure_and_drops_the_rest():
    wrong = fakes.rewritten(fakes.Forgetful)
    seed = next(s for s in range(400) if "+=" in program_of(s) and difference(program_of(s), lift=wrong))
    source = program_of(seed)
    smaller = shrink(source, lambda text: difference(text, lift=wrong), seconds=10)
    assert difference(smaller, lift=wrong) is not None
    assert len(smaller) < len(source)


def test_arguments_are_built_anew_with_their_sharing():
    seen = []

    def make(seed):
        base = torch.zeros(3)
        seen.append(base)
        return base[:2], base[1:]

    source = "def program(a, b):\n    for i in range(2):\n        a[i] = b[i] + 1\n    return b\n"
    assert difference(source, make, lift=fakes.unchanged) is None
    assert len(seen) == 12


LAST_BEST = """
import numpy as np
import torch

def program(x):
    best, place = None, -1
    for i in range(3):
        value = (1 / (1 + x)).sum()
        if best is None or value > best:
            best, place = value, i
    return place

def arguments(seed):
    return (torch.tensor([0.3 + seed, DIGITS]),)
"""


@pytest.mark.parametrize("library", ["torch.tensor", "np.array"])
@pytest.mark.parametrize("first, found, is_right", [(0.3, 1, True), (0.3, 7, False), (1.0, 1, False)])
def test_what_rounding_decides_may_differ_as_the_loop_itself_would(library, first, found, is_right):
    """Sums that are equal are told apart by how they are rounded; those of few digits are exact, and are not."""
    source = LAST_BEST.replace("0.3 + seed, DIGITS", f"{first}, 3.0").replace("torch.tensor", library)
    lift = lambda function, **settings: lambda x: found
    assert (difference(source, lift=lift) is None) == is_right
