"""Arrays in lists, dicts and attributes, and those that were None at first, are changed themselves by ``+=``."""

import numpy as np


class Node:
    def __init__(self, value):
        self.value = value
        self.count = 0


def program(rows, places, table):
    last = None
    seen = []
    nodes = []
    for place in places:
        rows[place] += 1.0
        key = place % 2
        if key not in table:
            table[key] = np.zeros(2)
        seen.append(table[key])
        table[key] += rows[place]
        if last is None:
            last = rows[place]
        else:
            last *= 0.5
        nodes.append(Node(rows[place]))
    for node in nodes:
        node.value -= 2.0
        node.count += 1
    return last, seen


def arguments(seed):
    generator = np.random.default_rng(seed)
    rows = [generator.normal(size=2) for _ in range(4)]
    return rows, [[0, 1, 1, 3], [2], [], [0, 0]][seed % 4], {0: np.ones(2)} if seed % 2 else {}
