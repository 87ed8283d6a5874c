"""Programs over arrays and lists that become one kernel each: their arguments are made by ``arguments``."""

import numpy as np
import torch


def jacobi(u, steps):
    n = u.shape[0]
    v = u.copy()
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                v[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
        u, v = v, u
    return u, v


def jacobi_fresh(u, steps):
    for _ in range(steps):
        new = u.clone()
        for i in range(1, u.shape[0] - 1):
            new[i, 0] = 0.5 * (u[i - 1, 0] + u[i + 1, 0])
        u = new
    return u


def life(grid, steps):
    n, m = grid.shape
    for _ in range(steps):
        new = np.zeros((n, m), dtype=np.int64)
        for i in range(n):
            for j in range(m):
                count = 0
                for di in (-1, 0, 1):
                    for dj in (-1, 0, 1):
                        ii, jj = i + di, j + dj
                        if (di != 0 or dj != 0) and 0 <= ii < n and 0 <= jj < m:
                            count += grid[ii, jj]
                new[i, j] = 1 if count == 3 or (count == 2 and grid[i, j] == 1) else 0
        grid = new
    return grid


def edit_distance(a, b):
    previous = list(range(len(b) + 1))
    for i in range(1, len(a) + 1):
        current = [i] + [0] * len(b)
        for j in range(1, len(b) + 1):
            if a[i - 1] == b[j - 1]:
                current[j] = previous[j - 1]
            else:
                current[j] = 1 + min(previous[j - 1], previous[j], current[j - 1])
        previous = current
    return previous[len(b)]


def common_subsequence(a, b):
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in range(len(a)):
        for j in range(len(b)):
            table[i + 1][j + 1] = table[i][j] + 1 if a[i] == b[j] else max(table[i][j + 1], table[i + 1][j])
    return table


def bubble(values):
    for i in range(len(values)):
        swapped = False
        for j in range(len(values) - 1 - i):
            if values[j] > values[j + 1]:
                values[j], values[j + 1] = values[j + 1], values[j]
                swapped = True
        if not swapped:
            break
    return values


def subsequence(values):
    longest = [1] * len(values)
    for i in range(len(values)):
        for j in range(i):
            if values[j] < values[i]:
                longest[i] = max(longest[i], longest[j] + 1)
    return max(longest) if longest else 0


def triangle(rows):
    best = rows[-1][:]
    for i in range(len(rows) - 2, -1, -1):
        for j in range(i + 1):
            best[j] = rows[i][j] + min(best[j], best[j + 1])
    return best


def first_negative(values):
    for i in range(len(values)):
        if values[i] < 0:
            return i
    return None


def digits(n):
    total = 0
    for i in range(n):
        while i > 0:
            i, digit = divmod(i, 10)
            total += digit
    return total


def kept_values(values):
    out = []
    last = -1000
    for value in values:
        if value > last:
            out.append(value)
            last = value
    return out, last


def elimination(a):
    for k in range(a.shape[0]):
        for i in range(k + 1, a.shape[0]):
            a[i, k + 1 :] -= a[i, k] / a[k, k] * a[k, k + 1 :]
    return a


def shifted(x):
    for i in range(1, x.shape[0]):
        x[i, 1:] = x[i - 1, :-1] + x[i, 1:]
        x[i, 1:] = x[i, :-1]
    return x


def accelerations(position, velocity, dt):
    for i in range(position.shape[0]):
        total = torch.zeros(3, dtype=position.dtype)
        for j in range(position.shape[0]):
            if i != j:
                d = position[j] - position[i]
                total += d / (d * d).sum() ** 1.5
        velocity[i] += dt * total
    return velocity


def differences(x):
    out = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        row = x[i] - x[0]
        for j in range(x.shape[1]):
            row[j] += j
            out[i] += row[j]
    return out


def nearest(points, centres):
    labels = np.zeros(points.shape[0], dtype=np.int64)
    for i in range(points.shape[0]):
        best, label = float("inf"), -1
        for c in range(centres.shape[0]):
            distance = np.abs(points[i] - centres[c]).max()
            if distance < best:
                best, label = distance, c
        labels[i] = label
    return labels


def lorenz(s, dt, steps):
    out = torch.zeros((steps, 3), dtype=s.dtype)
    for i in range(steps):
        d = torch.zeros(3, dtype=s.dtype)
        d[0] = 10.0 * (s[1] - s[0])
        d[1] = s[0] * (28.0 - s[2]) - s[1]
        d[2] = s[0] * s[1] - 8.0 / 3.0 * s[2]
        s = s + dt * d
        out[i] = s
    return out


def arguments(name, n):
    """Arguments of about this size, the same each time."""
    random = np.random.default_rng(n)
    floats = random.standard_normal((n, n))
    numbers = random.integers(-20, 20, n)
    letters = [random.integers(0, 3, n).tolist(), random.integers(0, 3, n + 1).tolist()]
    return {
        "jacobi": lambda: (floats, 3),
        "jacobi_fresh": lambda: (torch.from_numpy(floats), n % 3),
        "life": lambda: (random.integers(0, 2, (n, n)), 2),
        "edit_distance": lambda: letters,
        "common_subsequence": lambda: letters,
        "bubble": lambda: (numbers.tolist(),),
        "subsequence": lambda: (numbers.tolist(),),
        "triangle": lambda: (random.integers(0, 9, (n + 1, n + 1)).tolist(),),
        "first_negative": lambda: (numbers.tolist() if n > 2 else [1] * n,),
        "digits": lambda: (7 * n,),
        "kept_values": lambda: (numbers.tolist(),),
        "elimination": lambda: (floats + 9 * np.eye(n),),
        "shifted": lambda: (floats,),
        "accelerations": lambda: (torch.from_numpy(random.standard_normal((n, 3))), torch.zeros(n, 3).double(), 0.1),
        "differences": lambda: (floats,),
        "nearest": lambda: (floats, random.standard_normal((3, n))),
        "lorenz": lambda: (torch.from_numpy(random.standard_normal(3)), 0.01, 2 * n),
    }[name]()


PROGRAMS = [name for name in dir() if callable(globals()[name]) and name != "arguments"]
