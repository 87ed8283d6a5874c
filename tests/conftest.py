"""The same random numbers in every run: those that modules draw when they are imported, and those of each test.

Programs are compiled once, as well as can be, and nothing is compiled behind a test's back or remembered from another.
"""

import os
import random
import sys
from collections.abc import Iterator

import numpy as np
import pytest
import torch

os.environ.setdefault("LOOPLIFT_BACKGROUND", "0")
os.environ.setdefault("LOOPLIFT_REMEMBER", "0")


def _seed() -> None:
    torch.manual_seed(1)
    np.random.seed(1)
    random.seed(1)


_seed()


@pytest.fixture(autouse=True)
def same_random_numbers() -> None:
    _seed()


@pytest.fixture(autouse=True)
def no_defects_behind_fallbacks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What looplift refuses for an error of its own, as a text that the compiler does not take, is a defect, though
    the loop still runs."""
    from looplift.base.errors import NotLiftable

    found, begin = [], NotLiftable.__init__

    def noted(self, code, *more):
        caller = sys._getframe(1).f_code
        ran = caller.co_name == "_failed"  # what the loop raises, too
        found.extend([more] if code == "internal" and not ran and "tests" not in caller.co_filename else [])
        begin(self, code, *more)

    monkeypatch.setattr(NotLiftable, "__init__", noted)
    yield
    assert request.node.get_closest_marker("internal") or not found


@pytest.fixture
def no_programs_over_tensors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs know numbers, text and containers of those alone, so that other forms run what has tensors."""
    from looplift.base.errors import NotLiftable
    from looplift.emit import typed

    whole = typed.typed_program

    def without_tensors(*arguments, **keywords):
        found = whole(*arguments, **keywords)
        if found.tensors:
            raise NotLiftable("unsupported-value", "no tensors here")
        return found

    monkeypatch.setattr(typed, "typed_program", without_tensors)
