"""No object has another one after it, so the type of ``next`` is None: the item is read nevertheless, and not there."""


class Node:
    def __init__(self, key):
        self.key, self.next = key, None


def program(nodes, n):
    made, last = [], None
    for _ in range(n):
        if made[-1].next is None:
            last = nodes[0]
    if nodes and nodes[0] in made:
        made.append(nodes[0])
    return made, last


def arguments(seed):
    return [Node(k) for k in range(seed % 3)], seed % 2 + 1
