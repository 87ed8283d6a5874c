"""Small programs with plain classes, each with arguments."""

from typed_given import given


class UnionFind:
    def __init__(self, n):
        self.parent = list(range(n))
        self.rank = [0] * n
        self.count = n

    def find(self, x):
        if self.parent[x] != x:
            self.parent[x] = self.find(self.parent[x])
        return self.parent[x]

    def union(self, a, b):
        a, b = self.find(a), self.find(b)
        if a == b:
            return False
        if self.rank[a] < self.rank[b]:
            a, b = b, a
        self.parent[b] = a
        if self.rank[a] == self.rank[b]:
            self.rank[a] += 1
        self.count -= 1
        return True


@given(lambda: (4, [(0, 1, 10), (0, 2, 6), (0, 3, 5), (1, 3, 15), (2, 3, 4)]))
def of_kruskal(n, edges):
    uf = UnionFind(n)
    total = 0
    for u, v, w in sorted(edges, key=lambda e: e[2]):
        if uf.union(u, v):
            total += w
    return total, uf.count


class Node:
    def __init__(self, key, next=None):
        self.key = key
        self.next = next


@given(lambda: ([1, 2, 3],))
def of_linked(xs):
    head = None
    for x in xs:
        head = Node(x, head)
    prev = None
    while head is not None:
        nxt = head.next
        head.next = prev
        prev, head = head, nxt
    out = []
    while prev:
        out.append(prev.key)
        prev = prev.next
    return out


class Tree:
    def __init__(self, v):
        self.v = v
        self.left = None
        self.right = None


def insert(root, v):
    if root is None:
        return Tree(v)
    if v < root.v:
        root.left = insert(root.left, v)
    else:
        root.right = insert(root.right, v)
    return root


@given(lambda: ([5, 2, 8, 1],))
def of_bst(xs):
    root = None
    for x in xs:
        root = insert(root, x)
    out = []

    def walk(n):
        if n is None:
            return
        walk(n.left)
        out.append(n.v)
        walk(n.right)

    walk(root)

    def height(n):
        return 0 if n is None else 1 + max(height(n.left), height(n.right))

    return out, height(root)


class Trie:
    def __init__(self):
        self.children = {}
        self.end = False


@given(lambda: (["ab", "abc"], ["ab", "a", "abc", "x"]))
def of_trie(words, queries):
    root = Trie()
    for w in words:
        node = root
        for c in w:
            if c not in node.children:
                node.children[c] = Trie()
            node = node.children[c]
        node.end = True
    out = []
    for q in queries:
        node = root
        for c in q:
            if c not in node.children:
                out.append(False)
                break
            node = node.children[c]
        else:
            out.append(node.end)
    return out


class Stack:
    def __init__(self):
        self.items = []

    def push(self, x):
        self.items.append(x)

    def pop(self):
        if self.is_empty():
            raise IndexError("empty")
        return self.items.pop()

    def is_empty(self):
        return len(self.items) == 0


@given(lambda: ([1, 2, -1, 3, -1],))
def of_stack(ops):
    s = Stack()
    t = 0
    for o in ops:
        if o > 0:
            s.push(o)
        else:
            t += s.pop()
    return t


@given(lambda: ([1, -1, -1],))
def of_stack_err(ops):
    s = Stack()
    t = 0
    for o in ops:
        if o > 0:
            s.push(o)
        else:
            t += s.pop()
    return t


class Graph:
    def __init__(self, n):
        self.n = n
        self.adj = [[] for _ in range(n)]

    def add(self, u, v):
        self.adj[u].append(v)
        self.adj[v].append(u)

    def dfs(self, u, seen):
        seen[u] = True
        c = 1
        for v in self.adj[u]:
            if not seen[v]:
                c += self.dfs(v, seen)
        return c


@given(lambda: (5, [(0, 1), (3, 4)]))
def of_graph(n, edges):
    g = Graph(n)
    for u, v in edges:
        g.add(u, v)
    seen = [False] * n
    return [g.dfs(u, seen) for u in range(g.n) if not seen[u]]


class Particle:
    def __init__(self, x, v):
        self.x = x
        self.v = v

    def step(self, dt):
        self.v += -self.x * dt
        self.x += self.v * dt


@given(lambda: ([1.0, 2.0], 5))
def of_particles(xs, n):
    ps = [Particle(x, 0.0) for x in xs]
    for _ in range(n):
        for p in ps:
            p.step(0.01)
    return [p.x for p in ps], sum(p.v * p.v for p in ps)


@given(lambda: ([1.0, 2.0],))
def of_object_out(xs):
    ps = [Particle(x, 0.0) for x in xs]
    for p in ps:
        p.step(0.5)
    return len(ps), ps[0].x


class Heap:
    def __init__(self):
        self.h = []

    def push(self, x):
        self.h.append(x)
        i = len(self.h) - 1
        while i > 0 and self.h[(i - 1) // 2] > self.h[i]:
            self.h[(i - 1) // 2], self.h[i] = self.h[i], self.h[(i - 1) // 2]
            i = (i - 1) // 2

    def pop(self):
        top = self.h[0]
        last = self.h.pop()
        if self.h:
            self.h[0] = last
            i = 0
            while True:
                l, r, m = 2 * i + 1, 2 * i + 2, i
                if l < len(self.h) and self.h[l] < self.h[m]:
                    m = l
                if r < len(self.h) and self.h[r] < self.h[m]:
                    m = r
                if m == i:
                    break
                self.h[i], self.h[m] = self.h[m], self.h[i]
                i = m
        return top


@given(lambda: ([3, 1, 2],))
def of_heap(xs):
    h = Heap()
    for x in xs:
        h.push(x)
    out = []
    while h.h:
        out.append(h.pop())
    return out


class Late:
    def __init__(self, x):
        self.y = self.next_of(x)
        self.x = x

    def next_of(self, v):
        return v + self.x


@given(lambda: ([1, 2],))
def of_attribute_too_early(xs):
    total = 0
    for x in xs:
        total += Late(x).y
    return total


class Sized:
    def __init__(self, x):
        self.x = x

    def __len__(self):
        return self.x


@given(lambda: ([0, 2],))
def of_object_with_length(xs):
    count = 0
    for x in xs:
        if Sized(x):
            count += 1
    return count


@given(lambda: ([1, 2],))
def of_none_in_place_of_an_object(xs):
    node = None
    total = 0
    for x in xs:
        total += node.key if node is not None or x > 1 else 0
    return total


@given(lambda: ([1.5, 2.5],))
def of_one_object_twice(xs):
    first = Particle(xs[0], 1.0)
    both = [first, first]
    for one in both:
        one.step(0.5)
    return first.x, both[0] is both[1], both[0] == first
