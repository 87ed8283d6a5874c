"""Lists of tensors that change at places of the data: tables while they change, values and gradients are the loop's."""

import pytest
import torch
from torch import nn

from looplift import lift

EDGES = [(0, 1), (1, 2), (2, 2), (3, 0), (3, 2)]


def rows(n=5, seed=0):
    return torch.randn(n, 3, generator=torch.Generator().manual_seed(seed))


def weight(gradients=True):
    made = torch.randn(3, 3, generator=torch.Generator().manual_seed(9))
    return made.requires_grad_(gradients)


def summed(x, edges, w):
    m = [torch.zeros(3) for _ in range(x.shape[0])]
    for u, v in edges:
        m[v] = m[v] + w @ x[u]
    return torch.stack(m)


def rounds(x, edges, w):
    h = [x[i] for i in range(x.shape[0])]
    for _ in range(3):
        inbox = [torch.zeros(3) for _ in h]
        for u, v in edges:
            inbox[v] = inbox[v] + w @ h[u]
        h = [torch.tanh(a + b) for a, b in zip(inbox, h)]
    return sum(row.sum() for row in h)


def attention(x, edges, w):
    z = [w @ x[i] for i in range(x.shape[0])]
    below = [torch.zeros(()) for _ in z]
    above = [torch.zeros(3) for _ in z]
    for u, v in edges:
        score = torch.exp((z[u] * z[v]).sum())
        below[v] = below[v] + score
        above[v] = above[v] + score * z[u]
    return torch.stack([above[i] / (below[i] + 1e-6) for i in range(len(z))])


def both_ends(x, edges, w):
    force = [torch.zeros(3) for _ in range(x.shape[0])]
    for a, b in edges:
        if a == b:
            continue
        pull = w @ (x[a] - x[b])
        force[a] = force[a] + pull
        force[b] = force[b] - pull
    return torch.stack(force)


def last_message(x, edges, w):
    h = list(x)
    for _ in range(2):
        new = list(h)
        for u, v in edges:
            new[v] = torch.tanh(w @ h[u])
        h = new
    return torch.stack(h)


def greatest(x, edges, w):
    best = [torch.full((3,), float("-inf")) for _ in range(x.shape[0])]
    for u, v in edges:
        best[v] = torch.maximum(best[v], w @ x[u])
    return torch.stack(best)


def in_place(x, edges, w):
    m = [torch.zeros(3) for _ in range(x.shape[0])]
    for u, v in edges:
        m[v] += w @ x[u]
    return torch.stack(m)


def normalised(x, edges, w):
    """Counters of integers and of floats stand beside the sums."""
    n = x.shape[0]
    degree = [1.0] * n
    incoming = [0 for _ in range(n)]
    for u, v in edges:
        degree[v] += 1.0
        incoming[v] += 1
    out = [w @ x[i] / degree[i] for i in range(n)]
    for u, v in edges:
        out[v] = out[v] + (w @ x[u]) / (degree[u] * degree[v]) ** 0.5
    return torch.stack([out[i] / max(incoming[i], 1) for i in range(n)])


def joined(x, edges, w):
    """What is read goes through a list into a join."""
    m = [torch.zeros(3) for _ in range(x.shape[0])]
    for u, v in edges:
        m[v] = m[v] + w @ x[u]
    return torch.stack([torch.cat([x[i], m[i]]) for i in range(x.shape[0])])


def mean_by_group(x, edges, w):
    total = [torch.zeros(3) for _ in range(4)]
    count = [0] * 4
    for i in range(x.shape[0]):
        total[i % 4] = total[i % 4] + w @ x[i]
        count[i % 4] += 1
    return torch.stack([a / max(b, 1) for a, b in zip(total, count)])


class Gated(nn.Module):
    def __init__(self):
        super().__init__()
        self.messages = nn.ModuleList([nn.Linear(3, 3) for _ in range(2)])
        self.cell = nn.GRUCell(3, 3)

    def forward(self, x, edges):
        h = [x[i] for i in range(x.shape[0])]
        for _ in range(2):
            m = [torch.zeros(3) for _ in h]
            for u, v in edges:
                m[v] = m[v] + self.messages[(u + v) % 2](h[u])
            h = [self.cell(m[i], h[i]) for i in range(len(h))]
        return torch.stack(h)


GRAPHS = [
    (5, EDGES),
    (2, [(0, 1)] * 20),
    (5, [(0, -1), (1, -2), (2, 0)]),
    (1, [(0, 0), (0, 0)]),
    (5, []),
    (7, [(6, k) for k in range(7)]),
]


def outcome(function, *args):
    """The result and the gradients, or what was raised."""
    try:
        found = function(*args)
    except Exception as error:
        return type(error), str(error)
    leaves = [arg for arg in args if isinstance(arg, torch.Tensor) and arg.requires_grad]
    if not leaves or not found.requires_grad:
        return found, found.requires_grad
    weights = torch.cos(torch.arange(found.numel(), dtype=found.dtype)).reshape(found.shape)
    return found, torch.autograd.grad((found * weights).sum(), leaves, allow_unused=True)


def assert_same(function, lifted, *args):
    torch.testing.assert_close(outcome(lifted, *args), outcome(function, *args), rtol=1e-5, atol=1e-6)


LIFTED = [summed, rounds, attention, both_ends, last_message, in_place, normalised, joined]


@pytest.mark.parametrize("gradients", [True, False])
@pytest.mark.parametrize("function", [*LIFTED, greatest, mean_by_group])
def test_values_and_gradients_are_the_loops(function, gradients):
    lifted = lift(function, verify="off")
    for n, edges in [*GRAPHS, *GRAPHS[::-1]]:
        assert_same(function, lifted, rows(n), edges, weight(gradients))


@pytest.mark.parametrize("function", LIFTED)
def test_no_loop_stays_as_written(function):
    lifted = lift(function, verify="off")
    assert_same(function, lifted, rows(), EDGES, weight())
    assert {loop.decision for loop in lifted.report().loops} <= {"lanes", "sequential"}
    assert any(loop.decision == "lanes" for loop in lifted.report().loops)


def test_sums_are_scattered():
    lifted = lift(summed, verify="off")
    lifted(rows(), EDGES, weight())
    assert ".index_add_(0, " in lifted.source


@pytest.mark.parametrize("edges", [[(0, 1), (9, 1)], [(0, 1), (1, 9)], [(0, 1), (1, -9)]])
def test_places_that_are_not_there_raise(edges):
    lifted = lift(summed, verify="off")
    lifted(rows(), EDGES, weight())
    assert outcome(lifted, rows(), edges, weight()) == outcome(summed, rows(), edges, weight())


def test_modules_stand_in_the_loop():
    torch.manual_seed(0)
    plain = Gated()
    lifted = lift(Gated(), verify="off")
    lifted.load_state_dict(plain.state_dict())
    for n, edges in GRAPHS:
        found = []
        for module in (plain, lifted):
            module.zero_grad()
            result = module(rows(n), edges)
            result.square().sum().backward()
            found.append((result, [parameter.grad for parameter in module.parameters()]))
        torch.testing.assert_close(found[1], found[0], rtol=1e-4, atol=1e-5)


# ---------------------------------------------------------------- what a table would not be


def handed_out(x, edges, w):
    m = [torch.zeros(3) for _ in range(x.shape[0])]
    for u, v in edges:
        m[v] = m[v] + w @ x[u]
    return m


def one_of_them(x, edges, w):
    m = [torch.zeros(3) for _ in range(x.shape[0])]
    for u, v in edges:
        m[v] = m[v] + w @ x[u]
    return torch.tanh(m[0])


def one_of_them_joined(x, edges, w):
    m = [torch.zeros(3) for _ in range(x.shape[0])]
    for u, v in edges:
        m[v] = m[v] + w @ x[u]
    return torch.cat([x[0], m[0]])


def each_of_them_joined(x, edges, w):
    m = [torch.zeros(3) for _ in range(x.shape[0])]
    for u, v in edges:
        m[v] = m[v] + w @ x[u]
    return [torch.cat([x[i], m[i]]) for i in range(x.shape[0])]


def joined_and_kept(x, edges, w):
    m = [torch.zeros(3) for _ in range(x.shape[0])]
    for u, v in edges:
        m[v] = m[v] + w @ x[u]
    pair = [x[0], m[0]]
    return pair, torch.cat(pair)


def copied(x, edges, w):
    h = [x[i] * 2 for i in range(x.shape[0])]
    new = list(h)
    for u, v in edges:
        new[v] = torch.tanh(w @ h[u])
    return h, new


def views(x, edges, w):
    m = [x[i] for i in range(x.shape[0])]
    for u, v in edges:
        m[v] = m[v] + w @ x[u]
    return m


def of_another_dtype(x, edges, w):
    m = [torch.zeros(3) for _ in range(x.shape[0])]
    for u, v in edges:
        m[v] = m[v] + (w @ x[u]).double()
    return m


def of_another_shape(x, edges, w):
    m = [torch.zeros(1) for _ in range(x.shape[0])]
    for u, v in edges:
        m[v] = m[v] + w @ x[u]
    return m


def changed_later(x, edges, w):
    m = [torch.zeros(3) for _ in range(x.shape[0])]
    for u, v in edges:
        m[v] = m[v] + w.detach() @ x[u]
    row = m[0]
    row += 1
    return m


def changed_where_it_stands_twice(x, edges, w):
    row = torch.zeros(3)
    m = [row for _ in range(x.shape[0])]
    for u, v in edges:
        m[v] += w.detach() @ x[u]
    return m


def replaced_where_it_stands_twice(x, edges, w):
    row = torch.zeros(3)
    m = [row for _ in range(x.shape[0])]
    for u, v in edges:
        m[v] = m[v] + w.detach() @ x[u]
    return m


def changed_after_it_was_read(x, edges, w):
    m = [torch.zeros(3) for _ in range(x.shape[0])]
    first = m[0]
    for u, v in edges:
        m[v] += w.detach() @ x[u]
    return first * 2, m


def counters_that_are_handed_out(x, edges, w):
    count = [0] * x.shape[0]
    m = [torch.zeros(3) for _ in range(x.shape[0])]
    for u, v in edges:
        m[v] = m[v] + w.detach() @ x[u]
        count[v] += 1
    return m, torch.tensor(count)


HANDED_OUT = [
    handed_out, one_of_them, one_of_them_joined, each_of_them_joined, joined_and_kept, copied,
    views, of_another_dtype, of_another_shape, changed_later,
    changed_where_it_stands_twice, replaced_where_it_stands_twice, changed_after_it_was_read,
    counters_that_are_handed_out,
]  # fmt: skip


def described(result):
    """Everything that tells lists of tensors apart: values, gradients that are asked for, and shared memory."""
    tensors = [t for part in result for t in (part if isinstance(part, list) else [part])]
    places = [t.untyped_storage().data_ptr() for t in tensors]
    shared = [[a == b for b in places] for a in places]
    return [t.detach().tolist() for t in tensors], [(t.dtype, t.requires_grad) for t in tensors], shared


@pytest.mark.parametrize("gradients", [True, False])
@pytest.mark.parametrize("function", HANDED_OUT)
def test_lists_that_are_handed_out_hold_what_the_loop_has_made(function, gradients):
    lifted = lift(function, verify="off")
    for edges in (EDGES, [(3, 4)], EDGES):
        x = rows()
        wanted, found = function(x, edges, weight(gradients)), lifted(x, edges, weight(gradients))
        if isinstance(wanted, torch.Tensor):
            wanted, found = [wanted], [found]
        values, kinds, shared = described(found)
        values_wanted, kinds_wanted, shared_wanted = described(wanted)
        assert kinds == kinds_wanted
        assert shared == shared_wanted
        torch.testing.assert_close([torch.tensor(v) for v in values], [torch.tensor(v) for v in values_wanted])
        assert [t.data_ptr() == x.data_ptr() for part in found for t in part] == [
            t.data_ptr() == x.data_ptr() for part in wanted for t in part
        ]
