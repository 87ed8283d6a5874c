class Point:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __lt__(self, other):
        return self.x < other.x and self.y < other.y


def program(points):
    total = 0
    for k in range(2):
        for point in sorted(points, reverse=k > 0):
            total = (total * 31 + point.x * 7 + point.y) % 1000003
    return total


def arguments(seed):
    return ([Point((k * 7 + seed) % 12, k * 5 % 11) for k in range(12 + seed)],)
