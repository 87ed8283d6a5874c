"""The text of a function is the one that it was made from, also where its file was changed and read again."""

from __future__ import annotations

import importlib
import sys

import pytest
import torch

import looplift
from looplift.frontend.source import is_same

TEXT = """
import torch


def combined(x, y):
    out = torch.zeros_like(x)
    for i in range(len(x)):
        out[i] = x[i] + y[i]
    return out


class Pair:
    def __init__(self, a, b):
        self.a, self.b = a, b

    def value(self):
        return self.a + self.b


def values(pairs):
    out = []
    for pair in pairs:
        out.append(pair.value())
    return out
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    (tmp_path / "a_module_that_changes.py").write_text(TEXT)
    found = importlib.import_module("a_module_that_changes")
    yield found
    del sys.modules["a_module_that_changes"]


def of_values(module):
    return looplift.lift(module.values)([module.Pair(k, 3) for k in range(4)])


def test_a_module_that_is_loaded_again(module, tmp_path):
    x, y = torch.arange(4.0), torch.ones(4)
    assert torch.equal(looplift.lift(module.combined)(x, y), x + y) and of_values(module) == [3, 4, 5, 6]
    (tmp_path / "a_module_that_changes.py").write_text(TEXT.replace(" + ", "  -  "))
    importlib.reload(module)
    assert torch.equal(looplift.lift(module.combined)(x, y), x - y) and of_values(module) == [-3, -2, -1, 0]


def test_a_file_that_is_changed_behind_a_module(module, tmp_path):
    x, y = torch.arange(4.0), torch.ones(4)
    (tmp_path / "a_module_that_changes.py").write_text(TEXT.replace(" + ", "  -  "))
    lifted = looplift.lift(module.combined)
    assert torch.equal(lifted(x, y), x + y) and of_values(module) == [3, 4, 5, 6]
    assert "changed since it was loaded" in str(lifted.report())


def code(text):
    names = {"torch": torch}
    exec(text, names)
    return names["f"].__code__


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("return torch.exp(x * 2.0) - 3.0 * 2.0", "return torch.exp(x * 2.0) - 3.0 * 3.0"),
        ("return torch.exp(x) - y", "return torch.exp(y) - x"),
        ("if x: torch.exp(x); y.add(1)", "if x: torch.exp(x)\n y.add(1)"),
        ("return [torch.exp(a) for a in x]", "return [-torch.exp(a) for a in x]"),
        ("return torch.exp(x) + True", "return torch.exp(x) + 1"),
        ("return torch.exp(x) + 1", "return torch.exp(x) + 1.0"),
        ("for a in x: torch.exp(a); print(a)", "for a in x: torch.exp(a)\n print(a)"),
        (
            "try:\n  a = torch.exp(x)\n  b = y.add(a)\n except ValueError: return None\n return b",
            "try:\n  a = torch.exp(x)\n except ValueError: return None\n else:\n  b = y.add(a)\n return b",
        ),
    ],
)
def test_codes_are_told_apart(one, other):
    first, second = (code(f"def f(x, y):\n {text}") for text in (one, other))
    imported = code(f"import torch\ndef f(x, y):\n {one}")
    assert is_same(first, imported) and is_same(imported, first)
    assert not is_same(first, second) and not is_same(imported, second)


def test_signatures_are_told_apart():
    codes = [code(f"def f({given}):\n return a + b") for given in ("a, b", "a, *, b", "a, *b", "a, **b", "a, /, b")]
    assert all(is_same(one, other) == (one is other) for one in codes for other in codes)


def test_annotations_of_inner_functions_are_not_evaluated(tmp_path):
    text = """
from __future__ import annotations

import torch


def doubled(x: Vector) -> Vector:
    def inner(a: Vector, b: Vector = None) -> Vector:
        return a * 2

    out = torch.zeros_like(x)
    for i in range(len(x)):
        out[i] = inner(x[i])
    return out
"""
    names = {}
    (tmp_path / "annotated.py").write_text(text)
    exec(compile(text, str(tmp_path / "annotated.py"), "exec", dont_inherit=True), names)
    lifted, x = looplift.lift(names["doubled"]), torch.arange(4.0)
    assert torch.equal(lifted(x), 2 * x) and "kept" not in [loop.decision for loop in lifted.report().loops]
