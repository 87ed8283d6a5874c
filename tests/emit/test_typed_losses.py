"""Losses by classes, products with stacks of matrices, and what autograd is not to see, in typed programs."""

import linecache

import pytest
import torch
from tests.emit.test_typed_tensors import assert_same, first, outcome
from torch import nn
from torch.nn import functional as F

from looplift import lift

__all__ = ["first"]


def g(*size, seed=0, asks=False):
    return torch.randn(*size, generator=torch.Generator().manual_seed(seed)).requires_grad_(asks)


def number(seed, *, asks=False):
    return g(1, seed=seed)[0].requires_grad_(asks)


def runs_as_program(function, *arguments, program=True):
    """``arguments``: functions that make them."""
    lifted = lift(function, verify="off")
    for _ in range(2):
        given = [[make() for make in arguments] for _ in range(2)]
        assert_same(outcome(lifted, given[0]), outcome(function, given[1]))
    found = any(loop.decision == "native" for loop in lifted.report().loops)
    assert program is None or found is program, lifted.report()


def of_rows_one_by_one(x, labels):
    memo = {0: torch.zeros(())}
    for k in range(len(labels)):
        memo[k + 1] = memo[k] + F.cross_entropy(x[k].unsqueeze(0), torch.tensor([labels[k]]))
    return memo[len(labels)]


def of_single_rows(x, labels):
    memo = {0: torch.zeros(())}
    for k in range(len(labels)):
        memo[k + 1] = memo[k] + F.cross_entropy(x[k], torch.tensor(labels[k]))
        memo[k + 1] = memo[k + 1] + F.nll_loss(F.log_softmax(x[k], dim=0), torch.tensor(labels[k]))
    return memo[len(labels)]


def of_prefixes(x, labels):
    memo = {0: torch.zeros(())}
    for k in range(1, len(labels) + 1):
        y = torch.tensor(labels[:k])
        memo[k] = memo[k - 1] + F.cross_entropy(x[:k], y) + F.cross_entropy(x[:k], y, reduction="sum")
        memo[k] = memo[k] - F.nll_loss(x[:k], target=y) * F.nll_loss(x[:k], y, reduction="sum")
    return memo[len(labels)]


@pytest.mark.parametrize("program", [of_rows_one_by_one, of_single_rows, of_prefixes], ids=lambda f: f.__name__)
@pytest.mark.parametrize("asks", [False, True])
@pytest.mark.parametrize("labels", [[], [1], [2, 0], [0, 3, 1, 1]])
def test_classes(program, asks, labels, first):
    runs_as_program(program, lambda: g(4, 4, asks=asks), lambda: labels, program=True if labels else None)


@pytest.mark.parametrize("labels", [[4], [-1], [-100], [0, -100]])
def test_classes_that_are_none(labels, first):
    runs_as_program(of_rows_one_by_one, lambda: g(4, 4, asks=True), lambda: labels, program=None)


def of_probabilities(x, y):
    memo = {0: torch.zeros(())}
    for k in range(len(x)):
        memo[k + 1] = memo[k] + F.cross_entropy(x[k], y[k])
    return memo[len(x)]


def smoothed(x, y):
    memo = {0: torch.zeros(())}
    for k in range(len(x)):
        memo[k + 1] = memo[k] + F.cross_entropy(x[k], y[k], label_smoothing=0.1)
    return memo[len(x)]


def test_other_losses_are_left_to_the_loop(first):
    lifted = lift(of_probabilities, verify="off")
    given = g(3, 4, asks=True), torch.softmax(g(3, 4, seed=1), 1)
    assert_same(outcome(lifted, given), outcome(of_probabilities, given))
    runs_as_program(smoothed, lambda: g(3, 4), lambda: torch.tensor([0, 3, 1]), program=None)


def log_sigmoids(x):
    memo = {0: torch.zeros(())}
    for k in range(len(x)):
        memo[k + 1] = memo[k] - F.logsigmoid(x[k] if k % 2 else -x[k])
    return memo[len(x)]


@pytest.mark.parametrize("n", [0, 1, 2, 7])
def test_functions_that_have_another_name_by_themselves(n, first):
    runs_as_program(log_sigmoids, lambda: g(n, asks=True), program=True if n else None)


def squeezed(x):
    memo = {0: torch.zeros(())}
    for k in range(len(x)):
        row = x[k].unsqueeze(0).squeeze(0)
        memo[k + 1] = memo[k] * row[:1].squeeze(-1) + row[1:2].squeeze()
    return memo[len(x)]


def squeezed_where_there_are_more(x):
    memo = {0: torch.zeros(())}
    for k in range(len(x)):
        memo[k + 1] = memo[k] + x[k].squeeze(0).sum()
    return memo[len(x)]


@pytest.mark.parametrize("asks", [False, True])
def test_squeezed(asks, first):
    for n in (0, 1, 3):
        runs_as_program(squeezed, lambda: g(n, 2, asks=asks), program=True if n else None)
    runs_as_program(squeezed_where_there_are_more, lambda: g(3, 2, asks=asks), program=None)


def bilinear(v, x):
    memo = {0: x}
    for k in range(3):
        memo[k + 1] = torch.tanh(torch.matmul(torch.matmul(v, memo[k]), memo[k]) + v[0] @ x)
    return memo[3]


@pytest.mark.parametrize("asks", [False, True])
@pytest.mark.parametrize("n", [1, 2, 4])
def test_product_of_a_stack_of_matrices(asks, n, first):
    runs_as_program(bilinear, lambda: g(n, n, n, asks=asks), lambda: g(n, seed=1, asks=asks))
    runs_as_program(bilinear, lambda: g(n, n, n, asks=asks).transpose(0, 1), lambda: g(n, seed=1))


def bootstrapped(x, w):
    memo = {0: x[0] * w}
    for k in range(1, len(x)):
        memo[k] = (memo[k - 1].detach() * 0.5 + x[k] * w - (x[k] * w).detach()) ** 2 + memo[k - 1]
    return memo[len(x) - 1]


def detached_rows(x, w):
    memo = {0: x[0] * w}
    for k in range(1, len(x)):
        memo[k] = memo[k - 1].detach() * 0.5 + x[k] * w
    return memo[len(x) - 1].sum()


def handed_out(x, w):
    memo = {}
    for k in range(len(x)):
        memo[k] = (x[k] * w, (x[k] * w).detach())
    return memo


def one_beside_the_other(x, w):
    memo, rows = {}, []
    for k in range(len(x)):
        memo[k] = x[k] * w
        rows.append(memo[k].detach())
    return memo, rows


def of_the_callers(x, w):
    memo = {0: x[0] * w}
    for k in range(1, len(x)):
        memo[k] = memo[k - 1] + x[k].detach() * w
    return memo[len(x) - 1]


@pytest.mark.parametrize("n", [1, 4])
@pytest.mark.parametrize(
    "program", [bootstrapped, detached_rows, handed_out, one_beside_the_other, of_the_callers], ids=lambda f: f.__name__
)
@pytest.mark.parametrize("asks", [False, True])
def test_detached(program, n, asks, first):
    size = (n, 3) if program is detached_rows else (n,)
    runs_as_program(program, lambda: g(*size, asks=asks), lambda: number(2, asks=asks), program=None)


def test_what_is_detached_shares_memory(first):
    x, w = g(3, asks=True), number(1, asks=True)
    lifted = lift(one_beside_the_other, verify="off")
    for _ in range(2):
        memo, rows = lifted(x, w)
        rows[1].fill_(7.0)
        assert memo[1].item() == 7.0 and not rows[1].requires_grad


def added_up(x, w):
    total = torch.zeros(())
    memo = {}
    for k in range(len(x)):
        memo[k] = (total.detach() + x[k]) * w
        total += memo[k]
    return total


@pytest.mark.parametrize("asks", [False, True])
def test_what_changes_is_not_detached(asks, first):
    lifted = lift(added_up, verify="off")
    given = [[g(4, asks=asks), number(1, asks=asks)] for _ in range(2)]
    assert_same(outcome(lifted, given[0]), outcome(added_up, given[1]))


class Position:
    def __init__(self, board, replies):
        self.board, self.replies = board, replies


def negamax(net, position):
    if not position.replies:
        return net(position.board).squeeze(-1)
    best = None
    for reply in position.replies:
        value = -negamax(net, reply)
        if best is None or value > best:
            best = value
    return best


def losses(net, positions):
    values = []
    for position in positions:
        values.append(negamax(net, position))
    total = torch.zeros(())
    for k in range(len(values) - 1):
        total = total + (values[k] + values[k + 1].detach()) ** 2
    return total


def positions(count, depth, board=0):
    return [
        Position(g(3, seed=k + board), positions(depth, depth - 1, k + board) if depth else []) for k in range(count)
    ]


def test_a_recursion_over_tensors_is_a_program_where_its_waves_lose():
    net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1), nn.Tanh())
    lifted, games = lift(losses), positions(4, 2)
    for _ in range(12):
        assert_same(lifted(net, games), losses(net, games))
    assert all(loop.decision == "native" for loop in lifted.report().loops), lifted.report()
    for given in (positions(0, 0), positions(1, 0), positions(2, 3)):
        found = [
            torch.autograd.grad(one(net, given), net.parameters(), allow_unused=True)
            for one in (lifted, losses)
            if len(given) > 1
        ]
        assert_same(lifted(net, given), losses(net, given))
        assert_same(*found or ((), ()))


BY_ELEMENTS = (
    "F.mse_loss({x}, {y})", "F.l1_loss({x}, {y}, reduction='sum')", "F.smooth_l1_loss({x}, {y})",
    "F.smooth_l1_loss({x}, {y}, beta=0.3, reduction='none').sum()", "F.huber_loss({x}, {y}, delta=0.7)",
    "F.huber_loss({x}, {y}, reduction='sum')", "F.binary_cross_entropy(torch.sigmoid({x}), torch.sigmoid({y}))",
    "F.binary_cross_entropy(torch.sigmoid({x}), torch.ones_like({y}), reduction='sum')",
    "F.binary_cross_entropy_with_logits({x}, torch.sigmoid({y}))",
    "F.binary_cross_entropy_with_logits({x}, torch.zeros_like({y}), reduction='none').mean()",
)  # fmt: skip


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("asks", [False, True])
@pytest.mark.parametrize("rows", ["x[k], y[k]", "x[k, 1], y[k, 2]", "x[:k + 1], y[:k + 1]"])
@pytest.mark.parametrize("expression", BY_ELEMENTS)
def test_losses_by_elements(expression, rows, asks, dtype, first):
    one, other = rows.replace("], ", "]; ").split("; ")
    text = "\n    ".join((
        "def program(x, y):", "memo = {-1: torch.zeros((), dtype=x.dtype)}", "for k in range(len(x)):",
        f"    memo[k] = memo[k - 1] + {expression.format(x=one, y=other)}", "return memo[len(x) - 1]",
    ))  # fmt: skip
    name = f"<a loss: {expression} of {rows}>"
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    known = {"torch": torch, "F": F}
    exec(compile(text, name, "exec"), known)
    runs_as_program(known["program"], *(lambda k=k: g(4, 3, seed=k).to(dtype).requires_grad_(asks) for k in range(2)))


def of_other_sizes(x, y):
    memo = {-1: torch.zeros(())}
    for k in range(len(x)):
        memo[k] = memo[k - 1] + F.mse_loss(x[k], y[:2, 0])
    return memo[len(x) - 1]


def of_sure_probabilities(x, y):
    memo = {-1: torch.zeros(())}
    for k in range(len(x)):
        memo[k] = memo[k - 1] + F.binary_cross_entropy((x[k] > 0).float() * y[k, 0], (y[k] > 0).float())
    return memo[len(x) - 1]


def test_losses_that_raise_or_warn_are_the_loop_s(first):
    with pytest.warns(UserWarning, match="target size"), pytest.raises(RuntimeError):
        of_other_sizes(g(3, 3), g(3, 3))
    lifted = lift(of_other_sizes, verify="off")
    with pytest.warns(UserWarning, match="target size"), pytest.raises(RuntimeError):
        lifted(g(3, 3), g(3, 3))
    ones = torch.ones(4, 3)
    runs_as_program(of_sure_probabilities, lambda: g(4, 3), lambda: ones, program=None)
    runs_as_program(of_sure_probabilities, lambda: g(4, 3), lambda: ones * 0.5, program=None)
