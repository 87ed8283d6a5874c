"""V-trace targets and advantages per trajectory of other lengths, backwards in time.

Source: V-trace, as in actor-learner architectures
Tags: recurrence, ragged
Grad: no
Hand: loop over time
"""
import torch


def slow(rewards, values, log_rhos, gamma, rho_bar, c_bar):
    targets, advantages = [], []
    for r, v, lr in zip(rewards, values, log_rhos):
        T = len(r)
        vs = [None] * T
        acc = 0.0
        for t in reversed(range(T)):
            rho = min(rho_bar, torch.exp(lr[t]).item())
            c = min(c_bar, torch.exp(lr[t]).item())
            nxt = v[t + 1] if t + 1 < T else 0.0
            delta = rho * (r[t] + gamma * nxt - v[t])
            acc = delta + gamma * c * acc
            vs[t] = v[t] + acc
        adv = []
        for t in range(T):
            rho = min(rho_bar, torch.exp(lr[t]).item())
            nxt = vs[t + 1] if t < T - 1 else 0.0
            adv.append(rho * (r[t] + gamma * nxt - v[t]))
        targets.append(torch.stack(vs))
        advantages.append(torch.stack(adv))
    return targets, advantages


def hand(rewards, values, log_rhos, gamma, rho_bar, c_bar):
    pad = lambda s: torch.nn.utils.rnn.pad_sequence(s, batch_first=True)
    lens = torch.tensor([len(r) for r in rewards])
    r, v, w = pad(rewards), pad(values), pad(log_rhos).exp()
    B, T = r.shape
    live = torch.arange(T) < lens[:, None]
    rho, c = w.clamp(max=rho_bar), w.clamp(max=c_bar)
    nv = torch.cat([v[:, 1:], torch.zeros(B, 1, dtype=v.dtype)], 1)
    delta = rho * (r + gamma * nv - v)
    acc = torch.zeros(B, dtype=v.dtype)
    vs = torch.zeros_like(v)
    for t in reversed(range(T)):
        acc = torch.where(live[:, t], delta[:, t] + gamma * c[:, t] * acc, acc)
        vs[:, t] = torch.where(live[:, t], v[:, t] + acc, 0)
    nvs = torch.cat([vs[:, 1:], torch.zeros(B, 1, dtype=v.dtype)], 1)
    adv = rho * (r + gamma * nvs - v)
    return [a[:n] for a, n in zip(vs, lens.tolist())], [a[:n] for a, n in zip(adv, lens.tolist())]


def inputs(size="small", seed=0):
    B, T = {"tiny": (2, 3), "small": (20, 20), "full": (200, 100)}[size]
    g = torch.Generator().manual_seed(seed)
    L = torch.randint(1, T + 1, (B,), generator=g).tolist()
    r = lambda: [torch.randn(n, generator=g, dtype=torch.float64) for n in L]
    return r(), r(), [0.3 * z for z in r()], 0.97, 1.0, 1.0
