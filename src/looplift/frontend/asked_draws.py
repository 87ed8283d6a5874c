"""What PyTorch draws for a tensor in; a draw of as many numbers that takes only sizes, out (``analysis/drawn.py`` makes
one of the other).

torch.randn_like(h)                      torch.randn(8)
torch.rand(len(h), 2)                    torch.rand(4, 2)
torch.bernoulli(p)                       torch.rand(8)
torch.multinomial(p, 1)                  torch.empty(8).exponential_()
dropout(h, 0.3)                          torch.empty(8).bernoulli_(1 - 0.3).div_(1 - 0.3)

The last three are how PyTorch itself makes these on a CPU (``Distributions.cpp``, ``Dropout.cpp``); that the version at
hand does so is tried for each size.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import torch

from looplift.base.errors import NotLiftable

_ALSO = {"rand_like": "rand", "bernoulli": "rand", "randn_like": "randn"}
_DRAWN = {
    "rand": "torch.rand({sizes}{dtype}{generator})", "randn": "torch.randn({sizes}{dtype}{generator})",
    "multinomial": "torch.empty({sizes}{dtype}).exponential_(1{generator})",
    "dropout": "torch.empty({sizes}{dtype}).bernoulli_({kept}{generator}).div_({kept})",
}  # fmt: skip
_DIRECTLY: dict[str, Callable[[torch.Tensor, Any], torch.Tensor]] = {
    "bernoulli": lambda p, _: torch.bernoulli(p),
    "multinomial": lambda p, _: torch.multinomial(p, 1),
    "dropout": lambda p, rate: torch.nn.functional.dropout(p, rate[0]),
}
_OF_NUMBERS: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "bernoulli": lambda p, drawn: (drawn < p).to(p.dtype),
    "multinomial": lambda p, drawn: (p / drawn).argmax(-1, True),
    "dropout": lambda p, drawn: p * drawn,
}

_Rate = tuple[float, str] | None


def draw_for(sample: torch.Tensor, function: str, generator: str, rate: _Rate) -> tuple[str, str]:
    """The texts of a draw, and of zeros of its size. Raises NotLiftable where it cannot be done before the loop.

    ``sample``: what is drawn for in the first iteration, or for ``rand`` and ``randn`` what is drawn; ``generator``:
    the text of the keyword, if there is one; ``rate``: of ``dropout`` the probability of zeros, and its text.
    """
    shape, dtype, why = tuple(sample.shape), sample.dtype, ""
    if sample.device.type != "cpu" or dtype not in (torch.float32, torch.float64):
        why = "of a dtype or on a device that is drawn for in another way"
    elif function.endswith("_like") and not sample.is_contiguous():
        why = "in the order of its elements in memory"
    elif function in _DIRECTLY and not _is_made_so(function, shape, dtype, rate):
        why = "by this version of PyTorch in another way"
    if why:
        raise NotLiftable("random-order", f"random numbers are drawn for a tensor {why}")
    zeros = _draw("rand", shape, dtype, "", None).replace("torch.rand", "torch.zeros")
    return _draw(function, shape, dtype, generator, rate), zeros


def _draw(function: str, shape: tuple[int, ...], dtype: torch.dtype, generator: str, rate: _Rate) -> str:
    """The text of a draw. Numbers of the default dtype take half the time where it is not named."""
    named = "" if dtype is torch.get_default_dtype() else f"dtype={dtype}"
    words = {"sizes": str(shape)[1:-1].rstrip(",") if shape else "()"}
    words["kept"] = "" if rate is None else f"1 - {rate[1]}"
    words |= {key: f", {one}" if one else "" for key, one in (("dtype", named), ("generator", generator))}
    return _DRAWN[_ALSO.get(function, function)].format(**words)


@cache
def _is_made_so(function: str, shape: tuple[int, ...], dtype: torch.dtype, rate: _Rate) -> bool:
    """Whether PyTorch makes these of such numbers, and leaves the generator as those do."""
    p = torch.rand(shape, dtype=dtype, generator=torch.Generator().manual_seed(6))
    if not p.numel():
        return False
    text = _draw(function, shape, dtype, "", rate and (rate[0], repr(rate[0])))
    before = torch.get_rng_state()
    try:
        for _ in range(3):
            state = torch.get_rng_state()
            found, after = _DIRECTLY[function](p, rate), torch.get_rng_state()
            torch.set_rng_state(state)
            made = _OF_NUMBERS[function](p, eval(text, {"torch": torch}))
            if not torch.equal(found, made) or not torch.equal(after, torch.get_rng_state()):
                return False
    finally:
        torch.set_rng_state(before)
    return True
