class Log:
    def __init__(self, entries, x):
        self.entries, self.x = entries, x

    def __add__(self, other):
        self.entries.append(self.x * 10 + len(self.entries))
        return self.x + other.x

    @property
    def last(self):
        self.entries.append(self.x)
        return self.entries[0]


def program(log, other, entries):
    total = 0
    for k in range(20):
        total += log + other
        total = total * 3 % 1000003 + entries[-1]
    for k in range(20):
        total = (total + other.last) * 3 % 1000003 + entries[-1] + k
    return total


def arguments(seed):
    entries = [seed + 1]
    return Log(entries, seed), Log(entries, 3), entries
