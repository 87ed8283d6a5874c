"""Which operation a callable is."""

from __future__ import annotations

import subprocess
import sys


def test_transforms_of_numpy_are_known_once_they_are_there():
    text = """
import numpy as np
from looplift.ops import names

assert names.name_of(np.exp) == "np.exp" and names.is_operation("torch.fft.fft")
assert names.name_of(np.fft.fft) == "np.fft.fft" and names.is_operation("np.fft.fft")
assert names.callable_of("np.fft.rfft") is np.fft.rfft and not names.is_replaced("np.fft.rfft")
assert names.name_of(np.absolute) == names.name_of(np.abs)
assert names.name_of(np.arccos) == "np.arccos" and names.name_of(len) == "builtin.len"
"""
    subprocess.run([sys.executable, "-c", text], check=True)
