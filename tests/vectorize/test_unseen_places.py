"""Places that lanes choose beside a part without elements: the loop raises an IndexError where one is outside."""

from __future__ import annotations

import pytest
import torch

import looplift

ROWS = "x[a[i], b[i]:]"
READS = [
    ROWS, "x[a[i], :b[i]]", "x[a[i], 5:]", "x[a[i], k:]", "x[a[i], :z]", "x[a[i], b[i]:b[i] + z]", "x[a[i], 3:3]",
    "x[a[i]][m[i]]", "x[a[i], m[i]]", "x[a[i], 2:-3]", "x[:, k:][a[i]]", "x[a[i], z:z]", "x[a[i], ::2][2 + z:k - 2]",
]  # fmt: skip


def arguments(last, *, numpy=False):
    x = torch.arange(20, dtype=torch.float64).reshape(4, 5)
    a, b = torch.tensor([1, 0, last]), torch.tensor([2, 1, 5])
    given = [x, a, b, torch.zeros(3, 5, dtype=torch.bool)]
    return [*(one.numpy() for one in given), 5, 0] if numpy else [*given, 5, 0]


def check(tmp_path, lines, *, numpy=False):
    text = "import torch\nimport numpy as np\n\n\ndef f(x, a, b, m, k, z):\n"
    text += f"    out = {'np' if numpy else 'torch'}.zeros(len(a))\n    for i in range(len(a)):\n"
    path = tmp_path / "unseen.py"
    path.write_text(text + "".join(f"        {line}\n" for line in lines) + "    return out, x\n")
    namespace = {"__name__": "unseen"}
    exec(compile(path.read_text(), str(path), "exec"), namespace)
    for backend in ("torch", "auto"):
        lifted = looplift.lift(namespace["f"], backend=backend, verify="off")
        for last in (2, 4, -4, -5, 3):
            ends = []
            for run in (namespace["f"], lifted):
                given = arguments(last, numpy=numpy)
                try:
                    ends.append((run(*given)[0], given[0]))
                except IndexError as error:
                    ends.append((str(error), given[0]))
            (expected, left), (came, held) = ends
            assert str(expected) == str(came) and str(left) == str(held)


@pytest.mark.parametrize("place", READS)
def test_reads(place, tmp_path):
    check(tmp_path, [f"out[i] = {place}.sum()"])


@pytest.mark.parametrize("place", ["x[a[i], b[i]:]", "x[a[i], k:]", "x[a[i], 3:3]"])
@pytest.mark.parametrize("sign", ["=", "+="])
def test_stores(place, sign, tmp_path):
    check(tmp_path, [f"{place} {sign} i"])


def test_under_a_condition(tmp_path):
    check(tmp_path, ["if b[i] > 1:", f"    out[i] = {ROWS}.sum()"])


def test_slices_of_arrays(tmp_path):
    check(tmp_path, [f"out[i] = {ROWS}.sum()"], numpy=True)
