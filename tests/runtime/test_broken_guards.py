"""Guards that are asked of the very values that batched code was made for."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from looplift.runtime.entry import broken_guard


@pytest.mark.parametrize(
    ("guards", "broken"),
    [
        (["x == 1", "y.real == 2"], None),
        (["x == 1", "y.real == 3"], "y.real == 3"),
        (["x == 1", "y.missing is None"], "y.missing is None"),
        (["x / z == 0", "y.real == 3"], "x / z == 0"),
    ],
)
def test_a_guard_that_raises_is_broken(guards, broken):
    program, code = SimpleNamespace(namespace={"z": 0}), SimpleNamespace(namespace={"y": 2}, guards=guards)
    assert broken_guard(program, {"x": 1}, code) == broken
