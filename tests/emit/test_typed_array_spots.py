"""Arrays as subscripts of arrays, and arrays made of lists, in typed programs."""

import copy

import numpy as np
import pytest
from tests.emit.container_programs import runs_alike
from tests.emit.test_typed_tensors import first

from looplift import lift

__all__ = ["first"]


def erased(image, least):
    """Stores under masks, that change what later masks see."""
    counts = {}
    for value in image.ravel().tolist():
        counts[value] = counts.get(value, 0) + 1
    for value, count in counts.items():
        if count < least:
            image[image == value] = 0
        elif value == 1:
            image[(image == value) | (image == value + 1)] = value + 2
    return image, counts


def steps(x):
    """Places that are computed, and pairs of them."""
    found = []
    for k in range(3):
        at = np.flatnonzero(x[1:] != x[:-1])
        picked = x[at + 1] - x[at]
        found.append(int(picked.sum()) + k)
        x[at] = picked
        x[at - 1] += 2
    return x, found


def crossed(table, rows, columns):
    total = 0
    for k in range(len(rows)):
        chosen = table[rows, columns]
        total = total * 3 % 1009 + int(chosen[k])
        table[rows, columns] = k
        table[rows, 0] += 1
        table[rows] = table[rows][::-1][0, 0]
    return table, total


def inverted(mask, other):
    held = []
    for k in range(3):
        mask = ~mask ^ other
        held.append(int(mask.sum()))
        other[mask & ~other] = k % 2 == 0
    return held, mask, other


def itself(x):
    """The places are the array that is stored to."""
    for k in range(2):
        x[x] = x[::-1] + k - k
    return x


@pytest.mark.parametrize("dtype", ["int64", "int8", "uint8", "float32", "float64"])
def test_stores_under_masks(dtype, first):
    image = np.random.RandomState(0).randint(0, 6, (7, 9)).astype(dtype)
    for x in (image, image[::2, 1:], image[:, :1], image[0]):
        runs_alike(erased, x, 9)
    runs_alike(erased, np.zeros((0, 3), dtype), 9, native=None)
    runs_alike(erased, image.T, 9, native=None)


@pytest.mark.parametrize("dtype", ["int64", "int16", "float64"])
def test_places_of_rows(dtype, first):
    for values in ([1, 1, 2, 3, 3, 3, 1], [1], [2, 2], list(range(9))):
        runs_alike(steps, np.array(values, dtype))
        runs_alike(steps, np.array(values, dtype).repeat(2)[::2])
    runs_alike(steps, np.array([], dtype), native=None)


@pytest.mark.parametrize(
    "rows, columns", [([0, 2, 1], [1, 1, 0]), ([-1, 0], [-2, 1]), ([0, 0, 0], [1, 1, 1]), ([1], [2])]
)
def test_pairs_of_places(rows, columns, first):
    table = np.arange(12.0).reshape(3, 4)
    for kind in (np.int64, np.int8):
        runs_alike(crossed, table, np.array(rows, kind), np.array(columns, kind))


@pytest.mark.parametrize(
    "rows, columns", [([0, 3], [0, 0]), ([0, 1], [0, -5]), ([0, 1, 2], [0, 1]), ([0, 1], [0]), ([0.0, 1.0], [0.0, 1.0])]
)
def test_places_that_are_not_there(rows, columns, first):
    runs_alike(crossed, np.arange(12.0).reshape(3, 4), np.array(rows), np.array(columns), native=None)


def test_masks_and_what_changes_itself(first):
    r = np.random.RandomState(1)
    runs_alike(inverted, r.rand(3, 4) < 0.5, r.rand(3, 4) < 0.5)
    runs_alike(itself, np.array([3, 0, 1, 2]))
    runs_alike(itself, np.array([3, 0, 1, 4]), native=None)


def misfits(x, mask, values):
    for _ in range(2):
        x[mask] = values
    return x


@pytest.mark.parametrize(
    "mask, values",
    [
        ([True, False, True], np.array([5, 6])),
        ([True, False, True], np.array([5])),
        ([True, False, True], np.array([5, 6, 7])),
        ([False, False, False], np.array([5, 6])),
        ([True, False], np.array([5])),
        ([True, False, True], 300),
        ([False, False, False], 300),
        ([True, False, True], 2.7),
        ([True, False, True], float("nan")),
        ([True, False, True], np.array([1.5, -2.5])),
        ([True, False, True], np.array([1.5, np.nan])),
    ],
)
@pytest.mark.parametrize("dtype", ["int8", "float32", "bool"])
@pytest.mark.filterwarnings("ignore:invalid value")
def test_stores_that_do_not_fit(mask, values, dtype, first):
    runs_alike(misfits, np.array([1, 0, 1], dtype), np.array(mask), values, native=None)


def test_stores_where_nothing_may_be_written(first):
    x = np.arange(3)
    x.flags.writeable = False
    for mask in ([True, False, True], [False] * 3):
        runs_alike(misfits, x, np.array(mask), 1, native=None)


def in_turns(table, mask, rows):
    """One pair of brackets after the other is not both at once."""
    found = []
    for k in range(len(table)):
        found.append((table[rows][k % len(rows)].sum(), table[rows][0][1], table[rows, 0][0]))
        table[k][mask] = k
        table[k][mask] += found[k][1]
        table[[0, -1], [1, k]] = 5
    return found, table


def test_one_subscript_after_the_other(first):
    table = np.arange(12).reshape(3, 4)
    mask = np.array([True, False, True, False])
    for rows in ([0, 2], [-1], [1, 1]):
        runs_alike(in_turns, table, mask, np.array(rows))
        runs_alike(in_turns, table * 0.5, mask, np.array(rows))
    runs_alike(in_turns, table, mask[:3], np.array([0]), native=None)
    runs_alike(in_turns, table, mask, np.array([3]), native=None)


def behind(x, places, mask):
    """Places behind slices, and before them: the results are copies, in the order in which NumPy has them."""
    found, rows, seen = [], [], {}
    for k in range(2):
        seen[k] = seen.get(k - 1, 0) + int(x[:, mask].max())
        found += [x[:, places], x[1:, places], x[places, ::-1], x[::2, mask]]
        rows += [x[k, mask], x[k, places]]
        found[0][0, 0] = 100
        x[:, places] += k
        x[1:, mask] = k
        x[:, places] = x[:, places] * 2
        x[places, 1:] -= 1
    return found, rows, seen, x


def layers(x, places, mask):
    found, rows, seen = [], [], {}
    for k in range(2):
        seen[k] = seen.get(k - 1, 0) + k
        found += [x[places], x[:, places], x[:, :, places]]
        rows += [x[mask], x[k, places], x[places, places]]
        x[mask] = seen[k]
        x[places, 0] = x[0, places]
        x[places, 1, 1] += 1
    return found, rows, seen, x


def same_bits(function, *given):
    runs_alike(function, *given, native=None)
    assert any(loop.decision == "native" for loop in compiled(function, *given).report().loops)


def compiled(function, *given):
    lifted = lift(function, verify="off")
    lifted(*copy.deepcopy(given))
    return lifted


@pytest.mark.parametrize("dtype", ["int64", "int8", "float64"])
def test_places_beside_slices(dtype, first):
    x = np.arange(12).reshape(3, 4).astype(dtype)
    mask = np.array([True, False, False, True])
    for places in ([0, 2], [-1], [1, 1, -3]):
        for kind in (np.int64, np.uint8 if min(places) >= 0 else np.int8):
            same_bits(behind, x, np.array(places, kind), mask)
        same_bits(behind, x, places, mask)
    for given in ([3], [0, -4], [], [2**63]):
        runs_alike(behind, x, given, mask, native=None)
    for one in (mask[:3], mask.astype(int), ~mask & mask, np.ones((3, 4), bool)):
        runs_alike(behind, x, [0, 1], one, native=None)
    for one in (x.T.copy(), x.T, np.asfortranarray(x), np.repeat(x, 2, 0)[::2, ::-1]):
        runs_alike(behind, one, [0, 1], np.arange(one.shape[1]) % 2 == 0, native=None)


def test_places_of_layers(first):
    x = np.arange(27.0).reshape(3, 3, 3)
    mask = x[0] % 2 == 0
    same_bits(layers, x, np.array([2, 0]), mask)
    same_bits(layers, x, [1, 1, -1], mask)
    for given in ([3], [-4], [], [0, 1, 2, 0]):
        runs_alike(layers, x, given, mask, native=None)
    runs_alike(layers, x, [0, 1], mask[:2], native=None)
    for one in (np.asfortranarray(x), x.transpose(0, 2, 1), x[:, ::-1], x[::-1].copy()[:, :, ::-1]):
        runs_alike(layers, one, [0, 1], mask, native=None)
