"""Takes the square root of a NumPy matrix row by row."""

import argparse

import numpy as np


def square_root_of_rows(x):
    roots = np.zeros_like(x)
    for i in range(x.shape[0]):
        roots[i] = np.sqrt(x[i])
    return roots


def square_root_of_all(x):
    return np.sqrt(x)


def make_matrix(rows=10_000, columns=100):
    return (np.random.default_rng(0).random((rows, columns)),)


PAIRS = [(square_root_of_rows, square_root_of_all, make_matrix)]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", type=int, nargs="?", default=10_000, help="rows of the matrix")
    parser.add_argument("columns", type=int, nargs="?", default=100, help="columns of the matrix")
    sizes = parser.parse_args()
    roots = square_root_of_rows(*make_matrix(sizes.rows, sizes.columns))
    print(f"roots {roots.shape}, their mean {roots.mean():.4f}")
