"""A tensor in a dict that is only read is changed by the loop: what was verified is not done twice."""

import torch


def program(settings, x):
    count = 0
    last = []
    for value in x:
        if value > 0:
            settings["weight"][count % 3] += value
            last.append(value)
        else:
            count += 1
        while len(last) > 2:
            last.pop(0)
    return count


def arguments(seed):
    generator = torch.Generator().manual_seed(seed)
    weight = torch.randn(3, generator=generator)
    return {"weight": weight, "rate": 0.1, "steps": 3}, torch.randn([6, 1, 0, 3][seed % 4], generator=generator)
