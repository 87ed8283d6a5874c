"""The translation: names, paths, guards, inlining, and what it refuses, with the line."""

import inspect

import pytest
import torch

from looplift.base.errors import NotLiftable
from looplift.frontend.calls import outer_names
from looplift.frontend.source import source_of
from looplift.frontend.translate import LENGTHENING, translate
from looplift.ir import growing
from looplift.ir.grammar import Const, If, Let, Loop, While, definitions, walk
from looplift.ir.spec import check


def translated(function, *arguments, live_out=()):
    outer = {k: v for k, v in outer_names(function).items() if k not in function.__code__.co_varnames}
    values = outer | inspect.signature(function).bind(*arguments).arguments
    source = source_of(function)
    made = translate(source.tree.body, values, list(live_out), file=source.file, name=function.__name__)
    check(made)
    return made


def operations(made):
    return [statement.op.name for statement in walk(made.body) if isinstance(statement, Let)]


def only(made, kind):
    (found,) = (statement for statement in walk(made.body) if isinstance(statement, kind))
    return found


# ---------------------------------------------------------------- shape of the result


def summed(x):
    total = 0
    for i in range(3):
        total = total + x[i]
    return total


def test_a_loop_with_a_carry():
    loop = only(translated(summed, torch.ones(3)), Loop)
    (carry,) = loop.carries
    assert carry.hint == "total" and carry.init.value == 0
    assert loop.index.hint == "i" and loop.domain.hi.value == 3 and loop.stop is None


def test_live_outs_are_results_under_their_names():
    def region(x):
        for i in range(3):
            last = x[i]  # noqa: F841

    made = translated(region, torch.ones(3), live_out=["last", "i"])
    assert [name for name, _ in made.results] == ["last", "i"]


def test_results_and_parameters_are_only_what_is_used():
    def region(x, unused):
        for i in range(3):
            x[i] = 0

    made = translated(region, torch.ones(3), 5)
    assert [var.name for var in made.params] == ["x"] and made.results == ()
    assert only(made, Loop).carries == ()


def test_every_variable_starts_with_the_authors_name():
    hints = {var.hint for statement in walk(translated(summed, torch.ones(3)).body) for var in definitions(statement)}
    assert {"total", "i"} <= hints


def test_spans_are_lines_of_the_file():
    first = inspect.getsourcelines(summed)[1]
    loop = only(translated(summed, torch.ones(3)), Loop)
    assert loop.span.line == first + 2
    assert {statement.span.line for statement in loop.body} == {first + 3}


def test_a_while_loop_computes_its_condition():
    def halved(x):
        while x > 1:
            x = x / 2
        return x

    loop = only(translated(halved, 8.0), Loop)
    assert isinstance(loop.domain, While) and loop.index is None
    assert [statement.op.name for statement in loop.domain.block] == ["gt"]


def test_break_is_a_stop_flag():
    def found(x):
        for i in range(3):
            if x[i] > 1:
                break
        return i

    assert only(translated(found, [1, 2, 3]), Loop).stop is not None


# ---------------------------------------------------------------- what is known before the loop


def test_flags_are_constants_with_a_guard():
    def scaled(x, double):
        for i in range(3):
            x[i] = x[i] * 2 if double else x[i]
        return x

    made = translated(scaled, torch.ones(3), True)
    assert not any(isinstance(statement, If) for statement in walk(made.body))
    assert made.attributes["guards"] == [("double", True)]


class Layered(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(2, 2)
        self.scale = torch.nn.Parameter(torch.ones(()))

    def forward(self, x):
        return self.inner(x) * self.scale


def test_modules_are_inlined_to_those_of_torch():
    def applied(layers, x):
        out = []
        for row in x:
            out.append(layers(row))
        return out

    layers = Layered()
    made = translated(applied, layers, torch.ones(3, 2))
    assert "module" in operations(made)
    assert set(made.attributes["paths"].values()) == {"x", "layers.scale"}
    assert made.attributes["modules"]["layers.inner"] is layers.inner


def test_module_with_hooks_is_refused():
    layers = Layered()
    layers.register_forward_hook(lambda *_: None)

    def applied(layers, x):
        for row in x:
            layers(row)

    with pytest.raises(NotLiftable, match="hooks") as refusal:
        translated(applied, layers, torch.ones(3, 2))
    assert refusal.value.code == "unknown-call"


def test_constants_are_folded():
    def folded(x):
        for i in range(2 * 3 - 1):
            x[i] = -1 + 2
        return x

    made = translated(folded, torch.ones(5))
    assert operations(made) == [] and isinstance(only(made, Loop).domain.hi, Const)


# ---------------------------------------------------------------- refusals


def recursive(n):
    return 1 if n == 0 else n * recursive(n - 1)


def generator(n):
    yield n


def with_try(x):
    for i in range(3):
        try:
            x[i] = 1
        finally:
            pass


def with_attribute(x):
    for i in range(3):
        x.mark = i


def with_recursion(x):
    for i in range(3):
        x[i] = recursive(i)


def with_generator(x):
    for i in range(3):
        x[i] = sum(generator(i))


def with_return_and_more(x):
    for i in range(3):
        if x[i] > 2:
            return 1
    x[0] = 5


REFUSALS = {
    with_try: "exception-handling",
    with_attribute: "effect-order",
    with_recursion: "recursion",
    with_generator: "unknown-call",
    with_return_and_more: "unsupported-syntax",
}


@pytest.mark.parametrize("function", REFUSALS, ids=lambda function: function.__name__)
def test_what_is_outside_of_the_grammar_is_refused_with_its_line(function):
    with pytest.raises(NotLiftable) as refusal:
        translated(function, torch.ones(3))
    assert refusal.value.code == REFUSALS[function]
    lines, first = inspect.getsourcelines(function)
    assert first < refusal.value.span.line < first + len(lines)


def test_all_that_lengthens_a_tensor_is_looked_for():
    assert {name.rpartition(".")[2] for name in growing.JOINS} <= LENGTHENING
