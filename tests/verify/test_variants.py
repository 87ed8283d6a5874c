"""Variants of arguments keep their structure and what makes them valid."""

from __future__ import annotations

import collections

import numpy as np
import torch

from looplift.verify.variants import changed, resized, variants_of

Pair = collections.namedtuple("Pair", "left right")


def test_extents_change_together():
    x, m, rows = torch.arange(4.0), torch.zeros(4, 3), [[1], [2], [3], [4]]
    made = resized((x, m, rows, 4, 3, True, "text"), {4: 5})
    assert made[0].tolist() == [0, 1, 2, 3, 0]
    assert made[1].shape == (5, 3)
    assert made[2] == [[1], [2], [3], [4], [1]] and made[2][4] is not made[2][0]
    assert made[3:] == (5, 3, True, "text")


def test_extents_from_and_to_nothing():
    assert resized((torch.zeros(0, 2),), {0: 3})[0].shape == (3, 2)
    assert resized((np.zeros((2, 3)),), {3: 0})[0].shape == (2, 0)


def test_positions_stay_inside():
    made = resized((torch.tensor([0, 3, 2]), torch.zeros(4)), {4: 2})
    assert made[0].max() < 2 and made[1].shape == (2,)


def test_changed_keeps_the_structure_and_what_is_one_object():
    x = torch.ones(2)
    value = {"a": [x, x], "b": Pair(x, 1), "c": (2.0,)}
    made = changed(value, lambda leaf: leaf + 1)
    assert made["a"][0] is made["a"][1] is made["b"].left
    assert made["b"].right == 2 and made["c"] == (3.0,) and type(made["b"]) is Pair


def test_variants_cover_what_they_promise():
    names = {variant.name for variant in variants_of((torch.rand(4), torch.rand(4), torch.tensor([1, 2])))}
    assert {"as given", "gradients", "extent 4 changed to 0", "all extents 1", "values with ties"} <= names
    assert {"arguments 0 and 1 the same tensor", "arguments 0 and 1 overlapping", "under inference_mode"} <= names
    assert {"as float64", "every second element of a larger tensor", "NaN, infinities and zeros"} <= names


def test_requires_grad_stays():
    for variant in variants_of((torch.rand(4, requires_grad=True),)):
        assert all(part.requires_grad for part in variant.arguments), variant.name
