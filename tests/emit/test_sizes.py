"""Bytes of intermediates as expressions over extents."""

from collections import Counter

import torch

from looplift import lift
from looplift.emit.sizes import Size

NM = ("m", "n")


def test_text():
    assert Size().text == "0"
    assert Size(Counter({("n",): 4, NM: 12})).text == "12 * m * n + 4 * n"


def test_one_position():
    size = Size(Counter({("n",): 4, NM: 12, ("n", "n"): 8}))
    assert size.of_one("n").terms == {(): 4, ("m",): 12, ("n",): 8}


def test_less_terms_are_not_less_bytes():
    size = Size(Counter({("n",): 4, NM: 12, ("k",): 1}))
    assert size.shortened().terms == {NM: 16, ("k",): 1}


def test_degree():
    assert [Size().degree, Size(Counter({(): 8})).degree, Size(Counter({NM: 1, ("n",): 2})).degree] == [0, 0, 2]


def guards_of(function, *arguments):
    """The guards about memory of a lifted function."""
    lifted = lift(function, backend="torch", verify="off", memory=10**9)
    lifted(*arguments)
    ((variant,),) = ([one.variants for one in lifted.__looplift_state__.dispatchers],)
    return [guard for guard in variant[0].code.guards if "1000000000" in guard]


def test_what_varies_with_two_axes_counts_for_each_pair():
    def weighted(x, y):
        total = torch.zeros(3)
        for i in range(x.shape[0]):
            for j in range(y.shape[0]):
                total = total + torch.exp(x[i, 0] * y[j, 0])
        return total

    x, y = torch.randn(5, 3), torch.randn(4, 3)
    assert guards_of(weighted, x, y) == ["8 * x.shape[0] * y.shape[0] <= 1000000000"]


def test_results_that_the_loop_makes_too_do_not_count():
    def doubled(x):
        out = torch.zeros(x.shape)
        for i in range(x.shape[0]):
            out[i] = 2 * x[i]
        return out

    assert guards_of(doubled, torch.randn(5, 3)) == []


def test_extents_that_are_numbers_of_the_caller():
    def table(n, m):
        out = []
        for i in range(n):
            total = torch.zeros(())
            for j in range(m):
                total = total + torch.sin(torch.tensor(1.0 * i * j))
            out.append(total)
        return torch.stack(out)

    (guard,) = guards_of(table, 5, 4)
    assert guard.endswith(" * m * n <= 1000000000")
