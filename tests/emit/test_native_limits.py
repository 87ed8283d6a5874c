"""Numbers at the ends of their types: a kernel raises where the loop does, and counts as far."""

import copy
import math

import numpy as np
import pytest
import torch

from looplift import lift
from looplift.base.compare import difference


def fill(x, value):
    for i in range(len(x)):
        x[i] = value
    return x


def whole(x, out):
    for i in range(len(x)):
        out[i] = int(x[i])
    return out


def below_one(x):
    for i in range(len(x)):
        x[i] = -0.5
    return x


def trips(first, limit, step):
    count = 0
    for _ in range(first, limit, step):
        count = count + 1
        if count > 5:
            break
    return count


def outcome(function, arguments):
    arguments = copy.deepcopy(arguments)
    try:
        return function(*arguments), arguments
    except Exception as error:
        return type(error), str(error)


def compared(function, start, *others):
    """A native kernel that is made for the first arguments, with all of them."""
    for arguments in (start, *others):
        lifted = lift(function, backend="native", verify="off")
        lifted(*copy.deepcopy(start))
        assert lifted.report().loops[0].decision == "native"
        assert difference(outcome(lifted, arguments), outcome(function, arguments)) is None, arguments


INTEGERS = (torch.uint8, torch.int8, torch.int32, np.uint8, np.int8, np.int32, np.uint64)


def zeros(dtype):
    return torch.zeros(2, dtype=dtype) if isinstance(dtype, torch.dtype) else np.zeros(2, dtype=dtype)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_numbers_that_just_fit_or_do_not(dtype):
    info = torch.iinfo(dtype) if isinstance(dtype, torch.dtype) else np.iinfo(dtype)
    ends = (int(info.min), int(info.max))
    floats = [end + more for end in ends for more in (-1.0, -0.5, 0.0, 0.5, 1.0)]
    compared(fill, (zeros(dtype), 1.5), *((zeros(dtype), value) for value in floats))
    integers = [end + more for end in ends for more in (-1, 0, 1) if abs(end + more) < 2**63]
    compared(fill, (zeros(dtype), 1), *((zeros(dtype), value) for value in integers))
    make = torch.tensor if isinstance(dtype, torch.dtype) else np.array
    compared(whole, (make([1.5, 1.5]), zeros(dtype)), *((make([v, v]), zeros(dtype)) for v in floats))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_a_constant_that_does_not_fit(dtype):
    lifted = lift(below_one, backend="native", verify="off")
    assert difference(outcome(lifted, (zeros(dtype),)), outcome(below_one, (zeros(dtype),))) is None


def test_ranges_longer_than_64_bits():
    others = [
        (0, -(2**63), -1),
        (-(2**63), 2**63 - 1, 1),
        (2**63 - 1, -(2**63), -3),
        (5, 5, 1),
        (-(2**63), 2**63 - 1, 2),
    ]
    compared(trips, (0, 10, 2), *others)


def counted_in(marks, values):
    for i in range(len(values)):
        marks[i] += values[i]
    return marks


def counted_twice(marks, values):
    for i in range(len(values)):
        marks[i // 2] *= 2
    return marks


@pytest.mark.parametrize("backend", ["native", "torch", "auto"])
@pytest.mark.parametrize("values", [torch.arange(3), torch.arange(6).reshape(3, 2)], ids=["numbers", "rows"])
def test_booleans_take_no_integers_in_place(values, backend):
    for function in (counted_in, counted_twice):
        for run in (function, lift(function, backend=backend, verify="off")):
            with pytest.raises(RuntimeError, match="can't be cast to the desired output type Bool"):
                run(torch.zeros(values.shape, dtype=torch.bool), values)


def test_unsigned_numbers_have_no_negative():
    def negated(x, out):
        for i in range(len(x)):
            out[i] = -x[i]
        return out

    for function in (negated, lift(negated, backend="native", verify="off")):
        with pytest.warns(RuntimeWarning, match="overflow encountered in scalar negative"):
            assert function(np.array([2**63], np.uint64), np.zeros(1, np.uint64))[0] == 2**63


def powers(x, exponent, out):
    for i in range(len(x)):
        out[i] = x[i] ** exponent
    return out


@pytest.mark.parametrize("exponent", [0.3, 3.7, -0.7, 1 / 3, 16777217.0, 1e-46, 5, 0.5, -1.0, 0])
def test_powers_in_single_precision(exponent):
    x = torch.tensor([0.0, -0.0, 0.1, 2.5, 3.7, 7.3, -1.0, 1e30, 1e10, float("inf"), float("nan")])
    lifted = lift(powers, backend="native", verify="off")
    assert difference(lifted(x, exponent, x * 0), powers(x, exponent, x * 0)) is None


def over_all(x, number, out):
    for i in range(len(x)):
        out[i] = x[i] * number + out[i - 1]
    return out


def test_numbers_beyond_single_precision_warn():
    x = np.ones((3, 2), np.float32)
    lifted = lift(over_all, backend="native", verify="off")
    assert np.array_equal(lifted(x, 0.5, np.zeros((3, 2), np.float32)), over_all(x, 0.5, np.zeros((3, 2), np.float32)))
    assert lifted.report().loops[0].decision == "native"
    for rows in (x, x[:, 0]):
        with pytest.warns(RuntimeWarning, match="overflow encountered in cast"):
            lifted(rows, 1e300, np.zeros_like(rows))


def test_signed_and_unsigned_numbers_compare_exactly():
    def counted(a, b):
        found = 0
        for i in range(len(a)):
            if a[i] < b[i]:
                found += 1
        return found

    assert lift(counted, backend="native")(np.array([2**53], np.uint64), np.array([2**53 + 1])) == 1


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_quotients_of_a_number_round_once_as_functions_and_twice_as_operators(dtype):
    def quotients(x, number, out):
        for i in range(len(x)):
            out[0, i] = torch.true_divide(number, x[i])
            out[1, i] = number / x[i]
        return out

    x, out = torch.tensor([1.5, 3.0, 3.7, -3.7, 0.3, 7.0, 0.0], dtype=dtype), torch.zeros(2, 7, dtype=dtype)
    lifted = lift(quotients, backend="native", verify="off")
    assert difference(lifted(x, 2.5, out * 0), quotients(x, 2.5, out * 0)) is None


def test_exponents_that_a_type_does_not_hold():
    small = torch.arange(-3, 4).to(torch.int8)
    for function in (powers, lift(powers, backend="native", verify="off")):
        assert function(small, 3, small * 0).tolist() == [-27, -8, -1, 0, 1, 8, 27]
        with pytest.raises(RuntimeError, match="without overflow"):
            function(small, 300, small * 0)


def test_numbers_too_large_for_their_place_are_stored_nowhere():
    def floored(x, least, out):
        for i in range(len(x)):
            out[i] = max(x[i], least)
        return out

    for function in (floored, lift(floored, backend="native", verify="off")):
        assert function(torch.ones(2), 2.0, torch.zeros(2)).tolist() == [2.0, 2.0]
        assert function(torch.ones(2), float("inf"), torch.zeros(2)).tolist() == [float("inf")] * 2
        with pytest.raises(RuntimeError, match="without overflow"):
            function(torch.ones(2), 1e300, torch.zeros(2))


def filled(x, bound, out):
    for i in range(len(x)):
        if x[i] > 5:
            out[i] = 1e300
    return out


def clamped(x, bound, out):
    for i in range(len(x)):
        out[i] = torch.clamp(x[i], max=bound)
    return out


def chosen(x, bound, out):
    for i in range(len(x)):
        out[i] = torch.where(x[i] > 5, bound, x[i])
    return out


@pytest.mark.parametrize("function", [filled, clamped, chosen])
def test_bounds_and_constants_that_single_precision_does_not_hold(function):
    small, large = torch.tensor([1.0, 2.0]), torch.tensor([1.0, 9.0])
    for run in (function, lift(function, backend="native", verify="off")):
        assert run(small, 2.5, torch.zeros(2)).tolist() == function(small, 2.5, torch.zeros(2)).tolist()
        with pytest.raises(RuntimeError, match="without overflow"):
            run(large, 1e300, torch.zeros(2))


def statistics(x, n):
    found = []
    for i in range(n):
        row = -x[i]
        found += [row.sum(), row.mean(), np.median(row), np.cumsum(row)[-1], np.prod(row), row.max()]
    return found


@pytest.mark.parametrize("length", [1, 2, 3, 9])
def test_sums_of_negative_zeros(length):
    x = np.zeros((2, length))
    lifted = lift(statistics, backend="native", verify="off")
    wanted = statistics(x, 2)
    found = lifted(x, 2)
    assert lifted.report().loops[0].decision == "native"
    assert list(map(repr, found)) == list(map(repr, wanted))


def test_places_of_small_numbers_among_large_ones():
    def places(x, n):
        found = []
        for i in range(n):
            found.append(np.searchsorted(x[i], 2))
        return found

    x = np.array([[2**62, 2**62, 2**62], [1, 2, 2**40], [-(2**62), 2**32, 2**33]])
    assert lift(places, backend="native", verify="off")(x, 3) == places(x, 3)


def lengths(x, out):
    for i in range(1, len(x)):
        out[i] = torch.norm(x[i]) + x[i].mean() + out[i - 1] * 0.5
    return out


def test_norms_that_single_precision_does_not_hold():
    lifted = lift(lengths, backend="native", verify="off")
    for row in ([1e30, 2.0], [1e-28, 4e-25], [3e38, 3e38]):
        x = torch.tensor([[1.0, 2.0], row])
        torch.testing.assert_close(lifted(x, torch.zeros(2)), lengths(x, torch.zeros(2)))
    assert lifted.report().loops[0].decision == "native"


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_single_numbers_beside_rows_of_halves(dtype):
    def scaled(x, factor, out):
        for i in range(1, len(x)):
            out[i] = x[i] * factor + out[i - 1] * 0.1 + x[i] / factor
        return out

    x = torch.rand(4, 3, generator=torch.Generator().manual_seed(3)).to(dtype)
    for factor in (torch.tensor(0.1), torch.tensor(0.1, dtype=dtype), 0.1):
        lifted = lift(scaled, backend="native", verify="off")
        assert torch.equal(lifted(x, factor, x * 0), scaled(x, factor, x * 0))


def whole_and_back(xs):
    out = []
    for x in xs:
        out.append(float(int(x)))
        out.append(float(math.ceil(x)) * 2.0)
        out.append(round(x) * 1.0)
    return out


def parts(x, out):
    for i in range(len(x)):
        out[i] = x[i].long()
    return out


def test_a_zero_that_was_an_integer_has_no_sign():
    xs = [-0.4, 0.4, -1.6, -0.0]
    lifted = lift(whole_and_back, backend="native", verify="off")
    assert list(map(repr, lifted(xs))) == list(map(repr, whole_and_back(xs)))
    assert lifted.report().loops[0].decision == "native"
    for dtype in (torch.float64, torch.float32):
        x = torch.tensor(xs, dtype=dtype)
        lifted = lift(parts, backend="native", verify="off")
        assert not torch.signbit(lifted(x, x * 0 + 1)[[0, 1, 3]]).any()
        assert lifted.report().loops[0].decision == "native"


def powers_of_floats(xs):
    out = []
    for x in xs:
        out.append(x**2)
        out.append(x**-1)
        out.append(x**0.5)
    return out


def constants(xs):
    out = []
    for x in xs:
        out.append(x * math.tanh(0.31))
        out.append(x * math.sinh(0.17))
        out.append(x * math.cbrt(0.77))
        out.append(x * math.erf(0.23))
    return out


@pytest.mark.parametrize("function", [powers_of_floats, constants])
def test_functions_round_as_the_library_does(function):
    xs = np.random.default_rng(0).uniform(0.1, 3.0, 20000).tolist()
    lifted = lift(function, backend="native", verify="off")
    assert lifted(xs) == function(xs)
    assert lifted.report().loops[0].decision == "native"


def power_of_each(x, exponent, out):
    for i in range(len(x)):
        out[i] = np.power(x[i], exponent)
    return out


def square_of_each(x, exponent, out):
    for i in range(len(x)):
        out[i] = x[i] ** 2 + out[i - 1] * 0
    return out


def power_of_rows(x, exponent, out):
    for i in range(len(x)):
        out[i] = x[i] ** exponent
    return out


@pytest.mark.parametrize("exponent", [2.0, -1.0, 0.5, 1.7])
@pytest.mark.parametrize("function", [power_of_each, square_of_each, power_of_rows])
def test_powers_of_numpy(function, exponent):
    x = np.random.default_rng(0).uniform(0.1, 3.0, 20000)
    x = x.reshape(-1, 10) if function is power_of_rows else x
    lifted = lift(function, backend="native", verify="off")
    found, wanted = lifted(x, exponent, x * 0), function(x, exponent, x * 0)
    if exponent == 1.7:  # NumPy has a library of its own where the processor has AVX-512
        np.testing.assert_array_max_ulp(found, wanted, maxulp=1)
    else:
        assert np.array_equal(found, wanted)
    assert lifted.report().loops[0].decision == "native"


def doubled_beyond(w, limit):
    for i in range(1, len(w)):
        if w[i] > limit:
            w[i] = w[i - 1] * 2


def doubled(w, n):
    for i in range(1, n):
        w[i] = w[i - 1] * 2


@pytest.mark.parametrize("function, stores, stays", [(doubled_beyond, 3.0, 100.0), (doubled, 4, 0)])
def test_autograd_is_told_of_changes_alone(function, stores, stays):
    lifted = lift(function, backend="native", verify="off")
    for argument in (stores, stays):
        w, x = torch.arange(6.0), torch.ones(6, requires_grad=True)
        product, version = (w * x).sum(), w._version
        lifted(w, argument)
        assert (w._version > version) == (argument == stores)
        if argument == stays:
            product.backward()
    assert lifted.report().loops[0].decision == "native"


def between(x, low, out):
    for i in range(1, len(x)):
        out[i] = torch.clamp(x[i], low[i], 1.0) + out[i - 1]
    return out


def test_a_tensor_with_a_gradient_is_no_number():
    lifted = lift(between, backend="native", verify="off")
    x, low = torch.rand(4), torch.rand(4)
    assert torch.equal(lifted(x, low, torch.zeros(4)), between(x, low, torch.zeros(4)))
    for _ in range(2):
        with pytest.raises(TypeError, match="clamp"):
            lifted(x, low.clone().requires_grad_(), torch.zeros(4))


def remainders_of_a_number(x, number):
    total = torch.zeros(())
    for i in range(len(x)):
        total = total * 0.5 + number % x[i]
    return total


@pytest.mark.parametrize("number", [5, 5.0])
def test_what_has_no_derivative_has_none(number):
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    lifted = lift(remainders_of_a_number, verify="off")
    assert lifted(x, number) == remainders_of_a_number(x, number)
    with pytest.raises(RuntimeError, match="derivative for aten::remainder"):
        lifted(x, number).backward()


def sums_of_columns(x, out):
    for i in range(len(x)):
        out[i] = x[i].sum(axis=0)
    return out


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_columns_are_added_in_order(dtype):
    numbers = np.random.default_rng(0)
    x = (numbers.normal(size=(4, 50, 3)) * 10.0 ** numbers.integers(-8, 8, size=(4, 50, 3))).astype(dtype)
    lifted, out = lift(sums_of_columns, backend="native", verify="off"), np.zeros((4, 3), dtype)
    assert np.array_equal(lifted(x, out.copy()), sums_of_columns(x, out))
    assert lifted.report().loops[0].decision == "native"


def taken(x, index):
    total = 0.0
    for i in range(len(index)):
        total = total + x[index[i]]
    return total


def counted(x, index):
    total = 0
    for i in range(len(index)):
        for j in range(index[i]):
            total += j
    return total


@pytest.mark.parametrize("function", [taken, counted])
def test_what_is_no_index_is_none_in_a_kernel(function):
    x = np.arange(5.0)
    if function is taken:
        compared(function, (x, np.array([0, 4], np.uint64)), (x, np.array([0, 2**64 - 1], np.uint64)))
    lifted = lift(function, backend="native", verify="off")
    for arguments in ((x, np.array([True, False])), (x, np.array([1, 0]))):
        assert difference(outcome(lifted, arguments), outcome(function, arguments)) is None, arguments


LARGE = 2.0**63
ENDS = [math.nan, math.inf, -math.inf, LARGE, -LARGE, -LARGE - 2048, LARGE - 1024, -LARGE + 1024, 1e-320, -0.0]


def cut(x):
    out = []
    for i in range(len(x)):
        out.append(int(x[i]) // 3)
    return out


@pytest.mark.parametrize("value", ENDS)
@pytest.mark.parametrize("make", [np.array, torch.tensor, list, lambda x: np.array(x, dtype=np.float32)])
def test_a_float_is_cut_as_far_as_an_integer_has_bits(make, value):
    with np.errstate(all="ignore"):
        x = make([1.5, value, -2.5])
    lifted, found, wanted = lift(cut, backend="native"), [], []
    for call, seen in ((lifted, found), (lifted, found), (cut, wanted), (cut, wanted)):
        try:
            seen.append(call(x))
        except Exception as error:
            seen.append((type(error), str(error)))
    assert found == wanted
