"""What functions of torch and NumPy make is memory of its own: it may be stored into, and nothing else changes."""

from __future__ import annotations

import linecache

import numpy as np
import pytest
import torch

from looplift import lift

TENSORS = (
    "torch.roll(x, 1)", "torch.roll(x, 0)", "torch.roll(x, len(x))", "A @ x", "torch.mv(A, x)", "torch.cumsum(x, 0)",
    "torch.cumsum(A, 0) @ x", "torch.cat([x])", "torch.cat([x, x])", "torch.hstack([x, x[:2]])", "x.flip(0)",
    "torch.linalg.solve(A, x)", "torch.diff(x)", "torch.outer(x, x)[0].clone()",
    "torch.nn.functional.normalize(x, dim=0)",
    "torch.stack([x, x * 2])[1] + 0", "A @ v", "torch.roll(v, 1)", "torch.linalg.inv(A) @ x", "torch.cumsum(v, 0)",
)  # fmt: skip
ARRAYS = (
    "np.roll(x, 1)", "np.roll(x, 0)", "A @ x", "np.dot(A, x)", "np.cumsum(x)", "np.sort(x)", "np.diff(x)", "x.cumsum()",
    "np.concatenate([x])", "np.concatenate([x, x])", "np.hstack([x, x])", "np.linalg.solve(A, x)", "A @ v",
    "np.sort(v)",
)  # fmt: skip
MAYBE_VIEWS = ("np.flip(x)", "np.diff(x, n=0)", "torch.einsum('i->i', x)", "x[:]", "np.einsum('i->i', x)")
SOURCE = """\
import numpy as np
import torch

def changed(rows, A, v):
    out = []
    for x in rows:
        b = {made}
        b[0] = x[1] * 3
        b[1:] += 1
        out.append(b)
    return {library}.stack(out)
"""


def function_of(made, library):
    text, name = SOURCE.format(made=made, library=library), f"<changed {made}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    namespace = {}
    exec(compile(text, name, "exec"), namespace)
    return namespace["changed"]


def tensors(requires_grad=False):
    generator = torch.Generator().manual_seed(3)
    rows, v = (torch.rand(*n, generator=generator, dtype=torch.float64) for n in ((6, 4), (4,)))
    matrix = torch.rand(4, 4, generator=generator, dtype=torch.float64) + 4 * torch.eye(4)
    return tuple(one.requires_grad_(requires_grad) for one in (rows, matrix, v))


@pytest.mark.parametrize("backend", ("auto", "torch"))
@pytest.mark.parametrize("made", TENSORS)
def test_tensors(made, backend):
    function = function_of(made, "torch")
    lifted = lift(function, backend=backend, verify="off")
    kept_for_backward = "solve(" in made
    for requires_grad in (False,) if kept_for_backward else (False, True):
        given, mine = tensors(requires_grad), tensors(requires_grad)
        expected, found = function(*given), lifted(*mine)
        torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-12)
        if requires_grad:
            expected.square().sum().backward()
            found.square().sum().backward()
        for one, other in zip(mine, given, strict=True):
            assert torch.equal(one, other)
            assert (one.grad is None) == (other.grad is None)
            if one.grad is not None:
                torch.testing.assert_close(one.grad, other.grad, rtol=1e-10, atol=1e-10)
    assert [loop.decision for loop in lifted.report().loops] != ["kept"]


@pytest.mark.parametrize("backend", ("auto", "torch"))
@pytest.mark.parametrize("made", ARRAYS)
def test_arrays(made, backend):
    function = function_of(made, "np")
    lifted = lift(function, backend=backend, verify="off")
    given, mine = ([one.numpy() for one in tensors()] for _ in range(2))
    np.testing.assert_allclose(lifted(*mine), function(*given), rtol=1e-12)
    for one, other in zip(mine, given, strict=True):
        np.testing.assert_array_equal(one, other)
    assert [loop.decision for loop in lifted.report().loops] != ["kept"]


@pytest.mark.parametrize("backend", ("auto", "torch"))
@pytest.mark.parametrize("made", MAYBE_VIEWS)
def test_what_may_be_a_view_changes_as_in_the_loop(made, backend):
    library = "torch" if made.startswith("torch") else "np"
    function = function_of(made, library)
    lifted = lift(function, backend=backend, verify="off")
    given, mine = ([one if library == "torch" else one.numpy() for one in tensors()] for _ in range(2))
    np.testing.assert_allclose(lifted(*mine), function(*given), rtol=1e-12)
    for one, other in zip(mine, given, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)
