"""Programs over 0-dim tensors, rows and lists of them; each with what it is called with."""

from collections import defaultdict

import torch
import torch.nn.functional as F


def g(*s, dt=torch.float32, r=True, seed=0):
    return torch.randn(*s, generator=torch.Generator().manual_seed(seed)).to(dt).requires_grad_(r)


def f_dtw_lists(x, y):
    n, m = (len(x), len(y))
    D = [[None] * (m + 1) for _ in range(n + 1)]
    for i in range(n + 1):
        for j in range(m + 1):
            if i == 0 and j == 0:
                D[i][j] = torch.tensor(0.0)
            elif i == 0 or j == 0:
                D[i][j] = torch.tensor(float("inf"))
            else:
                c = (x[i - 1] - y[j - 1]).abs()
                D[i][j] = c + torch.min(torch.stack([D[i - 1][j], D[i][j - 1], D[i - 1][j - 1]]))
    return D[n][m]


f_dtw_lists.args = lambda: (g(5), g(6, seed=1))


def f_dtw_pymin(x, y):
    n, m = (len(x), len(y))
    D = [[float("inf")] * (m + 1) for _ in range(n + 1)]
    D[0][0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            c = torch.abs(x[i - 1] - y[j - 1])
            D[i][j] = c + min(D[i - 1][j], D[i][j - 1], D[i - 1][j - 1])
    return D[n][m]


f_dtw_pymin.args = lambda: (g(5), g(6, seed=1))


def f_dtw_table(x, y):
    n, m = (x.shape[0], y.shape[0])
    D = torch.full((n + 1, m + 1), float("inf"))
    D[0, 0] = 0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost = (x[i - 1] - y[j - 1]) ** 2
            D[i, j] = cost + torch.min(torch.stack([D[i - 1, j], D[i, j - 1], D[i - 1, j - 1]]))
    return D[n, m]


f_dtw_table.args = lambda: (g(5), g(6, seed=1))


def f_dtw_table_whole(x, y):
    n, m = (x.shape[0], y.shape[0])
    D = torch.zeros(n + 1, m + 1)
    memo = {}
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            memo[i, j] = (x[i - 1] - y[j - 1]) ** 2
            D[i, j] = memo[i, j] + torch.stack([D[i - 1, j], D[i, j - 1]]).amin()
    return (D, D[1, 1])


f_dtw_table_whole.args = lambda: (g(5), g(6, seed=1))


def f_dtw_table_clone(x, y):
    n, m = (x.shape[0], y.shape[0])
    D = torch.zeros(n + 1, m + 1)
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            D[i, j] = x[i - 1] * y[j - 1] + torch.minimum(D[i - 1, j].clone(), D[i, j - 1].clone())
    return D


f_dtw_table_clone.args = lambda: (g(5), g(6, seed=1))


def f_ties(x):
    best = {}
    for i in range(len(x)):
        best[i] = (
            torch.min(torch.stack([x[i], x[0], x[i]])) + torch.maximum(x[i], x[0]) + min(x[i], x[0]) + max([x[0], x[i]])
        )
    total = 0
    for i in best:
        total = total + best[i]
    return total


f_ties.args = lambda: (torch.tensor([1.0, 1.0, 0.0, 2.0, 1.0], requires_grad=True),)


def f_none_grad(x, y, z):
    rows = []
    for i in range(len(x)):
        rows.append([x[i] * 2, y[i] * 3])
    out = []
    for i in range(len(rows)):
        out.append(torch.logsumexp(torch.stack([r[0] for r in rows]), 0) * i)
    t = torch.stack([rows[0][0], rows[0][1]])
    return (out[0], t[0], torch.stack(out))


f_none_grad.args = lambda: (g(4), g(4, seed=1), g(4, seed=2))


def f_part_of_table(x, y):
    D = torch.zeros(3, 3)
    d = {}
    for i in range(3):
        d[i] = x[i] * y[i]
    for i in range(3):
        D[i, i] = d[i]
    return (D[0, 0], D[0, 1], D[0] + 1)


f_part_of_table.args = lambda: (g(3), g(3, seed=1))


def f_table_two(x, y):
    D = torch.zeros(3, 3)
    d = {}
    for i in range(3):
        d[i] = x[i] + i
        D[i, 0] = d[i]
    for i in range(3):
        d[i] = y[i] - i
        D[i, 1] = d[i]
    s = D[0, 0] + D[1, 0]
    return s * 2


f_table_two.args = lambda: (g(3), g(3, seed=1))


def f_inplace_total(x):
    total = torch.zeros(())
    seen = []
    for i in range(len(x)):
        total += x[i]
        seen.append(total)
    return (total, [len(seen)])


f_inplace_total.args = lambda: (g(4, r=False),)


def f_inplace_alias(x):
    total = torch.zeros(())
    seen = {}
    for i in range(len(x)):
        total += x[i]
        seen[i] = total
    return [seen[0].item(), seen[3].item()]


f_inplace_alias.args = lambda: (g(4, r=False),)


def f_inplace_grad(x):
    total = torch.zeros(())
    memo = {}
    for i in range(len(x)):
        memo[i] = x[i] * x[i]
        total += memo[i]
    return total


f_inplace_grad.args = lambda: (g(4),)


def f_view_arg_inplace(x):
    memo = {}
    score = x[0]
    for i in range(1, len(x)):
        memo[i] = score
        score += x[i]
    return score


f_view_arg_inplace.args = lambda: (g(4, r=False),)


def f_return_view(x):
    best = x[0]
    memo = {}
    for i in range(1, len(x)):
        memo[i] = x[i]
        if memo[i] > best:
            best = x[i]
    return best


f_return_view.args = lambda: (g(4),)


def f_same_twice(x):
    memo = {}
    for i in range(len(x)):
        memo[i] = x[i] + 1
    return [memo[0], memo[0], memo[1]]


f_same_twice.args = lambda: (g(4),)


def f_f64_mix(x, y):
    memo = {}
    for i in range(len(x)):
        memo[i] = x[i] * y[i] + 0.1
    out = []
    for i in memo:
        out.append(memo[i] / 3)
    return torch.stack(out)


f_f64_mix.args = lambda: (g(4), g(4, dt=torch.float64))


def f_int(x, y):
    memo = {}
    for i in range(len(x)):
        for j in range(len(y)):
            memo[i, j] = 1 if x[i] == y[j] else 0
            if i > 0 and j > 0:
                memo[i, j] = memo[i, j] + memo[i - 1, j - 1]
    return (max(memo.values()), x[0].item() // 2, x[1] // y[1], x[2] % y[2], x[1] / y[1])


f_int.args = lambda: (torch.tensor([1, 5, -7]), torch.tensor([1, 2, 3]))


def f_int_zero(x, y):
    memo = {}
    for i in range(len(x)):
        memo[i] = x[i] // y[i]
    return torch.stack([memo[0], memo[1]])


f_int_zero.args = lambda: (torch.tensor([1, 5, -7]), torch.tensor([1, 0, 3]))


def f_nan(x):
    memo = {}
    for i in range(len(x)):
        memo[i] = x[i]
    best = float("inf")
    for i in memo:
        if memo[i] < best:
            best = memo[i].item()
    m = torch.max(torch.stack([memo[i] * 1 for i in memo]))
    return (best, m, torch.logsumexp(torch.stack([memo[i] * 2 for i in memo]), 0))


f_nan.args = lambda: (torch.tensor([1.0, float("nan"), -3.0]),)


def f_inf_lse(x):
    neg = torch.tensor(float("-inf"))
    alpha = [[neg] * 3 for _ in range(len(x))]
    alpha[0][0] = x[0]
    for t in range(1, len(x)):
        for s in range(3):
            terms = [alpha[t - 1][s]]
            if s > 0:
                terms.append(alpha[t - 1][s - 1])
            alpha[t][s] = torch.logsumexp(torch.stack(terms), 0) + x[t]
    return torch.logsumexp(torch.stack(alpha[-1]), 0)


f_inf_lse.args = lambda: (g(5),)


def f_inf_lse_ng(x):
    neg = torch.tensor(float("-inf"))
    alpha = [[neg] * 3 for _ in range(len(x))]
    alpha[0][0] = x[0]
    for t in range(1, len(x)):
        for s in range(3):
            terms = [alpha[t - 1][s]]
            if s > 0:
                terms.append(alpha[t - 1][s - 1])
            alpha[t][s] = torch.logsumexp(torch.stack(terms), 0) + x[t]
    return torch.logsumexp(torch.stack(alpha[-1]), 0)


f_inf_lse_ng.args = lambda: (g(5, r=False),)


def f_zero_trips(x):
    total = 0
    memo = {}
    for i in range(len(x)):
        memo[i] = x[i] * 2
        total = total + memo[i]
    return total


f_zero_trips.args = lambda: (torch.zeros(0),)


def f_stack_empty(x):
    memo = {}
    out = []
    for i in range(len(x)):
        memo[i] = x[i] * 2
        out.append(memo[i])
    return torch.stack(out)


f_stack_empty.args = lambda: (torch.zeros(0),)


def f_index_error(x):
    memo = {}
    for i in range(len(x)):
        memo[i] = x[i + 1] * 2
    return memo[0]


f_index_error.args = lambda: (g(3),)


def f_negative(x):
    memo = {}
    for i in range(len(x)):
        memo[i] = x[i - 1] * 2
    return memo[0] + memo[1]


f_negative.args = lambda: (g(3),)


def f_views(x):
    memo = {}
    for i in range(1, x.shape[1] - 1):
        memo[i] = (x[:, i] * x[1:, i - 1].sum()).sum() + x[0, 1:].max() + x[:, i].mean()
    out = []
    for i in memo:
        out.append(memo[i])
    return torch.stack(out)


f_views.args = lambda: (g(4, 5).t(),)


def f_sqrt_zero(x):
    memo = {}
    for i in range(len(x)):
        memo[i] = torch.sqrt(x[i])
    r = torch.sqrt(x)
    return r[1] + memo[1]


f_sqrt_zero.args = lambda: (torch.tensor([0.0, 1.0, 4.0], requires_grad=True),)


def f_norm_zero(x, y):
    memo = {}
    for i in range(len(x)):
        memo[i] = torch.norm(x[i] - y[i]) + torch.dist(x[i], y[0])
    return memo[0] + memo[1]


f_norm_zero.args = lambda: (
    torch.tensor([[0.0, 1.0], [2.0, 3.0]], requires_grad=True),
    torch.tensor([[0.0, 1.0], [2.0, 5.0]], requires_grad=True),
)


def f_where_clamp(x):
    memo = {}
    for i in range(len(x)):
        memo[i] = (
            torch.where(x[i] > 0, x[i], 0.5 * x[i]) + torch.clamp(x[i], min=0.0) + x[i].clamp(-0.5, 0.5) + F.relu(x[i])
        )
    return memo[0] + memo[1] * memo[2]


f_where_clamp.args = lambda: (torch.tensor([0.0, 1.0, -4.0], requires_grad=True),)


def f_softmax(x):
    memo = {}
    for i in range(len(x)):
        p = torch.softmax(x[i], dim=0)
        q = F.log_softmax(x[i], -1)
        memo[i] = (p * q).sum() + p[0]
    out = []
    for i in range(len(x)):
        out.append(memo[i])
    return torch.stack(out)


f_softmax.args = lambda: (g(4, 5),)


def f_maxdim(x):
    memo = {}
    for i in range(len(x)):
        v, k = x[i].max(dim=0)
        m = torch.max(x, dim=0)
        memo[i] = v * 2 + k + m.values[i]
    ks = []
    for i in range(len(x)):
        ks.append(torch.argmax(x[i]).item())
    return (memo[0] + memo[1], ks)


f_maxdim.args = lambda: (torch.tensor([[1.0, 1.0, 0.0], [3.0, 3.0, 3.0]], requires_grad=True),)


def f_prev_cur(x, y):
    prev = [torch.tensor(float(j)) for j in range(len(y) + 1)]
    for i in range(1, len(x) + 1):
        cur = [torch.tensor(float(i))]
        for j in range(1, len(y) + 1):
            sub = prev[j - 1] + (0.0 if x[i - 1] == y[j - 1] else 1.0)
            cur.append(torch.min(torch.stack((sub, prev[j] + 1, cur[j - 1] + 1))))
        prev, cur = (cur, prev)
    return prev[-1]


f_prev_cur.args = lambda: (torch.tensor([1, 2, 3, 4]), torch.tensor([1, 3, 4]))


def f_memo_rec(x):
    memo = {}

    def go(i):
        if i < 0:
            return torch.tensor(0.0)
        if i in memo:
            return memo[i]
        memo[i] = torch.maximum(go(i - 1), go(i - 2) + x[i])
        return memo[i]

    out = []
    for k in range(len(x)):
        out.append(go(k))
    return torch.stack(out)


f_memo_rec.args = lambda: (g(6),)


def f_detach(x):
    memo = {}
    for i in range(len(x)):
        memo[i] = x[i] * x[i].detach() + x[i].item()
    return memo[0] + memo[1]


f_detach.args = lambda: (g(3),)


def f_nested_param(d):
    memo = {}
    for i in range(len(d["x"])):
        memo[i] = d["x"][i] * d["w"][i, 0] + d["n"][i]
    return memo[0] - memo[1]


f_nested_param.args = lambda: ({"x": g(3), "w": g(3, 2, seed=1), "n": torch.tensor([1, 2, 3])},)


def f_list_of_rows(xs):
    memo = {}
    for i, x in enumerate(xs):
        memo[i] = (x * x).sum() / x.shape[0]
    return [memo[i] for i in range(len(xs))]


f_list_of_rows.args = lambda: ([g(3), g(5, seed=1), g(1, seed=2)],)


def f_modify_after_save(x):
    D = torch.zeros(4)
    memo = {}
    for i in range(1, 4):
        memo[i] = D[i - 1] * x[i]
        D[i] = memo[i] + 1
    return D[3]


f_modify_after_save.args = lambda: (g(4),)


def f_big_edge(x):
    memo = {}
    for i in range(len(x)):
        memo[i] = x[i] / (x[i] - x[i])
    return memo[0]


f_big_edge.args = lambda: (g(3),)


def f_mutate_list_arg(x, out):
    memo = {}
    for i in range(len(x)):
        memo[i] = x[i] * 2
        out.append(memo[i].item())
    return memo[1]


f_mutate_list_arg.args = lambda: (g(3), [1.0])


def f_append_tensor_arg(x, out):
    memo = {}
    for i in range(len(x)):
        memo[i] = x[i] * 2
        out.append(memo[i])
    return memo[1].item()


f_append_tensor_arg.args = lambda: (g(3), [])


def f_overwrite(x, y):
    D = torch.zeros(3)
    memo = {}
    for i in range(3):
        memo[i] = x[i] + 1
        D[i] = memo[i]
    for i in range(3):
        memo[i] = y[i] + 1
        D[i] = memo[i]
    return D.sum()


f_overwrite.args = lambda: (g(3), g(3, seed=1))


def f_row_store(x, y):
    D = torch.zeros(3, 4)
    memo = {}
    for i in range(3):
        memo[i] = x[i] + 1
        D[i] = y * memo[i]
    return (D[1], (D[2] * D[0]).sum())


f_row_store.args = lambda: (g(3), g(4, seed=1))


def f_row_store2(x, y):
    D = torch.zeros(3, 4)
    memo = {}
    for i in range(3):
        memo[i] = x[i] + 1
        D[i, 1:3] = memo[i]
        D[i, 0] += memo[i]
    return ((D[2] + D[0]).sum(), D.sum(dim=1))


f_row_store2.args = lambda: (g(3), g(4, seed=1))


def f_clamp_nan(x):
    memo = {}
    for i in range(len(x)):
        memo[i] = torch.clamp(x[i], min=0.0) + x[i].clamp(max=1.0) * 2 + x[i].clamp(0.5, 0.2)
    return [memo[i] for i in range(len(x))]


f_clamp_nan.args = lambda: (torch.tensor([float("nan"), 1.0, 0.0, 0.5, 0.2, -1.0, 2.0], requires_grad=True),)


def f_logaddexp_nan(x, y):
    memo = {}
    for i in range(len(x)):
        for j in range(len(y)):
            memo[i, j] = torch.logaddexp(x[i], y[j])
    return [memo[key] for key in memo]


f_logaddexp_nan.args = lambda: (
    torch.tensor([float("nan"), 0.0, float("-inf"), 1.5], requires_grad=True),
    torch.tensor([float("nan"), 0.0, float("inf"), float("-inf"), 1.5], requires_grad=True),
)


def f_tensor_of_empty_list(x):
    found, memo = [], {}
    for i in range(len(x)):
        memo[i] = x[i] * 2
        if x[i] > 100:
            found.append(i)
    return torch.tensor(found).sum(), memo[0]


f_tensor_of_empty_list.args = lambda: (g(3),)


def f_where_of_integers(c, x):
    memo = {}
    for i in range(len(x)):
        memo[i] = torch.where(c[i], x[i], x[0])
    return memo[1]


f_where_of_integers.args = lambda: (torch.tensor([1, 0, 1]), g(3))


def f_contiguous_copy(x):
    memo, table = {}, torch.zeros(2, 3)
    copy = table.t().contiguous()
    for i in range(2):
        memo[i] = x[i] * 2
        table[i, 0] = memo[i]
    return copy[0, 0] + 1, copy[0, 1] + 0


f_contiguous_copy.args = lambda: (g(3),)


def f_one_view_twice(x):
    best, memo = x[0], {}
    for i in range(1, len(x)):
        memo[i] = x[i]
        if x[i] > best:
            best = x[i]
    return best, best


f_one_view_twice.args = lambda: (g(4),)


def f_slices_of_nothing(x, y):
    memo, rows = {}, {}
    for i in range(len(x)):
        memo[i] = x[:i].sum() + 1
        rows[i] = (y[:i] * x[0]).sum()
    return [memo[key] for key in memo], [rows[key] for key in rows]


f_slices_of_nothing.args = lambda: (g(3), g(3, r=False))


def f_dict_of_sums(x):
    sums = defaultdict(float)
    for i in range(x.shape[0]):
        sums[i % 3] = sums[i % 3] + x[i] * 2
    return dict(sums)


f_dict_of_sums.args = lambda: (g(8),)


def f_absolute_of_either(x):
    found = [1.5]
    for i in range(x.shape[0]):
        found.append(abs(found[-1]) - x[i] if i % 2 else -abs(found[-1]) - 1)
    return found


f_absolute_of_either.args = lambda: (g(7),)


def f_ctc(logp, labels):
    marks = [0]
    for label in labels:
        marks += [label, 0]
    ends = [None] * len(marks)
    for t in range(logp.shape[0]):
        new = [None] * len(marks)
        for k in range(len(marks)):
            terms = []
            if t == 0:
                if k < 2:
                    new[k] = logp[0, marks[k]]
                continue
            for step in range(min(k, 2) + 1):
                if step == 2 and (marks[k] == 0 or marks[k] == marks[k - 2]):
                    continue
                if ends[k - step] is not None:
                    terms.append(ends[k - step])
            if terms:
                new[k] = torch.logsumexp(torch.stack(terms), 0) + logp[t, marks[k]]
        ends = new
    last = [one for one in ends[-2:] if one is not None]
    return torch.logsumexp(torch.stack(last), 0)


f_ctc.args = lambda: (g(6, 4), [1, 2, 2])


def f_stack_of_none(x):
    found, seen = [None], set()
    for i in range(x.shape[0]):
        seen.add(i)
        if i > 1:
            torch.stack(found)
    return seen


f_stack_of_none.args = lambda: (g(3),)


def short(*shape, dtype=torch.uint8, high=3, seed=0):
    return torch.randint(0, high, shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def f_components_of_bytes(mask):
    labels, current = torch.zeros(mask.shape, dtype=torch.int32), 0
    for i in range(mask.shape[0]):
        for j in range(mask.shape[1]):
            if mask[i, j] and labels[i, j] == 0:
                current += 1
                stack = [(i, j)]
                while stack:
                    y, x = stack.pop()
                    if not (0 <= y < mask.shape[0] and 0 <= x < mask.shape[1]):
                        continue
                    if not mask[y, x] or labels[y, x] != 0:
                        continue
                    labels[y, x] = current
                    stack.extend([(y + 1, x), (y - 1, x), (y, x + 1), (y, x - 1)])
    return labels, current


f_components_of_bytes.args = lambda: (short(6, 7, high=2),)


def f_runs_of_a_mask(mask):
    runs, last, run, seen = [], 0, 0, set()
    flat = mask.reshape(-1)
    for k in range(flat.shape[0]):
        v = flat[k].item()
        if v != last:
            runs.append(run)
            run, last = 0, v
        run += 1
        seen.add(int(mask.flatten()[k]))
    return runs, run, sorted(seen)


f_runs_of_a_mask.args = lambda: (short(4, 5, high=2),)


def f_short_integers(x, y):
    out, seen = [], set()
    for i in range(x.shape[0]):
        seen.add(i)
        out += [x[i] * 100 - 50, -x[i], x[i] // 2 + x[i] % 2]
        x[i] = x[i] * 2 + 1
        y[i] += x[i]
        y[i] = y[i] + 3
    return out, seen, x.tolist()


f_short_integers.args = lambda: (short(5, dtype=torch.int8, high=100), short(5, dtype=torch.int16, high=300, seed=1))


def f_short_places(x, table):
    found, seen = [], set()
    for i in range(x.shape[0]):
        found.append(table[x[i]])
        seen.add(int(x[i]))
        table[x[i]] += 1
    return found, sorted(seen)


f_short_places.args = lambda: (short(6, dtype=torch.int32), [5, 6, 7])


def f_beyond_a_byte(x):
    hits, seen = 0, set()
    for i in range(x.shape[0]):
        seen.add(i)
        hits += 1 if x[i] < 300 else 1000
    return hits, seen


f_beyond_a_byte.args = lambda: (short(4, high=200),)


def f_stores_beyond_a_byte(x):
    seen = set()
    for i in range(x.shape[0]):
        seen.add(i)
        x[i] = 100 * i
    return seen


f_stores_beyond_a_byte.args = lambda: (short(5),)
