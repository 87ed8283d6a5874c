import math


def program(functions, keys):
    total = 0.0
    for i in range(len(keys)):
        total = total * 0.5 + functions[keys[i]](2.0 + i)
    return total


def arguments(seed):
    return [math.sin, math.cos], [float(seed % 2), 1.0, 0.0] if seed < 4 else [1, 0, 1]
