"""The states of random generators in; single numbers, as NumPy (legacy), Python and PyTorch draw them, out.

Written as loops over arrays, so that a kernel can take them in. ``words``: the 624 words of the Mersenne twister
(Matsumoto and Nishimura, 1998), as much room again, and how many of the words were given out. ``held``: whether a
normal number was drawn beside the last one, and that number.
"""

from __future__ import annotations

import math


def word(words):
    """The next 32 bits. What is made anew stands at two places, so that no place is behind the end."""
    at = int(words[1248])
    if at >= 624:
        at = 0
        for k in range(624):
            mixed = (int(words[k]) & 0x80000000) | (int(words[k + 1]) & 0x7FFFFFFF)
            words[k + 624] = int(words[k + 397]) ^ (mixed >> 1) ^ ((mixed & 1) * 0x9908B0DF)
            words[k] = words[k + 624]
    words[1248] = at + 1
    y = int(words[at])
    y = y ^ (y >> 11)
    y = y ^ (((y & 0x1FFFFFF) << 7) & 0x9D2C5680)
    y = y ^ (((y & 0x1FFFF) << 15) & 0xEFC60000)
    return y ^ (y >> 18)


def unit(words):
    """A float in [0, 1) of 53 bits."""
    bits = 0.0
    for dropped in range(5, 7):
        bits = bits * 67108864.0 + (word(words) >> dropped)
    return bits / 9007199254740992.0


# ---------------------------------------------------------------- NumPy's


def numpy_uniform(words, low, high):
    low = float(low)
    extent = float(high) - low
    if not math.isfinite(extent):
        raise OverflowError
    return low + extent * unit(words)


def numpy_integer(words, low, high):
    """Of low to high - 1: as many bits as the greatest has, until they are not more than it."""
    top = high - 1 - low
    if top < 0 or top > 0xFFFFFFFF or low < -0x80000000 or high > 0x80000000:
        raise ValueError
    mask = top | (top >> 1)
    mask = mask | (mask >> 2)
    mask = mask | (mask >> 4)
    mask = mask | (mask >> 8)
    mask = mask | (mask >> 16)
    found = top + 1 if top > 0 else 0
    while found > top:
        found = word(words) & mask
    return low + found


def numpy_choice(words, p, count):
    """One of the first integers, by their probabilities. What NumPy might complain of is left to it."""
    if len(p) != count:
        raise ValueError
    whole = 0.0
    for k in range(count):
        if not float(p[k]) >= 0.0:
            raise ValueError
        whole = whole + float(p[k])
    if not abs(whole - 1.0) <= 1e-8:
        raise ValueError
    drawn = unit(words)
    found = count
    reached = 0.0
    for k in range(count):
        reached = reached + float(p[k])
        if found == count and reached / whole > drawn:
            found = k
    return found


def numpy_standard(words, held):
    """By the polar method, which gives two at a time (Marsaglia and Bray, 1964)."""
    if float(held[0]) != 0.0:
        found = float(held[1])
        held[0] = 0.0
        held[1] = 0.0
    else:
        x = 0.0
        y = 0.0
        square = 0.0
        while square >= 1.0 or square == 0.0:
            x = 2.0 * unit(words) - 1.0
            y = 2.0 * unit(words) - 1.0
            square = x * x + y * y
        factor = math.sqrt(-2.0 * math.log(square) / square)
        held[0] = 1.0
        held[1] = factor * x
        found = factor * y
    return found


def numpy_normal(words, held, loc, scale):
    loc = float(loc)
    scale = float(scale)
    if not (scale >= 0.0 and math.isfinite(loc)) or math.copysign(1.0, scale) < 0.0:
        raise ValueError
    return loc + scale * numpy_standard(words, held)


def numpy_exponential(words, scale):
    scale = float(scale)
    if not scale >= 0.0 or math.copysign(1.0, scale) < 0.0:
        raise ValueError
    return scale * -math.log(1.0 - unit(words))


# ---------------------------------------------------------------- Python's


def python_uniform(words, a, b):
    return a + (b - a) * unit(words)


def python_below(words, count):
    """Of 0 to count - 1: the first bits of words, until they are less than count."""
    if count <= 0 or count > 0x7FFFFFFF:
        raise ValueError
    shift = 32
    left = count
    while left > 0:
        left = left >> 1
        shift = shift - 1
    found = count
    while found >= count:
        found = word(words) >> shift
    return found


def python_range(words, start, stop):
    return start + python_below(words, stop - start)


def python_integer(words, a, b):
    return a + python_below(words, b + 1 - a)


def python_gauss(words, held, mu, sigma):
    """Two at a time, as a point in the plane (Box and Muller, 1958)."""
    if float(held[0]) != 0.0:
        found = float(held[1])
        held[0] = 0.0
    else:
        angle = unit(words) * (2.0 * math.pi)
        radius = math.sqrt(-2.0 * math.log(1.0 - unit(words)))
        found = math.cos(angle) * radius
        held[0] = 1.0
        held[1] = math.sin(angle) * radius
    return mu + found * sigma


def python_normal(words, mu, sigma):
    """By the ratio of two uniform numbers (Kinderman and Monahan, 1977)."""
    z = 0.0
    rejected = True
    while rejected:
        first = unit(words)
        second = 1.0 - unit(words)
        z = 1.7155277699214135 * (first - 0.5) / second
        rejected = z * z / 4.0 > -math.log(second)
    return mu + z * sigma


def python_exponential(words, rate):
    return -math.log(1.0 - unit(words)) / rate


# ---------------------------------------------------------------- PyTorch's


def torch_single(words):
    """A float of 32 bits in [0, 1), as one of 64."""
    return (word(words) & 0xFFFFFF) / 16777216.0


def torch_double(words):
    high = word(words) & 0x1FFFFF
    return (high * 4294967296.0 + word(words)) / 9007199254740992.0


def torch_normal(words, held):
    """Two at a time, as a point in the plane (Box and Muller, 1958)."""
    if float(held[0]) != 0.0:
        found = float(held[1])
        held[0] = 0.0
    else:
        angle = 2.0 * math.pi * torch_double(words)
        radius = math.sqrt(-2.0 * math.log1p(-torch_double(words)))
        found = radius * math.cos(angle)
        held[0] = 1.0
        held[1] = radius * math.sin(angle)
    return found


def torch_normal_single(words, held):
    return single(torch_normal(words, held))


def single(x):
    """The nearest number of 32 bits, by Veltkamp's splitting (Dekker, 1971); where two are as near, the loop runs."""
    x = float(x)
    if x != 0.0 and not 1.2e-38 < abs(x) < 3.4e38:
        raise ValueError
    scaled = 536870913.0 * x
    found = scaled - (scaled - x)
    other = found + 2.0 * (x - found)
    scaled = 536870913.0 * other
    if other != found and other == scaled - (scaled - other):
        raise ValueError
    return found


def torch_integer(words, low, high):
    """Of low to high - 1, by one word; for more than 28 bits PyTorch takes two."""
    size = (high - low) | 0  # of integers only
    if size <= 0 or size >= 0x10000000:
        raise ValueError
    return int(low + word(words) % size)
