"""Iterators that are unpacked where they are made."""

import ast
import builtins

import pytest

from looplift.base.unpacked import unpacked


def text_of(statement: str, known=frozenset(("map",))) -> str:
    (node,) = ast.parse(statement).body
    return ast.unparse(unpacked(node.targets, node.value, lambda name: name in known))


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        ("a, b = map(f, (x, y))", "(f(x), f(y))"),
        ("a, b = map(math.radians, [x, 1.5])", "(math.radians(x), math.radians(1.5))"),
        ("a, b = map(pow, (x, y), (y, x))", "(pow(x, y), pow(y, x))"),
        ("a, b = map(lambda v: v * k + v, (x, y))", "(x * k + x, y * k + y)"),
        ("[a, b] = map(f, xs)", "[f(_given_0) for _given_0 in xs]"),
        ("a, b = map(lambda v: v * k, xs[i])", "[_given_0 * k for _given_0 in xs[i]]"),
        ("a, b = map(f, (x[i], y[i]))", "[f(_given_0) for _given_0 in (x[i], y[i])]"),
        ("a, b = (f(v) for v in xs)", "[f(v) for v in xs]"),
        ("a, b = (f(v) for v in (x, y))", "(f(x), f(y))"),
        ("a, b = [d[k] for k in ('a', 'b')]", "(d['a'], d['b'])"),
    ],
)
def test_items_are_the_same_as_those_of_a_list(statement, text):
    assert text_of(statement) == text


@pytest.mark.parametrize(
    "statement",
    [
        "a = map(f, xs)",
        "a, b = c = map(f, xs)",
        "a, b = map(f, *xs)",
        "a, b = map(g(), xs)",
        "a, b = map(lambda v, w=1: v + w, xs)",
        "a, b = map(lambda v: [v for v in v], xs)",
        "a, b = map(f, xs, ys)",
        "a, b = zip(x, y)",
        "a, b = [d[k] for k in ks]",
        "a, b = [d[k] for k in (x, y) if k]",
        "a, b = [[k for k in k] for k in (x, y)]",
        "c = [d[k] for k in ('a', 'b')]",
    ],
)
def test_what_may_be_seen_by_others_stays(statement):
    (node,) = ast.parse(statement).body
    assert unpacked(node.targets, node.value, lambda name: hasattr(builtins, name)) is node.value


def test_a_function_of_that_name_stays():
    (node,) = ast.parse("a, b = map(f, (x, y))").body
    assert unpacked(node.targets, node.value, lambda name: False) is node.value
