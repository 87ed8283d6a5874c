"""Tuples of a few integers of the caller, by which a flat row is cut and viewed, are constants of a variant."""

import pytest
import torch

import looplift

BACKENDS = ["auto", "torch", "native"]


def sums_of_parts(flats, shapes):
    out = []
    for flat in flats:
        k, total = 0, 0
        for shape in shapes:
            n = 1
            for size in shape:
                n *= size
            total = total + flat[k : k + n].view(shape).pow(2).sum(0).max()
            k += n
        out.append(total)
    return torch.stack(out)


def fields(flats, shapes, points):
    found = []
    for flat, own in zip(flats, points, strict=True):
        parts, k = [], 0
        for shape in shapes:
            n = 1
            for size in shape:
                n *= size
            parts.append(flat[k : k + n].view(shape))
            k += n
        weight, bias = parts
        values = []
        for point in own:
            values.append(torch.tanh(weight @ point + bias))
        found.append(torch.stack(values))
    return found


def windows(image, offsets):
    out = torch.zeros(image.shape[0] - 2)
    for i in range(len(out)):
        for low, high in offsets:
            out[i] += image[i + low : i + high].view(high - low, 1).sum()
    return out


class Head:
    def __init__(self, shapes):
        self.shapes = shapes

    def split(self, flat):
        parts, k = [], 0
        for shape in self.shapes:
            n = 1
            for size in shape:
                n *= size
            parts.append(flat[k : k + n].reshape(shape))
            k += n
        return parts


def by_an_object(head, flats):
    out = []
    for flat in flats:
        first, second = head.split(flat)
        out.append((first @ second).sum())
    return torch.stack(out)


def outcome(function, arguments):
    try:
        result = function(*arguments)
    except Exception as error:  # part of what is compared
        return type(error), str(error)
    return [result] if isinstance(result, torch.Tensor) else result


def compare(function, lifted, make):
    expected, came = outcome(function, make()), outcome(lifted, make())
    if isinstance(expected, tuple):
        assert came == expected
        return
    for one, other in zip(expected, came, strict=True):
        assert one.dtype == other.dtype
        torch.testing.assert_close(other, one)


@pytest.mark.parametrize("backend", BACKENDS)
def test_other_sizes_in_later_calls(backend):
    lifted = looplift.lift(sums_of_parts, backend=backend, verify="off")
    flats = torch.randn(5, 12)
    for shapes in (
        [(2, 4), (4,)],
        [(2, 4), (4,)],
        [(4, 2), (2, 2)],
        [(12,)],
        [(3, 2, 2)],
        [(2, 4)],
        [(2, 7)],
        [(-1, 2)],
    ):
        compare(sums_of_parts, lifted, lambda shapes=shapes: (flats, list(shapes)))
    compare(sums_of_parts, lifted, lambda: (flats, [(True, 4), (2, 2)]))
    compare(sums_of_parts, lifted, lambda: (flats, ((2, 4), (4,))))
    compare(sums_of_parts, lifted, lambda: (flats, [[2, 4], [4]]))


@pytest.mark.parametrize("backend", BACKENDS)
def test_sizes_that_a_list_gets_in_place(backend):
    lifted = looplift.lift(sums_of_parts, backend=backend, verify="off")
    flats, shapes = torch.randn(4, 12), [(2, 4), (4,)]
    compare(sums_of_parts, lifted, lambda: (flats, shapes))
    shapes[1] = (2, 2)
    compare(sums_of_parts, lifted, lambda: (flats, shapes))
    shapes.append((0, 3))
    compare(sums_of_parts, lifted, lambda: (flats, shapes))
    del shapes[0]
    compare(sums_of_parts, lifted, lambda: (flats, shapes))


@pytest.mark.parametrize("backend", ["auto", "torch"])
def test_weights_of_each_sample_are_lanes(backend):
    lifted = looplift.lift(fields, backend=backend, verify="off")
    points = [torch.randn(n, 2) for n in (3, 1, 4)]
    compare(
        fields, lifted, lambda: (torch.randn(3, 12, generator=torch.Generator().manual_seed(1)), [(4, 2), (4,)], points)
    )
    assert lifted.report().loops[0].decision != "kept"


@pytest.mark.parametrize("backend", BACKENDS)
def test_gradients(backend):
    lifted = looplift.lift(fields, backend=backend, verify="off")
    points = [torch.randn(n, 2) for n in (3, 1, 4)]
    found = []
    for function in (fields, lifted):
        flats = torch.linspace(-1, 1, 36).view(3, 12).requires_grad_()
        result = function(flats, [(4, 2), (4,)], points)
        found.append(torch.autograd.grad(sum((one**2).sum() for one in result), flats)[0])
    torch.testing.assert_close(found[1], found[0])


@pytest.mark.parametrize("backend", BACKENDS)
def test_pairs_of_offsets(backend):
    lifted = looplift.lift(windows, backend=backend, verify="off")
    image = torch.randn(9)
    for offsets in ([(0, 2), (1, 3)], [(0, 1), (0, 3), (2, 3)], [(1, 1)], [(2, 1)]):
        compare(windows, lifted, lambda offsets=offsets: (image, offsets))


@pytest.mark.parametrize("backend", BACKENDS)
def test_sizes_of_an_object(backend):
    lifted = looplift.lift(by_an_object, backend=backend, verify="off")
    head, flats = Head([(2, 3), (3, 2)]), torch.randn(4, 12)
    compare(by_an_object, lifted, lambda: (head, flats))
    head.shapes = [(1, 6), (6, 1)]
    compare(by_an_object, lifted, lambda: (head, flats))
    head.shapes[0] = (2, 6)
    compare(by_an_object, lifted, lambda: (head, flats))
