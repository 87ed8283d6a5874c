"""``SimpleNamespace`` in programs: given, changed, made, handed out, shared, and with other names than others."""

from types import SimpleNamespace

import pytest
import torch
from tests.emit.test_typed_losses import g
from tests.emit.test_typed_tensors import assert_same, first

from looplift import lift

__all__ = ["first"]


def spread(nodes, rounds):
    seen = {-1: 0.0}
    for k in range(rounds):
        for node in nodes:
            node.value = node.value * 0.5 + sum((nodes[j].value * node.weight for j in node.near), 0.0)
            node.near.append(node.near[0])
        seen[k] = nodes[0].value
    return seen


def relaxed(bodies, steps):
    energy = {0: torch.zeros(())}
    for step in range(steps):
        for body in bodies:
            total = torch.zeros(3)
            for k in body.near:
                total = total + (bodies[k].x - body.x) * body.mass
            body.v = body.v + 0.1 * total
        for body in bodies:
            body.x = body.x + body.v
        energy[step + 1] = energy[step] + sum((body.v * body.v).sum() for body in bodies)
    return energy[steps], [body.x for body in bodies]


def made(points, limit):
    best, queue = {}, [SimpleNamespace(at=0, cost=0.0, path=[])]
    while queue:
        one = queue.pop()
        if one.at in best and best[one.at].cost <= one.cost:
            continue
        best[one.at] = one
        for k in range(one.at + 1, min(one.at + limit, len(points))):
            more = SimpleNamespace(path=[*one.path, k], cost=one.cost + abs(points[k] - points[one.at]), at=k)
            queue.append(more)
    return best


def alike(left, right):
    found = {0: 0}
    for k, one in enumerate(left):
        found[k + 1] = found[k]
        for other in right:
            found[k + 1] += (one == other) + 2 * (one is other)
    return found


def view(value):
    if isinstance(value, SimpleNamespace):
        return {"a namespace": {name: view(one) for name, one in vars(value).items()}}
    if isinstance(value, dict):
        return {key: view(one) for key, one in value.items()}
    return [view(one) for one in value] if isinstance(value, list | tuple) else value


def outcome(function, given):
    try:
        return view(function(*given)), view(given), None
    except Exception as error:
        return type(error), str(error), None


def numbers(count=4, weight=0.25):
    return [SimpleNamespace(value=float(k), weight=weight, near=[(k + 1) % count]) for k in range(count)]


def bodies(asks=False):
    return [
        SimpleNamespace(x=g(3, seed=k).requires_grad_(asks), v=torch.zeros(3), mass=0.5, near=[k - 1, 0])
        for k in range(3)
    ]


def twice_the_same():
    one, other = SimpleNamespace(a=1, b=2.5), SimpleNamespace(a=1, b=2.5)
    return [one, SimpleNamespace(a=2, b=0.5), one], [other, one, SimpleNamespace(a=3, b=1.0)]


def in_another_order():
    (one, *rest), others = twice_the_same()
    return [one, *rest], [SimpleNamespace(b=2.5, a=1), *others]


def shared():
    one = SimpleNamespace(value=1.0, weight=0.5, near=[1, 0])
    return [one, SimpleNamespace(value=2.0, weight=0.1, near=one.near), one]


CASES = {
    "numbers": (spread, lambda: (numbers(), 3)), "one": (spread, lambda: (numbers(1), 2)),
    "shared": (spread, lambda: (shared(), 3)), "none": (relaxed, lambda: ([], 2)),
    "tensors": (relaxed, lambda: (bodies(), 2)), "made": (made, lambda: ([3.0, 1.0, 4.0, 1.5, 9.0], 3)),
    "alike": (alike, twice_the_same), "another order": (alike, in_another_order),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_namespaces_are_the_loops(name, first):
    function, given = CASES[name]
    lifted = lift(function, verify="off")
    for _ in range(2):
        assert_same(outcome(lifted, given()), outcome(function, given()))
    assert name in ("none", "another order") or any(loop.decision == "native" for loop in lifted.report().loops), (
        lifted.report()
    )


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize("name", CASES)
def test_on_backends(name, backend):
    function, given = CASES[name]
    lifted = lift(function, backend=backend)
    for _ in range(2):
        assert_same(outcome(lifted, given()), outcome(function, given()))


def without(name):
    found = numbers()
    delattr(found[2], name)
    return found, 2


def with_more():
    found = numbers()
    found[1].other = 3
    return found, 2


def of_another_kind():
    found = numbers()
    found[3].weight = "much"
    return found, 2


def far():
    found = numbers()
    found[2].near = [9]
    return found, 2


CHANGES = {"less": lambda: without("weight"), "less near": lambda: without("near"), "more": with_more,
           "another kind": of_another_kind, "far": far, "a dict": lambda: ([{"value": 1.0}], 2)}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("before", [True, False])
def test_other_names_and_values(change, before):
    lifted = lift(spread, verify="off")
    for given in (*[lambda: (numbers(), 2)] * before, CHANGES[change], lambda: (numbers(), 2)):
        assert_same(outcome(lifted, given()), outcome(spread, given()))


def test_objects_keep_what_they_are(first):
    given, lifted = bodies(), lift(relaxed, verify="off")
    before, held = list(given), [one.near for one in given]
    _, found = lifted(given, 2)
    assert all(one is other for one, other in zip(given, before, strict=True))
    assert all(one.near is other for one, other in zip(given, held, strict=True))
    assert all(one.x is other for one, other in zip(given, found, strict=True))


def energy_of(bodies):
    total = {0: torch.zeros(())}
    for k, body in enumerate(bodies):
        near = sum((bodies[j].x * body.mass for j in body.near), torch.zeros(3))
        total[k + 1] = total[k] + (near * body.x).tanh().sum()
    return total[len(bodies)]


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_gradients(count, backend):
    lifted = lift(energy_of, verify="off", backend=backend)
    found = []
    for function in (lifted, energy_of, lifted):
        given = bodies(asks=True)
        for one in given:
            one.near = [k for k in one.near if k < count]
        value = function(given[:count])
        inputs = [one.x for one in given]
        slopes = torch.autograd.grad(value, inputs, allow_unused=True) if value.requires_grad else None
        found.append((value.detach(), slopes))
    assert_same(found[0], found[1])
    assert_same(found[2], found[1])
