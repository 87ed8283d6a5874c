"""A generator function had the defaults of its text, and not those that it was given later."""


def counted(n, k=3):
    for i in range(n):
        yield i * k


counted.__defaults__ = (5,)


def program(n):
    total = 0
    for v in counted(n):
        total += v
    return total


def arguments(seed):
    return (seed,)
