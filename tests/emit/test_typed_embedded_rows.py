"""Programs that look up several rows of an embedding at once, and dicts by keys that are written as text."""

import pytest
import torch
from torch import nn

from looplift import lift

BACKENDS = ("auto", "torch", "native")


def words(module, sentences, vocabulary):
    found = []
    for ids in sentences:
        a = torch.tanh(module(torch.tensor(ids)).sum(1))
        found.append({f"{i}:{vocabulary[w]}": v.item() for i, (w, v) in enumerate(zip(ids, a))})
    return found


def sentences(seed):
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.randint(1, 7, (40,), generator=generator).tolist()
    return [torch.randint(0, 12, (n,), generator=generator).tolist() for n in lengths]


@pytest.mark.parametrize("backend", BACKENDS)
def test_keys_that_are_written_as_text(backend):
    torch.manual_seed(0)
    module, vocabulary = nn.Embedding(12, 5), [f"w{k % 7}" for k in range(12)]
    lifted = lift(words, backend=backend)
    for seed in range(6):
        got = lifted(module, sentences(seed), vocabulary)
        want = words(module, sentences(seed), vocabulary)
        assert [list(one) for one in got] == [list(one) for one in want]
        assert [list(one.values()) for one in got] == [pytest.approx(list(one.values()), abs=1e-6) for one in want]
    if backend != "torch":
        assert lifted.report().loops[0].decision == "native"


def scored(module, weights, groups):
    total, counts = 0.0, {}
    for ids in groups:
        rows = module(torch.tensor(ids))
        score = (rows @ weights).tanh().sum()
        key = f"{len(ids)}"
        counts[key] = counts.get(key, 0) + 1
        total = total + score * counts[key]
    return total, counts


@pytest.mark.parametrize("backend", BACKENDS)
def test_gradients_of_a_table(backend):
    torch.manual_seed(0)
    module, weights = nn.Embedding(12, 5), torch.randn(5, requires_grad=True)
    lifted = lift(scored, backend=backend)
    for seed in range(3):
        results = []
        for function in (scored, lifted):
            total, counts = function(module, weights, sentences(seed))
            results.append((total, counts, *torch.autograd.grad(total, [module.weight, weights])))
        torch.testing.assert_close(results[1][0], results[0][0])
        torch.testing.assert_close(results[1][2:], results[0][2:])
        assert results[1][1] == results[0][1]


@pytest.mark.parametrize("wrong", [12, -1])
def test_rows_that_are_not_there(wrong):
    torch.manual_seed(0)
    module, vocabulary = nn.Embedding(12, 5), [f"w{k}" for k in range(12)]
    lifted = lift(words, backend="native")
    assert [list(one) for one in lifted(module, [[1, 2], [3]], vocabulary)] == [["0:w1", "1:w2"], ["0:w3"]]
    with pytest.raises(IndexError):
        lifted(module, [[1, 2], [wrong]], vocabulary)
