"""Algorithms on graphs and grids, each with arguments."""

import heapq
from collections import deque

from typed_given import given

nan, inf, INF, SCALE = float("nan"), float("inf"), float("inf"), 3


@given(lambda: ([[0, 0, 1], [1, 0, 1], [1, 0, 0]], (0, 0), (2, 2)))
def of_bfs_grid(grid, start, goal):
    rows, cols = len(grid), len(grid[0])
    dist = [[-1] * cols for _ in range(rows)]
    q = deque([start])
    dist[start[0]][start[1]] = 0
    while q:
        r, c = q.popleft()
        if (r, c) == goal:
            return dist[r][c]
        for dr, dc in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            nr, nc = r + dr, c + dc
            if 0 <= nr < rows and 0 <= nc < cols and grid[nr][nc] == 0 and dist[nr][nc] == -1:
                dist[nr][nc] = dist[r][c] + 1
                q.append((nr, nc))
    return -1


@given(lambda: (5, [(0, 1), (1, 2), (3, 4)]))
def of_union_find_rec(n, edges):
    parent = [i for i in range(n)]

    def find(x):
        if parent[x] != x:
            parent[x] = find(parent[x])
        return parent[x]

    for u, v in edges:
        parent[find(u)] = find(v)
    return len({find(i) for i in range(n)})


@given(lambda: ([[(1, 4), (2, 1)], [(3, 1)], [(1, 2), (3, 5)], []], 0))
def of_dijkstra(adj, s):
    dist = [float("inf")] * len(adj)
    dist[s] = 0
    pq = [(0, s)]
    while pq:
        d, u = heapq.heappop(pq)
        if d > dist[u]:
            continue
        for v, w in adj[u]:
            nd = d + w
            if nd < dist[v]:
                dist[v] = nd
                heapq.heappush(pq, (nd, v))
    return dist


@given(lambda: ({"a": {"b": 4, "c": 1}, "b": {"d": 1}, "c": {"b": 2, "d": 5}, "d": {}}, "a"))
def of_dijkstra_dict(graph, s):
    dist = {node: float("inf") for node in graph}
    dist[s] = 0
    visited = set()
    pq = [(0, s)]
    while pq:
        _, u = heapq.heappop(pq)
        if u in visited:
            continue
        visited.add(u)
        for v, w in graph[u].items():
            if dist[u] + w < dist[v]:
                dist[v] = dist[u] + w
                heapq.heappush(pq, (dist[v], v))
    return dist


@given(lambda: ([[0, 2, 0, 6, 0], [2, 0, 3, 8, 5], [0, 3, 0, 0, 7], [6, 8, 0, 0, 9], [0, 5, 7, 9, 0]],))
def of_prim(w):
    n = len(w)
    key = [float("inf")] * n
    parent = [-1] * n
    in_mst = [False] * n
    key[0] = 0
    for _ in range(n):
        u = min((v for v in range(n) if not in_mst[v]), key=lambda v: key[v])
        in_mst[u] = True
        for v in range(n):
            if w[u][v] and not in_mst[v] and w[u][v] < key[v]:
                key[v] = w[u][v]
                parent[v] = u
    return parent, sum(key)


@given(lambda: (4, [(0, 1, 10), (0, 2, 6), (0, 3, 5), (1, 3, 15), (2, 3, 4)]))
def of_kruskal(n, edges):
    parent = list(range(n))

    def find(x):
        while parent[x] != x:
            x = parent[x]
        return x

    total = 0
    mst = []
    for u, v, w in sorted(edges, key=lambda e: e[2]):
        a, b = find(u), find(v)
        if a != b:
            parent[a] = b
            total += w
            mst.append((u, v, w))
    return total, mst


@given(lambda: (6, [(5, 2), (5, 0), (4, 0), (4, 1), (2, 3), (3, 1)]))
def of_topo(n, edges):
    adj = [[] for _ in range(n)]
    indeg = [0] * n
    for u, v in edges:
        adj[u].append(v)
        indeg[v] += 1
    q = deque([i for i in range(n) if indeg[i] == 0])
    order = []
    while q:
        u = q.popleft()
        order.append(u)
        for v in adj[u]:
            indeg[v] -= 1
            if indeg[v] == 0:
                q.append(v)
    return order if len(order) == n else None


@given(lambda: ([["1", "1", "0"], ["0", "0", "1"]],))
def of_islands(grid):
    if not grid:
        return 0
    count = 0
    seen = set()
    for i in range(len(grid)):
        for j in range(len(grid[0])):
            if grid[i][j] == "1" and (i, j) not in seen:
                count += 1
                q = deque([(i, j)])
                seen.add((i, j))
                while q:
                    r, c = q.popleft()
                    for dr, dc in [(1, 0), (-1, 0), (0, 1), (0, -1)]:
                        nr, nc = r + dr, c + dc
                        if (
                            0 <= nr < len(grid)
                            and 0 <= nc < len(grid[0])
                            and grid[nr][nc] == "1"
                            and (nr, nc) not in seen
                        ):
                            seen.add((nr, nc))
                            q.append((nr, nc))
    return count


@given(lambda: (4, [(0, 1, 4), (0, 2, 5), (1, 2, -3), (2, 3, 4)], 0))
def of_bellman(n, edges, src):
    dist = [float("inf")] * n
    pred = [None] * n
    dist[src] = 0
    for _ in range(n - 1):
        changed = False
        for u, v, w in edges:
            if dist[u] != float("inf") and dist[u] + w < dist[v]:
                dist[v] = dist[u] + w
                pred[v] = u
                changed = True
        if not changed:
            break
    for u, v, w in edges:
        if dist[u] + w < dist[v]:
            return None
    return dist, pred


@given(lambda: (30,))
def of_primes_else(n):
    primes = []
    for i in range(2, n):
        for p in primes:
            if p * p > i:
                primes.append(i)
                break
            if i % p == 0:
                break
        else:
            primes.append(i)
    return primes


@given(lambda: ([[1], [2], [0, 3], []],))
def of_tarjan(graph):
    index, stack, low, idx, onstack, out = [0], [], {}, {}, set(), []

    def strong(v):
        idx[v] = low[v] = index[0]
        index[0] += 1
        stack.append(v)
        onstack.add(v)
        for w in graph[v]:
            if w not in idx:
                strong(w)
                low[v] = min(low[v], low[w])
            elif w in onstack:
                low[v] = min(low[v], idx[w])
        if low[v] == idx[v]:
            comp = []
            while True:
                w = stack.pop()
                onstack.remove(w)
                comp.append(w)
                if w == v:
                    break
            out.append(comp)

    for v in range(len(graph)):
        if v not in idx:
            strong(v)
    return out
