"""Operations whose operands decide what they are: Python's own sums, numbers beside narrow types, index tensors."""

import linecache
import math
from typing import Any

import numpy as np
import pytest
import torch

from looplift import lift
from looplift.base.compare import difference

INT8 = np.array([[1, 2, 60], [3, 100, 7]], np.int8)
FLOATS = np.array([[0.5, 2.0, 6.0], [3.0, -1.0, 7.0]], np.float32)
STACK = np.arange(12.0).reshape(2, 3, 2)
NUMBERS = [[2, 3], [2, 300], [70000, 1]]
LARGE = [[1.5, 2.5], [1e40, 2.0]]


def function_of(line, result="out") -> Any:
    text = (
        f"def loop(x, k, made):\n    out = []\n    for i in range(x.shape[0]):\n        {line}\n    return {result}\n"
    )
    label = f"<operands: {line}>"
    linecache.cache[label] = (len(text), None, text.splitlines(keepends=True), label)
    scope: dict[str, Any] = {"np": np, "torch": torch, "math": math}
    exec(compile(text, label, "exec"), scope)
    return scope["loop"]


def outcome(function, x, k, made):
    try:
        return [function(x, k, made), made]
    except (RuntimeError, ValueError, OverflowError, TypeError) as error:
        return [type(error), str(error)]


def check(function, x, numbers, made=None):
    lifted = lift(function, verify="off", backend="torch")
    copied = (lambda v: v.clone()) if isinstance(x, torch.Tensor) else np.copy
    for k in numbers:
        fresh = [None if made is None else copied(made) for _ in range(2)]
        why = difference(outcome(lifted, x, k, fresh[0]), outcome(function, x, k, fresh[1]), magnitude=1.0, path="call")
        assert not why, why
    return {loop.decision for loop in lifted.report().loops}


SUMS = ["sum(x[i])", "sum(x[i], 1)", "sum(x[i], -1)", "math.prod(x[i])", "math.prod(x[i], start=2)", "sum(x[: i + 1])",
        "sum(x[:i])", "sum(x[: i + 1], 1)", "sum(x[: k[i]])"]  # fmt: skip


@pytest.mark.parametrize("expression", SUMS)
@pytest.mark.parametrize("table", [INT8, FLOATS, FLOATS > 1, STACK], ids=["int8", "float32", "bool", "stack"])
@pytest.mark.parametrize("kind", [torch.from_numpy, np.asarray], ids=["torch", "np"])
def test_sums_of_pythons_own_go_row_by_row(expression, table, kind):
    check(function_of(f"out.append({expression})"), kind(table), [[1, 2], [0, 1]])


@pytest.mark.parametrize("table", [FLOATS, STACK])
@pytest.mark.parametrize("expression", ["sum(x[i])", "math.prod(x[i])", "sum(x[: i + 1])"])
def test_sums_of_pythons_own_are_lanes(expression, table):
    assert check(function_of(f"out.append({expression})"), torch.from_numpy(table), [[1, 2]]) == {"lanes"}


BESIDE = ["x[i] + k[i]", "x[i] < k[i]", "x[i] / k[i]", "k[i] / x[i]", "x[i] % k[i]", "-k[i] - x[i]", "x[i] & k[i]"]
TORCH = ["torch.where(x[i] > 3, x[i], k[i])", "x[i].clamp(max=k[i])", "x[i].clamp(0, k[i])", "x[i].clamp(None, k[i])",
         "torch.tensor(k[i], dtype=x.dtype)", "torch.tensor([k[i], i], dtype=x.dtype)", "torch.sub(x[i], other=k[i])",
         "torch.where(x[i] > 3, x[i], other=k[i])"]  # fmt: skip
NUMPY = ["np.maximum(x[i], k[i])", "np.clip(x[i], 0, k[i])", "np.clip(x[i], None, k[i])",
         "np.clip(x[i], a_min=0, a_max=k[i])", "np.full_like(x[i], k[i])", "np.r_[x[i], k[i]]",
         "np.insert(x[i], 1, k[i])", "np.array([k[i], i], dtype=x.dtype)", "np.where(x[i] > 3, x[i], k[i])",
         "np.select([x[i] > 3], [x[i]], k[i])"]  # fmt: skip


@pytest.mark.parametrize("expression", [*BESIDE, *TORCH])
@pytest.mark.parametrize("table, numbers", [(INT8, NUMBERS), (FLOATS, LARGE), (FLOATS, NUMBERS)])
def test_numbers_beside_narrow_tensors(expression, table, numbers):
    check(function_of(f"out.append({expression})"), torch.from_numpy(table), numbers)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("expression", [*BESIDE, *NUMPY])
@pytest.mark.parametrize("table, numbers", [(INT8, NUMBERS), (FLOATS, NUMBERS)])
def test_numbers_beside_narrow_arrays(expression, table, numbers):
    check(function_of(f"out.append({expression})"), table, numbers)


@pytest.mark.parametrize("line", ["made[i] += k[i]", "made[0] *= 2", "made[i, [0, 1]] = x[i, :2]", "made[k] = x[i]",
                                  "made[i, x[i] > 2] = x[i][x[i] > 2]", "made[i, 0] = x[i, :1]"])  # fmt: skip
@pytest.mark.parametrize("dtype", ["bool", "float64", "float32"])
@pytest.mark.parametrize("kind", [torch.from_numpy, np.asarray], ids=["torch", "np"])
def test_stores_that_are_refused(line, dtype, kind):
    for rows in (2, 1):
        made = kind(np.zeros((rows, 3), dtype))
        check(function_of(line, "made"), kind(FLOATS[:rows]), [[0, 1][:rows]], made)


@pytest.mark.parametrize("expression", ["x[k, i]", "x[i, k]", "x[i, None, k]", "x[k][i]"])
@pytest.mark.parametrize("kind", [torch.from_numpy, np.asarray], ids=["torch", "np"])
@pytest.mark.parametrize("places", [[0, 1], slice(0, 2), (0, 1)], ids=["list", "slice", "tuple"])
def test_lists_and_slices_under_a_name_as_subscripts(expression, kind, places):
    check(function_of(f"out.append({expression} * 1)"), kind(STACK), [places])


def test_complex_numbers_become_no_real_ones():
    x = torch.tensor([[1 + 0j], [1 + 2j]])
    for expression in ("float(x[i, 0])", "int(x[i, 0])", "math.exp(x[i, 0])"):
        check(function_of(f"out.append({expression})"), x, [None])


def test_tensors_that_are_made_of_tensors_have_no_gradient():
    function = function_of("out.append(torch.tensor([x[i, 0], x[i, 1]]))")
    x = torch.from_numpy(FLOATS).requires_grad_()
    lifted: Any = lift(function, verify="off")
    for made in lifted(x, None, None):
        assert not made.requires_grad


@pytest.mark.filterwarnings("ignore:var")
@pytest.mark.parametrize("columns", [1, 2, 3])
def test_variances_without_a_degree_of_freedom(columns):
    function = function_of("out.append(x[i].var(correction=2) + x[i].std(correction=1))")
    gradients = []
    for candidate in (lift(function, verify="off"), function):
        x = torch.from_numpy(FLOATS[:, :columns].copy()).requires_grad_()
        gradients.append(torch.autograd.grad(torch.stack(candidate(x, None, None)).sum(), x)[0])
    torch.testing.assert_close(*gradients, equal_nan=True)


MATRICES = ["np.linalg.norm(x[i], keepdims=True)", "np.argmax(x[i], keepdims=True)", "np.vdot(x[i], x[i])",
            "np.linalg.matrix_norm(x[i], keepdims=True)", "np.concatenate([x[i], x[i]], axis=1, dtype=np.float32)",
            "np.isin(x[i] % 3, np.arange(-9, 20.0) % 7, assume_unique=True)"]  # fmt: skip


@pytest.mark.parametrize("expression", MATRICES)
def test_options_of_functions_of_matrices(expression):
    check(function_of(f"out.append({expression})"), STACK, [None])


@pytest.mark.parametrize(
    "expression", ["x[i].argmax(keepdim=True)", "x[i].any((0, 1), True)", "x[i].sum((0, 1), True)"]
)
def test_all_dimensions_are_kept(expression):
    check(function_of(f"out.append({expression})"), torch.from_numpy(STACK), [None])


NORMS = ["linalg.norm(x[i], 2)", "linalg.norm(x[i], 1)", "linalg.norm(x[i], ord=-1)", "linalg.norm(x[i], 'fro')",
         "linalg.norm(x[0][: i + 1], 2)", "linalg.norm(x[0][: i + 1])", "linalg.norm(x[i] - x[0], 2)"]  # fmt: skip


@pytest.mark.parametrize("expression", NORMS)
@pytest.mark.parametrize("library", ["torch", "np"])
def test_norms_of_matrices(expression, library):
    table = torch.from_numpy(STACK) if library == "torch" else STACK
    check(function_of(f"out.append({library}.{expression})"), table, [None])


IN_PLACE = ["made += x[i]", "made *= x", "made -= x[i, 0]", "made[i] += x[i]", "made[1:] += x[i]", "made[:] = x[i]",
            "t = made[i]; t += x[i]; t *= x[0]"]  # fmt: skip
SHARED = {
    "apart": lambda b: (b.clone(), b),
    "shifted": lambda b: (b[:-1], b[1:]),
    "same": lambda b: (b, b),
    "columns": lambda b: (b[:, :2], b[:, 1:]),
    "expanded": lambda b: (b[:1].expand(4, 3), b),
}


@pytest.mark.parametrize("shared", list(SHARED))
@pytest.mark.parametrize("line", IN_PLACE)
@pytest.mark.parametrize("backend", ["auto", "native"])
def test_arguments_in_one_memory_are_changed_in_place(line, shared, backend):
    function = function_of(line, "made")
    lifted: Any = lift(function, verify="off", backend=backend)
    found = []
    lifted(*SHARED["apart"](torch.ones(4, 3))[:1], None, torch.ones(4, 3))
    for candidate in (lifted, function):
        memory = torch.arange(12.0).reshape(4, 3)
        x, made = SHARED[shared](memory)
        found.append([outcome(candidate, x, None, made)[:1], memory.tolist()])
    why = difference(found[0], found[1], magnitude=1.0, path="call")
    assert not why, why


def test_rows_of_arguments_apart_are_changed_in_kernels():
    lifted: Any = lift(function_of("made += x[i]", "made"), verify="off")
    lifted(torch.ones(4, 3), None, torch.ones(4, 3))
    assert lifted.report().loops[0].decision == "native"
