"""Other names of a tensor that is changed in place: what gives its argument, or a view of it, shows the change."""

import linecache

import numpy as np
import pytest
import torch

from looplift import lift

OF_ANY = ("+acc", "acc", "[acc][0]", "(acc,)[0]", "acc if i >= 0 else acc", "acc.squeeze()", "acc.reshape(acc.shape)")
OF_TENSORS = (
    "acc.float()", "acc.to(torch.float32)", "acc.type_as(acc)", "acc.contiguous()", "acc.detach()", "acc.data",
    "acc.cpu()", "acc.conj()", "acc.real", "acc[...]", "acc.view_as(acc)", "acc.expand_as(acc)", "torch.positive(acc)",
    "torch.as_tensor(acc)", "torch.nn.functional.dropout(acc, 0.5, False)", "acc.clone()", "acc * 1",
    "acc.float().detach()",
)  # fmt: skip
OF_ARRAYS = ("acc.copy()", "np.asarray(acc)", "acc.T", "acc[:]", "np.ravel(acc)", "acc.astype(float)", "acc.real")
PROGRAMS = {
    "carried": """
def f(x, acc):
    seen = []
    for i in range(len(x)):
        before = {}
        acc += x[i]
        seen.append(acc - before)
    return seen
""",
    "made": """
def f(x, acc):
    seen = []
    for i in range(len(x)):
        acc = x[i] * 2
        before = {}
        acc *= 3
        seen.append(before * 1)
    return seen
""",
    "summed": """
def f(x, acc):
    acc, out = acc * 0, acc * 0
    for i in range(len(x)):
        before = {}
        acc += x[i]
        out = out + before
    return out, acc
""",
}  # fmt: skip


def function_of(text, name):
    namespace = {"torch": torch, "np": np}
    file = f"<other name {name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    exec(compile(text, file, "exec"), namespace)
    return namespace["f"]


def numbers(found):
    return [np.asarray(one).tolist() for one in found]


@pytest.mark.parametrize("backend", ("auto", "torch", "native"))
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("kind", ("numbers", "rows", "arrays"))
def test_names_show_what_is_changed_in_place(kind, program, backend):
    shape = (4,) if kind == "numbers" else (4, 3)
    for name in (*OF_ANY, *(OF_ARRAYS if kind == "arrays" else OF_TENSORS)):
        function = function_of(PROGRAMS[program].format(name), f"{kind} {program} {backend} {name}")
        lifted = lift(function, verify="off", backend=backend)
        for seed in (0, 1):
            x = torch.rand(shape, generator=torch.Generator().manual_seed(seed))
            x = x.numpy().astype(float) if kind == "arrays" else x
            given = [x, x[0] * 0 + 1]
            again = [x, x[0] * 0 + 1]
            np.testing.assert_allclose(numbers(lifted(*given)), numbers(function(*again)), rtol=1e-5)
            np.testing.assert_allclose(np.asarray(given[1]), np.asarray(again[1]), rtol=1e-5)
