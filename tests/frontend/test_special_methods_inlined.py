"""``ds[i]`` and ``len(ds)`` of objects whose classes say in Python what these are."""

import enum

import pytest
import torch
from torch.testing import assert_close

from looplift import lift


class Rows(torch.utils.data.Dataset):
    def __init__(self, count):
        self.x, self.y = torch.arange(count * 4.0).view(count, 4) / count, torch.arange(count) % 3

    def __len__(self):
        return self.x.shape[0]

    def __getitem__(self, k):
        return self.x[k], self.y[k]


class Named(Rows):
    def __getitem__(self, k):
        return {"x": self.x[k] / self.x[k].sum(), "y": self.y[k]}


class Windows:
    def __init__(self, x, width):
        self.x, self.width = x, width

    def __len__(self):
        return len(self.x) - self.width + 1

    def __getitem__(self, k):
        if k < 0 or k >= len(self):
            raise IndexError(f"no window {k}")
        return self.x[k : k + self.width]


class Counting(Rows):
    reads = 0

    def __getitem__(self, k):
        self.reads += 1
        return self.x[k]


class Table:
    def __init__(self, count):
        self.data = torch.arange(float(count * count)).view(count, count)

    def __getitem__(self, place):
        i, j = place
        return self.data[i, j]

    def __len__(self):
        return self.data.size(0)


def of_pairs(ds, model):
    out = []
    for k in range(len(ds)):
        x, y = ds[k]
        out.append(model(x).softmax(0)[y])
    return torch.stack(out)


def of_names(ds, model):
    out = []
    for k in range(len(ds)):
        sample = ds[k]
        out.append(model(sample["x"]))
    return torch.stack(out)


def highest(ds, count):
    out = torch.zeros(count)
    for k in range(count):
        out[k] = ds[k].max()
    return out


def all_windows(ds):
    out = []
    for k in range(len(ds)):
        out.append(ds[k].max())
    return out


def doubled(ds):
    out = []
    for k in range(len(ds)):
        out.append(ds[k] * 2)
    return torch.stack(out)


def symmetric(table):
    total = torch.zeros(())
    for i in range(len(table)):
        for j in range(len(table)):
            if table[i, j] > 3:
                total = total + table[i, j] * table[j, i]
    return total


class Kind(enum.Enum):
    FIRST = 2.0
    SECOND = 3.0


def of_members(names, xs):
    out = torch.zeros(len(xs))
    for k in range(len(xs)):
        out[k] = xs[k] * Kind[names].value * len(Kind)
    return out


def decisions(lifted):
    return {one.decision for one in lifted.report().loops}


@pytest.mark.parametrize("backend", ["auto", "torch"])
@pytest.mark.parametrize(("function", "made"), [(of_pairs, Rows), (of_names, Named)])
def test_samples_of_a_data_set_are_taken_together(function, made, backend):
    torch.manual_seed(0)
    lifted, model = lift(function, backend=backend), torch.nn.Linear(4, 3)
    for count in (5, 2, 9):
        assert_close(lifted(made(count), model), function(made(count), model))
    assert decisions(lifted) == {"lanes"}


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
def test_a_sample_that_is_not_there_raises_as_in_the_loop(backend):
    lifted, ds = lift(highest, backend=backend, verify="off"), Windows(torch.arange(9.0), 4)
    assert_close(lifted(ds, 6), highest(ds, 6))
    with pytest.raises(IndexError, match="no window 6"):
        lifted(ds, 7)
    assert_close(lifted(ds, 5), highest(ds, 5))


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
def test_a_negative_length_raises_as_len_does(backend):
    lifted = lift(all_windows, backend=backend, verify="off")
    assert_close(lifted(Windows(torch.arange(9.0), 4)), all_windows(Windows(torch.arange(9.0), 4)))
    with pytest.raises(ValueError, match="__len__"):
        lifted(Windows(torch.arange(2.0), 4))


@pytest.mark.parametrize("backend", ["auto", "torch"])
def test_what_a_sample_changes_is_changed(backend):
    lifted, ds = lift(doubled, backend=backend), Counting(4)
    assert_close(lifted(ds), ds.x * 2)
    assert ds.reads == 4
    assert_close(lifted(ds), ds.x * 2)
    assert ds.reads == 8
    assert Counting.reads == 0
    assert decisions(lifted) == {"lanes"}


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
def test_members_of_enumerations_are_not_inlined(backend):
    lifted = lift(of_members, backend=backend, verify="off")
    for name in ("FIRST", "SECOND"):
        assert_close(lifted(name, torch.arange(3.0)), of_members(name, torch.arange(3.0)))


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
def test_places_of_several_parts(backend):
    lifted = lift(symmetric, backend=backend, verify="off")
    for count in (3, 1, 4):
        assert_close(lifted(Table(count)), symmetric(Table(count)))
    assert "kept" not in decisions(lifted)
