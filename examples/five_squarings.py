"""Squares a large vector five times in a row."""

import argparse

import torch


def square_five_times(x):
    for _ in range(5):
        x = x * x
    return x


def square_in_place(x):
    squares = x * x
    for _ in range(4):
        squares = squares * squares if squares.requires_grad else squares.mul_(squares)
    return squares


def make_vector(size=1_000_000):
    return (torch.rand(size, generator=torch.Generator().manual_seed(0)) + 0.5,)


PAIRS = [(square_five_times, square_in_place, make_vector)]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("size", type=int, nargs="?", default=1_000_000, help="elements of the vector")
    (x,) = make_vector(parser.parse_args().size)
    powers = square_five_times(x)
    print(f"{len(powers)} powers of 32, the first {powers[:3].tolist()}")
