import enum


class Mode(str, enum.Enum):
    SUM = "sum"
    MAX = "max"


def reduced(xs, mode):
    total = 0.0
    for x in xs:
        if mode == Mode.SUM:
            total += x
        elif mode is Mode.MAX:
            total = max(total, x)
        elif mode == "max":
            total = total - x
    return total


def program(xs, place):
    return reduced(xs, (Mode.SUM, Mode.MAX, "max", "sum", Mode.MAX)[place])


def arguments(seed):
    return [1.0, float(seed), 2.0], seed % 5
