"""Two outcomes that differ in; out: whether that is but rounding, of the loop or of its lifted form.

It is where the loop itself moves as much when its inputs move by a unit in the last place, where a run of the loop
in double precision is nearer to the lifted form than to the loop, and where the loop itself decides as the lifted form
does when its inputs, or its own sums and functions, are rounded otherwise.
"""

from dataclasses import dataclass, replace

import numpy as np
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from .differential import (
    gradient_leaves,
    gradients,
    gradients_of_one,
    leaves,
    outcome_difference,
    plain,
    results_with_gradients,
    second_gradients,
    share_of,
    tolerance,
)

SMALLEST_STEP = {torch.float16: 2e-3, torch.bfloat16: 1.6e-2, torch.float32: 2.4e-7, torch.complex64: 2.4e-7}
SHAKES = 32
"""How many times a loop is run with steps that are rounded at random."""
HALVES = torch.float16, torch.bfloat16
SECOND = "second gradients"
NUDGES = (1.0, 0.0), (-1.3, 0.0), (2.1, 0.0), (-1.7, 1.6), (1.3, 0.8)
"""By how many units, and from where in the sine that tells apart by how much each number moves."""


@torch.no_grad()
def nudged(arguments, size, start):
    """The arguments, with all floats in their storages moved by a unit in the last place."""
    done = set()
    for value in leaves(list(arguments)):
        if isinstance(value, torch.Tensor) and (value.is_floating_point() or value.is_complex()):
            storage = value.untyped_storage()
            if storage.data_ptr() in done:
                continue
            done.add(storage.data_ptr())
            flat = torch.empty(0, dtype=value.dtype).set_(storage)
            step = SMALLEST_STEP.get(value.dtype, 4.4e-16)
            flat.mul_(1 + step * (size * (start + torch.arange(1, flat.numel() + 1)).sin()))
        elif isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.flags.writeable:
            value *= (
                (1 + 2 * np.finfo(value.dtype).eps * np.sin(start + size * np.arange(1, value.size + 1)))
                .reshape(value.shape)
                .astype(value.dtype)
            )
    return arguments


def widened(value, known):
    """The same arguments in double precision."""
    if id(value) in known:
        return known[id(value)][1]
    made = value
    if isinstance(value, torch.Tensor) and value.is_floating_point():
        made = value.detach().double().requires_grad_(value.requires_grad)
    elif isinstance(value, np.ndarray) and value.dtype.kind == "f":
        made = value.astype(np.float64)
    elif isinstance(value, (list, tuple)) and type(value) in (list, tuple):
        made = type(value)([widened(item, known) for item in value])
    elif type(value) is dict:
        made = {key: widened(item, known) for key, item in value.items()}
    known[id(value)] = value, made
    return made


INEXACT = set(
    "add sub mul sum mean prod cumsum cumprod dot mv mm bmm addmm addmv baddbmm linalg_vector_norm norm var std "
    "var_mean std_mean exp exp2 expm1 log log2 log10 log1p logsumexp logaddexp _softmax _log_softmax sigmoid tanh "
    "sqrt rsqrt pow div reciprocal sin cos tan asin acos atan atan2 sinh cosh asinh acosh atanh erf erfc "
    "erfinv lgamma digamma gelu silu softplus elu mish addcmul addcdiv lerp hypot".split()
)
"""The operations whose results differ in the last place between two right ways to compute them, or to order them."""


def is_short(value):
    """Which entries have few enough digits to be what an exact computation gave."""
    return (value * 4096).frac() == 0


class Shaken(TorchDispatchMode):
    """Moves the results of inexact operations by a unit in the last place at random, not what is exact and may tie."""

    def __init__(self, seed):
        super().__init__()
        self.chance = np.random.default_rng(seed)

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        found = func(*args, **(kwargs or {}))
        if func.overloadpacket.__name__.rstrip("_") in INEXACT:
            for value in found if isinstance(found, tuple) else (found,):
                if isinstance(value, torch.Tensor) and value.dtype in (torch.float32, torch.float64):
                    steps = torch.from_numpy(self.chance.integers(-1, 2, size=tuple(value.shape))).to(value.dtype)
                    value.mul_(torch.where(is_short(value), 1.0, 1 + steps * torch.finfo(value.dtype).eps))
        return found


class ShakenArray(np.ndarray):
    """An array of NumPy, and all that is computed from it, of which the same is done."""

    chance = np.random.default_rng(0)

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **kwargs):
        inputs, targets = map(self.all_plain, (inputs, out or ()))
        found = getattr(ufunc, method)(*inputs, **kwargs, **({"out": targets} if targets else {}))
        made = np.asarray(found)
        if made.dtype.kind == "f":
            steps = self.chance.integers(-1, 2, size=made.shape)
            is_exact = np.modf(made * 4096)[0] == 0
            made = np.multiply(made, np.where(is_exact, 1, 1 + steps * np.finfo(made.dtype).eps), dtype=made.dtype)
        if out:
            np.copyto(targets[0], made)
            return out[0]
        return made.view(ShakenArray) if isinstance(found, np.ndarray) else made[()]

    @staticmethod
    def all_plain(values):
        return tuple(v.view(np.ndarray) if isinstance(v, ShakenArray) else v for v in values)


def replaced(value, kind, known):
    """The same arguments or results, and lists, with arrays of another class over their memory."""
    if id(value) in known:
        return known[id(value)][1]
    known[id(value)] = value, value
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        known[id(value)] = value, value.view(kind)
    elif type(value) is list:
        value[:] = [replaced(item, kind, known) for item in value]
    elif type(value) is tuple:
        known[id(value)] = value, tuple([replaced(item, kind, known) for item in value])
    return known[id(value)][1]


def shaken(run, build, seed):
    """The loop's outcome where its sums and functions are rounded otherwise."""
    with Shaken(seed):
        want = run(replaced(build(), ShakenArray, {}))
    arguments, result = replaced((want.arguments, want.result), np.ndarray, {})
    return replace(want, arguments=arguments, result=result)


def shaken_groups(run, build, seed):
    """The groups of such an outcome, where the sums of the backward pass are rounded otherwise as well."""
    want = shaken(run, build, seed)
    with Shaken(seed):
        return groups_of(want)


def is_decided_by_rounding(got, compare, run, build):
    """Whether the loop itself has the lifted form's outcome, where its sums and functions are rounded otherwise."""
    for seed in range(SHAKES):
        want = shaken(run, build, seed)
        if outcome_difference(got, want, replace(compare, rounding=[], seen=set())) is None:
            return True
    return False


# ---------------------------------------------------------------- what an outcome holds


@dataclass
class Numbers:
    """All floats of some values, real and imaginary parts, what each may be off by, and the rest as text."""

    values: np.ndarray
    slack: np.ndarray
    rest: list


def groups_of(outcome):
    """The values that are compared together, by the name of each group."""
    groups = {"values": [outcome.result, list(outcome.arguments)], "gradients": gradients(outcome)[0]}
    results = results_with_gradients(outcome)
    for at in (0, 1, -1) if len(results) > 1 else ():
        groups[f"gradients of result {at}"] = gradients_of_one(outcome, results[at])
    second = second_gradients(outcome)
    groups[SECOND] = [] if isinstance(second, RuntimeError) else second
    return groups


def numbers_of(values, compare, is_second):
    parts, slacks, rest = [np.zeros(0)], [np.zeros(0)], []
    for value in leaves(values):
        relative, absolute = bounds_of(value, compare, is_second)
        if isinstance(value, torch.Tensor):
            value = plain(value) if value.is_floating_point() or value.is_complex() else value.numpy()
        if not isinstance(value, (np.ndarray, np.generic, float, complex)) or np.asarray(value).dtype.kind not in "fc":
            rest.append(repr(value))
            continue
        for part in (np.asarray(value).real.ravel().astype(float), np.asarray(value).imag.ravel().astype(float)):
            size = np.abs(part) if not is_second else 1 + np.abs(part[np.isfinite(part)]).max(initial=0.0)
            parts.append(part)
            slacks.append(np.broadcast_to(absolute + relative * size, part.shape))
    return Numbers(np.concatenate(parts), np.concatenate(slacks), rest)


def bounds_of(value, compare, is_second):
    dtype = getattr(value, "dtype", None)
    if is_second:
        return share_of(dtype), 0.0
    found = compare.number if dtype is None else tolerance(dtype)
    return max(found[0], compare.narrowest[0]), max(found[1], compare.narrowest[1])


# ---------------------------------------------------------------- is it but rounding?


def only_rounding(got, want, compare, run, build):
    """Whether all that differs is rounding. ``run`` observes the loop with arguments such as ``build`` makes."""
    mine, theirs = groups_of(got), groups_of(want)
    moved = [groups_of(run(nudged(build(), *nudge))) for nudge in NUDGES]
    exact = groups_of(run(widened(build(), {})))
    reruns = [shaken_groups(run, build, seed) for seed in range(4)]
    noise = noise_of(want, theirs, compare)
    first = numbers_of(theirs["gradients"], compare, False).values
    unknown = noise > 0.05 * (1 + np.abs(first[np.isfinite(first)]).max(initial=0.0))
    if mine.keys() != theirs.keys():
        return False
    for name in theirs:
        one, other, precise, *noisy = (
            numbers_of(groups.get(name), compare, name == SECOND) for groups in (mine, theirs, exact, *moved, *reruns)
        )
        if name == SECOND and not (one.values.size and np.isfinite(other.values).all()):
            continue
        if one.rest != other.rest or one.values.shape != other.values.shape:
            return False
        bound = bound_of(other, noisy)
        if name != "values" and noise.shape == bound.shape:
            bound = np.maximum(bound, np.where(unknown, steps_of(other, noisy), 0.0) if name == SECOND else noise)
        if name != "values" and not any(leaf.dtype in HALVES for leaf in gradient_leaves(want.arguments)):
            bound = np.maximum(bound, lost_of(other, precise))
        if not (is_near(one, other, precise, bound) | is_chaotic(other, noisy[len(moved) :])).all():
            return False
    return True


def noise_of(outcome, groups, compare):
    """By how much a unit in the last place of each number given moves its gradient, as the second gradients tell."""
    second = numbers_of(groups[SECOND], compare, True).values
    inputs = [one.detach() * SMALLEST_STEP.get(one.dtype, 4.4e-16) for one in gradient_leaves(outcome.arguments)]
    units = numbers_of(inputs, compare, False).values
    return 8 * np.abs(units * np.nan_to_num(second, nan=0.0)) if units.shape == second.shape else np.zeros(0)


def lost_of(other, precise):
    """By how much gradients in single precision may be off where the loop's own have lost most of their digits."""
    if precise.values.shape != other.values.shape or not np.isfinite([*precise.values, *other.values]).all():
        return 0.0
    wrong = np.abs(other.values - precise.values).max(initial=0.0)
    return 4 * wrong if wrong > 0.05 * (1 + np.abs(precise.values).max(initial=0.0)) else 0.0


def steps_of(other, noisy):
    """By how much the loop's numbers move with its inputs."""
    theirs, moved = other.values, np.zeros(other.values.shape)
    with np.errstate(all="ignore"):
        for values in (numbers.values for numbers in noisy if numbers.values.shape == theirs.shape):
            step = np.abs(values - theirs)
            step = np.where((values == theirs) | (np.isnan(values) & np.isnan(theirs)), 0.0, step)
            moved = np.maximum(moved, np.where(np.isnan(step), np.inf, step))
    return moved


def is_chaotic(other, reruns):
    """Which of the loop's numbers have no digit that does not hang on how its own sums and functions are rounded."""
    with np.errstate(all="ignore"):
        return np.isfinite(other.values) & (steps_of(other, reruns) > 0.05 * (1 + np.abs(other.values)))


def bound_of(other, noisy):
    """What a number may be off by as rounding."""
    moved, finite = steps_of(other, noisy), np.isfinite(other.values)
    size = np.abs(other.values[finite]).max(initial=0.0)
    capped = np.minimum(64 * moved, np.where(np.isinf(moved), np.inf, 0.05 * (1 + size)))
    return capped + 1e-9 + 1e-7 * np.where(finite, np.abs(other.values), 0.0)


def is_near(one, other, precise, bound):
    """Which of the numbers differ by rounding, or not at all."""
    mine, theirs = one.values, other.values
    with np.errstate(all="ignore"):
        near = (mine == theirs) | (np.isnan(mine) & np.isnan(theirs))
        near |= np.isfinite(theirs) & (np.abs(mine - theirs) <= other.slack)
        gap = np.abs(mine - theirs)
        near |= np.where(np.isnan(gap), np.inf, gap) <= bound
        if precise.values.shape == theirs.shape:
            wrong, theirs_wrong = np.abs(mine - precise.values), np.abs(theirs - precise.values)
            near |= (wrong <= other.slack) & ((wrong <= theirs_wrong) | (theirs_wrong <= other.slack))
        return near
