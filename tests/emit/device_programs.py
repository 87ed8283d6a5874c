"""Loops for kernels on a device: the iterations of `APART` do not meet, those of `LEFT` are no such loops."""

import math

import torch


def normal(seed, *shape, dtype=torch.float32):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def whole(seed, *shape, low=-9, high=10, dtype=torch.int64):
    return torch.randint(low, high, shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def size(seed):
    return (0, 1, 2, 37)[seed % 4]


# ---------------------------------------------------------------- one kernel each


def escape_time(reals, imaginaries, counts, most):
    for i in range(reals.shape[0]):
        a, b, n = 0.0, 0.0, 0
        while n < most and a * a + b * b < 4.0:
            a, b = a * a - b * b + float(reals[i]), 2 * a * b + float(imaginaries[i])
            n += 1
        counts[i] = n
    return counts


escape_time.arguments = lambda seed: (
    normal(seed, size(seed)), normal(seed + 9, size(seed)), whole(seed, size(seed)), 40
)  # fmt: skip


def mandelbrot(out, most):
    height, width = out.shape
    for y in range(height):
        cy = -1.5 + 3.0 * y / height
        for x in range(width):
            cx = -2.0 + 3.0 * x / width
            a, b, k = 0.0, 0.0, 0
            while k < most and a * a + b * b <= 4.0:
                a, b = a * a - b * b + cx, 2 * a * b + cy
                k += 1
            out[y, x] = k
    return out


mandelbrot.arguments = lambda seed: (
    torch.zeros(((0, 5), (3, 0), (1, 1), (7, 12))[seed % 4], dtype=torch.int32), 30
)  # fmt: skip


def chosen(x, y, out):
    for i in range(x.shape[0]):
        if x[i] > 0:
            out[i] = x[i] * y[i] + 1
        elif y[i] > x[i]:
            out[i] = x[i] - y[i]
    return out


chosen.arguments = lambda seed: (normal(seed, size(seed)), normal(seed + 9, size(seed)), torch.zeros(size(seed)))


def means_of_neighbours(x, starts, neighbours, out):
    for i in range(out.shape[0]):
        total, count = 0.0, 0
        for j in range(int(starts[i]), int(starts[i + 1])):
            total = total + x[neighbours[j]]
            count += 1
        if count > 0:
            out[i] = total / count
    return out


def _neighbours(seed):
    n = size(seed)
    lengths = whole(seed, n, low=0, high=5)
    starts = torch.cat([torch.zeros(1, dtype=torch.int64), lengths.cumsum(0)])
    return normal(seed, 8), starts, whole(seed, int(starts[-1]), low=-8, high=8), torch.full((n,), -1.0)


means_of_neighbours.arguments = _neighbours


def windows(x, out, k):
    for i in range(x.shape[0] - k + 1):
        total = 0.0
        for j in range(k):
            total = total + x[i + j] * x[i + j]
        out[i] = total
    return out


windows.arguments = lambda seed: (
    normal(seed, size(seed) + 2, dtype=torch.float64), torch.zeros(size(seed), dtype=torch.float64), 3
)  # fmt: skip


def divided(a, b, out):
    for i in range(a.shape[0]):
        out[i, 0] = a[i] // b[i]
        out[i, 1] = a[i] % b[i]
        out[i, 2] = int(a[i]) // int(b[i])
        out[i, 3] = int(a[i]) % int(b[i])
        out[i, 4] = torch.fmod(a[i], b[i])
    return out


def _divided(dtype):
    def arguments(seed):
        n = size(seed)
        b = whole(seed, n, low=1, high=6, dtype=dtype)
        b = b if dtype == torch.uint8 else b * (1 - 2 * whole(seed + 1, n, low=0, high=2, dtype=dtype))
        return whole(seed, n, dtype=dtype), b, torch.zeros(n, 5, dtype=dtype)

    return arguments


divided.arguments = _divided(torch.int64)


def divided_narrow(a, b, out):
    for i in range(a.shape[0]):
        out[i, 0] = a[i] // b[i]
        out[i, 1] = a[i] % b[i]
    return out


divided_narrow.arguments = lambda seed: _divided((torch.int8, torch.int32, torch.uint8, torch.int16)[seed % 4])(3)


def divided_floats(a, b, out):
    for i in range(a.shape[0]):
        if b[i] != 0:
            out[i, 0] = a[i] // b[i]
            out[i, 1] = a[i] % b[i]
            out[i, 2] = float(a[i]) // float(b[i])
            out[i, 3] = float(a[i]) % float(b[i])
            out[i, 4] = math.fmod(float(a[i]), float(b[i]))
    return out


divided_floats.arguments = lambda seed: (
    3 * normal(seed, size(seed), dtype=torch.float64), normal(seed + 9, size(seed), dtype=torch.float64),
    torch.zeros(size(seed), 5, dtype=torch.float64),
)  # fmt: skip


def wrapping(a, b, out):
    for i in range(a.shape[0]):
        out[i, 0] = a[i] * b[i] + a[i]
        out[i, 1] = -a[i] - b[i]
        out[i, 2] = abs(a[i]) << 3
        out[i, 3] += a[i]
        out[i, 4] = (a[i] + 1 > a[i]).long()
        out[i, 5] = a[i] ** 3
    return out


def _wrapping(seed):
    dtype = (torch.int64, torch.int32, torch.int16, torch.int8)[seed % 4]
    info = torch.iinfo(dtype)
    a = torch.tensor([info.max, info.min, info.max - 5, info.min + 3, 77, -1, 0], dtype=dtype)
    return a, a.flip(0), torch.ones(7, 6, dtype=dtype)


wrapping.arguments = _wrapping


def halves(x, y, out):
    for i in range(x.shape[0]):
        v = x[i] * y[i] + x[i]
        if v > 0:
            out[i] = v * 0.3 - y[i]
        else:
            out[i] = v / y[i]
    return out


def _halves(seed):
    dtype = (torch.float16, torch.bfloat16)[seed % 2]
    return normal(seed, 40, dtype=dtype), normal(seed + 9, 40, dtype=dtype), torch.zeros(40, dtype=dtype)


halves.arguments = _halves


def converted(x, out16, out32, out8, flags):
    for i in range(x.shape[0]):
        out16[i] = x[i]
        out32[i] = x[i] * 1.0000001
        out8[i] = (x[i] * 4).to(torch.int8)
        flags[i] = x[i] > 0.5
    return out16, out32, out8, flags


converted.arguments = lambda seed: (
    normal(seed, 30, dtype=torch.float64), torch.zeros(30, dtype=torch.bfloat16), torch.zeros(30),
    torch.zeros(30, dtype=torch.int8), torch.zeros(30, dtype=torch.bool),
)  # fmt: skip


def integers(x, out):
    for i in range(x.shape[0]):
        n = int(x[i])
        power = 3 ** abs(n) + (n << 4) - (n >> 1)
        out[i, 0] = power * n
        out[i, 1] = (n & 5) | (n ^ 12)
        out[i, 2] = ~n
        out[i, 3] = min(n, 3) + max(n, -2)
    return out


integers.arguments = lambda seed: (whole(seed, size(seed)), torch.zeros(size(seed), 4, dtype=torch.int64))


def nearest(points, centers, out):
    for i in range(points.shape[0]):
        best, place = float("inf"), -1
        for k in range(centers.shape[0]):
            distance = 0.0
            for d in range(points.shape[1]):
                difference = float(points[i, d]) - float(centers[k, d])
                distance += difference * difference
            if distance < best:
                best, place = distance, k
        out[i] = place
    return out


nearest.arguments = lambda seed: (normal(seed, size(seed), 3), normal(seed + 9, seed, 3), whole(seed, size(seed)))


def rounded(x, out):
    for i in range(x.shape[0]):
        v = float(x[i])
        out[i, 0] = math.floor(v) + math.ceil(v) * round(v)
        out[i, 1] = torch.round(x[i]) + torch.sign(x[i]) * torch.floor(x[i])
        out[i, 2] = math.sqrt(abs(v)) + int(v)
        out[i, 3] = torch.clamp(x[i], -0.5, 0.5)
        out[i, 4] = torch.where(x[i] > 0, x[i], -x[i])
        out[i, 5] = torch.maximum(x[i], torch.trunc(x[i]))
    return out


rounded.arguments = lambda seed: (
    2.5 * torch.round(4 * normal(seed, size(seed), dtype=torch.float64)) / 4,
    torch.zeros(size(seed), 6, dtype=torch.float64),
)  # fmt: skip


def functions(x, out):
    for i in range(x.shape[0]):
        k = 0
        while k < 3:
            out[i] = out[i] + torch.exp(-x[i] * x[i]) * torch.sin(x[i]) + torch.tanh(x[i]) / 3
            k += 1
    return out


functions.arguments = lambda seed: (normal(seed, size(seed)), torch.zeros(size(seed)))


def turned(x, factor, flag, bounds, out):
    for i in range(x.shape[1]):
        v = float(x[1, i]) * factor
        if flag and bounds[0] < v < bounds[1]:
            out[i] = v
    return out


turned.arguments = lambda seed: (
    normal(seed, 9, 4).T, 2.5, seed % 2 == 0, (-1.0, 2.0), torch.zeros(18)[::2]
)  # fmt: skip


def in_place(x):
    for i in range(1, x.shape[0]):
        k = 0
        while x[i] < 10 and k < 4:
            x[i] *= 2
            x[i] += i
            k += 1
    return x


in_place.arguments = lambda seed: (normal(seed, size(seed)),)


def from_the_middle(x, last, out):
    for i in range(1, x.shape[0] - 1):
        for j in range(2, last):
            if x[i, j] > x[j, i]:
                out[i, j - 1] = i * 100 + j
    return out


from_the_middle.arguments = lambda seed: (
    normal(seed, (9, 3, 2, 1)[seed % 4], 9), (9, 3, 2, 1)[seed % 4], torch.zeros(9, 9)
)  # fmt: skip


def left_early(x, out):
    for i in range(x.shape[0]):
        found = -1
        for j in range(x.shape[1]):
            if x[i, j] > 1:
                found = j
                break
            if x[i, j] < -1:
                continue
            out[i, j] = 1
        out[i, 0] = found
    return out


left_early.arguments = lambda seed: (normal(seed, size(seed), 5), torch.zeros(size(seed), 5))


def by_a_tensor(x, scale, out):
    for i in range(x.shape[0]):
        if x[i] > scale:
            out[i] = x[i] * scale
    return out


by_a_tensor.arguments = lambda seed: (normal(seed, size(seed)), normal(seed, 1)[0], torch.zeros(size(seed)))


def names(state, thread, noted, threadIdx, lane, number):
    for width in range(state.shape[0]):
        device, kept = 0, 0.0
        while device < 3:
            kept = kept + float(state[width]) * thread
            device += 1
        noted[width] = kept + threadIdx + lane + number
    return noted


names.arguments = lambda seed: (normal(seed, size(seed)), 1.5, torch.zeros(size(seed)), 3, 4, 5)


def distances(points, centers, out):
    for i in range(points.shape[0]):
        k = 0
        while k < centers.shape[0]:
            out[i, k] = torch.sum((points[i] - centers[k]) ** 2)
            k += 1
    return out


distances.arguments = lambda seed: (
    normal(seed, size(seed), 3), normal(seed + 9, 4, 3), torch.zeros(size(seed), 4)
)  # fmt: skip


def within_reach(points, reach, counts):
    for i in range(points.shape[0]):
        k = 0
        for j in range(points.shape[0]):
            x, y = points[i, 0] - points[j, 0], points[i, 1] - points[j, 1]
            if torch.sqrt(x * x + y * y) < reach:
                k += 1
        counts[i] = k
    return counts


within_reach.arguments = lambda seed: (normal(seed, size(seed), 2), 0.7, whole(seed, size(seed)))


def gaps(a, b, out):
    for p in range(len(a)):
        for q in range(len(b)):
            out[p][q] = torch.exp(-((a[p] - b[q]) ** 2))
    return out


gaps.arguments = lambda seed: (normal(seed, size(seed)), normal(seed + 9, 3), torch.zeros(size(seed), 3))


def products(a, b, out):
    for i in range(a.shape[0]):
        for j in range(1, b.shape[1]):
            for k in range(2, out.shape[2]):
                out[i, j, k - 1] = a[i, k] * b[k, j] + i
    return out


products.arguments = lambda seed: (
    normal(seed, size(seed), 5), normal(seed + 9, 5, 4), torch.zeros(size(seed), 4, (2, 5)[seed > 0])
)  # fmt: skip


def corners(x, width, out):
    """Its innermost loop but one makes numbers that the innermost one takes."""
    for a in range(x.shape[0]):
        for b in range(x.shape[1]):
            place = (a * 3 + b * width) % 7
            for c in range(width):
                half = place // 2
                for d in range(1, 3):
                    k = place
                    while k > half + c:
                        k -= d
                    out[a, b, c, d] = k
    return out


corners.arguments = lambda seed: (
    normal(seed, (0, 1, 2, 5)[seed % 4], 3), seed, torch.zeros(5, 3, 3, 3, dtype=torch.int64)
)  # fmt: skip

APART = (
    escape_time, mandelbrot, chosen, means_of_neighbours, windows, divided, divided_narrow, divided_floats, wrapping,
    halves, converted, integers, nearest, rounded, functions, turned, in_place, from_the_middle, left_early,
    by_a_tensor, names, distances, within_reach, gaps, products, corners,
)  # fmt: skip


# ---------------------------------------------------------------- what goes wrong


def out_of_range(x, index, out):
    for i in range(index.shape[0]):
        out[i] = x[int(index[i])] * 2
    return out


out_of_range.arguments = lambda seed: (
    normal(seed, 30), whole(seed, 30, low=0, high=31 + 10 * (seed % 2)), torch.zeros(30)
)  # fmt: skip


def divided_in_between(x, out):
    """What fails is in front of the inner loop, and runs where that has no iteration, too."""
    for i in range(x.shape[0]):
        scale = 6 // int(x[i])
        for j in range(out.shape[1]):
            out[i, j] = scale + j
    return out


divided_in_between.arguments = lambda seed: (
    whole(seed, 9, low=0, high=5), torch.zeros(9, seed, dtype=torch.int64)
)  # fmt: skip


def divided_by_zero(x, out):
    for i in range(x.shape[0]):
        out[i] = 100 // int(x[i])
    return out


divided_by_zero.arguments = lambda seed: (whole(seed, 30, low=0, high=5), torch.zeros(30, dtype=torch.int64))


def too_large(x, out):
    for i in range(x.shape[0]):
        n = int(x[i])
        for _ in range(6):
            n = n * n + 1
        out[i] = n % 1000
    return out


too_large.arguments = lambda seed: (whole(seed, 20, low=0, high=5), torch.zeros(20, dtype=torch.int64))


def beyond_the_end(x, out):
    for i in range(x.shape[0]):
        first = x[i + 1]
        for j in range(out.shape[1]):
            out[i, j] = first + j
    return out


beyond_the_end.arguments = lambda seed: (normal(seed, 4), torch.zeros(4, seed))


def without_end(x, out):
    """Its first iteration raises; the second one would never end."""
    for i in range(out.shape[0]):
        n = 1 // int(x[i])
        while n > 0:
            n += int(x[0])
        out[i] = n
    return out


without_end.arguments = lambda seed: (torch.tensor([0, 1, 2]), torch.zeros(3))


def not_a_number(x, out):
    for i in range(x.shape[0]):
        out[i] = int(x[i])
    return out


not_a_number.arguments = lambda seed: (
    torch.tensor([1.5, float("nan"), 2.0] if seed % 2 else [1.0, 1e30]), torch.zeros(3, dtype=torch.int64)
)  # fmt: skip


def overlapping(x, y):
    for i in range(x.shape[0]):
        k = 0
        while k < 3:
            x[i] = x[i] + y[i]
            k += 1
    return x


def _overlapping(seed):
    whole = normal(seed, 21)
    return (whole[1:], whole[:-1]) if seed % 2 else (normal(seed, 1).expand(20), whole)


overlapping.arguments = _overlapping

RAISING = (
    out_of_range, divided_in_between, divided_by_zero, too_large, beyond_the_end, not_a_number, overlapping
)  # fmt: skip


# ---------------------------------------------------------------- no kernels


def summed(x):
    total = torch.zeros(())
    for i in range(x.shape[0]):
        k = 0
        while k < 3:
            total = total + x[i]
            k += 1
    return total


summed.arguments = lambda seed: (normal(seed, 5),)


def one_after_the_other(x):
    for i in range(1, x.shape[0]):
        k = 0
        while k < 3:
            x[i] = x[i] + x[i - 1]
            k += 1
    return x


one_after_the_other.arguments = lambda seed: (normal(seed, 5),)


def decided_by_a_function(x, out):
    for i in range(x.shape[0]):
        k = 0
        while torch.exp(x[i]) > k:
            k += 1
        out[i] = k
    return out


decided_by_a_function.arguments = lambda seed: (normal(seed, 5), torch.zeros(5))


def of_the_library(x, out):
    for i in range(x.shape[0]):
        k = 0
        while k < 3:
            out[i] = math.exp(float(x[i]))
            k += 1
    return out


of_the_library.arguments = lambda seed: (normal(seed, 5), torch.zeros(5))


def decided_by_a_quotient(x, out):
    for i in range(x.shape[0]):
        k = 0
        while x[i] / 3 > k:
            k += 1
        out[i] = k
    return out


decided_by_a_quotient.arguments = lambda seed: (normal(seed, 5), torch.zeros(5))


def halves_and_numbers(x, out):
    for i in range(x.shape[0]):
        k = 0
        while k < 3 and x[i] > 0.1:
            out[i] += 1
            k += 1
    return out


halves_and_numbers.arguments = lambda seed: (normal(seed, 5, dtype=torch.float16), torch.zeros(5))


def decided_by_a_sum(x, out):
    for i in range(x.shape[0]):
        k = 0
        while torch.sum(x[i]) * 1.5 > k and k < 4:
            k += 1
        out[i] = k
    return out


decided_by_a_sum.arguments = lambda seed: (normal(seed, 5, 7), torch.zeros(5))


def stored_as_integers(x, out):
    for i in range(x.shape[0]):
        row = out[i]
        k = 0
        while k < 3:
            row[k] = torch.exp(x[i])
            k += 1
    return out


stored_as_integers.arguments = lambda seed: (normal(seed, 5), torch.zeros(5, 3, dtype=torch.int64))


def sums_as_integers(x, out):
    for i in range(x.shape[0]):
        k = 0
        while k < 3:
            out[i] = x[i].sum()
            k += 1
    return out


sums_as_integers.arguments = lambda seed: (normal(seed, 5, 3), torch.zeros(5, dtype=torch.int32))


def rounded_down(x, out):
    for i in range(x.shape[0]):
        k = 0
        while k < 3:
            out[i] = torch.floor(torch.exp(x[i]))
            k += 1
    return out


rounded_down.arguments = lambda seed: (normal(seed, 5), torch.zeros(5))

LEFT = (
    summed, one_after_the_other, decided_by_a_function, of_the_library, decided_by_a_quotient, halves_and_numbers,
    decided_by_a_sum, rounded_down, stored_as_integers, sums_as_integers,
)  # fmt: skip
