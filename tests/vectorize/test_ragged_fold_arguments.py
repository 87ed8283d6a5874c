"""What is said beside the dimension of a fold of slices that have another length in each iteration, and of what."""

import numpy as np
import pytest
import torch
from tests.vectorize.harness import appended, check, check_backends

PLACES = torch.tensor([[0, 4], [3, 8], [1, 3], [5, 9]])
SLICE = "x[a[i, 0]:a[i, 1]]"
EVERYWHERE = {"auto", "torch", "native"}


def texts(many):
    return [text.strip() for text in many.split(";")]


def values(*shape, dtype=torch.float32, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def collects(expression, library):
    """A loop that collects an expression of ``{}``, which stands for a slice."""
    return appended(expression.replace("{}", SLICE), "a.shape[0]", library, join="list")


@pytest.mark.parametrize(
    "expression",
    texts(
        """{}.std(0, False); torch.var({}, 0, False); {}.var(0, True); {}.std(0, False, True);
    torch.softmax({}, 0, torch.float64); {}.log_softmax(0, torch.float64); {}.softmax(0, None);
    torch.nn.functional.softmax({}, 0, 3); {}.sum(0, True); {}.mean(0, False); {}.sum(()); {}.norm(2, 0, True)"""
    ),
)
def test_what_stands_behind_the_dimension(expression):
    check_backends(collects(expression, {"torch": torch}), [values(9), PLACES, None], gradients=True, kept=EVERYWHERE)


@pytest.mark.parametrize(
    "expression",
    texts(
        """{}.std((0, 1), False); torch.var({}, (0, 1), False, True); {}.std(1, False); {}.var(1, True);
    {}.mean((0, 1), True); {}.amax(1, True); torch.softmax({}, 1, torch.float64)"""
    ),
)
def test_what_stands_behind_several_dimensions(expression):
    check_backends(
        collects(expression, {"torch": torch}), [values(9, 3), PLACES, None], gradients=True, kept=EVERYWHERE
    )


@pytest.mark.parametrize(
    "expression",
    texts(
        """{}.sum(1, keepdim=True); {}.sum(1, True); ({}.mean(1, keepdim=True)[:, 0] * 2).sum();
    {}.sum(1, keepdim=True).shape[1]; {}.amin(-1, keepdim=True).sum(1).sum()"""
    ),
)
def test_a_dense_dimension_that_is_kept(expression):
    check(collects(expression, {"torch": torch}), [values(9, 3, dtype=torch.float64), PLACES, None])


@pytest.mark.parametrize(
    "expression",
    texts(
        """np.sum({}, 0, np.float64); {}.sum(1, np.float64); np.mean({}, 0, np.float64); np.var({}, 0, np.float64);
    np.std({}, 1, np.float64); np.mean({}, None, np.float64); np.prod({}, 0, np.float64); np.sum({}, ());
    np.sum({}, (0, 1), np.float64); np.sum({}, 0, None, None, True); np.sum({}, 0, dtype=np.float64)"""
    ),
)
def test_types_behind_the_axis(expression):
    loop = collects(expression, {"np": np})
    check_backends(loop, [values(9, 5).numpy(), PLACES.numpy(), None], kept=EVERYWHERE)


def test_types_behind_the_axis_under_masks():
    def means(x, m):
        out = []
        for i in range(len(m)):
            out.append(np.mean(x[m[i]], 0, np.float64))
        return out

    mask = values(4, 9, seed=1).numpy() > -0.5
    check_backends(means, [values(9, 5).numpy(), mask], kept=EVERYWHERE)


@pytest.mark.parametrize(
    "expression",
    texts(
        """torch.norm({}); torch.var({}); {}.std(unbiased=False); torch.linalg.vector_norm({}); torch.linalg.norm({});
    torch.vdot({}, {}); {}.sum() + {}.mean(); torch.dot({}, {}); {}.abs().max(); torch.count_nonzero({}); {}.prod()"""
    ),
)
def test_complex_slices(expression):
    given = values(9, dtype=torch.complex128)
    loop = collects(expression, {"torch": torch})
    check_backends(loop, [given, PLACES, None], kept=EVERYWHERE)
    check_backends(loop, [given.requires_grad_(), PLACES, None], gradients=True, kept=EVERYWHERE)


@pytest.mark.parametrize(
    "expression",
    texts(
        """np.linalg.norm({}); np.var({}); {}.std(); np.vdot({}, {} * 1j); np.abs({}).sum(); {}.max(); {}.argmin();
    np.sum({}) + np.mean({}); np.any({})"""
    ),
)
def test_complex_slices_of_arrays(expression):
    loop = collects(expression, {"np": np})
    check_backends(loop, [values(9, dtype=torch.complex128).numpy(), PLACES.numpy(), None], kept=EVERYWHERE)


def test_products_of_all_elements_of_matrices():
    def products(x, a):
        out = []
        for i in range(len(a)):
            v = x[a[i, 0] : a[i, 1]]
            out.append(np.vdot(v, v * 2))
        return out

    check_backends(products, [values(9, 3, dtype=torch.float64).numpy(), PLACES.numpy()], kept=EVERYWHERE)
