"""Loops over tensors of a device, some of which make tensors on the CPU, as people write them."""

import torch


def numbers(seed, *shape):
    return torch.randn(*shape, generator=torch.Generator("cpu").manual_seed(seed), device="cpu")


def places(seed, count, size):
    made = torch.Generator("cpu").manual_seed(seed)
    return torch.randint(0, max(size, 1), (count if size else 0,), generator=made, device="cpu")


def sizes(seed):
    return ((0, 1), (1, 2), (2, 3), (7, 5))[seed % 4]


def vector(seed):
    return (numbers(seed, sizes(seed)[0]),)


def matrix(seed):
    return (numbers(seed, *sizes(seed)),)


def vector_and_places(seed):
    return numbers(seed, sizes(seed)[0]), places(seed, 9, sizes(seed)[0])


def of(arguments):
    def decorate(function):
        function.arguments = arguments
        return function

    return decorate


@of(vector)
def into_new_tensor(x):
    out = torch.zeros(x.shape[0])
    for i in range(x.shape[0]):
        out[i] = 2 * x[i] + 1
    return out


@of(matrix)
def into_corners_of_new_tensor(x):
    out = torch.zeros(x.shape[0] + 1, x.shape[1])
    for i in range(x.shape[0]):
        for j in range(i, x.shape[1]):
            out[i, j] = x[i, j] * x[i, 0]
    return out


@of(vector)
def numbers_into_new_tensor(x):
    out = torch.zeros(x.shape[0])
    for i in range(x.shape[0]):
        out[i] = x[i].item() * 2
    return out


@of(vector)
def list_of_numbers(x):
    found = []
    for i in range(x.shape[0]):
        found.append(float(x[i]) * 2)
    return torch.tensor(found)


@of(vector)
def total_from_zero(x):
    total = torch.zeros(())
    for i in range(x.shape[0]):
        total = total + x[i] ** 2
    return total


@of(matrix)
def totals_of_rows(x):
    out = torch.zeros(x.shape[0], device=x.device)
    for i in range(x.shape[0]):
        total = torch.tensor(0.0)
        for j in range(x.shape[1]):
            total = total + x[i, j]
        out[i] = total
    return out


@of(vector)
def by_iteration_elsewhere(x):
    found = []
    for i in range(x.shape[0]):
        if x[i] > 0:
            value = x[i] * 2
        else:
            value = torch.zeros(())
        found.append(value)
    return torch.stack(found)


@of(matrix)
def ragged_totals(x):
    found = []
    for i in range(x.shape[0]):
        total = torch.zeros(())
        for j in range(i):
            total = total + x[j, 0]
        found.append(total)
    return found


@of(vector)
def handed_to_the_cpu(x):
    out = []
    for i in range(x.shape[0]):
        out.append((x[i] * 2).cpu())
    return out


@of(vector_and_places)
def gathered(x, index):
    out = torch.zeros(index.shape[0], device=x.device)
    for i in range(index.shape[0]):
        out[i] = x[index[i]] * 2
    return out


@of(lambda seed: (vector_and_places(seed)[0], vector_and_places(seed)[1] + 1))
def gathered_too_far(x, index):
    out = torch.zeros(index.shape[0], device=x.device)
    for i in range(index.shape[0]):
        out[i] = x[index[i]] * 2
    return out


@of(vector_and_places)
def scattered(x, index):
    out = torch.zeros_like(x)
    for i in range(index.shape[0]):
        out[index[i]] += x[index[i] - 1]
    return out


@of(vector_and_places)
def scattered_too_far(x, index):
    out = x.new_zeros(max(x.shape[0] - 1, 0))
    for i in range(index.shape[0]):
        out[index[i]] = x[index[i]]
    return out


@of(lambda seed: (*matrix(seed), [[int(k) for k in places(seed + i, i % 4, sizes(seed)[0])] for i in range(6)]))
def neighbours(x, around):
    found = []
    for members in around:
        total = torch.zeros(x.shape[1], device=x.device)
        for j in members:
            total = total + x[j]
        if len(members) > 0:
            total = total / len(members)
        found.append(total)
    return torch.stack(found)


@of(lambda seed: (*vector(seed), [1, 0, 7]))
def neighbours_too_far(x, around):
    out = torch.zeros(len(around), device=x.device)
    for i in range(len(around)):
        out[i] = x[around[i]]
    return out


@of(lambda seed: ([numbers(seed + i, i % 3 + 1) for i in range(sizes(seed)[0] + 1)],))
def rows_of_a_list(rows):
    found = []
    for row in rows:
        found.append(row.max() - row.mean())
    return torch.stack(found)


@of(lambda seed: (*matrix(seed), numbers(seed + 1, sizes(seed)[1])))
def scan(x, decay):
    h = torch.zeros(x.shape[1], device=x.device)
    out = []
    for t in range(x.shape[0]):
        h = 0.5 * h + x[t] * decay
        out.append(h)
    return torch.stack(out)


@of(matrix)
def halves_until_small(x):
    out = torch.zeros(x.shape[0], device=x.device)
    for i in range(x.shape[0]):
        value, steps = x[i].abs().sum(), 0
        while value > 0.5:
            value = value / 2
            steps += 1
        out[i] = steps
    return out


@of(matrix)
def first_above(x):
    out = torch.full((x.shape[0],), -1, device=x.device)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            if x[i, j] > 0.3:
                out[i] = j
                break
    return out


@of(lambda seed: (torch.nn.Linear(3, 2), numbers(seed, sizes(seed)[0], 3)))
def rows_through_a_layer(layer, x):
    out = []
    for row in x:
        out.append(layer(row).relu())
    return torch.stack(out)


@of(lambda seed: (numbers(seed, sizes(seed)[0], 2), numbers(seed + 1, 4, 2)))
def nearest(points, centres):
    labels = torch.zeros(points.shape[0], dtype=torch.long)
    for i in range(points.shape[0]):
        best, label = float("inf"), -1
        for k in range(centres.shape[0]):
            distance = ((points[i] - centres[k]) ** 2).sum()
            if distance < best:
                best, label = distance, k
        labels[i] = label
    return labels


@of(vector)
def drawn(x):
    out = torch.zeros_like(x)
    for i in range(x.shape[0]):
        out[i] = x[i] + torch.rand((), device=x.device)
    return out


PROGRAMS = (
    into_new_tensor, into_corners_of_new_tensor, numbers_into_new_tensor, list_of_numbers, total_from_zero,
    totals_of_rows, by_iteration_elsewhere, ragged_totals, handed_to_the_cpu, gathered, scattered, neighbours,
    rows_of_a_list, scan, halves_until_small, first_above, rows_through_a_layer, nearest, drawn,
)  # fmt: skip
TOO_FAR = (gathered_too_far, scattered_too_far, neighbours_too_far)
