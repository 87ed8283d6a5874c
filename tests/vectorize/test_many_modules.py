"""Lists of more modules than other items that are known one by one."""

import torch
from tests.vectorize.harness import check

from looplift import lift


def table(nets, queries):
    rows = []
    for x in queries:
        rows.append(torch.stack([net(x) for net in nets]))
    return torch.stack(rows)


def linear(count):
    torch.manual_seed(0)
    return [torch.nn.Linear(3, 2).requires_grad_(False) for _ in range(count)]


def test_each_module_is_called_for_all_rows_at_once():
    check(table, [linear(80), torch.randn(4, 3)], [linear(70), torch.randn(2, 3)], decisions={"lanes", "sequential"})


def test_gradients_reach_the_parameters():
    nets, queries = [net.requires_grad_() for net in linear(80)], torch.randn(4, 3)
    wanted = torch.autograd.grad(table(nets, queries).square().sum(), nets[79].weight)
    found = torch.autograd.grad(lift(table, verify="off")(nets, queries).square().sum(), nets[79].weight)
    torch.testing.assert_close(found, wanted)


def test_too_many_are_left_to_the_loop():
    check(table, [linear(257), torch.randn(2, 3)], decisions={"kept"})
