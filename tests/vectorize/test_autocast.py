"""Under autocast a batch is rounded where the loop is, and nowhere else."""

import pytest
import torch
import torch.nn.functional as F

from looplift import lift
from looplift.base.compare import difference


def dots(x, w, out):
    for i in range(len(x)):
        out[i, 0] = torch.dot(x[i, 0], w)
    return out


def products_with_a_vector(x, w, out):
    for i in range(len(x)):
        out[i] = torch.mv(x[i], w)
    return out


def inner_products(x, w, out):
    for i in range(len(x)):
        out[i] = torch.inner(x[i], w) + torch.inner(w, w)
    return out


def added_products(x, w, out):
    for i in range(len(x)):
        out[i] = torch.addmv(w, x[i], w) + torch.addmm(x[i], x[i], x[i])[0]
    return out


def weights_of_their_own(x, w, out):
    for i in range(len(x)):
        out[i] = F.linear(w, x[i], w)
    return out


def products_of_matrices(x, w, out):
    for i in range(len(x)):
        out[i] = (x[i] @ x[i] @ w) + torch.einsum("ij,j->i", x[i], w)
    return out


def attention(x, w, out):
    for i in range(len(x)):
        out[i] = F.scaled_dot_product_attention(x[i][None], x[i][None], x[i][None])[0, 0]
    return out


def convolved(x, w, out):
    for i in range(len(x)):
        out[i, :2] = F.conv1d(x[i, :1], x[i, 1, :2].view(1, 1, 2))[0]
    return out


def carried(x, w, out):
    state = w
    for i in range(len(x)):
        state = torch.tanh(x[i] @ state + w)
        out[i] = state
    return out


def appended(x, w, out):
    found = []
    for i in range(len(x)):
        found.append(torch.dot(x[i, 0], x[i, 1]))
    return torch.stack(found)


LOOPS = (
    dots, products_with_a_vector, inner_products, added_products, weights_of_their_own, products_of_matrices, attention,
    convolved, carried, appended,
)  # fmt: skip


def arguments(dtype):
    g = torch.Generator().manual_seed(3)
    # eleven bits, of which bfloat16 has eight
    x = torch.randint(1025, 2048, (4, 3, 3), generator=g) / 1024
    w = torch.randint(1025, 2048, (3,), generator=g) / 1024
    return x.to(dtype), w.to(dtype), torch.zeros(4, 3, dtype=torch.float64)


@pytest.mark.parametrize("backend", ["auto", "native", "torch"])
@pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: loop.__name__)
def test_products_are_rounded_as_in_the_loop(loop, backend):
    for dtype in (torch.float32, torch.float64):
        lifted = lift(loop, verify="off", backend=backend)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            assert difference(lifted(*arguments(dtype)), loop(*arguments(dtype))) is None
        narrow = {"result": str(dtype).removeprefix("torch.")}  # in which it is computed, and stored as a wider one
        assert difference(lifted(*arguments(dtype)), loop(*arguments(dtype)), narrow=narrow) is None


def test_products_of_matrices_stay_batched():
    lifted = lift(products_of_matrices, verify="off", backend="torch")
    with torch.autocast("cpu", dtype=torch.bfloat16):
        lifted(*arguments(torch.float32))
    assert [loop.decision for loop in lifted.report().loops] == ["lanes"]


def decaying(x, w, out):
    state, found = 0.0, []
    for i in range(len(x)):
        state = 0.5 * state + x[i].sum()
        found.append(state)
    return state, torch.stack(found)


def test_scans_are_not_rounded():
    x, w, out = arguments(torch.float32)
    lifted = lift(decaying, verify="off", backend="torch")
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert difference(lifted(x, w, out), decaying(x, w, out)) is None
    assert [loop.decision for loop in lifted.report().loops] == ["scan"]
