"""Numbers are drawn of a tensor whose memory the loop changes as that of another one."""

import torch


def program(p, out):
    for i in range(p.shape[0] - 1):
        out[i + 1] = torch.normal(p[i], 0.1)
    return out


def arguments(seed):
    p = torch.rand([6, 2, 1, 4][seed % 4], generator=torch.Generator().manual_seed(seed))
    return p, [p, torch.zeros_like(p), p.view(-1), torch.zeros_like(p)][seed % 4]
