"""Small functions in which None stands where something else is needed, each with arguments."""

from typed_given import given


@given(lambda: ([1, 2],))
def of_none_arith(a):
    best = None
    for x in a:
        if x > 100:
            best = best + 1
        elif best is None:
            best = x
    return best


@given(lambda: ([1, 2],))
def of_none_raise(a):
    best = None
    t = 0
    for x in a:
        t += x + (best if x > 1 else 0)
    return t


@given(lambda: ([1, 2],))
def of_none_iter(a):
    d = {1: None}
    t = 0
    for x in a:
        for y in d[1]:
            t += 1
    return t


@given(lambda: ([1, 2],))
def of_none_len(a):
    z = None
    t = 0
    for x in a:
        if x > 1:
            t += len(z)
    return t


@given(lambda: ([1, 2],))
def of_none_min(a):
    z = None
    t = 0
    for x in a:
        t += min(x, z)
    return t


@given(lambda: ([1, 2],))
def of_none_range(a):
    z = None
    t = 0
    for x in a:
        for k in range(z):
            t += 1
    return t


@given(lambda: ([1, 2],))
def of_none_put(a):
    z = None
    for x in a:
        z[x] = 1
    return z


@given(lambda: ([1, 2],))
def of_none_int(a):
    z = None
    t = 0
    for x in a:
        t += int(z)
    return t


@given(lambda: ([1, 2],))
def of_none_str(a):
    z = None
    t = ""
    for x in a:
        t += str(z)
    return t


@given(lambda: ({"a": {}}, [(0, "a")], [(0.5, None)]))
def of_an_empty_dict(graph, queue, others):
    found = {}
    while queue:
        cost, here = queue.pop()
        found[here] = cost
        for there, more in graph[here].items():
            queue.append((cost + more, there))
            others.append((more, cost))
    return found, queue, others


@given(lambda: ([], [(1, (True, "a"))]))
def of_an_empty_list(rows, pairs):
    for one in rows:
        pairs.append((one, (one, one)))
        pairs.append((2, one))
    return [two for two in pairs]
