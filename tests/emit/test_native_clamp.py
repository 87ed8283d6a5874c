"""Rows between bounds, and rows beside numbers that are integers at times and floats at others, in kernels."""

import warnings

import numpy as np
import pytest
import torch

from looplift import lift


def brighter(image):
    out = np.zeros_like(image)
    for y in range(image.shape[0]):
        out[y] = np.clip(image[y] * 1.3 + 3, 0, 255)
    return out


def decayed(rows):
    out = np.zeros_like(rows)
    level = 0
    for y in range(rows.shape[0]):
        level = max(0, level * 0.5 + float(rows[y, 0]))
        out[y] = np.clip(rows[y] * (level + 1), -1, level + 0.25)
        out[y] += np.clip(rows[y], None, 0.5) / (1 + level)
    return out


def of_tensors(rows):
    out = torch.zeros_like(rows)
    level = 0
    for y in range(rows.shape[0]):
        level = max(0, level * 0.5 + rows[y, 0].item())
        out[y] = torch.clamp(rows[y] * (level + 1), -1, 1)
        out[y] = out[y] - torch.clamp(rows[y], max=0.5 * level)
    return out


GENERATOR = np.random.default_rng(0)
ROWS = GENERATOR.normal(size=(9, 5))
HOLES = np.where(GENERATOR.random((9, 5)) < 0.2, np.nan, ROWS)
HOLES[:, 0] = ROWS[:, 0]
CASES = {
    "bytes": (brighter, GENERATOR.integers(0, 256, (6, 7), dtype=np.uint8)),
    "doubles": (decayed, ROWS),
    "floats": (decayed, ROWS.astype(np.float32)),
    "no numbers": (decayed, HOLES),
    "tensors": (of_tensors, torch.from_numpy(ROWS)),
    "single": (of_tensors, torch.from_numpy(ROWS).float()),
}


@pytest.mark.parametrize("name", CASES)
def test_rows_between_bounds(name):
    loop, rows = CASES[name]
    lifted = lift(loop, verify="off")
    for _ in range(2):
        np.testing.assert_array_equal(np.asarray(lifted(rows)), np.asarray(loop(rows)))
    assert [one.decision for one in lifted.report().loops] == ["native"]


def test_what_a_dtype_cannot_hold_is_left_to_the_loop():
    image = np.full((3, 4), 250, dtype=np.uint8)

    def too_bright(image):
        out = np.zeros_like(image)
        for y in range(image.shape[0]):
            out[y] = np.clip(image[y] * 1.3, 0, 300)
        return out

    lifted = lift(too_bright, verify="off")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.testing.assert_array_equal(lifted(image), too_bright(image))


def test_bytes_beside_an_integer_stay_bytes():
    def scaled(image):
        out = []
        level = 0
        for y in range(image.shape[0]):
            out.append(image[y] * level)
            level = min(level + 0.5, 1)
        return out

    image = np.arange(12, dtype=np.uint8).reshape(4, 3)
    mine, theirs = lift(scaled, verify="off")(image), scaled(image)
    assert [row.dtype for row in mine] == [row.dtype for row in theirs]
    assert all(map(np.array_equal, mine, theirs))
