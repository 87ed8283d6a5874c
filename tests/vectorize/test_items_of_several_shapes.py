"""Lists of tensors or arrays that have one shape in one call, and several in the next."""

import numpy as np
import pytest
import torch

from looplift import lift


def traces(items):
    out = []
    for i in range(len(items)):
        out.append(items[i][0, 0] + items[i][1, 1])
    return out


def of(library, shapes):
    made = [np.arange(float(m * n)).reshape(m, n) for m, n in shapes]
    return [torch.from_numpy(one) for one in made] if library is torch else made


@pytest.mark.parametrize("library", [torch, np])
@pytest.mark.parametrize("first", [[(2, 3)] * 3, [(2, 3), (3, 2), (4, 4)]])
def test_the_answer_is_the_loops(library, first):
    lifted = lift(traces, backend="torch")
    for shapes in (first, first, [(2, 2)] * 2, [(2, 3), (3, 2)], [(2, 3), (2, 4)], [(5, 5)]):
        assert [float(x) for x in lifted(of(library, shapes))] == [float(x) for x in traces(of(library, shapes))]


@pytest.mark.parametrize("library", [torch, np])
def test_an_item_that_is_too_small_raises_as_in_the_loop(library):
    lifted = lift(traces, backend="torch")
    lifted(of(library, [(2, 3)] * 3))
    with pytest.raises(IndexError):
        lifted(of(library, [(2, 3), (1, 3)]))
