"""Draws of NumPy, Python and PyTorch in; their names and parameters, and how the state of a generator is taken, out."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import torch

from looplift.base.data import dataclass, field
from looplift.base.streams import numpy_random
from looplift.frontend import mersenne


@dataclass
class Draw:
    """``defaults``: of its parameters, by name; None for one that must be given. ``by_two``: it holds one back."""

    function: Callable[..., Any]
    defaults: dict[str, float | None]
    by_two: bool = False


NUMPY = {
    "rand": Draw(mersenne.unit, {}),
    "random": Draw(mersenne.unit, {}),
    "random_sample": Draw(mersenne.unit, {}),
    "uniform": Draw(mersenne.numpy_uniform, {"low": 0.0, "high": 1.0}),
    "randint": Draw(mersenne.numpy_integer, {"low": None, "high": None}),
    "randn": Draw(mersenne.numpy_standard, {}, by_two=True),
    "standard_normal": Draw(mersenne.numpy_standard, {}, by_two=True),
    "normal": Draw(mersenne.numpy_normal, {"loc": 0.0, "scale": 1.0}, by_two=True),
    "exponential": Draw(mersenne.numpy_exponential, {"scale": 1.0}),
    "choice": Draw(mersenne.numpy_choice, {"p": None, "a": None}),
}
PYTHON = {
    "random": Draw(mersenne.unit, {}),
    "uniform": Draw(mersenne.python_uniform, {"a": None, "b": None}),
    "randint": Draw(mersenne.python_integer, {"a": None, "b": None}),
    "randrange": Draw(mersenne.python_range, {"start": None, "stop": None}),
    "choice": Draw(mersenne.python_below, {"seq": None}),
    "gauss": Draw(mersenne.python_gauss, {"mu": 0.0, "sigma": 1.0}, by_two=True),
    "normalvariate": Draw(mersenne.python_normal, {"mu": 0.0, "sigma": 1.0}),
    "expovariate": Draw(mersenne.python_exponential, {"lambd": None}),
}


TORCH = {
    "rand of float32": Draw(mersenne.torch_single, {}),
    "rand of float64": Draw(mersenne.torch_double, {}),
    "randn of float32": Draw(mersenne.torch_normal_single, {}, by_two=True),
    "randn of float64": Draw(mersenne.torch_normal, {}, by_two=True),
    "randint": Draw(mersenne.torch_integer, {"low": None, "high": None}),
}
"""Of tensors of one element: the number that it holds."""


@dataclass
class Stream:
    """A generator: the text that it goes by, and the names of its state and of the arrays that are made of it."""

    owner: str
    state: str
    words: str
    held: str
    by_two: bool = False

    others: set[str] = field(default_factory=set)
    """Other texts that it goes by."""

    def itself(self, owner: str = "") -> str:
        """The text of the generator, also where it goes by the module whose functions draw from it."""
        raise NotImplementedError

    def taken(self) -> tuple[list[str], str, str, str]:
        """Lines that take the state, and texts of its words, how many are given out, and what it holds back."""
        raise NotImplementedError

    def arrays(self) -> list[str]:
        return [self.words, self.held] if self.by_two else [self.words]

    def opening(self) -> list[str]:
        lines, words, given, held = self.taken()
        lines = [*lines, f"{self.words} = np.zeros(1249, dtype=np.int64)", f"{self.words}[:624] = {words}"]
        lines.append(f"{self.words}[1248] = {given}")
        return [*lines, f"{self.held} = np.array({held}, dtype=np.float64)"] if self.by_two else lines

    def ending(self) -> list[str]:
        """Lines that put the state back."""
        raise NotImplementedError


class OfPython(Stream):
    def itself(self, owner: str = "") -> str:
        return f"{owner or self.owner}.random.__self__"

    def taken(self) -> tuple[list[str], str, str, str]:
        state = self.state
        lines, words = [f"{state} = {self.owner}.getstate()"], f"np.fromiter({state}[1], dtype=np.int64)[:624]"
        return lines, words, f"{state}[1][624]", f"[{state}[2] is not None, {state}[2] or 0.0]"

    def ending(self) -> list[str]:
        state, words, held = self.state, self.words, self.held
        left = f"float({held}[1]) if {held}[0] else None" if self.by_two else f"{state}[2]"
        bits = f"(*{words}[:624].tolist(), int({words}[1248]))"
        return [f"{self.owner}.setstate(({state}[0], {bits}, {left}))"]


class OfNumpy(Stream):
    def itself(self, owner: str = "") -> str:
        return f"{owner or self.owner}.rand.__self__"

    def taken(self) -> tuple[list[str], str, str, str]:
        state = self.state
        lines = [f"{state} = {self.owner}.get_state(legacy=False)"]
        lines.append(f"if {state}['bit_generator'] != 'MT19937':\n    raise RequirementFailed")
        held = f"[{state}['has_gauss'], {state}['gauss']]"
        return lines, f"{state}['state']['key']", f"{state}['state']['pos']", held

    def ending(self) -> list[str]:
        state, words, held = self.state, self.words, self.held
        left = f"'has_gauss': int({held}[0]), 'gauss': float({held}[1]), " if self.by_two else ""
        bits = f"{{'key': {words}[:624], 'pos': int({words}[1248])}}"
        return [f"{self.owner}.set_state({{**{state}, {left}'state': {bits}}})"]


class OfTorch(Stream):
    """The state is 5056 bytes: a seed, how many words are left and two more numbers, the next word's place, the 624
    words, three numbers of which the second is held back, and whether it is."""

    def itself(self, owner: str = "") -> str:
        return owner or self.owner

    def taken(self) -> tuple[list[str], str, str, str]:
        lines = [f"{self.state} = {self.owner}.get_state()"]
        lines.append(f"if len({self.state}) != 5056:\n    raise RequirementFailed")
        return (
            lines,
            self._part(24, 5016),
            self._given(),
            f"[{self._is_held()}, {self._part(5024, 5032, 'float64')}[0]]",
        )

    def _part(self, start: int, end: int, kind: str = "int64") -> str:
        return f"{self.state}.numpy()[{start}:{end}].view(np.{kind})"

    def _given(self) -> str:
        return f"(624 if {self._part(8, 12, 'int32')}[0] == 1 else {self._part(16, 24)}[0])"

    def _is_held(self) -> str:
        return f"{self._part(5040, 5044, 'int32')}[0]"

    def ending(self) -> list[str]:
        words, held = self.words, self.held
        drawn = f"{words}[1248] != {self._given()} or {words}[0] != {self._part(24, 32)}[0]"
        lines = [f"{self._part(24, 5016)}[:] = {words}[:624]", f"{self._part(8, 12, 'int32')}[0] = 625 - {words}[1248]"]
        lines.append(f"{self._part(16, 24)}[0] = {words}[1248]")
        if self.by_two:
            drawn += f" or {held}[0] != {self._is_held()}"
            lines.append(f"{self._is_held()} = {held}[0]")
            lines.append(f"{self._part(5024, 5032, 'float64')}[0] = {held}[1] if {held}[0] else 0.0")
        inner = "\n".join(f"    {line}" for line in [*lines, f"{self.owner}.set_state({self.state})"])
        return [f"if {drawn}:\n{inner}"]


LIBRARIES: dict[type[Stream], dict[str, Draw]] = {OfPython: PYTHON, OfNumpy: NUMPY, OfTorch: TORCH}


# ---------------------------------------------------------------- the libraries as they are here


@cache
def is_as_written(name: str, kind: type[Stream]) -> bool:
    """Whether this library draws as ``mersenne.py`` does: another version may do so in another way."""
    draw, opening = LIBRARIES[kind][name], kind("mine", "state", "words", "held", by_two=True)
    mine, theirs = _generator(kind), _generator(kind)
    known: dict[str, Any] = {"mine": mine, "np": np}
    exec("\n".join(opening.opening()), known)
    states = [known["words"], known["held"]] if draw.by_two else [known["words"]]
    given = _EXAMPLES[draw.function](name)
    made = [_example(draw, name, states, given) for _ in range(41)]
    drawn = [_drawn(theirs, name, given) for _ in range(41)]
    exec("\n".join(opening.ending()), known)
    return made == drawn and _next_of(mine) == _next_of(theirs)


def _generator(kind: type[Stream]) -> Any:
    if kind is OfTorch:
        return torch.Generator().manual_seed(7)
    return random.Random(7) if kind is OfPython else numpy_random().RandomState(7)


def _drawn(generator: Any, name: str, given: tuple[Any, ...]) -> Any:
    if not isinstance(generator, torch.Generator):
        return getattr(generator, name)(*given)
    name, _, dtype = name.partition(" of ")
    kind = {"dtype": getattr(torch, dtype)} if dtype else {}
    return getattr(torch, name)(*given, (1,), generator=generator, **kind).item()


def _next_of(generator: Any) -> Any:
    if isinstance(generator, torch.Generator):
        return generator.get_state().tolist()
    return generator.random() if isinstance(generator, random.Random) else generator.random_sample()


def _example(draw: Draw, name: str, states: list[Any], given: tuple[Any, ...]) -> Any:
    if draw.function is mersenne.numpy_choice:
        return draw.function(*states, given[3], given[0])
    if name == "choice":
        return given[0][draw.function(*states, len(given[0]))]
    return draw.function(*states, *given)


_EXAMPLES: dict[Callable[..., Any], Callable[[str], tuple[Any, ...]]] = {
    draw.function: (lambda name: ()) for draws in LIBRARIES.values() for draw in draws.values()
}
_EXAMPLES |= {
    mersenne.numpy_uniform: lambda name: (-0.3, 2.9),
    mersenne.numpy_integer: lambda name: (-3, 39),
    mersenne.numpy_normal: lambda name: (0.7, 1.3),
    mersenne.numpy_exponential: lambda name: (1.7,),
    mersenne.numpy_choice: lambda name: (4, None, True, [0.15, 0.35, 0.3, 0.2]),
    mersenne.python_uniform: lambda name: (-0.3, 2.9),
    mersenne.python_integer: lambda name: (-3, 39),
    mersenne.python_range: lambda name: (-3, 39),
    mersenne.python_below: lambda name: ("abcdefghijk",),
    mersenne.python_gauss: lambda name: (0.7, 1.3),
    mersenne.python_normal: lambda name: (0.7, 1.3),
    mersenne.python_exponential: lambda name: (1.7,),
    mersenne.torch_integer: lambda name: (-3, 0xFFFFFFC),
}
