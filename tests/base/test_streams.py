"""NumPy's generators are looked at only where somebody uses them."""

import subprocess
import sys

import numpy as np

from looplift.base.streams import numpy_generators, numpy_state, set_numpy_state

UNUSED = """
import sys, torch
from looplift import lift
from tests.base.plain_loop import doubled, drawn

assert torch.equal(lift(doubled)(torch.ones(3)), torch.full((3,), 2.0))
assert "numpy.random" not in sys.modules
import numpy as np
np.random.seed(1)
wanted = drawn(np.zeros(5)), np.random.rand()
np.random.seed(1)
given = lift(drawn)(np.zeros(5)), np.random.rand()
assert np.array_equal(wanted[0], given[0]) and wanted[1] == given[1]
"""

FIRST_DRAWN_IN_A_LOOP = """
import sys, warnings, torch
warnings.simplefilter("error")
from looplift import lift
from tests.base.plain_loop import drawn_around
import numpy as np

assert "numpy.random" not in sys.modules
assert lift(drawn_around)(np.zeros(5)).shape == (5,)
"""


def run(text):
    subprocess.run([sys.executable, "-c", text], check=True)


def test_a_loop_without_draws_does_not_import_them():
    run(UNUSED)


def test_the_first_draw_of_a_process_may_be_in_a_loop():
    run(FIRST_DRAWN_IN_A_LOOP)


def test_state_is_put_back():
    state = numpy_state()
    first = np.random.rand()
    set_numpy_state(state)
    assert np.random.rand() == first
    assert isinstance(np.random.default_rng(1), numpy_generators())
