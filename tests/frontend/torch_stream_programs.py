"""Loops that draw single numbers of PyTorch's at random, under conditions, in any order and number."""

import random

import numpy as np
import torch


def walks(n, generator):
    steps = 0
    for _ in range(n):
        x = 0
        while -4 < x < 4 and steps < 1000:
            x += 1 if torch.rand(1).item() < 0.4 else -1
            steps += 1
    return steps


def a_chain(n, generator):
    x, taken, chain = 0.0, 0, []
    for _ in range(n):
        y = x + torch.randn(1, generator=generator, dtype=torch.float64).item()
        if torch.rand((), generator=generator).item() < np.exp(-0.5 * (y * y - x * x)):
            x = y
            taken += 1
        chain.append(x)
    return chain, taken


def bandit(n, generator, share=0.2):
    counts, means = [0] * 5, [0.0] * 5
    for _ in range(n):
        if torch.rand(1) < share:
            arm = torch.randint(5, (1,)).item()
        else:
            arm = max(range(5), key=means.__getitem__)
        counts[arm] += 1
        means[arm] += (float(torch.randn(())) - means[arm]) / counts[arm]
    return counts, means


def conditions(n, generator):
    total = 0
    for _ in range(n):
        if not (torch.rand(()) > 0.25 and torch.rand(1) <= 0.1):
            total += int(torch.randint(0, 7, (1,))) * (2 if torch.rand(1, dtype=torch.float64) >= 0.5 else 1)
    return total


def weather(n, generator):
    state, seen = "calm", {}
    for _ in range(n):
        u = torch.rand(1, generator=generator).item()
        if state == "calm":
            state = "storm" if u < 0.3 else "calm"
        elif u < 0.5:
            state = "calm"
        seen[state] = seen.get(state, 0) + 1
    return seen


def beside_tensors(n, generator):
    places, left = torch.zeros(n, dtype=torch.long), {}
    for i in range(n):
        x = 0
        while torch.rand(1, generator=generator).item() < 0.8:
            x += torch.randint(-2, 3, (1,), generator=generator).item()
        places[i] = x
        left[x % 3] = left.get(x % 3, 0) + 1
    return places, left


def of_all_libraries(n, generator):
    total = 0.0
    for _ in range(n):
        if np.random.rand() < 0.5:
            total += torch.rand(1).item() * random.random()
    return total


def of_rows(n, generator):
    x = torch.zeros(n, 3)
    for i in range(n):
        for j in range(3):
            if torch.rand(1).item() < 0.5:
                x[i, j] = torch.randn(1).item()
    return x


def coin(share):
    return torch.rand(1).item() < share


def coins(n, generator):
    heads = 0
    for _ in range(n):
        if coin(0.3) or coin(0.2):
            heads += 1
    return heads


PROGRAMS = (a_chain, conditions, weather, beside_tensors, of_all_libraries, of_rows, coins)


def beside_other_draws(n, generator):
    total, noise = torch.rand(1).item(), torch.rand(3)
    for _ in range(n):
        if torch.rand(1).item() < 0.5:
            total += torch.rand(3).sum().item()
    return total, noise


def seeds_anew(n, generator):
    found = []
    for i in range(n):
        torch.manual_seed(i)
        if torch.rand(1).item() < 0.5:
            found.append(torch.rand(1).item())
    return found


def dropped(n, generator):
    layer, total = torch.nn.Dropout(0.5), 0.0
    for _ in range(n):
        if torch.rand(1).item() < 0.5:
            total += layer(torch.ones(3)).sum().item()
    return total


def empty_ranges(n, generator):
    total = 0
    for i in range(n):
        if torch.rand(1).item() < 0.9:
            total += torch.randint(0, 20 - i, (1,)).item()
    return total


def below_tensors(n, generator, limits=torch.tensor([5, 3, 9])):
    found = []
    for i in range(n):
        if torch.rand(1).item() < 0.9:
            found.append(torch.randint(0, limits[i % 3], (1,)).item())
    return found


def below_floats(n, generator, limit=5.5):
    found = []
    for _ in range(n):
        if torch.rand(1).item() < 0.9:
            found.append(torch.randint(0, limit, (1,)).item())
    return found


def of_wide_ranges(n, generator):
    total = 0
    for _ in range(n):
        total += torch.randint(0, 2**28 - 1, (1,)).item() % 3
        while torch.randint(0, 2**30, (1,)).item() % 3 == 1:
            total += torch.randint(2**28, (1,)).item()
    return total


def of_tensors(n, generator):
    total = torch.zeros(())
    for _ in range(n):
        x = torch.rand(1)
        if x < 0.5:
            total = total + x.sum() * torch.rand(())
    return total


OTHERS = (
    walks,
    bandit,
    beside_other_draws,
    seeds_anew,
    dropped,
    empty_ranges,
    of_tensors,
    below_tensors,
    below_floats,
    of_wide_ranges,
)
