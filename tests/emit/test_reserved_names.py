"""Names of the user's that functions of the kernels' own have: they are others in C++."""

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
