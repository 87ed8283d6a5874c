# precision: exact
"""A field that was None in the first call was not read in later ones."""

import random
from dataclasses import dataclass, field
from typing import NamedTuple


class Node:
    __slots__ = ("key", "value", "next", "seen")
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
    k = 0
    out, made, heap, table, seen = [], [], [], {}, set()
    total, mean, last, best = 0, 0.0, None, None
    for v1, w1 in zip(nodes[:], items):
        if len(made) + len(out) + len(nodes) + len(edges) + len(heap) > 80:
            break
        for v2 in sorted(edges):
            if len(made) + len(out) + len(nodes) + len(edges) + len(heap) > 80:
                break
            if v2 in edges:
                if v1.next is None:
                    made.append(nodes[0])
                    if n:
                        return out, made, heap, table, sorted(seen), total, mean, last, best, nodes, items, edges, cells
                out.append((len(items[0].marks), Item(total, marks=[3]).weight))
    for v7, w7 in zip(nodes[:], items):
        if len(made) + len(out) + len(nodes) + len(edges) + len(heap) > 80:
            break
        best = edges[-1]
    return out, made, heap, table, sorted(seen), total, mean, last, best, nodes, items, edges, cells


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
    return nodes, items, edges, cells, n
