"""`(a * b + f(a)) % m` of objects read `a`, `b` and `f(a)` before the first operator ran."""


class Number:
    def __init__(self, value):
        self.value = value

    def __mul__(self, other):
        return Number(self.value * other.value)

    def __add__(self, other):
        return Number(self.value + other.value)

    def __mod__(self, other):
        return Number(self.value % other.value)


def raised(one, by):
    one.value += by
    return one


def program(xs):
    a, b, m, found = Number(2), Number(3), Number(7), []
    for x in xs:
        found.append(((a * b + raised(a, x)) % m).value)
    return found


def arguments(seed):
    return ([(5 * seed + 3 * k) % 11 for k in range([6, 1, 0, 3][seed % 4])],)
