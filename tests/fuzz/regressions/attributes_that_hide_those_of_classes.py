class Node:
    scale = 2
    steps = [1, 3]

    def __init__(self, x):
        self.x = x

    def value(self):
        return self.x * self.scale


def program(nodes):
    total = 0
    for node in nodes:
        total = total * 3 + node.value() + node.scale
    for node in nodes:
        total = total * 3 + node.steps[0]
    return total


def arguments(seed):
    nodes = [Node(k + seed) for k in range(5)]
    if seed % 2:
        nodes[seed].scale = 10
    if seed > 2:
        nodes[1].steps = [7]
    return (nodes,)
