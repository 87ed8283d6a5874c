"""Programs whose 0-dim tensors need no buffer, and others like them whose do: handed out, changed or widened."""

import torch


def row(count, seed=0, grad=False):
    made = torch.randn(count, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    return made.requires_grad_() if grad else made


def square(count, seed=0, grad=False):
    made = torch.randn(count, count, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    return made.requires_grad_() if grad else made


def f_forward(start, steps, seen):
    alpha = {}
    for k in range(len(start)):
        alpha[0, k] = start[k] * steps[k, 0]
    for t in range(1, len(seen)):
        for k in range(len(start)):
            total = 0.0
            for p in range(len(start)):
                total = total + alpha[t - 1, p] * steps[p, k]
            alpha[t, k] = total * start[seen[t]]
    return torch.stack([alpha[len(seen) - 1, k] for k in range(len(start))])


f_forward.args = lambda: (row(3, grad=True), square(3, 1, grad=True), [0, 2, 1, 1])


def f_forward_plain(start, steps, seen):
    return f_forward(start, steps, seen)


f_forward_plain.args = lambda: (row(3), square(3, 1), [0, 2, 1, 1])


def f_one_number(x, seen):
    best = {}
    for i in range(len(x)):
        best[seen[i]] = best.get(seen[i], 0.0) + x[i] * x[i - 1]
    total = torch.zeros((), dtype=x.dtype)
    for key in sorted(best):
        total = total + best[key] * 2
    return total


f_one_number.args = lambda: (row(5, grad=True), [0, 1, 0, 2, 1])


def f_two_numbers(x):
    seen = {}
    for i in range(len(x)):
        seen[i] = x[i] * 2
    total = seen[0] + seen[1]
    return total, total


f_two_numbers.args = lambda: (row(4),)


def f_element_handed_out(x):
    places = {}
    best = x[0]
    for i in range(len(x)):
        places[i] = i
        if x[i] > best:
            best = x[i]
    return best


f_element_handed_out.args = lambda: (row(4),)


def f_numbers_in_a_list(x):
    found, places = [], {}
    for i in range(len(x)):
        places[i] = x[i] + 1
        found.append(places[i])
    return found


f_numbers_in_a_list.args = lambda: (row(4),)


def f_same_number_twice(x):
    found, seen = [], {}
    for i in range(len(x)):
        value = x[i] * x[i]
        seen[i] = value
        found.append(value)
        found.append(seen[i])
    return torch.stack(found)


f_same_number_twice.args = lambda: (row(3, grad=True),)


def f_widened(x):
    parts = {}
    for i in range(len(x)):
        parts[i] = torch.exp(x[i]).unsqueeze(0)
    return torch.cat([parts[i] for i in range(len(x))])


f_widened.args = lambda: (row(3),)


def f_beside_rows(table, x):
    out, kept = [], {}
    for i in range(len(x)):
        kept[i] = x[i] * x[i]
    for i in range(len(x)):
        out.append((table[i] - kept[i]).sum() / kept[i])
    return torch.stack(out)


f_beside_rows.args = lambda: (square(3, grad=True), row(3, 2, grad=True))


def f_changed_number(x):
    seen, total = {}, torch.zeros((), dtype=x.dtype)
    for i in range(len(x)):
        total += x[i]
        seen[i] = total
    return torch.stack([seen[i] for i in range(len(x))])


f_changed_number.args = lambda: (row(3),)


def f_old_name_after_change(x):
    seen = {}
    value = x[0] * 1
    for i in range(len(x)):
        before = value
        value = before * x[i]
        seen[i] = before - value
        before, value = value, before
    return torch.stack([seen[i] for i in range(len(x))]) * value


f_old_name_after_change.args = lambda: (row(4, grad=True),)


def f_out_of_table(table, places):
    seen = {}
    for i in range(len(places)):
        seen[i] = table[i, places[i]] * 2
    return torch.stack([seen[i] for i in range(len(places))])


f_out_of_table.args = lambda: (square(3), [0, 1, 3])


def f_into_the_callers_list(x, found):
    seen = {}
    for i in range(len(x)):
        seen[i] = x[i] + 1
        found.append(seen[i])
        found.append(seen[i])
    return len(seen)


f_into_the_callers_list.args = lambda: (row(3), [torch.zeros(())])


def f_powers_of_tensors(x, y, rates):
    """Both the base and the exponent may ask for gradients, of any two types; no exponent is an integer here."""
    memo = {}
    for k in range(len(x)):
        memo[k] = (x[k].abs() + 0.1) ** y[k]
    total = memo[0] * 0
    for k in range(1, len(x)):
        total = total + memo[k].pow(rates[k]) * torch.pow(memo[k - 1], y[k]) + (-1.5 * memo[k]) ** y[-1]
        if total > 3:
            break
    return total, memo[1], (y + 3) ** x[0]


f_powers_of_tensors.args = lambda: (
    torch.tensor([0.3, -1.5, 0.7, 1.1], dtype=torch.float64, requires_grad=True),
    torch.tensor([1.5, -0.5, 2.0, 1.0], dtype=torch.float64, requires_grad=True),
    torch.tensor([0.5, 2.5, 1.25, 3.0]),
)


def f_powers_of_zero(x, y):
    """What flows there is zero, whatever comes from above."""
    memo = {}
    for k in range(len(x)):
        memo[k] = x[k] ** y[k]
    return memo[0] / (memo[1] - memo[1]), memo[2]


f_powers_of_zero.args = lambda: (
    torch.tensor([0.0, 0.0, 2.0], requires_grad=True),
    torch.tensor([1.5, 0.0, 0.0], requires_grad=True),
)


def f_powers_of_small_numbers(x, y):
    """Autograd takes one from an exponent in the dtype of that, which rounds."""
    memo = {}
    for k in range(len(x)):
        memo[k] = x[k] ** y[k]
    return memo[0], memo[1], memo[2]


f_powers_of_small_numbers.args = lambda: (
    torch.tensor([1e-30, 1e-35, 1e-32], dtype=torch.float64, requires_grad=True),
    torch.tensor([0.1, 0.3, -0.3], requires_grad=True),
)


def f_powers_by_truths(x, y):
    """Autograd takes one from no bool: it raises."""
    memo = {}
    for k in range(len(x)):
        memo[k] = x[k] ** y[k]
    return memo[0], memo[1]


f_powers_by_truths.args = lambda: (torch.tensor([0.5, 2.0], requires_grad=True), torch.tensor([True, True]))
