"""Kalman filter and RTS smoother with small matrices, series by series.

Source: the Rauch-Tung-Striebel smoother
Tags: sequential
Grad: yes
Hand: loop over time
"""
import torch


def slow(series, A, H, Q, R):
    outs = []
    d = A.shape[0]
    for y in series:
        m, P = torch.zeros(d, dtype=A.dtype), torch.eye(d, dtype=A.dtype)
        ms, Ps, pms, pPs = [], [], [], []
        for t in range(len(y)):
            pm, pP = A @ m, A @ P @ A.t() + Q
            S = H @ pP @ H.t() + R
            K = pP @ H.t() @ torch.linalg.inv(S)
            m = pm + K @ (y[t] - H @ pm)
            P = pP - K @ S @ K.t()
            ms.append(m); Ps.append(P); pms.append(pm); pPs.append(pP)
        sm = ms[-1]
        smooth = [sm]
        for t in range(len(y) - 2, -1, -1):
            G = Ps[t] @ A.t() @ torch.linalg.inv(pPs[t + 1])
            sm = ms[t] + G @ (sm - pms[t + 1])
            smooth.insert(0, sm)
        outs.append(torch.stack(smooth))
    return torch.stack(outs)


def hand(series, A, H, Q, R):
    Y = torch.stack(list(series))
    B, T, _ = Y.shape
    d = A.shape[0]
    m, P = torch.zeros(B, d, dtype=A.dtype), torch.eye(d, dtype=A.dtype)
    ms, Ps, pms, pPs = [], [], [], []
    for t in range(T):
        pm, pP = m @ A.t(), A @ P @ A.t() + Q
        S = H @ pP @ H.t() + R
        K = pP @ H.t() @ torch.linalg.inv(S)
        m = pm + (Y[:, t] - pm @ H.t()) @ K.t()
        P = pP - K @ S @ K.t()
        ms.append(m); Ps.append(P); pms.append(pm); pPs.append(pP)
    sm = ms[-1]
    out = [sm]
    for t in range(T - 2, -1, -1):
        G = Ps[t] @ A.t() @ torch.linalg.inv(pPs[t + 1])
        sm = ms[t] + (sm - pms[t + 1]) @ G.t()
        out.append(sm)
    return torch.stack(out[::-1], 1)


def inputs(size="small", seed=0):
    B, T, d, o = {"tiny": (2, 3, 2, 1), "small": (8, 15, 3, 2), "full": (64, 60, 4, 2)}[size]
    g = torch.Generator().manual_seed(seed)
    r = lambda *s: torch.randn(*s, generator=g, dtype=torch.float64)
    return r(B, T, o), (0.4 * r(d, d)).requires_grad_(), r(o, d).requires_grad_(), torch.eye(d, dtype=torch.float64), torch.eye(o, dtype=torch.float64)
