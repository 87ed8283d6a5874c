"""Defaults of keywords that change in place after a loop was lifted."""

import pytest
import torch

import looplift


def scaled(value, *, factor=2, offset=1.0):
    return value * factor + offset


def over_tensors(x):
    out = torch.zeros(len(x))
    for i in range(len(x)):
        out[i] = scaled(x[i])
    return out


def over_numbers(values):
    total = 0
    for value in values:
        total += scaled(value)
    return total


def into_a_dict(values):
    found = {}
    for value in values:
        found[value % 3] = found.get(value % 3, 0) + scaled(value)
    return found


class Meter:
    def __init__(self, *, width=3):
        self.width = width

    def read(self, value, *, factor=2):
        return value * factor + self.width


def of_methods(values):
    meter, total = Meter(), 0
    for value in values:
        total += meter.read(value)
    return total


def of_constructors(values):
    total = 0
    for value in values:
        total += Meter().width * value
    return total


class Layer(torch.nn.Module):
    def forward(self, x, *, factor=2.0):
        return x * factor


LAYER = Layer()


def of_modules(x):
    out = []
    for i in range(len(x)):
        out.append(LAYER(x[i]))
    return torch.stack(out)


def numbers(count, *, factor=2):
    for k in range(count):
        yield k * factor


def of_generators(values):
    total = 0
    for value in numbers(len(values)):
        total += value
    return total


def descended(node, *, factor=2.0):
    if not node:
        return torch.zeros(()) + factor
    return descended(node[0]) * factor + descended(node[1])


def of_recursion(trees):
    out = []
    for tree in trees:
        out.append(descended(tree))
    return torch.stack(out)


X, NUMBERS, TREES = torch.arange(4.0), [1, 2, 3, 4], [((), ()), (((), ()), ())]
CASES = [
    (over_tensors, X, scaled), (over_numbers, NUMBERS, scaled), (into_a_dict, NUMBERS, scaled),
    (of_methods, NUMBERS, Meter.read), (of_constructors, NUMBERS, Meter.__init__), (of_modules, X, Layer.forward),
    (of_generators, NUMBERS, numbers), (of_recursion, TREES, descended),
]  # fmt: skip


@pytest.fixture(params=CASES, ids=lambda case: case[0].__name__)
def case(request):
    helper = request.param[2]
    known = dict(helper.__kwdefaults__)
    yield request.param
    helper.__kwdefaults__.clear()
    helper.__kwdefaults__.update(known)


@pytest.mark.parametrize("backend", ["auto", "native", "torch"])
@pytest.mark.parametrize("verify", ["first", "off"])
def test_defaults_of_keywords_in_place(case, backend, verify):
    function, given, helper = case
    lifted = looplift.lift(function, backend=backend, verify=verify)
    for other in (2, 7, 7.5, -0.0, 0.0, True, torch.tensor(3.0), 7):
        for name in helper.__kwdefaults__:
            helper.__kwdefaults__[name] = other
            want, got = function(given), lifted(given)
            assert type(got) is type(want)
            if isinstance(want, torch.Tensor):
                torch.testing.assert_close(got, want)
            else:
                assert repr(got) == repr(want)


@pytest.mark.parametrize("backend", ["auto", "native", "torch"])
def test_of_inner_functions(backend):
    def near(value, *, factor=2, offset=1.0):
        return value * factor + offset

    def program(values):
        total = 0
        for value in values:
            total += near(value)
        return total

    lifted = looplift.lift(program, backend=backend, verify="off")
    for other in (2, 7.5, True, torch.tensor(2.0), torch.tensor(4.0), -0.0):
        near.__kwdefaults__["factor"] = other
        assert repr(lifted([1, 2, 3])) == repr(program([1, 2, 3]))
    del near.__kwdefaults__["offset"]
    for function in (program, lifted):
        with pytest.raises(TypeError, match="offset"):
            function([1, 2, 3])
