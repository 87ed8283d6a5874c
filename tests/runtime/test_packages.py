"""Lifted functions as files that run without their source."""

import json
import subprocess
import sys
import textwrap
import zipfile

import pytest
import torch

import looplift
from looplift import LoopliftWarning, lift


def alignment(x, y):
    n, m = x.shape[0], y.shape[0]
    table = torch.full((n + 1, m + 1), float("inf"), dtype=x.dtype)
    table[0, 0] = 0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            table[i, j] = abs(x[i - 1] - y[j - 1]) + min(table[i - 1, j], table[i, j - 1], table[i - 1, j - 1])
    return table[n, m]


def distances(x, y):
    out = torch.zeros(x.shape[0], y.shape[0])
    for i in range(x.shape[0]):
        for j in range(y.shape[0]):
            out[i, j] = torch.exp(-((x[i] - y[j]) ** 2).sum())
    return out


def noisy(x):
    out = []
    for i in range(x.shape[0]):
        out.append(x[i] + torch.rand(()))
    return torch.stack(out)


class Rows(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 2)

    def forward(self, x):
        out = []
        for row in x:
            out.append(torch.tanh(self.linear(row)))
        return torch.stack(out)


def in_a_fresh_process(text, *arguments):
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(text), *map(str, arguments)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_without_kernels_torch_reads_it_alone(tmp_path):
    x, y = torch.randn(5, 3), torch.randn(4, 3)
    path = tmp_path / "distances.pt2"
    lift(distances).export(path, x, y)
    torch.save((x, y), tmp_path / "arguments.pt")
    found = in_a_fresh_process(
        """
        import json, sys, torch
        x, y = torch.load(sys.argv[2])
        found = torch.export.load(sys.argv[1]).module()(x, y)
        assert "looplift" not in sys.modules
        print(json.dumps(found.tolist()))
        """,
        path,
        tmp_path / "arguments.pt",
    )
    torch.testing.assert_close(torch.tensor(found), distances(x, y))


def test_kernels_are_in_the_file(tmp_path):
    x, y = torch.randn(6), torch.randn(4)
    path = tmp_path / "alignment.pt2"
    looplift.export(lift(alignment), path, x, y)
    torch.save((x, y), tmp_path / "arguments.pt")
    found = in_a_fresh_process(
        """
        import json, sys, torch, looplift
        x, y = torch.load(sys.argv[2])
        print(json.dumps(looplift.load(sys.argv[1])(x, y).item()))
        """,
        path,
        tmp_path / "arguments.pt",
    )
    torch.testing.assert_close(torch.tensor(found), alignment(x, y))
    with zipfile.ZipFile(path) as archive:
        assert any(b"extern" in archive.read(name) for name in archive.namelist())


def test_what_was_written_is_read_in_the_same_process(tmp_path):
    x, y = torch.randn(6), torch.randn(4)
    lift(alignment).export(tmp_path / "alignment.pt2", x, y)
    torch.testing.assert_close(looplift.load(tmp_path / "alignment.pt2")(x, y), alignment(x, y))


def test_a_kernel_with_gradients(tmp_path):
    x, y = torch.randn(6, requires_grad=True), torch.randn(4)
    lift(alignment).export(tmp_path / "alignment.pt2", x, y)
    loaded = looplift.load(tmp_path / "alignment.pt2")
    found, wanted = (torch.autograd.grad(one(x, y), x) for one in (loaded, alignment))
    torch.testing.assert_close(found, wanted)


def test_modules_and_sizes_that_change(tmp_path):
    model = lift(Rows())
    sizes = {"x": {0: torch.export.Dim("rows", min=2, max=50)}}
    looplift.export(model, tmp_path / "rows.pt2", torch.randn(4, 3), dynamic_shapes=sizes)
    x = torch.randn(9, 3)
    torch.testing.assert_close(looplift.load(tmp_path / "rows.pt2")(x), model(x))


def test_sizes_of_a_function(tmp_path):
    sizes = {"x": {0: torch.export.Dim("n", min=2, max=50)}, "y": None}
    lift(distances).export(tmp_path / "distances.pt2", torch.randn(5, 3), torch.randn(4, 3), dynamic_shapes=sizes)
    x, y = torch.randn(9, 3), torch.randn(4, 3)
    torch.testing.assert_close(looplift.load(tmp_path / "distances.pt2")(x, y), distances(x, y))


def test_sizes_go_by_the_names_of_parameters(tmp_path):
    sizes = {"y": {0: torch.export.Dim("n", min=2, max=50)}, "x": None}
    lift(distances).export(tmp_path / "distances.pt2", torch.randn(5, 3), torch.randn(4, 3), dynamic_shapes=sizes)
    x, y = torch.randn(5, 3), torch.randn(9, 3)
    torch.testing.assert_close(looplift.load(tmp_path / "distances.pt2")(x, y), distances(x, y))


def test_loops_as_written_are_told(tmp_path):
    with pytest.warns(LoopliftWarning, match="step by step: .* random numbers"):
        lift(noisy).export(tmp_path / "noisy.pt2", torch.randn(3))
