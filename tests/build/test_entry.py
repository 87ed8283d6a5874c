"""How Python calls kernels: through a plan, and through ctypes; both take and give the same."""

import ctypes
import threading

import numpy as np
import pytest
import torch

from looplift.base.errors import NotLiftable
from looplift.build import arrays, background, compiler, entry
from looplift.build.native import _host
from looplift.emit.native_entry import slots_text
from looplift.ir.kernel_entry import OVERFLOW

PARAMETERS = [
    "const Host* host", "double* x_data", "int64_t x_size0", "int64_t x_size1", "int64_t x_step0", "int64_t x_step1",
    "const NumPyArray* y", "int64_t n", "uint64_t u", "float a", "bool b", "const double* p", "double* total",
    "int32_t* count", "bool* flag", "int64_t* handed",
]  # fmt: skip
CODES = "h t:float64:2 a:int32 q u d b p >float64 >int32 >bool >3"
SOURCE = f"""
#include <stdint.h>
struct Host {{}};
struct NumPyArray {{ int64_t references; void* type; char* data; int rank; const int64_t *size, *step; }};
extern "C" int given({", ".join(PARAMETERS)}) {{
  if (n < 0) return 2;
  *total = a + double(u);
  for (int64_t i = 0; i < x_size0; ++i)
    for (int64_t j = 0; j < x_size1; ++j) *total += x_data[i * x_step0 + j * x_step1];
  *count = 0;
  for (int64_t k = 0; k < y->size[0]; ++k) *count -= *(const int32_t*)(y->data + k * y->step[0]);
  *flag = !b;
  handed[0] = host != nullptr, handed[1] = n, handed[2] = p ? int64_t(*p) : -1;
  return 0;
}}
{slots_text("given", PARAMETERS, CODES)}
"""
X = torch.arange(12, dtype=torch.float64).reshape(3, 4)
Y = np.arange(6, dtype=np.int32)[::2]
PLACE = np.array([7.5])


@pytest.fixture(params=["by a plan", "through ctypes"])
def call(request, monkeypatch):
    monkeypatch.setattr(entry, "_is_there", lambda: True)
    if request.param == "through ctypes":
        monkeypatch.setattr(entry, "_plan", lambda *given: None)
    found = entry.entry(ctypes.addressof(_host()), ctypes.PyDLL(str(compiler.library(SOURCE))), "given", CODES)
    assert (type(found).__name__ == "builtin_function_or_method") == (request.param == "by a plan")
    return found


def test_each_kind_of_value_is_passed(call):
    assert call(X, Y, 5, 3, 0.5, True, PLACE.ctypes.data) == (69.5, -6, False, (1, 5, 7))
    assert call(X[1:, ::2], Y[:0], 0, 2**63, -1.0, False, None) == (
        float(4 + 6 + 8 + 10) + 2.0**63 - 1,
        0,
        True,
        (1, 0, -1),
    )
    assert call(torch.nn.Parameter(X), Y, True, 0, 1, 0, None) == (67.0, -6, True, (1, 1, -1))


def test_an_outcome_comes_alone(call):
    assert call(X, Y, -1, 0, 0.0, False, None) == 2


@pytest.mark.parametrize("x", [X[0], X.float(), X.to_sparse(), "x", torch.complex(X, X).conj().imag, Y])
def test_another_tensor_is_an_error(call, x):
    with pytest.raises((TypeError, AttributeError)):
        call(x, Y, 1, 0, 0.0, False, None)


@pytest.mark.parametrize("y", [Y.astype(np.int64), Y.astype(">i4"), Y.tolist(), X])
def test_another_array_is_an_error(call, y):
    with pytest.raises(TypeError):
        call(X, y, 1, 0, 0.0, False, None)


def test_an_integer_of_more_than_64_bits_has_its_outcome(call):
    assert call(X, Y, 2**63, 0, 0.0, False, None) == OVERFLOW
    assert call(X, Y, 0, -1, 0.0, False, None) == OVERFLOW
    with pytest.raises(TypeError):
        call(X, Y, "n", 0, 0.0, False, None)


def test_a_plan_knows_how_many_values_there_are(monkeypatch):
    monkeypatch.setattr(entry, "_is_there", lambda: True)
    found = entry.entry(ctypes.addressof(_host()), ctypes.PyDLL(str(compiler.library(SOURCE))), "given", CODES)
    with pytest.raises(TypeError, match="takes 7 values"):
        found(X, Y)


def test_a_call_goes_through_ctypes_until_the_library_is_there(monkeypatch):
    there = threading.Event()
    monkeypatch.setattr(entry, "_found", [])
    monkeypatch.setattr(entry, "_is_there", there.is_set)
    found = entry.entry(ctypes.addressof(_host()), ctypes.PyDLL(str(compiler.library(SOURCE))), "given", CODES)
    wanted = (69.5, -6, False, (1, 5, 7))
    assert found(X, Y, 5, 3, 0.5, True, PLACE.ctypes.data) == wanted and not found.is_fast
    there.set()
    assert found(X, Y, 5, 3, 0.5, True, PLACE.ctypes.data) == wanted and found.is_fast


def test_without_a_compiler_calls_go_through_ctypes(monkeypatch):
    def refused(source, options=compiler.KERNELS):
        raise NotLiftable("backend", "no compiler")

    library = ctypes.PyDLL(str(compiler.library(SOURCE)))
    monkeypatch.setattr(entry, "_found", [])
    monkeypatch.setattr(entry, "_coming", [])
    monkeypatch.setattr(background, "is_wanted", lambda source: False)
    monkeypatch.setattr(compiler, "library", refused)
    found = entry.entry(ctypes.addressof(_host()), library, "given", CODES)
    assert found(X, Y, 5, 3, 0.5, True, PLACE.ctypes.data) == (69.5, -6, False, (1, 5, 7)) and not found.is_fast


TABLE = np.zeros((3, 1, 0), np.float32)


@pytest.mark.parametrize(
    ("values", "holds"),
    [
        ((TABLE, np.arange(4)), True),
        ((np.zeros((9, 1, 0), np.float32), np.arange(2)), True),
        ((np.zeros((1, 1, 0), np.float32), np.arange(4)), False),
        ((np.zeros((3, 1, 2), np.float32), np.arange(4)), False),
        ((np.zeros((3, 1), np.float32), np.arange(4)), False),
        ((TABLE.astype(float), np.arange(4)), False),
        ((TABLE.astype(">f4"), np.arange(4)), False),
        ((TABLE, np.arange(4).astype(np.longlong)), True),
        ((TABLE, np.arange(4).astype(np.uint64)), False),
        ((TABLE, [0, 1]), False),
        ((TABLE, None), False),
        ((TABLE, np.arange(4).view(np.recarray)), False),
        ((TABLE,), False),
    ],
)
def test_one_function_tells_whether_values_are_such_arrays(monkeypatch, values, holds):
    monkeypatch.setattr(entry, "_is_there", lambda: True)
    check = entry.check_of_arrays([TABLE, np.arange(5)])
    assert check is not None and check(*values) is holds


def test_arrays_of_other_things_are_looked_at_in_python(monkeypatch):
    monkeypatch.setattr(entry, "_is_there", lambda: True)
    for other in (np.array(["a"]), np.zeros(2, "datetime64[s]"), np.zeros(2, ">f8"), np.zeros(2).view(np.recarray)):
        assert entry.check_of_arrays([other]) is None
    monkeypatch.setattr(arrays, "are_as_said", lambda: False)
    assert entry.check_of_arrays([TABLE]) is None
