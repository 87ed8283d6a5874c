"""Sums the products of all pairs of a vector's elements."""

import argparse

import torch


def sum_of_pairs(x):
    total = 0.0
    for i in range(len(x)):
        for j in range(len(x)):
            total = total + x[i] * x[j]
    return total


def sum_of_pairs_batched(x):
    return x.sum() ** 2


def make_vector(size=100):
    return (torch.rand(size, generator=torch.Generator().manual_seed(0)),)


PAIRS = [(sum_of_pairs, sum_of_pairs_batched, make_vector)]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("size", type=int, nargs="?", default=100, help="elements of the vector")
    (x,) = make_vector(parser.parse_args().size)
    print(f"sum over {len(x) ** 2} pairs: {float(sum_of_pairs(x)):.4f}")
