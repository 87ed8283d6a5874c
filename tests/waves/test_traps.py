"""What waves must refuse, and where batched code could differ from the loop."""

import random

import pytest
import torch
from harness import assert_same, batched, check, check_values, program_of
from torch import nn

from looplift import lift
from looplift.base.errors import NotLiftable

WIDTH = 3


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(10, WIDTH)
        self.node = nn.Linear(WIDTH, WIDTH)
        self.drop = nn.Dropout(0.5)
        self.scale = 2.0


def value_decides(model, items):
    out = []
    for k in items:
        h = model.node(model.emb.weight[k])
        if h.sum() > 0:
            h = -h
        out.append(h)
    return out


def item_is_read(model, items):
    return [model.node(model.emb.weight[k]).sum().item() for k in items]


def shape_is_read(model, items):
    total = 0
    for k in items:
        total += len(model.node(model.emb.weight[k]))
    return total


def prints(model, items):
    out = []
    for k in items:
        print(k)
        out.append(model.node(model.emb.weight[k]))
    return out


def draws(model, items):
    return [model.node(model.emb.weight[k]) + torch.randn(WIDTH) for k in items]


def drops(model, items):
    return [model.drop(model.emb.weight[k]) * 2 for k in items]


def functional_dropout(model, items):
    return [torch.nn.functional.dropout(model.emb.weight[k] * 2) for k in items]


def stores_attribute(model, items):
    out = []
    for k in items:
        model.scale = k
        out.append(model.node(model.emb.weight[k]))
    return out


def changes_argument(model, items):
    out = []
    for k in list(items):
        items.append(k)
        out.append(model.node(model.emb.weight[k]))
    return out


def changes_in_place(model, items):
    out = []
    for k in items:
        h = model.node(model.emb.weight[k])
        out.append(h)
        h += 1
    return out


def changes_in_place_by_method(model, items):
    return [model.node(model.emb.weight[k]).mul_(2) for k in items]


def changes_a_view(model, items):
    out = []
    for k in items:
        h = model.node(model.emb.weight[k])
        g = h[:2]
        h += 1
        out.append(g * 2)
    return out


def stores_into_tensor(model, items):
    out = torch.zeros(len(items), WIDTH)
    for position, k in enumerate(items):
        out[position] = model.node(model.emb.weight[k]) + out[position - 1]
    return out


def gives_a_view(model, items):
    out = []
    for k in items:
        h = model.node(model.emb.weight[k])
        out.append(h)
        out.append(h[1:])
    return out


def gives_a_parameter(model, items):
    return [model.emb.weight[k] for k in items]


def catches(model, items):
    out = []
    for k in items:
        try:
            out.append(model.node(model.emb.weight[k]))
        except IndexError:
            out.append(None)
    return out


def asks_for_type(model, items):
    out = []
    for k in items:
        h = model.node(model.emb.weight[k])
        out.append(1 if isinstance(h, torch.Tensor) else 0)
    return out


def returns_early(model, items):
    for k in items:
        h = model.node(model.emb.weight[k])
        if k > 3:
            return h
    return None


def finds_tensor(model, items):
    seen = []
    for k in items:
        h = model.node(model.emb.weight[k])
        if h in seen:
            continue
        seen.append(h)
    return len(seen)


REFUSED = [
    item_is_read, shape_is_read, prints, draws, drops, functional_dropout, stores_attribute,
    changes_argument, changes_in_place, changes_in_place_by_method, changes_a_view, stores_into_tensor, gives_a_view,
    gives_a_parameter, catches, returns_early, finds_tensor,
]  # fmt: skip


@pytest.mark.parametrize("loop", REFUSED, ids=lambda loop: loop.__name__)
def test_refused(loop):
    with pytest.raises(NotLiftable) as refusal:
        program_of(loop, Model(), [1, 2, 3])
    assert refusal.value.message


@pytest.mark.parametrize("loop", [value_decides, asks_for_type], ids=lambda one: one.__name__)
def test_values_that_the_host_needs(loop):
    check(loop, Model(), [1, 2, 3], others=((Model(), [0]), (Model(), [5, 5, 2])))


def plain(model, items):
    return [torch.tanh(model.node(model.emb.weight[k])) for k in items]


def test_hooks_are_refused():
    model = Model()
    model.node.register_forward_hook(lambda *_: None)
    with pytest.raises(NotLiftable):
        program_of(plain, model, [1, 2])


def test_guards_see_hooks_and_other_classes():
    model = Model()
    lifted = batched(plain, model, [1, 2])
    lifted(model, [3])
    other = Model()
    other.node = nn.Sequential(nn.Linear(WIDTH, WIDTH))
    with pytest.raises(AssertionError):
        lifted(other, [3])
    model.node.register_forward_pre_hook(lambda *_: None)
    with pytest.raises(AssertionError):
        lifted(model, [3])


def test_dropout_in_eval_mode():
    model = Model().eval()
    lifted = batched(drops, model, [1, 2])
    assert_same(lifted(model, [3, 4]), drops(model, [3, 4]))
    with pytest.raises(AssertionError):
        lifted(model.train(), [3])


@pytest.mark.parametrize("bad", [[-1, 2], [10], [True, 1], ["a"], [None], [1.0], [[1]]])
def test_odd_indices_go_back_to_the_loop(bad):
    model = Model()
    lifted = batched(plain, model, [1, 2])
    with pytest.raises(Exception):
        lifted(model, bad)


def lookup(model, items, table):
    return [model.node(model.emb.weight[table[k]]) * 2 for k in items]


def test_host_errors_come_through():
    model = Model()
    lifted = batched(lookup, model, [1], {1: 2})
    with pytest.raises(KeyError):
        lifted(model, [1, 5], {1: 2})


def scaled(model, items):
    out = []
    for k, factor in items:
        out.append(model.node(model.emb.weight[k]) * factor)
    return out


def test_host_numbers_keep_their_kind():
    model = Model()
    kinds = [(1, 2), (1, 2.0), (2, True), (3, 0.1), (3, -0.0), (3, 0.0), (4, float("nan"))]
    check(scaled, model, kinds[:-1])
    lifted = batched(scaled, model, kinds)
    check_values(lifted, scaled, model, kinds)
    results = lifted(model, [(3, -0.0), (3, 0.0)])
    assert (torch.signbit(results[0]) != torch.signbit(results[1])).all()


def promotes(tables, items):
    out = []
    for i, j in items:
        out.append(torch.sum(tables[0][i]) * tables[1][j] + torch.sum(tables[0][j]))
    return out


@pytest.mark.parametrize("left", [torch.float64, torch.int64, torch.bool, torch.float32])
@pytest.mark.parametrize("right", [torch.float64, torch.int32, torch.float32])
def test_rows_without_axes_promote_as_in_the_loop(left, right):
    tables = (torch.ones(4, 3).to(left), torch.ones(4, 3).to(right))

    def loop(a, b, items):
        out = []
        for i, j in items:
            s = a[i].sum()
            out.append(s * b[j] + s)
        return out

    items = [(0, 1), (2, 3)]
    assert_same(batched(loop, *tables, items)(*tables, items), loop(*tables, items))


def test_where_on_rows_without_axes():
    def loop(a, b, items):
        out = []
        for i in items:
            out.append(torch.where(a[i].sum() > 0, a[i].sum(), b[i]))
        return out

    tables = torch.randn(4, 3).double(), torch.randn(4, 3)
    try:
        lifted = batched(loop, *tables, [0, 1])
    except NotLiftable:
        return
    assert_same(lifted(*tables, [0, 1]), loop(*tables, [0, 1]))


def test_rows_of_one_column_do_not_broadcast_across_lanes():
    def loop(a, b, items):
        return torch.stack([(a[i].unsqueeze(1) * b[i] + b[i]).sum(0) for i in items])

    tables = torch.randn(5, 3), torch.randn(5, 3)
    items = [0, 1, 2]
    assert_same(batched(loop, *tables, items)(*tables, items), loop(*tables, items))


@pytest.mark.parametrize(
    "operation",
    [
        lambda x: torch.log_softmax(x, -1),
        lambda x: torch.softmax(x, 0),
        lambda x: x.sum(-1),
        lambda x: x.cumsum(-1),
        lambda x: torch.stack([x, x * 2], -1),
        lambda x: x.unsqueeze(-1),
        lambda x: x.mean(dim=0),
    ],
)
def test_axes_of_single_numbers_are_not_those_of_lanes(operation):
    def loop(x, items):
        out = []
        for i in items:
            out.append(operation(x[i]))
        return out

    x, items = torch.rand(5), [0, 3, 1]
    lifted = lift(loop)
    for _ in range(2):
        for ours, theirs in zip(lifted(x, items), loop(x, items), strict=True):
            assert_same(ours, theirs)
    assert not lifted.report().loops[0].reason.startswith("values")


OPERATIONS = [
    lambda x, y: torch.stack([x, y]).sum(0),
    lambda x, y: torch.stack((x, y), dim=1).softmax(dim=0)[:, 1],
    lambda x, y: torch.cat([x, y], dim=0).view(2, 3).t().flatten(),
    lambda x, y: (x @ y) * x,
    lambda x, y: torch.outer(x, y) @ x,
    lambda x, y: x.unsqueeze(0) @ y.unsqueeze(1),
    lambda x, y: x[None, :] * y[:, None],
    lambda x, y: torch.maximum(x, y).clamp(min=0.1),
    lambda x, y: x.mean() + y.sum(),
    lambda x, y: torch.where(x > y, x, y),
    lambda x, y: torch.logsumexp(x + y, dim=-1),
    lambda x, y: torch.dot(x, y) ** 2,
    lambda x, y: (x + 1)[-1] * y,
    lambda x, y: torch.einsum("i,j->ij", x, y),
    lambda x, y: x.max() - y.min(),
    lambda x, y: torch.norm(x) + y,
    lambda x, y: torch.nn.functional.cosine_similarity(x, y, dim=0) * 2,
    lambda x, y: -x.exp() / (1 + y.abs()),
    lambda x, y: x.cumsum(0) + y.flip(0),
    lambda x, y: (x * 2).reshape(3, 1).repeat(1, 2),
    lambda x, y: torch.nn.functional.layer_norm(x, (3,)) + y,
]


@pytest.mark.parametrize("number", range(len(OPERATIONS)))
@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_operations(number, count):
    """The same in the loop and in waves, over lanes or mapped."""
    namespace = {"torch": torch}
    body = "def loop(a, b, items):\n    out = []\n    for i, j in items:\n        x, y = a[i], b[j]\n"
    body += f"        out.append({inspect_lambda(number)} + 0)\n    return out\n"
    loop = compiled(body, namespace)
    torch.manual_seed(number)
    tables = torch.randn(5, 3, requires_grad=True), torch.randn(5, 3, requires_grad=True)
    rng = random.Random(number)
    items = [(rng.randrange(5), rng.randrange(5)) for _ in range(count)]
    try:
        check(loop, *tables, items, leaves=list(tables))
    except NotLiftable as refusal:
        pytest.skip(refusal.message)


def inspect_lambda(number):
    import inspect

    lines = [line.strip() for line in inspect.getsource(inspect.getmodule(inspect_lambda)).splitlines()]
    lambdas = [line for line in lines if line.startswith("lambda x, y: ")]
    return lambdas[number].removeprefix("lambda x, y: ").rstrip(",")


def compiled(source, namespace):
    import linecache

    name = f"<loop {hash(source)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    exec(compile(source, name, "exec"), namespace)
    return namespace["loop"]
