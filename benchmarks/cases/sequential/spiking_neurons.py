"""Leaky integrate-and-fire neurons: potentials after each step and the last one, reset by the threshold when it is passed.

Source: Gerstner and Kistler, Spiking Neuron Models; as in introductions to spiking networks
Tags: sequential, conditional, append, nested
Grad: yes
Hand: loop over time steps
"""
import torch


def slow(currents, decay, threshold):
    trains = []
    for n in range(currents.shape[0]):
        v = torch.zeros((), dtype=currents.dtype)
        potentials = []
        for t in range(currents.shape[1]):
            v = decay * v + currents[n, t]
            if v > threshold:
                v = v - threshold
            potentials.append(v)
        trains.append(torch.stack(potentials))
    return torch.stack(trains)


def hand(currents, decay, threshold):
    v = torch.zeros(currents.shape[0], dtype=currents.dtype)
    potentials = []
    for current in currents.unbind(1):
        v = decay * v + current
        v = torch.where(v > threshold, v - threshold, v)
        potentials.append(v)
    return torch.stack(potentials, 1)


def inputs(size="small", seed=0):
    n, t = {"tiny": (3, 4), "small": (6, 200), "full": (40, 1000)}[size]
    g = torch.Generator().manual_seed(seed)
    return torch.rand(n, t, generator=g, dtype=torch.float64), torch.tensor(0.9, dtype=torch.float64), 1.0
