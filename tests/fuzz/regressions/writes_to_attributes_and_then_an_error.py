"""An update of an array of an object raises after some iterations: those before count once."""

import torch


class Held:
    def __init__(self):
        self.b = torch.zeros(4, 4)


def program(x, places, held):
    seen = 0
    try:
        for t in range(x.shape[0]):
            held.b[places[t]] += torch.sort(x[t])[0]
    except IndexError:
        seen = 1
    return seen, held.b.sum()


def arguments(seed):
    generator = torch.Generator().manual_seed(seed)
    places = [[0, 1, 9, 2], [0, 1, 1, 2], [5, 0, 0, 0], [3, 3, 3, -7]][seed % 4]
    return torch.rand(4, 4, generator=generator), torch.tensor(places), Held()
