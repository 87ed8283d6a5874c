"""Program 1000005719: warning: <fuzzed program 13936.744>:26: batched code and loop gave different results, the loop is kept (values['m.other']: an object of its own instead of one that is al"""

import torch


class Meter:
    def __init__(self, rate):
        super().__init__()
        self.rate = rate
        self.n, self.mean, self.last, self.best = (0, 0.0, 0.0, 0.0)
        self.seen = [0.0, 1.0]

    def update(self, x):
        d = 0.25
        self.last = x
        self.other = self.last
        return self.mean
        if self.n > 2:
            self.last = self.best

    def total(self):
        return self.mean * 2


def program(x, given, pair):
    m = Meter(0.9)
    out, kept, y, h = ([], {}, None, None)
    for i in range(len(x)):
        m.update(x[i])
        out.append(m.mean)
    return ([v * 1 for v in out], m.n, m.mean * 1, m.best * 1, given.mean * 1, y)


def arguments(seed):
    g = torch.Generator().manual_seed(seed)
    n = [7, 2, 3, 9][seed % 4]
    x = torch.randn(n, generator=g, dtype=torch.float64).to(torch.float64)
    given = Meter(0.25 * (seed % 3))
    return (x, given, [given, Meter(0.1)])
