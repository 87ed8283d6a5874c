"""Functions of torch that have a batched form of their own give what the loop gives."""

import linecache

import pytest
import torch
from tests.vectorize.harness import check

from looplift.vectorize import tensor_forms
from looplift.vectorize.operations import TENSOR_FORMS

EXPRESSIONS = """torch.bucketize(x[i], edges)
torch.bucketize(x[i] + x[j], edges, right=True)
torch.bucketize(x[i, 0], edges)
torch.searchsorted(edges, x[i])
torch.searchsorted(x[i].sort().values, x[j])
torch.searchsorted(x[i].sort()[0], edges, right=True)
torch.isin(k[i], edges.long())
torch.isin(k[i] + k[j], k[0], invert=True)
x[i].repeat_interleave(2) * x[j].repeat_interleave(2)
torch.repeat_interleave(A[i], 3, dim=0)
torch.bincount(k[i], minlength=7)
torch.bincount(k[i], x[j].detach(), minlength=6)
k[i].bincount(minlength=6)
torch.moveaxis(A[i], 0, 1) + A[j]
A[i].moveaxis(1, 0)
torch.as_tensor(x[i]) * 2
torch.as_tensor(x[i], dtype=torch.float64)
torch.as_tensor(x[i, 0].item() + 1) * x[j]
torch.column_stack((x[i], x[j]))
torch.column_stack([A[i], A[j]])
torch.zeros_like(x[i]) * x[j]
torch.ones_like(x[i, 0]) if x[i, 0] > x[j, 1] else x[j, 2]
torch.full_like(A[i], 2) if x[i, 0] > x[j, 1] else A[j]
torch.full_like(x[i, 1], float("inf")) if x[i, 0] > x[j, 1] else x[j, 2]
torch.full_like(k[i], 2.7) + x[j]""".splitlines()

TEXT = """def collected(x, A, k, edges):
    out = []
    for i in range(x.shape[0]):
        for j in range(x.shape[0]):
            out.append({expression})
    return torch.stack(out)
"""


def arguments(count, size, seed):
    g = torch.Generator().manual_seed(seed)
    x, A = torch.rand(count, size, generator=g), torch.rand(count, size, size, generator=g)
    return [x, A, torch.randint(0, 6, (count, size), generator=g), torch.tensor([0.0, 0.3, 0.7, 1.0])]


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_form(expression):
    text = TEXT.replace("{expression}", expression)
    label = f"<collected {expression}>"
    linecache.cache[label] = (len(text), None, text.splitlines(keepends=True), label)
    scope = {"torch": torch}
    exec(compile(text, label, "exec"), scope)
    check(scope["collected"], arguments(4, 5, 0), arguments(2, 3, 1))


def test_all_forms_are_known():
    assert set(tensor_forms.FORMS) == TENSOR_FORMS
