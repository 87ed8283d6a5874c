"""Elements at places of several dimensions, and of each row: values and gradients of the loop, also second ones."""

from typing import Any

import pytest
import torch

from looplift import lift


def warped(image, rows, columns):
    out = torch.zeros(image.shape[0], *rows.shape, dtype=image.dtype)
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            out[:, i, j] = image[:, rows[i, j], columns[i, j]] * 2
    return out


def warped_inside(image, rows, columns):
    out = torch.zeros(image.shape[0], *rows.shape, dtype=image.dtype)
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            if 0 <= columns[i, j] < image.shape[2]:
                out[:, i, j] = image[:, rows[i, j], columns[i, j]] ** 2
    return out


def one_of_each_row(image, rows, columns):
    picked = []
    for i in range(image.shape[1]):
        picked.append(image[0, i, columns[i, 0]])
    return torch.stack(picked)


def gradients(function, image, rows, columns):
    image = image.detach().clone(memory_format=torch.preserve_format).requires_grad_()
    result = function(image, rows, columns)
    (first,) = torch.autograd.grad((result**3).sum(), image, create_graph=True)
    (second,) = torch.autograd.grad((first**2).sum(), image)
    return result.detach(), first.detach(), second


IMAGES = {
    "contiguous": lambda image: image,
    "permuted": lambda image: image.permute(2, 1, 0).contiguous().permute(2, 1, 0),
}


@pytest.mark.parametrize("arrange", IMAGES.values(), ids=IMAGES)
@pytest.mark.parametrize("dtype", [torch.int64, torch.int32])
@pytest.mark.parametrize("function", [warped, warped_inside, one_of_each_row])
def test_gradients_are_the_loops(function, dtype, arrange):
    image = arrange(torch.randn(2, 3, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0)))
    lifted = lift(function, verify="off")
    rows = torch.tensor([[0, 1], [2, 2], [0, 0]], dtype=dtype)
    for columns in ([[3, 0], [1, 1], [2, 2]], [[-1, 0], [-4, 1], [2, -2]]):
        given = image, rows, torch.tensor(columns, dtype=dtype)
        torch.testing.assert_close(gradients(lifted, *given), gradients(function, *given))


def test_values_may_change_before_the_backward_pass():
    lifted = lift(one_of_each_row, verify="off")
    image = torch.randn(1, 3, 4, requires_grad=True)
    held = image * 1
    picked = lifted(held, None, torch.tensor([[0], [3], [1]]))
    held.mul_(2)
    (found,) = torch.autograd.grad(picked.sum(), image)
    assert found.sum() == 3


def test_places_outside_are_the_loops_error():
    lifted = lift(warped, verify="off")
    image = torch.randn(1, 3, 4, requires_grad=True)
    with pytest.raises(IndexError, match="out of bounds"):
        lifted(image, torch.tensor([[0, 3]]), torch.tensor([[0, 1]]))


def of_lists(image, places):
    totals = []
    for i in range(len(places)):
        total = 0.0
        for j in places[i]:
            total += image[i, j].item() * 2
        totals.append(total)
    return totals


def test_many_places_of_lists():
    image = torch.arange(60, dtype=torch.float64).view(3, 20)
    lifted: Any = lift(of_lists, verify="off", backend="torch")
    few, many = [[3, 1], [0], [19, 19, -1]], [[k % 20 for k in range(1500)] for _ in range(3)]
    behind = [[-1, *row[1:]] for row in many]
    for places in (few, many, behind):
        for given in (image, image.T.contiguous().T):
            assert lifted(given, places) == of_lists(given, places)
    assert "taken_together(" in lifted.source
    with pytest.raises(IndexError):
        lifted(image, [*many[:2], [*many[2], 20]])
