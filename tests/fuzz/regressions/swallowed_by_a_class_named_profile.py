"""What a loop had computed before it raised was lost under a context of the user's by the name of a library's."""


class profile:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        return True


def program(xs):
    total = 0
    with profile():
        for x in xs:
            total += 10 // x
    return total


def arguments(seed):
    return ([[3, 1, 2], [5, 0, 1], [], [2, 2, 0]][seed % 4],)
