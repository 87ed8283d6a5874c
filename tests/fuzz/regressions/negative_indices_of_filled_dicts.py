"""A dict that is filled under indices has no key below the first one."""


def program(values, low):
    near, total = {}, 0
    for i in range(len(values)):
        near[i] = values[i] * 2
    for j in range(low, len(values)):
        total = total + near[j]
    for j in range(len(values) - 1, low - 1, -1):
        total = total + near[j]
    return total


def arguments(seed):
    return [1.0, 2.0, 3.0, 4.0][seed % 3 :], -(seed % 2)
