# precision: double
"""Program 14040028: result[1]: torch.float32 () instead of torch.float64 ()  [seed 0, no_grad]"""

import torch


def program(x, cube, scale):
    state2 = 1.0
    for left0, right0 in zip(x, cube):
        if (left0 > 2).all():
            continue
        v3 = scale
        state2 = scale * state2 + min(v3, 0.0)
    return (state2,)


SIZES = [(3, 4, 2), (2, 5, 3), (1, 3, 2), (0, 3, 2)]


def arguments(seed):
    n, m, k = SIZES[seed % 4]
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n + m, generator=g).to(torch.float64).as_strided((n, m), (1, 1))
    cube = ((torch.randn(n, m, k, generator=g) * 2).round() / 2).to(torch.float64)
    scale = torch.tensor(0.5 + 0.25 * seed, dtype=torch.float64)
    return (x, cube, scale)
