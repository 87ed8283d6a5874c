"""Programs over tensors whose answers PyTorch gives in ways of its own; each with what it is called with."""

import math

import torch


def numbers(*values, dtype=torch.float64, grad=True):
    return [torch.tensor(value, dtype=dtype, requires_grad=grad) for value in values]


def rows(*shape, grad=True):
    generator = torch.Generator().manual_seed(sum(shape))
    return torch.randn(shape, generator=generator, dtype=torch.float64, requires_grad=grad)


def f_exponents_that_are_taken(xs):
    left, memo = [1.5, 3.0, 0.5, 2.0, 1.0, 0.25], {}
    for k, x in enumerate(xs):
        memo[k] = x ** left.pop()
    return memo[0] + memo[1], left


f_exponents_that_are_taken.args = lambda: (numbers(2.0, 3.0),)


def f_chain_of_comparisons(xs):
    memo = {}
    for k, x in enumerate(xs):
        memo[k] = -0.5 < x < 0.5
    return memo[0], memo[1]


f_chain_of_comparisons.args = lambda: (numbers(0.25, 3.0),)


def f_comparisons_have_no_gradient(xs, w):
    memo = {}
    for k, x in enumerate(xs):
        memo[k] = (x > 0).double() * w
    return memo[0], memo[1]


f_comparisons_have_no_gradient.args = lambda: (numbers(0.25, -3.0), *numbers(2.0))


def f_counts_ask_for_no_gradient(xs):
    memo = {}
    for k, x in enumerate(xs):
        memo[k] = (x > 0) * 1.5
    return memo[0], memo[1]


f_counts_ask_for_no_gradient.args = lambda: (numbers(0.25, -3.0),)


def f_product_of_other_sizes(x, y):
    memo = {}
    for k in range(3):
        memo[k] = torch.dot(x, y) * k
    return memo[2]


f_product_of_other_sizes.args = lambda: (torch.ones(1), torch.ones(4))


def f_filled_by_a_number(n):
    memo = {}
    for k in range(3):
        memo[k] = torch.full(n, 0.5).sum() * k
    return memo[2]


f_filled_by_a_number.args = lambda: (3,)


def f_out_of_range(rows):
    memo = {}
    for k, x in enumerate(rows):
        memo[k] = x.sum(), x.mean(), x.norm(), x.prod()
    return memo[0], memo[1]


f_out_of_range.args = lambda: ([torch.tensor([3e38, 3e38, -3e38, -3e38]), torch.tensor([1e-30, 1e-30, 1e30, 1e30])],)


def f_zeros_of_both_signs(rows):
    memo = {}
    for k, x in enumerate(rows):
        memo[k] = 1 / x.max(), 1 / x.min()
    return memo[0], memo[1]


f_zeros_of_both_signs.args = lambda: ([torch.tensor([0.0, -0.0]), torch.tensor([-0.0, 0.0])],)


def f_limits_that_are_nan(xs, limit):
    memo = {}
    for k, x in enumerate(xs):
        memo[k] = x.clamp(min=limit)
    return memo[0], memo[1]


f_limits_that_are_nan.args = lambda: (numbers(0.25, -3.0), math.nan)


def f_truncated(xs):
    memo = {}
    for k, x in enumerate(xs):
        memo[k] = math.trunc(x)
    return memo[0], memo[1]


f_truncated.args = lambda: (numbers(0.25, -3.0),)


def f_sizes(x):
    memo = {}
    for k in range(2):
        memo[k] = x.shape
    return memo[0], memo[1]


f_sizes.args = lambda: (torch.ones(2, 3),)


def f_sizes_in_a_tuple(x):
    memo = {}
    for k in range(2):
        memo[k] = tuple(x.shape)
    return memo[0], memo[1]


f_sizes_in_a_tuple.args = lambda: (torch.ones(2, 3),)


def f_places_beside_values(rows):
    memo = {}
    for k, x in enumerate(rows):
        memo[k] = x.max(0)
    return memo[0], memo[1]


f_places_beside_values.args = lambda: ([torch.tensor([1.0, 2.0]), torch.tensor([3.0, 0.0])],)


def f_part_of_itself(x):
    memo = {}
    for k in range(3):
        memo[k] = k
        row = x[k]
        row += row[0]
    return x


f_part_of_itself.args = lambda: (torch.arange(9.0).view(3, 3),)


def f_rows_of_itself(x):
    memo = {}
    for k in range(1, 3):
        memo[k] = k
        x[0, :] = x[k, :]
        row = x[k]
        row += row
        row += x[0]
        x[k] = x[k]
    return x


f_rows_of_itself.args = lambda: (torch.arange(9.0).view(3, 3),)


def f_numbers_of_a_dict(found):
    seen = set()
    for k in range(3):
        seen.add(k)
        if k in found:
            found[k] += 1
    return found


f_numbers_of_a_dict.args = lambda: ({k: x for k, x in enumerate(numbers(1.0, 2.0, grad=False))},)


def f_view_twice_in_a_dict(x, found):
    for k in range(3):
        one = x[k]
        found[k] = one
        found[k + 9] = one
    return found[0] - found[9]


f_view_twice_in_a_dict.args = lambda: (torch.arange(3.0), {})


def f_greater_of_zeros(x):
    memo = {}
    for k in range(2):
        memo[k] = (1 / torch.maximum(x, -x)).sum()
    return memo[0] + memo[1]


f_greater_of_zeros.args = lambda: (torch.zeros(12, dtype=torch.float64),)


def f_rounded_halves(xs):
    memo = {}
    for k, x in enumerate(xs):
        memo[k] = torch.round(x), torch.relu(x * 0), x.clamp(min=0.0), torch.sign(x)
    return memo[0], memo[1], memo[2], memo[3]


f_rounded_halves.args = lambda: (numbers(0.5, 1.5, -2.5, -0.0),)


def _nearest(p, cloud):
    best = None
    for q in cloud:
        d = ((p - q) ** 2).sum()
        if best is None or d < best:
            best = d
    return best


def f_sums_of_what_may_be_none(ps, qs):
    found, memo = [], {}
    for k in range(len(ps)):
        near = [_nearest(p, qs[k]) for p in ps[k]]
        memo[k] = sum(1 for d in near if d.item() < 0.5) / len(near)
        found.append(sum(near) / len(near))
    return torch.stack(found), memo[0]


f_sums_of_what_may_be_none.args = lambda: (
    [rows(3, 2), rows(1, 2)],
    [rows(2, 2), rows(4, 2)],
)


def f_means_of_groups(x, w, groups):
    members = {}
    for k, group in enumerate(groups):
        members.setdefault(group, []).append(k)
    means = {}
    for group, found in members.items():
        total, norm = 0.0, 0.0
        for k in found:
            total = total + w[k] * x[k]
            norm = norm + w[k]
        means[group] = total / norm
    return means


f_means_of_groups.args = lambda: (rows(4, 2), rows(4), ["b", "a", "b", "c"])


def f_logarithms_of_integers(x, ranks):
    memo = {}
    for k, rank in enumerate(ranks):
        memo[rank] = x[k] / math.log2(rank + 1) + math.log10(rank) - math.log(rank)
    return memo[2] + memo[2**62], [math.log2(2**k + 1) for k in range(0, 60, 7)]


f_logarithms_of_integers.args = lambda: (numbers(0.5, 1.5, -2.5), [2, 1000, 2**62])


def f_logarithm_of_no_integer(x, ranks):
    memo = {}
    for k, rank in enumerate(ranks):
        memo[k] = x[k] / math.log2(rank)
    return memo[0]


f_logarithm_of_no_integer.args = lambda: (numbers(0.5, 1.5), [2, 0])


def f_slopes_of_both_sides(xs):
    memo = {}
    for k, x in enumerate(xs):
        memo[k] = (x * x + 2 * x) * (torch.exp(x) - x / 3) + (1 - x) * (memo[k - 1] if k else x)
    return memo[len(xs) - 1], memo[0]


f_slopes_of_both_sides.args = lambda: (numbers(0.5, -2.0, 3.0, 1.0),)


def f_slopes_that_are_zero_or_infinite(xs):
    memo = {}
    for k, x in enumerate(xs):
        memo[k] = torch.sqrt(x * 1.0) * 0.0 + torch.maximum(torch.sqrt(x * 2.0), x + 5.0) + torch.log(x * x + 1.0)
    return [memo[k] for k in range(len(xs))]


f_slopes_that_are_zero_or_infinite.args = lambda: (numbers(0.0, 4.0, 1e-300, 100.0),)


def f_slopes_out_of_range(xs):
    memo = {}
    for k, x in enumerate(xs):
        memo[k] = (x * 1e200) * 1e200 * 1e-200 * 1e-200 + torch.exp(x * 1e-200) * 1e300
    return memo[0] + memo[1]


f_slopes_out_of_range.args = lambda: (numbers(0.5, -2.0),)


def f_folded_beside_another(xs):
    memo, out = {}, []
    for k, x in enumerate(xs):
        memo[k] = torch.logsumexp(torch.stack([x * 2, x + 1, memo[k - 1] if k else x]), 0) * 3 - x * x
        out.append(torch.stack([x * x, memo[k] * 2]).sum() + x)
    return out


f_folded_beside_another.args = lambda: (numbers(0.5, -2.0, 3.0, 1.0),)


def f_tensor_of_tuples(xs):
    out, k = [], 0
    while k < len(xs):
        out.append((xs[k], k, xs[k] * 2))
        k += 1 if xs[k] > 0 else 2
    return torch.tensor(out), torch.tensor(out, dtype=torch.float64)


f_tensor_of_tuples.args = lambda: ([0.5, -1.0, 2.0, 0.25, -3.0, 1e-40, 7.0],)


def f_tensor_of_whole_tuples(xs):
    out, flags, k = [], [], 0
    while k < len(xs):
        out.append((k, k * k))
        flags.append((k > 2, xs[k] > 0))
        k += 1 if xs[k] > 0 else 2
    return torch.tensor(out), torch.tensor(flags), torch.tensor(out, dtype=torch.float32)


f_tensor_of_whole_tuples.args = lambda: ([0.5, -1.0, 2.0, 0.25, -3.0, 4.0],)


def f_tensor_of_rows_of_tuples(xs, n):
    out = []
    for a in range(n):
        row, k = [], 0
        while k < len(xs):
            row.append((xs[k] * a, k))
            k += 1
        out.append(row)
    return torch.tensor(out)


f_tensor_of_rows_of_tuples.args = lambda: ([0.5, -1.0, 2.0], 4)


def f_tensor_of_ragged_tuples(xs, n):
    out = []
    for a in range(n):
        row, k = [], 0
        while k < len(xs) - a % 2:
            row.append((xs[k] * a, k))
            k += 1
        out.append(row)
    return torch.tensor(out)


f_tensor_of_ragged_tuples.args = lambda: ([0.5, -1.0, 2.0], 4)


def f_tensor_of_no_tuples(xs):
    out, k = [], 0
    while k < len(xs):
        if xs[k] > 100:
            out.append((k, k))
        k += 1
    return torch.tensor(out)


f_tensor_of_no_tuples.args = lambda: ([0.5, -1.0, 2.0],)
