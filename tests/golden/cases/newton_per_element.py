"""A data-dependent ``while`` and ``if`` in each lane: lanes that have converged are masked, the division is safe."""

import torch

OPTIONS = {"backend": "torch"}
GRADIENTS = True


def newton_roots(values):
    roots = torch.zeros_like(values)
    for i in range(values.shape[0]):
        root = values[i]
        if values[i] > 0:
            while torch.abs(root * root - values[i]) > 1e-4:
                root = root - (root * root - values[i]) / (2 * root)
        roots[i] = root
    return roots


def arguments():
    return (torch.tensor([2.0, 0.0, 9.0, -1.0, 0.25], requires_grad=True),)
