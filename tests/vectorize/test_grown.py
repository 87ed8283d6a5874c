"""Lists that lanes make longer until they leave a loop: what is in them, their lengths, what is made of them."""

from typing import Any

import pytest
import torch

from looplift import lift


def decoded(table, move, read, start, last, steps):
    rows = []
    for b in range(start.shape[0]):
        state, token, row = start[b], 0, []
        for _ in range(steps):
            state = torch.tanh(move @ state + table[token])
            token = int((read @ state).argmax())
            if token == last:
                break
            row.append(token)
        rows.append(row)
    return rows


def with_the_last(table, move, read, start, last, steps):
    rows, scores = [], []
    for b in range(start.shape[0]):
        state, token, row, score = start[b], 0, [], 0.0
        for _ in range(steps):
            state = torch.tanh(move @ state + table[token])
            chances = torch.log_softmax(read @ state, 0)
            token = chances.argmax().item()
            score = score + chances[token]
            row.append(token)
            if token == last:
                break
        rows.append(torch.tensor(row))
        scores.append(score / len(row))
    return rows, torch.stack(scores)


def two_lists(table, move, read, start, last, steps):
    rows, chances = [], []
    for b in range(start.shape[0]):
        state, token, row, given = start[b], 0, [], []
        for t in range(steps):
            state = torch.tanh(move @ state + table[token])
            chance = torch.softmax(read @ state, 0)
            token = chance.argmax().item()
            if token == last:
                break
            if t % 2 == 0:
                row.append(token)
            given.append(chance[token].item())
        rows.append(row)
        chances.append(given)
    return rows, chances


def while_large(table, move, read, start, last, steps):
    rows = []
    for b in range(start.shape[0]):
        state, row = start[b] + 1, []
        while state[0].abs() > 0.1:
            state = torch.tanh(state) * 0.7
            row.append(bool(state[1] > 0))
        rows.append(row)
    return rows


def summed(table, move, read, start, last, steps):
    sums = torch.zeros(start.shape[0])
    for b in range(start.shape[0]):
        state, row = start[b], []
        for _ in range(steps):
            state = torch.tanh(move @ state)
            if state[0] > 0.6:
                continue
            if state[1] < -0.6:
                break
            row.append(state[0] * 2)
        if row:
            sums[b] = torch.stack(row).mean()
    return sums


def from_the_last(table, move, read, start, last, steps):
    rows = []
    for b in range(start.shape[0]):
        state, row = start[b], [0]
        while row[-1] != last and len(row) < steps:
            state = torch.tanh(move @ state + table[row[-1]])
            row.append((read @ state).argmax().item())
        rows.append(row)
    return rows


def begun_with_two(table, move, read, start, last, steps):
    rows, counts = [], []
    for b in range(start.shape[0]):
        state, row = start[b], [0, 2]
        for _ in range(steps):
            state = torch.tanh(move @ state + table[row[-1]])
            token = (read @ state).argmax().item()
            if token == last:
                break
            if state[0] > 0:
                row.append(token)
            else:
                state = state * 2
            if len(row) == 5:
                break
        rows.append(row)
        counts.append(len(row) * 10 + row[-1])
    return rows, counts


def halves(table, move, read, start, last, steps):
    rows = []
    for b in range(start.shape[0] * 5):
        row = [b]
        while row[-1] != 0:
            row.append(row[-1] // 2)
        rows.append(row)
    return rows


ALL = [decoded, with_the_last, two_lists, while_large, summed, from_the_last, begun_with_two, halves]


def arguments(samples, steps, seed=0):
    generator = torch.Generator().manual_seed(seed)
    draw = lambda *shape: torch.randn(shape, generator=generator, dtype=torch.float64)
    return draw(6, 4), draw(4, 4), draw(6, 4), draw(samples, 4), 1, steps


def outcome(function, values):
    with torch.no_grad():
        try:
            return function(*values)
        except Exception as error:
            return type(error), str(error)


def same(got: Any, want: Any) -> bool:
    if isinstance(want, list | tuple):
        return type(got) is type(want) and len(got) == len(want) and all(map(same, got, want))
    if isinstance(want, torch.Tensor):
        return got.dtype == want.dtype and got.shape == want.shape and torch.allclose(got, want)
    return type(got) is type(want) and got == pytest.approx(want)


@pytest.mark.parametrize("sizes", [(5, 7), (3, 1), (1, 4), (0, 3), (4, 0), (2, 2)])
@pytest.mark.parametrize("function", ALL)
@pytest.mark.parametrize("backend", ["auto", "torch"])
def test_rows_that_grow_until_a_lane_is_done(function, sizes, backend):
    run: Any = lift(function, verify="off", backend=backend)
    for seed in range(3):
        assert same(outcome(run, arguments(*sizes, seed)), outcome(function, arguments(*sizes, seed)))


@pytest.mark.parametrize("function", ALL)
def test_samples_run_together(function):
    run: Any = lift(function, verify="off", backend="torch")
    outcome(run, arguments(5, 7))
    assert [loop.decision for loop in run.report().loops][:2] == ["lanes", "sequential"], run.report()
