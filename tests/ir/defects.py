"""Programs that Python and the translated IR once told apart, or that the analysis once changed or mistook."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import torch
import torch.nn.functional as F
from programs import Program, matrix, vector

TRANSLATION: list[Program] = []
ANALYSIS: list[Program] = []


def translation(*inputs):
    return lambda function: TRANSLATION.append(Program(function, list(inputs))) or function


def analysis(*inputs):
    return lambda function: ANALYSIS.append(Program(function, list(inputs))) or function


# ---------------------------------------------------------------- names


@translation((3,))
def chained_assignment_of_a_temporary(n):
    a = b = n + 1
    for i in range(n):
        b = b + a
    return a, b


@translation((3,))
def author_names_like_temporaries(n):
    items = []
    result = items
    last = 0
    for i in range(n):
        t = i * 2
        previous = t
        last = previous + t
        items.append(last)
    return result, last


@translation((1,), (5,))
def argument_bound_on_one_side(n):
    if n > 2:
        n = 4
    total = 0
    for i in range(n):
        total += i
    return n, total


@translation((4,))
def tuple_bound_in_the_loop_first(n):
    total = 0
    for i in range(n):
        if i > 0:
            total += pair[0]  # noqa: F821
        pair = (i, i + 1)  # noqa: F841
    return total


@translation((4,))
def tuple_instead_of_none(n):
    previous = None
    total = 0
    for i in range(n):
        if previous is not None:
            total += previous[0] * previous[1]
        previous = (i, i + 1)
    return total, previous


@translation(([[1, 2], [3, 4]], 3), ([], 3))
def returns_a_tuple_from_two_loops(rows, wanted):
    for i, row in enumerate(rows):
        for j, item in enumerate(row):
            if item == wanted:
                return i, j
    return -1, -1


# ---------------------------------------------------------------- exits


@translation((3, 1), (3, 0))
def break_in_a_loop_in_an_if(n, c):
    total = 0
    for k in range(2):
        if c > 0:
            for i in range(n):
                if i == 2:
                    break
                total += 1
    return total


@translation((3, 1), (3, 0))
def else_of_a_loop_in_an_if(n, c):
    total = 0
    for k in range(n):
        if c > 0:
            j = 0
            while j < k:
                j += 1
            else:
                total += 100
        total += 1
    return total


@translation(([1, 5, 2], 5), ([1, 5, 2], 2), ([1, 7, 5], 5), ([0, 0], 5), ([], 1))
def leaves_by_break_and_by_return(items, wanted):
    total = 0
    for i, item in enumerate(items):
        if item == wanted:
            return i, total
        if item > 6:
            break
        total += item
    else:
        total += 100
        if total > 102:
            return -2, total
    total += 1
    return -1, total


@translation(([[1, 5], [7, 2]], 5), ([[1, 7], [3, 2]], 2), ([[1], [2]], 9))
def returns_from_an_inner_loop_that_breaks(rows, wanted):
    seen = 0
    for row in rows:
        for item in row:
            if item == wanted:
                return seen
            if item > 6:
                break
            seen += 1
        seen += 10
    return -seen


# ---------------------------------------------------------------- what is iterated


@translation(([1, 2],))
def keyword_start_of_a_sum(items):
    total = sum((item for item in items), start=10)
    return total


@translation(([1, 0, 2],))
def any_of_a_list_makes_the_list_first(items):
    found = any([1 / item > 0.3 for item in items])
    return found


@translation((2,))
def tuples_of_several_lengths(n):
    total = 0
    for pair in ((1, 2), (3, 4, 5)):
        total += len(pair)
    return total


@analysis((3,))
def list_that_grows_while_it_is_iterated(n):
    queue = [0]
    for item in queue:
        if item < n:
            queue.append(item + 1)
    return len(queue)


@translation((vector(1, 2),))
def equal_tuples_are_true(x):
    out = []
    for i in range(2):
        out.append((x[i], x[i]) == (x[i], x[i]))
    return out


def changes(items):
    items[0] = 50
    return 1


@translation(([1, 2],))
def augmented_store_reads_before_its_value(items):
    for i in range(2):
        items[0] += changes(items)
    return items


# ---------------------------------------------------------------- values that the analysis must leave alone


@analysis(([[], [], []],))
def appends_to_rows_of_the_caller(rows):
    for i in range(3):
        rows[i].append(i)


@analysis(([1, 2, 3],))
def pops(stack):
    total = 0
    for i in range(2):
        total += stack.pop()
    return total


@analysis(([1, 2, 3], {}, set()))
def changes_containers(items, table, members):
    for i in range(2):
        items.extend([i])
        items.insert(0, i)
        table.update(a=i)
        table.setdefault("b", i)
        members.add(i)


@analysis((defaultdict(list), [1, 2]))
def reads_a_default(table, keys):
    for key in keys:
        row = table[key]
        row.append(key)


@analysis((vector(1, -2, 3),))
def function_in_place(x):
    for i in range(3):
        y = F.relu(x[i], inplace=True)
    return y


@analysis((torch.nn.ReLU(inplace=True), matrix(3, 2)))
def module_in_place(layer, x):
    for i in range(3):
        y = layer(x[i])
    return y


@analysis((torch.nn.BatchNorm1d(3), torch.randn(2, 4, 3)))
def module_with_running_statistics(layer, x):
    out = []
    for i in range(2):
        out.append(layer(x[i]))
    return out


@analysis((vector(1, 2), vector(0, 0)))
def writes_to_out(x, y):
    for i in range(2):
        torch.add(x[i], 1, out=y[i])


@analysis((np.array([3.0, 1.0]), np.zeros(2)))
def numpy_in_place(x, y):
    for i in range(2):
        np.copyto(y, x)
        x.sort()
        y.fill(i)


@analysis((2,))
def prints_in_an_assignment(n):
    for i in range(n):
        nothing = print(i)
    return nothing


# ---------------------------------------------------------------- facts


@analysis(([1, 2.5],), ([vector(1), torch.tensor([1])],), ([torch.zeros(2), torch.zeros(2, 2)],))
def items_of_several_kinds(items):
    total = 0
    for item in items:
        total = total + (item * 2 // 1)
    return total


@analysis((3,))
def trips_that_a_break_decides(n):
    out = []
    for k in range(n):
        steps = 0
        while True:
            steps += 1
            if steps > k:
                break
        out.append(steps)
    return out


@analysis((4,))
def power_of_a_negative_number(n):
    out = torch.zeros(n)
    for i in range(n):
        out[i] = 2 ** (1 - i)
    return out


@analysis((np.array([3.0, -1.0]),))
def maximum_of_a_number_and_an_element(x):
    out = np.zeros(2)
    for i in range(2):
        width = max(0.0, x[i] - 5) * max(0.0, x[i])
        out[i] = width * width
    return out
