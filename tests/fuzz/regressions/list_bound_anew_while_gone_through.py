# precision: exact
"""A loop goes on over the list that it began with, whatever its name is bound to in its body."""


def program(xs, ys, rows):
    out, seen, places = {}, [], []
    for x in xs:
        out[len(out)] = x * 2
        xs = ys
    for row in rows:
        for x in row:
            seen.append(x)
            row = xs
        k = 0
        before = xs
        while k < 3:
            places.append(len(before))
            xs = row
            k += 1
    return out, len(xs), seen, places


def arguments(seed):
    count = (3, 0, 1, 5)[seed % 4]
    return [*range(count)], [7] * (seed + 1), [[*range(k % 3)] for k in range(count)]
