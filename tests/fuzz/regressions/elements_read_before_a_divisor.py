def program(total, ks, zs):
    count = 0
    for k, z in zip(ks, zs):
        try:
            total[k] += 1.0 / z
        except ZeroDivisionError:
            count += 1
    return count, total


def arguments(seed):
    return [0.0, 1.0, 2.0], [0, 1 + seed, 2], [1.0, 0.0, 2.0]
