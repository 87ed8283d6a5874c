"""What gives its operand as it is, or a view of it: such values see later changes, and are handed out as views."""

from __future__ import annotations

import linecache

import numpy as np
import pytest
import torch
from tests.fuzz.differential import difference

TORCH = """x[i].float(); x[i].to(torch.float32); x[i].type_as(x[i]); +x[i]; torch.positive(x[i]); x[i].conj()
x[i].cpu(); torch.broadcast_to(x[i], (3,)); x[i].narrow(0, 0, 2); torch.atleast_2d(x[i]); x[i].unfold(0, 2, 1)
x[i].select(0, 1); torch.real(x[i]); x[i].T; x[i].view(3, 1); x[i].flatten(); x[i].contiguous(); x[i].detach()
x[i].split(2)[0]; x[i].abs(); x[i].unbind()[0]; torch.squeeze(x[i]); x[i].expand(2, 3); x[i].unsqueeze(0)
x[i].double(); x[i].clone(); x[i].sum(()); torch.ravel(x[i]); x[i].reshape(-1)"""
NUMPY = """+x[i]; x[i].astype(np.float64); x[i].astype(np.float64, copy=False); np.ravel(x[i]); x[i].flatten()
np.flip(x[i]); np.expand_dims(x[i], 0); x[i].reshape(3, 1); np.swapaxes(x[i], 0, 0); np.asarray(x[i]); np.array(x[i])
np.reshape(x[i], (3, 1)); x[i].copy(); x[i][::-1]; np.abs(x[i]); x[i].T"""
FORMS = {
    "list": "    out = []\n    for i in range(len(x)):\n        out.append({})\n    return out\n",
    "changed": "    out = []\n    for i in range(len(x)):\n        y = {}\n        x[i] = 5\n"
    "        out.append(y * 2)\n    return out\n",
    "last": "    y = x[0] * 2\n    for i in range(len(x)):\n        y = {}\n    return y\n",
    "last view": "    y = x[0]\n    for i in range(len(x)):\n        y = {}\n    y += 1\n    return y, x\n",
    "in place": "    for i in range(len(x)):\n        y = {}\n        y += 1\n    return x\n",
    "stored": "    out = []\n    for i in range(len(x)):\n        y = {}\n        y[0] = 7\n"
    "        out.append(x[i].sum() * 1)\n    return x, out\n",
    "read later": "    for i in range(len(x)):\n        y = {}\n        x[i] = 5\n        x[i] = y[0] * 2\n"
    "    return x\n",
}


def expressions(text: str) -> list[str]:
    return [part.strip() for line in text.splitlines() for part in line.split(";")]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("library", "expression"),
    [("torch", e) for e in expressions(TORCH)] + [("np", e) for e in expressions(NUMPY)],
)
def test_values_that_may_be_views(library, expression, form):
    imports = "import numpy as np\nimport torch\n"
    source = imports + "def program(x):\n" + FORMS[form].format(expression)
    try:
        run(source, library)
    except (RuntimeError, IndexError):
        pytest.skip("the loop itself is not possible")

    def arguments(seed):
        return (values(library, 3 + seed % 4, strided=seed % 2 == 1),)

    for backend in ("auto", "native"):
        why = difference(source, arguments, settings={"verify": "off", "backend": backend})
        assert why is None, f"{backend}: {why}"


def values(library: str, count: int, *, strided: bool = False):
    whole = np.arange(3.0 * count).reshape(count, 3)
    whole = np.repeat(whole, 2, 1)[:, ::2] if strided else whole
    return torch.from_numpy(whole.astype(np.float32, order="K")) if library == "torch" else whole


def run(source: str, library: str) -> None:
    label = "<a loop over views>"
    linecache.cache[label] = (len(source), None, source.splitlines(keepends=True), label)
    scope: dict = {}
    exec(compile(source, label, "exec"), scope)
    scope["program"](values(library, 4))


@pytest.mark.parametrize("axes", ["0, 1", "1, 0", "(0, 1)", ""])
def test_transposing_in_numpy_permutes(axes):
    source = "import numpy as np\ndef program(x):\n    out = np.zeros(x.shape)\n    for i in range(len(x)):\n"
    source += f"        out[i] = x[i].transpose({axes})\n    return out\n"
    assert difference(source, lambda seed: (np.arange(18.0).reshape(2, 3, 3) + seed,), {"verify": "off"}) is None


def test_functions_of_numbers_make_tensors_of_the_default_dtype():
    source = "import torch\ndef program(n):\n    out = []\n    for i in range(n):\n"
    source += "        out.append(torch.add(i, 1.5))\n    return out\n"
    assert difference(source, lambda seed: (seed + 1,), {"verify": "off"}) is None
