"""Program 16001178: result: int 9 instead of float 9.0  [seed 0]"""


def program(m):
    total1 = 0.0
    for i in range(m):
        total1 += max(0.25, 3)
    return total1


SIZES = [(5, 3), (7, 4), (2, 2), (0, 3)]


def arguments(seed):
    n, m = SIZES[seed % 4]
    return (m,)
