# precision: double
"""How long a tuple is was known without what its items do: they may change lists, or read what is not bound."""


def program(q, n):
    total, out = 0, []
    while len(q) > n:
        total += len((q.pop(), total, out.append(len(q))))
        if len(((q[0] if q else 7), 2)) == 2 and (q.pop(0) if len(q) > 4 else 1):
            total += 1
    while len((late, q)) < n:  # noqa: F821
        q.append(n)
    late = 0
    for one in q:
        late += one
    return total, out, late


def arguments(seed):
    return [1, 2, 3, 4, 5, 6, 7][: [7, 3, 1, 0][seed % 4]], [2, 1, 0, 0][seed % 4]
