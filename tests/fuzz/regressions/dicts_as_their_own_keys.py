# precision: double
"""A dict is no key of its own, nor a value that a list could take its place with."""


def program(pages, d, rounds):
    ranks = {}
    for _ in range(rounds):
        new = {}
        for page in pages:
            if page == "self":
                new[new] = d
            new[page] = d * len(page)
        ranks = new
    return ranks


def arguments(seed):
    return [["a", "bb"], ["a", "self"], ["self"], []][seed % 4], 0.85, 2
