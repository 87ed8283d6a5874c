"""Recursion over host objects: a binary Tree-LSTM over a list of trees, in waves."""

import torch

GRADIENTS = True


class Node:
    def __init__(self, word=None, left=None, right=None):
        self.word, self.left, self.right = word, left, right


class TreeLSTM(torch.nn.Module):
    def __init__(self, words, size):
        super().__init__()
        self.embedding = torch.nn.Embedding(words, size)
        self.gates = torch.nn.Linear(2 * size, 5 * size)
        self.leaf = torch.nn.Linear(size, size)

    def encode(self, node):
        if node.left is None:
            cell = self.leaf(self.embedding.weight[node.word])
            return torch.tanh(cell), cell
        left_hidden, left_cell = self.encode(node.left)
        right_hidden, right_cell = self.encode(node.right)
        gates = self.gates(torch.cat([left_hidden, right_hidden]))
        i, left, right, o, u = gates.chunk(5)
        cell = torch.sigmoid(i) * torch.tanh(u) + torch.sigmoid(left) * left_cell + torch.sigmoid(right) * right_cell
        return torch.sigmoid(o) * torch.tanh(cell), cell


def encode_trees(model, trees):
    roots = []
    for tree in trees:
        hidden, _ = model.encode(tree)
        roots.append(hidden)
    return torch.stack(roots)


def arguments():
    torch.manual_seed(1)
    model = TreeLSTM(10, 4)
    small = Node(left=Node(1), right=Node(2))
    deep = Node(
        left=Node(left=Node(3), right=Node(4)), right=Node(left=Node(5), right=Node(left=Node(6), right=Node(7)))
    )
    return model, [small, deep, Node(8), Node(left=Node(0), right=Node(left=Node(9), right=Node(1)))]
