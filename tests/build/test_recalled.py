"""Calls of programs that are kept to be run again."""

import torch

from looplift.build.recalled import begun


def ran(values, leaf, other):
    """What a call that began with the values runs with, once ``other`` is in the place of the leaf."""
    given = []

    def loop(*arguments):
        given.extend(arguments)
        return []

    call = begun(loop, values)
    for value in values:
        if isinstance(value, (list, dict)):
            value.clear()
    call.results([leaf], [other], [0])
    return given


def test_containers_are_those_of_the_beginning():
    leaf, other, rest = torch.ones(2), torch.zeros(2), torch.ones(3)
    shared = [1.0, None, "a"]
    values = [
        [1, 2.5, True],
        {(0, 1): (3, 0.5), "rows": [[1.0, 2.0], shared], 2: leaf},
        (1, (2, [leaf, rest])),
        {"a": shared},
        (),
        [],
    ]
    numbers, table, pair, named, nothing, none = ran(values, leaf, other)
    assert numbers == [1, 2.5, True] and type(numbers[2]) is bool
    assert table[0, 1] == (3, 0.5) and table["rows"][0] == [1.0, 2.0] and table[2] is other
    assert list(table) == [(0, 1), "rows", 2]
    assert table["rows"][1] is named["a"] is not shared and named["a"] == shared
    assert pair[0] == 1 and pair[1][1][0] is other and pair[1][1][1] is rest
    assert (nothing, none) == ((), [])


def test_what_cannot_be_copied_is_not_run_again():
    assert begun(lambda rows: rows, [[1, object()]]) is None
    assert begun(lambda rows: rows, [{1, 2}]) is None


def test_tensors_are_found_again_among_numbers():
    leaf = torch.ones(2, requires_grad=True)

    def loop(x, rows):
        return [1, {"a": (2.0, x * 2), "b": [0.5, None]}, [rows, x + 1]]

    values = [leaf, [1.0, 2.0]]
    call = begun(loop, values)
    result = loop(*values)
    call = call.ends(result, values, [result[2][1], result[1]["a"][1]], [leaf])
    other = torch.tensor([3.0, 4.0])
    added, doubled = call.results([leaf], [other], [0])
    assert torch.equal(added, other + 1) and torch.equal(doubled, other * 2)
