"""A list of a class of its own counts how often it is read, and hands out what depends on that."""


class Feed(list):
    reads = 0

    def __getitem__(self, place):
        self.reads += 1
        return list.__getitem__(self, place) + self.reads

    def __len__(self):
        self.reads += 1
        return list.__len__(self)


def program(values):
    feed = Feed(values)
    return total(feed), feed.reads


def total(feed):
    found = 0
    for i in range(len(feed)):
        found += feed[i]
    return found


def arguments(seed):
    return ([1, 2, 3, 4][: seed % 5],)
