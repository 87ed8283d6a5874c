"""What ``+=`` changes in place is stored back, also where the value that is added put something else there."""

import collections

import pytest
import torch
from strictly import same


def renew(rows, place):
    rows[place] = [9]
    return [place, 1]


def items(rows):
    sizes = []
    for k in range(4):
        rows[k % len(rows)] += renew(rows, k % len(rows))
        rows[-1] += renew(rows, len(rows) - 1) + [k]
        sizes.append([len(row) for row in rows])
    return sizes


def keys(rows):
    table = {k: row for k, row in enumerate(rows)}
    for k in range(2):
        table[k] += renew(table, k)
    return table, rows


def names(xs):
    ys, sizes = [1], []

    def fresh(k):
        nonlocal ys
        ys = [7]
        return [k]

    for x in xs:
        ys += fresh(x)
        sizes.append(len(ys))
    return sizes, ys


def taken_in_time(xs):
    sizes = []
    for x in xs:
        ys = [x]
        zs = ys
        ys += (ys := [x, x])
        sizes.append((len(ys), len(zs)))
    return sizes


class Holder:
    def __init__(self, rows):
        self.rows, self.items, self.n = rows, [1], 0

    @property
    def reset(self):
        self.items = [5]
        return [2]

    def __getitem__(self, place):
        self.rows[place] = [0]
        self.items = [4, 4]
        return [place, place]

    def __add__(self, other):
        self.items = [3]
        return [self.n] + other


def attributes(rows):
    holder, sizes = Holder(rows), []
    for k in range(3):
        holder.items += holder.reset
        sizes.append(len(holder.items))
        holder.items += holder[0]
        sizes.append(len(holder.items))
        holder.items += holder + [k]
        sizes.append(len(holder.items))
        rows[0] += holder[0]
        sizes.append(len(rows[0]))
    return sizes, holder.items, rows


def by_factories(rows):
    table = collections.defaultdict(lambda: renew(rows, 0))
    for k in range(3):
        rows[0] += table[k]
    return rows


def as_before(rows):
    table, sizes = {}, []
    for k in range(3):
        for row in rows:
            row += [k]
            table[k] = [0]
            table[k] += row
            sizes.append(len(table[k]))
    return sizes


def renewed(xs):
    xs[0] = xs[0] * 2
    return xs[1]


def tensors(xs):
    out = []
    for k in range(3):
        xs[0] += renewed(xs) * (k + 1)
        out.append(xs[0] * 1.0)
    return torch.stack(out)


ROWS = [([[1, 2], [3]],), ([[5], [], [4, 4]],)]


@pytest.mark.parametrize("function", [items, keys, attributes, by_factories])
def test_lists_in_containers_and_objects(function):
    same(function, *ROWS)


@pytest.mark.parametrize("function", [names, taken_in_time])
def test_lists_of_names(function):
    same(function, ([1, 2, 3],), ([4],))


def test_lists_that_stay_where_they_are_are_changed_by_compiled_code():
    same(as_before, *ROWS, decisions={"native"})


def test_tensors_in_lists():
    same(tensors, ([torch.tensor([1.0, 2.0]), torch.tensor([0.5, -1.0])],))
    same(tensors, ([torch.tensor(1.5), torch.tensor(2.0)],))
