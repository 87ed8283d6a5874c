"""Printed text under conditions, and of several statements in one loop, in the loop's order."""

import pytest
import torch

import looplift


def every_tenth(x):
    out = []
    for i in range(len(x)):
        y = (x[i] ** 2).sum()
        if i % 10 == 0:
            print("step", i)
        out.append(y)
    return torch.stack(out)


def in_turn(x):
    out = []
    for i in range(len(x)):
        print("begin", i)
        if i % 7 == 3:
            print("seven", i, x[i])
        elif i % 5 == 0:
            print(f"five {i} {x[i, 0].item():.3f} {{}}", end="|")
        else:
            if x[i, 0] > 0:
                print("positive")
        out.append(x[i].sum())
        print("end", i)
    print("all done")
    return torch.stack(out)


def passed_over(x):
    out = torch.zeros(len(x))
    for i in range(len(x)):
        if x[i].max() > 1.5:
            print("skip", i)
            continue
        out[i] = 1 / x[i].sum()
    return out


def if_wanted(x):
    out = torch.zeros(len(x))
    wanted = len(x) > 3
    for i in range(len(x)):
        if wanted:
            print("row", i)
        out[i] = x[i].sum()
    if wanted:
        print("end")
    return out


def best_so_far(x):
    best, place = -1e9, -1
    for i in range(len(x)):
        v = x[i, 0].item()
        if v > best:
            best, place = v, i
            print("new best", i)
    return best, place


def until_found(x):
    for i in range(len(x)):
        if x[i, 0] > 1.5:
            print("found", i)
            break
        print("not", i)
    return i


def places(x):
    out = []
    for i in range(len(x)):
        k = int(x[i, 0] * 3)
        if 0 <= k < 4:
            print("at", x[0, k].item())
        out.append(k)
    return out


LIFTED = [every_tenth, in_turn, passed_over, if_wanted, best_so_far, until_found, places]


@pytest.mark.parametrize("backend", ["auto", "torch"])
@pytest.mark.parametrize("function", LIFTED)
def test_text_is_the_loop_s(function, backend, capsys):
    lifted = looplift.lift(function, backend=backend, verify="off")
    for seed, n in enumerate((30, 30, 1, 31)):
        x = torch.randn(n, 4, generator=torch.Generator().manual_seed(seed))
        want, text = function(x), capsys.readouterr().out
        got = lifted(x)
        assert capsys.readouterr().out == text
        assert torch.allclose(torch.as_tensor(got), torch.as_tensor(want))
    assert all(loop.decision != "kept" for loop in lifted.report().loops)


def an_error(x):
    out = torch.zeros(len(x))
    for i in range(len(x)):
        if i == 5:
            print("about to fail")
            raise ValueError(f"bad {i}")
        out[i] = x[i].sum()
        print(i)
    return out


def inner(x):
    total = 0
    for i in range(len(x)):
        for j in range(4):
            if x[i, j] > 1:
                print("big", i, j)
                total += 1
        print("row", i)
    return total


def shapes(x):
    out = []
    for i in range(len(x)):
        v = x[i] * 2
        print(i, v.shape, v.size(), f"{v.shape}")
        out.append(v.sum())
    return torch.stack(out).sum().item()


@pytest.mark.parametrize("function", [an_error, inner, shapes])
def test_what_stays_prints_once(function, capsys):
    x = torch.randn(12, 4, generator=torch.Generator().manual_seed(0))
    lifted = looplift.lift(function, verify="off")

    def run(call):
        try:
            return call(x), capsys.readouterr().out
        except ValueError as error:
            return str(error), capsys.readouterr().out

    assert run(lifted) == run(lifted) == run(function)
