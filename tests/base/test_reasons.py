"""The registry of reasons: complete, readable, with examples that are Python, and the page made from it."""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import decimal
import functools
import math
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from looplift.base.reasons import REASONS, as_markdown, reason

PAGE = Path(__file__).parents[2] / "docs" / "reasons.md"
DEFECTS = {"verification", "internal"}
WITHOUT_EXAMPLES = {*DEFECTS, "memory", "not-run", "backend", "device", "two-devices", "integer-range"}


@pytest.mark.parametrize("code", REASONS)
def test_entry_is_complete(code):
    entry = reason(code)
    assert entry.code == code == code.lower()
    assert entry.title and entry.title[0].islower() and not entry.title.endswith(".")
    assert entry.explanation.endswith(".") and entry.explanation[0] != " "
    assert entry.hint.endswith(".")
    assert not {"  ", "\n"} & {entry.explanation, entry.hint}


@pytest.mark.parametrize("code", sorted(set(REASONS) - WITHOUT_EXAMPLES))
def test_examples_are_python_and_differ(code):
    entry = reason(code)
    ast.parse(entry.refused)
    ast.parse(entry.lifted)
    assert entry.refused != entry.lifted


@pytest.mark.parametrize("code", sorted(DEFECTS))
def test_a_defect_asks_for_no_change_of_the_loop(code):
    assert reason(code).refused == reason(code).lifted == ""
    assert "please report it" in reason(code).hint


def test_unknown_code():
    with pytest.raises(KeyError, match="no reason has the code 'nonsense'"):
        reason("nonsense")


def test_entries_are_immutable():
    with pytest.raises(dataclasses.FrozenInstanceError):
        reason("carried").title = "other"  # pyright: ignore


def test_the_page_agrees_with_the_registry():
    assert PAGE.read_text(encoding="utf-8") == as_markdown(), "make it again; the page says how"


def names():
    """What the examples speak of."""
    generator = torch.Generator().manual_seed(1)
    model = torch.nn.Linear(4, 4)
    return {
        "torch": torch,
        "math": math,
        "n": 4,
        "x": torch.rand(4, generator=generator),
        "y": torch.rand(4, generator=generator),
        "out": torch.zeros(4),
        "m": 3 * torch.eye(4) + torch.rand(4, 4, generator=generator),
        "rows": torch.zeros(4, 4),
        "index": torch.tensor([0, 2, 2, 1]),
        "other": torch.tensor([3, 0, 0, 1]),
        "values": [0.5, 1.5, 2.5, 3.5],
        "h": 0.0,
        "v": 1.0,
        "found": [],
        "total": 0.0,
        "model": model,
        "optimizer": torch.optim.SGD(model.parameters(), lr=0.1),
        "c_extension": SimpleNamespace(score=functools.cache(math.exp)),
        "open_file": iter(["1.0", "2.0"]),
        "decimals": [decimal.Decimal(k) for k in range(4)],
        "parent": [0, 0, 0, 1],
        "level": [0, 0, 0, 0],
        "stop_requested": lambda: True,
        "lift": lambda **_: lambda function: function,
    }


VECTORS = {("carried", "refused"), ("while-condition", "refused")}
RAISES = {("requirement", "refused"): ZeroDivisionError}


@pytest.mark.parametrize("which", ["refused", "lifted"])
@pytest.mark.parametrize("code", sorted(set(REASONS) - WITHOUT_EXAMPLES))
def test_examples_run(code, which):
    scope = names()
    if (code, which) in VECTORS:
        scope["h"] = torch.ones(4)
    raised = RAISES.get((code, which))
    with pytest.raises(raised) if raised else contextlib.nullcontext():
        exec(getattr(reason(code), which), scope)
