# precision: double
"""Program 1000010507: result[2][1]: np.float64(-1.9057712794065684) instead of np.float64(-1.2057712794065685) at (0,)  [seed 0]"""

import torch


def program(x, y, m, w, k, s, n):
    out = torch.zeros(n, dtype=torch.float64)
    total = torch.zeros(3, dtype=torch.float64)
    parts = []
    for i in range(n):
        for p in (w, s):
            p.grad = None
        with torch.no_grad():
            c = m[i].norm()
        b = m[i]
        a = m[i].detach().clone().requires_grad_()
        loss = (a * w[:3]).sum() + s * max(x[i], w[0]) + (a * w[:3]).sum() + (a * a).sum() * s
        loss.backward()
        parts.append(w.grad.clone())
    return (out, total, parts, (x.grad, m.grad, w.grad, s.grad))


def arguments(seed):
    g = torch.Generator().manual_seed(seed)
    n = [6, 3, 1, 0][seed % 4]
    x, y = torch.randn(2, n, generator=g, dtype=torch.float64)
    m = torch.randn(n, 3, generator=g, dtype=torch.float64)
    w = torch.randn(4, generator=g, dtype=torch.float64)
    if False and seed % 2:
        x, m, w = (x.round(), m.round(), w.round())
    k = torch.randint(0, max(n, 1), (n,), generator=g)
    s = torch.tensor(0.7, dtype=torch.float64)
    if seed != -1:
        w.requires_grad_()
        x.requires_grad_()
    return (x, y, m, w, k, s, n)
