"""Gathers elements by an index, and adds elements to where an index sends them."""

import argparse

import torch


def gather(x, index):
    out = torch.zeros(len(index))
    for k in range(len(index)):
        out[k] = x[index[k]]
    return out


def gather_batched(x, index):
    return x[index]


def scatter(x, index, size):
    out = torch.zeros(size)
    for k in range(len(index)):
        out[index[k]] += x[k]
    return out


def scatter_batched(x, index, size):
    return torch.zeros(size).index_add(0, index, x)


def make_index(count, size, generator):
    return (torch.rand(count, generator=generator) * size).long()


def make_gather(count=10_000, size=1_000):
    generator = torch.Generator().manual_seed(0)
    return torch.randn(size, generator=generator), make_index(count, size, generator)


def make_scatter(count=10_000, size=1_000):
    generator = torch.Generator().manual_seed(0)
    return torch.randn(count, generator=generator), make_index(count, size, generator), size


PAIRS = [(gather, gather_batched, make_gather), (scatter, scatter_batched, make_scatter)]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int, nargs="?", default=10_000, help="entries of the index")
    parser.add_argument("size", type=int, nargs="?", default=1_000, help="elements that the index chooses from")
    sizes = parser.parse_args()
    gathered = gather(*make_gather(sizes.count, sizes.size))
    print(f"gathered {len(gathered)}, sum {float(gathered.sum()):.4f}")
    scattered = scatter(*make_scatter(sizes.count, sizes.size))
    print(f"scattered into {len(scattered)}, sum {float(scattered.sum()):.4f}")
