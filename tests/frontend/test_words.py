"""Lists of texts of the caller, and modules under such texts. The loop is the oracle."""

from __future__ import annotations

import pytest
import torch
from tests.frontend.oracle import check, outcome
from torch import nn

from looplift import lift
from looplift.base.compare import difference

WORDS = ["user", "item", "user", "tag", "item", "tag", "user"] * 2
X = torch.randn(len(WORDS), 4, generator=torch.Generator().manual_seed(0))


def by_kind(x, kinds, heads):
    out = []
    for i in range(len(kinds)):
        if kinds[i] == "user":
            out.append(x[i] * 2)
        elif kinds[i] in ("item", "none"):
            out.append(-x[i])
        else:
            out.append(x[i])
    return torch.stack(out)


def by_head(x, kinds, heads):
    out = []
    for kind, row in zip(kinds, x):
        out.append(heads[kind](row))
    return torch.stack(out)


def by_relation(x, edges, heads):
    out = torch.zeros(len(x), 4)
    for source, kind, target in edges:
        out[target] = out[target] + heads[kind](x[source])
    return out


def by_weight(x, records, heads):
    out = []
    for record in records:
        out.append(heads[record["kind"]] @ x[record["row"]])
    return torch.stack(out)


def of_neighbours(x, near, heads):
    out = []
    for v in range(len(near)):
        total = x[v]
        for u, kind in near[v]:
            total = total + heads[kind](x[u])
        out.append(total)
    return torch.stack(out)


def made(make, words=("user", "item", "tag")):
    torch.manual_seed(0)
    return {word: make() for word in words}


HEADS = nn.ModuleDict(made(lambda: nn.Linear(4, 4)))
ODD = nn.ModuleDict(made(lambda: nn.Linear(4, 4), ("{user}", "it'em", "tag")))
WEIGHTS = nn.ParameterDict(made(lambda: nn.Parameter(torch.randn(4, 4))))
EDGES = [(k, word, (3 * k) % len(WORDS)) for k, word in enumerate(WORDS)]
NEAR = [[(k, word) for _, word, k in EDGES[: v % 4]] for v in range(6)]
ODD_WORDS = ["{user}" if word == "user" else word for word in WORDS if word != "item"]
LIFTED = [
    (by_kind, (X, WORDS, None)), (by_head, (X, WORDS, HEADS)), (by_head, (X, WORDS, dict(HEADS.items()))),
    (by_head, (X[: len(ODD_WORDS)], ODD_WORDS, ODD)), (by_relation, (X, EDGES, HEADS)),
    (by_head, (X, ["tag"] * len(WORDS), HEADS)), (of_neighbours, (X, NEAR, HEADS)),
    (by_weight, (X, [{"kind": word, "row": k} for k, word in enumerate(WORDS)], WEIGHTS)),
    (by_head, (X, WORDS, {"user": torch.sin, "item": torch.neg, "tag": torch.abs})),
]  # fmt: skip


@pytest.mark.parametrize(("function", "arguments"), LIFTED)
def test_what_texts_tell_is_asked_beforehand(function, arguments):
    lifted = lift(function, verify="off", backend="torch")
    for _ in range(2):
        wanted, found = outcome(function, arguments), outcome(lifted, arguments)
        assert not difference(found, wanted, magnitude=1.0), lifted.source
    assert "kept" not in [loop.decision for loop in lifted.report().loops], lifted.report()
    check(function, arguments, kept=True)


def test_heads_that_are_not_taken_have_no_gradient():
    for words in (WORDS, ["user", "tag"] * 7, ["item"] * 14):
        lifted = lift(by_head, verify="off")
        parameters = list(HEADS.parameters())
        wanted = torch.autograd.grad(by_head(X, words, HEADS).sum(), parameters, allow_unused=True)
        found = torch.autograd.grad(lifted(X, words, HEADS).sum(), parameters, allow_unused=True)
        for one, other in zip(wanted, found, strict=True):
            assert (one is None) == (other is None)
            assert one is None or torch.allclose(one, other, atol=1e-5)


def neighbours_alike(x, kinds, heads):
    total = 0
    for i in range(len(kinds) - 1):
        if kinds[i] == kinds[i + 1]:
            total += 1
    return total


def letters(x, kinds, heads):
    total = 0
    for kind in kinds:
        if kind[0] == "u" or "e" in kind or kind.startswith("t"):
            total += len(kind)
        for letter in kind:
            total += letter == "r"
    return total


def changed(x, kinds, heads):
    total = 0
    for i in range(len(kinds)):
        kinds[i] = "user"
        if kinds[(i + 1) % len(kinds)] == "user":
            total += 1
    return total


def handed_out(x, kinds, heads):
    out, best = [], ""
    for i in range(len(kinds)):
        out.append(kinds[i])
        if x[i, 0] > 0:
            best = kinds[i]
    return out, best, f"{kinds[-1]}"


def too_far(x, kinds, heads):
    total = 0
    for i in range(len(kinds)):
        if kinds[i + 1] == "user":
            total += 1
    return total


@pytest.mark.parametrize("function", [neighbours_alike, letters, changed, handed_out, too_far, by_kind])
@pytest.mark.parametrize("words", [WORDS, ["user"], [], ["user", None, "item"], ["user", 3], [b"user", b"tag"]])
def test_texts_themselves(function, words):
    check(function, (X, words, None), kept=True)


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
def test_lists_of_other_kinds_are_noticed(backend):
    lifted = lift(by_head, backend=backend, verify="off")
    others = [WORDS, ["user", "other"], WORDS[1:], ["user", 3], [None], [], ["tag"] * 3, [["user"]], ("user", "tag")]
    for words in [*others, *others[::-1]]:
        for heads in (HEADS, ODD, dict(HEADS.items()), nn.ModuleDict(reversed(HEADS.items()))):
            arguments = (X, words, heads)
            assert not difference(outcome(lifted, arguments), outcome(by_head, arguments), magnitude=1.0), words
