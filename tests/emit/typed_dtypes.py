"""Small functions over arrays of NumPy's with short dtypes, with arguments."""

import heapq
from collections import deque

import numpy as np
from typed_given import given


def drawn(seed):
    return np.random.default_rng(seed)


def bits(*shape, seed=0):
    return drawn(seed).integers(0, 2, shape).astype(np.uint8)


def graph(nodes=12, seed=0):
    degrees = drawn(seed).integers(0, 4, nodes)
    starts = np.concatenate([[0], np.cumsum(degrees)]).astype(np.int32)
    ends = drawn(seed + 1).integers(0, nodes, starts[-1]).astype(np.int32)
    return starts, ends, drawn(seed + 2).random(starts[-1]).astype(np.float32)


def single(*shape, seed=0):
    return drawn(seed).standard_normal(shape).astype(np.float32)


@given(lambda: (bits(7, 6), 0, 0, 7))
def of_flood_fill(image, r, c, new):
    old = image[r, c]
    if old == new:
        return image
    stack = [(r, c)]
    rows, cols = image.shape
    while stack:
        y, x = stack.pop()
        if y < 0 or y >= rows or x < 0 or x >= cols or image[y, x] != old:
            continue
        image[y, x] = new
        stack.append((y + 1, x))
        stack.append((y - 1, x))
        stack.append((y, x + 1))
        stack.append((y, x - 1))
    return image


@given(lambda: (bits(8, 9),))
def of_components_uf(mask):
    h, w = mask.shape
    labels = np.zeros((h, w), dtype=np.int32)
    parent = [0]

    def find(a):
        while parent[a] != a:
            parent[a] = parent[parent[a]]
            a = parent[a]
        return a

    nxt = 1
    for y in range(h):
        for x in range(w):
            if not mask[y, x]:
                continue
            up = labels[y - 1, x] if y > 0 else 0
            left = labels[y, x - 1] if x > 0 else 0
            if up == 0 and left == 0:
                parent.append(nxt)
                labels[y, x] = nxt
                nxt += 1
            elif up and left:
                a, b = find(up), find(left)
                labels[y, x] = min(a, b)
                parent[max(a, b)] = min(a, b)
            else:
                labels[y, x] = up or left
    for y in range(h):
        for x in range(w):
            if labels[y, x]:
                labels[y, x] = find(labels[y, x])
    return labels


@given(lambda: (bits(7, 7),))
def of_components_bfs(img):
    h, w = img.shape
    labels = -np.ones((h, w), dtype=np.int32)
    count = 0
    sizes = []
    for i in range(h):
        for j in range(w):
            if img[i, j] == 0 or labels[i, j] >= 0:
                continue
            q = deque([(i, j)])
            labels[i, j] = count
            size = 0
            while q:
                y, x = q.popleft()
                size += 1
                for dy, dx in ((1, 0), (-1, 0), (0, 1), (0, -1)):
                    ny, nx = y + dy, x + dx
                    if 0 <= ny < h and 0 <= nx < w and img[ny, nx] and labels[ny, nx] < 0:
                        labels[ny, nx] = count
                        q.append((ny, nx))
            sizes.append(size)
            count += 1
    return labels, count, sizes


@given(lambda: (bits(5, 5),))
def of_rle_mask(mask):
    counts = []
    prev = 0
    run = 0
    for v in mask.flatten():
        if v != prev:
            counts.append(run)
            run = 0
            prev = v
        run += 1
    counts.append(run)
    return counts


@given(lambda: (drawn(0).integers(0, 256, (6, 5)).astype(np.uint8),))
def of_histogram_eq(img):
    hist = np.zeros(256, dtype=np.int32)
    h, w = img.shape
    for y in range(h):
        for x in range(w):
            hist[img[y, x]] += 1
    cdf = np.zeros(256, dtype=np.float32)
    total = 0
    for k in range(256):
        total += hist[k]
        cdf[k] = total / (h * w)
    out = np.zeros_like(img)
    for y in range(h):
        for x in range(w):
            out[y, x] = int(255 * cdf[img[y, x]])
    return out


@given(lambda: (*graph()[:2], 0))
def of_csr_bfs(indptr, indices, source):
    n = len(indptr) - 1
    dist = np.full(n, -1, dtype=np.int32)
    dist[source] = 0
    q = deque([source])
    while q:
        u = q.popleft()
        for k in range(indptr[u], indptr[u + 1]):
            v = indices[k]
            if dist[v] < 0:
                dist[v] = dist[u] + 1
                q.append(v)
    return dist


@given(lambda: (*graph(), 0))
def of_dijkstra(indptr, indices, weights, source):
    n = indptr.shape[0] - 1
    dist = np.full(n, np.inf, dtype=np.float32)
    prev = np.full(n, -1, dtype=np.int64)
    dist[source] = 0.0
    heap = [(0.0, source)]
    done = [False] * n
    while heap:
        d, u = heapq.heappop(heap)
        if done[u]:
            continue
        done[u] = True
        for k in range(indptr[u], indptr[u + 1]):
            v = int(indices[k])
            nd = d + weights[k]
            if nd < dist[v]:
                dist[v] = nd
                prev[v] = u
                heapq.heappush(heap, (nd, v))
    return dist, prev


@given(lambda: (9, drawn(0).integers(0, 9, (20, 2)).astype(np.int32), single(20)))
def of_kruskal(n, edges, weights):
    order = sorted(range(len(weights)), key=lambda i: weights[i])
    parent = list(range(n))
    rank = [0] * n

    def find(x):
        if parent[x] != x:
            parent[x] = find(parent[x])
        return parent[x]

    total = 0.0
    picked = []
    for i in order:
        u, v = edges[i]
        a, b = find(u), find(v)
        if a == b:
            continue
        if rank[a] < rank[b]:
            a, b = b, a
        parent[b] = a
        if rank[a] == rank[b]:
            rank[a] += 1
        total += float(weights[i])
        picked.append(i)
    return total, picked


@given(lambda: graph()[:2])
def of_toposort(indptr, indices):
    n = len(indptr) - 1
    indeg = np.zeros(n, dtype=np.int32)
    for v in indices:
        indeg[v] += 1
    ready = [u for u in range(n) if indeg[u] == 0]
    order = []
    while ready:
        u = ready.pop()
        order.append(u)
        for v in indices[indptr[u] : indptr[u + 1]]:
            indeg[v] -= 1
            if indeg[v] == 0:
                ready.append(int(v))
    return order if len(order) == n else []


@given(lambda: graph()[:2])
def of_tarjan(indptr, indices):
    n = len(indptr) - 1
    index = np.full(n, -1, np.int32)
    low = np.zeros(n, np.int32)
    on = np.zeros(n, bool)
    stack = []
    comps = []
    counter = 0

    def visit(u):
        nonlocal counter
        index[u] = low[u] = counter
        counter += 1
        stack.append(u)
        on[u] = True
        for k in range(indptr[u], indptr[u + 1]):
            v = int(indices[k])
            if index[v] < 0:
                visit(v)
                low[u] = min(low[u], low[v])
            elif on[v]:
                low[u] = min(low[u], index[v])
        if low[u] == index[u]:
            comp = []
            while True:
                w = stack.pop()
                on[w] = False
                comp.append(w)
                if w == u:
                    break
            comps.append(comp)

    for s in range(n):
        if index[s] < 0:
            visit(s)
    return comps


@given(lambda: (single(6, 4), single(4, 4, seed=1)))
def of_viterbi(emission, trans):
    T, K = emission.shape
    score = np.zeros((T, K), dtype=np.float32)
    back = np.zeros((T, K), dtype=np.int32)
    for k in range(K):
        score[0, k] = emission[0, k]
    for t in range(1, T):
        for k in range(K):
            best = -np.inf
            arg = 0
            for j in range(K):
                s = score[t - 1, j] + trans[j, k]
                if s > best:
                    best = s
                    arg = j
            score[t, k] = best + emission[t, k]
            back[t, k] = arg
    path = []
    k = 0
    for j in range(1, K):
        if score[T - 1, j] > score[T - 1, k]:
            k = j
    path.append(k)
    for t in range(T - 1, 0, -1):
        k = int(back[t, k])
        path.append(k)
    path.reverse()
    return path, float(score[T - 1].max())


@given(lambda: (single(5, 6),))
def of_seam(energy):
    h, w = energy.shape
    cost = energy.copy()
    back = [[0] * w for _ in range(h)]
    for y in range(1, h):
        for x in range(w):
            best = x
            for dx in (-1, 1):
                if 0 <= x + dx < w and cost[y - 1, x + dx] < cost[y - 1, best]:
                    best = x + dx
            back[y][x] = best
            cost[y, x] += cost[y - 1, best]
    x = int(np.argmin(cost[h - 1]))
    seam = [x]
    for y in range(h - 1, 0, -1):
        x = back[y][x]
        seam.append(x)
    return seam[::-1]


@given(lambda: (single(5), single(6, seed=1)))
def of_dtw_path(a, b):
    n, m = len(a), len(b)
    d = np.full((n + 1, m + 1), np.inf, dtype=np.float32)
    d[0, 0] = 0
    steps = {}
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            c = abs(a[i - 1] - b[j - 1])
            options = [(d[i - 1, j - 1], (i - 1, j - 1)), (d[i - 1, j], (i - 1, j)), (d[i, j - 1], (i, j - 1))]
            best = min(options)
            d[i, j] = c + best[0]
            steps[i, j] = best[1]
    i, j = n, m
    path = []
    while (i, j) != (0, 0):
        path.append((i - 1, j - 1))
        i, j = steps[i, j]
    return d[n, m], path[::-1]


@given(lambda: (drawn(0).integers(1, 8, 6).astype(np.int32), single(6), 15))
def of_knapsack_items(weights, values, cap):
    n = len(weights)
    best = np.zeros((n + 1, cap + 1), dtype=np.float32)
    for i in range(n):
        w = weights[i]
        for c in range(cap + 1):
            best[i + 1, c] = best[i, c]
            if w <= c and best[i, c - w] + values[i] > best[i + 1, c]:
                best[i + 1, c] = best[i, c - w] + values[i]
    chosen = []
    c = cap
    for i in range(n - 1, -1, -1):
        if best[i + 1, c] != best[i, c]:
            chosen.append(i)
            c -= weights[i]
    return chosen


@given(lambda: (single(6, 6), (bits(6, 6) & bits(6, 6, seed=1)).astype(np.int16) * 3))
def of_watershed_pq(height, markers):
    h, w = height.shape
    labels = markers.copy()
    heap = []
    count = 0
    for y in range(h):
        for x in range(w):
            if labels[y, x] > 0:
                heapq.heappush(heap, (height[y, x], count, y, x))
                count += 1
    while heap:
        level, _, y, x = heapq.heappop(heap)
        for dy, dx in [(0, 1), (1, 0), (0, -1), (-1, 0)]:
            yy = y + dy
            xx = x + dx
            if yy < 0 or xx < 0 or yy >= h or xx >= w:
                continue
            if labels[yy, xx] == 0:
                labels[yy, xx] = labels[y, x]
                heapq.heappush(heap, (max(level, height[yy, xx]), count, yy, xx))
                count += 1
    return labels


@given(lambda: (np.array([1, 200, 250, 0], np.uint8), np.array([-3, 100, 7, 0], np.int16), single(4)))
def of_what_two_dtypes_make(a, b, c):
    out, more = [], []
    for k in range(len(a)):
        x, y, z = a[k], b[k], c[k]
        out.append((x + y, x * z, y - z, y // 3, z // 0.7, z % 0.3, x / 2, y * 1.5, z**2, -y, abs(y), ~x, x & 7, y > z))
        more.append(
            (z > 0.1, z + 1, 1 - z, min(x, y), max(z, 0.5), x + True, y << 2, int(z), float(z), round(z), x == 200)
        )
    return out, more


@given(lambda: (np.array([0.1, 0.3], np.float32),))
def of_python_numbers_beside_float32(x):
    best, where, seen = 0.1, -1, {}
    for k in range(len(x)):
        seen[x[k]] = k
        if x[k] >= best:
            best, where = x[k], k
        best = best * 1.1
    return best, where, x[0] == 0.1, 0.1 < x[0], seen


@given(lambda: (np.arange(6, dtype=np.uint8), np.array([1, -2, 3], np.int16)))
def of_arrays_that_wrap(a, b):
    made, folds = [], []
    for k in range(3):
        made.append((a[k:] - a[: 6 - k] * 100, -a, b * b[k], a + 0.5, a[:3] + b, a > 2, b[k] < a, np.abs(b), a.mean()))
        folds.append((a.sum(), b.sum(), b.max(), a[k:].astype(np.float32), a.ravel()[k]))
    return made, folds


@given(lambda: (np.zeros(4, np.uint8), np.zeros(4, np.float32), np.zeros(4, np.int32)))
def of_stores(a, b, c):
    stack = [0]
    for k in range(4):
        a[k], b[k], c[k] = 63.9 * k, 0.1 * k, np.float32(k) / 2
        a[k] += k
        b[k] += 0.1
        c[k] -= a[k]
        stack.append(c[k])
    return a, b, c, stack, a.tolist(), b.tolist()


@given(lambda: (np.array([200, 100], np.uint8),))
def of_a_sum_that_wraps(x):
    out = []
    with np.errstate(all="ignore"):
        for k in range(2):
            out.append(x[0] + x[k])
    return out


@given(lambda: (np.zeros(3, np.uint8),))
def of_a_number_that_does_not_fit(x):
    for k in range(3):
        x[k] = 100 * k + 60
    return x
