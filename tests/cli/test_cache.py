"""``looplift cache``."""

from __future__ import annotations

import os
import time

import pytest
import torch
from typer.testing import CliRunner

from looplift import lift
from looplift.build import cache
from looplift.cli.main import app


def smoothed(x):
    out = torch.zeros_like(x)
    state = 0.0
    for i in range(x.shape[0]):
        state = 0.5 * state + x[i].item() ** 2
        out[i] = state
    return out


@pytest.fixture
def folder(tmp_path, monkeypatch):
    lift(smoothed, backend="native")(torch.ones(3))  # what a process compiles once lies elsewhere
    monkeypatch.setenv("LOOPLIFT_CACHE", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(app, ["cache", *arguments])


def test_kernels_are_listed_and_removed(folder):
    lifted, x = lift(smoothed, backend="native"), torch.linspace(0, 1, 5, dtype=torch.float64)
    torch.testing.assert_close(lifted(x), smoothed(x))
    (entry,) = cache.entries()
    assert "smoothed" in entry.name
    shown = run()
    assert shown.exit_code == 0
    assert "1 kernel," in shown.output
    assert "smoothed" in shown.output
    removed = run("--clear")
    assert removed.exit_code == 0
    assert "removed 1 kernel" in removed.output
    assert not list(folder.glob("kernel-*"))
    torch.testing.assert_close(lifted(x), smoothed(x))  # what is loaded stays
    torch.testing.assert_close(lift(smoothed, backend="native")(x), smoothed(x))
    assert len(cache.entries()) == 1


def test_only_older_kernels_are_removed(folder):
    for name, age in (("old", 10), ("new", 1)):
        for suffix in ("so", "cpp"):
            path = folder / f"kernel-{name}.{suffix}"
            path.write_text("text")
            made = time.time() - age * 86400
            os.utime(path, (made, made))
    left_over = folder / "build-gone"
    left_over.mkdir()
    os.utime(left_over, (0, 0))
    assert "removed 1 kernel, 8 bytes" in run("--clear", "--older-than", "5").output
    assert sorted(path.name for path in folder.iterdir()) == ["kernel-new.cpp", "kernel-new.so"]


def test_a_cache_that_is_not_there_is_empty(folder, monkeypatch):
    monkeypatch.setenv("LOOPLIFT_CACHE", str(folder / "nowhere"))
    assert "0 kernels, 0 bytes" in run().output
    assert run("--clear").exit_code == 0


def test_a_number_of_days_below_zero_is_refused(folder):
    assert run("--clear", "--older-than", "-1").exit_code == 2
