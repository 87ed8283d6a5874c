"""Compares two functions on the same arguments: every answer and every gradient, and the time of a call."""

import importlib.util
import inspect
import statistics
import sys
import time
from pathlib import Path

import numpy as np
import torch

HERE = Path(__file__).parent
TOOLS = {"comparison", "demo"}
TOLERANCE = {torch.float64: {"rtol": 1e-7, "atol": 1e-9}, torch.float32: {"rtol": 1e-4, "atol": 1e-5}}
TURN = 1e-3
EXACT = {"rtol": 0.0, "atol": 0.0}


def example_paths():
    return sorted(path for path in HERE.glob("*.py") if path.stem not in TOOLS)


def load(path):
    """The module of one example, with its source at hand for ``inspect``."""
    name = f"examples_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def small_arguments(make, *sizes):
    """Arguments of a few elements: what makes them takes nothing but sizes."""
    return make(*sizes[: len(inspect.signature(make).parameters)])


# ---------------------------------------------------------------- answers


def difference(got, want):
    """None where two answers are equal in type, dtype, shape and values, else what differs."""
    if type(got) is not type(want):
        return f"{type(got).__name__} instead of {type(want).__name__}"
    if isinstance(want, torch.Tensor):
        return difference_of_tensors(got, want)
    if isinstance(want, np.ndarray):
        if got.dtype != want.dtype:
            return f"{got.dtype} instead of {want.dtype}"
        return difference_of_tensors(torch.from_numpy(got), torch.from_numpy(want))
    return None if got == want else f"{got!r} instead of {want!r}"


def difference_of_tensors(got, want):
    if got.dtype != want.dtype or got.shape != want.shape:
        return f"{got.dtype} {tuple(got.shape)} instead of {want.dtype} {tuple(want.shape)}"
    if got.requires_grad != want.requires_grad:
        return "a gradient was lost" if want.requires_grad else "a gradient appeared"
    if torch.allclose(got, want, equal_nan=True, **TOLERANCE.get(want.dtype, EXACT)):
        return None
    return f"values off by up to {float((got - want).abs().max()):.3g}"


def leaves_of(arguments):
    """The tensors that a gradient can be asked of: float arguments and parameters of module arguments."""
    tensors = [a for a in arguments if isinstance(a, torch.Tensor) and a.is_floating_point()]
    modules = [a for a in arguments if isinstance(a, torch.nn.Module)]
    return tensors + [parameter for module in modules for parameter in module.parameters()]


def gradients(function, arguments):
    """The gradient of a weighted sum of the answer in each leaf; None if the answer has no gradient."""
    leaves = [leaf.requires_grad_() for leaf in leaves_of(arguments)]
    answer = function(*arguments)
    if not isinstance(answer, torch.Tensor) or not answer.requires_grad:
        return None
    weights = torch.linspace(0.5, 1.5, answer.numel(), dtype=answer.dtype).reshape(answer.shape)
    return torch.autograd.grad((answer * weights).sum(), leaves, allow_unused=True)


def difference_of_gradients(function, loop, make):
    with torch.enable_grad():
        got, want = gradients(function, make()), gradients(loop, make())
    if want is None or got is None:
        return None if got is want else "a gradient was lost or appeared"
    for position, (ours, theirs) in enumerate(zip(got, want)):
        if found := difference(ours, theirs):
            return f"gradient {position}: {found}"
    return None


def outcome(function, arguments):
    """What a call returns, and what it raises."""
    try:
        return function(*arguments), None
    except Exception as error:
        return None, error


def difference_of_calls(function, loop, make):
    """None where two functions give the same answers, exceptions and gradients on what ``make`` returns."""
    want, wanted_error = outcome(loop, make())
    got, error = outcome(function, make())
    if type(error) is not type(wanted_error) or str(error) != str(wanted_error):
        return f"raised {error!r} instead of {wanted_error!r}"
    if wanted_error is not None:
        return None
    return difference(got, want) or difference_of_gradients(function, loop, make)


# ---------------------------------------------------------------- times


def seconds_per_call(function, arguments, calls):
    start = time.perf_counter()
    for _ in range(calls):
        function(*arguments)
    return (time.perf_counter() - start) / calls


def warm_seconds_per_call(function, arguments, calls):
    """As above, after calls that bring code and data back into the caches."""
    if calls > 1:
        seconds_per_call(function, arguments, 1 + calls // 10)
    return seconds_per_call(function, arguments, calls)


def median_times(functions, arguments, *, budget):
    """Median seconds of a call of each function: they take turns of a millisecond or one call, until the budget."""
    once = [min(seconds_per_call(function, arguments, 1) for _ in range(3)) for function in functions]
    calls = [max(1, int(TURN / seconds)) for seconds in once]
    rounds = max(3, min(200, int(budget / sum(max(seconds, TURN) for seconds in once))))
    samples = [[warm_seconds_per_call(f, arguments, n) for f, n in zip(functions, calls)] for _ in range(rounds)]
    return [statistics.median(column) for column in zip(*samples)]
