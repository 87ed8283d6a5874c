"""A reduction under an ``if``, stored into an array of the caller: the loop that `docs/architecture.md` follows."""

import torch

OPTIONS = {"backend": "torch"}


def attraction(points, out):
    for i in range(points.shape[0]):
        total = torch.zeros(())
        for j in range(points.shape[0]):
            if i != j:
                total = total + 1 / torch.norm(points[i] - points[j])
        out[i] = total
    return out


def arguments():
    return torch.randn(5, 3, generator=torch.Generator().manual_seed(1)), torch.zeros(5)


def more_arguments():
    points, _ = arguments()
    yield points, points[:, 0]  # what is written is read: another variant, or the loop
    yield points[:0], torch.zeros(3)
    yield points[:1], torch.zeros(3)
