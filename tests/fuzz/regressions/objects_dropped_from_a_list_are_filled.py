"""A list lets go of an object that was changed: it is filled after the list is, and must be there until then."""


class Node:
    def __init__(self, key):
        self.key, self.next, self.seen = key, None, []


def program(nodes, n):
    total = 0
    for k in range(n):
        nodes[k].next = nodes[k - 1]
        nodes[k].seen.append(k)
        nodes[k].key += 1
        nodes[k] = nodes[k - 1]
        total += nodes[k].key
    return total, nodes


def arguments(seed):
    return [Node(k) for k in range(5 + 40 * seed)], 5 + 40 * seed
