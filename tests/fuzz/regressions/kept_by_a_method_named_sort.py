"""A lambda that an object keeps, whose method goes by the name of a list's, read a name as it was in the loop."""


class Register:
    def __init__(self):
        self.kept = []

    def sort(self, key):
        self.kept.append(key)

    def update(self, values):
        self.kept.append(lambda one: [value + one for value in values])


def program(x):
    register = Register()
    s = 1
    for v in x:
        s = s + v
        register.sort(lambda a: a * s)
        register.update(a * s for a in x)
    s = 100
    return [one(2) for one in register.kept], s


def arguments(seed):
    return ([[3, 1, 2], [5], [], [2, 2]][seed % 4],)
