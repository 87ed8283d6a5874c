"""What the host knows before a loop runs: modules, dicts, records, functions. The loop is the oracle."""

import copy
import dataclasses
import functools
from typing import NamedTuple

import pytest
import torch
from torch import nn

from looplift import lift


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])
        self.table = nn.ModuleDict({"first": nn.Linear(4, 4), "second": nn.Tanh()})
        self.gru, self.lstm, self.bilinear = nn.GRUCell(4, 4), nn.LSTMCell(4, 4), nn.Bilinear(4, 4, 2)


class Point(NamedTuple):
    place: torch.Tensor
    weight: float


@dataclasses.dataclass
class Sample:
    values: torch.Tensor
    scale: float
    tag: str


def rows(count=5):
    return torch.randn(count, 4)


def leaves(value):
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, nn.Module):
        return list(value.parameters())
    if dataclasses.is_dataclass(value):
        return leaves(list(vars(value).values()))
    values = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return [leaf for item in values for leaf in leaves(item)]


def form(value):
    """A value without its tensors."""
    if isinstance(value, torch.Tensor):
        return value.dtype, value.shape, value.requires_grad
    if isinstance(value, dict):
        return {key: form(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(map(form, value)) if type(value) in (list, tuple) else tuple(map(form, value))
    return value


def outcome(function, arguments):
    result = function(*arguments)
    asking = [leaf for leaf in leaves(result) if leaf.requires_grad]
    if asking:
        sum(leaf.sum() for leaf in asking).backward()
    return result, [leaf.grad for argument in arguments for leaf in leaves(argument)]


def check(function, *arguments, decisions=None):
    """The lifted function agrees with the loop, twice, gradients included."""
    lifted = lift(function)
    for _ in range(2):
        mine, theirs = copy.deepcopy(arguments), copy.deepcopy(arguments)
        (wanted, wanted_gradients), (given, gradients) = outcome(function, mine), outcome(lifted, theirs)
        assert form(given) == form(wanted)
        torch.testing.assert_close(leaves(given), leaves(wanted))
        assert [g is None for g in gradients] == [g is None for g in wanted_gradients]
        for one, other in zip(gradients, wanted_gradients, strict=True):
            if one is not None:
                torch.testing.assert_close(one, other)
    if decisions is not None:
        assert [loop.decision for loop in lifted.report().loops] == decisions
    return lifted


# ---------------------------------------------------------------- modules


def through_layers(net, x):
    out = []
    for row in x:
        h = row
        for number, layer in enumerate(net.layers):
            h = torch.relu(layer(h)) * (number + 1)
        out.append(h)
    return out


def through_table(net, x):
    out = torch.zeros(x.shape[0], 4)
    for i in range(x.shape[0]):
        h = x[i]
        for name, layer in net.table.items():
            h = layer(h) if name == "first" else h + layer(h)
        out[i] = h
    return out


def layers_by_index(net, x):
    out = []
    for i in range(len(x)):
        h = x[i]
        for k in range(len(net.layers)):
            h = torch.tanh(net.layers[k](h))
            if k < len(net.layers) - 1:
                h = h + x[i]
        out.append(h)
    return torch.stack(out)


def early_exit(net, x):
    out = []
    for i in range(x.shape[0]):
        h = x[i]
        for layer in net.layers:
            h = layer(h)
            if h.sum() > 0.5:
                break
        out.append(h)
    return torch.stack(out)


@pytest.mark.parametrize("function", [through_layers, through_table, layers_by_index, early_exit])
@pytest.mark.parametrize("count", [1, 2, 5])
def test_modules_are_taken_one_after_the_other_in_the_lanes(function, count):
    torch.manual_seed(count)
    check(function, Net(), rows(count), decisions=["lanes", "sequential"] if count == 5 else None)


def test_lanes_inside_of_a_loop_over_modules():
    def function(net, x):
        found = []
        for layer in net.layers:
            sums = []
            for i in range(len(x)):
                sums.append(layer(x[i]).sum())
            found.append(torch.stack(sums))
        return torch.stack(found)

    check(function, Net(), rows(), decisions=["sequential", "lanes"])


def test_a_list_of_modules_that_grows_is_another_variant():
    def function(nets, x):
        out = []
        for row in x:
            out.append(torch.stack([net(row) for net in nets]).sum(0))
        return torch.stack(out)

    lifted = lift(function)
    nets, x = [nn.Linear(4, 4) for _ in range(4)], rows()
    for count in (2, 2, 4, 3, 4):
        torch.testing.assert_close(lifted(nets[:count], x), function(nets[:count], x))
    assert lifted.report().loops[0].decision == "lanes"


def test_parameters_one_by_one():
    def function(net, x):
        penalty = 0
        for name, parameter in net.named_parameters():
            if "weight" in name:
                penalty = penalty + (parameter**2).sum()
        out = []
        for i in range(len(x)):
            out.append(net.layers[0](x[i]) * penalty)
        return torch.stack(out)

    check(function, Net(), rows(), decisions=["sequential", "lanes"])


def test_matrices_of_different_shapes_by_index():
    def function(weights, x):
        out = []
        for i in range(len(x)):
            h = x[i]
            for k in range(len(weights)):
                h = torch.relu(weights[k] @ h)
            out.append(h)
        return torch.stack(out)

    weights = [torch.randn(3, 4, requires_grad=True), torch.randn(2, 3, requires_grad=True)]
    check(function, weights, rows(), decisions=["lanes", "sequential"])


def test_modules_chosen_by_each_iteration():
    def function(experts, route, x):
        out = torch.zeros_like(x)
        for i in range(len(x)):
            out[i] = experts[int(route[i])](x[i])
        return out

    experts = nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])
    check(function, experts, torch.tensor([0, 2, 1, 1, 0]), rows(), decisions=["lanes"])


def test_a_side_that_no_iteration_takes_gets_no_gradient():
    def function(one, other, x):
        out = []
        for row in x:
            if row.sum() > 0:
                out.append(one(row))
            else:
                out.append(other(row))
        return torch.stack(out)

    def joined(one, other, x):
        out = []
        for row in x:
            h = one(row) if row.sum() > 0 else other(row)
            out.append(h * 2)
        return torch.stack(out)

    for values in (torch.ones(5, 4), -torch.ones(5, 4), rows()):
        check(joined, nn.Linear(4, 4), nn.Linear(4, 4), values, decisions=["lanes"])
        check(function, nn.Linear(4, 4), nn.Linear(4, 4), values)


def test_a_negative_place_in_a_list_of_modules():
    def function(experts, route, x):
        out = torch.zeros_like(x)
        for i in range(len(x)):
            out[i] = experts[route[i]](x[i])
        return out

    check(function, [nn.Linear(4, 4), nn.Tanh()], [0, -1, 1, -2, 0], rows())


def recurrent(net, x):
    out = []
    for i in range(len(x)):
        h, c = net.lstm(x[i], (x[i] * 2, x[i] * 3))
        h, c = net.lstm(x[i], (h, c))
        out.append(h + c + net.gru(x[i], h))
    return torch.stack(out)


def over_time(net, x):
    out = []
    for b in range(x.shape[0]):
        h = torch.zeros(2)
        for t in range(3):
            h = net.bilinear(x[b], x[b] + t) + h
        out.append(h)
    return torch.stack(out)


@pytest.mark.parametrize("function", [recurrent, over_time])
@pytest.mark.parametrize("count", [1, 5])
def test_cells_and_bilinear_forms(function, count):
    check(function, Net(), rows(count))


# ---------------------------------------------------------------- records of the caller


def test_tuples_dicts_and_objects_are_read_as_columns():
    def of_tuples(edges, x):
        out = torch.zeros(5)
        for source, target, weight in edges:
            out[target] += (x[source] * weight).sum()
        return out

    def of_dicts(queries):
        return torch.stack([torch.softmax(q["scores"], 0) * q["factor"] for q in queries])

    def of_objects(samples):
        out = []
        for sample in samples:
            value = sample.values * sample.scale
            if sample.tag == "odd":
                value = value + 1
            out.append(value)
        return torch.stack(out)

    def of_named(points):
        total = 0
        for i in range(len(points)):
            total = total + points[i].place.sum() * points[i][1]
        return total

    check(of_tuples, [(i, i * 3 % 5, 0.5 * i) for i in range(5)], rows(), decisions=["lanes"])
    check(of_tuples, [], rows())
    queries = [{"scores": torch.randn(3, requires_grad=True), "factor": i} for i in range(4)]
    check(of_dicts, queries, decisions=["lanes"])
    samples = [Sample(torch.randn(3), 0.1 * i, "odd" if i % 2 else "even") for i in range(4)]
    check(of_objects, samples, decisions=["lanes"])
    check(of_named, [Point(torch.randn(3), 0.1 * i) for i in range(4)], decisions=["lanes"])


def test_records_that_change_their_form_run_as_they_are():
    @lift
    def function(edges, x):
        total = 0
        for source, target in edges:
            total = total + x[source] * x[target]
        return total

    x = torch.randn(5)
    torch.testing.assert_close(function([(0, 1), (2, 3)], x), x[0] * x[1] + x[2] * x[3])
    with pytest.raises(ValueError, match="too many"):
        function([(0, 1), (2, 3, 4)], x)
    with pytest.raises(KeyError):
        lift(by_key)([{"a": 1}, {"b": 1}], x)


def by_key(records, x):
    total = 0
    for record in records:
        total = total + x[record["a"]]
    return total


def test_dicts_of_the_caller():
    def of_lists(graph, x):
        out = torch.zeros(5, 4)
        for i, near in graph.items():
            for j in near:
                out[i] += x[j]
        return out

    def of_tensors(table, x):
        out = torch.zeros(len(x))
        for i in range(len(x)):
            for name, value in table.items():
                out[i] = out[i] + (value * x[i]).sum() * (2 if name == "a" else 1)
        return out

    def by_word(parameters, x):
        return torch.stack([parameters["w"] @ row + parameters["b"] for row in x])

    check(of_lists, {i: [(i + 1) % 5, (i + 2) % 5][: i % 3 + 1] for i in range(5)}, rows())
    check(of_tensors, {"a": torch.randn(4), "b": torch.randn(4)}, rows(), decisions=["native", "native"])
    parameters = {"w": torch.randn(2, 4, requires_grad=True), "b": torch.randn(2), "name": "linear"}
    check(by_word, parameters, rows(), decisions=["lanes"])


# ---------------------------------------------------------------- lists and dicts of the region


def test_dicts_that_are_known_item_by_item():
    def inside(x, y):
        out = []
        for a, b in zip(x, y):
            parts = {"sum": a + b, "product": a * b}
            parts["rest"] = parts["sum"] - parts.get("product", 0)
            out.append(sum(parts.values()))
        return torch.stack(out)

    def around(x):
        totals = {"sum": torch.zeros(4), "count": 0}
        for i in range(x.shape[0]):
            totals["sum"] = totals["sum"] + x[i]
            totals["count"] += 1
        return totals

    check(inside, rows(), rows(), decisions=["lanes"])
    check(around, rows(), decisions=["lanes"])


def test_lists_of_tuples():
    def used(x):
        pairs = []
        for i in range(x.shape[0]):
            pairs.append((x[i].sum(), x[i].prod()))
        total = 0
        for a, b in pairs:
            total = total + a * b
        sums, products = zip(*pairs)
        return total, torch.stack(sums), torch.stack(products), len(pairs)

    def returned(x):
        pairs = []
        for i in range(x.shape[0]):
            pairs.append((x[i].sum(), i))
        return pairs

    check(used, rows(), decisions=["lanes", "lanes"])
    check(returned, rows(), decisions=["lanes"])


# ---------------------------------------------------------------- syntax


def scaled(first, *rest, scale=1.0, **more):
    total = first
    for one in rest:
        total = total + one
    return total * scale + more.get("bias", 0)


def test_functions_and_arguments():
    def variable(x):
        options = {"scale": 2.0, "bias": 0.5}
        return [scaled(x[i, 0], x[i, 1], x[i, 2], **options) for i in range(len(x))]

    def closures(x):
        def shifted(value, factor=2):
            return value * factor + offset

        offset = 1.5
        out = []
        for i in range(len(x)):
            plus = lambda value: shifted(value) + i
            out.append(plus(x[i]).sum())
        return out

    def partials(x, clamp):
        double = functools.partial(torch.mul, torch.tensor(2.0))
        return torch.stack([double(clamp(x[i])) for i in range(len(x))])

    check(variable, rows(), decisions=["lanes"])
    check(closures, rows(), decisions=["lanes"])
    check(partials, rows(), functools.partial(torch.clamp, min=0.1), decisions=["lanes"])


def test_starred_targets_walrus_del_and_assert():
    def starred(x):
        out = []
        for i in range(x.shape[0]):
            first, *rest = (x[i, 0], x[i, 1], x[i, 2])
            arguments = (x[i], 0.5)
            out.append(torch.mul(*arguments).sum() + first - rest[1] + len(rest))
        return out

    def named(x):
        out = []
        for i in range(len(x)):
            if (total := x[i].sum()) > 0:
                out.append(total)
        return out

    def deleted(x):
        out = []
        for i in range(len(x)):
            twice = x[i] * 2
            assert twice.shape[0] == 4
            more = twice + 1
            del twice
            out.append(more)
        return torch.stack(out)

    for function in (starred, named, deleted):
        check(function, rows(), decisions=["lanes"])


def test_a_store_into_the_memory_of_a_module_is_seen_by_the_next_call():
    def function(net, flat, x):
        out = torch.zeros(len(flat))
        with torch.no_grad():
            for k in range(len(flat)):
                flat[k] = flat[k] + 1
                out[k] = net(x).sum()
        return out

    net = nn.Linear(4, 1)
    lifted = lift(function, verify="off")
    for count in (4, 4):
        x, start = torch.randn(4), net.weight.detach().clone()
        wanted = function(net, net.weight.detach().view(-1), x)
        net.weight.data.copy_(start)
        given = lifted(net, net.weight.detach().view(-1), x)
        net.weight.data.copy_(start)
        assert len(given) == count
        torch.testing.assert_close(given, wanted)
    apart = torch.zeros(4)
    torch.testing.assert_close(lifted(net, apart, x), function(net, torch.zeros(4), x).detach())


def test_what_trains_is_said_to_train_and_loops_inside_are_lifted():
    def function(net, optimizer, x, y):
        for values, wanted in zip(x, y):
            optimizer.zero_grad()
            loss = 0
            for i in range(len(values)):
                loss = loss + (net(values[i]) - wanted[i]).pow(2).sum()
            loss.backward()
            optimizer.step()
        return loss

    net = nn.Linear(3, 1)
    other = copy.deepcopy(net)
    x, y = torch.randn(4, 20, 3), torch.randn(4, 20, 1)
    lifted = lift(function)
    given = lifted(net, torch.optim.SGD(net.parameters(), 0.01), x, y)
    wanted = function(other, torch.optim.SGD(other.parameters(), 0.01), x, y)
    torch.testing.assert_close(given, wanted)
    torch.testing.assert_close(net.weight, other.weight)
    outer, inner = lifted.report().loops
    assert (outer.decision, outer.code, inner.decision) == ("kept", "training-step", "lanes")
    assert outer.reason == "'optimizer.zero_grad()' changes what the next iteration starts from"


def test_a_gradient_through_a_branch_is_kept():
    def function(net, x):
        found = []
        for row in x:
            loss = net(row).sum()
            if loss > 0:
                loss = loss**2
            found.append(torch.autograd.grad(loss, list(net.parameters()))[0])
        return found

    lifted = check(function, nn.Linear(3, 1), torch.randn(4, 3), decisions=["kept"])
    assert lifted.report().loops[0].code == "gradient"


def a_tuple(x):
    return tuple(float(row[0]) * 2 for row in x)


def tuples_as_keys(x):
    found = {}
    for i in range(len(x) - 1):
        key = tuple(int(v * 10) for v in x[i])
        found[key] = found.get(key, 0) + 1
    return found


def joined_tuples(x):
    return torch.stack(tuple(row * 2 for row in x))


@pytest.mark.parametrize("function", [a_tuple, tuples_as_keys, joined_tuples], ids=lambda f: f.__name__)
def test_tuples_are_no_lists(function):
    lifted = lift(function, verify="off")
    for count in (5, 1, 3):
        x = rows(count)
        got, want = lifted(x), function(x)
        assert type(got) is type(want) and str(got) == str(want)
