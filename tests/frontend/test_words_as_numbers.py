"""Loops over strings that are only compared and looked up run over numbers that stand for them."""

import copy
import random

import numpy as np
import pytest
import torch

from looplift import lift
from looplift.base.compare import difference

PLACES = {"a": 0, "b": 1, "c": 3, "<unk>": 2}
ROWS = torch.linspace(-1, 1, 12).reshape(4, 3)


def mean_of_known(sentence, rows, places):
    total, count = torch.zeros(rows.shape[1]), 0
    for w in sentence:
        if w in places:
            total = total + rows[places[w]]
            count += 1
    return total / count if count else total


def all_of(sentence, rows, places):
    return torch.stack([rows[places[w]] for w in sentence])


def known_or_not(sentence, rows, places):
    out = []
    for w in sentence:
        i = places[w] if w in places else places["<unk>"]
        out.append(rows[i])
    return torch.stack(out)


def padded(sentences, places, length):
    out = torch.zeros(len(sentences), length, dtype=torch.long)
    for i, sentence in enumerate(sentences):
        for j, w in enumerate(sentence[:length]):
            out[i, j] = places.get(w, 1)
    return out


def padded_texts(texts, places, length):
    out = torch.zeros(len(texts), length, dtype=torch.long)
    for i, text in enumerate(texts):
        for j, w in enumerate(text.lower().split()[:length]):
            out[i, j] = places.get(w, 1)
    return out


def counted(texts, places):
    out = np.zeros((len(texts), len(places)))
    for i, text in enumerate(texts):
        for w in text.split():
            if w in places:
                out[i, places[w]] += 1
    return out


def vectors(sentence, vectors):
    total, count = torch.zeros(3), 0
    for w in sentence:
        if w in vectors:
            total = total + vectors[w]
            count += 1
    return total / max(count, 1)


def by_form(tags, x):
    out = torch.zeros(len(x))
    for i, t in enumerate(tags):
        if t == "a":
            out[i] = x[i]
        elif t.startswith("b") or "c" in t:
            out[i] = -x[i]
        elif t not in ("d", "e"):
            out[i] = x[i] * len(t)
    return out


def labels_of_tokens(tokens, labels, logits, places, skipped):
    loss = 0.0
    for i, (t, label) in enumerate(zip(tokens, labels)):
        if t in skipped or t == "[PAD]":
            continue
        loss = loss - torch.log_softmax(logits[i], -1)[places[label]]
    return loss


def machine(x):
    state, out = "idle", np.zeros(len(x))
    code = {"idle": 0, "up": 1, "down": -1}
    for i, v in enumerate(x):
        if state == "idle" and v > 1:
            state = "up"
        elif state == "up" and v < 0:
            state = "down"
        elif state == "down" and abs(v) < 0.2:
            state = "idle"
        out[i] = code[state]
    return out


def walk(moves, grid):
    steps = {"left": (0, -1), "right": (0, 1), "up": (-1, 0), "down": (1, 0)}
    r, c, total = 2, 2, 0.0
    for move in moves:
        dr, dc = steps[move]
        r, c = min(max(r + dr, 0), 4), min(max(c + dc, 0), 4)
        total = total + grid[r, c]
    return total, r, c


def translated(sentence, names, places, x):
    total = 0.0
    for i, w in enumerate(sentence):
        total = total + x[i] * places[names[w.strip(".")]]
    return total


def changes_of_speaker(speakers, x, first):
    before, count, out = first, 0, torch.zeros(len(x))
    for i in range(len(speakers)):
        if speakers[i] != before:
            count += 1
        before = speakers[i]
        out[i] = x[i] * count
    return out


G = torch.Generator().manual_seed(0)
X = torch.randn(8, generator=G)
WORDS = "a b zz c a b".split()
CASES = [
    (mean_of_known, WORDS, ROWS, PLACES), (all_of, "a b c a".split(), ROWS, PLACES),
    (known_or_not, WORDS, ROWS, PLACES), (padded, [WORDS, ["b"], ["c", "q"]], PLACES, 4),
    (padded_texts, ["A b c", "B z", "c c C c c"], PLACES, 4), (counted, ["a b a q", "c  c", "q", ""], PLACES),
    (vectors, WORDS, {"a": ROWS[0], "b": ROWS[1], "z": ROWS[2]}),
    (by_form, ["a", "b1", "xcx", "d", "e", "f", "", "a"], X),
    (labels_of_tokens, ["a", "[PAD]", "b", "s"], ["O", "O", "B", "I"], ROWS, {"O": 0, "B": 2, "I": 1}, {"s"}),
    (machine, np.random.default_rng(0).normal(size=60)),
    (walk, ["left", "up", "up", "right", "down"] * 3, torch.arange(25.0).reshape(5, 5)),
    (translated, ["a.", "b", "c."], {"a": "b", "b": "c", "c": "a"}, PLACES, X),
    (changes_of_speaker, ["a", "a", "b", "a", "c", "c", "b", "b"], X, "a"),
]  # fmt: skip


def outcome(fn, arguments, gradients):
    arguments = copy.deepcopy(arguments)
    leaves = [one.requires_grad_() for one in arguments if torch.is_tensor(one)] if gradients else []
    try:
        result = fn(*arguments)
    except Exception as error:
        return type(error), str(error), arguments
    found = result[0] if isinstance(result, tuple) else result
    if not leaves or not torch.is_tensor(found) or not found.requires_grad:
        return result, arguments
    return result, torch.autograd.grad(found.sum(), leaves, allow_unused=True)


@pytest.mark.parametrize(("fn", "arguments"), [(fn, arguments) for fn, *arguments in CASES])
@pytest.mark.parametrize("gradients", [False, True])
@pytest.mark.parametrize("backend", ["auto", "torch"])
def test_words_are_numbers(fn, arguments, gradients, backend):
    lifted = lift(fn, verify="off", backend=backend)
    for _ in range(2):
        assert difference(outcome(lifted, arguments, gradients), outcome(fn, arguments, gradients)) is None
    if backend == "auto" and not gradients:
        decisions = [loop.decision for loop in lifted.report().loops]
        assert decisions and "kept" not in decisions, lifted.report()


def test_one_function_takes_other_words_and_dicts():
    lifted, chosen = lift(mean_of_known, verify="off"), random.Random(0)
    for size in range(1, 12):
        places = {w: chosen.randrange(4) for w in chosen.sample("abcdefgh", size % 8 + 1)}
        words = [chosen.choice("abcdefghxyz") for _ in range(size)]
        assert difference(lifted(words, ROWS, places), mean_of_known(words, ROWS, places)) is None
    for places in ({"a": 1.0}, {"a": 9}, {"a": -1}, {"a": True}, {"a": None}, {}, {"a": [0]}):
        wanted, got = (outcome(one, [["a", "b"], ROWS, places], False) for one in (mean_of_known, lifted))
        assert difference(got, wanted) is None
    for words in (["a", 1], ["a", None], [], ("a",), "ab", [("a",)], ["a", ["b"]]):
        wanted, got = (outcome(one, [words, ROWS, PLACES], False) for one in (mean_of_known, lifted))
        assert difference(got, wanted) is None


@pytest.mark.parametrize(
    ("fn", "arguments"),
    [
        (all_of, [["a", "zz"], ROWS, PLACES]),
        (all_of, [["a", "b"], ROWS, {"a": 0, "b": 4}]),
        (walk, [["left", "jump"], torch.randn(5, 5)]),
        (translated, [["a", "d"], {"a": "b", "b": "c"}, PLACES, X]),
        (labels_of_tokens, [["a"], ["X"], ROWS, {"O": 0}, {"s"}]),
    ],
)
def test_what_is_missing_raises_as_in_the_loop(fn, arguments):
    assert difference(outcome(lift(fn, verify="off"), arguments, False), outcome(fn, arguments, False)) is None


def kept_for_later(sentence, x):
    total = 0.0
    for i, w in enumerate(sentence):
        if w != "a":
            total = total + x[i]
    return total, w


def collected(sentence, x):
    out = []
    for i, w in enumerate(sentence):
        if x[i] > 0:
            out.append(w)
    return out


def spelled(sentence):
    text = ""
    for w in sentence:
        text += w if w != "b" else "-"
    return text


def numbered(sentence, places):
    for w in sentence:
        if w not in places:
            places[w] = len(places)
    return places


def changed_in_place(sentence, vectors):
    for w in sentence:
        if w in vectors:
            vectors[w] += 1
    return vectors


def changed_rows(sentence, vectors):
    for w in sentence:
        row = vectors[w]
        row.add_(1)
    return vectors


def of_two_kinds(sentence, x):
    total, last = 0.0, 3
    for i, w in enumerate(sentence):
        if last == w:
            total = total + x[i]
        last = w if w != "b" else 3
    return total


def none_at_first(sentence, x):
    total, last = 0.0, None
    for i, w in enumerate(sentence):
        if w != last:
            total = total + x[i]
        last = w
    return total


def appended_to(sentence, x):
    total = 0.0
    for w in sentence:
        total = total + x[len(w)]
        if w == "b" and len(sentence) < 8:
            sentence.append("a")
    return total


@pytest.mark.parametrize(
    ("fn", "arguments"),
    [
        (kept_for_later, [WORDS, X]), (collected, [WORDS, X]), (spelled, [WORDS]), (numbered, [WORDS, PLACES]),
        (changed_in_place, [WORDS, {"a": ROWS[0], "b": ROWS[1]}]),
        (changed_rows, [["a", "b"], {"a": ROWS[0], "b": ROWS[1]}]), (mean_of_known, [["q"], ROWS, PLACES]),
        (of_two_kinds, [WORDS, X]), (none_at_first, [WORDS, X]), (appended_to, [WORDS, X]),
    ],
)  # fmt: skip
def test_what_is_done_otherwise_with_strings_stays_right(fn, arguments):
    assert difference(outcome(lift(fn, verify="off"), arguments, False), outcome(fn, arguments, False)) is None
