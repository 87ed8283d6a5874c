"""Two columns of lists, in a list of lists of records, were both the first one."""

import torch


def program(records):
    out = torch.zeros(len(records))
    for i in range(len(records)):
        for k in range(len(records[i])):
            for m in range(len(records[i][k][0])):
                out[i] += records[i][k][0][m] * 10 - records[i][k][1][m]
    return out


def arguments(seed):
    g = torch.Generator().manual_seed(seed)

    def row(count):
        return [float(value) for value in torch.randint(0, 9, (count,), generator=g)]

    counts = torch.randint(1, 4, (seed + 1, 2), generator=g).tolist()
    return ([[(row(long), row(long)) for _ in range(many)] for many, long in counts],)
