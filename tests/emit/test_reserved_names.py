"""Names of the user's that functions of the kernels' own have: they are others in C++."""

import importlib
import math
import re

import numpy as np
import pytest
import torch

from looplift import lift
from looplift.emit import native_prelude, native_values

DEFINED = re.compile(r"^(?:template <[^>]*> )?(?:static |inline |constexpr )+[^;={(]*?\b(\w+)\(", re.MULTILINE)
OF_CLASSES = {"__attribute__"}


def test_all_functions_of_the_prelude_are_reserved():
    text = "\n".join(native_prelude.PIECES.values())
    names = {*native_prelude.PIECES, *DEFINED.findall(text)} - OF_CLASSES
    assert not names - {*native_values.Names().taken}


def lengths(length_of, add_to):
    total = 0.0
    for i in range(length_of.shape[0]):
        total += math.hypot(length_of[i, 0], add_to)
    return total


def powers(power_of_e, left_shift):
    out = torch.zeros_like(power_of_e)
    for overlap in range(power_of_e.shape[0]):
        out[overlap] = torch.exp(power_of_e[overlap]) + left_shift[overlap]
    return out


@pytest.mark.parametrize("backend", ["native", "auto"])
def test_arrays_of_such_names(backend):
    x = np.arange(12.0).reshape(6, 2)
    assert lift(lengths, verify="off", backend=backend)(x, 2.5) == lengths(x, 2.5)
    x, y = torch.linspace(-1, 1, 7), torch.linspace(0, 3, 7)
    torch.testing.assert_close(lift(powers, verify="off", backend=backend)(x, y), powers(x, y))


MADE = ["out_new", "out_buffer", "x_buffer", "out_new_grad", "s_out_grad", "out_packed", "gradients", "context",
        "forward_function", "once", "value_0", "new_float32", "out_new_given"]  # fmt: skip


@pytest.mark.parametrize("backend", ["native", "auto", "torch"])
@pytest.mark.parametrize("name", MADE)
def test_inputs_that_are_named_as_what_is_made_of_others(name, backend, tmp_path, monkeypatch):
    lines = [
        f"def program(out, {name}, x, out_new_given_):",
        "    s = x[0]",
        "    for i in range(1, 5):",
        f"        s = s * 0.5 + x[i] * {name}[i]",
        "        out[i] = out[i - 1] * 0.5 + s * out_new_given_[i]",
        "    return s",
    ]
    (tmp_path / f"named_{name}.py").write_text("\n".join(lines))
    monkeypatch.syspath_prepend(str(tmp_path))
    program = importlib.import_module(f"named_{name}").program

    def outcome(function):
        torch.manual_seed(0)
        out, (given, x, other) = torch.zeros(5), torch.rand(3, 5).requires_grad_()
        given, x, other = (one.detach().requires_grad_() for one in (given, x, other))
        result = function(out, given, x, other)
        (out.sum() + 2 * result).backward()
        return [result, out, given.grad, x.grad, other.grad]

    lifted = lift(program, verify="off", backend=backend)
    for _ in range(2):
        torch.testing.assert_close(outcome(lifted), outcome(program))
    assert "internal" not in str(lifted.report())
