"""Programs over small arrays, rows and lists that start with items, which become one kernel each."""

import numpy as np
import torch


def extremes(x):
    out, low = np.zeros(len(x), dtype=np.int64), np.zeros(len(x))
    for i in range(len(x)):
        out[i] = np.argmax(x[i]) + 10 * np.argmin(x[i])
        low[i] = np.min([x[i, 0], x[i, 1] + 1, low[i - 1]]) + np.argmax([x[i, 1], x[i, 0]])
    return out, low


def extremes_of_tensors(x):
    out = torch.zeros(len(x), dtype=torch.long)
    for i in range(len(x)):
        out[i] = x[i].argmax() + 10 * torch.argmin(x[i])
    return out


def along_axes(x, steps):
    for k in range(steps):
        x -= x.mean(axis=0)
        x /= 1 + np.sqrt((x * x).sum(axis=1, keepdims=True)) + np.max(x, axis=-1, keepdims=True)
    return x, (x > 0).any(axis=1)


def along_dims(x, steps):
    total = torch.zeros(x.shape[1])
    for k in range(steps):
        total = total + x.sum(0) * k + x.amax(dim=0)
        total[0] += x[k % len(x)].mean()
    return total, x.sum(dim=1, keepdim=True)


def derivative(state, a):
    x, y, z = state
    return np.array([a * (y - x), x * (2 - z) - y, x * y - z])


def trajectory(state, a, steps):
    out = np.zeros((steps, 3))
    for k in range(steps):
        middle = derivative(state, a)
        state = state + 0.05 * (middle + derivative(state + 0.1 * middle, a))
        out[k] = state
    return out


def swinging(y, steps):
    out = torch.zeros(steps, 2)
    for k in range(steps):
        y = y + 0.1 * torch.stack([y[1], -torch.sin(y[0])])
        out[k] = y
    return out


def levinson(r):
    y = np.zeros_like(r)
    y[0] = alpha = -r[0]
    for k in range(1, r.shape[0]):
        alpha = -(r[k] + np.dot(np.flip(r[:k]), y[:k]))
        y[:k] += alpha * y[:k][::-1]
        y[k] = alpha
    return y


def powers(a, steps):
    m = np.eye(len(a))
    for k in range(steps):
        m = m @ a
        m = m / np.linalg.norm(m[0])
        m[0] += a.T[k % len(a)] + np.outer(a[0], a[1])[0]
    return m, a.size


def small_matrices(x):
    out = np.zeros(len(x))
    for i in range(len(x)):
        j = np.array([[x[i], 1.0], [2.0, x[i] ** 2]])
        out[i] = j[0, 0] * j[1, 1] - j[0, 1] * j[1, 0] + max([x[i], 0.5]) + sum((x[i], out[i - 1]))
    return out


def smoothed(x, a):
    s = [x[0]]
    for t in range(1, len(x)):
        s.append(a * x[t] + (1 - a) * s[t - 1])
    return np.array(s), s[-1], len(s)


def filtered(zs, q):
    x, p = 0.0, 1.0
    xs = []
    for z in zs:
        p = p + q
        x = x + p / (p + 1) * (z - x)
        xs.append(x)
    return xs


def distance(a, b):
    before = list(range(len(b) + 1))
    for i, one in enumerate(a, 1):
        now = [i]
        for j, other in enumerate(b, 1):
            now.append(min(before[j] + 1, now[j - 1] + 1, before[j - 1] + (one != other)))
        before = now
    return before[-1], before


def predators(x0, y0, steps):
    xs, ys = [x0], [y0]
    for _ in range(steps):
        x, y = xs[-1], ys[-1]
        xs.append(x + 0.1 * (x - x * y))
        ys.append(y + 0.1 * (x * y - y))
    return xs, ys


def traced(m):
    path = [int(np.argmax(m[-1]))]
    for t in range(len(m) - 1, 0, -1):
        path.append(int(abs(m[t, path[-1]]) * 100) % m.shape[1])
    path.reverse()
    return path


def counted(n):
    first = [0] * n
    for k in range(3):
        first.append(k)
    second = [1, 2] + first
    for k in range(3):
        second.append(len(second) + first[k])
    return first, second


def ranks(links, share, steps):
    n = len(links)
    before = [1.0 / max(n, 1)] * n
    for _ in range(steps):
        after = [(1 - share) / n] * n
        for u in range(n):
            for v in links[u]:
                after[v] += share * before[u] / len(links[u])
        before = after
    return before


def degrees(links):
    into, last = [0] * len(links), 0
    for u in range(len(links)):
        for v in links[u]:
            into[v] += 1
        if len(links[u]) > 0 and links[u][-1] > last:
            last = links[u][-1]
    return into, last


def leaves(x, limit, left, right):
    out = np.zeros(len(x))
    for i in range(len(x)):
        node = 0
        while left[node] != -1:
            node = left[node] if x[i] <= limit[node] else right[node]
        out[i] = limit[node]
    return out


def arguments(name, n):
    """Arguments of about this size, the same each time."""
    random = np.random.default_rng(n)
    rows = np.round(random.random((n, 4)) * 4) / 2
    rows[n // 2 :, 1] = np.nan
    square, numbers = random.random((n, n)) + 0.1, random.random(n)
    links = [random.integers(0, n, random.integers(0, 3)).tolist() for _ in range(n)]
    if n == 7:
        links = [[k, 1] for k in range(n)]
    tree = np.array([1, 3, -1, -1, -1]), np.array([2, 4, -1, -1, -1])
    letters = [random.integers(0, 3, n).tolist(), random.integers(0, 3, n + 1).tolist()]
    return {
        "extremes": lambda: (rows,),
        "extremes_of_tensors": lambda: (torch.from_numpy(rows),),
        "along_axes": lambda: (square, 3),
        "along_dims": lambda: (torch.from_numpy(square).float(), 3 if n else 0),
        "trajectory": lambda: (random.random(3), 2.0, n),
        "swinging": lambda: (torch.rand(2, generator=torch.Generator().manual_seed(n)), n),
        "levinson": lambda: (0.1 * numbers,),
        "powers": lambda: (square, n),
        "small_matrices": lambda: (numbers,),
        "smoothed": lambda: (numbers.astype(np.float32) if n == 2 else numbers, 0.5),
        "filtered": lambda: (numbers if n != 2 else numbers.tolist(), 0.25),
        "distance": lambda: letters,
        "predators": lambda: (1.0, 2.0, n),
        "traced": lambda: (square,),
        "counted": lambda: (n,),
        "ranks": lambda: (links, 0.85, 3),
        "degrees": lambda: (links,),
        "leaves": lambda: (numbers, random.random(5), *tree),
    }[name]()


PROGRAMS = [name for name in dir() if callable(globals()[name]) and name not in ("arguments", "derivative")]
