# precision: exact
"""Program 52000198: exception: none instead of IndexError('list index out of range')  [seed 0]"""

import random
from dataclasses import dataclass, field
from typing import NamedTuple


class Node:
    SCALE = 3

    def __init__(self, key, value=0.5, next=None):
        self.key = key
        self.value = value
        self.next = next
        self.seen = []

    def __lt__(self, other):
        return self.key < other.key

    @property
    def double(self):
        return self.key * 2

    def bump(self, by=1):
        self.key += by
        self.seen.append(by)
        return self.key % 7


@dataclass
class Item:
    size: int
    weight: float = 0.5
    marks: list = field(default_factory=list)

    def area(self):
        return self.size * self.weight


@dataclass(frozen=True)
class Cell:
    row: int
    col: int = 0


class Edge(NamedTuple):
    u: int
    v: int
    w: float = 1.5

    def cost(self):
        return self.u * self.w


def program(nodes, items, edges, cells, n):
    out, made, heap, table, seen = ([], [], [], {}, set())
    total, mean, last, best = (0, 0.0, None, None)
    v1 = 1
    v1 -= 1
    for k in range(n):
        if made[-1].next is None:
            last = nodes[0]
            if last is None:
                continue
        else:
            items[0].marks.append(sum((one.key for one in nodes)))
    for v7, w7 in zip(nodes[:], items):
        if len(made) + len(out) + len(nodes) + len(edges) + len(heap) > 80:
            break
        total, last = (-2, max(nodes, key=lambda o: o.key))
        if Node(3) is v7:
            for v10 in items:
                if len(made) + len(out) + len(nodes) + len(edges) + len(heap) > 80:
                    break
                if nodes[0] in made:
                    if last is None:
                        total += Node(n if out else 1).bump()
                        total = n
                elif last is None:
                    items[-1].marks.append(v10.size)
                if made:
                    last = None
                    if nodes[-1].seen:
                        if len(made) in seen:
                            if best is not None:
                                mean += best.w
                        else:
                            made.append(made[-1])
                else:
                    for one in nodes:
                        one.key -= 1
                total, last = (max(Edge(1, 2), Edge(1, 2)).v, max(nodes, key=lambda o: o.key))
        last = (last or nodes[0]).next


def arguments(seed):
    r = random.Random(seed)
    n = [5, 0, 2, 8][seed % 4]
    nodes = [Node(r.randint(-4, 6), r.choice((0.5, -1.0, 2.25))) for _ in range(n)]
    for node in nodes:
        node.next = r.choice([*nodes, None]) if seed % 3 else None
    if seed % 6 == 0:
        for node in nodes:
            node.value = None
    if seed % 3 == 1 and n > 1:
        nodes[1] = nodes[0]
    items = [Item(r.randint(0, 5), r.uniform(-1, 1), [r.randint(0, 3)]) for _ in range(n)]
    if seed % 5 == 4 and n:
        items[0].size = 2.5
    edges = [Edge(r.randint(0, 4), r.randint(0, 4), r.uniform(0, 2)) for _ in range(n)]
    cells = {Cell(r.randint(0, 2), r.randint(0, 2)): k for k in range(n)}
    return (nodes, items, edges, cells, n)
