"""Writes to segments that may meet: the last writer wins, as in the loop, whatever the segments of a call are.

That nobody else's memory is written to is a predicate of the proof, evaluated at each call.
"""

import torch

OPTIONS = {"backend": "torch"}


def fill_segments(out, starts, values):
    for s in range(values.shape[0]):
        for k in range(3):
            out[starts[s] + k] = values[s]
    return out


def arguments():
    return torch.zeros(12), torch.tensor([0, 6, 3]), torch.tensor([1.0, 2.0, 3.0])


def more_arguments():
    yield torch.zeros(12), torch.tensor([4, 5, 3]), torch.tensor([1.0, 2.0, 3.0])
    shared = torch.arange(12.0)
    yield shared, torch.tensor([0, 6, 3]), shared[1:4]
