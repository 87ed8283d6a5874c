"""Small programs with objects, dataclasses and NamedTuples that go in and out, each with arguments."""

import heapq
from collections import defaultdict, deque
from dataclasses import dataclass, field
from typing import NamedTuple, Optional

from typed_given import given


class P:
    SCALE = 3
    NAMES = ("a", "b")

    def __init__(self, x, tag=""):
        self.x = x
        self.tag = tag
        self.links = []

    @property
    def double(self):
        return self.x * 2

    def bump(self, by=1):
        self.x += by
        return self.x * self.SCALE

    @staticmethod
    def helper(a):
        return a * 2 + 1


def points(n):
    out = [P(k * 3 % 7, f"t{k}") for k in range(n)]
    for k, p in enumerate(out):
        p.links = [out[(k + 1) % n], out[(k * 2) % n]]
    return out


@given(lambda: (points(5),))
def of_alias(items):
    seen = set()
    for p in items + items[:2]:
        p.bump()
        for q in p.links:
            q.x = (q.x + p.double) % 1000
            if q.tag in seen and len(q.links) < 6:
                q.links.append(p)
            seen.add(q.tag)
    return items[0] if items else None, sorted(seen)


@given(lambda: (points(4),))
def of_const(items):
    total = 0
    for p in items:
        total += p.SCALE * P.SCALE + P.helper(p.x) + len(P.NAMES[1])
        p.tag = P.NAMES[total % 2]
    return total


@given(lambda: (4, P(5)))
def of_make_links(n, root):
    cur = root
    made = []
    for k in range(n):
        q = P(k)
        q.links.append(cur)
        cur.links.append(q)
        made.append(q)
        cur = q
    return made, cur


@given(lambda: ([P(k + 1) for k in range(4)],))
def of_raise(items):
    total = 0
    for p in items:
        p.x -= 2
        total += 10 // p.x
        p.tag += "!"
    return total


@given(lambda: (points(6),))
def of_tuple_heap(items):
    h = []
    for k, p in enumerate(items):
        heapq.heappush(h, (p.x, k, p))
    out = []
    while h:
        x, _, p = heapq.heappop(h)
        out.append(p.tag)
        if x > 3 and len(out) < 30:
            p.x -= 3
            heapq.heappush(h, (p.x, len(out) + 100, p))
    return out


@given(lambda: (points(6),))
def of_tuple_heap_tie(items):
    h = []
    for p in items:
        heapq.heappush(h, (p.x % 2, p))
    return len(h)


@given(lambda: ({"a": P(1, "a")}, ["a", "b", "c", "b"]))
def of_obj_dict(table, keys):
    for k in keys:
        if k not in table:
            table[k] = P(len(table), k)
        table[k].bump(2)
    return table


class Other(P):
    pass


@given(lambda: ([P(1), Other(2), P(3)],))
def of_sub(items):
    t = 0
    for p in items:
        t += p.x
        while t > 40:
            t -= 7
    return t


class Extra:
    def __init__(self, a):
        self.a = a


def extra(a, **more):
    one = Extra(a)
    vars(one).update(more)
    return one


@given(lambda: ([extra(1), extra(2, b=5), extra(3)],))
def of_extra(items):
    t = 0
    for e in items:
        e.a += 1
        t += e.a
        while t > 9:
            t -= 3
    return t


@given(lambda: ([extra(1, b=1), extra(2)],))
def of_extra2(items):
    t = 0
    for e in items:
        t += e.b
        while t > 9:
            t -= 3
    return t


@given(lambda: ([extra(1), extra(2.5), extra(True)],))
def of_mixed_fields(items):
    t = 0
    for e in items:
        t = t + e.a
        e.a = e.a * 2
        while t > 9:
            t -= 3
    return t


@given(lambda: ([extra(1), extra("q")],))
def of_str_int(items):
    t = ""
    for e in items:
        t = t + str(e.a)
        while len(t) > 9:
            t = t[3:]
    return t


@dataclass
class D:
    x: int
    y: float = 0.5
    tags: list = field(default_factory=list)
    parent: Optional["D"] = None

    def __post_init__(self):
        self.y += self.x

    def area(self):
        return self.x * self.y


@given(lambda: (5,))
def of_data(n):
    out = []
    last = None
    for k in range(n):
        d = D(k, parent=last)
        d.tags.append(k)
        if last is not None and k % 3 == 0:
            last.tags.append(-k)
        out.append(d)
        last = d
    best = max(out, key=lambda d: d.area(), default=None)
    return out, best, sum(d.area() for d in out)


@given(lambda: ([D(k % 3) for k in range(5)], D(1)))
def of_data_eq(items, probe):
    hits = 0
    for d in items:
        if d == probe:
            hits += 1
        if d != probe:
            hits += 10
        if d in items[:2]:
            hits += 100
        if d is probe:
            hits += 1000
    return hits, items.index(probe) if probe in items else -1


@dataclass(frozen=True)
class F:
    r: int
    c: int

    def near(self):
        return [F(self.r + 1, self.c), F(self.r, self.c + 1)]


@given(lambda: (3,))
def of_frozen(n):
    seen = {F(0, 0): 0}
    q = deque([F(0, 0)])
    while q:
        cur = q.popleft()
        for nxt in cur.near():
            if nxt.r < n and nxt.c < n and nxt not in seen:
                seen[nxt] = seen[cur] + 1
                q.append(nxt)
    return seen, F(1, 1) in seen


@given(lambda: (F(1, 2),))
def of_frozen_set(f):
    t = 0
    for k in range(3):
        t += k
        if k == 2:
            f.r = 5
    return t


class E(NamedTuple):
    u: int
    v: int = 7
    w: float = 1.5

    def cost(self):
        return self.w * self.u

    @property
    def ends(self):
        return (self.u, self.v)


@given(lambda: ([E(3, w=0.5), E(1), E(4, 2, 0.25)],))
def of_named(edges):
    out = []
    best = None
    for e in sorted(edges):
        a, _, c = e
        e2 = e._replace(u=a + 1, w=c * 2)
        if best is None or e2 < best:
            best = e2
        out.append(e2)
        out.append(E(e[0], w=e[-1]))
        if e == (1, 7, 1.5):
            out.append(e)
        if e.cost() > 3:
            out.append(E(e.ends[0], e.ends[1]))
    return out, best, [e[:2] for e in out], len(best) if best else 0, [tuple(e) for e in edges]


@given(lambda: ([E(3, w=0.5), E(1), E(4, 2, 0.25)],))
def of_named_plus(edges):
    total = (0,)
    for e in edges:
        total = (total[0] + sum(e),)
        x = e + (1,)
        total = (total[0] + x[3],)
    return total, max(edges) if edges else None, {e: k for k, e in enumerate(edges)}, {e.u for e in edges}


@given(lambda: ([E(3), E(1)],))
def of_named_mixed(edges):
    out = []
    for e in edges:
        cur = (e.u, e.v, e.w)
        if e.u > 1:
            cur = e
        out.append(cur)
    return out


class H:
    def __init__(self, f, name):
        self.f = f
        self.name = name

    def __lt__(self, other):
        return self.f < other.f


@given(lambda: (6,))
def of_heap_lt(n):
    h = []
    for k in range(n):
        heapq.heappush(h, H(k * 5 % 7, str(k)))
    return [heapq.heappop(h).name for _ in range(n)]


class G:
    def __init__(self, n):
        self.n = n
        self.adj = [[] for _ in range(n)]
        self.seen = [False] * n
        self.order = []
        self.clock = 0

    def add(self, a, b):
        self.adj[a].append(b)

    def visit(self, u):
        self.seen[u] = True
        self.clock += 1
        for v in self.adj[u]:
            if not self.seen[v]:
                self.visit(v)
        self.order.append(u)


@given(lambda: (G(5), [(0, 3), (3, 1), (2, 4), (4, 2), (1, 0)]))
def of_graph(g, edges):
    for a, b in edges:
        g.add(a % g.n, b % g.n)
    for u in range(g.n):
        if not g.seen[u]:
            g.visit(u)
    return g.order, g.clock, g


class S:
    __slots__ = ("a", "b")

    def __repr__(self):
        return f"S({self.a}, {self.b})"

    def __init__(self, a, b):
        self.a = a
        self.b = b


@given(lambda: ([S(k, 2) for k in range(4)],))
def of_slots(items):
    t = 0
    for s in items:
        s.a += s.b
        t += s.a
        while t > 100:
            t -= 9
    return t


class Tree:
    def __init__(self, v, left=None, right=None):
        self.v = v
        self.left = left
        self.right = right


def grow(d):
    return None if d == 0 else Tree(d, grow(d - 1), grow(d - 2) if d > 1 else None)


@given(lambda: (grow(5),))
def of_depth(root):
    def depth(t):
        return 0 if t is None else 1 + max(depth(t.left), depth(t.right))

    def invert(t):
        if t is None:
            return None
        t.left, t.right = invert(t.right), invert(t.left)
        return t

    return depth(root), invert(root)


def chain(n):
    head = None
    for k in range(n):
        head = Tree(k, head)
    return head


@given(lambda: (chain(40),))
def of_long_chain(head):
    n = 0
    while head is not None:
        n += head.v
        head.v = n
        head = head.left
    return n


@given(lambda: (5,))
def of_make_chain(n):
    head = None
    for k in range(n):
        head = Tree(k, head)
    return head


@given(lambda: (grow(4),))
def of_levels(root):
    total, levels, stack = 0.0, defaultdict(int), [(root, 0)]
    while stack:
        node, depth = stack.pop()
        if node is not None:
            total += node.v
            levels[depth] += 1
            stack += [(node.left, depth + 1), (node.right, depth + 1)]
    return total, dict(levels)


@given(lambda: (grow(3),))
def of_attribute_of_none(root):
    total = 0
    while True:
        root.v += 1
        total += root.v
        root = root.left
    return total


@dataclass
class Ring:
    name: str
    next: Optional["Ring"] = None


def ring(n):
    links = [Ring("x") for _ in range(n)]
    for k, link in enumerate(links):
        link.next = links[(k + 1) % n]
    return links[0]


def rings_that_are_compared(a, b):
    for _ in range(2):
        if a == b:
            return True
    return False


@given(lambda: ([F(k, k % 2) for k in range(4)], {F(1, 1): "a"}))
def of_frozen_keys(cells, names):
    for k, cell in enumerate(cells):
        if cell in names:
            names[cell] += str(k)
        names[F(cell.r, 7)] = "b"
    return names, names[F(0, 7)]
