"""A draw that takes what the loop makes in; a draw of as many numbers that takes only sizes, and what makes one of the
other, out.

torch.randn_like(h)                      torch.randn(8)                     drawn.view(h.shape)
torch.rand(len(h), 2)                    torch.rand(4, 2)                   drawn.view(len(h), 2)
torch.bernoulli(p)                       torch.rand(8)                      (drawn.view(p.shape) < p).to(p.dtype)
torch.multinomial(p, 1)                  torch.empty(8).exponential_()      (p / drawn.view(p.shape)).argmax(-1, True)

The sizes are those that the first iteration was seen to have. That all have them is asked where the numbers are used:
``view`` raises otherwise. The last two are how PyTorch itself makes these on a CPU (``Distributions.cpp``); that the
version at hand does so is tried for each size.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import torch

from looplift.base.data import dataclass
from looplift.frontend.names import value_of

SIZED = ("rand", "randn")
LIKE = ("rand_like", "randn_like")
CHECKS = {
    "bernoulli": "assert (({0} >= 0) & ({0} <= 1)).all()",
    "multinomial": "assert (({0} >= 0) & ({0} < float('inf'))).all() and ({0}.sum(-1) > 0).all()",
}
"""What PyTorch raises an error without."""
_DRAWN = {
    "rand": "torch.rand({sizes}{dtype}{generator})", "randn": "torch.randn({sizes}{dtype}{generator})",
    "multinomial": "torch.empty({sizes}{dtype}).exponential_(1{generator})",
    "dropout": "torch.empty({sizes}{dtype}).bernoulli_({kept}{generator}).div_({kept})",
}  # fmt: skip
_ALSO = {"rand_like": "rand", "bernoulli": "rand", "randn_like": "randn"}
_MADE = {
    "bernoulli": "({drawn}.view(({p} := {of}).shape) < {p}).to({p}.dtype){zero}",
    "multinomial": "(({p} := {of}) / {drawn}.view({p}.shape)).argmax(-1, True)",
    "dropout": "{of} * {drawn}",
}


_Rate = tuple[float, str] | None


@dataclass
class Asked:
    """``of``: what decides how many numbers are drawn; ``generator``: the text of the keyword, if there is one."""

    function: str
    of: list[ast.expr]
    generator: str
    text: str | None = None
    has_gradients: bool = False
    rate: _Rate = None
    """Of ``dropout``: the probability of zeros, and its text."""

    def settle(self, sample: Any, *, gradients: bool) -> None:
        """``sample``: what is drawn for of the first iteration, or for ``SIZED`` what is drawn. Raises ValueError where
        it cannot be drawn before the loop."""
        shape, dtype = tuple(sample.shape), sample.dtype
        if sample.device.type != "cpu" or dtype not in (torch.float32, torch.float64):
            raise ValueError("of a dtype or on a device that is drawn for in another way")
        if self.function in LIKE and not sample.is_contiguous():
            raise ValueError("numbers are drawn in the order of the elements in memory")
        if self.function in _MADE and not _is_made_so(self.function, shape, dtype, self.rate):
            raise ValueError("this version of PyTorch draws in another way")
        self.text = _draw(self.function, shape, dtype, self.generator, self.rate)
        self.has_gradients = gradients

    def item(self, drawn: ast.expr, fresh: str) -> tuple[ast.expr, str | None]:
        """The value in place of the draw, and what must hold after it. ``fresh``: a name that nobody uses."""
        if self.function in CHECKS:
            zero = f" + 0 * {fresh}" if self.has_gradients and self.function == "bernoulli" else ""
            words = {"drawn": ast.unparse(drawn), "of": ast.unparse(self.of[0]), "p": fresh, "zero": zero}
            made = ast.parse(_MADE[self.function].format(**words), mode="eval").body
            return made, CHECKS[self.function].format(fresh)
        of = [ast.Attribute(self.of[0], "shape", ast.Load())] if self.function in LIKE else self.of
        return _method(_method(drawn, "view", *of), "clone"), None


def _method(owner: ast.expr, name: str, *arguments: ast.expr) -> ast.expr:
    return ast.Call(ast.Attribute(owner, name, ast.Load()), list(arguments), [])


def _draw(
    function: str, shape: tuple[int, ...], dtype: torch.dtype, generator: str, rate: tuple[float, str] | None = None
) -> str:
    """The text of a draw. Numbers of the default dtype take half the time where it is not named."""
    named = "" if dtype is torch.get_default_dtype() else f"dtype={dtype}"
    words = {"sizes": str(shape)[1:-1].rstrip(",") if shape else "()"}
    words["kept"] = "" if rate is None else f"1 - {rate[1]}"
    words |= {key: f", {one}" if one else "" for key, one in (("dtype", named), ("generator", generator))}
    return _DRAWN[_ALSO.get(function, function)].format(**words)


def asked(call: ast.Call, known: Mapping[str, Any], bound: set[str]) -> Asked | None:
    """A draw of PyTorch's by the number of its elements; None of others."""
    function = value_of(call.func, known, bound)
    names = (*SIZED, *LIKE, *CHECKS)
    name = next((one for one in names if function is not None and getattr(torch, one) is function), "")
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    if not name or not call.args or any(isinstance(one, ast.Starred) for one in call.args):
        return None
    generator = given.pop("generator", None)
    if generator is not None and value_of(generator, known, bound) is None:
        return None
    if name == "multinomial" and not _is_of_one([*call.args[1:], *given.values()], {*given}):
        return None
    if name in (*LIKE, "bernoulli") and (len(call.args) > 1 or given):
        return None
    if name in SIZED and given.keys() - {"dtype", "device"}:
        return None
    of = call.args if name in SIZED else call.args[:1]
    return Asked(name, of, "" if generator is None else f"generator={ast.unparse(generator)}")


def _is_of_one(numbers: list[ast.expr], names: set[str | None]) -> bool:
    """Whether ``multinomial`` is asked for one number."""
    first = numbers[0] if len(numbers) == 1 and names <= {"num_samples"} else None
    return isinstance(first, ast.Constant) and first.value == 1


@cache
def _is_made_so(function: str, shape: tuple[int, ...], dtype: torch.dtype, rate: _Rate) -> bool:
    """Whether PyTorch draws these as it is written here, and leaves the generator as that does."""
    p = torch.rand(shape, dtype=dtype, generator=torch.Generator().manual_seed(6))
    if not p.numel():
        return False
    drawn = _draw(function, shape, dtype, "", rate and (rate[0], repr(rate[0])))
    text = _MADE[function].format(drawn=drawn, of="p", p="q", zero="")
    before = torch.get_rng_state()
    try:
        for _ in range(3):
            state = torch.get_rng_state()
            found = _DIRECTLY[function](p, rate)
            after = torch.get_rng_state()
            torch.set_rng_state(state)
            made = eval(text, {"torch": torch, "p": p})
            if not torch.equal(found, made) or not torch.equal(after, torch.get_rng_state()):
                return False
    finally:
        torch.set_rng_state(before)
    return True


_DIRECTLY: dict[str, Callable[[torch.Tensor, Any], torch.Tensor]] = {
    "bernoulli": lambda p, _: torch.bernoulli(p),
    "multinomial": lambda p, _: torch.multinomial(p, 1),
    "dropout": lambda p, rate: torch.nn.functional.dropout(p, rate[0]),
}
