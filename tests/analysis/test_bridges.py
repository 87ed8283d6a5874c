"""Loops over NumPy arrays and tensors run over tensors in the memory of the arrays."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.vectorize.harness import check

from looplift import lift
from looplift.base.compare import difference

SIZES = [1, 4, 6]
torch.manual_seed(0)
NET = torch.nn.Linear(3, 2)


def rows(n, dtype=np.float64, seed=0):
    return np.random.default_rng(seed + n).normal(size=(n, 3)).astype(dtype)


def labels(n):
    return np.random.default_rng(n).integers(0, 2, size=n)


def images(n):
    return np.random.default_rng(n).integers(0, 255, size=(n, 4, 3, 2)).astype(np.uint8)


def predictions(x):
    found = []
    with torch.no_grad():
        for i in range(len(x)):
            found.append(NET(torch.from_numpy(x[i])).numpy())
    return np.stack(found)


def predictions_in_place(x):
    out = np.zeros((len(x), 2), dtype=np.float32)
    for i, row in enumerate(x):
        out[i] = NET(torch.tensor(row)).detach().numpy()
    return out


def classes(x):
    found = []
    for row in x:
        found.append(NET(torch.tensor(row, dtype=torch.float32).unsqueeze(0)).argmax(dim=1).item())
    return np.array(found)


def hits(x, y):
    correct = 0
    for i in range(len(x)):
        if NET(torch.as_tensor(x[i])).argmax().item() == y[i]:
            correct += 1
    return correct / len(x)


def normalised(xs):
    out = []
    for x in xs:
        x = (x - x.mean()) / (x.std() + 1e-6)
        out.append(torch.from_numpy(x).float())
    return torch.stack(out)


def pixels(frames):
    out = []
    for frame in frames:
        frame = (frame.astype(np.float32) / 255.0 - 0.5) / 0.25
        out.append(torch.from_numpy(frame).permute(2, 0, 1))
    return torch.stack(out)


def gathered(x, places):
    out = torch.zeros(len(places), 3, dtype=torch.float64)
    for k in range(len(places)):
        out[k] = torch.from_numpy(x[places[k]])
    return out


def numbers(x):
    n, d = x.shape
    out = torch.zeros(n, dtype=torch.float64)
    for i in range(n):
        for j in range(d):
            out[i] += torch.tensor(x[i, j]) ** 2
    return out


def two_sets(x, y):
    xs, ys = [], []
    for a, b in zip(x, y):
        xs.append(torch.FloatTensor(a))
        ys.append(torch.tensor(b))
    return torch.stack(xs), torch.stack(ys)


def unit_rows(t):
    out = []
    for i in range(t.shape[0]):
        row = t[i].numpy()
        out.append(row / np.linalg.norm(row))
    return np.array(out)


def largest(t):
    out = []
    for row in t:
        out.append(row.numpy().argmax())
    return out


def into_the_caller_s(out, x):
    for i in range(len(x)):
        out[i] = torch.tanh(torch.from_numpy(x[i])).numpy()
    return out


def of_records(samples):
    xs, ys = [], []
    for sample in samples:
        xs.append(torch.from_numpy(sample["x"]))
        ys.append(sample["y"])
    return torch.stack(xs), torch.tensor(ys)


class Data:
    def __init__(self, n):
        self.rows, self.labels = rows(n, np.float32), labels(n)

    def item(self, i):
        return torch.from_numpy(self.rows[i]), int(self.labels[i])


def of_an_object(data):
    hits = 0
    with torch.no_grad():
        for i in range(len(data.rows)):
            x, y = data.item(i)
            hits += int(NET(x).argmax() == y)
    return hits


TENSORS = [[torch.from_numpy(rows(n))] for n in SIZES]
CASES = [
    (predictions, [[rows(n, np.float32)] for n in SIZES]),
    (predictions_in_place, [[rows(n, np.float32)] for n in SIZES]),
    (classes, [[rows(n)] for n in SIZES]),
    (hits, [[rows(n, np.float32), labels(n)] for n in SIZES]),
    (normalised, [[[*rows(n)]] for n in SIZES]),
    (pixels, [[images(n)] for n in SIZES]),
    (gathered, [[rows(n), np.array([0, -1, n - 1, 0])] for n in SIZES]),
    (numbers, [[rows(n)] for n in SIZES]),
    (two_sets, [[rows(n), labels(n)] for n in SIZES]),
    (of_records, [[[{"x": row, "y": k} for k, row in enumerate(rows(n))]] for n in SIZES]),
    (of_an_object, [[Data(n)] for n in SIZES]),
    (unit_rows, TENSORS),
    (largest, TENSORS),
    (into_the_caller_s, [[rows(n), rows(n, seed=9)] for n in SIZES]),
]


@pytest.mark.parametrize(("function", "calls"), CASES, ids=lambda value: getattr(value, "__name__", ""))
def test_loops_over_arrays_and_tensors(function, calls):
    check(function, *calls, gradients=False)


def test_the_batched_code_is_over_tensors():
    lifted = lift(predictions, backend="torch", verify="off")
    lifted(rows(4, np.float32))
    assert "x_tensor = torch.from_numpy(x)" in lifted.source
    assert "NET(x_tensor)" in lifted.source


def test_results_are_arrays_and_the_caller_s_stay_what_they_are():
    out, x = rows(4), rows(4, seed=9)
    lifted = lift(into_the_caller_s, backend="torch", verify="off")
    assert lifted(out, x) is out
    np.testing.assert_allclose(out, np.tanh(x))
    assert type(lift(predictions, backend="torch")(rows(4, np.float32))) is np.ndarray


def shifted(x):
    out = []
    for row in x:
        out.append(torch.from_numpy(row - row.mean()))
    return torch.stack(out)


def test_numpy_warns_as_in_the_loop():
    x = rows(4)
    x[2] = np.inf
    lifted = lift(shifted, backend="torch", verify="off")
    lifted(rows(4))
    with pytest.warns(RuntimeWarning, match="invalid value"):
        found = lifted(x)
    assert found[2].isnan().all() and found[1].isfinite().all()


def asking(x):
    out = []
    for row in x:
        out.append(NET(torch.from_numpy(row)).numpy())
    return out


def above(t):
    out = []
    for row in t:
        row = row.numpy()
        out.append(row if row.mean() > 0 else -row)
    return np.stack(out)


def doubled(x):
    for row in x:
        torch.from_numpy(row).mul_(2)
    return x.sum()


@pytest.mark.parametrize(
    ("function", "x", "reason"),
    [
        (asking, rows(4, np.float32), "may ask for a gradient"),
        (above, torch.from_numpy(rows(4)), "round it otherwise"),
        (doubled, rows(4), "change something"),
    ],
)
def test_what_stays_says_why(function, x, reason):
    lifted = lift(function, backend="torch", verify="off")
    if function is asking:
        with pytest.raises(RuntimeError, match="requires grad"):
            lifted(x)
    else:
        before = x.copy() if isinstance(x, np.ndarray) else x.clone()
        np.testing.assert_array_equal(lifted(before), function(x))
    (loop,) = lifted.report().loops
    assert loop.decision == "kept" and reason in f"{loop.reason}"


def above_a_float(numbers, t):
    count = 0
    for i in range(len(numbers)):
        if numbers[i] > 16777216.5:
            count += torch.from_numpy(t[i]).shape[0]
    return count


def below_what_the_dtype_holds(numbers, t):
    out = []
    for i in range(len(numbers)):
        if numbers[i] < 300:
            out.append(torch.from_numpy(t[i]) * 2)
    return torch.stack(out)


def under_the_name_of_the_code(found, t):
    for i in range(len(t)):
        found[i] = torch.tanh(torch.from_numpy(t[i])).numpy()
    return len(t), found


@pytest.mark.parametrize(
    ("function", "first"),
    [
        (above_a_float, np.array([16777217, 16777216, 3, 16777215])),
        (below_what_the_dtype_holds, np.array([200, 3, 45, 255], dtype=np.uint8)),
        (under_the_name_of_the_code, rows(4, seed=5)),
    ],
)
def test_numbers_compare_as_numpy_s_and_names_are_the_caller_s(function, first):
    wanted = function(first.copy(), rows(4))
    for backend in ("auto", "torch"):
        assert not difference(lift(function, backend=backend, verify="off")(first.copy(), rows(4)), wanted)


def narrower(numbers):
    out = []
    for i in range(len(numbers)):
        out.append(torch.tensor(numbers[i], dtype=torch.int8))
    return torch.stack(out)


def test_an_integer_that_the_dtype_does_not_hold_raises():
    with pytest.raises(RuntimeError, match="without overflow"):
        lift(narrower, backend="torch", verify="off")(np.array([3, 300]))
