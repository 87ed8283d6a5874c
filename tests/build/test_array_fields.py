import numpy as np
import pytest

from looplift import lift
from looplift.build import arrays, entry
from looplift.build.arrays import described


def running_total(x, out):
    for i in range(1, len(x)):
        out[i] = 0.5 * out[i - 1] + x[i]
    return out


def matrix_total(x):
    total = 0.0
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            total = total * 0.5 + x[i, j]
    return total


def test_the_fields_are_what_numpy_says():
    table = np.arange(24.0).reshape(4, 6)[::-1, ::2]
    fields = described(table)._obj
    assert (fields.data, fields.rank, fields.flags) == (table.ctypes.data, 2, table.flags.num)
    assert (tuple(fields.size[:2]), tuple(fields.step[:2])) == (table.shape, table.strides)


@pytest.fixture(params=["where it is", "written anew"])
def place(request, monkeypatch):
    """Both ways to hand an array to a kernel."""
    arrays.are_as_said.cache_clear()
    if request.param == "written anew":
        monkeypatch.setattr(arrays, "_is_as_said", lambda array: False)
    else:
        monkeypatch.setattr(entry, "_is_there", lambda: True)
    yield arrays.are_as_said()
    arrays.are_as_said.cache_clear()


@pytest.mark.parametrize("order", ["C", "F"])
def test_kernels_read_arrays_of_any_layout(place, order):
    x = np.array(np.random.default_rng(0).normal(size=(6, 8)), order=order)
    lifted = lift(matrix_total, backend="native", verify="off")
    for view in (x, x[::2, ::-1], x[1:1], x.T, np.broadcast_to(x[0], (3, 8))):
        assert lifted(view) == matrix_total(view)
    assert lifted.report().loops[0].decision == "native"


def test_kernels_write_where_the_loop_does(place):
    lifted = lift(running_total, backend="native", verify="off")
    x, memory, wanted = np.arange(5.0), np.ones(10), np.ones(10)
    running_total(x, wanted[::-2])
    assert lifted(x, memory[::-2]).base is memory
    assert np.array_equal(memory, wanted)


def test_what_a_kernel_cannot_write_to_is_left_to_the_loop(place):
    lifted = lift(running_total, backend="native", verify="off")
    frozen, odd = np.zeros(4), np.zeros(33, np.uint8)[1:].view(np.float64)
    frozen.flags.writeable = False
    assert lifted(np.ones(4), np.zeros(4)).tolist() == [0, 1, 1.5, 1.75]
    with pytest.raises(ValueError, match="read-only"):
        lifted(np.ones(4), frozen)
    assert lifted(np.ones(4), odd).tolist() == [0, 1, 1.5, 1.75]
    swapped = np.zeros(4, np.dtype(np.float64).newbyteorder())
    assert lifted(np.ones(4), swapped).tolist() == [0, 1, 1.5, 1.75]


def test_no_array_is_no_array(place):
    lifted = lift(running_total, backend="native", verify="off")
    lifted(np.ones(4), np.zeros(4))
    assert lifted([1.0, 2.0, 4.0], [0.0, 0.0, 0.0]) == [0.0, 2.0, 5.0]

    class Wrapped:
        dtype, shape = np.dtype(np.float64), (2,)

        def __len__(self):
            return 2

        def __getitem__(self, index):
            return 7.0

    assert lifted(Wrapped(), np.zeros(2)).tolist() == [0, 7]
