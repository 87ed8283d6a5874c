"""Regions that run as written, briefly and often, are asked few questions; other arguments are what they were."""

import pytest
import torch

from looplift import lift
from looplift.runtime import dispatch, hot


def total(values, shift):
    """Kept for lists that hold an object of which nothing is known, lifted for others."""
    found = 0.0
    for k in range(len(values)):
        found = found + values[k] * 2 + shift
    return found


class Half:
    def __mul__(self, other):
        return 0.5 * other


@pytest.fixture
def questions(monkeypatch):
    """What stands in front of all guards, each time that an entry is made."""
    seen = []
    install = dispatch.Dispatcher.install

    def noted(self):
        seen.append([*self.hot])
        install(self)

    monkeypatch.setattr(dispatch.Dispatcher, "install", noted)
    monkeypatch.setattr(hot, "OFTEN", 5)
    return seen


def test_calls_that_are_let_through(questions, monkeypatch):
    monkeypatch.setattr(hot, "BRIEF", 60.0)
    lifted = lift(total, verify="off")
    for k in range(12):
        given = [Half(), float(k)]
        assert lifted(given, 1.0) == total(given, 1.0)
    assert len(questions[-1]) == 1 and "<= 5" in questions[-1][0]
    with pytest.raises(TypeError):
        lifted([1.0, None], 1.0)
    assert type(lifted([1, 2], 1)) is float and lifted([], 2.0) == 0.0
    x = torch.rand(40, requires_grad=True)
    got = lifted(x, 1.0)
    torch.testing.assert_close(got, total(x, 1.0))
    assert any(loop.decision != "kept" for loop in lifted.report().loops), lifted.report()


def test_long_calls_are_not(questions, monkeypatch):
    monkeypatch.setattr(hot, "BRIEF", 0.0)
    lifted = lift(total, verify="off")
    for _ in range(12):
        assert lifted([Half(), 2.0], 1.0) == total([Half(), 2.0], 1.0)
    assert not any(questions)
