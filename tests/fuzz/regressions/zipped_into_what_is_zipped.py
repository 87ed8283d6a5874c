"""`for xs[0], y in zip(ys, xs)` read `y` after it had stored into `xs`."""


def program(xs, ys):
    found = []
    for _ in range(2):
        for xs[0], y in zip(ys, xs):
            found.append(y)
        for xs[1], x in enumerate(xs):
            found.append(x)
    return found


def arguments(seed):
    return [3 * seed + k for k in range(3)], [7 * k - seed for k in range([3, 1, 0, 5][seed % 4])]
