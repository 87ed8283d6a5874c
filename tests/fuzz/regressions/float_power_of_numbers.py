"""torch.float_power computes in double precision, also of Python's numbers."""

import torch


# float_power
def program(w, f, n, m):
    out = torch.zeros(
        (
            n,
            m,
        ),
        dtype=torch.float64,
    )
    for i in range(n):
        out[i] += torch.float_power(f[i], w)
    return out


SIZES = [(4, 3), (2, 1), (0, 3), (2, 1)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    w = torch.randint(-3, 5, (m,), generator=g).to(torch.int8)
    f = [0.5 + 0.75 * r - 0.1 * seed for r in range(n)]
    return (
        w,
        f,
        n,
        m,
    )
