"""Names that functions bind anew as values of other kinds, numbers of several kinds in turn, and a deque's length."""

from collections import deque

import numpy as np
from strictly import same


def outline(image, level):
    image = np.asarray([[v > level for v in row] for row in image])
    mask = np.ones(image.shape, dtype=bool)
    seen = {}
    for i in range(len(image)):
        for j in range(len(image[i])):
            if image[i, j]:
                mask[i, j] = False
                seen[i] = seen.get(i, 0) + j
    mask = np.stack([mask] * 2, axis=2)
    return mask[:, :, 1], seen


def outlines(images, level):
    found, sums = [], {}
    for k in range(len(images)):
        mask, seen = outline(images[k], level)
        found.append(mask)
        for i in seen:
            sums[i] = sums.get(i, 0) + seen[i]
    return found, sums


def spelled(word):
    def first(n):
        return word[:n]

    word = "".join(sorted(word))
    word = list(word)
    counts = {}
    for letter in word:
        counts[letter] = counts.get(letter, 0) + 1
    return counts, first(1)


def spellings(words):
    found = []
    for word in words:
        found.append(spelled(word))
    return found


def bits(codes, width):
    counts, found = {}, []
    for code in codes:
        code = int(code)
        ones = [(code >> b) & 1 for b in range(width)]
        changes = sum(ones[k] != ones[(k + 1) % width] for k in range(width))
        counts[changes] = counts.get(changes, 0) + (code | 1)
        found.append(code ^ changes)
    return counts, found


def bits_and_the_last(codes, width):
    counts = {}
    for code in codes:
        code = code if code > 3 else int(code)
        counts[int(code) & 3] = counts.get(int(code) & 3, 0) + width
    return counts, code


def windows(values, length):
    window, found = deque(maxlen=length), []
    other = deque(values)
    for v in values:
        window.append(v)
        other.rotate(1)
        if len(window) < window.maxlen:
            continue
        found.append((sum(window), window.maxlen, other.maxlen))
    return found, window


def test_names_of_functions():
    images = np.random.default_rng(1).integers(0, 9, size=(3, 4, 5)) * 1.0
    same(outlines, (images, 4), (images[:1], 9), (images[:0], 1), (images[:, :1, :1], 4.5), decisions={"native"})
    same(spellings, (["abca", "", "zz"],), ([],))


def test_numbers_of_several_kinds_in_turn():
    codes = np.array([0, 1, 7, 170, 255], dtype=np.uint8)
    for kind in (np.uint8, np.int64, np.int16):
        same(bits, (codes.astype(kind), 8), (codes[:0].astype(kind), 8), (codes[:1].astype(kind), 1))
    same(bits, (codes, 8), decisions={"native"})
    same(bits, (codes, -1), (codes.astype(np.float64), 8), ([True, 3, 2.5], 4))
    same(bits_and_the_last, (codes, 2), (codes[:0], 2), (codes[::-1].copy(), 2))


def test_length_of_a_deque():
    values = [1.5, 2.0, -1.0, 4.0]
    same(windows, (values, 2), (values, 4), (values, 5), ([], 1), (values, 0), (values, None), (values, -1))
