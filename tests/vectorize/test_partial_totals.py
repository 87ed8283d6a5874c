"""Sums over loops that remember, and the loops around them: each run has a sum of its own."""

import pytest
import torch
import torch.nn.functional as F

from looplift import lift


def teacher_forced(cell, out, seqs, begin):
    loss, count = 0.0, 0
    for seq in seqs:
        h = begin
        for t in range(len(seq) - 1):
            h = torch.tanh(cell(torch.cat([seq[t], h])))
            loss = loss + F.mse_loss(out(h), seq[t + 1])
            count += 1
    return loss, count


def begun_as_tensor(cell, out, seqs, begin):
    loss = torch.zeros((), dtype=begin.dtype)
    for seq in seqs:
        h = begin
        for t in range(len(seq)):
            h = torch.tanh(cell(torch.cat([seq[t], h])))
            loss += out(h).square().sum()
    return loss / len(seqs)


def two_sums(cell, out, seqs, begin):
    gained, lost, most = 1.5, 0.0, 0
    for seq in seqs:
        h, steps = begin, 0
        for t in range(len(seq) - 1, -1, -1):
            h = torch.tanh(cell(torch.cat([seq[t], h])) + 0.1 * h)
            gained = gained - out(h).sum()
            steps += 1
            if t % 2 == 0:
                lost = lost + h.mean()
        most = max(most, steps)
        gained = gained - h.max()
    return gained, lost, most


def attending(cell, out, seqs, begin):
    loss = 0.0
    for seq, memory in zip(seqs, seqs):
        h = memory.mean(dim=0)
        for t in range(len(seq) - 1):
            scores = []
            for j in range(memory.size(0)):
                scores.append(torch.dot(h, memory[j]))
            weights = torch.softmax(torch.stack(scores), dim=-1)
            context = torch.zeros_like(h)
            for j in range(memory.size(0)):
                context = context + weights[j] * memory[j]
            h = torch.tanh(cell(torch.cat([seq[t], context])))
            loss = loss + F.mse_loss(out(h), seq[t + 1])
    return loss


def deciding(cell, out, seqs, begin):
    loss, large = 0.0, 0
    for seq in seqs:
        h = begin
        for t in range(len(seq)):
            h = torch.tanh(cell(torch.cat([seq[t], h])))
            loss = loss + h.sum().item()
            if loss > 1.0:
                large += 1
    return loss, large


LOOPS = (teacher_forced, begun_as_tensor, two_sums, attending, deciding)


def layers(size=4):
    torch.manual_seed(size)
    return [torch.nn.Linear(2 * size, size).double(), torch.nn.Linear(size, size).double()]


def sequences(lengths, size=4):
    torch.manual_seed(sum(lengths))
    return [torch.randn(count, size, dtype=torch.float64) for count in lengths]


def parts(result):
    return [one for one in (result if isinstance(result, tuple) else (result,)) if isinstance(one, torch.Tensor)]


@pytest.mark.parametrize("backend", ["torch", "auto"])
@pytest.mark.parametrize("loop", LOOPS, ids=lambda one: one.__name__)
def test_values_and_gradients_are_those_of_the_loop(loop, backend):
    lifted = lift(loop, backend=backend, verify="off")
    modules = layers()
    begin = torch.full((4,), 0.1, dtype=torch.float64, requires_grad=True)
    inputs = [begin, *(one for module in modules for one in module.parameters())]
    for lengths in ((3, 5, 2), (2,), (4, 4, 4), (1, 3), (1, 1), (), (6, 2, 3, 5)):
        seqs = sequences(lengths)
        outcomes = []
        for function in (lifted, loop):
            try:
                outcomes.append(function(*modules, seqs, begin))
            except ZeroDivisionError as error:
                outcomes.append(type(error))
        got, wanted = outcomes
        assert type(got) is type(wanted)
        if isinstance(wanted, type):
            continue
        torch.testing.assert_close(got, wanted, equal_nan=True)
        for ours, theirs in zip(parts(got), parts(wanted), strict=True):
            assert ours.requires_grad == theirs.requires_grad
            if theirs.requires_grad:
                pair = [
                    torch.autograd.grad(one, inputs, allow_unused=True, retain_graph=True) for one in (ours, theirs)
                ]
                assert [one is None for one in pair[0]] == [one is None for one in pair[1]]
                torch.testing.assert_close(*([one for one in side if one is not None] for side in pair))


@pytest.mark.parametrize("loop", [teacher_forced, begun_as_tensor, attending], ids=lambda one: one.__name__)
def test_all_sequences_take_their_steps_together(loop):
    lifted = lift(loop, backend="torch", verify="off")
    lifted(*layers(), sequences((3, 5, 2)), torch.zeros(4, dtype=torch.float64))
    assert [one.decision for one in lifted.report().loops][:2] == ["lanes", "sequential"]


def into_the_callers(w, seqs, loss):
    for seq in seqs:
        h = torch.zeros((), dtype=loss.dtype)
        for t in range(len(seq)):
            h = torch.tanh(h * w + seq[t])
            loss += h
    return loss * 2


def under_two_names(w, seqs, loss):
    loss = torch.zeros((), dtype=loss.dtype)
    other = loss
    for seq in seqs:
        h = torch.zeros((), dtype=loss.dtype)
        for t in range(len(seq)):
            h = torch.tanh(h * w + seq[t])
            loss += h
    return loss, other


def of_a_name(w, seqs, loss):
    total = loss
    for seq in seqs:
        h = torch.zeros((), dtype=loss.dtype)
        for t in range(len(seq)):
            h = torch.tanh(h * w + seq[t])
            total += h
    return total


@pytest.mark.parametrize("backend", ["torch", "auto"])
@pytest.mark.parametrize("loop", [into_the_callers, under_two_names, of_a_name], ids=lambda one: one.__name__)
def test_who_else_knows_a_sum_sees_it_change(loop, backend):
    lifted = lift(loop, backend=backend, verify="off")
    w = torch.tensor(0.5, dtype=torch.float64)
    for lengths in ((3, 5, 2), (4, 4), (1,)):
        seqs = [one[:, 0] for one in sequences(lengths)]
        ours, theirs = (torch.tensor(1.0, dtype=torch.float64) for _ in range(2))
        got, wanted = lifted(w, seqs, ours), loop(w, seqs, theirs)
        torch.testing.assert_close((got, ours), (wanted, theirs))
        if isinstance(wanted, tuple):
            assert got[0] is got[1]
        assert (got is ours) == (wanted is theirs)


def summed_where_known(cell, out, seqs, begin):
    loss = 0.0
    for seq in seqs:
        h = begin
        for t in range(len(seq) - 1):
            h = torch.tanh(cell(torch.cat([seq[t], h])))
            if seq[t + 1, 0] > -9:
                loss = loss + F.mse_loss(out(h), seq[t + 1])
    return loss


def each_where_known(cell, out, seqs, begin):
    losses = []
    for seq in seqs:
        h, loss = begin, 0.0
        for t in range(seq.shape[0] - 1):
            h = torch.tanh(cell(torch.cat([seq[t], h])))
            if seq[t + 1, 0] > -9:
                loss = loss + F.mse_loss(out(h), seq[t + 1])
        losses.append(loss)
    return torch.stack(losses)


@pytest.mark.parametrize("function", [summed_where_known, each_where_known])
def test_terms_under_a_condition_that_holds_somewhere(function):
    torch.manual_seed(0)
    cell, out, seqs, begin = torch.nn.Linear(7, 4), torch.nn.Linear(4, 3), torch.randn(5, 6, 3), torch.zeros(4)
    seqs[:, 1::3] -= 20
    lifted = lift(function, verify="off", backend="torch")
    for _ in range(2):
        torch.testing.assert_close(lifted(cell, out, seqs, begin), function(cell, out, seqs, begin))
    assert [loop.decision for loop in lifted.report().loops] == ["lanes", "sequential"]


def test_a_sum_to_which_nothing_is_added_stays_a_number():
    cell, out, seqs, begin = torch.nn.Linear(7, 4), torch.nn.Linear(4, 3), torch.randn(5, 6, 3), torch.zeros(4)
    lifted = lift(summed_where_known, verify="off", backend="torch")
    lifted(cell, out, seqs, begin)
    assert type(lifted(cell, out, seqs - 20, begin)) is float


def test_a_sample_without_terms_is_the_loops_own_error():
    cell, out, seqs, begin = torch.nn.Linear(7, 4), torch.nn.Linear(4, 3), torch.randn(5, 6, 3), torch.zeros(4)
    lifted = lift(each_where_known, verify="off", backend="torch")
    lifted(cell, out, seqs, begin)
    seqs[2] -= 20
    with pytest.raises(TypeError):
        lifted(cell, out, seqs, begin)


def summed_until_small(cell, out, seqs, begin):
    loss, count = 0.0, 0
    for seq in seqs:
        h, steps = torch.cat([seq[0], begin])[:4], 0
        while h.square().sum() > 0.1 and steps < 6:
            h = h * 0.6
            loss = loss + h.abs().sum()
            steps += 1
        count += steps
    return loss, count


def summed_until_large(cell, out, seqs, begin):
    loss = 0.0
    for seq in seqs:
        h = begin
        for t in range(len(seq)):
            h = torch.tanh(cell(torch.cat([seq[t], h])))
            if h.sum() > 1.0:
                break
            if seq[t, 0] > -9:
                loss = loss + out(h).square().sum()
    return loss


@pytest.mark.parametrize("function", [summed_until_small, summed_until_large])
def test_sums_over_loops_that_are_left(function):
    torch.manual_seed(1)
    cell, out, seqs, begin = torch.nn.Linear(7, 4), torch.nn.Linear(4, 3), torch.randn(5, 6, 3), torch.zeros(4)
    lifted = lift(function, verify="off", backend="torch")
    for scale in (1.0, 0.3, 2.0):
        torch.testing.assert_close(lifted(cell, out, seqs * scale, begin), function(cell, out, seqs * scale, begin))
    assert [loop.decision for loop in lifted.report().loops] == ["lanes", "sequential"]
    nothing = torch.zeros(0, 6, 3)
    assert lifted(cell, out, nothing, begin) == function(cell, out, nothing, begin)
