"""Which results are one object, and which are views of their own of an argument. The loop is the oracle."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.vectorize.harness import written

from looplift import lift

VIEWS = ["a[:]", "a[...]", "a.T", "a.reshape(6)", "a.squeeze()", "a.ravel()", "a", "a[:6]"]
OF_TORCH = [*VIEWS, "a.view(-1)", "a.contiguous()", "a.detach()", "a.t()", "a.to(a.dtype)"]
OF_NUMPY = [*VIEWS, "np.asarray(a)", "a.view()", "np.transpose(a)"]
LOOPS = [
    """
    c = b
    for i in range(len(x)):
        a[-1] = b[i % 3] * 0.5 + x[i]
        c = {view}
    return c
""",
    """
    c = d = b
    for i in range(len(x)):
        d = {view}
        a[-1] = b[i % 3] * 0.5 + x[i]
        c = b if i % 2 == 0 else d
    return c, d
""",
    """
    c = {view}
    s = 0.0
    for i in range(len(x)):
        s = s * 0.5 + x[i] * c[i % 6]
    return c, s
""",
    """
    for i in range(len(x)):
        c = x[i]
        d = c
    return c, d
""",
]


def objects(function, numpy):
    """Which results are which arguments, and which are each other; and which show the memory of which."""
    generator = torch.Generator().manual_seed(0)
    given = [torch.randn(n, generator=generator, dtype=torch.float64) for n in (5, 6, 6)]
    given = [one.numpy() for one in given] if numpy else given
    result = function(*given)
    made = [one for one in (result if isinstance(result, tuple) else (result,)) if not isinstance(one, float)]
    arrays = [torch.as_tensor(one) for one in (*made, *given)]
    shared = [a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr() for a in arrays for b in arrays]
    return [one is other for one in made for other in (*given, *made)], shared if not numpy else None


@pytest.mark.filterwarnings("ignore:The use of `x.T`")
@pytest.mark.parametrize("body", LOOPS)
@pytest.mark.parametrize(("numpy", "view"), [*((False, v) for v in OF_TORCH), *((True, v) for v in OF_NUMPY)])
def test_results_are_the_objects_that_the_loop_gives(numpy, view, body):
    text = "def program(x, a, b):" + body.format(view=view)
    function = written(text, f"<{view} {numpy} {LOOPS.index(body)}>", {"np": np, "torch": torch})["program"]
    wanted = objects(function, numpy)
    for backend in ("torch", "native"):
        lifted = lift(function, verify="off", backend=backend)
        for _ in range(2):
            assert objects(lifted, numpy) == wanted, lifted.source
