def renew(rows, place):
    rows[place] = [9]
    return [place, 1]


def program(rows):
    sizes = []
    for k in range(5):
        rows[k % len(rows)] += renew(rows, k % len(rows))
        sizes.append(len(rows[k % len(rows)]))
    return sizes


def arguments(seed):
    return ([[j] * (j + 1) for j in range(2 + seed)],)
