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
        ("a, b = map(f, (x, y))", "[f(_given_0) for _given_0 in (x, y)]"),
        ("a, b = map(math.radians, [x, 1.5])", "[math.radians(_given_0) for _given_0 in [x, 1.5]]"),
        ("a, b = map(f, (1.5, 2))", "(f(1.5), f(2))"),
        ("a, b = map(lambda v, w: v + w, (x, y), (y, x))", "(x + y, y + x)"),
        ("a, b = map(lambda v: f(v), (x, y))", "[f(_given_0) for _given_0 in (x, y)]"),
        ("a, b = map(lambda v: v * k + v, (x, y))", "(x * k + x, y * k + y)"),
        ("[a, b] = map(f, xs)", "[f(_given_0) for _given_0 in xs]"),
        ("a, b = map(lambda v: v * k, xs[i])", "[_given_0 * k for _given_0 in xs[i]]"),
        ("a, b = map(f, (x[i], y[i]))", "[f(_given_0) for _given_0 in (x[i], y[i])]"),
        ("a, b = (f(v) for v in xs)", "[f(v) for v in xs]"),
        ("a, b = (f(v) for v in (x, y))", "[f(v) for v in (x, y)]"),
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
        "a, b = c, d = map(f, xs)",
        "a, b = c, d = (f(v) for v in xs)",
        "a, b = map(pow, (x, y), (y, x))",
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
