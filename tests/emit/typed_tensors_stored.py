"""Programs that store into tensors what gradients flow through; each with what it is called with."""

import torch

from .typed_tensors_small import g


def f_table_of_gradients(x, y):
    n, m = len(x), len(y)
    D, memo = torch.full((n + 1, m + 1), 9.0), {}
    D[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            memo[i, j] = (x[i - 1] - y[j - 1]) ** 2
            D[i, j] = memo[i, j] + min(D[i - 1, j] + 0.1, D[i, j - 1] + 0.2, D[i - 1, j - 1] + 0)
    return D


f_table_of_gradients.args = lambda: (g(4), g(3, seed=1))


def f_zeros_for_what_was_overwritten(x, y):
    D, memo = torch.zeros(3), {}
    for i in range(3):
        memo[i] = x[i] + 1
        D[i] = memo[i]
    for i in range(3):
        D[i] = y[i] + 0
    return D


f_zeros_for_what_was_overwritten.args = lambda: (g(3), g(3, seed=1))


def f_nothing_for_what_is_not_reached(x, y):
    D, E, memo = torch.zeros(3), torch.zeros(3), {}
    for i in range(3):
        memo[i] = x[i] + 1
        D[i] = memo[i]
        E[i] = y[i] + 1
    return E[1] + 0


f_nothing_for_what_is_not_reached.args = lambda: (g(3), g(3, seed=1))


def f_read_before_the_store(x, y):
    D, memo, seen = torch.zeros(4), {}, []
    for i in range(1, 4):
        seen.append(D[i - 1] + x[i])
        D[i] = seen[-1] + 1
        D[0] = y[i] + D[0]
        memo[i, "a"] = D[0] - D[i]
    return memo[3, "a"], sum(seen)


f_read_before_the_store.args = lambda: (g(4), g(4, seed=1))


def f_rows_added_to(x, w):
    D, mode = torch.zeros(4, 3), "up"
    for i in range(4):
        for j in range(3):
            D[i, j] += x[i] + w[j]
            D[i] += w
            mode = "down" if D[i, j] > 0 and mode == "up" else "up"
            if mode == "down":
                D[i, j] -= 2 * x[i]
    return D.sum(0)


f_rows_added_to.args = lambda: (g(4), g(3, seed=1))


def f_through_a_named_row(x, w):
    D, memo = torch.zeros(3, 3), {}
    for i in range(3):
        row = D[i]
        for j in range(3):
            memo[j] = x[j] + w[i]
            row[j] = memo[j]
        D[:, i] = w + row
    return D


f_through_a_named_row.args = lambda: (g(3), g(3, seed=1))


def f_modes_in_a_history(x):
    history, mode, last = torch.zeros(6), "off", torch.zeros(())
    for t in range(6):
        if mode == "off" and x[t] > 0:
            mode = "on"
        elif mode == "on" and x[t] < 0:
            mode = "off"
        last = last + (x[t] if mode == "on" else 0.5 * x[t])
        history[t] = last
    return history, mode


f_modes_in_a_history.args = lambda: (g(6),)


def f_into_what_was_given(x, out):
    memo = {}
    for i in range(len(x)):
        memo[i] = x[i] + 1
        out[i] = memo[i]
        out[0] += x[i]
    return memo[0] + out[0]


f_into_what_was_given.args = lambda: (g(3), torch.zeros(3))


def f_rows_gone_through(x):
    D, memo = torch.zeros(3, 2), {}
    for i, row in enumerate(D):
        memo[i] = x[i] + 1
        row[0] = memo[i]
    return D.sum()


f_rows_gone_through.args = lambda: (g(3),)


def f_a_view_older_than_the_store(x):
    D, memo = torch.zeros(3), {}
    first = D[0]
    for i in range(3):
        memo[i] = x[i] + 1
        D[i] = memo[i]
    first += 1.0
    return D.sum()


f_a_view_older_than_the_store.args = lambda: (g(3),)


def f_kept_by_a_product(x, w):
    D, memo = torch.zeros(4), {}
    for i in range(1, 4):
        memo[i] = D[i - 1] * w[0]
        D[i] = memo[i] + x[i]
    return D[3] + 0


f_kept_by_a_product.args = lambda: (g(4), g(1, seed=1))
