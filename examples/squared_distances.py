"""Computes the squared distance between every two points of two sets."""

import argparse

import torch


def squared_distances(a, b):
    distances = torch.zeros(a.shape[0], b.shape[0])
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            distances[i, j] = torch.sum((a[i, :] - b[j, :]) ** 2)
    return distances


def squared_distances_batched(a, b):
    return ((a[:, None, :] - b[None, :, :]) ** 2).sum(-1)


def make_points(first=100, second=200, dimensions=10):
    generator = torch.Generator().manual_seed(0)
    return torch.randn(first, dimensions, generator=generator), torch.randn(second, dimensions, generator=generator)


PAIRS = [(squared_distances, squared_distances_batched, make_points)]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("first", type=int, nargs="?", default=100, help="points of the first set")
    parser.add_argument("second", type=int, nargs="?", default=200, help="points of the second set")
    parser.add_argument("dimensions", type=int, nargs="?", default=10, help="coordinates of a point")
    sizes = parser.parse_args()
    distances = squared_distances(*make_points(sizes.first, sizes.second, sizes.dimensions))
    print(f"distances {tuple(distances.shape)}, their mean {float(distances.mean()):.4f}")
