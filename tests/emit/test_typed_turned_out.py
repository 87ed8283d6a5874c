"""Programs that hand out transposed tensors: sizes, strides and what may be done to them are those of the loop's."""

from typing import Any

import pytest
import torch
from torch.testing import assert_close

from looplift import lift


def pairs(graphs):
    out = []
    for edges in graphs:
        kept = []
        for s, t in edges.t().tolist():
            if s < t:
                kept.append([s, t])
        out.append(torch.tensor(kept).t())
    return out


def relabelled(graphs):
    out = []
    for old, edges in graphs:
        new_id = {int(one): new for new, one in enumerate(old)}
        kept = []
        for s, t in edges.t().tolist():
            if s in new_id and t in new_id:
                kept.append([new_id[s], new_id[t]])
        out.append((torch.tensor(kept).T, len(kept)))
    return out


def with_slopes(rows, words):
    out = []
    for word in words:
        seen = {}
        for letter in word:
            seen[letter] = seen.get(letter, 0) + 1
        parts = []
        for letter in seen:
            parts.append(rows[letter] * seen[letter])
        out.append(torch.stack(parts).t())
    return out


def edge_lists(seed):
    torch.manual_seed(seed)
    return [torch.randint(0, 12, (2, 20)) for _ in range(4)]


def renamed(seed):
    torch.manual_seed(seed)
    return [(torch.randperm(12)[:9], torch.randint(0, 12, (2, 30))) for _ in range(4)]


def tensors_in(value):
    if isinstance(value, list | tuple):
        return [one for item in value for one in tensors_in(item)]
    return [value] if isinstance(value, torch.Tensor) else []


def same_layout(given, wanted):
    for one, other in zip(tensors_in(given), tensors_in(wanted), strict=True):
        assert_close(one, other, rtol=0, atol=0)
        assert (one.stride(), one.is_contiguous()) == (other.stride(), other.is_contiguous())
        assert one.untyped_storage().nbytes() == other.untyped_storage().nbytes()


def decisions(lifted):
    return {loop.decision for loop in lifted.report().loops}


@pytest.mark.parametrize("backend", ("auto", "torch", "native"))
@pytest.mark.parametrize(("function", "made"), [(pairs, edge_lists), (relabelled, renamed)])
def test_layouts(function, made, backend):
    lifted: Any = lift(function, backend=backend)
    for seed in range(4):
        same_layout(lifted(made(seed)), function(made(seed)))
    assert backend == "torch" or decisions(lifted) == {"native"}


@pytest.mark.parametrize("backend", ("auto", "torch", "native"))
def test_with_gradients(backend):
    lifted: Any = lift(with_slopes, backend=backend)
    words = [[0, 1, 0, 2], [3], [2, 2, 1, 0, 3]]
    for seed in range(3):
        torch.manual_seed(seed)
        rows = torch.randn(4, 3, requires_grad=True)
        given, wanted = lifted(rows, words), with_slopes(rows, words)
        same_layout(given, wanted)
        weights = [torch.randn(one.shape) for one in wanted]
        slopes = [
            torch.autograd.grad(sum((w * one).sum() for w, one in zip(weights, found, strict=True)), rows)[0]
            for found in (given, wanted)
        ]
        assert_close(slopes[0], slopes[1])
        given[0].mul_(2)


def test_a_tensor_and_its_transposed_one_share_memory():
    def both(graphs):
        out = []
        for edges in graphs:
            kept = []
            for s, t in edges.t().tolist():
                if s < t:
                    kept.append([s, t])
            made = torch.tensor(kept)
            out.append((made, made.t()))
        return out

    lifted = lift(both)
    for seed in range(3):
        for one, turned in lifted(edge_lists(seed)):
            one[0, 1] = -1
            assert turned[1, 0] == -1


def test_an_empty_list_still_has_no_transposed_shape():
    lifted = lift(pairs)
    assert_close(lifted(edge_lists(0)), pairs(edge_lists(0)))
    edges = [*edge_lists(1), torch.tensor([[3], [1]])]
    same_layout(lifted(edges), pairs(edges))
