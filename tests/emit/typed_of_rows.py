"""Small functions whose loops go over lists that change in all ways meanwhile, with arguments."""

from collections import deque

from typed_given import given


@given(lambda: ([[1.0, 5.0, 9.0], [2.0, 0.5, 4.0], [7.0, 1.0, 0.25]],))
def of_distances(d):
    for k in range(len(d)):
        for i in range(len(d)):
            for j in range(len(d)):
                if d[i][k] + d[k][j] < d[i][j]:
                    d[i][j] = d[i][k] + d[k][j]
    return d


@given(lambda: ([[1, 2], [3, 4]],))
def of_one_row_twice(rows):
    rows[1] = rows[0]
    for i in range(2):
        for j in range(2):
            rows[0][j] += rows[1][j] + i
    return rows


@given(lambda: ([1, 2, 3],))
def of_one_list_by_two_names(a):
    b = a
    for i in range(len(a) - 1):
        a[i + 1] += b[i]
        b[0] -= a[i]
    return a, b


@given(lambda: ([3, 1, 2],))
def of_growing(a):
    for i in range(len(a)):
        a.append(a[i] * 2)
        a[i] = a[-1]
    return a


@given(lambda: ([3, 1, 2],))
def of_growing_by_another_name(a):
    b = a
    for i in range(3):
        b.append(a[i] * 2)
        a[i] += b[-1]
    return a


@given(lambda: ([3, 1, 2, 5],))
def of_shrinking(a):
    total = 0
    while len(a) > 1:
        total += a[0] * a[-1]
        a.pop()
    return total, a


@given(lambda: ([3, 1, 2, 5],))
def of_reversed_meanwhile(a):
    for i in range(4):
        a[i] += 10 * i
        a.reverse()
    return a


@given(lambda: ([3.5, 1.5, 2.5, 5.5],))
def of_sorted_meanwhile(a):
    for i in range(4):
        a[i] *= -1
        a.sort()
    return a


@given(lambda: ([1.0, 2.0, 3.0, 4.0, 5.0], 4))
def of_two_buffers(u, steps):
    new = u[:]
    for _ in range(steps):
        for i in range(1, len(u) - 1):
            new[i] = u[i] + 0.25 * (u[i - 1] - 2 * u[i] + u[i + 1])
        u, new = new, u
    return u, new


@given(lambda: ([[1, 2, 3], [4, 5, 6]],))
def of_rows_exchanged(m):
    for i in range(3):
        m[0], m[1] = m[1], m[0]
        for j in range(3):
            m[0][j] += m[1][j] * i
    return m


@given(lambda: ([[1, 2, 3], [4, 5, 6]],))
def of_a_row_put_in_meanwhile(m):
    for i in range(2):
        for j in range(3):
            m[i][j] += 1
            if j == 1:
                m[i] = [7, 8, 9]
            m[i][j] -= 3
    return m


@given(lambda: ([[1, 2, 3], [4, 5, 6]],))
def of_a_row_of_another_name_put_in(m):
    other = m
    for i in range(2):
        for j in range(3):
            m[i][j] += 1
            other[i] = [j, j, j]
            m[i][2] += 2
    return m


@given(lambda: ([1, 2, 3], 5))
def of_places_from_the_end(a, n):
    out = []
    for i in range(n):
        out.append(a[-1 - i % 3])
        a[i - n] if i > 2 else None
        a[-(i % 3) - 1] += i
    return out, a


@given(lambda: ([1, 2, 3],))
def of_a_place_beyond_in_no_iteration(a):
    total = 0
    for i in range(len(a)):
        if i + 1 < len(a):
            total += a[i + 1] - a[i]
    for _ in range(0):
        total += a[99]
    return total


@given(lambda: ([[1, 2], [3]],))
def of_a_row_beyond_in_no_iteration(rows):
    total = 0
    for i in range(2):
        for j in range(len(rows[i])):
            total += rows[i][j]
            if i + 1 < 2:
                total += rows[i + 1][0]
    return total


@given(lambda: ([1, 2, 3],))
def of_a_place_beyond(a):
    for i in range(4):
        a[i] += 1
    return a


@given(lambda: ([1, 2, 3],))
def of_a_place_before(a):
    for i in range(5):
        a[-i] += 1
    return a


@given(lambda: ([],))
def of_nothing(a):
    for i in range(len(a)):
        a[i] = 1.5
    for i in range(2):
        if a:
            a[0] = i
    return a


@given(lambda: ([1, 2, 3],))
def of_ints_that_become_floats(a):
    for i in range(3):
        a[i] = a[i] / 2 if i else a[i]
    return a


@given(lambda: ([True, False, True], [1.5, 2, True]))
def of_mixed_numbers(flags, values):
    for i in range(3):
        flags[i] = not flags[i]
        values[i] += flags[i]
    return flags, values


@given(lambda: (deque([1, 2, 3, 4], maxlen=4),))
def of_a_deque(q):
    q.append(9)
    for i in range(4):
        q[i] += q[i - 1]
    return q


@given(lambda: (deque([1, 2, 3, 4]),))
def of_a_deque_that_turns(q):
    for i in range(6):
        q[0] += q[-1] * i
        q.append(q.popleft())
    return q


@given(lambda: ({"a": [1, 2], "b": [3, 4]}, [5, 6]))
def of_lists_in_a_dict(table, row):
    for name in ("a", "b"):
        for i in range(2):
            table[name][i] += row[i]
            row[i] += 1
        table[name] = row
    return table, row


@given(lambda: ([[0] * 3 for _ in range(3)],))
def of_a_row_that_is_dropped(m):
    for i in range(3):
        row = m[i]
        m[i] = [i, i, i]
        for j in range(3):
            row[j] += j + 1
            m[i][j] += row[j]
    return m


@given(lambda: ([[[1, 2], [3, 4]], [[5, 6], [7, 8]]],))
def of_three_levels(t):
    for i in range(2):
        for j in range(2):
            for k in range(2):
                t[i][j][k] += t[i - 1][j][k] * t[1 - i][k][j]
    return t


@given(lambda: ([4, 3, 2, 1], 3))
def of_a_while(a, n):
    i = 0
    while a[i] > 1 and i < n:
        a[i] -= 1
        i += a[i] == 1
    return a, i


@given(lambda: ([1, 2, 3, 4],))
def of_a_list_bound_anew(a):
    total = 0
    for i in range(4):
        total += a[i]
        a = [one * 2 for one in a]
    return total, a


@given(lambda: ([1, 2, 3, 4],))
def of_a_list_lengthened_in_place(a):
    for i in range(4):
        a[i] += 1
        a += [a[i]]
    return a


@given(lambda: ([1, 2, 3, 4, 5, 6],))
def of_a_slice_stored_meanwhile(a):
    for i in range(3):
        a[i] += a[-1]
        a[0:2] = [i]
    return a


@given(lambda: ([1, 2, 3, 4, 5, 6],))
def of_items_deleted_meanwhile(a):
    for i in range(3):
        a[i] += a[-1]
        del a[0]
    return a


@given(lambda: ([1, 2, 3],))
def of_a_function_that_grows_it(a):
    def more(k):
        a.append(k)
        return len(a)

    for i in range(3):
        a[i] += more(i)
    return a


@given(lambda: ([[1, 2], [3, 4]], [0, 1, 0]))
def of_a_comprehension_over_rows(m, places):
    for i in range(2):
        m[i][0] = sum([m[p][1] for p in places if m[p][0] > 0])
        m[i][1] = max(x for x in m[i])
    return m


@given(lambda: ([1, 2, 3, 4],))
def of_else_and_break(a):
    for i in range(4):
        for j in range(i, 4):
            if a[i] + a[j] == 6:
                a[i] = 0
                break
            a[j] += a[i] % 2
        else:
            a[i] -= 1
    return a


@given(lambda: ([1, 2, 3, 4, 5, 6, 7, 8], [0] * 8))
def of_recursive_halves(a, room):
    def order(low, high):
        if high - low < 2:
            return
        middle = (low + high) // 2
        order(low, middle)
        order(middle, high)
        i, j = low, middle
        for k in range(low, high):
            if j >= high or (i < middle and a[i] % 5 <= a[j] % 5):
                room[k] = a[i]
                i += 1
            else:
                room[k] = a[j]
                j += 1
        for k in range(low, high):
            a[k] = room[k]

    order(0, len(a))
    return a


@given(lambda: ([2**62, 1, 2],))
def of_an_overflow_in_a_row(a):
    for i in range(3):
        a[i] *= 4
    return a


@given(lambda: (["b", "a", "c"], [0, 0, 0]))
def of_texts_in_rows(names, counts):
    for i in range(3):
        for j in range(3):
            if names[j] < names[i]:
                counts[i] += 1
            names[j] = names[j] + "x"
    return names, counts


@given(lambda: ([1.0, 2.0, 4.0, 8.0], [0.0] * 4, 1))
def of_places_beside(u, out, k):
    for i in range(len(u) - 1):
        out[i + 1] = u[i] - u[i + k] / 2
    for i in range(k, len(u)):
        out[i - 1] += u[k + i - 1] * u[i - k]
    return out, i


@given(lambda: ([1.0, 2.0, 4.0, 8.0],))
def of_places_before_the_first(u):
    for i in range(4):
        u[i] = u[i - 1] + u[i - 2]
    return u


@given(lambda: ([1.0, 2.0, 4.0, 8.0], [9.0]))
def of_places_beyond_the_last_that_are_not_reached(u, stop):
    for i in range(9):
        u[i] += 1.0
        if u[i] >= stop[0]:
            break
    return u, i


@given(lambda: ([1.0, 2.0, 4.0, 8.0],))
def of_a_count_that_is_changed(u):
    for i in range(4):
        i = 3 - i
        u[i] += i
    return u, i


@given(lambda: ([1.0, 2.0, 4.0, 8.0], 3))
def of_a_shift_that_is_changed(u, k):
    for i in range(2):
        u[i + k - 1] += 1
        k -= 1
    return u, k


@given(lambda: ([1.0, 2.0, 4.0, 8.0], -2))
def of_a_shift_below_zero(u, k):
    for i in range(4):
        u[i + k] *= 3
        u[i] -= u[i + k]
    return u


@given(lambda: ([1.0, 2.0, 4.0, 8.0], 4, 2))
def of_no_iterations(u, n, k):
    for i in range(n, k):
        u[i + 99] = 0.0
    for i in range(k, n):
        for j in range(i + 1, n):
            u[j] += u[i] * u[j - 1]
    return u


@given(lambda: ([1.0, 2.0, 4.0, 8.0, 3.0],))
def of_continue_and_sums(u):
    total, best = 0.0, -1
    for i in range(len(u)):
        if u[i] > 3:
            continue
        total += u[i]
        if best < 0 or u[i] > u[best]:
            best = i
    return total, best


@given(lambda: ([0.5, 1.5], 3_000_000))
def of_millions(u, n):
    row = [0.0] * n
    for i in range(n):
        row[i] = i * u[0]
    for i in range(1, n):
        row[i] += u[1] if row[i - 1] < 7 else 0.25
    return row[:4], row[-3:]


@given(lambda: ([[1.0, 2.0], [3.0, 4.0]], 5))
def of_rows_that_are_one_list(m, n):
    m.append(m[0])
    for i in range(3):
        for j in range(1, 2):
            m[i][j] = m[i - 1][j - 1] + m[i][j - 1]
            m[0][j - 1] += m[i][j]
    return m


@given(lambda: ([3, 1, 2], [2.0, 1.0, 0.5]))
def of_places_in_a_list(places, values):
    out = [0.0] * 3
    for i in range(3):
        out[places[i] - 1] += values[places[i] - 1] * values[i]
        places[i] = places[places[i] - 1]
    return out, places


@given(lambda: ([1.0, 2.0, 3.0],))
def of_a_return_inside(u):
    for i in range(5):
        u[i] -= 1.5
        if u[i] > 0:
            return u, i
    return u, -1


def _one_list_twice():
    a = [1.0, 2.0, 3.0, 4.0]
    return a, a


@given(_one_list_twice)
def of_a_list_that_is_given_twice(a, b):
    for i in range(3):
        del a[1:]
        b[i] += 1.0
    return a


@given(_one_list_twice)
def of_a_list_that_is_given_twice_and_grows(a, b):
    for i in range(4):
        a.append(b[i])
        b[i] += a[-1]
    return a


@given(lambda: ([1.0, 2.0, 3.0], {}))
def of_a_list_in_a_dict_that_grows(a, d):
    d["a"] = a
    for i in range(3):
        d["a"] += [0.5] * 40
        a[i] += a[-1] + i
    return a, d


@given(lambda: ([[1.0, 2.0, 3.0], [4.0]],))
def of_a_row_that_grows(m):
    row = m[0]
    for i in range(3):
        m[0] += [0.5] * 40
        row[i] += row[-1] + i
    return m


@given(lambda: ([[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]], 1))
def of_a_table_that_may_be_none(m, other, k):
    chosen = None
    if k:
        chosen = m
    for i in range(2):
        for j in range(2):
            m[i][j] += 1.0
            if chosen is not None:
                chosen[i] = [9.0, 9.0]
            m[i][j] += other[i][j]
    return m


@given(lambda: ([1.0, 2.0, 3.0, 4.0], 2**63 - 1))
def of_places_beyond_all_integers(u, k):
    for i in range(-k, 2 - k):
        u[i - k] += 1.0
    return u
