"""What was planned for plain tensors is not taken for those of inference mode, negative views, or lists with such."""

import importlib.util
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

import looplift

TEXT = """
def filled(x, out):
    for i in range(len(x)):
        out[i] = x[i] * 2


def summed(x, out):
    for i in range(1, len(x)):
        out[i] = out[i - 1] + x[i]


def in_lists(x, outs):
    for out in outs:
        for i in range(len(x)):
            out[i] = x[i] * 2


def held(x, h):
    for i in range(len(x)):
        h.out[i] = x[i] * 2
"""


@pytest.fixture
def functions(tmp_path, monkeypatch):
    monkeypatch.setenv("LOOPLIFT_REMEMBER", "1")
    monkeypatch.setenv("LOOPLIFT_CACHE", str(tmp_path / "cache"))
    path = Path(tmp_path / "functions_over_kinds.py")
    path.write_text(TEXT)
    spec = importlib.util.spec_from_file_location("functions_over_kinds", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "functions_over_kinds", module)
    spec.loader.exec_module(module)
    return module


def plain():
    return torch.zeros(4)


def of_inference():
    with torch.inference_mode():
        return torch.zeros(4)


def negative():
    return torch._neg_view(torch.ones(4))


def alone(tensor):
    return tensor


def second(tensor):
    return [torch.zeros(4), tensor]


def of_an_object(tensor):
    return SimpleNamespace(out=tensor)


def outcome(function, hold, make):
    target = make()
    try:
        function(torch.arange(4.0), hold(target))
    except RuntimeError as error:
        return str(error)
    return target.tolist()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("verify", ["first", "off"])
@pytest.mark.parametrize("backend", ["auto", "native", "torch"])
@pytest.mark.parametrize(
    ("name", "hold"), [("filled", alone), ("summed", alone), ("in_lists", second), ("held", of_an_object)]
)
def test_kinds_are_told_apart(functions, name, hold, backend, verify):
    function = getattr(functions, name)
    for _ in range(2):
        lifted = looplift.lift(function, backend=backend, verify=verify)
        for make in (plain, of_inference, negative, of_inference, plain):
            assert outcome(lifted, hold, make) == outcome(function, hold, make)
        for make in (of_inference, negative, plain):  # each by a function that has seen no other
            assert outcome(looplift.lift(function, backend=backend, verify=verify), hold, make) == outcome(
                function, hold, make
            )
