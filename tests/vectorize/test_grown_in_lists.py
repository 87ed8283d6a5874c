"""Lists of states that the sequences of lists of lists make in loops over their steps, with gradients."""

from typing import Any

import pytest
import torch
from tests.vectorize.harness import check
from torch import nn

from looplift import lift
from looplift.base.compare import difference


def means(documents, table, w, u):
    out = []
    for document in documents:
        total = torch.zeros(3)
        for words in document:
            h = torch.zeros(3)
            states = []
            for k in words:
                h = torch.tanh(h * w + table[k])
                states.append(h)
            total = total + torch.stack(states).mean(0) * u
        out.append(total)
    return torch.stack(out)


def two_levels(documents, table, w, u):
    out = []
    for document in documents:
        sentences = []
        for words in document:
            h, states = torch.zeros(3), []
            for k in words:
                h = torch.tanh(h * w + table[k])
                states.append(h)
            sentences.append(torch.stack(states).max(dim=0).values)
        h, states = torch.zeros(3), []
        for v in sentences:
            h = torch.tanh(h * u + v)
            states.append(h)
        shares = torch.softmax(torch.stack([s.sum() for s in states]), 0)
        pooled = 0
        for share, state in zip(shares, states):
            pooled = pooled + share * state
        out.append(pooled)
    return torch.stack(out)


def states_before(documents, table, w, u):
    """The first state of each sequence was made of nothing."""
    out = []
    for document in documents:
        for words in document:
            h, states = torch.zeros(3), []
            for k in words:
                states.append(h)
                h = torch.tanh(h * w + table[k])
            out.append(torch.stack(states).sum(0) * u)
    return torch.stack(out)


def under_a_test(documents, table, w, u):
    out = []
    for document in documents:
        total = torch.zeros(3)
        for words in document:
            kept = []
            for k in range(4):
                if table[k, 0] * words[0] > -1:
                    kept.append(table[k] * words[0] * w)
            total = total + torch.stack(kept).sum(0)
        out.append(total)
    return torch.stack(out)


CALLS = (
    [[[1, 2], [3]], [[1, 2, 3]], [[1], [2], [3, 1, 1]]],
    [[[2, 0, 3]]],
    [[[1]], [[2, 2]]],
)
WITH_NOTHING = ([[[1, 2], []], [[3]]], [[], [[1, 2]]], [[[1], [2]], []], [])
PROGRAMS = (means, two_levels, states_before, under_a_test)


def weights():
    generator = torch.Generator().manual_seed(3)
    return [torch.randn(4, 3, generator=generator), torch.tensor(0.3), torch.tensor(0.7)]


@pytest.mark.parametrize("program", [means, two_levels], ids=lambda p: p.__name__)
def test_states_of_sequences(program):
    check(program, *([documents, *weights()] for documents in CALLS), decisions={"lanes", "sequential"})


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
@pytest.mark.parametrize("asking", [(True, False, False), (False, True, False), (False, False, True)], ids=str)
def test_gradients_are_none_where_the_loop_has_none(program, asking):
    lifted = lift(program, verify="off", backend="torch")
    for documents in (*CALLS, *WITH_NOTHING):
        for _ in range(2):
            given = [one.clone().requires_grad_(ask) for one, ask in zip(weights(), asking)]
            wanted, found = (_outcome(one, documents, given) for one in (program, lifted))
            assert difference(found, wanted, magnitude=10) is None, documents


def _outcome(function, documents, given):
    try:
        result = function(documents, *given)
    except Exception as error:
        return type(error).__name__
    if not result.requires_grad:
        return result
    leaves = [one for one in given if one.requires_grad]
    return result.detach(), torch.autograd.grad(result.sin().sum(), leaves, allow_unused=True)


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.score = nn.GRUCell(3, 3), nn.Linear(3, 3)
        self.query = nn.Parameter(torch.randn(3))

    def forward(self, items):
        h, states = torch.zeros(1, 3), []
        for item in items:
            h = self.cell(item.view(1, -1), h)
            states.append(h.squeeze(0))
        shares = torch.softmax(torch.stack([torch.tanh(self.score(s)) @ self.query for s in states]), dim=0)
        pooled = 0
        for share, state in zip(shares, states):
            pooled = pooled + share * state
        return pooled, shares


def read(embed, words, sentences, documents):
    found, shares = [], []
    for document in documents:
        rows = [words([embed(torch.tensor(k)) for k in sentence])[0] for sentence in document]
        pooled, each = sentences(rows)
        found.append(pooled)
        shares.append(each)
    return torch.stack(found), shares


@pytest.mark.parametrize("frozen", ["", "embed", "words", "cells"])
def test_modules_read_sentences_and_documents(frozen):
    torch.manual_seed(1)
    embed, words, sentences = nn.Embedding(4, 3), Reader(), Reader()
    for module in {"": [], "embed": [embed], "words": [words, embed], "cells": [words.cell, sentences.cell]}[frozen]:
        module.requires_grad_(False)
    lifted: Any = lift(read, verify="off", backend="torch")
    for documents in CALLS:
        for _ in range(2):
            results = []
            for function in (read, lifted):
                pooled, shares = function(embed, words, sentences, documents)
                score = pooled.sin().sum() + sum(one.cos().sum() for one in shares)
                asking = [p for one in (embed, words, sentences) for p in one.parameters() if p.requires_grad]
                gradients = torch.autograd.grad(score, asking, allow_unused=True) if score.requires_grad else None
                results.append(([pooled.detach(), *(one.detach() for one in shares)], gradients))
            assert difference(results[1], results[0], magnitude=10) is None
    if not frozen:
        assert {loop.decision for loop in lifted.report().loops} == {"lanes"}
