"""Operands, callees and objects for which the batched form is another one than the loop: refused, or right."""

from collections import defaultdict

import pytest
import torch
from harness import assert_same, batched, check, program_of
from torch import nn

from looplift.base.errors import NotLiftable

WIDTH = 3


def rows(count=4, width=WIDTH, dtype=torch.float32, asks=False):
    generator = torch.Generator().manual_seed(count)
    return [torch.randn(width, generator=generator).to(dtype).requires_grad_(asks) for _ in range(count)]


class Data:
    def __init__(self, x, other=None):
        self.x, self.other = x, other


# ---------------------------------------------------------------- which tensors get a gradient


def one_by_one(xs, ys, flags):
    return [torch.tanh(x) * 2 for x in xs]


def one_or_the_other(xs, ys, flags):
    out = []
    for x, y, flag in zip(xs, ys, flags):
        a = torch.tanh(x)
        b = torch.sigmoid(y)
        out.append(a if flag else b)
    return torch.stack(out)


def zeros_or_not(xs, ys, flags):
    out = []
    for x, flag in zip(xs, flags):
        h = torch.tanh(x)
        zeros = [torch.zeros_like(h)]
        out.append(h if flag else zeros[0])
    return torch.stack(out)


def times(a, b):
    return a * b


def detached_or_not(xs, ys, flags):
    out = []
    for x, flag in zip(xs, flags):
        h = torch.tanh(x)
        rest = times(h, 2.0).detach()
        factors = [rest if flag else times(h, 2.0)]
        out.append(times(rest, factors[0]))
    return out


def lists_of_both(xs, ys, flags):
    out = []
    for x, flag in zip(xs, flags):
        states = [torch.zeros(WIDTH), torch.tanh(x)]
        if flag:
            states.reverse()
        out.append(torch.stack(states))
    return out


def of_each(function, args, leaves):
    """For each result the gradients of all leaves."""
    results = function(*args)
    results = results if isinstance(results, list) else [results]
    asked = [one.sum() for one in results if one.requires_grad]
    asked.append(torch.stack(asked).sum())
    return [torch.autograd.grad(one, leaves, allow_unused=True, retain_graph=True) for one in asked]


@pytest.mark.parametrize(
    "loop",
    [one_by_one, one_or_the_other, zeros_or_not, detached_or_not, lists_of_both],
    ids=lambda loop: loop.__name__,
)
def test_each_result_gives_gradients_to_what_it_was_made_of(loop):
    xs, ys, flags = rows(asks=True), rows(asks=True), [True, False, True, False]
    lifted = check(loop, xs, ys, flags, leaves=[*xs, *ys])
    for got, want in zip(*(of_each(f, (xs, ys, flags), [*xs, *ys]) for f in (lifted, loop)), strict=True):
        assert [one is None for one in got] == [one is None for one in want]


# ---------------------------------------------------------------- operands


def softmax_of_dtype(xs):
    return [torch.tanh(x).softmax(0, torch.float64) for x in xs]


def products(xs):
    return [torch.dot(x + 1, x + 2) for x in xs]


def test_operands():
    check(softmax_of_dtype, rows(), leaves=[])
    for dtype in (torch.int32, torch.float64, torch.float16):
        xs = [torch.arange(WIDTH).to(dtype) + k for k in range(3)]
        assert_same(batched(products, xs)(xs), products(xs))


def other_products(xs, ys):
    return [torch.dot(x + 1, y + 1) for x, y in zip(xs, ys)]


def test_vectors_that_have_no_product_go_back_to_the_loop():
    for ys in (rows(width=1), rows(dtype=torch.float64)):
        with pytest.raises(Exception):
            batched(other_products, rows(), ys)(rows(), ys)


def transposed(xs):
    out = []
    for x in xs:
        h = torch.tanh(x).T
        out.append(h.view(-1) * 2)
    return out


def test_views_that_the_strides_forbid_go_back_to_the_loop():
    xs = [torch.randn(2, WIDTH) for _ in range(3)]
    with pytest.raises(RuntimeError, match="view size"):
        batched(transposed, xs)(xs)


def numbers(ks):
    return [torch.tensor(k, dtype=torch.uint8) + 1 for k in ks]


def test_numbers_that_do_not_fit_go_back_to_the_loop():
    check(numbers, [1, 200, 0], leaves=[])
    for ks in ([1, 300], [-1], [1.0, float("nan")], [1e30]):
        with pytest.raises(Exception):
            batched(numbers, ks)(ks)


# ---------------------------------------------------------------- what is handed out


def same_memory(xs):
    return [x.reshape_as(x) for x in xs]


def repeated_memory(xs):
    return [torch.tanh(x).expand(2, WIDTH) for x in xs]


def parts_of_one_tensor(xs):
    out = []
    for x in xs:
        a, b = torch.tanh(x).chunk(2)
        out.append((a, b))
    return out


CHOICES = nn.ModuleList([nn.Identity(), nn.Tanh(), nn.Identity()])


def of_several_modules(xs):
    out = []
    for x in xs:
        for layer in CHOICES:
            out.append(layer(x))
    return out


def one_object(xs):
    out = []
    for x in xs:
        h = torch.tanh(x)
        both = [h, h.float()]
        out.append(h * (2 if both[0] is both[1] else 3))
    return out


def a_leaf(xs):
    return [torch.zeros(WIDTH, requires_grad=True) * x for x in xs]


# ---------------------------------------------------------------- what is called or changed


def tanh(x):
    return torch.tanh(x)


def sigmoid(x):
    return torch.sigmoid(x)


def one_of_two(xs):
    out = []
    for x in xs:
        for function in (tanh, sigmoid):
            out.append(function(x) * 2)
    return out


@pytest.mark.parametrize(
    "loop",
    [same_memory, repeated_memory, parts_of_one_tensor, of_several_modules, one_object, a_leaf, one_of_two],
    ids=lambda loop: loop.__name__,
)
def test_refused(loop):
    with pytest.raises(NotLiftable):
        program_of(loop, rows())


def from_data(xs, functions):
    return [functions[0](x) * 2 for x in xs]


def grouped(nodes, groups):
    for node in nodes:
        groups[len(node.x)].append(torch.tanh(node.x))
    return len(groups)


def remembers(nodes):
    out = []
    for node in nodes:
        h = torch.tanh(node.x)
        if node.other is not None:
            node.other.append(h)
        out.append(h * 2)
    return out


def updates(nodes):
    out = []
    for node in nodes:
        h = torch.tanh(node.x)
        kept = node.other
        if kept is not None:
            kept += [h]
        out.append(h * 2)
    return out


def test_objects_from_outside():
    nodes = [Data(x) for x in rows()]
    for loop, *args in ((from_data, rows(), [tanh]), (remembers, nodes)):
        with pytest.raises(NotLiftable):
            program_of(loop, *args)
    for loop, *args in ((updates, nodes), (grouped, nodes, defaultdict(list))):
        with pytest.raises(NotLiftable):
            program_of(loop, *args)


def test_functions_of_torch_in_data():
    lifted = check(from_data, rows(), [torch.tanh], leaves=[])
    with pytest.raises(NotImplementedError):
        lifted(rows(), [torch.relu_])


def over_nothing(nodes):
    out = []
    for node in nodes:
        h = torch.tanh(node.x)
        for one in node.other:
            one.append(h)
        out.append(h * 2)
    return out


def test_what_was_empty_before_is_not_changed():
    lifted = batched(over_nothing, [Data(x, []) for x in rows()])
    lists = [[], []]
    with pytest.raises(NotImplementedError):
        lifted([Data(x, lists) for x in rows()])
    assert lists == [[], []]


# ---------------------------------------------------------------- settings of modules


class Model(nn.Module):
    def __init__(self, *layers, act=torch.tanh):
        super().__init__()
        self.net = nn.Sequential(*layers)
        self.act = act

    def forward(self, x):
        return self.act(self.net(x)) * 2


def applied(model, xs):
    return [model(x * 2) for x in xs]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Model(nn.Softmax(-1)), Model(nn.Softmax(0))),
        (Model(nn.ReLU()), Model(nn.ReLU(), nn.Softmax(0))),
        (Model(nn.ReLU()), Model(nn.ReLU(inplace=True))),
        (Model(nn.LayerNorm(3)), Model(nn.LayerNorm([2, 3]))),
        (Model(act=tanh), Model(act=sigmoid)),
        (Model(act=torch.tanh), Model(act=torch.relu_)),
    ],
)
def test_guards_see_settings_of_modules(one, other):
    xs = [torch.randn(2, WIDTH) for _ in range(3)]
    lifted = batched(applied, one, xs)
    assert_same(lifted(one, xs), applied(one, xs))
    with pytest.raises(AssertionError):
        lifted(other, xs)


# ---------------------------------------------------------------- texts of tensors


def shown(xs):
    out = []
    for x in xs:
        for row in torch.tanh(torch.stack([x, x * 2])):
            out.append((repr(row * 2), row * 3))
    return out


def shown_in_a_text(xs):
    out = []
    for x in xs:
        for row in torch.tanh(torch.stack([x, x * 2])):
            out.append((f"{row * 2}", row * 3))
    return out


def formatted(xs):
    return ["%s" % (torch.tanh(x) * 2) for x in xs]


def test_texts():
    for loop in (shown, shown_in_a_text):
        with pytest.raises(NotLiftable):
            program_of(loop, rows(asks=True))
    for count in (1, 3):
        with pytest.raises(NotImplementedError):
            batched(formatted, rows(count))(rows(count))


# ---------------------------------------------------------------- containers that leave, methods


def in_a_generator(xs):
    lazy = (torch.tanh(x) * 2 for x in xs)
    return next(lazy), lazy


def in_a_set(xs):
    return {torch.tanh(x) * 2 for x in xs}


def as_keys(xs):
    return {torch.tanh(x) * 2: k for k, x in enumerate(xs)}


@pytest.mark.parametrize("loop", [in_a_generator, in_a_set, as_keys], ids=lambda loop: loop.__name__)
def test_containers_in_which_tensors_cannot_leave(loop):
    with pytest.raises(NotLiftable):
        program_of(loop, rows())


class Node:
    def __init__(self, x):
        self.x = x

    def encode(self):
        return torch.tanh(self.x) * 2

    @property
    def half(self):
        return self.x / 2


def encoded(nodes):
    return [node.encode() + node.half for node in nodes]


def test_objects_with_a_method_of_their_own(monkeypatch):
    nodes = [Node(x) for x in rows()]
    lifted = batched(encoded, nodes)
    assert_same(lifted(nodes), encoded(nodes))
    nodes[1].encode = lambda: torch.zeros(WIDTH)
    with pytest.raises(NotImplementedError):
        lifted(nodes)
    for name, other in (("encode", lambda self: self.x), ("half", property(lambda self: self.x))):
        with monkeypatch.context() as patch, pytest.raises(AssertionError):
            patch.setattr(Node, name, other)
            lifted(nodes[:1])
