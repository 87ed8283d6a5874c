"""Numbers as text in any base and width, and text as numbers, in typed programs."""

import random

import pytest
from tests.emit.container_programs import runs_alike
from tests.emit.test_typed_tensors import first

__all__ = ["first"]


def codes(lengths):
    found = []
    for row in lengths:
        texts, code, before = {}, 0, 0
        for symbol, length in sorted(row.items(), key=lambda pair: (pair[1], pair[0])):
            code <<= length - before
            texts[symbol] = format(code, f"0{length}b")
            code += 1
            before = length
        found.append(texts)
    return found


def packed(chunks, texts):
    found = []
    for chunk in chunks:
        bits = "".join(texts[one] for one in chunk)
        bits += "0" * (-len(bits) % 8)
        for k in range(0, len(bits), 8):
            found.append(int(bits[k : k + 8], 2))
    return found


def integers(numbers):
    found = []
    for n in numbers:
        found.append(f"{n:b}|{n:o}|{n:x}|{n:X}|{n:d}|{n:8}|{n:08b}|{n:05d}|{n:<6}|{n:>6x}|{n:08X}|{n:03}|{n}")
        found.append(bin(n) + hex(n) + oct(n) + bin(n > 3) + format(n, "012x"))
    return found


def floats(numbers):
    found = []
    for x in numbers:
        found.append(f"{x:.2f}|{x:8.3f}|{x:.0f}|{x:f}|{x:<9.1f}|{x:012.4f}|{x:.3e}|{x:09.2f}")
    return found


def names(words, width):
    found = []
    for word in words:
        found.append(f"{word:8}|{word:>8}|{word:<3}|{word:s}|{word:{width}}|{len(word):>{width}}")
    return found


def parsed(texts, base):
    found = []
    for text in texts:
        found.append((int(text, base), int(text[-1:], 16), len(text)))
    return found


def named(numbers, form):
    found = []
    for n in numbers:
        found.append(format(n, form))
    return found


def test_codes(first):
    r = random.Random(0)
    runs_alike(codes, [{k: r.randint(6, 12) for k in range(20)} for _ in range(5)])
    runs_alike(packed, [[r.randint(0, 15) for _ in range(30)] for _ in range(4)], {k: f"{k:04b}" for k in range(16)})


def test_integers_as_text(first):
    runs_alike(integers, [0, 1, -1, 255, -255, 123456789, -(2**63), 2**63 - 1])


def test_floats_as_text(first):
    runs_alike(floats, [0.0, -0.0, 0.5, 1.5, 2.675, -3.14159, 1e-7, 123456.789, -99.995, 1e22])


@pytest.mark.parametrize("width", [1, 12])
def test_texts_of_a_width(width, first):
    runs_alike(names, ["", "a", "hello", "longer than that"], width)


def test_text_as_numbers(first):
    runs_alike(parsed, ["101", "-11", "+0", "1111111"], 2)
    runs_alike(parsed, ["ff", "-7F", "0", "deadBEEF"], 16)
    runs_alike(parsed, ["777", "-10"], 8)


@pytest.mark.parametrize(
    ("texts", "base"),
    [(["0b11"], 2), (["0x1f"], 16), ([" 11"], 2), (["1_0"], 2), (["12"], 2), ([""], 2), (["-"], 2), (["1"], 0),
     (["11"], 37), (["f" * 16], 16)],
)  # fmt: skip
def test_text_that_the_loop_reads(texts, base, first):
    runs_alike(parsed, texts, base, native=False)


@pytest.mark.parametrize("form", ["+d", "#x", ",", "*>9", "^9", " d", "s", "y", ".2", "c", "n", "=8"])
def test_forms_that_are_left_to_the_loop(form, first):
    runs_alike(named, [1, -20], form, native=False)


@pytest.mark.parametrize("form", ["g", "", ".3", "%", "x", "8"])
def test_forms_of_floats_that_are_left_to_the_loop(form, first):
    runs_alike(named, [1.5, float("nan")], form, native=False)
    runs_alike(named, [float("inf")], ".2f", native=False)


def test_the_empty_form(first):
    runs_alike(named, [1, -20], "")
