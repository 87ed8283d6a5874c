"""Operators made of users' C++: what they take, what they say where something is wrong, and loops that call them."""

import copy
import functools
import subprocess
import sys

import numpy as np
import pytest
import torch

import looplift
from looplift import lift
from looplift.build import compiler

WARP = """
#include <cmath>
#include <stdexcept>
void warp(const float* image, const float* matrix, float* result, int64_t h, int64_t w) {
  if (matrix[0] > 100) throw std::invalid_argument("the matrix is too large");
  if (matrix[0] > 90) throw std::out_of_range("outside");
  for (int64_t y = 0; y < h; ++y)
    for (int64_t x = 0; x < w; ++x) {
      const int64_t u = std::lround(matrix[0] * x + matrix[1] * y + matrix[2]);
      const int64_t v = std::lround(matrix[3] * x + matrix[4] * y + matrix[5]);
      result[y * w + x] = u >= 0 && u < w && v >= 0 && v < h ? image[v * w + u] : 0;
    }
}
"""
warp = looplift.op("warp", WARP, signature="(image: float32[h, w], matrix: float32[2, 3]) -> float32[h, w]")

LOOKUP = "void lookup(const double* table, int64_t place, double* value, int64_t n) { *value = table[place]; }"
lookup = looplift.op("lookup", LOOKUP, signature="(table: float64[n], place: int) -> float64[]")

SPLIT = """
void split(const double* x, double scale, bool turned, double* low, int64_t* place, int64_t n) {
  *place = 0;
  for (int64_t k = 0; k < n; ++k) {
    low[k] = (turned ? -x[k] : x[k]) * scale;
    if (low[k] < low[*place]) *place = k;
  }
}
"""
split = looplift.op("split", SPLIT, signature="(x: float64[n], scale: float, turned: bool) -> (float64[n], int64[])")

POOLED = """
void pooled(const double* x, int64_t width, double* means, int64_t n) {
  for (int64_t k = 0; k + width <= n; ++k) {
    means[k] = 0;
    for (int64_t j = 0; j < width; ++j) means[k] += x[k + j];
    means[k] /= width;
  }
}
"""
pooled = looplift.op("pooled", POOLED, signature="(float64[n], width: int) -> float64[n - width + 1]")


def bent_backward(gradient, x, factor):
    return gradient * factor.unsqueeze(-1) * (x > 0), (gradient * torch.relu(x)).sum(-1)


BENT = """
void bent(const double* x, const double* factor, double* result, int64_t n) {
  for (int64_t k = 0; k < n; ++k) result[k] = x[k] > 0 ? *factor * x[k] : 0;
}
"""
bent = looplift.op("bent", BENT, signature="(float64[n], float64[]) -> float64[n]", backward=bent_backward)


def images(count=4, h=5, w=6):
    generator = torch.Generator().manual_seed(count)
    return torch.randn(count, h, w, generator=generator), 2 * torch.randn(count, 2, 3, generator=generator)


def copied(value):
    if isinstance(value, torch.Tensor):
        return value.detach().clone().requires_grad_(value.requires_grad)
    return value.copy() if isinstance(value, np.ndarray) else value


def answer(function, arguments):
    """What a call gives, does to its arguments, and which gradients it leaves."""
    arguments = [copied(one) for one in arguments]
    try:
        found = function(*arguments)
    except Exception as error:
        return type(error), str(error), arguments
    results = found if isinstance(found, tuple | list) else [found]
    reached = [one for one in results if isinstance(one, torch.Tensor) and one.requires_grad]
    if reached:
        sum(one.sum() for one in reached).backward()
    gradients = [one.grad for one in arguments if isinstance(one, torch.Tensor)]
    return found, arguments, gradients


def assert_same(one, other):
    torch.testing.assert_close(one, other, rtol=1e-12, atol=0, equal_nan=True) if _compares(one) else _each(one, other)


def _compares(value):
    return isinstance(value, torch.Tensor | np.ndarray | np.generic)


def _each(one, other):
    assert type(one) is type(other)
    if isinstance(one, tuple | list):
        assert len(one) == len(other)
        for a, b in zip(one, other):
            assert_same(a, b)
    else:
        assert one == other


def check(loop, *arguments, decision="lanes", verify="off"):
    lifted = lift(loop, verify=verify)
    for _ in range(3):
        assert_same(answer(lifted, arguments), answer(loop, arguments))
    assert {one.decision for one in lifted.report().loops} == {decision}, str(lifted.report())
    return lifted


# ---------------------------------------------------------------- one call


def test_one_call_and_many():
    x, m = images()
    each = torch.stack([warp(image, matrix) for image, matrix in zip(x, m)])
    assert torch.equal(warp(x, m), each)
    assert torch.equal(warp(x, m[0])[2], warp(x[2], m[0]))
    assert torch.equal(warp(x[0], m)[2], warp(x[0], m[2]))
    assert torch.equal(warp(x[:, None], m)[3, 1], warp(x[3], m[1]))
    assert torch.equal(warp(image=x[0], matrix=m[0]), warp(x[0], m[0]))


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x.mT.contiguous().mT, lambda x: x[:, ::2], lambda x: x[..., ::2], lambda x: x.flip(0),
        lambda x: x[:1].expand(4, 5, 6), lambda x: x[:, :1].expand(4, 5, 6), lambda x: x[1:3], lambda x: x[:0],
        lambda x: x[:, :0], lambda x: x[:, :1, :1], lambda x: torch._neg_view(x),
    ],
)  # fmt: skip
def test_arguments_of_any_strides(view):
    x, m = images()
    x = view(x)
    m = m[: len(x)]
    each = [warp(image.clone(), matrix.clone()) for image, matrix in zip(x, m)]
    wanted = torch.stack(each) if each else torch.empty(x.shape)
    assert torch.equal(warp(x, m), wanted)


def test_numbers_sizes_and_several_results():
    x = torch.tensor([1.0, -2.0, 4.0], dtype=torch.float64)
    low, place = split(x, 2, True)
    assert torch.equal(low, -2 * x) and place.dtype == torch.int64 and place == 2
    low, place = split(x, torch.tensor([1.0, -1.0], dtype=torch.float64), False)
    assert torch.equal(low, torch.stack([x, -x])) and place.tolist() == [1, 2]
    assert torch.equal(pooled(x, 2), torch.tensor([-0.5, 1.0], dtype=torch.float64))
    assert pooled(x, 4).shape == (0,)
    assert lookup(x, 1) == -2 and lookup(x, torch.tensor([2, 0])).tolist() == [4, 1]


def test_arrays_of_numpy():
    x = np.array([[1.0, -2.0, 4.0], [3.0, 2.0, 1.0]])
    low, place = split(x[0], 1.5, False)
    assert type(low) is np.ndarray and type(place) is np.int64 and place == 1
    assert np.array_equal(split(x, 1.5, False)[0], 1.5 * x)
    frozen = x.copy()
    frozen.flags.writeable = False
    assert np.array_equal(split(frozen[:, ::-1], 1.0, False)[0], x[:, ::-1])
    assert type(lookup(x[0], 1)) is np.float64


def test_only_where_it_is_wanted():
    table = torch.arange(3, dtype=torch.float64)
    places = torch.tensor([1, 10**15, 2])  # what is out of range is not read
    assert lookup(table, places, where=places < 3).tolist() == [1, 0, 2]
    assert lookup(table, 10**15, where=False) == 0
    assert np.array_equal(lookup(table.numpy(), places.numpy(), where=places.numpy() < 3), [1, 0, 2])


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ((torch.ones(5, 6, dtype=torch.float64), torch.ones(2, 3)), TypeError, "'image' must be of torch.float32"),
        ((torch.ones(6), torch.ones(2, 3)), ValueError, r"has the shape \(6,\), which is less than float32\[h, w\]"),
        ((torch.ones(5, 6), torch.ones(3, 3)), ValueError, r"'matrix' has the shape \(3, 3\); 2 is wanted"),
        ((torch.ones(4, 5, 6), torch.ones(3, 2, 3)), ValueError, r"do not broadcast: \(4,\), \(3,\)"),
        ((torch.ones(5, 6), None), TypeError, "'matrix' must be a tensor or an array, not None"),
        ((torch.ones(5, 6), [[1.0]]), TypeError, "'matrix' must be a tensor or an array, not list"),
        ((torch.ones(5, 6),), TypeError, "'matrix' is missing"),
        ((torch.ones(5, 6), 1, 2), TypeError, "takes 2 arguments, not 3"),
    ],
)
def test_arguments_that_do_not_fit(arguments, error, text):
    with pytest.raises(error, match=text):
        warp(*arguments)


def test_other_arguments_that_do_not_fit():
    x = torch.ones(3, dtype=torch.float64)
    for call, error, text in [
        (lambda: pooled(x, 2.0), TypeError, "'width' must be an int, not 2.0"),
        (lambda: pooled(x, 9), ValueError, r"the size of 'result' is \(-5,\)"),
        (lambda: lookup(x, 1.0), TypeError, "'place' must be of type int, not 1.0"),
        (lambda: lookup(x, torch.tensor(1.0)), TypeError, "'place' is of type int, not torch.float32"),
        (lambda: lookup(x, 1, place=1), TypeError, "'place' is given twice"),
        (lambda: lookup(x, position=1), TypeError, "has no argument 'position'"),
        (lambda: bent(x, 1.0), TypeError, r"'argument1' must be float64\[\], not 1.0"),
        (lambda: lookup(x, 1, where=torch.tensor(1)), TypeError, "'where' must be of torch.bool"),
    ]:
        with pytest.raises(error, match=text):
            call()


def test_sizes_that_differ():
    joined = looplift.op(
        "joined", "void joined(const bool*, const bool*, bool*, int64_t, int64_t) {}",
        signature="(a: bool[n, m], b: bool[m]) -> bool[n * m // 2 + 1]",
    )  # fmt: skip
    assert joined(torch.ones(3, 4).bool(), torch.ones(4).bool()).shape == (7,)
    with pytest.raises(ValueError, match="'m' is 4 in 'a' and 5 in 'b'"):
        joined(torch.ones(3, 4).bool(), torch.ones(5).bool())


def test_what_the_function_throws():
    x, m = images(1)
    m[0, 0, 0] = 101
    with pytest.raises(ValueError, match=r"^the matrix is too large$"):
        warp(x, m)
    m[0, 0, 0] = 95
    with pytest.raises(IndexError, match=r"^outside$"):
        warp(x, m)
    odd = looplift.op("odd", "void odd(double x, double* y) { throw 3; }", signature="(float) -> float64[]")
    with pytest.raises(RuntimeError, match=r"no std::exception"):
        odd(1)
    with pytest.raises(MemoryError):
        looplift.op(
            "huge", "#include <new>\nvoid huge(double x, double* y) { throw std::bad_alloc(); }",
            signature="(float) -> float64[]",
        )(1)  # fmt: skip


WHO = """
#include <pthread.h>
#include <stdexcept>
#include <time.h>
void who(int64_t lane, int64_t failing, int64_t* thread) {
  const timespec pause{0, 1000000};
  nanosleep(&pause, nullptr);
  if (lane == failing) throw std::out_of_range("this one");
  if (lane > failing) throw std::invalid_argument("a later one");
  *thread = (int64_t)pthread_self();
}
"""


@pytest.fixture
def two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def test_threads(two_threads):
    who = looplift.op("who", WHO, signature="(lane: int, failing: int) -> int64[]")
    lanes = torch.arange(60)
    assert len(who(lanes, 1000).unique()) == 2
    assert len(who(lanes[:1], 1000).unique()) == 1
    with pytest.raises(IndexError, match=r"^this one$"):
        who(lanes, 30)
    torch.set_num_threads(1)
    assert len(who(lanes, 1000).unique()) == 1


def test_threads_give_the_same(two_threads):
    x = torch.randn(20_000, 30, dtype=torch.float64)
    many = split(x, 0.5, True)
    torch.set_num_threads(1)
    one = split(x, 0.5, True)
    assert all(torch.equal(a, b) for a, b in zip(many, one))
    assert warp(*images(0)).shape == (0, 5, 6)


# ---------------------------------------------------------------- definitions


@pytest.mark.parametrize(
    ("signature", "text"),
    [
        ("float32[n]", "has no '->'"),
        ("float32[n] -> float32[n]", "stands in parentheses"),
        ("(float32[n]) -> float", "a result is an array"),
        ("(float32[n]) -> ", "a result is an array"),
        ("(float16[n]) -> float32[n]", "arrays are of float32, .* not of 'float16'"),
        ("(float32) -> float32[]", r"for an array of no dimensions write 'float32\[\]'"),
        ("(float32[n, ]) -> float32[n]", "a size of an argument is a number or a name, not ''"),
        ("(float32[n + 1]) -> float32[n]", "a size of an argument is a number or a name"),
        ("(float32[n]) -> float32[m]", "the size 'm' of a result is no size of an argument"),
        ("(float32[n], k: float) -> float32[k]", "the size 'k' of a result"),
        ("(float32[n]) -> float32[n / 2]", "'n / 2' is no size"),
        ("(float32[n]) -> float32[f(n)]", "is no size"),
        ("(a: float32[n], a: float32[n]) -> float32[n]", "are called 'a'"),
        ("(n: float32[n]) -> float32[n]", "'n' is the name of an argument"),
        ("(where: bool[n]) -> bool[n]", "'where' is the name"),
        ("(float32[n) -> float32[n]", "is no type"),
        ("(a = float32[n]) -> float32[n]", "is no type"),
    ],
)
def test_signatures_that_say_nothing(signature, text):
    with pytest.raises(ValueError, match=text):
        looplift.op("f", "void f() {}", signature=signature)


@pytest.mark.internal
@pytest.mark.parametrize(
    ("source", "error", "text"),
    [
        (
            "void g(float* image, float* result, int64_t n) {}",
            ValueError,
            r"void g\(const float\* image, ",
        ),
        ("void g(const double* image, float* result, int64_t n) {}", ValueError, "by its signature"),
        ("int g(const float* image, float* result, int64_t n) { return 0; }", ValueError, "by its signature"),
        ("void g(const float* image, float* result, int n) {}", ValueError, "int64_t n"),
        ("void other() {}", ValueError, r"by its signature the C\+\+ function must be"),
        ("void g(const float* image, float* result, int64_t n) { result[0] = x; }", RuntimeError, "g.cpp:1"),
        ("void g(const float* image, {", RuntimeError, "the compiler refused 'g'"),
    ],
)
def test_functions_that_are_not_as_said(source, error, text):
    with pytest.raises(error, match=text):
        looplift.op("g", source, signature="(image: float32[n]) -> float32[n]")


def test_other_definitions_that_make_no_sense(tmp_path):
    signature = "(float) -> float64[]"
    for arguments, named, error, text in [
        (("1f", "void f() {}"), {}, ValueError, "'name' must be that of the C"),
        (("f", str(tmp_path / "none.cpp")), {}, ValueError, "there is no file"),
        (("f", "void f() {}"), {"batch": 3}, TypeError, "'batch' must be a function"),
        (("f", "void f() {}"), {"backward": "f"}, TypeError, "'backward' must be a function"),
    ]:
        with pytest.raises(error, match=text):
            looplift.op(*arguments, signature=signature, **named)


def test_a_machine_without_a_compiler(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    compiler.compiler.cache_clear()
    compiler._compiler_version.cache_clear()
    try:
        with pytest.raises(RuntimeError, match=r"no C\+\+ compiler was found on this machine; install g\+\+"):
            looplift.op("f", "void f(double x, double* y) { *y = x; }", signature="(float) -> float64[]")
    finally:
        compiler.compiler.cache_clear()
        compiler._compiler_version.cache_clear()


def test_a_file_and_templates(tmp_path):
    file = tmp_path / "twice.cpp"
    file.write_text("template <class T> void twice(const T* x, T* y, int64_t n) { while (n--) *y++ = 2 * *x++; }")
    twice = looplift.op("twice", file, signature="(int32[n]) -> int32[n]")
    assert twice(torch.arange(3, dtype=torch.int32)).tolist() == [0, 2, 4]


def test_a_second_one_of_that_name_leaves_the_first():
    make = "void again(const double* x, double* y, int64_t n) {{ for (int64_t k = 0; k < n; ++k) y[k] = {} * x[k]; }}"
    first, second = (looplift.op("again", make.format(k), signature="(float64[n]) -> float64[n]") for k in (2, 3))

    def loop(x):
        return [first(row) + second(row) for row in x]

    check(loop, torch.ones(3, 2, dtype=torch.float64))


# ---------------------------------------------------------------- loops


def warped(x, m):
    out = torch.zeros_like(x)
    for i in range(x.shape[0]):
        out[i] = warp(x[i], m[i])
    return out


@pytest.mark.parametrize("count", [1, 2, 5])
def test_a_loop_is_one_call(count):
    lifted = check(warped, *images(count))
    if count > 1:
        assert "looplift.kernels.warp(x, m)" in lifted.source


def test_the_error_is_that_of_the_iteration():
    x, m = images(5)
    m[2, 0, 0], m[4, 0, 0] = 95, 101

    def loop(x, m, out):
        for i in range(x.shape[0]):
            out[i] = warp(x[i], m[i])
        return out

    lifted = lift(loop)
    for arguments in (images(5), (x, m)):
        arguments = (*arguments, torch.zeros(5, 5, 6))
        assert_same(answer(lifted, arguments), answer(loop, arguments))
    assert answer(loop, arguments)[0] is IndexError


def test_calls_that_are_not_made():
    def loop(table, places):
        out = torch.zeros(len(places), dtype=table.dtype)
        for i in range(len(places)):
            if 0 <= places[i] < table.shape[0]:
                out[i] = lookup(table, places[i])
        return out

    def same_for_all(table, wanted, place):
        out = torch.zeros(len(wanted), dtype=table.dtype)
        for i in range(len(wanted)):
            if wanted[i]:
                out[i] = lookup(table, place)
        return out

    table = torch.arange(4, dtype=torch.float64)
    for places in ([3, -1, 10**15, 0], [10**15] * 3, [-(10**15)], [1, 2]):
        check(loop, table, torch.tensor(places))
    check(same_for_all, table, torch.tensor([False, False]), 10**15)
    check(same_for_all, table, torch.tensor([False, True]), 2)


def test_numbers_that_differ_by_iteration():
    def loop(x):
        out = []
        for i in range(5):
            low, place = split(x, 0.5 * i - 1, i % 2 == 0)
            out.append(low * place)
        return torch.stack(out)

    check(loop, torch.randn(4, dtype=torch.float64))


def test_results_that_decide():
    def loop(x):
        count = 0
        for i in range(x.shape[0]):
            _, place = split(x[i], 1.0, False)
            if place > 0:
                count += int(place)
        return count

    check(loop, torch.randn(7, 4, dtype=torch.float64))


def test_own_dimensions_in_front():
    def loop(x, m):
        return torch.stack([warp(x[i], m[i]) for i in range(x.shape[0])])

    x, m = torch.randn(3, 2, 5, 6), torch.randn(3, 2, 3)
    check(loop, x, m)
    check(loop, x, torch.randn(3, 2, 2, 3))


def test_pairs():
    def loop(x, m):
        return torch.stack([warp(image, matrix) for image in x for matrix in m])

    check(loop, *images(3))


def test_a_size_that_is_the_same_for_all():
    def loop(x, width):
        return torch.stack([pooled(row, width) for row in x])

    check(loop, torch.randn(3, 6, dtype=torch.float64), 2)


def test_sizes_that_differ_by_iteration_stay():
    def loop(x):
        out = torch.zeros(4, dtype=x.dtype)
        for i in range(4):
            out[i] = pooled(x, i + 1).sum()
        return out

    check(loop, torch.randn(6, dtype=torch.float64), decision="kept")


def test_arrays_in_a_loop():
    def loop(x, scales):
        out = np.zeros_like(x)
        places = np.zeros(len(x), dtype=np.int64)
        for i in range(len(x)):
            out[i], places[i] = split(x[i], scales[i], False)
        return out, places

    x = np.random.default_rng(0).standard_normal((5, 4))
    check(loop, x, np.linspace(-1, 1, 5))


def test_where_in_a_loop_stays():
    def loop(x, wanted):
        return [lookup(x, k, where=wanted[k]) for k in range(x.shape[0])]

    lifted = check(loop, torch.randn(3, dtype=torch.float64), torch.tensor([True, False, True]), decision="kept")
    assert "an 'if' has a batched form" in str(lifted.report())


def test_a_carried_value_stays_in_a_loop():
    def loop(x, m, steps):
        out = []
        for i in range(x.shape[0]):
            image = x[i]
            for _ in range(steps):
                image = warp(image, m[i])
            out.append(image)
        return torch.stack(out)

    lifted = lift(loop, verify="off")
    arguments = (*images(3), 3)
    assert_same(answer(lifted, arguments), answer(loop, arguments))
    assert [one.decision for one in lifted.report().loops] == ["lanes", "sequential"]


def test_ragged_loops():
    def loop(x, m, neighbours):
        out = torch.zeros_like(x)
        for i in range(len(neighbours)):
            for j in neighbours[i]:
                out[i] += warp(x[j], m[i])
        return out

    lifted = lift(loop, verify="off")
    arguments = (*images(3), [[0, 1], [], [2, 0, 1]])
    (found, *_), (wanted, *_) = answer(lifted, arguments), answer(loop, arguments)
    torch.testing.assert_close(found, wanted)


def test_an_operator_of_another_name_and_module():
    import types

    module = types.SimpleNamespace(bend=warp)

    def loop(x, m):
        return [module.bend(x[i], m[i]) for i in range(x.shape[0])]

    check(loop, *images(3))


def test_names_of_operations_of_torch():
    text = "void sum(const double* x, double* y, int64_t n) { *y = 0; while (n--) *y += 2 * *x++; }"
    sum_ = looplift.op("sum", text, signature="(float64[n]) -> float64[]")

    def loop(x):
        return torch.stack([sum_(row) for row in x])

    check(loop, torch.ones(3, 2, dtype=torch.float64))


# ---------------------------------------------------------------- rules


def test_a_batch_rule():
    seen = []

    def batch(x, scale, turned):
        seen.append((x.shape, scale.shape))
        low = torch.where(turned[:, None], -x, x) * scale[:, None]
        return low, low.argmin(-1)

    ruled = looplift.op(
        "split", SPLIT, batch=batch,
        signature="(x: float64[n], scale: float, turned: bool) -> (float64[n], int64[])",
    )  # fmt: skip

    def loop(x, wanted):
        out = torch.zeros_like(x)
        for i in range(x.shape[0]):
            if wanted[i]:
                out[i] = ruled(x[i], 2.0, False)[0]
        return out

    x = torch.randn(4, 3, dtype=torch.float64)
    check(loop, x, torch.tensor([True, False, True, True]))
    assert seen and set(seen) == {((3, 3), (3,))}
    assert_same(ruled(x[:, None], torch.ones(2, dtype=x.dtype), True)[0], -x[:, None].repeat(1, 2, 1))


def test_a_batch_rule_that_gives_something_else():
    wrong = looplift.op(
        "bent", BENT, batch=lambda x, factor: x.float(), signature="(float64[n], float64[]) -> float64[n]"
    )
    with pytest.raises(ValueError, match=r"the batch rule gives torch\.float32"):
        wrong(torch.ones(2, 3, dtype=torch.float64), torch.ones(2, dtype=torch.float64))


def test_gradients():
    x = torch.randn(4, 3, dtype=torch.float64, requires_grad=True)
    factor = torch.randn(4, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(bent, (x, factor))
    assert torch.autograd.gradcheck(bent, (x, factor[0]))
    assert torch.autograd.gradcheck(bent, (x[:, None], factor))
    assert torch.autograd.gradgradcheck(bent, (x, factor))
    assert torch.autograd.gradcheck(lambda x: bent(x, factor, where=torch.tensor([True, False, True, True])), (x,))
    assert bent(x[:0], factor[:0]).sum().backward() is None


def test_gradients_of_loops():
    def each(x, factor):
        return torch.stack([bent(x[i], factor[i]) for i in range(x.shape[0])])

    def shared(x, factor):
        total = torch.zeros((), dtype=x.dtype)
        for i in range(x.shape[0]):
            if x[i, 0] > 0:
                total = total + bent(x[i], factor[0]).sum()
        return total

    for count in (1, 2, 5):
        x = torch.randn(count, 3, dtype=torch.float64, requires_grad=True)
        factor = torch.randn(count, dtype=torch.float64, requires_grad=True)
        check(each, x, factor)
        check(each, x.detach(), factor)
        check(shared, x, factor)
        check(shared, (-x.abs()).detach().requires_grad_(), factor)


def test_a_backward_rule_that_looks_at_values():
    def backward(gradient, x):
        return gradient * (2.0 if x[0] > 0 else 3.0)

    text = "void stepped(const double* x, double* y, int64_t n) { while (n--) { *y++ = (*x > 0 ? 2 : 3) * *x; ++x; } }"
    stepped = looplift.op("stepped", text, signature="(float64[n]) -> float64[n]", backward=backward)
    x = torch.tensor([[1.0], [-1.0]], dtype=torch.float64, requires_grad=True)
    stepped(x).sum().backward()
    assert x.grad.tolist() == [[2], [3]]


def test_without_a_backward_rule():
    x = torch.randn(3, 5, 6, requires_grad=True)
    m = torch.randn(3, 2, 3)
    for function in (warped, lift(warped)):
        out = function(x, m)
        assert out.requires_grad
        with pytest.raises(RuntimeError, match=r"has no gradient: give looplift.op\(..., backward=...\)"):
            out.sum().backward()
    with torch.no_grad():
        assert not warp(x, m).requires_grad


@pytest.mark.parametrize(
    ("backward", "text"),
    [(lambda g, x, f: g, "gives 1 gradients for 2 arguments"), (lambda g, x, f: (g, g), "for 'argument1' of shape")],
)
def test_gradients_that_do_not_fit(backward, text):
    wrong = looplift.op("bent", BENT, signature="(float64[n], float64[]) -> float64[n]", backward=backward)
    x, factor = torch.ones(3, dtype=torch.float64, requires_grad=True), torch.ones((), dtype=torch.float64)
    with pytest.raises(ValueError, match=text):
        wrong(x, factor).sum().backward()


# ---------------------------------------------------------------- graphs and transforms


def test_transforms():
    x, m = images()
    assert torch.equal(torch.vmap(warp)(x, m), warp(x, m))
    assert torch.equal(torch.vmap(warp, in_dims=(2, None))(x.permute(1, 2, 0), m[0]), warp(x, m[0]))
    nested = torch.vmap(lambda a: torch.vmap(lambda b: warp(a, b))(m))(x)
    assert torch.equal(nested, warp(x[:, None], m))
    assert torch.equal(torch.vmap(lambda a: warp(a, m))(x), nested)
    y = torch.randn(3, dtype=torch.float64, requires_grad=True)
    torch.vmap(lambda f: bent(y, f))(torch.ones(2, dtype=torch.float64)).sum().backward()
    assert torch.equal(y.grad, 2 * (y > 0).double())


def test_gradients_under_transforms():
    from torch.func import grad, jacrev, vmap

    x = torch.randn(4, 3, dtype=torch.float64)
    factor = torch.randn(4, dtype=torch.float64)

    def plain(x, factor):
        return factor.unsqueeze(-1) * torch.relu(x)

    def each(x, factor):
        return torch.stack([bent(x[i], factor[i]) for i in range(x.shape[0])])

    for one, other in [
        (lambda f: grad(lambda x: (f(x, factor) ** 2).sum())(x), plain),
        (lambda f: vmap(grad(lambda x, k: (f(x, k) ** 2).sum(), argnums=(0, 1)))(x, factor), plain),
        (lambda f: jacrev(f, argnums=1)(x[0], factor[0]), plain),
        (lambda f: grad(lambda k: grad(lambda k: (f(x[0], k) ** 2).sum())(k))(factor[0]), plain),
        (lambda f: vmap(lambda k: vmap(grad(lambda x: f(x, k).sum()))(x))(factor), plain),
    ]:
        torch.testing.assert_close(one(bent), one(other))
    lifted = lift(each)
    found = grad(lambda x: (lifted(x, factor) ** 2).sum())(x)
    torch.testing.assert_close(found, grad(lambda x: (plain(x, factor) ** 2).sum())(x))


def test_in_a_graph():
    x, m = images()

    def function(x, m):
        return warp(2 * x, m) + 1

    compiled = torch.compile(function, backend="aot_eager", fullgraph=True, dynamic=True)
    assert torch.equal(compiled(x, m), function(x, m))
    assert torch.equal(compiled(x[:2, :3], m[:2]), function(x[:2, :3], m[:2]))
    lifted = torch.compile(lift(warped), backend="aot_eager", fullgraph=True)
    assert torch.equal(lifted(x, m), warped(x, m))


def test_in_an_exported_program(tmp_path):
    file = tmp_path / "warp.pt2"
    x, m = images()
    lift(warped).export(str(file), x, m)
    assert torch.equal(looplift.load(file)(x, m), warped(x, m))
    torch.save((x, m, warped(x, m)), tmp_path / "values.pt")
    program = """
import sys, torch, looplift
x, m, wanted = torch.load(sys.argv[2])
mine = looplift.op("warp", "void warp(double x, double* y) { *y = x; }", signature="(float) -> float64[]")
assert torch.equal(looplift.load(sys.argv[1])(x, m), wanted)
"""
    subprocess.run([sys.executable, "-c", program, str(file), str(tmp_path / "values.pt")], check=True)


# ---------------------------------------------------------------- as a value


class Weighted(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.bend = bent
        self.factor = torch.nn.Parameter(torch.full((), 2.0, dtype=torch.float64))

    def forward(self, x):
        return torch.stack([self.bend(row, self.factor) for row in x])


def test_in_a_module_and_its_copies():
    model, x = Weighted(), torch.randn(4, 3, dtype=torch.float64)
    other = lift(copy.deepcopy(model))
    assert other.bend is bent
    for one in (model, other, other):
        one.zero_grad()
        one(x).sum().backward()
    torch.testing.assert_close(other(x), model(x), rtol=0, atol=0)
    torch.testing.assert_close(other.factor.grad, model.factor.grad)
    assert [loop.decision for loop in other.forward.report().loops] == ["lanes"]


def test_as_an_argument_and_through_other_functions():
    def loop(x, operator):
        return [operator(row, 1) for row in x]

    def partly(x):
        wide = functools.partial(pooled, width=2)
        return [wide(row) for row in x]

    lifted, x = lift(loop), torch.randn(3, 4, dtype=torch.float64)
    for operator in (pooled, lookup, pooled, lambda row, k: row * k):
        assert_same(lifted(x, operator), loop(x, operator))
    check(partly, x)


def test_the_default_device_is_not_where_numbers_are():
    x = torch.ones(3, dtype=torch.float64)
    with torch.device("meta"):
        assert split(x, 2.0, False)[0].device == x.device
