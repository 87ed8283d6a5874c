"""Special methods of the user's classes run as often as in the loop, in its order, and hand out what is theirs."""

import dataclasses
import enum
import random
from collections import namedtuple

import pytest
import torch

from looplift import lift

BACKENDS = ["auto", "torch", "native"]


class Counted:
    """Each operation counts, and gives what depends on it."""

    def __init__(self):
        self.count = 0

    def _next(self):
        self.count += 1
        return self.count

    def __float__(self):
        return 1.0 / self._next()

    def __int__(self):
        return self._next()

    __index__ = __len__ = __neg__ = __abs__ = __int__

    def __mul__(self, other):
        return other * self._next()

    __rmul__ = __radd__ = __getitem__ = __mul__

    def __iadd__(self, other):
        self.count += other
        return self

    def __contains__(self, other):
        return self._next() % 2 == 0

    def __bool__(self):
        return self._next() < 3

    def __lt__(self, other):
        return self._next() % 3 == 0

    def __eq__(self, other):
        return self._next() % 2 == 0

    def __hash__(self):
        return self._next()

    def __str__(self):
        return str(self._next())


def converted(s, x):
    for i in range(len(x)):
        x[i] = x[i] * float(s) + int(s)
    return x


def multiplied(s, x):
    out = []
    for i in range(len(x)):
        out.append(s * x[i] + x[i] * s)
    return out


def of_one(s, x):
    out = []
    for i in range(len(x)):
        out.append(-s + abs(s))
    return out


def added(s, x):
    for i in range(len(x)):
        x[i] += s
    return x


def counted(s, x):
    n = 0
    for i in range(len(x)):
        if i in s:
            n += 1
        if s:
            n += 10
        if not s:
            n += 100
    return n


def compared(s, x):
    n = 0
    for i in range(len(x)):
        if s < i:
            n += 1
        if i == s:
            n += 10
        if i in [s]:
            n += 100
    return n


def written(s, x):
    text = ""
    for i in range(len(x)):
        text += f"{s},{i}"
    return text


def items(s, x):
    total = 0
    for i in range(len(x)):
        total = total + s[i] * x[i] + len(s)
    return total


def placed(s, x):
    total = 0
    for i in range(len(x)):
        total = total + x[0] + [1, 2, 3, 4, 5, 6, 7, 8][s]
    return total


def updated(s, x):
    for i in range(len(x)):
        s += i
    return s.count


def largest(s, x):
    out = []
    for i in range(len(x)):
        out.append(max(i, 2) + min([-s, i]))
    return out


FUNCTIONS = (converted, multiplied, of_one, added, counted, compared, written, items, placed, updated, largest)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda one: one.__name__)
def test_operators_that_count(function, backend):
    lifted = lift(function, backend=backend, verify="off")
    for _ in range(2):
        expected, result = Counted(), Counted()
        assert str(lifted(result, torch.ones(2))) == str(function(expected, torch.ones(2)))
        assert result.count == expected.count


class Data(torch.utils.data.Dataset):
    def __init__(self, x):
        self.x, self.reads = x, 0

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        self.reads += 1
        return self.x[i] + torch.rand(()), i


def total_of(data):
    total = 0
    for i in range(len(data)):
        value, k = data[i]
        total = total + value * k
    return total


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_dataset_that_draws(backend):
    found = []
    for function in (total_of, lift(total_of, backend=backend, verify="off")):
        torch.manual_seed(0)
        data = Data(torch.ones(4))
        found.append((function(data).item(), data.reads, torch.rand(()).item()))
    assert found[0] == found[1]


class Held:
    def __init__(self, t):
        self.t = t

    def __truediv__(self, k):
        return self.t


def handed_out(held, x):
    out = []
    for i in range(len(x)):
        row = held / 2
        row += x[i]
        out.append(row)
    return out


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_operator_that_hands_out_its_own_tensor(backend):
    held = Held(torch.ones(3))
    lifted = lift(handed_out, backend=backend, verify="off")
    out = lifted(held, torch.tensor([1.0, 2, 3]))
    assert all(row is held.t for row in out)
    assert held.t.tolist() == [7.0, 7.0, 7.0]
    report = " ".join(str(lifted.report()).split())
    assert backend != "torch" or "runs 'Held.__truediv__'" in report  # programs know what it does


class Shifted(int):
    def __radd__(self, other):
        return int(self) + other + 100


class Less(float):
    def __lt__(self, other):
        return True


def sums(o, x):
    out = []
    for i in range(len(x)):
        out.append(x[i] + o)
    return out


def above(o, x):
    n = 0
    for i in range(len(x)):
        if x[i] > o:
            n += 1
    return n


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("function", "number"), [(sums, Shifted(2)), (above, Less(2))])
def test_numbers_with_operators_of_their_own(function, number, backend):
    lifted = lift(function, backend=backend, verify="off")
    for one in (number, 2, number):
        assert lifted(one, [1, 2]) == function(one, [1, 2])


Pair = namedtuple("Pair", "scale shift")


class Colour(enum.IntEnum):
    RED = 2


@dataclasses.dataclass
class Settings:
    scale: float


class Named(dict):
    """A dict without operators of its own."""


def of_known_types(pair, colour, settings, named, blocks, x):
    out = torch.zeros(len(x))
    for i in range(len(x)):
        out[i] = x[i] * pair[0] + pair.shift + len(pair) + int(colour) * settings.scale + named["b"]
        if colour == 2:
            out[i] = out[i] + len(blocks)
    return out


@pytest.mark.parametrize("backend", ["auto", "torch"])
def test_operators_of_libraries_are_known(backend):
    blocks = torch.nn.ModuleList([torch.nn.Linear(2, 2)])
    given = (Pair(2.0, 1.0), Colour.RED, Settings(3.0), Named(b=5.0), blocks, torch.arange(3.0))
    lifted = lift(of_known_types, backend=backend, verify="off")
    assert lifted(*given).tolist() == of_known_types(*given).tolist()
    assert "kept" not in str(lifted.report()).splitlines()[0]


def bumped(x):
    y = x * 1
    for i in range(len(y)):
        row = random.choice(y)
        row += i
    return y


def chosen(xs, n):
    out = []
    for _ in range(n):
        out.append(random.choice(xs))
    return out


@pytest.mark.parametrize("backend", BACKENDS)
def test_choices_are_the_items_themselves(backend):
    lifted, found = lift(bumped, backend=backend, verify="off"), lift(chosen, backend=backend, verify="off")
    for x in (torch.zeros(4), torch.zeros(3, 2)):
        random.seed(0)
        expected = bumped(x).tolist(), random.random()
        random.seed(0)
        assert (lifted(x).tolist(), random.random()) == expected
    for xs in (torch.arange(4.0), [torch.zeros(1), torch.ones(1)], [1.5, 2.5]):
        random.seed(1)
        expected, following = chosen(xs, 3), random.random()
        random.seed(1)
        out = found(xs, 3)
        assert out == expected
        assert random.random() == following
        if not isinstance(xs[0], float):
            out[0].add_(5)
            assert out == expected
    with pytest.raises(IndexError):
        found(torch.zeros(0), 2)
