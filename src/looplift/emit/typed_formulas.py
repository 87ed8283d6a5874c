"""Operations of rows and small matrices in, functions of simpler ones that a typed program calls for them out.

Each is the formula of torch's documentation. Where torch warns, raises, or has a slope of its own, an assertion fails
and the loop runs.
"""

from __future__ import annotations

import heapq

import torch


def outer(x, y):
    return x.unsqueeze(1) * y.unsqueeze(0)


def addcmul(x, y, z, value):
    return x + value * (y * z)


def addcmul_by_one(x, y, z):
    return x + y * z


def addcdiv(x, y, z, value):
    return x + value * (y / z)


def addcdiv_by_one(x, y, z):
    return x + y / z


def lerp(x, end, weight):
    if abs(weight) < 0.5:
        return x + weight * (end - x)
    return end - (end - x) * (1 - weight)


def normalize(x, eps):
    size = x.norm()
    assert size > eps and size - size == 0
    return x / size


def layer_norm(x, size, eps):
    assert len(x) == size
    away = x - x.mean()
    spread = (away * away).mean()
    assert spread - spread == 0
    return away / torch.sqrt(spread + eps)


def var(x, correction):
    assert len(x) > correction
    away = x - x.mean()
    total = (away * away).sum()
    assert total - total == 0
    return total / (len(x) - correction)


def std(x, correction):
    found = var(x, correction)
    assert found > 0
    return torch.sqrt(found)


def cumsum(x):
    assert len(x) > 0
    total, found = x[0], [x[0]]
    for k in range(1, len(x)):
        total = total + x[k]
        found.append(total)
    return torch.stack(found)


def cumsum_of_singles(x):
    """As torch has it, by a sum of 64 bits."""
    assert len(x) > 0
    total, found = x[0].double(), [x[0]]
    for k in range(1, len(x)):
        total = total + x[k].double()
        found.append(total.float())
    return torch.stack(found)


def cumprod(x):
    assert len(x) > 0
    total, found = x[0], [x[0]]
    for k in range(1, len(x)):
        total = total * x[k]
        found.append(total)
    return torch.stack(found)


def diff(x):
    assert len(x) > 1
    return x[1:] - x[:-1]


def finite(x):
    total = x.sum()
    assert total - total == 0
    return x


def flip(x):
    assert len(x) > 0
    return torch.stack([x[len(x) - 1 - k] for k in range(len(x))])


def roll(x, shifts):
    assert len(x) > 0
    return torch.stack([x[(k - shifts) % len(x)] for k in range(len(x))])


def repeat(x, times):
    assert len(x) > 0 and times > 0
    return torch.cat([x for _ in range(times)])


def repeat_interleave(x, times):
    assert len(x) > 0 and times > 0
    return torch.stack([x[k // times] for k in range(len(x) * times)])


def count_nonzero(x):
    return (x != 0).sum()


def unique(x):
    assert len(x) > 0
    return torch.tensor(sorted(set(x.tolist())))


def bincount(x, least):
    values = x.tolist()
    assert len(values) > 0 and min(values) >= 0 and least >= 0
    found = torch.zeros(max(max(values) + 1, least), dtype=torch.int64)
    for value in values:
        found[value] += 1
    return found


def arange(start, stop, step):
    assert step > 0
    found = torch.zeros(max(0, (stop - start + step - 1) // step), dtype=torch.int64)
    for k in range(len(found)):
        found[k] = start + k * step
    return found


def one_hot(place, count):
    assert 0 <= place < count
    found = torch.zeros(count, dtype=torch.int64)
    found[int(place)] = 1
    return found


def masked_select(x, mask):
    assert len(x) == len(mask)
    found = [x[k] for k in range(len(x)) if mask[k]]
    assert len(found) > 0
    return torch.stack(found)


def taken(x, places):
    assert len(places) > 0
    return torch.stack([x[int(k)] for k in places])


def taken_from_start(x, places):
    assert len(places) > 0
    for k in places:
        assert int(k) >= 0
    return torch.stack([x[int(k)] for k in places])


class _PlacesIn:
    """The places of a row's elements in order, or of its largest or smallest ones, as PyTorch itself finds them.

    It is called by programs alone, which have it in C++."""

    def __call__(self, x, count, down, stable):
        raise NotImplementedError


places_in = _PlacesIn()


def sorted_row(x, descending, stable):
    """The elements in order, and their places; of equal ones PyTorch may choose any order, unless it is told not to."""
    assert len(x) > 0
    values = x.tolist()
    is_known = True
    for value in values:
        is_known = is_known and value == value
    places = sorted(range(len(values)), key=lambda place: values[place], reverse=descending) if is_known else []
    for k in range(1, len(places)):
        is_known = is_known and (stable or values[places[k]] != values[places[k - 1]])
    if not is_known:
        places = places_in(x, -1, descending, stable)
    return torch.stack([x[place] for place in places]), torch.tensor(places)


def top_of_row(x, count, largest):
    """The largest or smallest elements, and their places, of which PyTorch chooses where others are equal to them."""
    assert 0 < count <= len(x)
    values = x.tolist()
    sign = 1 if largest else -1
    heap = []
    is_known = True
    for place in range(len(values)):
        value = sign * values[place]
        is_known = is_known and value == value
        if len(heap) < count:
            heapq.heappush(heap, (value, place))
        elif value > heap[0][0]:
            heapq.heapreplace(heap, (value, place))
    found = sorted(heap, reverse=True)
    for k in range(1, count):
        is_known = is_known and found[k][0] != found[k - 1][0]
    last = 0
    for value in values:
        last += sign * value == found[count - 1][0]
    places = [place for _, place in found] if is_known and last == 1 else places_in(x, count, largest, False)
    return torch.stack([x[place] for place in places]), torch.tensor(places)
