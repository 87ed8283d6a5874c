"""A row on one side of an ``if`` and a number on the other, stored to one place; arrays of lists of lists."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.vectorize.harness import check

from looplift import lift


def shares(x):
    out = torch.zeros_like(x)
    for i in range(x.shape[0]):
        if x[i].sum() > 0:
            out[i] = x[i] / x[i].sum()
        else:
            out[i] = 1.0 / x.shape[1]
    return out


def greatest_on_one_side(x):
    out = torch.ones_like(x)
    for i in range(x.shape[0]):
        if x[i, 0] > 0:
            out[i] = x[i].max()
        elif x[i, 1] > 0:
            out[i] = 2
        else:
            out[i] = x[i] * 2
    return out


def chosen_by_name(x):
    out = torch.zeros_like(x)
    for i in range(x.shape[0]):
        value = x[i] * 2 if x[i, 0] > 0 else -1
        out[i] = value
    return out


def standardised(x):
    out = np.empty_like(x)
    for j in range(x.shape[1]):
        spread = np.std(x[:, j])
        if spread == 0:
            out[:, j] = 0
        else:
            out[:, j] = (x[:, j] - np.mean(x[:, j])) / spread
    return out


@pytest.mark.parametrize("function", [shares, greatest_on_one_side, chosen_by_name])
def test_rows_and_numbers(function):
    g = torch.Generator().manual_seed(3)
    check(function, *[[torch.randn(n, m, generator=g)] for n, m in ((6, 3), (2, 2), (1, 4))])


def test_rows_and_numbers_of_arrays():
    g = np.random.default_rng(4)
    calls = [[np.hstack([g.normal(size=(n, m)), np.ones((n, 1))])] for n, m in ((6, 3), (2, 2), (3, 1))]
    check(standardised, *calls, gradients=False)


def test_a_value_that_is_handed_out_too_stays():
    def last(x):
        out, value = torch.zeros_like(x), None
        for i in range(x.shape[0]):
            value = x[i] * 2 if x[i, 0] > 0 else -1
            out[i] = value
        return out, value

    lifted = lift(last, backend="torch")
    for x in (torch.ones(3, 2), -torch.ones(3, 2)):
        wanted, found = last(x), lifted(x)
        assert torch.equal(found[0], wanted[0])
        assert type(found[1]) is type(wanted[1])


def turned(points, angles):
    out = torch.zeros_like(points)
    for i in range(len(angles)):
        c, s = torch.cos(angles[i]), torch.sin(angles[i])
        out[i] = torch.tensor([[c, -s], [s, c]]) @ points[i]
    return out


def turned_arrays(points, angles):
    out = []
    for point, angle in zip(points, angles):
        c, s = np.cos(angle), np.sin(angle)
        out.append(np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.5]]) @ np.array([point[0], point[1], 1]))
    return np.array(out)


def rows_and_lists(points, angles):
    out = []
    for point, angle in zip(points, angles):
        out.append(np.array([point, point[::-1], [1, angle]]))
    return np.stack(out)


def test_tensors_of_lists_of_lists():
    check(turned, *[[torch.randn(n, 2), torch.randn(n)] for n in (5, 2, 1)], gradients=False)


@pytest.mark.parametrize("function", [turned_arrays, rows_and_lists])
def test_arrays_of_lists_of_lists(function):
    g = np.random.default_rng(5)
    check(function, *[[g.normal(size=(n, 2)), g.normal(size=n)] for n in (5, 2, 1)], gradients=False)


def pixels_picked(image, height, width):
    rows = []
    for i in range(height):
        row = []
        for j in range(width):
            row.append(image[i * image.shape[0] // height, j * image.shape[1] // width])
        rows.append(row)
    return np.array(rows)


def pixels_and_rows(image, height, width):
    rows = []
    for i in range(height):
        row = []
        for j in range(width):
            row.append(image[i % 2, j % 3])
        rows.append(row)
    return np.array(rows), rows[0]


def test_views_in_lists_of_lists_that_are_only_joined():
    image = np.random.default_rng(6).integers(0, 255, (4, 5, 3), dtype=np.uint8)
    check(pixels_picked, [image, 7, 3], [image, 2, 6], gradients=False)
    _, row = lift(pixels_and_rows)(image, 3, 4)
    assert row[0].base is image
