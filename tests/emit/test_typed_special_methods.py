"""Classes that say how long their objects are, whether these hold, what they contain, and what is at a place."""

import pytest

from looplift import lift

BACKENDS = ("auto", "torch", "native")


class Tree:
    def __init__(self, op, args=(), value=0):
        self.op, self.args, self.value = op, list(args), value

    def __len__(self):
        return 1 + sum(len(a) for a in self.args)

    def __iter__(self):
        yield self
        for a in self.args:
            yield from a

    def __repr__(self):
        return f"<{self.op}>"


def value_of(tree, row):
    if tree.op == "var":
        return row[tree.value]
    if tree.op == "add":
        return value_of(tree.args[0], row) + value_of(tree.args[1], row)
    return value_of(tree.args[0], row) * value_of(tree.args[1], row)


def scores(trees, rows):
    out = []
    for tree in trees:
        total = 0.0
        for row in rows:
            total += value_of(tree, row)
        out.append(total + 0.25 * len(tree))
    return out


def a_tree(depth, k=0):
    if depth == 0:
        return Tree("var", value=k % 3)
    return Tree(("add", "mul")[k % 2], [a_tree(depth - 1, k + 1), a_tree(depth - 1, k + 2)])


class Bag:
    def __init__(self, items):
        self.items = items
        self.asked = 0

    def __len__(self):
        self.asked += 1
        return len(self.items)

    def __getitem__(self, k):
        return self.items[-1 - k]

    def __contains__(self, item):
        for one in self.items:
            if one == 2 * item:
                return True
        return False


def of_bags(bags):
    found = []
    for bag in bags:
        if bag:
            found.append(bag[0])
        if not bag:
            found.append(-1)
        if 3 in bag and bag[1] > 0:
            found.append(bag[1] * 100)
        found.append(len(bag) + (7 not in bag))
    while bags and not bags[-1]:
        bags.pop()
    return found, any(bag for bag in bags), bool(bags and bags[0]), len(bags)


class Flag:
    def __init__(self, on, next=None):
        self.on, self.next = on, next

    def __bool__(self):
        return self.on > 0

    def __len__(self):
        return 0


def of_flags(flag):
    count = 0
    while flag:
        count += 10 if flag.next else 1
        flag = flag.next
    return count


class Negative:
    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n


def of_lengths(numbers):
    total = 0
    for n in numbers:
        total += 1 if Negative(n) else 0
    return total


def bags():
    return [Bag([4, 6, 1]), Bag([]), Bag([6, 9]), Bag([14]), Bag([0]), Bag([])]


CASES = {
    "scores": (scores, lambda: ([a_tree(3, k) for k in range(4)], [[0.5, 1.5, -2.0], [1.0, 0.25, 3.0]])),
    "bags": (of_bags, lambda: (bags(),)),
    "flags": (of_flags, lambda: (Flag(1, Flag(2, Flag(3, Flag(0, Flag(1))))),)),
    "flags that end": (of_flags, lambda: (Flag(1, Flag(2)),)),
    "lengths": (of_lengths, lambda: ([0, 3, 1, 0],)),
}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", CASES)
def test_what_classes_say_of_their_objects(name, backend):
    function, arguments = CASES[name]
    lifted = lift(function, backend=backend)
    for _ in range(3):
        mine, theirs = arguments(), arguments()
        assert lifted(*mine) == function(*theirs)
        if name == "bags":
            assert [bag.asked for bag in mine[0]] == [bag.asked for bag in theirs[0]]
    if backend != "torch":
        assert lifted.report().loops[0].decision == "native"


@pytest.mark.parametrize("backend", BACKENDS)
def test_no_length_is_negative(backend):
    lifted = lift(of_lengths, backend=backend)
    assert lifted([1, 2]) == 2
    with pytest.raises(ValueError, match="should return >= 0"):
        lifted([1, -2])


class Equal:
    def __init__(self, n):
        self.n = n

    def __eq__(self, other):
        return abs(self.n - other.n) < 2


def of_equals(numbers):
    total, before = 0, Equal(0)
    for n in numbers:
        one = Equal(n)
        total += 10 if one == before else 1
        before = one
    return total


class Grown:
    def __init__(self, items):
        self.items = items

    def __iter__(self):
        return iter(self.items)


def of_grown(groups):
    total = 0
    for group in groups:
        for one in group:
            total += one
        total += 10 if 3 in group else 0
    return total


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("function", "arguments"),
    [(of_equals, lambda: ([0, 1, 5, 6, 9],)), (of_grown, lambda: ([Grown([1, 3]), Grown([2])],))],
)
def test_what_else_classes_say(function, arguments, backend):
    lifted = lift(function, backend=backend)
    for _ in range(3):
        assert lifted(*arguments()) == function(*arguments())
