class Node:
    scale = 2

    def __init__(self, x):
        self.x = x

    def value(self):
        return self.x * self.scale

    def step(self):
        return self.x + 1


def seven():
    return 7


def program(nodes):
    total = 0
    for node in nodes:
        total = total * 3 + node.value() + node.scale
    for node in nodes:
        total = total * 3 + node.step()
    return total


def arguments(seed):
    nodes = [Node(k + seed) for k in range(4)]
    if seed % 2:
        nodes[seed].scale = 10
    if seed > 2:
        nodes[1].step = seven
    return (nodes,)
