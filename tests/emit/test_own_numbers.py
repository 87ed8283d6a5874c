"""Masks, indices and weights that a loop reads numbers out of, and that change in place before the backward pass."""

import pytest
import torch

from looplift import lift


def by_index(x, index, mask, weights):
    total = torch.zeros(3, dtype=x.dtype)
    for j in range(len(index)):
        total = total + x[index[j]] ** 2 * (j + 1)
    return total


def by_pairs(x, index, mask, weights):
    out = torch.zeros(5, 3, dtype=x.dtype)
    for j in range(len(index)):
        out[index[j]] += torch.tanh(x[index[j]] * x[j]) * weights[j].item()
    return out


def by_mask(x, index, mask, weights):
    out = []
    for j in range(len(mask)):
        if mask[j]:
            out.append(torch.sin(x[j]))
        else:
            out.append(x[j] * 2)
    return torch.stack(out)


def by_numbers(x, index, mask, weights):
    out = []
    for j in range(len(weights)):
        out.append(x[j] * x[j] * float(weights[j]) + torch.sin(x[j]) * int(index[j]))
    return torch.stack(out)


def by_places(x, index, mask, weights):
    total = torch.zeros((), dtype=x.dtype)
    for i in range(len(x)):
        for k in range(2):
            if mask[i]:
                total = total + torch.exp(x[i, index[k] % 3]) * weights[i].item()
    return total


def in_steps(x, index, mask, weights):
    for _ in range(3):
        new = []
        for i in range(5):
            message = torch.tanh(x[index[i]]) * float(weights[i])
            if mask[i]:
                new.append(x[i] + message)
            else:
                new.append(x[i] * message)
        x = torch.stack(new)
    return x


def changed_afterwards(x, index, mask, weights):
    out = []
    for j in range(len(mask)):
        if mask[j]:
            out.append(torch.sin(x[index[j].item()]) * weights[j].item())
        else:
            out.append(x[j] * 2)
    index.zero_()
    mask.logical_not_()
    weights.zero_()
    return torch.stack(out)


def changed_in_each_step(x, index, mask, weights):
    scores = []
    for _ in range(3):
        score = torch.empty(5, dtype=x.dtype)
        for j in range(5):
            if mask[j]:
                score[j] = -1e9
            else:
                score[j] = torch.dot(x[j], x[index[j]]) * weights[j].item()
        best = score.argmax().item()
        mask[best] = True
        index[best] = index[0].item()
        weights[best] = 0.5
        scores.append(torch.log_softmax(score, 0)[best])
        x = torch.tanh(x + x[best])
    return torch.stack(scores)


def of_its_own(x, index, mask, weights):
    seen = torch.zeros(5, dtype=torch.bool)
    steps = []
    for _ in range(3):
        score = torch.zeros(5, dtype=x.dtype)
        for j in range(5):
            if not seen[j]:
                score[j] = torch.tanh(x[j]).sum()
        seen[score.argmax().item()] = True
        x = torch.tanh(x * score[:, None])
        steps.append(score)
    return torch.stack(steps)


def handed_out(x, index, mask, weights):
    kept = torch.zeros(5, dtype=torch.bool)
    total = torch.zeros(3, dtype=x.dtype)
    for j in range(5):
        kept[j] = weights[j] > 0.4
        if kept[j]:
            total = total + torch.sin(x[j])
        else:
            total = total + x[j] ** 2
    return total, kept


FUNCTIONS = [
    by_index, by_pairs, by_mask, by_numbers, by_places, in_steps, changed_afterwards, changed_in_each_step,
    of_its_own, handed_out,
]  # fmt: skip


def arguments():
    generator = torch.Generator().manual_seed(3)
    x = torch.randn(5, 3, generator=generator, dtype=torch.float64).requires_grad_()
    index, mask = torch.tensor([0, 2, 4, 1, 1]), torch.tensor([True, False, True, True, False])
    return x, index, mask, torch.rand(5, generator=generator, dtype=torch.float64)


def slopes(function):
    """The results, and the gradient after all that asks for none has changed in place."""
    x, *others = arguments()
    result = function(x, *others)
    first, *rest = result if isinstance(result, tuple) else (result,)
    found = [first.detach().clone(), *(one.clone() for one in (*rest, *others))]
    for one in (*rest, *others):
        one.zero_()
    (first * torch.linspace(1, 2, first.numel(), dtype=first.dtype).reshape(first.shape)).sum().backward()
    return [*found, x.grad]


@pytest.mark.parametrize("backend", ["auto", "torch", "native"])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda one: one.__name__)
def test_gradients_are_those_of_the_loop(function, backend):
    wanted = slopes(function)
    lifted = lift(function, backend=backend, verify="off")
    for _ in range(2):
        for found, expected in zip(slopes(lifted), wanted, strict=True):
            torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-12)
    if backend == "torch":
        assert "lanes" in {loop.decision for loop in lifted.report().loops}, lifted.report()


def test_without_gradients_nothing_is_copied():
    lifted = lift(by_mask, backend="torch", verify="off")
    x, *others = arguments()
    lifted(x.detach(), *others)
    assert ".clone()" not in lifted.source.rpartition("def by_mask")[2].replace("row.clone()", "")


def test_what_no_loop_changes_is_copied_once():
    lifted = lift(in_steps, backend="torch", verify="off")
    lifted(*arguments())
    before, _, inside = lifted.source.rpartition("def in_steps")[2].partition("for _ in")
    assert before.count(".clone()") == 3
    assert ".clone()" not in inside


def test_comparisons_and_sums_are_not_copied():
    def compared(x, index, mask, weights):
        out = []
        for j in range(5):
            out.append(torch.sin(x[(index[j] + 1) % 5]) if weights[j] > 0.4 else x[j] + weights[j].item())
        return torch.stack(out)

    lifted = lift(compared, backend="torch", verify="off")
    for found, expected in zip(slopes(lifted), slopes(compared), strict=True):
        torch.testing.assert_close(found, expected)
    assert ".clone()" not in lifted.source.rpartition("def compared")[2].replace("row.clone()", "")
