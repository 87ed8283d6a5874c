"""Gradients of gradients are the loop's, also where lanes that an 'if' leaves out hold singular points."""

from __future__ import annotations

import pytest
import torch

from looplift import lift


def length_under_if(x, q):
    energy = torch.zeros((), dtype=x.dtype)
    for i in range(x.shape[0]):
        for j in range(x.shape[0]):
            if i != j:
                energy = energy + q[i] * q[j] / (x[i] - x[j]).norm()
    return energy


def length_before_if(x, q):
    energy = torch.zeros((), dtype=x.dtype)
    for i in range(x.shape[0]):
        for j in range(x.shape[0]):
            r = torch.linalg.norm(x[i] - x[j])
            if i != j:
                energy = energy + q[i] * torch.exp(-r)
    return energy


def length_that_decides(x, q):
    energy = torch.zeros((), dtype=x.dtype)
    for i in range(x.shape[0]):
        for j in range(x.shape[0]):
            gap = x[i] - x[j]
            if gap.norm() > 0.7:
                energy = energy + q[j] * torch.exp(-gap.norm())
            else:
                energy = energy - gap.pow(2).sum()
    return energy


def length_of_products(x, q):
    energy = torch.zeros((), dtype=x.dtype)
    for i in range(x.shape[0]):
        for j in range(x.shape[0]):
            r = torch.norm((x[i] - x[j]) * q[i])
            if i != j:
                energy = energy + r**-2
    return energy


def root_before_if(x, q):
    energy = torch.zeros((), dtype=x.dtype)
    for i in range(x.shape[0]):
        for j in range(x.shape[0]):
            r = torch.sqrt(((x[i] - x[j]) ** 2).sum())
            if i != j:
                energy = energy + q[i] * q[j] / r
    return energy


FUNCTIONS = [length_under_if, length_before_if, length_that_decides, length_of_products, root_before_if]


@pytest.mark.parametrize("backend", ["auto", "torch"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_second_gradients(function, backend):
    x = torch.randn(4, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(3), requires_grad=True)
    q = torch.linspace(0.5, 1.5, 4, dtype=torch.float64, requires_grad=True)
    found = []
    for one in (function, lift(function, backend=backend, verify="off")):
        forces, charges = torch.autograd.grad(one(x, q), (x, q), create_graph=True)
        found.append(torch.autograd.grad(forces.pow(2).sum() + charges.sum(), (x, q)))
    for want, got in zip(*found):
        assert torch.allclose(got, want)


def angles_before_if(x, q):
    energy = torch.zeros((), dtype=x.dtype)
    for i in range(x.shape[0]):
        near = torch.cosine_similarity(x[i] - x[0], x[i], dim=0)
        if i > 0:
            energy = energy + q[i] * near
    return energy


def angles_under_if(x, q):
    energy = torch.zeros((), dtype=x.dtype)
    for i in range(x.shape[0]):
        if i != 1:
            energy = energy + q[i] * torch.cosine_similarity(x[i] - x[1], x[i], dim=0)
    return energy


def directions(x, q):
    energy = torch.zeros((), dtype=x.dtype)
    for i in range(x.shape[0]):
        direction = torch.nn.functional.normalize(x[i] - x[0], dim=0)
        if i > 0:
            energy = energy + q[i] * direction.sum()
    return energy


def waves(x, q):
    energy = torch.zeros((), dtype=x.dtype)
    for i in range(x.shape[0]):
        if i != 1:
            energy = energy + q[i] * torch.sinc(x[i] - x[1]).sum()
    return energy


def distances_before_if(x, q):
    energy = torch.zeros((), dtype=x.dtype)
    for i in range(x.shape[0]):
        far = torch.dist(x[i], x[0])
        if i > 0:
            energy = energy + q[i] / far
    return energy


def entropies(x, q):
    energy = torch.zeros((), dtype=x.dtype)
    for i in range(x.shape[0]):
        entropy = torch.special.entr((x[i] - x[0]).abs()).sum()
        if i > 0:
            energy = energy + q[i] * entropy
    return energy


@pytest.mark.parametrize("backend", ["auto", "torch"])
@pytest.mark.parametrize(
    "function", [angles_before_if, angles_under_if, directions, waves, distances_before_if, entropies]
)
def test_functions_through_vmap(function, backend):
    test_second_gradients(function, backend)
