"""Applies one linear layer to many vectors, one by one."""

import argparse

import torch
from torch import nn


def linear_of_each(layer, vectors):
    outputs = []
    for vector in vectors:
        outputs.append(layer(vector))
    return torch.stack(outputs)


def linear_of_all(layer, vectors):
    return layer(vectors)


def make_layer_and_vectors(inputs=256, outputs=256, count=10_000):
    torch.manual_seed(0)
    return nn.Linear(inputs, outputs), torch.randn(count, inputs)


PAIRS = [(linear_of_each, linear_of_all, make_layer_and_vectors)]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("i", type=int, nargs="?", default=256, help="input width")
    parser.add_argument("o", type=int, nargs="?", default=256, help="output width")
    parser.add_argument("n", type=int, nargs="?", default=10_000, help="number of vectors")
    sizes = parser.parse_args()
    with torch.no_grad():
        outputs = linear_of_each(*make_layer_and_vectors(sizes.i, sizes.o, sizes.n))
    print(f"outputs {tuple(outputs.shape)}, their mean {float(outputs.mean()):.4f}")
