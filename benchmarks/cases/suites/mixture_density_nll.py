"""Negative log likelihood of a mixture density network, sample by sample, component by component.

Source: mixture density networks
Tags: models
Grad: yes
Hand: no loop
"""
import math
import torch


def slow(net, x, y, K):
    total = torch.zeros((), dtype=torch.float64)
    for i in range(len(x)):
        out = net(x[i])
        log_pi = torch.log_softmax(out[:K], 0)
        terms = []
        for k in range(K):
            mu = out[K + k]
            log_sigma = torch.clamp(out[2 * K + k], -5.0, 5.0)
            z = (y[i] - mu) / torch.exp(log_sigma)
            terms.append(log_pi[k] - 0.5 * z * z - log_sigma - 0.5 * math.log(2 * math.pi))
        m = terms[0]
        for t in terms[1:]:
            m = torch.maximum(m, t)
        s = 0.0
        for t in terms:
            s = s + torch.exp(t - m)
        total -= m + torch.log(s)
    return total / len(x)


def hand(net, x, y, K):
    out = net(x)
    lp = torch.log_softmax(out[:, :K], 1)
    mu, ls = out[:, K:2 * K], out[:, 2 * K:].clamp(-5, 5)
    z = (y[:, None] - mu) / ls.exp()
    return -torch.logsumexp(lp - 0.5 * z * z - ls - 0.5 * math.log(2 * math.pi), 1).mean()


def inputs(size="small", seed=0):
    n, d, K = {"tiny": (3, 2, 2), "small": (100, 8, 4), "full": (1000, 32, 8)}[size]
    torch.manual_seed(seed)
    net = torch.nn.Sequential(torch.nn.Linear(d, 32), torch.nn.Tanh(), torch.nn.Linear(32, 3 * K)).double()
    return net, torch.randn(n, d, dtype=torch.float64), torch.randn(n, dtype=torch.float64), K
