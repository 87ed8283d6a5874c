# precision: double
"""exception: RuntimeError('A view was created in no_grad mode and its base or another view of its base has been modified inplace with (at snapshot.py:255) instead of none  [seed 0, no_grad]"""

import torch


def program(x, w):
    total = w.sum()
    state = w[:3]
    for i in range(1, len(x)):
        state[1] = x[i]
    for i in range(len(x)):
        state = state + x[i]
        if total > 1:
            break
    return state


def arguments(seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn([6, 3, 1, 0][seed % 4], generator=g, dtype=torch.float64)
    w = torch.randn(4, generator=g, dtype=torch.float64)
    return x.requires_grad_(), w.requires_grad_()
