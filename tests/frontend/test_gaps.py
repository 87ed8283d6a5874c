"""Lists of the caller with None in places, and lists of lists of tensors: the loop is the oracle."""

from __future__ import annotations

import copy

import pytest
import torch

from looplift import lift
from looplift.base.compare import difference


def skipped(tracks, F):
    out = []
    for track in tracks:
        x = torch.zeros(2, dtype=F.dtype)
        for z in track:
            x = F @ x
            if z is None:
                continue
            x = x + 0.1 * z
        out.append(x)
    return torch.stack(out)


def counted(tracks, F):
    out, counts = [], []
    for track in tracks:
        x, count = F[0], 0
        for k in range(len(track)):
            if track[k] is not None and track[-1] is not None:
                x = x * 0.5 + track[k]
            else:
                count += k
        out.append(x)
        counts.append(count)
    return torch.stack(out), counts


def left(tracks, F):
    out = []
    for track in tracks:
        x = F[0]
        for z in track:
            if z is None:
                break
            x = x * 0.5 + z
        out.append(x)
    return torch.stack(out)


def of_the_first(tracks, F):
    total, count = F[1] * 0, 0
    for z in tracks[0]:
        if z is not None and z.sum() > 0:
            total = total + z
            count += 1
    return total, count


def handed_out(tracks, F):
    return [[None if z is None else z for z in track] for track in tracks], F


def changed(tracks, F):
    for track in tracks:
        for z in track:
            if z is not None:
                z += F[0]
    return tracks


def stored(tracks, F):
    for track in tracks:
        for z in track:
            if z is not None:
                F[0] = F[0] + z
    return F


def tracks_of(seed, lengths=(4, 2, 6, 1, 3), gaps=0.3):
    generator = torch.Generator().manual_seed(seed)

    def item():
        value = torch.randn(2, generator=generator, dtype=torch.float64)
        return None if float(torch.rand((), generator=generator)) < gaps else value

    return [[item() for _ in range(n)] for n in lengths]


def outcome(function, tracks, matrix):
    arguments = copy.deepcopy((tracks, matrix))
    try:
        result = function(*arguments)
    except (TypeError, RuntimeError) as error:
        return type(error).__name__
    score = [one.sum() for one in (result if isinstance(result, tuple) else [result]) if isinstance(one, torch.Tensor)]
    leaves = [t for t in (arguments[1], *(z for track in arguments[0] for z in track if z is not None)) if t.is_leaf]
    leaves = [t for t in leaves if t.requires_grad]
    asks = score and score[0].requires_grad
    found = torch.autograd.grad(score[0], leaves, allow_unused=True) if asks else ()
    return result, arguments, [None if one is None else one.clone() for one in found]  # autograd may give one for two


def calls(*, asking: str):
    matrix = torch.randn(2, 2, dtype=torch.float64).requires_grad_(asking == "matrix")
    found = [tracks_of(0), tracks_of(1), tracks_of(2, gaps=0), tracks_of(3, gaps=1), tracks_of(4, (3, 0, 2)), [[None]]]
    for track in (track for tracks in found for track in tracks if asking == "items"):
        for z in track:
            if z is not None:
                z.requires_grad_()
    return [(tracks, matrix) for tracks in found]


@pytest.mark.parametrize("backend", ["torch", "auto"])
@pytest.mark.parametrize("asking", ["", "matrix", "items"])
@pytest.mark.parametrize("function", [skipped, counted, left, of_the_first, handed_out, changed, stored])
def test_what_may_be_none(function, asking, backend):
    lifted = lift(function, verify="off", backend=backend)
    for tracks, matrix in calls(asking=asking):
        wanted = outcome(function, tracks, matrix)
        for _ in range(2):
            assert difference(outcome(lifted, tracks, matrix), wanted, magnitude=1) is None, lifted.report()


def summed(tracks, F):
    out = []
    for track in tracks:
        x = torch.zeros(2, dtype=F.dtype)
        for z in track:
            x = F @ x + z
        out.append(x)
    return torch.stack(out)


@pytest.mark.parametrize(("function", "gaps"), [(skipped, 0.5), (skipped, 0.0), (summed, 0.0)])
def test_all_lists_run_together(function, gaps):
    lifted = lift(function, verify="off", backend="torch")
    tracks, matrix = tracks_of(5, (6, 3, 1), gaps), torch.eye(2, dtype=torch.float64)
    assert torch.allclose(lifted(tracks, matrix), function(tracks, matrix))
    assert {loop.decision for loop in lifted.report().loops} == {"lanes", "sequential"}


def test_numbers():
    def filled(readings, before):
        out = []
        for reading in readings:
            before = before * 0.5 if reading is None else reading
            out.append(before)
        return out

    lifted = lift(filled, verify="off", backend="torch")
    for readings in ([1.0, None, 2.5, None, None], [None, 3.0], [1.0, 2.0], [], [None, 2], [None, 1, 2.0]):
        for _ in range(2):
            assert difference(lifted(readings, 4.0), filled(readings, 4.0), magnitude=1) is None


def test_a_list_without_gaps_gets_one():
    def counted(zs):
        count = 0
        for z in zs:
            if z is None:
                count += 1
        return count

    lifted = lift(counted, verify="off", backend="torch")
    tensors = [torch.zeros(2) for _ in range(4)]
    for zs in (tensors, [*tensors, None], tensors[:1], [None], [], [None, None, tensors[0]]):
        for _ in range(2):
            assert lifted(zs) == counted(zs)


def test_an_item_that_shares_memory_with_what_is_stored_to():
    lifted = lift(stored, verify="off", backend="torch")
    for _ in range(3):
        outcomes = []
        for function in (stored, lifted):
            matrix = torch.arange(4, dtype=torch.float64).view(2, 2)
            outcomes.append(function([[matrix[1], matrix[0]], [None, matrix[0]]], matrix).clone())
        assert torch.equal(*outcomes)
