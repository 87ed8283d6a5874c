"""Norms, attention and recurrent layers called on one sample each: all samples are one batch."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from looplift import lift
from looplift.base.compare import difference

torch.manual_seed(0)
ATTENTION, FIRST = nn.MultiheadAttention(4, 2), nn.MultiheadAttention(4, 2, batch_first=True)
LSTM, GRU = nn.LSTM(4, 3, 2), nn.GRU(4, 3, bidirectional=True, batch_first=True)
ENCODER = nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, batch_first=True)
DECODER = nn.TransformerDecoderLayer(4, 2, 8).eval()
CAUSAL = torch.ones(3, 3, dtype=torch.bool).triu(1)


def warmed(norm):
    for buffer in norm.buffers():
        buffer.data.add_(torch.rand(()).to(buffer.dtype))
    return norm.eval()


def each(layer, xs):
    out = []
    for x in xs:
        out.append(layer(x))
    return torch.stack(out)


def batches_of_one(layer, xs):
    out = torch.zeros(xs.shape)
    for i in range(xs.shape[0]):
        out[i] = layer(xs[i].unsqueeze(0))[0]
    return out


def attended(layer, xs):
    values, weights = [], []
    for x in xs:
        value, weight = layer(x, x, x)
        values.append(value)
        weights.append(weight)
    return torch.stack(values), torch.stack(weights)


def attended_in_order(layer, xs):
    values = []
    for x in xs:
        values.append(layer(x[None], x[None], x[None], attn_mask=CAUSAL, need_weights=False)[0][0])
    return torch.stack(values)


def attended_elsewhere(layer, xs):
    return torch.stack([layer(x, xs[0], xs[0])[0] for x in xs])


def last_states(layer, xs):
    ends = []
    for x in xs:
        outputs, (h, c) = layer(x)
        ends.append(outputs[-1] + h[-1] * c[0])
    return torch.stack(ends)


def states_of_batches(layer, xs):
    ends = []
    for x in xs:
        outputs, h = layer(x.unsqueeze(0))
        ends.append(outputs[0, :, :3] + h[1, 0])
    return torch.stack(ends)


def from_given_states(layer, xs):
    ends = []
    for x in xs:
        start = (torch.zeros(2, 3), torch.ones(2, 3) * x[0, 0])
        ends.append(layer(x, start)[1][0])
    return torch.stack(ends)


def decoded(layer, xs):
    return torch.stack([layer(x, x + 1) for x in xs])


def of_a_nest(layer, xs):
    out = []
    for i in range(xs.shape[0]):
        for j in range(2):
            out.append(layer(xs[i] * j)[0])
    return torch.stack(out)


@pytest.mark.parametrize(
    ("function", "layer", "shape"),
    [
        (attended, ATTENTION, (3, 4)), (attended, FIRST, (2, 3, 4)), (attended_in_order, FIRST, (3, 4)),
        (attended_elsewhere, ATTENTION, (3, 4)), (last_states, LSTM, (5, 4)), (states_of_batches, GRU, (5, 4)),
        (from_given_states, LSTM, (5, 4)), (each, ENCODER, (3, 4)), (each, ENCODER, (2, 3, 4)),
        (decoded, DECODER, (3, 4)), (of_a_nest, LSTM, (5, 4)), (of_a_nest, nn.RNN(4, 2), (5, 3, 4)),
        (batches_of_one, warmed(nn.BatchNorm1d(3)), (3,)), (batches_of_one, warmed(nn.BatchNorm1d(3)), (3, 5)),
        (batches_of_one, warmed(nn.BatchNorm2d(3)), (3, 2, 2)),
        (batches_of_one, warmed(nn.BatchNorm3d(2)), (2, 2, 2, 2)),
        (batches_of_one, nn.GroupNorm(2, 4), (4, 3)), (each, nn.InstanceNorm2d(3, affine=True), (3, 4, 4)),
        (batches_of_one, warmed(nn.InstanceNorm1d(3, track_running_stats=True)), (3, 4)),
        (each, nn.Sequential(nn.PReLU(3), nn.GLU(0), nn.Linear(3, 2)), (2, 3)), (each, nn.MaxPool3d(2), (2, 4, 4, 4)),
        (each, nn.Sequential(nn.Flatten(0), nn.Linear(6, 2)), (2, 3)),
    ],
)  # fmt: skip
def test_layer_of_each_sample(function, layer, shape):
    lifted = lift(function, backend="torch", verify="off")
    for count in (4, 1, 2):
        wanted, found = outcome(function, layer, count, shape), outcome(lifted, layer, count, shape)
        why = difference(found, wanted, magnitude=1.0, path="call")
        assert not why, f"{why}\n{lifted.source}"
    assert {loop.decision for loop in lifted.report().loops} == {"lanes"}, lifted.report()


def outcome(function, layer, count, shape):
    """The result, and the gradients of the input and of all parameters."""
    xs = torch.randn(count, *shape, generator=torch.Generator().manual_seed(count)).requires_grad_()
    result = function(layer, xs)
    first = result[0] if isinstance(result, tuple) else result
    leaves = [xs, *layer.parameters()]
    return result, torch.autograd.grad((first * first.detach().cos()).sum(), leaves, allow_unused=True)


def test_mask_that_hides_a_row_is_left_to_the_loop():
    def masked(layer, xs, mask):
        return torch.stack([layer(x, x, x, attn_mask=mask, need_weights=False)[0] for x in xs])

    lifted, xs, layer = lift(masked, backend="torch"), torch.randn(3, 3, 4), FIRST.eval()
    with torch.no_grad():
        for mask in (CAUSAL, torch.ones(3, 3, dtype=torch.bool), CAUSAL):
            torch.testing.assert_close(lifted(layer, xs, mask), masked(layer, xs, mask), equal_nan=True)


@pytest.mark.parametrize("change", ["train", "dropout", "hook", "batch_first"])
def test_layer_that_changes_between_calls(change):
    layer = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True).eval()
    lifted, xs, seen = lift(each, backend="torch"), torch.randn(3, 3, 4), []
    lifted(layer, xs)
    match change:
        case "train":
            layer.train()
        case "dropout":
            layer.dropout2.train()
        case "hook":
            layer.norm1.register_forward_hook(lambda *_: seen.append(1))
        case "batch_first":
            layer.self_attn.batch_first = False
    for _ in range(2):
        torch.manual_seed(3)
        wanted = each(layer, xs)
        torch.manual_seed(3)
        found = lifted(layer, xs)
        torch.testing.assert_close(found, wanted)
        assert torch.equal(torch.get_rng_state(), after(layer, xs))
    assert change != "hook" or len(seen) == 3 * 6


def after(layer, xs):
    torch.manual_seed(3)
    each(layer, xs)
    return torch.get_rng_state()


def test_norm_without_statistics_stays():
    norm = nn.BatchNorm1d(3, track_running_stats=False).eval()
    lifted, xs = lift(each, backend="torch"), torch.randn(4, 2, 3)
    torch.testing.assert_close(lifted(norm, xs), each(norm, xs))
    torch.testing.assert_close(lifted(norm, xs), each(norm, xs))
