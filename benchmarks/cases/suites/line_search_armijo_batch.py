"""Gradient descent with Armijo backtracking per problem until the gradient is small or steps run out.

Source: gradient descent with backtracking, as in textbooks of optimisation
Tags: control, while, break
Grad: no
Hand: loop over steps
"""
import torch


def slow(A, b, x0, max_steps):
    xs, steps = [], []
    for k in range(A.shape[0]):
        x = x0[k].clone()
        n = 0
        for n in range(max_steps):
            r = A[k] @ x - b[k]
            g = A[k].t() @ r
            if torch.norm(g) < 1e-4:
                break
            f = 0.5 * torch.dot(r, r)
            t = 1.0
            while True:
                y = x - t * g
                ry = A[k] @ y - b[k]
                if 0.5 * torch.dot(ry, ry) <= f - 1e-4 * t * torch.dot(g, g):
                    break
                t *= 0.5
            x = y
        xs.append(x)
        steps.append(n)
    return torch.stack(xs), steps


def hand(A, b, x0, max_steps):
    x = x0.clone()
    K = A.shape[0]
    live = torch.ones(K, dtype=torch.bool)
    steps = torch.zeros(K, dtype=torch.long)
    for n in range(max_steps):
        steps[live] = n
        r = torch.einsum("kij,kj->ki", A, x) - b
        g = torch.einsum("kji,kj->ki", A, r)
        live = live & ~(g.norm(dim=1) < 1e-4)
        if not live.any():
            break
        f = 0.5 * (r * r).sum(1)
        t = torch.ones(K, dtype=A.dtype)
        todo = live.clone()
        y = x
        while todo.any():
            y = x - t[:, None] * g
            ry = torch.einsum("kij,kj->ki", A, y) - b
            ok = 0.5 * (ry * ry).sum(1) <= f - 1e-4 * t * (g * g).sum(1)
            todo = todo & ~ok
            t = torch.where(todo, t * 0.5, t)
        x = torch.where(live[:, None], y, x)
    return x, steps.tolist()


def inputs(size="small", seed=0):
    K, m, d, s = {"tiny": (2, 3, 2, 5), "small": (20, 6, 4, 30), "full": (100, 12, 8, 60)}[size]
    g = torch.Generator().manual_seed(seed)
    r = lambda *z: torch.randn(*z, generator=g, dtype=torch.float64)
    return r(K, m, d), r(K, m), r(K, d), s
