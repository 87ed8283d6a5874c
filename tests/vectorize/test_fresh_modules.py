"""Results of modules are memory of their own: copied only where a module may hand out its operand."""

import pytest
import torch
from torch import nn

from looplift import lift
from looplift.base.compare import difference


def each(layer, x):
    out = []
    for row in x:
        out.append(layer(row))
    return torch.stack(out)


def stored(layer, x):
    out = torch.zeros(x.shape)
    for i in range(x.shape[0]):
        out[i] = layer(x[i])
    x[0] = 9
    return out


def changed(layer, x):
    rows = []
    for row in x:
        rows.append(layer(row))
    out = torch.stack(rows)
    out += 1
    return out, x


def pairs(layer, x):
    out = torch.zeros(x.shape[0], x.shape[0], x.shape[1])
    for i in range(x.shape[0]):
        for j in range(x.shape[0]):
            out[i, j] = layer(x[i] * x[j])
    return out


MODULES = [
    nn.Linear(4, 4), nn.Linear(4, 4, bias=False), nn.Tanh(), nn.Sigmoid(), nn.GELU(), nn.Softplus(), nn.LayerNorm(4),
    nn.Softmax(-1), nn.Identity(), nn.ReLU(), nn.Sequential(nn.Linear(4, 4), nn.Tanh()), nn.Dropout(0.5).eval(),
    nn.Sequential(nn.Tanh(), nn.Identity()),
]  # fmt: skip


def operands():
    yield torch.arange(12.0).reshape(3, 4) / 7
    yield (torch.arange(12.0).reshape(4, 3) / 7).T
    yield torch.ones(1, 4).expand(3, 4).clone()
    yield torch.ones(1, 4)
    yield torch.ones(0, 4)
    yield torch.ones(5, 8)[:, ::2]


def outcome(function, layer, x):
    x = x.clone(memory_format=torch.preserve_format)
    try:
        result = function(layer, x)
    except Exception as error:
        return repr(error)
    tensor = result[0] if isinstance(result, tuple) else result
    shares = tensor.untyped_storage().data_ptr() == x.untyped_storage().data_ptr() and x.numel() > 0
    return result, x, tensor.stride(), tensor._is_view(), shares


@pytest.mark.parametrize("module", MODULES, ids=str)
@pytest.mark.parametrize("loop", [each, stored, changed, pairs])
def test_results_are_those_of_the_loop(loop, module):
    with torch.no_grad():
        lifted = lift(loop, verify="off", backend="torch")
        for x in operands():
            found, wanted = outcome(lifted, module, x), outcome(loop, module, x)
            assert difference(found, wanted) is None, x.stride()


def test_no_copy_of_what_is_fresh():
    lifted = lift(each, verify="off")
    with torch.no_grad():
        lifted(nn.Linear(4, 4), torch.ones(3, 4))
        assert "clone" not in lifted.source
        lifted(nn.Identity(), torch.ones(3, 4))
        assert "clone" in lifted.source


def test_a_class_of_the_same_name():
    class Tanh(nn.Module):
        def forward(self, x):
            return x

    x = torch.ones(3, 4)
    out = lift(each, verify="off")(Tanh(), x)
    out += 1
    assert torch.equal(x, torch.ones(3, 4)) and torch.equal(out, x + 1)
