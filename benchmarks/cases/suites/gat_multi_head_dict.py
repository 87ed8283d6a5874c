"""Multi-head graph attention, node after node, head after head, over a dict of neighbours.

Source: graph attention networks
Tags: graph, attention
Grad: yes
Hand: no loop
"""
import random
import torch
import torch.nn.functional as F


def slow(x, neighbours, W, a_src, a_dst):
    H = W.shape[0]
    out = []
    for v in range(x.shape[0]):
        heads = []
        for h in range(H):
            hv = W[h] @ x[v]
            nbrs = neighbours.get(v, []) + [v]
            scores = []
            feats = []
            for u in nbrs:
                hu = W[h] @ x[u]
                scores.append(F.leaky_relu(torch.dot(a_src[h], hv) + torch.dot(a_dst[h], hu), 0.2))
                feats.append(hu)
            alpha = torch.softmax(torch.stack(scores), dim=0)
            agg = sum(alpha[i] * feats[i] for i in range(len(feats)))
            heads.append(F.elu(agg))
        out.append(torch.cat(heads))
    return torch.stack(out)


def hand(x, neighbours, W, a_src, a_dst):
    n, H = x.shape[0], W.shape[0]
    dst = [v for v in range(n) for _ in neighbours.get(v, []) + [v]]
    src = [u for v in range(n) for u in neighbours.get(v, []) + [v]]
    d, s = torch.tensor(dst), torch.tensor(src)
    hx = torch.einsum("hoi,ni->nho", W, x)
    es = F.leaky_relu((hx * a_src).sum(-1)[d] + (hx * a_dst).sum(-1)[s], 0.2)
    m = torch.full((n, H), -torch.inf, dtype=x.dtype).scatter_reduce(0, d[:, None].expand(-1, H), es.detach(), "amax")
    e = (es - m[d]).exp()
    z = torch.zeros(n, H, dtype=x.dtype).index_add(0, d, e)
    out = torch.zeros(n, H, W.shape[1], dtype=x.dtype).index_add(0, d, (e / z[d])[..., None] * hx[s])
    return F.elu(out).flatten(1)


def inputs(size="small", seed=0):
    n, i, o, H = {"tiny": (4, 3, 2, 2), "small": (60, 8, 8, 3), "full": (500, 32, 16, 4)}[size]
    g = torch.Generator().manual_seed(seed)
    rng = random.Random(seed)
    r = lambda *s: torch.randn(*s, generator=g, dtype=torch.float64)
    nb = {v: [rng.randrange(n) for _ in range(rng.randrange(1, 7))] for v in range(n) if rng.random() < 0.9}
    return r(n, i).requires_grad_(), nb, (r(H, o, i) / i ** 0.5).requires_grad_(), r(H, o).requires_grad_(), r(H, o).requires_grad_()
