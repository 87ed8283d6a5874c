class Asked:
    def __init__(self, **held):
        self.__dict__.update(held)

    def __getattr__(self, name):
        if name != "scale":
            raise AttributeError(name)
        self.__dict__["count"] = self.__dict__.get("count", 0.0) + 1.0
        return self.__dict__["count"]


def program(owner, x):
    out = []
    for value in x:
        out.append(value * owner.scale)
    return out, vars(owner).get("count")


def arguments(seed):
    return Asked() if seed % 2 else Asked(scale=float(seed)), [1.0, 2.0, 3.0]
