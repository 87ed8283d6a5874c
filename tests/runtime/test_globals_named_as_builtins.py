"""Globals by names of builtins, which come before a function is lifted or later: what is generated has its own."""

import importlib.util
import sys

import pytest
import torch

import looplift
from looplift.runtime.entry import _renamed
from looplift.runtime.guards import Writer

TEXT = """
import torch


def rows(x):
    out = torch.zeros(x.shape[0])
    for i in range(x.shape[0]):
        total = 0.0
        for j in range(x.shape[1]):
            if x[i, j] > 0:
                total = total + x[i, j] * 2
        out[i] = total
    return out


def running(x):
    state = torch.zeros(())
    for i in range(x.shape[0]):
        state = state * 0.5 + x[i].sum()
    return state


def picked(x, places):
    out = torch.zeros(x.shape[0])
    for i in range(x.shape[0]):
        out[i] = x[i, places[i]]
    return out


def looked_up(keys, table):
    found = 0
    for key in keys:
        found += table.get(key, 0)
    return found
"""
X = torch.arange(12.0).reshape(3, 4) - 5
CALLS = [
    ("rows", X), ("rows", X.double()), ("running", X), ("picked", X, torch.tensor([0, 3, 1])),
    ("picked", X, torch.tensor([0, 4, 1])), ("rows", X[0]), ("rows", [1]), ("looked_up", [1, 2], {1: 2}),
    ("looked_up", [1, 2, 3], {1: 2, 3: 4}), ("looked_up", [1], [2]),
]  # fmt: skip


class Called(BaseException):
    """The global of the user was called."""


def called(*arguments):
    raise Called


def outcomes(path, name, change, *, early):
    spec = importlib.util.spec_from_file_location("named_as_builtins", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["named_as_builtins"] = module
    spec.loader.exec_module(module)
    functions = {one: change(getattr(module, one)) for one in ("rows", "running", "picked", "looked_up")}
    found = []
    for is_there in (early, True, True):
        if is_there:
            setattr(module, name, called)
        for one, *given in CALLS:
            try:
                found.append(functions[one](*given))
            except (TypeError, IndexError, AttributeError) as error:
                found.append(type(error))
    return found


@pytest.mark.parametrize("early", [False, True], ids=["later", "before"])
@pytest.mark.parametrize("backend", ["auto", "native", "torch"])
@pytest.mark.parametrize("name", ["Exception", "max", "min", "list", "map", "type", "bool", "set", "abs", "tuple"])
def test_they_are_not_called(tmp_path, name, backend, early):
    path = tmp_path / f"named_as_{name}.py"
    path.write_text(TEXT)
    want = outcomes(path, name, lambda function: function, early=early)
    got = outcomes(path, name, lambda function: looplift.lift(function, backend=backend, verify="off"), early=early)
    for one, other in zip(want, got, strict=True):
        if isinstance(one, torch.Tensor):
            torch.testing.assert_close(other, one)
        else:
            assert other == one


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("len(x) == 3", "W(x) == 3"),
        ("x == 'the len of' and len(x)", "x == 'the len of' and W(x)"),
        ('x["len"] == len(x)', 'x["len"] == W(x)'),
        ("f(len=1) and x.len and len==1", "f(len=1) and x.len and W==1"),
        ("lens(x, lens=1, b='it\\'s len')", "lens(x, lens=1, b='it\\'s len')"),
    ],
)
def test_names_that_stand_for_values_alone_are_renamed(text, expected):
    writer = Writer()
    assert _renamed(text, writer, {"len": len}).replace(writer.constant(len), "W") == expected
