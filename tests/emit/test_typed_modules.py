"""Network modules in programs over small tensors: values, gradients, and what such a program was made for."""

import copy

import pytest
import torch
from tests.emit.test_typed_tensors import assert_same, first
from torch import nn
from torch.nn import functional

from looplift import lift

__all__ = ["first"]
SIZE = 5


class Reader(nn.Module):
    """A cell over words, then layers."""

    def __init__(self, cell):
        super().__init__()
        self.table = nn.Embedding(9, SIZE)
        self.cell = cell(SIZE, SIZE)
        self.layers = nn.ModuleList([nn.Linear(SIZE, SIZE), nn.Linear(SIZE, SIZE, bias=False)])
        self.out = nn.Sequential(nn.LayerNorm(SIZE), nn.Tanh(), nn.Dropout(0.0), nn.Linear(SIZE, 3), nn.LogSoftmax(-1))
        self.scale, self.least = 0.5, float("-inf")
        self.register_buffer("start", torch.full((SIZE,), 0.1))

    def step(self, word, state):
        return self.cell(self.table(torch.tensor(word)), state)

    def forward(self, words):
        state = self.start * self.scale
        for word in words:
            state = self.step(word, state)
            if state[0].item() < self.least:
                state = state * 0
        for layer in self.layers:
            state = torch.relu(layer(state)) + state
        return self.out(state)


class Long(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.LSTMCell(SIZE, SIZE)

    def forward(self, rows):
        h, c = torch.zeros(SIZE), torch.zeros(SIZE)
        for row in rows:
            h, c = self.cell(row, (h, c))
        return h, c


class Tree(nn.Module):
    def __init__(self):
        super().__init__()
        self.leaf, self.both = nn.Linear(SIZE, SIZE), nn.Linear(2 * SIZE, 5 * SIZE)

    def forward(self, node):
        if not node.children:
            return torch.tanh(self.leaf(node.x)), node.x * 0
        (a, b), (c, d) = self(node.children[0]), self(node.children[1])
        i, o, u, f, g = torch.chunk(self.both(torch.cat([a, c])), 5)
        kept = torch.sigmoid(i) * torch.tanh(u) + torch.sigmoid(f) * b + torch.sigmoid(g) * d
        return torch.sigmoid(o) * torch.tanh(kept), kept


class Node:
    def __init__(self, x, children):
        self.x, self.children = x, children


class State:
    def __init__(self, size):
        self.w = torch.zeros(size)

    def take(self, x):
        self.w = 0.5 * self.w + x
        return self.w


def readings(net, texts):
    out = []
    for words in texts:
        if words:
            out.append(net(words))
    return torch.stack(out)


def last_states(net, rows):
    out = []
    for some in rows:
        h, c = net(some)
        out.append(h + c)
    return torch.stack(out)


def tree_states(net, trees):
    out = {}
    for name, tree in trees.items():
        out[name] = net(tree)[0]
    return torch.stack([out[name] for name in trees])


def with_state(net, rows):
    out = []
    for some in rows:
        state = State(SIZE)
        for row in some:
            last = state.take(net(row))
        out.append(last)
    return torch.stack(out)


def applied(layer, x, times):
    for _ in range(times):
        x = torch.tanh(layer(x))
    return x


def by_a_helper(net, rows):
    seen = set()
    out = []
    for some in rows:
        if len(some) in seen:
            continue
        seen.add(len(some))
        out.append(applied(net[0], some[0], 2) + applied(times=1, x=some[0], layer=net[1]))
    return torch.stack(out)


def in_rows(net, rows):
    seen = set()
    out = []
    for some in rows:
        seen.add(len(some))
        h = net["cell"](some, some * 0.5)
        out.append(functional.linear(h, net["layer"].weight, net["layer"].bias).sum(0) * len(seen))
    return torch.stack(out)


class Hops(nn.Module):
    """Layers by their places, which a loop counts, and parameters by their names."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(SIZE, SIZE), nn.Sequential(nn.Linear(SIZE, SIZE), nn.Tanh())])
        self.weights = nn.ParameterDict({"a": nn.Parameter(torch.randn(SIZE)), "b": nn.Parameter(torch.randn(SIZE))})
        self.gates = nn.Linear(SIZE, 2)

    def forward(self, x):
        start = x
        each = [torch.tanh(layer(x)) for layer in self.layers]
        for k in range(len(self.layers)):
            x = self.layers[k](x) * self.weights["a"] + self.layers[-1 - k](x) + each[k]
        for k, layer in enumerate(self.layers):
            x = x + layer(each[k]) * (k + 1)
        a, b = torch.sigmoid(self.gates(x)).unbind()
        return (x * a + self.weights["b"] * b) * functional.cosine_similarity(start, x, dim=0, eps=1e-8)


def hops(net, rows):
    seen = set()
    out = []
    for some in rows:
        seen.add(len(some))
        out.append(net(some[0]) * len(seen))
    return torch.stack(out)


def texts(count=6):
    g = torch.Generator().manual_seed(3)
    return [torch.randint(0, 9, (k % 4,), generator=g).tolist() for k in range(1, count)]


def some_rows():
    g = torch.Generator().manual_seed(4)
    return [torch.randn(n, SIZE, generator=g) for n in (2, 1, 4, 2)]


def some_trees():
    g = torch.Generator().manual_seed(5)

    def made(depth):
        children = [made(depth - 1), made(depth - 1)] if depth else []
        return Node(torch.randn(SIZE, generator=g), children)

    return {f"tree {k}": made(k) for k in range(3)}


def rnn(kind):
    return lambda *sizes: nn.RNNCell(*sizes, nonlinearity=kind)


CASES = {
    "gru": (readings, lambda: Reader(nn.GRUCell), texts),
    "rnn": (readings, lambda: Reader(rnn("tanh")), texts),
    "rnn of relu": (readings, lambda: Reader(rnn("relu")), texts),
    "lstm": (last_states, Long, some_rows),
    "tree": (tree_states, Tree, some_trees),
    "state": (with_state, lambda: nn.Linear(SIZE, SIZE), some_rows),
    "helper": (by_a_helper, lambda: nn.ModuleList([nn.Linear(SIZE, SIZE), nn.Linear(SIZE, SIZE)]), some_rows),
    "hops": (hops, Hops, some_rows),
    "rows": (in_rows, lambda: nn.ModuleDict({"cell": nn.GRUCell(SIZE, SIZE), "layer": nn.Linear(SIZE, 2)}), some_rows),
}


def gradients(function, net, given):
    net.zero_grad()
    found = function(net, given)
    (found * torch.linspace(0.5, 1.5, found.numel()).view(found.shape)).sum().backward()
    return found, [None if one.grad is None else one.grad.clone() for one in net.parameters()]


def agree(lifted, function, net, given):
    for one, other in zip(gradients(lifted, net, given), gradients(function, net, given), strict=True):
        assert_same(one, other)
    with torch.no_grad():
        assert_same(lifted(net, given), function(net, given))


@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients_are_the_loops(name, first):
    function, net, given = CASES[name]
    torch.manual_seed(0)
    net, lifted = net(), lift(function, verify="off")
    agree(lifted, function, net, given())
    assert lifted.report().loops[0].decision == "native", lifted.report()
    assert_same(gradients(lifted, copy.deepcopy(net), given()), gradients(function, net, given()))


class Energies(nn.Module):
    """Layers of two kinds, and sums that begin as numbers."""

    def __init__(self, activation):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(SIZE, SIZE), activation, nn.Linear(SIZE, 1))

    def forward(self, rows):
        energy = 0.0
        for row in rows:
            energy = energy + self.layers(row).squeeze() + (0.5 if row[0].item() > 0 else 0.0)
        return energy / len(rows)


def energies(net, groups):
    return torch.stack([net(rows) for rows in groups])


ACTIVATIONS = {
    "softplus": (nn.Softplus, "beta", 2.0),
    "a low threshold": (nn.Softplus, "threshold", 0.1),
    "elu": (nn.ELU, "alpha", 0.5),
    "gelu": (nn.GELU, "approximate", "tanh"),
    "leaky": (nn.LeakyReLU, "negative_slope", 0.2),
}


@pytest.mark.parametrize("name", ACTIVATIONS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_activations_and_their_settings(name, dtype, first):
    kind, setting, other = ACTIVATIONS[name]
    torch.manual_seed(0)
    net, lifted = Energies(kind()).to(dtype), lift(energies, verify="off")
    groups = [[3 * torch.randn(SIZE, dtype=dtype) for _ in range(n)] for n in (1, 3, 2)]
    agree(lifted, energies, net, groups)
    assert lifted.report().loops[0].decision == "native", lifted.report()
    assert_same(gradients(lifted, copy.deepcopy(net), groups), gradients(energies, net, groups))
    setattr(net.layers[1], setting, other)
    agree(lifted, energies, net, groups)


@pytest.mark.parametrize("backend", ["auto", "native", "torch"])
def test_activations_on_backends(backend):
    torch.manual_seed(0)
    net, lifted = Energies(nn.Softplus()), lift(energies, verify="off", backend=backend)
    for sizes in ((2, 1), (3, 4, 1)):
        agree(lifted, energies, net, [[torch.randn(SIZE) for _ in range(n)] for n in sizes])


def test_sums_that_stay_numbers_cannot_be_stacked(first):
    net, lifted = Energies(nn.Softplus()), lift(energies, verify="off")
    lifted(net, [[torch.ones(SIZE)]])
    for groups in ([], [[]], [[torch.ones(SIZE)], []]):
        with pytest.raises(Exception) as wanted:
            energies(net, groups)
        with pytest.raises(type(wanted.value)) as found:
            lifted(net, groups)
        assert str(found.value) == str(wanted.value)


def test_parameters_are_read_at_each_call(first):
    torch.manual_seed(0)
    net, lifted = Reader(nn.GRUCell), lift(readings, verify="off")
    agree(lifted, readings, net, texts())
    with torch.no_grad():
        net.cell.weight_hh.mul_(2)
    agree(lifted, readings, net, texts())
    net.table.weight = nn.Parameter(torch.randn(9, SIZE))
    net.layers[1].weight.requires_grad_(False)
    net.start.add_(1)
    agree(lifted, readings, net, texts())


def doubled(module, given, found):
    return found * 2


CHANGES = {
    "a number": lambda net: setattr(net, "scale", 2.0),
    "a limit": lambda net: setattr(net, "least", 0.1),
    "no limit": lambda net: setattr(net, "least", float("nan")),
    "another kind of number": lambda net: setattr(net, "scale", 1),
    "a layer": lambda net: net.layers.__setitem__(0, nn.Sequential(nn.Linear(SIZE, SIZE), nn.Sigmoid())),
    "another layer": lambda net: net.layers.append(nn.Linear(SIZE, SIZE)),
    "a bias": lambda net: setattr(net.layers[0], "bias", None),
    "an activation": lambda net: net.out.__setitem__(1, nn.ReLU()),
    "a hook": lambda net: net.layers[0].register_forward_hook(doubled),
    "a forward of its own": lambda net: setattr(net.layers[0], "forward", lambda x: x * 3),
    "a dtype": lambda net: net.double(),
    "a slope": lambda net: net.out.__setitem__(1, nn.LeakyReLU(0.3)),
    "a small number": lambda net: setattr(net.out[0], "eps", 0.1),
    "padding": lambda net: setattr(net.table, "padding_idx", 1),
}


@pytest.mark.parametrize("change", CHANGES)
def test_modules_that_change(change, first):
    torch.manual_seed(0)
    net, lifted = Reader(nn.GRUCell), lift(readings, verify="off")
    agree(lifted, readings, net, texts())
    CHANGES[change](net)
    agree(lifted, readings, net, texts())


def test_a_class_that_changes(first, monkeypatch):
    torch.manual_seed(0)
    net, lifted = Reader(nn.GRUCell), lift(readings, verify="off")
    agree(lifted, readings, net, texts())
    monkeypatch.setattr(Reader, "step", lambda self, word, state: state * word)
    agree(lifted, readings, net, texts())


@pytest.mark.parametrize("name", CASES)
def test_autocast_rounds_as_in_the_loop(name, first):
    function, net, given = CASES[name]
    torch.manual_seed(0)
    net, given, lifted = net(), given(), lift(function, verify="off")
    agree(lifted, function, net, given)
    with torch.autocast("cpu", dtype=torch.bfloat16), torch.no_grad():
        wanted = function(net, given)
        assert_same(lifted(net, given), wanted)


def test_dropout_draws_as_in_the_loop(first):
    torch.manual_seed(0)
    net, lifted = Reader(nn.GRUCell), lift(readings, verify="off")
    agree(lifted, readings, net, texts())
    net.out[2].p = 0.5
    found = []
    for function in (readings, lifted, lifted):
        torch.manual_seed(1)
        found.append(function(net, texts()))
    assert torch.equal(found[0], found[1]) and torch.equal(found[0], found[2])
    net.eval()
    agree(lifted, readings, net, texts())


def test_words_out_of_the_table_raise(first):
    net, lifted = Reader(nn.GRUCell), lift(readings, verify="off")
    lifted(net, texts())
    for word in (9, -1):
        with pytest.raises(IndexError):
            lifted(net, [[1], [word]])


def test_what_backward_needs_must_not_change(first):
    net, rows, lifted = nn.Linear(SIZE, SIZE), some_rows(), lift(with_state, verify="off")
    for one in rows:
        one.requires_grad_()
    found = lifted(net, rows)
    with torch.no_grad():
        net.weight.add_(1)
    with pytest.raises(RuntimeError, match="inplace"):
        found.sum().backward()


def steps(net, rows):
    """Products of many sizes, of what is computed and of what is given, along each axis."""
    memo = {}
    for k in range(len(rows)):
        a = net(rows[k])
        memo[k] = (a @ a.t()) @ rows[k] + (rows[k].t() @ a).sum() + a[:, 0] @ a + a @ a[0] @ a
    return torch.stack([one.sum() for one in memo.values()])


@pytest.mark.parametrize("asking", [False, True])
def test_products_of_any_sizes(asking, first):
    for size in (1, 3, 8, 17):
        torch.manual_seed(size)
        net = nn.Linear(size, size).double()
        rows = [torch.randn(n, size, dtype=torch.float64).requires_grad_(asking) for n in (1, 2, 9)]
        lifted = lift(steps, verify="off")
        agree(lifted, steps, net, rows)
        wanted = torch.autograd.grad(steps(net, rows).sum(), rows, allow_unused=True) if asking else None
        assert not asking or all(map(torch.allclose, torch.autograd.grad(lifted(net, rows).sum(), rows), wanted))
        assert lifted.report().loops[0].decision == "native"


def of_views(w, x):
    """Products of parts of one matrix, the same ones again and again, with parts of another."""
    memo = {}
    for k in range(1, x.shape[1]):
        memo[k] = w[:, :k] @ x[0, :k] + w[:, :2] @ x[k, :2] + w.t()[:, :3] @ w[:3, k] + (w[k:] @ x[:, k]).sum()
        memo[k] = memo[k] + x @ w[k]
    return torch.stack([one.sum() for one in memo.values()])


@pytest.mark.parametrize("strided", [False, True])
def test_products_of_views(strided, first):
    torch.manual_seed(0)
    given = [torch.randn(8, 5, dtype=torch.float64).t() if strided else torch.randn(5, 8, dtype=torch.float64)] * 2
    given = [given[0][:, ::2][:4, :4], given[0][:4, 1:5]] if strided else [given[0][:4, :4].clone(), given[0][:4, 4:]]
    given = [one.detach().requires_grad_() for one in given]
    wanted = torch.autograd.grad(of_views(*given).sin().sum(), given)
    lifted = lift(of_views, verify="off")
    for _ in range(2):
        found = lifted(*given)
        noise = [torch.full((64,), 1e30, dtype=torch.float64) for _ in range(50)]
        assert all(map(torch.allclose, torch.autograd.grad(found.sin().sum(), given), wanted)) and noise
    assert lifted.report().loops[0].decision == "native", lifted.report()


def blocks(ws, xs):
    memo = {}
    for i in range(len(ws)):
        memo[i] = ws[i] @ xs[i]
    return torch.cat([memo[i] for i in range(len(ws))], dim=0)


def test_products_of_lists_of_views(first):
    lengths = [1, 4, 2, 6, 3] * 12
    w, x = torch.randn(3, sum(lengths)), torch.randn(sum(lengths), 5)
    ws = [one.requires_grad_() for one in w.split(lengths, 1)]
    xs = [one.requires_grad_() for one in x.split(lengths, 0)]
    wanted = torch.autograd.grad(blocks(ws, xs).sin().sum(), [*ws, *xs])
    found = lift(blocks, verify="off")(ws, xs)
    assert_same(torch.autograd.grad(found.sin().sum(), [*ws, *xs]), wanted)


def test_sums_beyond_what_a_float_holds_are_torchs(first):
    net, lifted = nn.Linear(16, 16), lift(with_large, verify="off")
    with torch.no_grad():
        net.weight.copy_(torch.tensor([1.0, -1.0]).repeat(16, 8))
        for scale in (1.0, 3e38):
            rows = [torch.full((16,), scale)]
            assert_same(lifted(net, rows), with_large(net, rows))


def with_large(net, rows):
    memo = {}
    for k in range(len(rows)):
        memo[k] = net(rows[k])
    return torch.stack([one.sum() for one in memo.values()])


class Related(nn.Module):
    """A matrix for each relation of a tree."""

    def __init__(self, relations):
        super().__init__()
        self.word = nn.Linear(SIZE, SIZE)
        self.relations = nn.ModuleDict({one: nn.Linear(SIZE, SIZE, bias=False) for one in relations})


def heights(node):
    return 1 + sum(heights(child) for child in node["children"])


def encoded(net, node):
    h = net.word(node["x"])
    for child in node["children"]:
        h = h + heights(child) * net.relations[child["rel"]](encoded(net, child))
    return torch.tanh(h / heights(node))


def of_trees(net, trees):
    found = []
    for tree in trees:
        found.append(encoded(net, tree).sum())
    return torch.stack(found)


def tree_of(*children, rel="a", seed=0):
    x = torch.randn(SIZE, generator=torch.Generator().manual_seed(seed))
    return {"x": x, "rel": rel, "children": list(children)}


def related_trees():
    low = tree_of(rel="b", seed=1), tree_of(tree_of(rel="b", seed=2), rel="long", seed=3), tree_of(seed=4)
    return [tree_of(), tree_of(*low, seed=5), tree_of(tree_of(*low, rel="long"), rel="a")]


def gradients_of(function, net, *arguments):
    found = function(net, *arguments)
    return found, torch.autograd.grad(found.sum(), [*net.parameters()], allow_unused=True)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_one_of_several_modules_by_its_name(count, first):
    torch.manual_seed(0)
    net, trees = Related(["a", "b", "long"]), related_trees()[:count]
    lifted = lift(of_trees, verify="off")
    for _ in range(2):
        assert_same(gradients_of(lifted, net, trees), gradients_of(of_trees, net, trees))
    assert any(loop.decision == "native" for loop in lifted.report().loops), lifted.report()


def test_a_name_that_no_module_has(first):
    net, trees = Related(["a", "b"]), related_trees()
    lifted = lift(of_trees, verify="off")
    assert_same(lifted(net, trees[:1]), of_trees(net, trees[:1]))
    with pytest.raises(KeyError, match="long"):
        lifted(net, trees)
    with pytest.raises(KeyError):
        lifted(Related([]), trees)


def test_modules_under_other_names(first):
    net, trees = Related(["a", "b", "long"]), related_trees()
    lifted = lift(of_trees, verify="off")
    assert_same(lifted(net, trees), of_trees(net, trees))
    net.relations["b"], net.relations["long"] = net.relations["long"], nn.Tanh()
    assert_same(lifted(net, trees), of_trees(net, trees))
    other = Related(["a", "c", "long"])
    with pytest.raises(KeyError, match="'b'"):
        lifted(other, trees)
