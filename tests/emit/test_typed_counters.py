"""Counters that programs make, fill, read and go through."""

import random
from collections import Counter

import pytest

from looplift import lift


def pairs_of_words(docs, most):
    out = []
    for words in docs:
        counts = Counter()
        for i in range(len(words) - 1):
            counts[words[i], words[i + 1]] += 1
        out.append(counts.most_common(most))
    return out


def made_of_a_list(docs, least):
    total, found = Counter(), []
    for words in docs:
        counts = Counter(words)
        total.update(words)
        for word, count in counts.items():
            if count >= least:
                found.append((word, count, counts["never"], "never" in counts, len(counts)))
    return found, total.most_common(), sum(total.values()), sorted(total), dict(total)


def letters(texts):
    out = []
    for text in texts:
        counts = Counter(letter for letter in text if letter != "a")
        counts["b"] += 2
        counts["c"] -= 5
        out.append((counts.most_common(1), counts.get("z"), counts.get("b", 9), counts.most_common(0)))
    return out


def weighted(edges):
    degree = Counter()
    for u, v, w in edges:
        degree[u] += w
        degree[v] += 1
    return degree.most_common(4), [degree[k] for k in range(12)], bool(degree)


def pruned(words, most):
    counts = Counter()
    for word in words:
        counts[word] += 1
        if len(counts) > most:
            left = Counter()
            for key, count in counts.items():
                if count > 1:
                    left[key] = count - 1
            counts = left
    return counts.most_common()


WORDS = "the cat sat on the mat and the dog sat on the cat near a mat".split()


def docs(seed, count=4):
    rng = random.Random(seed)
    return [[rng.choice(WORDS) for _ in range(rng.randrange(12))] for _ in range(count)]


CALLS = [
    (pairs_of_words, lambda k: (docs(k), 3)),
    (pairs_of_words, lambda k: (docs(k), -1)),
    (made_of_a_list, lambda k: (docs(k), 2)),
    (letters, lambda k: (["abba", "cabbage", "", "zzz"],)),
    (weighted, lambda k: ([(i % 5, (i * 3) % 7, i % 4) for i in range(20 * k)],)),
    (weighted, lambda k: ([(i % 5, (i * 3) % 7, i * 0.5) for i in range(20 * k)],)),
    (pruned, lambda k: ([word for words in docs(k, 20) for word in words], 3)),
]


@pytest.mark.parametrize("function, arguments", CALLS, ids=lambda one: getattr(one, "__name__", None))
def test_counters(function, arguments):
    lifted = lift(function, verify="off")
    for k in range(4):
        got, wanted = lifted(*arguments(k)), function(*arguments(k))
        assert got == wanted
        assert repr(got) == repr(wanted)
    assert "native" in {loop.decision for loop in lifted.report().loops}


def handed_out(words):
    counts = Counter()
    for word in words:
        counts[word] += 1
    return counts


def of_a_dict(words, before):
    counts = Counter(before)
    for word in words:
        counts[word] += 1
    return counts.most_common()


def taken_out(words):
    counts = Counter(words)
    for word in words:
        del counts[word]
    return len(counts)


def added(words):
    counts = Counter()
    for word in words:
        counts = counts + Counter([word])
    return counts.most_common(), counts == Counter(words)


def of_the_caller(words, counts):
    for word in words:
        counts[word] += 1
    return counts.most_common(2)


OTHERS = [
    (handed_out, lambda: (WORDS,)),
    (of_a_dict, lambda: (WORDS, {"cat": 5})),
    (taken_out, lambda: ([*WORDS, *WORDS],)),
    (added, lambda: (WORDS,)),
    (of_the_caller, lambda: (WORDS, Counter({"dog": 3}))),
]


@pytest.mark.parametrize("function, arguments", OTHERS, ids=lambda one: getattr(one, "__name__", None))
def test_other_uses_run_as_the_loop(function, arguments):
    lifted = lift(function, verify="off")
    for _ in range(3):
        got, wanted = lifted(*arguments()), function(*arguments())
        assert type(got) is type(wanted)
        assert repr(got) == repr(wanted)
