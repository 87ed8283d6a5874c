"""Through which float types the values of results came."""

from __future__ import annotations

import warnings

import numpy as np
import torch
from tests.ir.running import translated

from looplift import lift
from looplift.analysis.probe import analyse
from looplift.vectorize.precision import rounded_to


def sums(x, out):
    for i in range(len(out)):
        out[i] = sum(np.sum(x[j]) for j in range(len(x)))
    return out


def taken(x, out, wide):
    for i in range(len(out)):
        out[i] = x[i] * wide[i]
    return out


def test_sums_of_narrow_numbers_in_a_wide_array_agree():
    random = np.random.default_rng(3)
    for seed in range(12):
        x = random.normal(size=(40 + seed, 7)).astype(np.float32)
        lifted = lift(sums, verify="first", backend="torch")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            lifted(x, np.zeros(2))


def test_sums_round_to_the_type_of_their_elements():
    x, out = np.ones((3, 4), np.float32), np.zeros(2)
    assert rounded_to(analyse(translated(sums, (x, out)))) == {"out": "float32", "result": "float32"}


def test_what_is_only_read_from_narrow_arrays_is_as_exact_as_what_is_computed_with_it():
    x, out, wide = torch.ones(3), torch.zeros(3, dtype=torch.float64), torch.ones(3, dtype=torch.float64)
    assert rounded_to(analyse(translated(taken, (x, out, wide)))) == {}
    wide = wide.float()
    assert rounded_to(analyse(translated(taken, (x, out, wide))))["out"] == "float32"
