"""K-means until the centres stop: distances one by one, means by masks; empty clusters keep theirs.

Source: Lloyd's algorithm, as in tutorials on PyTorch
Tags: nested, reduction, conditional, early-exit, sequential
Grad: no
Hand: loop over rounds, distances and sums of all in each
"""
import torch


def slow(X, centroids, tol):
    centroids = centroids.clone()
    for it in range(20):
        assign = torch.zeros(X.shape[0], dtype=torch.long)
        for i in range(X.shape[0]):
            dists = torch.zeros(centroids.shape[0])
            for k in range(centroids.shape[0]):
                dists[k] = torch.sum((X[i] - centroids[k]) ** 2)
            assign[i] = torch.argmin(dists)
        new = torch.zeros_like(centroids)
        for k in range(centroids.shape[0]):
            mask = assign == k
            if mask.any():
                new[k] = X[mask].mean(dim=0)
            else:
                new[k] = centroids[k]
        if torch.norm(new - centroids) < tol:
            break
        centroids = new
    return assign, centroids


def hand(X, centroids, tol):
    centroids = centroids.clone()
    for _ in range(20):
        assign = ((X[:, None] - centroids) ** 2).sum(2).argmin(1)
        count = torch.bincount(assign, minlength=len(centroids)).unsqueeze(1)
        total = torch.zeros_like(centroids).index_add_(0, assign, X)
        new = torch.where(count > 0, total / count.clamp(min=1), centroids)
        if torch.norm(new - centroids) < tol:
            break
        centroids = new
    return assign, centroids


def inputs(size="small", seed=0):
    n, k = {"tiny": (6, 2), "small": (40, 3), "full": (300, 4)}[size]
    g = torch.Generator().manual_seed(seed)
    return torch.rand(n, 3, generator=g), torch.rand(k, 3, generator=g), 1e-4
