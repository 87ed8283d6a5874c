"""Each case's page is that of its golden file, and the lifted function is the loop: values, gradients, exceptions."""

from __future__ import annotations

import contextlib
import copy
import io
import random

import numpy as np
import pytest
import torch
from tests.golden.stages import case_names, load, page

from looplift import lift

CASES = case_names()


@pytest.mark.parametrize("name", CASES)
def test_page(name, request):
    case = load(name)
    torch.manual_seed(0)
    with contextlib.redirect_stdout(io.StringIO()):
        made = page(case)
    if request.config.getoption("--update-golden", default=False):
        case.golden.write_text(made, encoding="utf-8")
    assert made == case.golden.read_text(encoding="utf-8"), "if this is meant: pytest tests/golden --update-golden"


@pytest.mark.parametrize("name", CASES)
def test_lifted_is_the_loop(name):
    case = load(name)
    lifted = lift(case.function, **case.options)
    for wanted, given in zip(case.all_arguments(), case.all_arguments(), strict=True):
        for _ in range(2):  # the first call of a variant is watched, the second is not
            original = observed(case, case.function, wanted)
            assert (original["raised"] is None) == (case.raises is None)
            compare(original, observed(case, lifted, given))


@pytest.mark.parametrize("name", [name for name in CASES if hasattr(load(name).module, "GRADCHECK")])
def test_gradients_are_those_of_finite_differences(name):
    case = load(name)
    assert torch.autograd.gradcheck(lift(case.function, **case.options), case.arguments())


def test_every_page_belongs_to_a_case():
    assert {path.name for path in load(CASES[0]).golden.parent.glob("*.md")} == {f"{name}.golden.md" for name in CASES}


def observed(case, function, arguments):
    """All that one call shows: what it returns or raises, prints, draws, leaves in its arguments, and its gradients."""
    torch.manual_seed(0)
    printed = io.StringIO()
    result = raised = None
    with contextlib.redirect_stdout(printed):
        try:
            result = function(*arguments)
        except Exception as error:
            raised = f"{type(error).__name__}: {error}"
    leaves = [leaf for leaf in leaves_of(arguments) if leaf.requires_grad]
    gradients = []
    if case.has_gradients:
        gradients = torch.autograd.grad(result.sum(), leaves, allow_unused=True)
    streams = [torch.get_rng_state(), torch.tensor(np.random.get_state()[1].tolist()), hash(random.getstate())]
    left = [tensor.detach().clone() for tensor in leaves_of(arguments)]
    result = copy.copy(result.detach()) if isinstance(result, torch.Tensor) else result
    return {"result": result, "raised": raised, "printed": printed.getvalue(), "gradients": gradients, "left": left,
            "streams": streams}  # fmt: skip


def leaves_of(arguments):
    for argument in arguments:
        if isinstance(argument, torch.nn.Module):
            yield from argument.parameters()
        elif isinstance(argument, torch.Tensor):
            yield argument


def compare(wanted, given):
    assert wanted["raised"] == given["raised"]
    assert wanted["printed"] == given["printed"]
    for part in ("result", "left", "gradients"):
        torch.testing.assert_close(given[part], wanted[part], equal_nan=True, msg=lambda text: f"{part}: {text}")
    assert not any(gradient is not None and gradient.isnan().any() for gradient in given["gradients"])
    torch.testing.assert_close(given["streams"][:2], wanted["streams"][:2], rtol=0, atol=0)
    assert wanted["streams"][2] == given["streams"][2]
