"""``looplift check file.py:function``."""

from __future__ import annotations

import textwrap

import pytest

from looplift.cli.check import BadTarget, check_target, examples_of, load_target

MODULE = """
    import torch

    def squares(x):
        out = torch.zeros_like(x)
        for i in range(len(x)):
            out[i] = x[i] ** 2
        return out

    class Scale:
        @staticmethod
        def twice(x):
            return torch.stack([2 * v for v in x])

    NUMBER = 3
"""
INPUTS = "\ndef example_inputs():\n    return (torch.linspace(0, 1, 4),)\n"


def module(folder, text=MODULE, extra=INPUTS, name="functions"):
    path = folder / f"{name}.py"
    path.write_text(textwrap.dedent(text) + extra)
    return str(path)


def test_a_function_is_checked(tmp_path, capsys):
    assert check_target(f"{module(tmp_path)}:squares", seconds=2.0) == 0
    assert "squares: nothing tells them apart" in capsys.readouterr().out


def test_a_method_of_a_class(tmp_path):
    _, function = load_target(f"{module(tmp_path)}:Scale.twice")
    assert function.__name__ == "twice"


@pytest.mark.parametrize(
    ("extra", "count"),
    [
        (INPUTS, 1),
        ("\ndef inputs():\n    return [(torch.ones(1),), (torch.ones(2),)]\n", 2),
        ("\ndef inputs(size, seed):\n    return (torch.ones(seed + 1),)\n", 3),
        ("\ndef inputs(n=2):\n    return (torch.ones(n),)\n", 1),
    ],
)
def test_examples(tmp_path, extra, count):
    loaded, _ = load_target(f"{module(tmp_path, extra=extra)}:squares")
    examples = examples_of(loaded)
    assert len(examples) == count and all(isinstance(example, tuple) for example in examples)


@pytest.mark.parametrize(
    ("target", "text"),
    [
        ("squares", "names no function"),
        ("nowhere.py:squares", "there is no file"),
        ("{file}:missing", "has no 'missing'"),
        ("{file}:NUMBER", "is not a function"),
        ("{broken}:f", "cannot be imported: ZeroDivisionError"),
    ],
)
def test_bad_targets(tmp_path, target, text):
    broken = tmp_path / "broken.py"
    broken.write_text("1 / 0\n")
    with pytest.raises(BadTarget, match=text):
        load_target(target.format(file=module(tmp_path), broken=broken))


@pytest.mark.parametrize(
    ("extra", "text"),
    [
        ("", "add a function example_inputs"),
        ("\ndef inputs():\n    return torch.ones(2)\n", "must return a tuple"),
        ("\ndef inputs():\n    return []\n", "must return a tuple"),
        ("\ndef inputs(n):\n    return (n,)\n", "must be callable without arguments"),
    ],
)
def test_bad_examples(tmp_path, extra, text, capsys):
    assert check_target(f"{module(tmp_path, extra=extra)}:squares", seconds=1.0) == 2
    assert text in capsys.readouterr().err
