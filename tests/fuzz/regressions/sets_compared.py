"""Sets of what the caller gives were compared as lists are."""


def program(xs, ys, n):
    out = []
    for i in range(n):
        out.append((set(xs) == set(ys), set(xs) < frozenset(ys), i in set(xs), f"{set(xs)}", set(xs) == xs))
    return out


def arguments(seed):
    return [[8, 0], [0, 8]][seed % 2], [[0, 8], [0, 8, 1]][seed // 2 % 2], 2
