"""Sets of the caller's that typed programs go through, in the order in which Python does."""

import pytest
import torch
from tests.emit.test_typed_tensors import assert_same, first

from looplift import lift

__all__ = ["first"]


def spread(links, z, steps):
    for _ in range(steps):
        new = {}
        for v in links:
            total = torch.zeros((), dtype=torch.float64)
            for u in links[v]:
                total = total * 0.5 + z[u]
            new[v] = total / len(links[v])
        z = new
    return z


def listed(names):
    found = []
    for one in names:
        found.append(one)
    return found, [one for one in names if one], sorted(names), ",".join(found[:2])


def grown(names, more):
    found = []
    for one in more:
        names.add(one)
    for one in names:
        found.append(one)
    return found


def grown_meanwhile(names):
    for one in names:
        names.add(one + "'")
    return names


def of_its_own(names):
    mine, found = {"none"}, []
    for one in names:
        mine.add(one)
    for one in mine:
        found.append(one)
    return found


def named(count):
    return {f"name {k * k}" for k in range(count)}


def assert_alike(function, *made, decision=None):
    lifted = lift(function, verify="off")
    for _ in range(2):
        given, wanted = made[0](), made[0]()
        try:
            expected = function(*wanted)
        except Exception as error:
            with pytest.raises(type(error), match=str(error)):
                lifted(*given)
        else:
            assert_same(lifted(*given), expected)
        assert given == wanted
    native = any(loop.decision == "native" for loop in lifted.report().loops)
    assert decision is None or native is decision, lifted.report()


@pytest.mark.parametrize("count", [0, 1, 2, 40])
def test_in_the_order_of_hashes(count, first):
    assert_alike(listed, lambda: (named(count),), decision=count > 0 or None)
    assert_alike(of_its_own, lambda: (named(count),))
    assert_alike(grown, lambda: (named(count), ["a", "b", "name 1"]))


def test_a_set_that_changes_meanwhile(first):
    assert_alike(grown_meanwhile, lambda: (named(3),))


@pytest.mark.parametrize("steps", [0, 1, 3])
def test_sums_in_the_order_of_hashes(steps, first):
    names = sorted(named(9))
    links = {one: {one, *names[k // 2 :]} for k, one in enumerate(names)}
    values = torch.randn(9, generator=torch.Generator().manual_seed(0), dtype=torch.float64) * 1e6
    z = {one: value.clone() for one, value in zip(names, values)}
    lifted = lift(spread, verify="off")
    for _ in range(2):
        found, wanted = lifted(links, dict(z), steps), spread(links, dict(z), steps)
        assert [*found] == [*wanted] and all(torch.equal(found[one], wanted[one]) for one in wanted)
    if steps:
        assert any(loop.decision == "native" for loop in lifted.report().loops), lifted.report()
