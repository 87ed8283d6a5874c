"""OrderedDicts that a program makes for itself: they are dicts, but for what tells one class from the other."""

import collections
from collections import OrderedDict, defaultdict, deque

import pytest
import torch
from tests.emit.test_typed_losses import runs_as_program
from tests.emit.test_typed_tensors import first

__all__ = ["first"]


def words(h, ids):
    out = []
    for b in range(len(h)):
        groups = OrderedDict()
        for place, word in enumerate(ids[b]):
            if word is None:
                continue
            groups.setdefault(word, []).append(place)
        for places in groups.values():
            out.append(h[b][places].mean(dim=0))
    return torch.stack(out)


def beside_other_dicts(texts):
    out = {}
    for text in texts:
        order, counts, plain = collections.OrderedDict(), defaultdict(int), {}
        waiting = deque(text)
        while waiting:
            letter = waiting.popleft()
            counts[letter] += 1
            if letter in order:
                del order[letter]
            order[letter] = counts[letter]
            plain[letter] = len(order)
        out[text] = [key + str(order[key] + plain[key]) for key in order], list(order.items()), len(order)
    return out


def handed_out(texts):
    found = OrderedDict()
    for text in texts:
        found[text] = found.get(text, 0) + 1
    return found


def compared(texts):
    one, other = OrderedDict(), OrderedDict()
    for k, text in enumerate(texts):
        one[text] = k
        other[texts[len(texts) - 1 - k]] = len(texts) - 1 - k
    return one == other, dict(one) == dict(other)


def moved(texts):
    seen = OrderedDict()
    for text in texts:
        seen[text] = 1
        seen.move_to_end(text, last=False)
        if len(seen) > 2:
            seen.popitem(last=False)
    return list(seen)


def now_one_now_the_other(texts):
    out = []
    for k, text in enumerate(texts):
        found = OrderedDict() if k % 2 else {}
        found[text] = k
        out.append(str(found))
    return out


TEXTS = ["banana", "abba", "", "xyzxy", "cab"]


def test_groups_in_their_order(first):
    ids = [[None] + [k // 2 for k in range(n)] + [None] for n in (5, 8, 4)]
    h = lambda: torch.arange(3 * 12 * 2.0).reshape(3, 12, 2).sin().requires_grad_()
    runs_as_program(words, h, lambda: ids)


def test_beside_dicts_with_defaults_and_deques(first):
    runs_as_program(beside_other_dicts, lambda: TEXTS)


@pytest.mark.parametrize("function", [handed_out, compared, moved, now_one_now_the_other])
def test_what_tells_the_classes_apart(function, first):
    runs_as_program(function, lambda: TEXTS, program=None)
