"""What was made of a region in an earlier process is taken where nothing that it depends on has changed."""

from __future__ import annotations

import importlib.util
import json
import linecache
import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import torch

import looplift
from looplift import pipeline
from looplift.base.errors import NotLiftable
from looplift.build import kept
from looplift.pipeline import remembered
from looplift.runtime.variants import RegionCode

FUNCTIONS = """
import math
import numpy as np
import torch

FACTOR = 2.0


def scaled(x):
    return x * FACTOR + x.abs().sqrt()


def alike(x):  # lanes, with a helper of the user's
    out = torch.zeros_like(x)
    for i in range(x.shape[0]):
        out[i] = scaled(x[i])
    return out


def running(x, decay):  # a kernel
    out = torch.zeros_like(x)
    h = 0.0
    for t in range(len(x)):
        h = decay * h + x[t] if x[t] > 0 else h * 0.5
        out[t] = h
    return out


def distance(a, b):  # a program over text and lists
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in range(len(a) + 1):
        for j in range(len(b) + 1):
            if i == 0 or j == 0:
                table[i][j] = i + j
            else:
                change = table[i - 1][j - 1] + (a[i - 1] != b[j - 1])
                table[i][j] = min(table[i - 1][j] + 1, table[i][j - 1] + 1, change)
    return table[len(a)][len(b)]


def of_arrays(x):
    out = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        total = 0.0
        for j in range(x.shape[1]):
            if x[i, j] > 0.5:
                break
            total += math.exp(x[i, j])
        out[i] = total
    return out


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(3, 3)

    def forward(self, x):
        return torch.tanh(self.inner(x))


def by_rows(net, x):
    out = []
    for i in range(len(x)):
        out.append(net(x[i]))
    return torch.stack(out)


def kept(x, out):  # refused
    for i in range(len(x)):
        out.append(hash(str(x[i].item())) % 2)
    return out
"""

RUN = """
import importlib.util, json, sys
import numpy as np, torch
import looplift
spec = importlib.util.spec_from_file_location("functions", sys.argv[1])
functions = importlib.util.module_from_spec(spec)
sys.modules["functions"] = functions
spec.loader.exec_module(functions)
torch.manual_seed(0)
x, y = torch.randn(6, 3), torch.randn(40, requires_grad=True)
net = functions.Net()
given = {
    "alike": (x,), "running": (y, 0.9), "distance": ("kitten", "sitting"), "of_arrays": (x.double().numpy(),),
    "by_rows": (net, x),
}
found = {}
for name, values in given.items():
    function = getattr(functions, name)
    lifted, expected = looplift.lift(function), function(*values)
    result = lifted(*values)
    np.testing.assert_allclose(np.asarray(torch.as_tensor(result).detach()), torch.as_tensor(expected).detach(), 1e-5)
    found[name] = [loop.decision for loop in lifted.report().loops]
looplift.lift(functions.running)(y, 0.9).sum().backward()
slope, y.grad = y.grad, None
functions.running(y, 0.9).sum().backward()
torch.testing.assert_close(slope, y.grad)
planning = {"looplift.vectorize.plan", "looplift.frontend.translate", "looplift.emit.typed"}
found["planned"] = sorted(planning & {*sys.modules})
print(json.dumps(found))
"""


@pytest.fixture
def remembering(tmp_path, monkeypatch):
    monkeypatch.setenv("LOOPLIFT_REMEMBER", "1")
    monkeypatch.setenv("LOOPLIFT_CACHE", str(tmp_path / "cache"))


def module_of(path, text, name="functions_of_a_user") -> Any:
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


class Counted:
    """How many regions are planned."""

    def __init__(self, monkeypatch):
        self.count, plan = 0, pipeline.compile_region

        def counting(*given):
            self.count += 1
            return plan(*given)

        monkeypatch.setattr(pipeline, "compile_region", counting)

    def in_call(self, function, *values, **options):
        before, lifted = self.count, looplift.lift(function, **options)
        result, expected = lifted(*values), function(*values)
        if isinstance(expected, torch.Tensor):
            torch.testing.assert_close(result, expected)
        else:
            np.testing.assert_allclose(result, expected)
        return self.count - before


def test_another_process_plans_nothing(tmp_path):
    (tmp_path / "functions.py").write_text(FUNCTIONS)
    surroundings = os.environ | {"LOOPLIFT_REMEMBER": "1", "LOOPLIFT_CACHE": str(tmp_path / "cache")}
    command = [sys.executable, "-c", RUN, str(tmp_path / "functions.py")]
    first, second = (
        json.loads(subprocess.run(command, env=surroundings, capture_output=True, text=True, check=True).stdout)
        for _ in range(2)
    )
    assert first.pop("planned") and not second.pop("planned")
    assert first == second and not any("kept" in decisions for decisions in first.values())


def test_functions_are_remembered_by_what_they_do(tmp_path, monkeypatch, remembering):
    counted, x = Counted(monkeypatch), torch.linspace(-1, 1, 12).reshape(6, 2)
    functions = module_of(tmp_path / "functions.py", FUNCTIONS)
    assert counted.in_call(functions.alike, x) == 1
    assert counted.in_call(functions.alike, x) == 0
    functions = module_of(tmp_path / "functions.py", FUNCTIONS)
    assert counted.in_call(functions.alike, x * 2) == 0
    other = module_of(tmp_path / "functions.py", FUNCTIONS.replace("x.abs().sqrt()", "x.abs().exp2()"))
    assert counted.in_call(other.alike, x) == 1
    other = module_of(tmp_path / "functions.py", FUNCTIONS.replace("FACTOR = 2.0", "FACTOR = 3.0"))
    assert counted.in_call(other.alike, x) == 1
    other.FACTOR = 4.0
    assert counted.in_call(other.alike, x) == 1


def test_values_of_other_kinds_are_planned_for(tmp_path, monkeypatch, remembering):
    counted, x = Counted(monkeypatch), torch.linspace(-1, 1, 12).reshape(6, 2)
    functions = module_of(tmp_path / "functions.py", FUNCTIONS)
    assert counted.in_call(functions.alike, x) == 1
    assert counted.in_call(functions.alike, x.double()) == 1
    assert counted.in_call(functions.alike, x[:1]) == 1
    assert counted.in_call(functions.alike, x.clone().requires_grad_()) == 1
    assert counted.in_call(functions.alike, x, backend="torch") == 1
    with torch.no_grad():
        assert counted.in_call(functions.alike, x) == 1
    assert counted.in_call(functions.alike, x[:5]) == 0
    monkeypatch.setenv("LOOPLIFT_REMEMBER", "0")
    assert counted.in_call(functions.alike, x) == 1


def test_a_replaced_function_of_a_library_is_seen(tmp_path, monkeypatch, remembering):
    counted, x = Counted(monkeypatch), torch.linspace(-1, 1, 12).reshape(6, 2)
    functions = module_of(tmp_path / "functions.py", FUNCTIONS)
    assert counted.in_call(functions.alike, x) == 1
    monkeypatch.setattr(torch, "zeros_like", torch.ones_like)
    assert counted.in_call(functions.alike, x) == 1


def test_methods_of_modules_are_seen(tmp_path, monkeypatch, remembering):
    counted, x = Counted(monkeypatch), torch.randn(5, 3)
    functions = module_of(tmp_path / "functions.py", FUNCTIONS)
    assert counted.in_call(functions.by_rows, functions.Net(), x) == 1
    assert counted.in_call(functions.by_rows, functions.Net(), x) == 0
    assert counted.in_call(functions.by_rows, functions.Net().eval(), x) == 1
    other = module_of(tmp_path / "functions.py", FUNCTIONS.replace("torch.tanh(", "torch.sin("))
    assert counted.in_call(other.by_rows, other.Net(), x) == 1
    net = other.Net()
    net.inner = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.ReLU())
    assert counted.in_call(other.by_rows, net, x) == 1


def test_programs_over_objects_are_planned_anew_where_these_changed(tmp_path, monkeypatch, remembering):
    text = """
class Node:
    def __init__(self, value, below):
        self.value, self.below = value, below

    def total(self):
        return self.value + sum(one.total() for one in self.below)


def totals(nodes):
    out = []
    for node in nodes:
        out.append(node.total())
    return out
"""
    counted = Counted(monkeypatch)
    functions = module_of(tmp_path / "functions.py", text)

    def trees(functions):
        return [functions.Node(k, [functions.Node(2, []), functions.Node(k, [])]) for k in range(4)]

    assert counted.in_call(functions.totals, trees(functions)) > 0
    assert counted.in_call(functions.totals, trees(functions)) == 0
    other = module_of(tmp_path / "functions.py", text.replace("self.value + sum", "2 * self.value + sum"))
    assert counted.in_call(other.totals, trees(other)) > 0


def test_refusals_are_remembered_with_their_reason(tmp_path, monkeypatch, remembering):
    functions = module_of(tmp_path / "functions.py", FUNCTIONS)
    reports = []
    for _ in range(2):
        lifted, x = looplift.lift(functions.kept), torch.arange(4.0)
        assert lifted(x, []) == functions.kept(x, [])
        reports.append([(loop.decision, loop.code, loop.reason) for loop in lifted.report().loops])
    assert reports[0] == reports[1] and reports[0][0][0] == "kept"


def test_files_that_cannot_be_read_are_made_anew(tmp_path, monkeypatch, remembering):
    counted, x = Counted(monkeypatch), torch.linspace(-1, 1, 12).reshape(6, 2)
    functions = module_of(tmp_path / "functions.py", FUNCTIONS)
    assert counted.in_call(functions.alike, x) == 1
    for file in (tmp_path / "cache").glob("region-*.bin"):
        file.write_bytes(file.read_bytes()[:40])
    assert counted.in_call(functions.alike, x) == 1
    for file in (tmp_path / "cache").glob("region-*.bin"):
        kept.write(file.stem.removeprefix("region-"), b"something else")
    assert counted.in_call(functions.alike, x) == 1
    assert counted.in_call(functions.alike, x) == 0


def test_functions_without_a_file_are_not_remembered(monkeypatch, remembering):
    counted, x, label = Counted(monkeypatch), torch.arange(6.0), "<a cell of a notebook>"
    names: dict[str, Any] = {"__name__": "a_notebook"}
    exec(compile(FUNCTIONS, label, "exec"), names)
    linecache.cache[label] = (len(FUNCTIONS), None, str(FUNCTIONS).splitlines(keepends=True), label)
    assert [counted.in_call(names["running"], x, 0.5) for _ in range(2)] == [1, 1]


def test_other_forms_are_planned_when_they_are_asked_for(tmp_path, monkeypatch, remembering):
    text = """
import torch


def firsts(x, counts):
    out = torch.zeros(len(counts))
    for i in range(len(counts)):
        total = 0.0
        for j in range(counts[i]):
            total = total + x[i][j].item()
        out[i] = total
    return out
"""
    counted = Counted(monkeypatch)
    functions = module_of(tmp_path / "functions.py", text)
    x = [torch.arange(5.0), torch.arange(3.0)]
    assert counted.in_call(functions.firsts, x, [2, 3]) > 0
    lifted = looplift.lift(functions.firsts)
    for given in ([2, 3], [5, 1], [0, 0], [1, 2]):
        torch.testing.assert_close(lifted(x, given), functions.firsts(x, given))
    y = [torch.arange(5.0), torch.arange(3)]
    torch.testing.assert_close(lifted(y, [2, 2]), functions.firsts(y, [2, 2]))


def test_what_a_program_cannot_take_is_taken_by_another_form(tmp_path, monkeypatch, remembering):
    text = """
def totals(items):
    found = {}
    for item in items:
        key = len(str(item)) % 3
        found[key] = found.get(key, 0) + item
    return [found.get(k, 0) for k in range(3)]
"""
    functions = module_of(tmp_path / "functions.py", text)
    integers, mixed = list(range(40)), [1, *(k / 4 for k in range(40))]
    looplift.lift(functions.totals)(integers)
    lifted = looplift.lift(functions.totals)
    for given in [integers] * 3 + [mixed] * 8 + [integers]:
        assert lifted(given) == functions.totals(given)
    assert "given up" not in str(lifted.report())


LAYERS = "def a0(x): return x\ndef b0(x): return x\n" + "".join(
    f"def a{k}(x): return a{k - 1}(b{k - 1}(x))\ndef b{k}(x): return b{k - 1}(a{k - 1}(x))\n" for k in range(1, 30)
)
HARD = {
    "a member of an enumeration": ("class Mode(enum.IntEnum):\n    A = 1\n    B = 2", "x * (2 if MODE else 3)"),
    "a slot of a class": ("class Acc:\n    __hash__ = object.__hash__\n    factor = 3", "x * Acc.factor"),
    "nested deeply": ("DEEP = []\nfor _ in range(400):\n    DEEP = [DEEP]", "x * len(DEEP)"),
    "a long list": ("DATA = list(range(10**6))", "x * DATA[3]"),
    "functions that lead to many": (
        LAYERS
        + "class Far:\n    far = staticmethod(a29)\n    near = 2",
        "x * Far.near",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", HARD)
def test_what_is_hard_to_tell_is_lifted_as_ever(tmp_path, monkeypatch, remembering, name):
    above, value = HARD[name]
    text = f"import enum\nimport torch\n\n\n{above}\nMODE = None\n\n\ndef helper(x):\n    return {value}\n"
    text += (
        "\n\ndef each(x):\n    out = []\n    for v in x:\n        out.append(helper(v))\n    return torch.stack(out)\n"
    )
    functions = module_of(tmp_path / "functions.py", text)
    x = torch.arange(12.0).reshape(4, 3)
    for _ in range(2):
        lifted = looplift.lift(functions.each)
        assert torch.equal(lifted(x), functions.each(x))
        assert [loop.decision for loop in lifted.report().loops] == ["lanes"]


def test_nothing_is_remembered_where_there_is_no_folder(tmp_path, monkeypatch, remembering):
    functions, x = module_of(tmp_path / "functions.py", FUNCTIONS), torch.arange(12.0).reshape(4, 3)

    def none() -> None:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(kept, "cache_directory", none)
    lifted = looplift.lift(functions.alike, backend="torch")
    torch.testing.assert_close(lifted(x), functions.alike(x))
    assert [loop.decision for loop in lifted.report().loops] == ["lanes"]


def test_a_wrapper_of_a_library_function_is_the_users(tmp_path, monkeypatch, remembering):
    text = """
import functools
import torch
import torch.nn.functional as F

FACTOR = 2.0


@functools.wraps(F.relu)
def own(x):
    return x.sin() * FACTOR


def each(x):
    out = []
    for v in x:
        out.append(own(v))
    return torch.stack(out)
"""
    counted, x = Counted(monkeypatch), torch.arange(12.0).reshape(4, 3)
    functions = module_of(tmp_path / "functions.py", text)
    assert counted.in_call(functions.each, x) == 1
    other = module_of(tmp_path / "functions.py", text.replace("FACTOR = 2.0", "FACTOR = 3.0"))
    assert counted.in_call(other.each, x) == 1


CONSTANTS = """
import math
import numpy as np
import torch


def turned(x):  # a guard asks for the very number
    out = torch.zeros_like(x)
    for i in range(x.shape[0]):
        out[i] = torch.sin(x[i] * 2 * math.pi) + x[i].sum()
    return out


def with_gaps(rows):  # items may be None
    totals = []
    for row in rows:
        total = torch.zeros(2)
        for item in row:
            total = total * 0.5
            if item is None:
                continue
            total = total + item - total @ item
        totals.append(total)
    return torch.stack(totals)


def drawn(x):
    out = torch.zeros_like(x)
    for i in range(len(x)):
        out[i] = x[i] if torch.rand(()) < 0.5 else -x[i]
    return out


def places(x):
    out = np.zeros(len(x))
    for i in range(len(x)):
        out[i] = np.argmin(x[i])
    return out
"""


@pytest.mark.parametrize("name", ["turned", "with_gaps", "drawn", "places"])
def test_numbers_of_libraries_and_own_functions_are_found_again(tmp_path, monkeypatch, remembering, name):
    counted, functions = Counted(monkeypatch), module_of(tmp_path / "functions.py", CONSTANTS)
    x, gap = torch.linspace(-1, 1, 12).reshape(4, 3), None
    rows = [[x[0, :2], gap, x[1, :2]], [gap, x[2, :2]], [x[3, :2]]]
    values = {"turned": x, "with_gaps": rows, "drawn": torch.linspace(1, 2, 20), "places": x.double().numpy()}
    for planned in (True, False):
        before, lifted = counted.count, looplift.lift(getattr(functions, name))
        torch.manual_seed(3)
        result = lifted(values[name])
        torch.manual_seed(3)
        expected = getattr(functions, name)(values[name])
        np.testing.assert_allclose(np.asarray(result), np.asarray(expected), rtol=1e-6)
        assert (counted.count > before) == planned
        assert [loop.decision for loop in lifted.report().loops].count("kept") == 0


def test_the_rival_of_another_form_is_found_again(tmp_path, monkeypatch, remembering):
    text = """
import numpy as np


def table(rows, names):
    out = np.zeros((len(rows), len(names)))
    for i, row in enumerate(rows):
        for j, name in enumerate(names):
            out[i, j] = row[name]
    return out
"""
    recalled, find = [], remembered._recalled

    def finding(*given):
        found = find(*given)
        recalled.append((found, given[2]))
        return found

    functions = module_of(tmp_path / "functions.py", text)
    rows = [{"a": float(k), "b": float(k * k), "kind": 1j} for k in range(50)]  # programs have no complex numbers
    looplift.lift(functions.table)(rows, ["a", "b"])
    monkeypatch.setattr(remembered, "_recalled", finding)
    np.testing.assert_array_equal(looplift.lift(functions.table)(rows, ["a", "b"]), functions.table(rows, ["a", "b"]))
    code, values = next((one, given) for one, given in recalled if isinstance(one, RegionCode) and one.rival)
    assert code.decisions[0].decision == "lists"
    assert code.expected(values) == 0.0
    with pytest.raises(NotLiftable, match="no program over small tensors"):  # that is what its rival is
        code.rival(values)
