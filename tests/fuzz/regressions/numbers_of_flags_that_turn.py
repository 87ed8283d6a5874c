def program(xs):
    out, flag = [], True
    for x in xs:
        flag, a, b = x > 2, round(flag), +flag
        out.append((flag, a, b))
    return out


def arguments(seed):
    return ([(k * 7 + seed) % 5 for k in range(6)],)
