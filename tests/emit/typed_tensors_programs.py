"""Dynamic programs as people write them over tensors; each with what it is called with."""

import heapq
import math
from collections import defaultdict

import numpy as np
import torch


def g(*s, dt=torch.float32, r=False, seed=0):
    return torch.randn(*s, generator=torch.Generator().manual_seed(seed)).to(dt).requires_grad_(r)


def ints(n, hi, seed=0):
    return torch.randint(0, hi, (n,), generator=torch.Generator().manual_seed(seed))


def f_ctc(log_probs, target, blank):
    T = log_probs.shape[0]
    ext = [blank]
    for t in target:
        ext += [t, blank]
    S = len(ext)
    neg = torch.tensor(float("-inf"))
    alpha = [[neg for _ in range(S)] for _ in range(T)]
    alpha[0][0] = log_probs[0, ext[0]]
    if S > 1:
        alpha[0][1] = log_probs[0, ext[1]]
    for t in range(1, T):
        for s in range(S):
            cands = [alpha[t - 1][s]]
            if s > 0:
                cands.append(alpha[t - 1][s - 1])
            if s > 1 and ext[s] != blank and (ext[s] != ext[s - 2]):
                cands.append(alpha[t - 1][s - 2])
            alpha[t][s] = torch.logsumexp(torch.stack(cands), dim=0) + log_probs[t, ext[s]]
    return -torch.logsumexp(torch.stack([alpha[T - 1][S - 1], alpha[T - 1][S - 2]]), dim=0)


f_ctc.args = lambda: (torch.log_softmax(g(20, 6), -1).detach().requires_grad_(), [1, 3, 3, 2, 5], 0)


def f_ctc_ng(log_probs, target, blank):
    T = log_probs.shape[0]
    ext = [blank]
    for t in target.tolist():
        ext.append(t)
        ext.append(blank)
    S = len(ext)
    alpha = torch.full((T, S), -float("inf"))
    alpha[0, 0] = log_probs[0, blank]
    alpha[0, 1] = log_probs[0, ext[1]]
    for t in range(1, T):
        for s in range(S):
            a = alpha[t - 1, s]
            if s >= 1:
                a = torch.logaddexp(a, alpha[t - 1, s - 1])
            if s >= 2 and ext[s] != blank and (ext[s] != ext[s - 2]):
                a = torch.logaddexp(a, alpha[t - 1, s - 2])
            alpha[t, s] = a + log_probs[t, ext[s]]
    return -torch.logaddexp(alpha[T - 1, S - 1], alpha[T - 1, S - 2])


f_ctc_ng.args = lambda: (torch.log_softmax(g(20, 6), -1), torch.tensor([1, 3, 3, 2, 5]), 0)


def f_softdtw(D, gamma):
    n, m = D.shape
    R = [[None] * (m + 1) for _ in range(n + 1)]
    inf = torch.tensor(float("inf"))
    for i in range(n + 1):
        for j in range(m + 1):
            R[i][j] = inf
    R[0][0] = torch.tensor(0.0)
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            r = torch.stack([R[i - 1][j - 1], R[i - 1][j], R[i][j - 1]])
            z = -r / gamma
            zmax = torch.max(z)
            softmin = -gamma * (torch.log(torch.sum(torch.exp(z - zmax))) + zmax)
            R[i][j] = D[i - 1, j - 1] + softmin
    return R[n][m]


f_softdtw.args = lambda: (g(12, 10, r=True).abs().detach().requires_grad_(), 0.5)


def f_hmm_forward(obs, A, B, pi):
    alpha = [pi[k] * B[k, obs[0]] for k in range(len(pi))]
    ll = 0.0
    for t in range(1, len(obs)):
        c = sum(alpha)
        ll = ll + torch.log(c)
        alpha = [a / c for a in alpha]
        alpha = [sum((alpha[i] * A[i, j] for i in range(len(pi)))) * B[j, obs[t]] for j in range(len(pi))]
    return ll + torch.log(sum(alpha))


f_hmm_forward.args = lambda: (
    ints(20, 5).tolist(),
    torch.softmax(g(4, 4), -1).detach().requires_grad_(),
    torch.softmax(g(4, 5, seed=1), -1).detach().requires_grad_(),
    torch.softmax(g(4, seed=2), -1).detach().requires_grad_(),
)


def f_viterbi(emissions, transitions, start):
    T, K = emissions.shape
    score = [start[k] + emissions[0][k] for k in range(K)]
    history = []
    for t in range(1, T):
        new_score, pointers = ([], [])
        for k in range(K):
            best, idx = (None, None)
            for j in range(K):
                s = score[j] + transitions[j, k]
                if best is None or s > best:
                    best, idx = (s, j)
            new_score.append(best + emissions[t][k])
            pointers.append(idx)
        score = new_score
        history.append(pointers)
    best_last = 0
    for k in range(K):
        if score[k] > score[best_last]:
            best_last = k
    path = [best_last]
    for pointers in reversed(history):
        path.append(pointers[path[-1]])
    path.reverse()
    return (path, score[best_last])


f_viterbi.args = lambda: (g(15, 5), g(5, 5, seed=1), g(5, seed=2))


def f_viterbi_rows(emissions, transitions):
    T, K = emissions.shape
    viterbi = torch.zeros(T, K)
    back = torch.zeros(T, K, dtype=torch.long)
    viterbi[0] = emissions[0]
    for t in range(1, T):
        for k in range(K):
            scores = viterbi[t - 1] + transitions[:, k]
            best, arg = torch.max(scores, dim=0)
            viterbi[t, k] = best + emissions[t, k]
            back[t, k] = arg
    path = [torch.argmax(viterbi[T - 1]).item()]
    for t in range(T - 1, 0, -1):
        path.append(back[t, path[-1]].item())
    return (path[::-1], torch.max(viterbi[T - 1]))


f_viterbi_rows.args = lambda: (g(15, 5), g(5, 5, seed=1))


def f_nw(a, b, match, mismatch, gap):
    n, m = (len(a), len(b))
    F_ = torch.zeros(n + 1, m + 1)
    for i in range(n + 1):
        F_[i, 0] = i * gap
    for j in range(m + 1):
        F_[0, j] = j * gap
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            s = match if a[i - 1] == b[j - 1] else mismatch
            F_[i, j] = max(F_[i - 1, j - 1] + s, F_[i - 1, j] + gap, F_[i, j - 1] + gap)
    i, j = (n, m)
    pa, pb = ([], [])
    while i > 0 or j > 0:
        s = match if i > 0 and j > 0 and (a[i - 1] == b[j - 1]) else mismatch
        if i > 0 and j > 0 and (F_[i, j] == F_[i - 1, j - 1] + s):
            pa.append(i - 1)
            pb.append(j - 1)
            i -= 1
            j -= 1
        elif i > 0 and F_[i, j] == F_[i - 1, j] + gap:
            pa.append(i - 1)
            pb.append(-1)
            i -= 1
        else:
            pa.append(-1)
            pb.append(j - 1)
            j -= 1
    return (F_[n, m].item(), pa[::-1], pb[::-1])


f_nw.args = lambda: (ints(14, 4), ints(12, 4, 1), 1.0, -1.0, -2.0)


def f_sw(pairs, sub, gap):
    out = []
    for a, b in pairs:
        H = [[0.0] * (len(b) + 1) for _ in range(len(a) + 1)]
        best = torch.tensor(0.0)
        for i in range(1, len(a) + 1):
            for j in range(1, len(b) + 1):
                H[i][j] = max(
                    torch.tensor(0.0), H[i - 1][j - 1] + sub[a[i - 1], b[j - 1]], H[i - 1][j] - gap, H[i][j - 1] - gap
                )
                if H[i][j] > best:
                    best = H[i][j]
        out.append(best)
    return torch.stack(out)


f_sw.args = lambda: ([(ints(8, 4, k), ints(9, 4, k + 9)) for k in range(4)], g(4, 4), 0.5)


def f_knapsack(weights, values, cap):
    n = len(weights)
    dp = torch.zeros(n + 1, cap + 1)
    for i in range(1, n + 1):
        w = int(weights[i - 1])
        for c in range(cap + 1):
            dp[i, c] = dp[i - 1, c]
            if w <= c:
                dp[i, c] = torch.maximum(dp[i - 1, c], dp[i - 1, c - w] + values[i - 1])
    chosen, c = ([], cap)
    for i in range(n, 0, -1):
        if dp[i, c] != dp[i - 1, c]:
            chosen.append(i - 1)
            c -= int(weights[i - 1])
    return (dp[n, cap], chosen)


f_knapsack.args = lambda: (ints(8, 6) + 1, g(8).abs(), 15)


def f_lcs(a, b):
    dp = torch.zeros((len(a) + 1, len(b) + 1), dtype=torch.long)
    for i in range(len(a)):
        for j in range(len(b)):
            if a[i] == b[j]:
                dp[i + 1][j + 1] = dp[i][j] + 1
            else:
                dp[i + 1][j + 1] = torch.max(dp[i + 1][j], dp[i][j + 1])
    i, j, seq = (len(a), len(b), [])
    while i > 0 and j > 0:
        if a[i - 1] == b[j - 1]:
            seq.append(a[i - 1].item())
            i -= 1
            j -= 1
        elif dp[i - 1][j] > dp[i][j - 1]:
            i -= 1
        else:
            j -= 1
    return (dp[-1, -1].item(), list(reversed(seq)))


f_lcs.args = lambda: (ints(12, 4), ints(13, 4, 1))


def f_floyd(W):
    n = W.shape[0]
    d = W.clone()
    nxt = [[j if W[i, j] < float("inf") else None for j in range(n)] for i in range(n)]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                if d[i, k] + d[k, j] < d[i, j]:
                    d[i, j] = d[i, k] + d[k, j]
                    nxt[i][j] = nxt[i][k]

    def path(i, j):
        p = [i]
        while i != j:
            i = nxt[i][j]
            if i is None:
                return None
            p.append(i)
        return p

    return (d, path(0, n - 1))


f_floyd.args = lambda: (torch.where(g(7, 7) > 0.6, torch.tensor(float("inf")), g(7, 7, seed=1).abs()),)


def f_bellman(n, src, dst, w, s):
    dist = [torch.tensor(float("inf"))] * n
    dist[s] = torch.tensor(0.0)
    for _ in range(n - 1):
        for e in range(len(src)):
            u, v = (src[e].item(), dst[e].item())
            if dist[u] + w[e] < dist[v]:
                dist[v] = dist[u] + w[e]
    return torch.stack(dist)


f_bellman.args = lambda: (8, ints(24, 8), ints(24, 8, 1), g(24).abs(), 0)


def f_bellman_grad(n, src, dst, w, s):
    dist = [torch.tensor(float("inf"))] * n
    dist[s] = torch.tensor(0.0)
    for _ in range(n - 1):
        for e in range(len(src)):
            u, v = (src[e].item(), dst[e].item())
            if dist[u] + w[e] < dist[v]:
                dist[v] = dist[u] + w[e]
    return torch.stack(dist)


f_bellman_grad.args = lambda: (8, ints(24, 8), ints(24, 8, 1), g(24).abs().requires_grad_(), 0)


def f_edit(xs, ys, wi, wd, ws):
    res = []
    for x, y in zip(xs, ys):
        prev = [j * wi for j in range(len(y) + 1)]
        for i in range(1, len(x) + 1):
            cur = [i * wd]
            for j in range(1, len(y) + 1):
                c = 0 if x[i - 1] == y[j - 1] else ws
                cur.append(min(prev[j] + wd, cur[j - 1] + wi, prev[j - 1] + c))
            prev = cur
        res.append(prev[-1])
    return torch.stack(res)


f_edit.args = lambda: (
    ["kitten", "sunday", "abc"],
    ["sitting", "saturday", "acbd"],
    torch.tensor(1.0, requires_grad=True),
    torch.tensor(1.1, requires_grad=True),
    torch.tensor(1.7, requires_grad=True),
)


def f_memo(x, y):
    memo = {}

    def d(i, j):
        if (i, j) in memo:
            return memo[i, j]
        c = torch.abs(x[i] - y[j])
        if i == 0 and j == 0:
            r = c
        elif i == 0:
            r = c + d(i, j - 1)
        elif j == 0:
            r = c + d(i - 1, j)
        else:
            r = c + torch.min(torch.min(d(i - 1, j), d(i, j - 1)), d(i - 1, j - 1))
        memo[i, j] = r
        return r

    return d(len(x) - 1, len(y) - 1)


f_memo.args = lambda: (g(12, r=True), g(10, seed=1, r=True))


def f_beam(logp, k):
    beams = [([], 0.0)]
    for t in range(logp.shape[0]):
        cands = []
        for seq, sc in beams:
            for v in range(logp.shape[1]):
                cands.append((seq + [v], sc + logp[t, v].item()))
        cands = sorted(cands, key=lambda c: c[1], reverse=True)
        beams = cands[:k]
    return (beams[0][0], beams[0][1])


f_beam.args = lambda: (torch.log_softmax(g(10, 6), -1), 3)


def f_beam_t(logp, trans, k):
    beams = [([v], logp[0, v]) for v in range(logp.shape[1])]
    beams = sorted(beams, key=lambda b: b[1], reverse=True)[:k]
    for t in range(1, logp.shape[0]):
        new = []
        for seq, s in beams:
            for v in range(logp.shape[1]):
                new.append((seq + [v], s + logp[t, v] + trans[seq[-1], v]))
        new.sort(key=lambda b: b[1], reverse=True)
        beams = new[:k]
    return ([b[0] for b in beams], torch.stack([b[1] for b in beams]))


f_beam_t.args = lambda: (torch.log_softmax(g(10, 6), -1), g(6, 6, seed=3), 3)


def f_obst(p):
    n = len(p)
    cost = [[torch.tensor(0.0)] * (n + 1) for _ in range(n + 1)]
    for length in range(1, n + 1):
        for i in range(n - length + 1):
            j = i + length
            w = torch.sum(p[i:j])
            best = torch.tensor(float("inf"))
            for r in range(i, j):
                c = cost[i][r] + cost[r + 1][j]
                if c < best:
                    best = c
            cost[i][j] = best + w
    return cost[0][n]


f_obst.args = lambda: (torch.softmax(g(9), 0).detach().requires_grad_(),)


def f_cky(words, lex, binary, N):
    n = len(words)
    table = defaultdict(lambda: float("-inf"))
    back = {}
    for i, w in enumerate(words):
        for A in range(N):
            table[i, i + 1, A] = lex[A, w].item()
    for span in range(2, n + 1):
        for i in range(n - span + 1):
            k = i + span
            for j in range(i + 1, k):
                for A in range(N):
                    for B in range(N):
                        for C in range(N):
                            s = binary[A, B, C].item() + table[i, j, B] + table[j, k, C]
                            if s > table[i, k, A]:
                                table[i, k, A] = s
                                back[i, k, A] = (j, B, C)
    return (table[0, n, 0], back[0, n, 0])


f_cky.args = lambda: ([1, 3, 2, 0, 1], g(3, 4), g(3, 3, 3, seed=1), 3)


def f_nms(boxes, scores, thr):
    order = sorted(range(len(scores)), key=lambda i: scores[i].item(), reverse=True)
    keep = []
    for i in order:
        ok = True
        for j in keep:
            x1 = max(boxes[i][0], boxes[j][0])
            y1 = max(boxes[i][1], boxes[j][1])
            x2 = min(boxes[i][2], boxes[j][2])
            y2 = min(boxes[i][3], boxes[j][3])
            inter = max(x2 - x1, torch.tensor(0.0)) * max(y2 - y1, torch.tensor(0.0))
            ai = (boxes[i][2] - boxes[i][0]) * (boxes[i][3] - boxes[i][1])
            aj = (boxes[j][2] - boxes[j][0]) * (boxes[j][3] - boxes[j][1])
            if inter / (ai + aj - inter) > thr:
                ok = False
                break
        if ok:
            keep.append(i)
    return torch.tensor(keep)


f_nms.args = lambda: (torch.cat([g(12, 2).abs(), g(12, 2).abs() + 1 + g(12, 2, seed=5).abs()], 1), g(12, seed=2), 0.4)


def f_nms_argsort(boxes, scores, thr):
    order = torch.argsort(scores, descending=True)
    keep = []
    while order.numel() > 0:
        i = order[0].item()
        keep.append(i)
        if order.numel() == 1:
            break
        rest = order[1:]
        xx1 = torch.maximum(boxes[i, 0], boxes[rest, 0])
        yy1 = torch.maximum(boxes[i, 1], boxes[rest, 1])
        xx2 = torch.minimum(boxes[i, 2], boxes[rest, 2])
        yy2 = torch.minimum(boxes[i, 3], boxes[rest, 3])
        inter = (xx2 - xx1).clamp(min=0) * (yy2 - yy1).clamp(min=0)
        area = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
        iou = inter / (area[i] + area[rest] - inter)
        order = rest[iou <= thr]
    return keep


f_nms_argsort.args = f_nms.args


def f_dijkstra(W, s):
    n = W.shape[0]
    dist = [float("inf")] * n
    prev = [-1] * n
    dist[s] = 0.0
    heap = [(0.0, s)]
    done = set()
    while heap:
        d, u = heapq.heappop(heap)
        if u in done:
            continue
        done.add(u)
        for v in range(n):
            if W[u, v] > 0:
                nd = d + W[u, v].item()
                if nd < dist[v]:
                    dist[v] = nd
                    prev[v] = u
                    heapq.heappush(heap, (nd, v))
    return (torch.tensor(dist), prev)


f_dijkstra.args = lambda: (g(8, 8).relu(), 0)


def f_lis(x):
    n = len(x)
    L, P = ([1] * n, [-1] * n)
    for i in range(n):
        for j in range(i):
            if x[j] < x[i] and L[j] + 1 > L[i]:
                L[i] = L[j] + 1
                P[i] = j
    k = max(range(n), key=lambda i: L[i])
    out = []
    while k != -1:
        out.append(x[k].item())
        k = P[k]
    return out[::-1]


f_lis.args = lambda: (g(25),)


def f_kadane(xs):
    out = []
    for x in xs:
        best = cur = x[0]
        s = e = t = 0
        for i in range(1, len(x)):
            if cur + x[i] < x[i]:
                cur = x[i]
                t = i
            else:
                cur = cur + x[i]
            if cur > best:
                best = cur
                s = t
                e = i
        out.append((best.item(), s, e))
    return out


f_kadane.args = lambda: ([g(15), g(20, seed=1), g(11, seed=2)],)


def f_np_dtw(a, b, w):
    n, m = (len(a), len(b))
    D = np.full((n + 1, m + 1), np.inf)
    D[0, 0] = 0
    for i in range(1, n + 1):
        for j in range(max(1, i - w), min(m, i + w) + 1):
            c = abs(a[i - 1] - b[j - 1])
            D[i, j] = c + min(D[i - 1, j], D[i, j - 1], D[i - 1, j - 1])
    path = []
    i, j = (n, m)
    while i > 0 and j > 0:
        path.append((i - 1, j - 1))
        k = np.argmin([D[i - 1, j - 1], D[i - 1, j], D[i, j - 1]])
        if k == 0:
            i -= 1
            j -= 1
        elif k == 1:
            i -= 1
        else:
            j -= 1
    return (D[n, m], path[::-1])


f_np_dtw.args = lambda: (np.random.RandomState(0).randn(15), np.random.RandomState(1).randn(14), 5)


def f_np_viterbi(obs, pi, A, B):
    T, K = (len(obs), len(pi))
    d = np.zeros((T, K))
    psi = np.zeros((T, K), dtype=int)
    for k in range(K):
        d[0, k] = np.log(pi[k]) + np.log(B[k, obs[0]])
    for t in range(1, T):
        for j in range(K):
            best, arg = (-np.inf, 0)
            for i in range(K):
                v = d[t - 1, i] + np.log(A[i, j])
                if v > best:
                    best, arg = (v, i)
            d[t, j] = best + np.log(B[j, obs[t]])
            psi[t, j] = arg
    q = [int(np.argmax(d[-1]))]
    for t in range(T - 1, 0, -1):
        q.insert(0, int(psi[t, q[0]]))
    return q


def _st(*s, seed=0):
    x = np.random.RandomState(seed).rand(*s)
    return x / x.sum(-1, keepdims=True)


f_np_viterbi.args = lambda: (np.random.RandomState(0).randint(0, 4, 20), _st(3), _st(3, 3, seed=1), _st(3, 4, seed=2))


def f_kalman(z, q, r):
    x, p = (torch.tensor(0.0), torch.tensor(1.0))
    xs = []
    for k in range(len(z)):
        p = p + q
        gain = p / (p + r)
        x = x + gain * (z[k] - x)
        p = (1 - gain) * p
        xs.append(x)
    return torch.stack(xs)


f_kalman.args = lambda: (g(40, r=True), torch.tensor(0.1, requires_grad=True), torch.tensor(0.5, requires_grad=True))


def f_bp(unary, pair):
    n, K = unary.shape
    msg = {}
    for i in range(n - 1):
        for b in range(K):
            terms = []
            for a in range(K):
                s = unary[i, a] + pair[a, b]
                if i > 0:
                    s = s + msg[i - 1, i][a]
                terms.append(s)
            msg.setdefault((i, i + 1), []).append(torch.logsumexp(torch.stack(terms), 0))
    return torch.stack([unary[n - 1, b] + msg[n - 2, n - 1][b] for b in range(K)])


f_bp.args = lambda: (g(10, 4, r=True), g(4, 4, seed=1, r=True))


def f_semi(scores, L):
    T = scores.shape[0]
    alpha = [torch.tensor(0.0)]
    for t in range(1, T + 1):
        opts = []
        for d in range(1, min(L, t) + 1):
            opts.append(alpha[t - d] + scores[t - d : t].sum() / d)
        alpha.append(torch.logsumexp(torch.stack(opts), dim=0))
    return alpha[-1]


f_semi.args = lambda: (g(20, r=True), 4)


def f_wf(a, b):
    d = torch.zeros(len(a) + 1, len(b) + 1, dtype=torch.int64)
    d[:, 0] = torch.arange(len(a) + 1)
    d[0, :] = torch.arange(len(b) + 1)
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            cost = 0 if a[i - 1] == b[j - 1] else 1
            d[i, j] = torch.min(torch.stack([d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + cost]))
    return d[-1, -1]


f_wf.args = lambda: (ints(12, 4), ints(13, 4, 1))


def f_binomial(S, K, r, sigma, T, n):
    dt = T / n
    u = torch.exp(sigma * math.sqrt(dt))
    d = 1 / u
    p = (torch.exp(r * dt) - d) / (u - d)
    disc = torch.exp(-r * dt)
    vals = [torch.clamp(K - S * u**j * d ** (n - j), min=0.0) for j in range(n + 1)]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1):
            cont = disc * (p * vals[j + 1] + (1 - p) * vals[j])
            ex = K - S * u**j * d ** (i - j)
            vals[j] = torch.maximum(cont, ex)
    return vals[0]


f_binomial.args = lambda: tuple((torch.tensor(v, requires_grad=True) for v in (100.0, 105.0, 0.03, 0.2))) + (1.0, 12)


def f_value_iter(R, gamma, tol):
    n, m = R.shape
    V = [[torch.tensor(0.0) for _ in range(m)] for _ in range(n)]
    while True:
        delta = 0.0
        for i in range(n):
            for j in range(m):
                cands = []
                for di, dj in ((0, 1), (1, 0), (0, -1), (-1, 0)):
                    a, b = (min(max(i + di, 0), n - 1), min(max(j + dj, 0), m - 1))
                    cands.append(R[i, j] + gamma * V[a][b])
                v = torch.max(torch.stack(cands))
                delta = max(delta, abs((v - V[i][j]).item()))
                V[i][j] = v
        if delta < tol:
            break
    return torch.stack([torch.stack(row) for row in V])


f_value_iter.args = lambda: (g(4, 5), 0.8, 0.001)


def f_kruskal(W):
    n = W.shape[0]
    edges = []
    for i in range(n):
        for j in range(i + 1, n):
            edges.append((W[i, j].item(), i, j))
    edges.sort()
    parent = list(range(n))

    def find(x):
        while parent[x] != x:
            parent[x] = parent[parent[x]]
            x = parent[x]
        return x

    total, tree = (0.0, [])
    for w, i, j in edges:
        a, b = (find(i), find(j))
        if a != b:
            parent[a] = b
            total += w
            tree.append((i, j))
    return (total, tree)


f_kruskal.args = lambda: (g(8, 8).abs(),)


def f_dtw_path(x, y):
    n, m = (len(x), len(y))
    cost = torch.full((n + 1, m + 1), float("inf"))
    cost[0, 0] = 0.0
    trace = {}
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            d = torch.norm(x[i - 1] - y[j - 1])
            choices = [cost[i - 1, j - 1], cost[i - 1, j], cost[i, j - 1]]
            k = int(torch.argmin(torch.stack(choices)))
            cost[i, j] = d + choices[k]
            trace[i, j] = k
    i, j, path = (n, m, [])
    while (i, j) in trace:
        path.append((i - 1, j - 1))
        k = trace[i, j]
        if k == 0:
            i, j = (i - 1, j - 1)
        elif k == 1:
            i -= 1
        else:
            j -= 1
    return (cost[n, m], path[::-1])


f_dtw_path.args = lambda: (g(9, 3), g(8, 3, seed=1))
