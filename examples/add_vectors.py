"""Adds two vectors element by element."""

import argparse

import torch


def add_vectors(a, b):
    total = torch.zeros(len(a))
    for i in range(len(a)):
        total[i] = a[i] + b[i]
    return total


def add_vectors_batched(a, b):
    return a + b


def make_vectors(size=10_000):
    generator = torch.Generator().manual_seed(0)
    return torch.randn(size, generator=generator), torch.randn(size, generator=generator)


PAIRS = [(add_vectors, add_vectors_batched, make_vectors)]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("size", type=int, nargs="?", default=10_000, help="elements of each vector")
    a, b = make_vectors(parser.parse_args().size)
    total = add_vectors(a, b)
    print(f"{len(total)} sums, the first {total[:3].tolist()}")
