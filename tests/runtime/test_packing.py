"""What takes the tensors that autograd keeps sees those of the loop: checkpoints, which run it again, and hooks."""

import pytest
import torch
from torch.autograd.graph import saved_tensors_hooks
from torch.utils.checkpoint import checkpoint

from looplift import lift


def stored(x):
    out = torch.zeros(len(x))
    for i in range(len(x)):
        out[i] = torch.sin(x[i]) * 2
    return out.sum()


def appended(x):
    found = []
    for i in range(len(x)):
        found.append(x[i] ** 2 * x.sum())
    return torch.stack(found).sum()


def carried(x):
    state = x[0]
    for i in range(1, len(x)):
        state = torch.sin(state) * x[i] if state > 0 else state + x[i] * x[i - 1]
    return state


def leaf():
    return torch.linspace(-1, 1, 6, requires_grad=True)


@pytest.mark.parametrize("warm", [False, True])
@pytest.mark.parametrize("verify", ["off", "first"])
@pytest.mark.parametrize("loop", [stored, appended, carried], ids=lambda loop: loop.__name__)
def test_checkpoints_give_the_gradients_of_the_loop(loop, verify, warm):
    lifted, want, got = lift(loop, verify=verify), leaf(), leaf()
    if warm:
        for _ in range(5):
            lifted(leaf()).backward()
    loop(want).backward()
    for _ in range(3):
        got.grad = None
        checkpoint(lifted, got, use_reentrant=False).backward()
        assert torch.allclose(got.grad, want.grad)


def test_hooks_see_what_the_loop_keeps():
    def packed(function):
        count = []
        with saved_tensors_hooks(lambda kept: (count.append(1), kept)[1], lambda kept: kept):
            function(leaf())
        return len(count)

    lifted = lift(appended, verify="off")
    lifted(leaf())
    assert packed(lifted) == packed(appended)
    assert lifted.report().loops[0].decision == "lanes"
