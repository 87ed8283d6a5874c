"""Tensors on devices: what is moved and checked, in text, and on a device where there is one."""

import copy

import pytest
import torch
from tests.emit import fake_device
from tests.vectorize.device_programs import (
    PROGRAMS,
    TOO_FAR,
    by_iteration_elsewhere,
    gathered,
    into_new_tensor,
    numbers_into_new_tensor,
    ragged_totals,
    scattered,
    total_from_zero,
    totals_of_rows,
)

from looplift import lift
from looplift.base.compare import difference
from looplift.base.devices import default_device
from looplift.base.errors import NotLiftable
from looplift.emit.source import emit
from looplift.vectorize.plan import plan

SEEDS = (3, 0, 1, 2)


def text_of(function, monkeypatch):
    """The code of a loop whose tensors are on a device."""
    facts = fake_device.facts_there(function, function.arguments(3), monkeypatch)
    return "\n".join(emit(plan(facts, backend="torch")).statements)


@pytest.mark.parametrize("function", [into_new_tensor, numbers_into_new_tensor], ids=lambda one: one.__name__)
def test_what_covers_a_tensor_of_the_cpu_is_moved_there(function, monkeypatch):
    assert ".to('cpu')" in text_of(function, monkeypatch)


@pytest.mark.parametrize("function", [total_from_zero, totals_of_rows], ids=lambda one: one.__name__)
def test_what_begins_as_a_number_of_the_cpu_is_on_the_device_afterwards(function, monkeypatch):
    assert ".to('cpu')" not in text_of(function, monkeypatch)


@pytest.mark.parametrize("function", [by_iteration_elsewhere, ragged_totals], ids=lambda one: one.__name__)
def test_what_is_elsewhere_by_iteration_stays(function, monkeypatch):
    facts = fake_device.facts_there(function, function.arguments(3), monkeypatch)
    with pytest.raises(NotLiftable, match=r"is on cpu and on cuda:0, by iteration") as refused:
        plan(facts, backend="torch")
    assert refused.value.code == "two-devices"


@pytest.mark.parametrize("function", [gathered, scattered], ids=lambda one: one.__name__)
def test_places_are_checked_before_a_device_reads_them(function, monkeypatch):
    lines = text_of(function, monkeypatch).splitlines()
    checks = [k for k, line in enumerate(lines) if line.strip() == "raise RequirementFailed"]
    (first,) = [k for k, line in enumerate(lines) if "index_add_" in line or "[index] *" in line]
    assert len(checks) >= 2 and max(checks) < first


def test_nothing_is_checked_or_moved_on_the_cpu():
    for function in (into_new_tensor, gathered):
        lifted = lift(function, backend="torch", verify="off")
        lifted(*function.arguments(3))
        assert "RequirementFailed" not in lifted.source and "cpu" not in lifted.source


def test_the_default_device_of_the_cpu_changes_nothing():
    lifted = lift(into_new_tensor)
    with torch.device("cpu"):
        assert default_device() is None
        for seed in SEEDS:
            assert torch.equal(
                lifted(*into_new_tensor.arguments(seed)), into_new_tensor(*into_new_tensor.arguments(seed))
            )
    assert {loop.decision for loop in lifted.report().loops} == {"lanes"}


def test_tensors_of_the_cpu_beside_another_default_device():
    lifted = lift(gathered)
    with torch.device("meta"):
        x, index = gathered.arguments(3)
        assert default_device() == torch.device("meta")
        assert torch.equal(lifted(x, index), gathered(x, index))
    (loop,) = lifted.report().loops
    assert (loop.decision, loop.code) == ("kept", "two-devices")


# ---------------------------------------------------------------- devices

ON_A_DEVICE = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")


def there(value):
    if isinstance(value, list):
        return [there(item) for item in value]
    return value.cuda() if isinstance(value, torch.Tensor | torch.nn.Module) else value


def outcome(function, arguments):
    arguments = copy.deepcopy(arguments)
    torch.manual_seed(5)
    try:
        return function(*arguments), arguments, torch.cuda.get_rng_state()
    except Exception as error:
        return type(error), str(error), arguments


@pytest.mark.gpu
@ON_A_DEVICE
@pytest.mark.parametrize("default", [False, True], ids=["", "default"])
@pytest.mark.parametrize("backend", ["torch", "auto"])
@pytest.mark.parametrize("function", PROGRAMS + TOO_FAR, ids=lambda one: one.__name__)
def test_answers_on_a_device_are_those_of_the_loop(function, backend, default):
    lifted = lift(function, backend=backend, verify="off")
    with torch.device("cuda" if default else "cpu"):
        for seed in SEEDS:
            arguments = [there(one) for one in function.arguments(seed)]
            for _ in range(3):
                assert difference(outcome(lifted, arguments), outcome(function, arguments)) is None
    torch.cuda.synchronize()
    print(function.__name__, backend, default, [(loop.decision, loop.reason) for loop in lifted.report().loops])


@pytest.mark.gpu
@ON_A_DEVICE
@pytest.mark.parametrize("function", PROGRAMS, ids=lambda one: one.__name__)
def test_gradients_on_a_device_are_those_of_the_loop(function):
    lifted = lift(function, verify="off")
    for seed in SEEDS:
        assert difference(slopes(lifted, function, seed), slopes(function, function, seed)) is None


def slopes(function, program, seed):
    """The gradients of all results, to what the program takes; or what the loop raises."""
    torch.manual_seed(5)
    arguments = [there(one) for one in program.arguments(seed)]
    inputs = [one.requires_grad_() for one in arguments if isinstance(one, torch.Tensor) and one.is_floating_point()]
    try:
        made = function(*arguments)
        parts = [one for one in (made if isinstance(made, list) else [made]) if one.requires_grad]
        total = sum((one * torch.arange(1, one.numel() + 1, device=one.device).view(one.shape)).sum() for one in parts)
        return [total, *torch.autograd.grad(total, inputs, allow_unused=True)] if parts else None
    except Exception as error:
        return type(error), str(error)
