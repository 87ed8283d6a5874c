"""Loops of scalar work, as their authors write them: each is run as written and as a kernel."""

import math

import torch


def dtw(x, y):
    n = x.shape[0]
    m = y.shape[0]
    R = torch.full((n + 1, m + 1), float("inf"), dtype=x.dtype)
    R[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost = abs(x[i - 1] - y[j - 1])
            R[i, j] = cost + min(R[i - 1, j], R[i, j - 1], R[i - 1, j - 1])
    return R


def over_relaxation(u, f, h, omega, tol, max_sweeps):
    H, W = u.shape
    sweeps = 0
    while sweeps < max_sweeps:
        worst = 0.0
        for i in range(1, H - 1):
            for j in range(1, W - 1):
                target = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - h * h * f[i, j])
                delta = (omega * (target - u[i, j])).item()
                u[i, j] += delta
                worst = max(worst, abs(delta))
        sweeps += 1
        if worst < tol:
            break
    return u, sweeps


def total(x):
    s = 0.0
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            s = s + x[i, j]
    return s


def total_in_place(x):
    s = torch.zeros(())
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            s += x[i, j]
    return s


def best(x):
    b = float("inf")
    k = -1
    for i in range(len(x)):
        if x[i] < b:
            b = x[i]
            k = i
    return b, k


def best_or_none(x):
    b = None
    for i in range(len(x)):
        if b is None or x[i] > b:
            b = x[i]
    return b


def smooth_in_place(x):
    prev = x[0]
    for i in range(1, len(x)):
        cur = x[i]
        x[i] = 0.5 * (prev + cur)
        prev = cur
    return x


def smooth_within(x):
    prev = x[0] * 1.0
    for i in range(1, len(x)):
        cur = x[i]
        x[i] = 0.5 * (prev + cur)
        prev = cur
    return x


def newton(a):
    x = a * 0.5
    n = 0
    while abs(x * x - a) > 1e-6 and n < 50:
        x = x - (x * x - a) / (2 * x)
        n += 1
    return x, n


def edit_distance(a, b):
    n, m = len(a), len(b)
    D = torch.zeros(n + 1, m + 1, dtype=torch.int64)
    for i in range(n + 1):
        D[i, 0] = i
    for j in range(m + 1):
        D[0, j] = j
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            c = 0 if a[i - 1] == b[j - 1] else 1
            D[i, j] = min(D[i - 1, j] + 1, D[i, j - 1] + 1, D[i - 1, j - 1] + c)
    return D[n, m]


def hinge(x):
    s = 0.0
    for i in range(len(x)):
        s += max(x[i], 0.0)
    return s


def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


def crc(data):
    c = 0xFFFFFFFF
    for k in range(len(data)):
        c ^= int(data[k])
        for _ in range(8):
            if c & 1:
                c = (c >> 1) ^ 0xEDB88320
            else:
                c = c >> 1
    return c ^ 0xFFFFFFFF


def last_values(x):
    for i in range(len(x)):
        y = x[i] * 2
    return y, i


def find(x, v):
    at = -1
    for i in range(len(x)):
        if x[i] == v:
            at = i
            break
    return at


def scatter(x, idx, out):
    for i in range(len(idx)):
        out[idx[i]] += x[i]
    return out


def heat(u, v):
    for i in range(1, u.shape[0] - 1):
        for j in range(1, u.shape[1] - 1):
            v[i, j] = u[i, j] + 0.1 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4 * u[i, j])
    return v


def norm_of_rows(x):
    s = 0.0
    for row in x:
        for v in row:
            s += v.item() ** 2
    return math.sqrt(s)


def fibonacci(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


def backwards(x, step):
    s = 0
    for i in range(len(x) - 1, -1, step):
        s = s * 3 + x[i].item()
    return s


def triangular_solve(L, b):
    x = torch.zeros_like(b)
    for i in range(len(b)):
        s = b[i]
        for j in range(i):
            s = s - L[i, j] * x[j]
        x[i] = s / L[i, i]
    return x


def escape_time(re, im, limit):
    out = torch.zeros(len(re), len(im), dtype=torch.int32)
    for i in range(len(re)):
        for j in range(len(im)):
            a, b, k = 0.0, 0.0, 0
            while a * a + b * b <= 4.0 and k < limit:
                a, b = a * a - b * b + re[i].item(), 2 * a * b + im[j].item()
                k += 1
            out[i, j] = k
    return out


def primes(n):
    sieve = torch.ones(n, dtype=torch.bool)
    count = 0
    for p in range(2, n):
        if not sieve[p]:
            continue
        count += 1
        for q in range(p * p, n, p):
            sieve[q] = False
    return sieve, count


def negative_indices(x, out):
    for i in range(len(x)):
        out[-i - 1] = x[i] - x[-1 - i]
    return out


def swap_columns(x, p):
    for k in range(len(p)):
        t = x[0, k] + 0
        x[0, k] = x[1, p[k]]
        x[1, p[k]] = t
    return x


def half_steps(x, w):
    h = x[0] * 0
    for i in range(len(x)):
        h = h * w + x[i] * 0.3 - h / 3
    return h


def nothing_bound(x, y):
    for i in range(len(x)):
        if x[i] > 10:
            y = i
    return y


def find_and_return(x, v):
    for i in range(len(x)):
        if x[i] == v:
            return i
    return -1


def both_hold(x, y):
    found = False
    for i in range(len(x)):
        found = (x[i] > 0.5 and y[i] > 0.2) or found
    return found


def any_kind(x, flag):
    found = flag
    for i in range(len(x)):
        found = found and x[i] > 0.1
    return found


def clipped(x, out):
    for i in range(len(x)):
        v = x[i] if x[i] > 0.3 else 0.3
        w = 1.0 if i % 2 and x[i] < 0.8 else -1.0
        out[i] = v * w
    return out


def bisect(lo, hi, target):
    steps = 0
    while (hi - lo > 1e-9 and steps < 100) or steps == 0:
        middle = (lo + hi) / 2
        if middle * middle < target:
            lo = middle
        else:
            hi = middle
        steps += 1
    return lo, hi, steps
