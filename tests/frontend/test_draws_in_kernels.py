"""Kernels draw from the generators of NumPy and Python as the loop does: the same numbers, and what is left to draw."""

import random

import numpy as np
import pytest
import torch
from tests.frontend import stream_programs, torch_stream_programs
from tests.frontend.stream_programs import FUNCTIONS, KERNELS, OTHERS, Quarter

from looplift import lift
from looplift.base.compare import difference
from looplift.frontend.libraries import LIBRARIES, is_as_written


def seen(call, n, seed):
    """What a call gives or raises, and the states of the generators after it."""
    np.random.seed(seed)
    random.seed(seed)
    if seed % 2:
        np.random.normal()
        random.gauss(0.0, 1.0)
    with np.errstate(all="ignore"):
        try:
            result = call(n)
        except Exception as error:
            result = type(error), str(error)
    state = np.random.get_state()
    return result, state[1].tolist(), *state[2:], random.getstate()


def check(program, sizes=(30, 0, 1, 500)):
    for backend, verify in (("auto", "first"), ("native", "off")):
        lifted = lift(program, backend=backend, verify=verify)
        for seed, n in enumerate(sizes if verify == "first" else sizes[:1]):
            found, wanted = seen(lifted, n, seed), seen(program, n, seed)
            assert difference(found, wanted) is None and found[1:] == wanted[1:]
    return lifted


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, draws in LIBRARIES.items() for name in draws])
def test_libraries_draw_as_is_written_here(kind, name):
    np.random.seed(0)
    assert is_as_written(name, kind)


@pytest.mark.parametrize("program", KERNELS + FUNCTIONS)
def test_kernels_draw(program):
    lifted = check(program)
    assert {loop.decision for loop in lifted.report().loops} == {"native"}


@pytest.mark.parametrize("program", OTHERS)
def test_what_raises_or_draws_in_another_way_is_the_loop_s(program):
    check(program, sizes=(12, 3, 12, 12))


def test_a_function_that_calls_itself_is_left_alone():
    check(stream_programs.of_recursion, sizes=(12, 3))


def test_functions_that_draw_are_those_of_the_call(monkeypatch):
    lifted = lift(stream_programs.of_coins, verify="off")
    changes = [
        ("SHARE", 0.9), ("SHARE", 0.3), ("coin", lambda p=0.5: 2), ("coin", stream_programs.coin),
        ("coins", lambda: np.random.randint(5)),
    ]  # fmt: skip
    assert seen(lifted, 30, 1) == seen(stream_programs.of_coins, 30, 1)
    for name, value in changes:
        monkeypatch.setattr(stream_programs, name, value)
        for seed in (1, 2):
            assert seen(lifted, 30, seed) == seen(stream_programs.of_coins, 30, seed)


def test_other_generators_are_left_alone():
    for generator in (lambda: Quarter(3), lambda: random.SystemRandom(3)):
        lifted = lift(stream_programs.of_an_object, backend="native")
        lifted(20, generator())
        assert "setstate" not in lifted.source
    lifted = lift(stream_programs.of_a_state)
    for bits in (np.random.PCG64, np.random.MT19937):
        first, second = np.random.RandomState(bits(3)), np.random.RandomState(bits(3))
        assert lifted(30, first) == stream_programs.of_a_state(30, second)
        assert difference(first.get_state(legacy=False), second.get_state(legacy=False)) is None


def test_a_function_in_the_place_of_a_library_s_is_called(monkeypatch):
    monkeypatch.setattr(random, "random", lambda: 0.25)
    assert lift(stream_programs.rows_of_draws)(5) == stream_programs.rows_of_draws(5)


def test_gradients_flow_where_numbers_are_drawn():
    def dropped(w):
        total = 0.0
        for i in range(len(w)):
            if np.random.rand() < 0.5:
                total = total + w[i] * np.random.uniform(0, 1)
        return total

    gradients = []
    for call in (dropped, lift(dropped), lift(dropped, verify="off", backend="native")):
        np.random.seed(3)
        w = torch.arange(12.0, requires_grad=True)
        call(w).backward()
        gradients.append(w.grad)
    assert torch.equal(gradients[0], gradients[1]) and torch.equal(gradients[0], gradients[2])


def seen_of_torch(call, n, seed):
    """The same of PyTorch's generators, and of one that is given."""
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    if seed % 2:
        torch.randn(1)
        torch.randn(1, generator=generator)
    found = seen(lambda n: call(n, generator), n, seed)
    return *found, torch.get_rng_state().tolist(), generator.get_state().tolist()


@pytest.mark.parametrize("program", torch_stream_programs.PROGRAMS + torch_stream_programs.OTHERS)
def test_numbers_of_torch_are_those_of_the_loop(program):
    for backend, verify in (("auto", "first"), ("auto", "off"), ("native", "off")):
        lifted = lift(program, backend=backend, verify=verify)
        for seed, n in enumerate((30, 0, 1, 500, 30)):
            found, wanted = seen_of_torch(lifted, n, seed), seen_of_torch(program, n, seed)
            assert difference(found[0], wanted[0]) is None and found[1:] == wanted[1:]
        if program in torch_stream_programs.PROGRAMS and verify == "off":
            assert {loop.decision for loop in lifted.report().loops} == {"native"}


def test_numbers_of_torch_follow_the_default_dtype():
    lifted = lift(torch_stream_programs.walks, verify="off")
    for dtype in (torch.float32, torch.float64, torch.float32, torch.float16):
        torch.set_default_dtype(dtype)
        try:
            found = [seen_of_torch(call, 20, 3) for call in (lifted, torch_stream_programs.walks)]
        finally:
            torch.set_default_dtype(torch.float32)
        assert found[0] == found[1]


def test_another_function_in_the_place_of_one_of_torch_is_called(monkeypatch):
    lifted = lift(torch_stream_programs.coins, verify="off")
    assert seen_of_torch(lifted, 30, 1) == seen_of_torch(torch_stream_programs.coins, 30, 1)
    monkeypatch.setattr(torch, "rand", lambda *shape, **more: torch.full((1,), 0.25))
    assert seen_of_torch(lifted, 30, 1) == seen_of_torch(torch_stream_programs.coins, 30, 1)


def test_numbers_of_torch_on_another_device_are_the_loop_s():
    lifted = lift(torch_stream_programs.coins, verify="off")
    torch.set_default_device("meta")
    try:
        with pytest.raises(RuntimeError):
            lifted(5, None)
    finally:
        torch.set_default_device(None)
    assert seen_of_torch(lifted, 30, 1) == seen_of_torch(torch_stream_programs.coins, 30, 1)
