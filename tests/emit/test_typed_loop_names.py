"""Names that an iteration binds anew, to something of another type: programs have a variable for each."""

import ast

import pytest
import torch

from looplift import lift
from looplift.base.compare import difference
from looplift.emit.typed_loop_names import with_versions_in_loops


def versions(text, live=()):
    made = with_versions_in_loops(ast.parse(text).body, set(live), set())
    return None if made is None else ast.unparse(ast.Module(made, []))


def test_versions():
    assert versions("for r in rows:\n    a = []\n    a = stack(a)\n    t = t + a") == (
        "for r in rows:\n    a = []\n    a_l1_ = stack(a)\n    t = t + a_l1_"
    )
    assert versions("for r in rows:\n    r = list(r)\n    if r:\n        t = r") == (
        "for r in rows:\n    r_l1_ = list(r)\n    if r_l1_:\n        t = r_l1_"
    )
    assert versions("for r in rows:\n    a, t = [], 0\n    a, t = (stack(a), t + 1)\n    u = a + t") == (
        "for r in rows:\n    a, t = ([], 0)\n    a_l1_, t_l2_ = (stack(a), t + 1)\n    u = a_l1_ + t_l2_"
    )
    inner = "for r in rows:\n    for k in r:\n        a = []\n        a = stack(a)\n        t = a"
    assert versions(inner) == inner.replace("a = stack(a)\n        t = a", "a_l1_ = stack(a)\n        t = a_l1_")


@pytest.mark.parametrize(
    ("text", "live"),
    [
        ("for r in rows:\n    a = []\n    a = stack(a)", {"a"}),  # read afterwards
        ("for r in rows:\n    a = []\n    a = stack(a)\nt = a", ()),
        ("for r in rows:\n    t = t + a\n    a = []\n    a = stack(a)", ()),  # by the next iteration
        ("while len(a) < 3:\n    a = []\n    a = stack(a)", ()),
        ("for r in rows:\n    if r:\n        a = []\n    a = stack(a)", ()),  # not always bound before
        ("for r in rows:\n    for k in r:\n        t = a\n    a = []\n    a = stack(a)", ()),
        ("for r in rows:\n    a += 1\n    a = []\n    a = stack(a)", ()),
    ],
)
def test_names_that_stay(text, live):
    assert versions(text, live) is None


def advantages(rewards, values, ended, gamma):
    every, returns = [], []
    for k in range(len(rewards)):
        r, v = rewards[k], values[k]
        found, total = [], 0
        for t in reversed(range(len(r))):
            if t == len(r) - 1:
                after = 0.0 if ended[k] else v[t + 1]
            else:
                after = v[t + 1]
            total = r[t] + gamma * after - v[t] + gamma * 0.95 * total
            found.insert(0, total)
        found = torch.stack(found)
        every.append(found)
        returns.append(found + v[:-1])
    return torch.cat(every), torch.cat(returns)


def words(lines):
    found = {}
    for line in lines:
        line = line.split()
        for word in line:
            word = (word.lower(), len(word))
            found[word] = found.get(word, 0) + 1
    return found


def last_one(rows):
    kept = 0
    for row in rows:
        kept = [value * 2 for value in row]
        kept = sum(kept)
    return kept


@pytest.mark.parametrize("gradients", [False, True])
@pytest.mark.parametrize("backend", ["auto", "native"])
def test_gradients_of_lists_that_become_tensors(gradients, backend):
    def given(seed):
        g = torch.Generator().manual_seed(seed)
        lengths = [3, 1, 5, 2]
        values = [torch.randn(n + 1, generator=g).requires_grad_(gradients) for n in lengths]
        return [torch.randn(n, generator=g) for n in lengths], values, [True, False, True, False], 0.9

    lifted = lift(advantages, verify="off", backend=backend)
    for seed in (0, 1, 2, 0):
        found = []
        for function in (lifted, advantages):
            arguments = given(seed)
            results = function(*arguments)
            if gradients:
                torch.autograd.backward(sum((k + 1) * one.square().sum() for k, one in enumerate(results)))
            found.append((results, [one.grad for one in arguments[1]]))
        assert difference(*found) is None
    if backend == "native":
        assert [one.decision for one in lifted.report().loops] == ["native", "native"]


@pytest.mark.parametrize("function", [words, last_one])
def test_others(function):
    given = (["a B b", "", "A a c"], []) if function is words else ([[1, 2], [3]], [], [[0.5]])
    lifted = lift(function, verify="off")
    for arguments in (*given, *given):
        assert difference(lifted(arguments), function(arguments)) is None


def envelope(values):
    """A helper whose names are of several kinds, one after the other."""
    i = [0.0]
    for v in values:
        i.append(max(v, i[-1] * 0.5))
    total = 0.0
    for k in range(len(i)):
        total += i[k]
    i = total / len(i)
    best = {}
    for k in range(3):
        best[k] = i * k
    best = [best[k] for k in range(3)]
    return i + best[-1]


def by_envelopes(rows):
    found = []
    for row in rows:
        found.append(envelope(row))
    return found


@pytest.mark.parametrize("backend", ["auto", "native"])
def test_names_of_helpers(backend):
    for rows in ([[1.0, 3.0, 2.0], [0.5]], [[]], []):
        lifted = lift(by_envelopes, backend=backend, verify="off")
        for _ in range(2):
            assert repr(lifted(rows)) == repr(by_envelopes(rows))
    rows = [[1.0, 3.0, 2.0], [0.5]]
    lifted = lift(by_envelopes, backend=backend, verify="off")
    lifted(rows)
    assert lifted.report().loops[0].decision == "native"
