"""Correlation of two feature maps within a search window (as in FlowNet), borders zero.

Source: correlation volumes of optical flow networks
Tags: dense
Grad: yes
Hand: loop over shifts
"""
import torch


def slow(a, b, R):
    C, H, W = a.shape
    out = torch.zeros((2 * R + 1) ** 2, H, W, dtype=a.dtype)
    for y in range(H):
        for x in range(W):
            k = 0
            for dy in range(-R, R + 1):
                for dx in range(-R, R + 1):
                    if 0 <= y + dy < H and 0 <= x + dx < W:
                        out[k, y, x] = (a[:, y, x] * b[:, y + dy, x + dx]).mean()
                    k += 1
    return out


def hand(a, b, R):
    C, H, W = a.shape
    bp = torch.nn.functional.pad(b, (R, R, R, R))
    return torch.stack([(a * bp[:, R + dy:R + dy + H, R + dx:R + dx + W]).mean(0) for dy in range(-R, R + 1) for dx in range(-R, R + 1)])


def inputs(size="small", seed=0):
    C, H, W, R = {"tiny": (2, 3, 3, 1), "small": (8, 12, 12, 2), "full": (32, 48, 48, 3)}[size]
    g = torch.Generator().manual_seed(seed)
    return torch.randn(C, H, W, generator=g, dtype=torch.float64).requires_grad_(), torch.randn(C, H, W, generator=g, dtype=torch.float64).requires_grad_(), R
