"""Random loops over Python's own containers that read numbers of tensors or arrays, and compute some."""

from __future__ import annotations

TENSORS = """
def arguments(seed):
    g = torch.Generator().manual_seed(seed)
    n = [40, 0, 7, 60][seed % 4]
    labels, x = torch.randint(0, 9, (n,), generator=g).to(torch.WHOLE), torch.randn(n, 3, generator=g)
    return labels, x, [f"s{k}" for k in range(n)], {}, [0] * 9
"""
ARRAYS = """
def arguments(seed):
    g = np.random.default_rng(seed)
    n = [40, 0, 7, 60][seed % 4]
    labels, x = g.integers(0, 9, n).astype(np.WHOLE), g.normal(size=(n, 3)).astype(np.float32)
    return labels, x, [f"s{k}" for k in range(n)], {}, [0] * 9
"""
LOOPS = """for i in range(len(labels)):
for i, (label, row) in enumerate(zip(labels, x)):
for i, name in enumerate(names):
for i in range(len(labels) - 1, -1, -1):
for i, label in enumerate(labels):""".splitlines()
READS = """k = int(labels[i])
k = labels[i].item()
k = int(x[i].sum() * 3) % 9
k = int(x[i, 0] > x[i, 1])
k = int(labels[i]) + int(x[i].max() > 0.5)
k = int(abs(x[i][1]) * 4) % 9
k = round(float(x[i, 2]), 1)
k = names[labels[i]]
k = (int(labels[i]), float(x[i, 0]) > 0)""".splitlines()
USES = """table[k] = table.get(k, 0) + 1
table.setdefault(k, []).append(i)
out.append((k, names[i]))
seen.add(k)
heapq.heappush(heap, (k, i))
last = k
if k in seen: continue
if x[i, 1] > 0: out.append(k)
recent.append(k)
total += float(x[i, 0])
if not k: break
groups[k].append(x[i])
table[k] = x[i]
tail = x[i] * 2
counts[i % 9] += 1
counts[int(labels[i])] += float(x[i, 1])
text += str(k)
best = k if last is None or str(k) > str(last) else last
for value in x[i]: total += float(value)
while len(out) > 4 and x[i, 0] < 0: out.pop()
held += x[i]
buffer[i % 5] = float(x[i, 2])
x[i] = 0
marks[i % 9] = True
tallies[int(labels[i])] += i
tallies[i % 9] = k
if not marks[labels[i]]: marks[int(labels[i])] = tallies[i % 9] == 0
tallies[i % 9] = labels[i]
weights[int(labels[i])] += float(x[i, 1])
weights[i % 9] = total
if labels[i] == labels[i - 1]: tallies[i % 9] += labels[i]
tallies[k if type(k) is int else 0] -= tallies[i % 9] > 3
weights[i % 9] = max(weights[i % 9], x[i, 0]) + 0.1
heapq.heappush(heap, (x[i, 0], i))
total += x[i, 0] * 0.3
last = labels[i] if last is None else min(last, labels[i])
row_list = [x]; row_list[0][i, 0] = 5
for item in out: out = [k]; total += 1
first = out; out = out[1:] + [k]; total += len(first)
before = tail; tail = x[i] * 2; held = held + (tail if before is None else before)""".splitlines()
WHOLE = ("int64", "int64", "int32", "int16", "uint8")
RESULTS = (
    "out, sorted(map(str, seen)), heap, list(recent), dict(groups), total, last, best, text, tail, held, buffer, k, "
    "marks, tallies, weights"
)


def host_source(rng):
    """The source of one program; ``rng``: Python's random numbers."""
    is_torch = rng.random() < 0.6
    zeros, library = ("torch.zeros", "torch") if is_torch else ("np.zeros", "np")
    whole, tally, weight = rng.choice(WHOLE), rng.choice(WHOLE), rng.choice(("float64", "float64", "float32"))
    body = [rng.choice(READS), *rng.sample(USES, rng.choice((1, 2, 3)))]
    if rng.random() < 0.3:
        body.insert(1, rng.choice(READS).replace("k =", "other ="))
    lines = [
        "import collections", "import heapq", "", "import numpy as np", "import torch", "", "",
        "def program(labels, x, names, table, counts):",
        "    out, seen, heap, recent = [], set(), [], collections.deque(maxlen=3)",
        "    groups, total, text = collections.defaultdict(list), 0.0, ''",
        "    last, best, tail, k = None, None, None, 0",
        f"    held, buffer = {zeros}(3), {zeros}(5)",
        f"    marks = {zeros}(9, dtype={'torch.bool' if is_torch else 'bool'})",
        f"    tallies = {zeros}(9, dtype={library}.{tally})",
        f"    weights = {zeros}(9, dtype={library}.{weight})",
        f"    {rng.choice(LOOPS)}",
        *(f"        {line}" for line in body),
        f"    return {RESULTS}", "",
    ]  # fmt: skip
    return "\n".join(lines) + (TENSORS if is_torch else ARRAYS).replace("WHOLE", whole)
