"""A word or an item by a word in a text with braces is written where its quotes may stand."""

import torch


def program(x, words):
    state, count = "a", 0
    for v in x:
        state = "b" if v > 0 else "b"
        print(f"{state!r:>6}")
    for i in range(len(x)):
        print(f"{i}: {words['b']!r:>8}", words["a"])
        count += i
    return state, count


def arguments(seed):
    return torch.ones(seed % 3 + 1), {"a": 1.5, "b": 'x"y'}
