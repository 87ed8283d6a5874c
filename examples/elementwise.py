"""Goes through the elements of tensors: an addition, a Python function of each, a condition on each."""

import argparse

import torch


def add_matrices(a, b):
    total = torch.zeros(a.shape[0], a.shape[1])
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            total[i, j] = a[i, j] + b[i, j]
    return total


def add_matrices_batched(a, b):
    return a + b


def wave(value):
    damping = 1.0 + torch.exp(-value)
    return 3.0 * value**2 - torch.sin(value) / damping


def apply_wave(x):
    out = torch.zeros(x.shape)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            for k in range(x.shape[2]):
                out[i, j, k] = wave(x[i, j, k])
    return out


def apply_to_each(function, x):
    out = torch.zeros(x.shape)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            for k in range(x.shape[2]):
                out[i, j, k] = function(x[i, j, k])
    return out


def apply_to_all(function, x):
    return function(x)


def double_or_shrink(x):
    out = torch.zeros_like(x)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            if x[i, j] > 0:
                out[i, j] = x[i, j] * 2
            else:
                out[i, j] = x[i, j] / 10
    return out


def double_or_shrink_batched(x):
    return torch.where(x > 0, x * 2, x / 10)


def make_matrix(rows=1000, columns=1000, seed=0):
    return (torch.randn(rows, columns, generator=torch.Generator().manual_seed(seed)),)


def make_matrices(rows=1000, columns=1000):
    return make_matrix(rows, columns, seed=0) + make_matrix(rows, columns, seed=1)


def make_volume(depth=10, rows=50, columns=50):
    return (torch.randn(depth, rows, columns, generator=torch.Generator().manual_seed(0)),)


def make_function_and_volume(depth=10, rows=50, columns=50):
    return wave, *make_volume(depth, rows, columns)


PAIRS = [
    (add_matrices, add_matrices_batched, make_matrices),
    (apply_wave, wave, make_volume),
    (apply_to_each, apply_to_all, make_function_and_volume),
    (double_or_shrink, double_or_shrink_batched, make_matrix),
]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", type=int, nargs="?", default=200, help="rows of the matrices (1000 takes a minute)")
    parser.add_argument("columns", type=int, nargs="?", default=200, help="columns of the matrices")
    parser.add_argument("depth", type=int, nargs="?", default=10, help="the volume is depth x 50 x 50")
    sizes = parser.parse_args()
    total = add_matrices(*make_matrices(sizes.rows, sizes.columns))
    print(f"added {tuple(total.shape)}, mean {float(total.mean()):.4f}")
    waves = apply_to_each(wave, *make_volume(sizes.depth))
    print(f"function of each of {tuple(waves.shape)}, mean {float(waves.mean()):.4f}")
    chosen = double_or_shrink(*make_matrix(sizes.rows, sizes.columns))
    print(f"condition on each of {tuple(chosen.shape)}, mean {float(chosen.mean()):.4f}")
