"""``looplift build file.py:function``: programs and kernels that run without their source and without a compiler."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
import torch

import looplift
from looplift.cli.build import build_target

MODULE = """
import torch
import looplift

def alignment(x, y):
    n, m = x.shape[0], y.shape[0]
    table = torch.full((n + 1, m + 1), float("inf"), dtype=x.dtype)
    table[0, 0] = 0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            table[i, j] = abs(x[i - 1] - y[j - 1]) + min(table[i - 1, j], table[i, j - 1], table[i - 1, j - 1])
    return table[n, m]

def scaled(rows, weight, factor):
    out = torch.zeros(len(rows))
    for k in range(len(rows)):
        out[k] = (rows[k] * weight).sum() * factor
    return out

twice = looplift.op(
    "twice", "void twice(const float* x, float* y, int64_t n) { while (n--) *y++ = 2 * *x++; }",
    signature="(float32[n]) -> float32[n]",
)

def of_an_operator(rows):
    return torch.stack([twice(row) for row in rows])

def number(x):
    total = 0.0
    for i in range(len(x)):
        total += float(x[i])
    return total

def changed(x):
    for i in range(len(x)):
        x[i] = 2 * x[i]

def example_inputs():
    return torch.randn(6), torch.randn(4)
"""


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "loops.py"
    path.write_text(MODULE)
    return path


def load_without_a_compiler(file, values, folder):
    torch.save(values, folder / "values.pt")
    program = """
import sys, torch, looplift
arguments = torch.load(sys.argv[2])
torch.save(looplift.load(sys.argv[1])(*arguments), sys.argv[2])
"""
    environment = os.environ | {"PATH": "", "CXX": "", "LOOPLIFT_CACHE": str(folder / "empty")}
    command = [sys.executable, "-c", program, str(file), str(folder / "values.pt")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return torch.load(folder / "values.pt")


@pytest.mark.parametrize(
    ("name", "arguments", "values"),
    [
        ("alignment", None, (torch.randn(9), torch.randn(5))),
        ("of_an_operator", "torch.randn(4, 3)", (torch.randn(7, 5),)),
    ],
)
def test_kernels_lie_beside_the_program(file, tmp_path, capsys, name, arguments, values):
    output = tmp_path / "built"
    assert build_target(f"{file}:{name}", output, arguments, fixed=False) == 0
    printed = capsys.readouterr().out
    assert f"{name}.pt2: {name}(float32[n0" in printed and "for machines like this one" in printed
    assert list(output.glob("kernel-*.so"))
    names: dict = {}
    exec(MODULE, names)
    file.unlink()
    torch.testing.assert_close(load_without_a_compiler(output / f"{name}.pt2", values, tmp_path), names[name](*values))


def test_numbers_are_part_of_the_program(file, tmp_path, capsys):
    target = f"{file}:scaled"
    assert build_target(target, tmp_path / "out", "torch.randn(4, 3), torch.randn(3), 2.0", fixed=True) == 0
    assert "scaled(float32[4, 3], float32[3], 2.0)" in capsys.readouterr().out
    rows, weight = torch.randn(4, 3), torch.randn(3)
    found = looplift.load(tmp_path / "out" / "scaled.pt2")(rows, weight, 2.0)
    torch.testing.assert_close(found, 2 * rows @ weight)


@pytest.mark.parametrize(
    ("name", "arguments", "status", "text"),
    [
        ("number", "torch.randn(4)", 1, "the loop is traced as written, step by step"),
        ("scaled", "torch.randn(4, 3)", 1, "missing 2 required positional arguments"),
        ("scaled", "[1, 2]", 2, "no argument has a tensor"),
        ("scaled", "torch.randn(2), object()", 2, "argument 1 has a object: programs take tensors"),
        ("scaled", "torch.randn(", 2, "--args: SyntaxError"),
        ("scaled", "undefined", 2, "--args: NameError"),
        ("nothing", None, 2, "has no 'nothing'"),
    ],
)
def test_what_cannot_be_built(file, tmp_path, capsys, name, arguments, status, text):
    assert build_target(f"{file}:{name}", tmp_path / "out", arguments, fixed=False) == status
    assert text in capsys.readouterr().err
    assert not list((tmp_path / "out").glob("*.pt2"))


def test_a_file_without_examples(file, tmp_path, capsys):
    file.write_text(MODULE.replace("example_inputs", "other"))
    assert build_target(f"{file}:alignment", tmp_path / "out", None, fixed=False) == 2
    assert "makes no arguments" in capsys.readouterr().err


def test_writes_into_arguments(file, tmp_path):
    assert build_target(f"{file}:changed", tmp_path / "out", "torch.randn(4)", fixed=False) == 0
    x = torch.arange(3.0)
    looplift.load(tmp_path / "out" / "changed.pt2")(x)
    assert x.tolist() == [0, 2, 4]
