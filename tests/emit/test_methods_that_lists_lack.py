"""Lists have no methods of tensors, whatever numbers they hold."""

import pytest

from looplift import lift


def stencil(u, n):
    for _ in range(n):
        v = u.clone()
        for i in range(1, len(u) - 1):
            v[i] = u[i - 1] + u[i + 1] - 2 * u[i]
        u = v
    return u


def copied(u, n):
    for _ in range(n):
        v = u.copy()
        for i in range(1, len(u) - 1):
            v[i] = u[i - 1] + u[i + 1] - 2 * u[i]
        u = v
    return u


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize("numbers", [[1.5, -2, 3], [1.0, 2.0, 4.0, 3.0], [1, 3, 2, 2, 0]], ids=str)
def test_clone_is_none_of_them(numbers, backend):
    lifted, known = lift(stencil, backend=backend, verify="off"), lift(copied, backend=backend, verify="off")
    for _ in range(2):
        with pytest.raises(AttributeError, match="'list' object has no attribute 'clone'"):
            lifted(numbers, 2)
        assert str(known(numbers, 2)) == str(copied(numbers, 2))
