"""A loop that stays read a variable of the function around it as it was before, though what it calls rebinds that."""


def program(xs):
    count = 0

    def bump(v):
        nonlocal count
        count += v
        print(end="")

    def work(ys):
        out = []
        for y in ys:
            bump(y)
            out.append(str(count) + repr(y))
        return out

    return work(xs), count


def arguments(seed):
    return ([[3, 1, 2], [5], [], [2, 2]][seed % 4],)
