"""Blocks and functions under torch.no_grad() inside of loops: values and gradients are the loop's."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from tests.vectorize.harness import check, outcome

from looplift import lift
from looplift.base.compare import difference

torch.manual_seed(0)
NET = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 3))
PASSING = torch.nn.Sequential(torch.nn.Identity(), torch.nn.Dropout(0.5)).eval()


def rows(n, seed=0):
    return torch.randn(n, 3, generator=torch.Generator().manual_seed(seed + n))


# ---------------------------------------------------------------- the loop runs under torch.no_grad() as a whole


def predictions(x):
    found = []
    for i in range(len(x)):
        with torch.no_grad():
            scores = NET(x[i])
        found.append(scores.argmax())
    return torch.stack(found)


def mean_loss(x):
    losses = []
    for row in x:
        with torch.no_grad():
            loss = F.cross_entropy(NET(row).unsqueeze(0), torch.tensor([1]))
        losses.append(loss.item())
    return sum(losses) / len(losses)


def stored(w, x):
    out = torch.zeros(len(x))
    for i in range(len(x)):
        with torch.no_grad():
            out[i] = (w[i] * x[i]).sum()
    return out


def numbers(w):
    found = []
    for i in range(len(w)):
        with torch.inference_mode():
            found.append(float(w[i].sum()))
    return found


def weight_beside(w):
    for i in range(len(w)):
        with torch.no_grad():
            h = w[i] * 2
    return h, w


def moving_means(ps, qs):
    found = []
    for p, q in zip(ps, qs):
        with torch.no_grad():
            found.append(0.9 * q + 0.1 * p)
    return found


# ---------------------------------------------------------------- values of the blocks are detached


def same_object(w, x):
    loss = 0.0
    for i in range(len(x)):
        with torch.no_grad():
            v = w
            k = (v * x[i]).abs().max()
        loss = loss + (v * x[i]).sum() / k
    return loss


def targets(net, x, rewards):
    loss = 0.0
    for i in range(len(x)):
        with torch.no_grad():
            y = rewards[i].sum() + 0.9 * net(x[i]).max()
        loss = loss + (net(x[i] + 1)[0] - y) ** 2
    return loss / len(x)


def indices(w, x):
    found = []
    for i in range(len(x)):
        with torch.no_grad():
            m, j = (w[i] * x[i]).max(dim=0)
        found.append((w[i] * x[i])[j] - m)
    return torch.stack(found)


def by_name(w):
    found = []
    for i in range(len(w)):
        with torch.no_grad():
            best = w[i].topk(2)
        found.append((best.values * w[i][best.indices]).sum())
    return torch.stack(found)


def branches(w, x):
    total = 0.0
    for i in range(len(x)):
        with torch.no_grad():
            n = w[i].norm()
            s = 2 / n if n > 1 else 1.0
        total = total + (w[i] * s * x[i]).sum()
    return total


def one_side_of_two(w, x):
    found = []
    for i in range(len(x)):
        v = w[i]
        with torch.no_grad():
            u = v if v.sum() > 0 else -v
        found.append((u * x[i]).sum())
    return torch.stack(found)


def loop_inside(w, x):
    found = []
    for i in range(len(x)):
        with torch.no_grad():
            z = torch.zeros(3)
            for k in range(20):
                z = z + 0.5 * (w[i] - z)
                if (w[i] - z).norm() < 1e-2:
                    break
        found.append(((w[i] - z) * x[i]).sum())
    return torch.stack(found)


def pairs(ws, x):
    found = []
    for i in range(len(x)):
        with torch.no_grad():
            p = (ws[i], ws[i] * 2)
        a, b = p
        found.append((a * b * x[i]).sum())
    return torch.stack(found)


def confident_ones(net, x):
    loss = torch.zeros(())
    for i in range(len(x)):
        with torch.no_grad():
            conf, label = net(x[i]).softmax(-1).max(-1)
        if conf < 0.35:
            continue
        loss = loss + F.cross_entropy(net(x[i] + 0.01), label)
    return loss


def leaves_the_block(w, x):
    found = []
    for i in range(len(x)):
        s = 1.0
        with torch.no_grad():
            if w[i].sum() > 1:
                continue
            s = float(w[i].norm())
        found.append((w[i] * s * x[i]).sum())
    return torch.stack(found)


def unit(v):
    with torch.no_grad():
        if v.sum() > 0:
            return v / 2
        return v / v.norm()


@torch.no_grad()
def largest(v):
    return v.abs().argmax()


@torch.no_grad()
def direction(v):
    return v / v.norm()


def helpers(w):
    return torch.stack([unit(w[i]) * w[i][largest(w[i])] + direction(w[i]) * w[i] for i in range(len(w))])


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 2)

    def forward(self, x):
        return torch.relu(self.layer(x))

    @torch.no_grad()
    def predict(self, x):
        return self(x).argmax()

    def weights(self, x):
        with torch.no_grad():
            return self(x).softmax(-1)


def methods(model, x):
    loss = 0.0
    for row in x:
        k = model.predict(row)
        loss = loss + model.weights(row)[k] * F.cross_entropy(model(row), k)
    return loss


TWO = [[rows(4), rows(4, 9)], [rows(6), rows(6, 9)]]
ONE = [[rows(4)], [rows(7)]]
LISTS = [[[*rows(4)], [*rows(4, 9)]], [[*rows(6)], [*rows(6, 9)]]]
WITH_NET = [[NET, *values] for values in TWO]
LIFTED = [
    (predictions, ONE), (mean_loss, ONE), (stored, TWO), (numbers, ONE), (weight_beside, ONE), (moving_means, LISTS),
    (same_object, [[rows(1)[0], rows(5)]]), (targets, WITH_NET), (indices, TWO), (by_name, ONE), (branches, TWO),
    (one_side_of_two, TWO), (pairs, [[[*rows(4)], rows(4, 9)]]), (confident_ones, [[NET, rows(5)], [NET, rows(8)]]),
    (leaves_the_block, TWO), (helpers, ONE), (methods, [[Model(), rows(4)], [Model(), rows(7)]]),
]  # fmt: skip


@pytest.mark.parametrize(("loop", "calls"), LIFTED, ids=lambda item: getattr(item, "__name__", ""))
def test_what_blocks_compute_has_no_history(loop, calls):
    check(loop, *calls)


def test_loops_inside_of_blocks_are_left():
    check(loop_inside, *TWO, decisions={"lanes", "sequential"})


# ---------------------------------------------------------------- what may hand on a history


def read_outside(w, x):
    found = []
    for i in range(len(x)):
        with torch.no_grad():
            h = w[i]
        found.append((h * x[i]).sum())
    return torch.stack(found)


def handed_out(w, x):
    for i in range(len(x)):
        with torch.no_grad():
            h = w[i]
    return h, (w * x).sum()


def the_same_tensor(w, x):
    found = []
    for i in range(len(x)):
        with torch.no_grad():
            h = w.contiguous()
        found.append((h * x[i]).sum())
    return torch.stack(found)


def through_identity(w, x):
    found = []
    for i in range(len(x)):
        y = w[i] * 2
        with torch.no_grad():
            z = PASSING(y)
        found.append((z * x[i]).sum())
    return torch.stack(found)


def by_order(ws, x):
    found = []
    for i in range(len(x)):
        with torch.no_grad():
            q = sorted(ws, key=float)
        found.append(q[0] * x[i] + q[1])
    return torch.stack(found)


def parts(w, x):
    found = []
    for i in range(len(x)):
        with torch.no_grad():
            a, b, c = w[i].unbind()
        found.append(a * x[i, 0] + b * w[i, 0] + c)
    return torch.stack(found)


def store_of_a_history(w, x):
    out, total = torch.zeros(len(x)), 0.0
    for i in range(len(x)):
        total = total + (w[i] * x[i]).sum()
        with torch.no_grad():
            out[i] = total
    return out, total


def change_of_a_view(w, x):
    found = []
    for i in range(len(x)):
        y = w[i] * 2
        with torch.no_grad():
            v = y[:2]
            v += 1
        found.append((y * x[i]).sum())
    return torch.stack(found)


def enabled_again(w, x):
    found = []
    for i in range(len(x)):
        with torch.no_grad(), torch.enable_grad():
            y = w[i] * x[i]
        found.append(y)
    return torch.stack(found)


KEPT = [read_outside, handed_out, the_same_tensor, through_identity, parts, store_of_a_history, change_of_a_view,
        enabled_again]  # fmt: skip


@pytest.mark.parametrize("loop", KEPT, ids=lambda loop: loop.__name__)
def test_what_may_have_a_history_is_left_to_the_loop(loop):
    check_kept(loop, [rows(3), rows(3, 9)])


def test_items_that_are_put_in_order_are_left_to_the_loop():
    check_kept(by_order, [[*rows(2)[0]], rows(4)[:, 0]])


def check_kept(loop, values):
    lifted = lift(loop, verify="off")
    for _ in range(2):
        wanted = outcome(loop, values, gradients=True)
        assert not difference(outcome(lifted, values, gradients=True), wanted, magnitude=1.0, path="call")
    assert {one.decision for one in lifted.report().loops} == {"kept"}, lifted.report()


def tensors_of_inference(w):
    found = []
    for i in range(len(w)):
        with torch.inference_mode():
            v = w[i].sum()
        found.append(v)
    return found


def test_tensors_of_inference_stay_such():
    lifted = lift(tensors_of_inference)
    for _ in range(2):
        assert all(one.is_inference() for one in lifted(rows(3)))
    assert "inference_mode" in lifted.report().loops[0].reason


def test_the_source_enters_the_context_once():
    lifted = lift(predictions)
    lifted(rows(5).requires_grad_())
    assert lifted.source.count("torch.no_grad()") == 1
