"""A Gauss-Seidel sweep needs the values that it has just written: with torch alone it is kept."""

import torch

OPTIONS = {"backend": "torch"}


def sweep(grid):
    for i in range(1, grid.shape[0] - 1):
        for j in range(1, grid.shape[1] - 1):
            grid[i, j] = 0.25 * (grid[i - 1, j] + grid[i + 1, j] + grid[i, j - 1] + grid[i, j + 1])
    return grid


def arguments():
    return (torch.randn(5, 6, generator=torch.Generator().manual_seed(1)),)
