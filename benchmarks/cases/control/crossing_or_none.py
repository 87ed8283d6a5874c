"""Where every trace first rises through a level, found by a helper that returns None where it never does.

Source: spike detection and zero crossings as written in notebooks
Tags: early-exit, marker, helper, conditional, search
Grad: yes
"""
import torch


def crossing(trace, level):
    for t in range(1, trace.shape[0]):
        if trace[t - 1] < level and trace[t] >= level:
            return t - 1 + (level - trace[t - 1]) / (trace[t] - trace[t - 1])
    return None


def slow(traces, level, gain):
    out = torch.full((traces.shape[0],), -1.0, dtype=traces.dtype)
    for i in range(traces.shape[0]):
        at = crossing(traces[i] * gain[i], level)
        if at is None:
            continue
        out[i] = at
    return out


def hand(traces, level, gain):
    x = traces * gain[:, None]
    before, after = x[:, :-1], x[:, 1:]
    hit = (before < level) & (after >= level)
    found = hit.any(1)
    first = hit.to(torch.uint8).argmax(1)
    a, b = (v.gather(1, first[:, None])[:, 0] for v in (before, after))
    a, b = torch.where(found, a, 0.0), torch.where(found, b, 1.0)
    return torch.where(found, first + (level - a) / (b - a), -1.0)


def inputs(size="small", seed=0):
    n, T = {"tiny": (4, 6), "small": (30, 60), "full": (300, 250)}[size]
    g = torch.Generator().manual_seed(seed)
    return torch.randn(n, T, generator=g, dtype=torch.float64) - 1.5, 0.6, torch.rand(n, generator=g, dtype=torch.float64) + 0.5
