"""The default of a keyword of a helper changes in place between two loops over it."""


def scaled(value, *, factor=2):
    return value * factor


def total(values):
    found = 0
    for value in values:
        found += scaled(value)
    return found


def program(values, factors):
    seen = []
    for factor in factors:
        scaled.__kwdefaults__["factor"] = factor
        seen.append(total(values))
    return seen


def arguments(seed):
    return [1.5, 2.0, 3.0][: seed % 4], [2, 7, 7.5, -1][seed % 3 :]
