import typing


@typing.runtime_checkable
class Scaled(typing.Protocol):
    scale: float


class ByValue(type):
    def __instancecheck__(cls, value):
        return value.value > 1


class Large(metaclass=ByValue):
    pass


class Holder:
    def __init__(self, **held):
        self.__dict__.update(held)


def program(holder, xs):
    out = []
    for x in xs:
        out.append(x * 2 if isinstance(holder, Scaled) else x)
    for x in xs:
        out.append(x * 3 if isinstance(holder, Large) else x)
    return out


def arguments(seed):
    return Holder(value=seed, **({} if seed % 2 else {"scale": 1.0})), [1.0, 2.0, 3.0]
