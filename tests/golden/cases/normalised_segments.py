"""A proof with a predicate: segments are changed in place together where no two of them have a place in common.

Whether they do is decided at each call. Where they meet, what one iteration reads is what another one wrote, and the
loop runs.
"""

import torch

OPTIONS = {"backend": "torch"}


def normalise(weights, bounds):
    for s in range(bounds.shape[0] - 1):
        part = weights[bounds[s] : bounds[s + 1]]
        weights[bounds[s] : bounds[s + 1]] = part / part.sum()
    return weights


def arguments():
    return torch.arange(1.0, 10.0), torch.tensor([0, 4, 4, 7, 9])


def more_arguments():
    yield torch.arange(1.0, 21.0), torch.tensor([0, 15, 10, 20])
    yield torch.arange(1.0, 6.0), torch.tensor([0, -2, 5])
