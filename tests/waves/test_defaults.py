"""Defaults and forms of parameters of recursive functions."""

from typing import Any

import pytest
import torch

from looplift import lift


class Node:
    def __init__(self, value, children=()):
        self.value, self.children = value, children


def summed(node, factor=2.0, *, shift=1.0):
    h = torch.tanh(node.value) * factor + shift
    for child in node.children:
        h = h + summed(child)
    return h


def region(node):
    return summed(node)


def by_place(node, factor=2.0, *, shift=1.0):
    h = torch.tanh(node.value) * factor + shift
    for child in node.children:
        h = h + by_place(child, 3.0, 4.0)  # pyright: ignore[reportCallIssue]
    return h


def by_name(node, factor=2.0, /):
    h = torch.tanh(node.value) * factor
    for child in node.children:
        h = h + by_name(child, factor=3.0)  # pyright: ignore[reportCallIssue]
    return h


def tree():
    made = [Node(torch.full((3,), float(k))) for k in range(4)]
    return Node(torch.ones(3), [made[0], Node(torch.zeros(3), made[1:])])


def test_defaults_that_are_replaced():
    run: Any = lift(region, verify="off")
    defaults, named = summed.__defaults__, summed.__kwdefaults__
    try:
        torch.testing.assert_close(run(tree()), region(tree()))
        assert run.report().loops[0].decision == "waves"
        for factor in (3.0, 3, torch.tensor(4.0)):
            summed.__defaults__ = (factor,)
            torch.testing.assert_close(run(tree()), region(tree()))
        summed.__kwdefaults__ = {"shift": -1.0}
        torch.testing.assert_close(run(tree()), region(tree()))
    finally:
        summed.__defaults__, summed.__kwdefaults__ = defaults, named


@pytest.mark.parametrize("function", [by_place, by_name])
def test_arguments_that_do_not_fit_raise(function):
    run: Any = lift(function, verify="off")
    with pytest.raises(TypeError, match=f"{function.__name__}.. "):
        run(tree())
