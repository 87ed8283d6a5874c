"""``dict.fromkeys`` works out the keys before the value."""


def program(q):
    found = []
    while len(q) > 2:
        found += dict.fromkeys([q.pop()], q[-1]).items()
        found += dict.fromkeys([q[-1]], q.pop()).items()
    return found


def arguments(seed):
    return (list(range(6 + seed)),)
