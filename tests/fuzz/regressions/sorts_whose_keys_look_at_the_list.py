def program(xs):
    out = []
    for _ in range(3):
        xs.sort(key=lambda v: (xs.count(v), len(xs) * v, v))
        out.append(xs[0])
        xs.append(out[-1] - 1)
    return out


def arguments(seed):
    return ([(k * 7 + seed) % 4 for k in range(5 + seed)],)
