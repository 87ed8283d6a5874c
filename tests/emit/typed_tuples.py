"""Small functions that make tuples of any length, with arguments."""

from typed_given import given

CANDIDATES = [[1, 2, 3, 1, 2], [4, 4, 4, 1], [2], []]
REFERENCES = [[1, 2, 1, 2], [4, 4, 1, 4], [3], [1]]


@given(lambda: (CANDIDATES, REFERENCES))
def of_matching_runs(candidates, references):
    totals, matches = [0] * 4, [0] * 4
    for c, r in zip(candidates, references):
        for n in range(1, 5):
            counts = {}
            for i in range(len(r) - n + 1):
                key = tuple(r[i : i + n])
                counts[key] = counts.get(key, 0) + 1
            for i in range(len(c) - n + 1):
                key = tuple(c[i : i + n])
                totals[n - 1] += 1
                if counts.get(key, 0) > 0:
                    matches[n - 1] += 1
                    counts[key] -= 1
    return totals, matches


@given(lambda: (["to", "be", "or", "not", "to", "be"], 2))
def of_counted_words(words, n):
    counts = {}
    for i in range(len(words) - n + 1):
        gram = tuple(words[i : i + n])
        if gram not in counts:
            counts[gram] = 0
        counts[gram] += 1
    return counts


@given(lambda: ([[3, 1, 2], [2, 3, 1], [1, 1], [1, 1, 0], []],))
def of_sorted_keys(rows):
    groups = {}
    for row in rows:
        groups.setdefault(tuple(sorted(row)), []).append(row)
    return groups, sorted(groups), max(groups)


@given(lambda: ([[1.5, 2.0], [2, 1.5], [True, 0.0]],))
def of_mixed_items(rows):
    seen, out = set(), []
    for row in rows:
        key = tuple(row)
        if key in seen:
            continue
        seen.add(key)
        out.append(key)
        out.append(key[::-1])
    return out, len(seen)


@given(lambda: (5,))
def of_generated(n):
    out = []
    for k in range(n):
        t = tuple(i * k for i in range(k) if i != 2)
        out.append((t, len(t), sum([one for one in t]), 4 in t, t[-1] if t else None))
    return out


@given(lambda: ([1, 2, 3, 4],))
def of_tuples_compared(a):
    found = []
    for i in range(len(a)):
        left, right = tuple(a[: i + 1]), tuple(a[i:])
        found.append((left < right, left == right, left <= left, left[1:] == right[:0]))
    return found


@given(lambda: ("banana", 3))
def of_letters(word, n):
    counts = {}
    for i in range(len(word) - n + 1):
        key = tuple(word[i : i + n])
        counts[key] = counts.get(key, 0) + 1
    a, b, c = key
    return counts, a + b + c


@given(lambda: ([[0, 1], [1, 0, 2]],))
def of_tuples_in_tuples(rows):
    seen = {}
    for row in rows:
        nested = tuple(tuple(range(k)) for k in row)
        seen[nested] = tuple(nested)
    return seen


@given(lambda: ([1, 2],))
def of_an_item_that_is_put(a):
    t = tuple(a)
    for i in range(2):
        t[i] = 3
    return t


@given(lambda: ([[1], [2]],))
def of_lists_in_a_tuple_as_a_key(rows):
    t, seen = tuple(rows), {}
    for i in range(2):
        t[i].append(i)
        seen[t] = i
    return seen


@given(lambda: ([[1], [2]],))
def of_lists_in_a_tuple(rows):
    t = tuple(rows)
    for i in range(2):
        t[i].append(i)
        rows[i] = [9]
    return t, rows


@given(lambda: ([1, 2, 3],))
def of_one_tuple_twice(a):
    t = tuple(a)
    out = [t, t]
    for i in range(3):
        a[i] += t[i]
        out.append(tuple(a))
    return out, a, list(t)
