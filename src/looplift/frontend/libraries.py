"""NumPy's and Python's draws in; their names and parameters, and how the state of a generator is taken, out."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

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


@dataclass
class Stream:
    """A generator: the text that it goes by, and the names of its state and of the arrays that are made of it."""

    owner: str
    is_python: bool
    state: str
    words: str
    held: str
    by_two: bool = False

    others: set[str] = field(default_factory=set)
    """Other texts that it goes by."""

    def itself(self, owner: str = "") -> str:
        """The text of the generator, also where it goes by the module whose functions draw from it."""
        return f"{owner or self.owner}.{'random' if self.is_python else 'rand'}.__self__"

    def opening(self) -> list[str]:
        state = self.state
        if self.is_python:
            lines = [f"{state} = {self.owner}.getstate()"]
            words, given = f"np.fromiter({state}[1], dtype=np.int64)[:624]", f"{state}[1][624]"
            held = f"[{state}[2] is not None, {state}[2] or 0.0]"
        else:
            lines = [f"{state} = {self.owner}.get_state(legacy=False)"]
            lines.append(f"if {state}['bit_generator'] != 'MT19937':\n    raise RequirementFailed")
            words, given = f"{state}['state']['key']", f"{state}['state']['pos']"
            held = f"[{state}['has_gauss'], {state}['gauss']]"
        lines += [f"{self.words} = np.zeros(1249, dtype=np.int64)", f"{self.words}[:624] = {words}"]
        lines.append(f"{self.words}[1248] = {given}")
        return [*lines, f"{self.held} = np.array({held}, dtype=np.float64)"] if self.by_two else lines

    def ending(self) -> str:
        state, words, held = self.state, self.words, self.held
        if self.is_python:
            left = f"float({held}[1]) if {held}[0] else None" if self.by_two else f"{state}[2]"
            bits = f"(*{words}[:624].tolist(), int({words}[1248]))"
            return f"{self.owner}.setstate(({state}[0], {bits}, {left}))"
        left = f"'has_gauss': int({held}[0]), 'gauss': float({held}[1]), " if self.by_two else ""
        bits = f"{{'key': {words}[:624], 'pos': int({words}[1248])}}"
        return f"{self.owner}.set_state({{**{state}, {left}'state': {bits}}})"


# ---------------------------------------------------------------- the libraries as they are here


@cache
def is_as_written(name: str, *, is_python: bool) -> bool:
    """Whether this library draws as ``mersenne.py`` does: another version may do so in another way."""
    if is_python:
        mine, theirs = random.Random(7), random.Random(7)
        opening, draw = Stream("mine", True, "state", "words", "held", by_two=True), PYTHON[name]
    else:
        module = numpy_random()
        mine, theirs = module.RandomState(7), module.RandomState(7)
        opening, draw = Stream("mine", False, "state", "words", "held", by_two=True), NUMPY[name]
    known: dict[str, Any] = {"mine": mine, "np": np}
    exec("\n".join(opening.opening()), known)
    states = [known["words"], known["held"]] if draw.by_two else [known["words"]]
    given = _EXAMPLES[draw.function](name)
    made = [_example(draw, name, states, given) for _ in range(40)]
    drawn = [getattr(theirs, name)(*given) for _ in range(40)]
    exec(opening.ending(), known)
    return made == drawn and mine.random() == theirs.random()


def _example(draw: Draw, name: str, states: list[Any], given: tuple[Any, ...]) -> Any:
    if name == "choice":
        return given[0][draw.function(*states, len(given[0]))]
    return draw.function(*states, *given)


_EXAMPLES: dict[Callable[..., Any], Callable[[str], tuple[Any, ...]]] = {
    draw.function: (lambda name: ()) for draw in (*NUMPY.values(), *PYTHON.values())
}
_EXAMPLES |= {
    mersenne.numpy_uniform: lambda name: (-0.3, 2.9),
    mersenne.numpy_integer: lambda name: (-3, 39),
    mersenne.numpy_normal: lambda name: (0.7, 1.3),
    mersenne.numpy_exponential: lambda name: (1.7,),
    mersenne.python_uniform: lambda name: (-0.3, 2.9),
    mersenne.python_integer: lambda name: (-3, 39),
    mersenne.python_range: lambda name: (-3, 39),
    mersenne.python_below: lambda name: ("abcdefghijk",),
    mersenne.python_gauss: lambda name: (0.7, 1.3),
    mersenne.python_normal: lambda name: (0.7, 1.3),
    mersenne.python_exponential: lambda name: (1.7,),
}
