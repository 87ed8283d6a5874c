"""Texts as the bytes of UTF-8, in typed programs."""

from itertools import pairwise

import pytest
from tests.emit.container_programs import runs_alike

TEXTS = ["", "abc", "aé", "€uro", "\U0001f600!", "\x7f\x80\u07ff\u0800\uffff\U00010000\U0010ffff", "naïve\0x"]


def counts(texts):
    seen = {}
    for text in texts:
        for byte in text.encode("utf-8"):
            seen[byte] = seen.get(byte, 0) + 1
    return seen


def chunks(texts):
    every = [list(text.encode()) for text in texts]
    total = 0
    for part in every:
        for one, other in pairwise(part):
            total = total * 31 % 100003 + one * 7 + other
    return every, total


def handed_out(texts):
    longest = b""
    for text in texts:
        made = text.encode("utf8")
        if len(made) > len(longest):
            longest = made
    return longest, len(longest)


def checked(texts):
    total = 0
    for text in texts:
        total += len(text.encode("ascii"))
    return total


@pytest.mark.parametrize("function", [counts, chunks, handed_out])
def test_bytes(function):
    runs_alike(function, TEXTS)
    runs_alike(function, ["abc"])
    runs_alike(function, [], native=None)


@pytest.mark.parametrize("function", [counts, chunks, handed_out])
def test_what_has_no_bytes(function):
    runs_alike(function, ["abc", "a\udc80"], native=None)


def test_other_codings():
    runs_alike(checked, ["abc"], native=False)
    runs_alike(checked, ["é"], native=False)
