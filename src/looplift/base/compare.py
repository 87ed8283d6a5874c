"""Two values in, None or the first difference that a caller can see out, named by its path."""

from __future__ import annotations

import collections
import math
import operator
import random
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import torch

from looplift.base.data import dataclass, field
from looplift.base.streams import numpy_generators

_PLAIN = (int, str, bytes, bytearray, type(None), range, slice, torch.dtype, torch.device, torch.layout)
_SEQUENCES = (list, tuple, collections.deque)
_ATOMS = frozenset((bool, int, float, complex, str, bytes, type(None)))
"""What is the same where it is one object."""
_Part = tuple[Any, Callable[[Any], str], Any]
"""Its key, what makes the end of its path of that, and its value."""


def difference(
    got: Any,
    want: Any,
    *,
    exact: bool = False,
    magnitude: float = 1.0,
    path: str = "result",
    narrow: Mapping[str, str] | None = None,
) -> str | None:
    """None if the two are the same to a caller, else one line that names the first difference.

    Types, dtypes, shapes, devices, ``requires_grad``, integers, booleans, text, the keys of containers and which
    elements are one object must be equal. Floats may differ by the rounding of a reordered sum, NaN equals NaN;
    with ``exact`` they must have the same bits. ``magnitude`` is the size of the numbers that were computed with:
    where they cancel, the result is as inexact as they are. ``narrow``: beginnings of paths, and the dtype to which
    what is there was rounded before it was stored in a wider one.
    """
    return _Comparison(exact, magnitude, narrow or {}).of(got, want, path)


def is_leaf(value: torch.Tensor) -> bool:
    """Whether a tensor is a leaf; torch refuses to say so of views made without gradients whose memory has changed."""
    try:
        return value.is_leaf
    except RuntimeError:
        return False


LONGEST_PATH = 1000
"""Letters, from which on a path is not made longer: chains of objects have one for each."""
Pending = list[tuple[Any, Any, str]]
"""Pairs of values that are still to be compared, with their paths."""


@dataclass
class _Comparison:
    exact: bool
    magnitude: float
    narrow: Mapping[str, str]
    narrowest: torch.dtype | None = None  # of the value that is compared
    mates: dict[int, int] = field(default_factory=dict)  # id in want -> id in got
    taken: dict[int, str] = field(default_factory=dict)  # id in got -> its first path
    alive: list[Any] = field(default_factory=list)  # an id is one only while its object lives

    def of(self, got: Any, want: Any, path: str) -> str | None:
        """The first difference; a chain of objects may be longer than Python's stack is deep."""
        pending = [(got, want, path)]
        while pending:
            if why := self.value(*pending.pop(), pending):
                return why
        return None

    def value(self, got: Any, want: Any, path: str, pending: Pending) -> str | None:
        """The same of one value; what is in it is ``pending``, the first part last."""
        if isinstance(want, _PLAIN):
            return self.plain(got, want, path)
        if isinstance(want, (float, complex)) and not isinstance(want, np.generic):
            return self.number(got, want, path)
        if isinstance(want, np.generic):
            return self.array(got, want, path, pending)
        if want is got and id(want) not in self.mates:
            return self.meet(got, want, path) if _mutable(want) else None
        if type(got) is not type(want):
            return f"{path}: {_shown(got)} instead of {_shown(want)}"
        if _mutable(want):
            if id(want) in self.mates or id(got) in self.taken:
                return self.shared(got, want, path)
            self.meet(got, want, path)
        return self.inside(got, want, path, pending)

    def meet(self, got: Any, want: Any, path: str) -> None:
        self.mates[id(want)] = id(got)
        self.taken.setdefault(id(got), path)
        self.alive += [got, want]

    def shared(self, got: Any, want: Any, path: str) -> str | None:
        """One of the two was met before: then the other must be what it was met with."""
        if self.mates.get(id(want)) == id(got):
            return None
        if id(want) in self.mates:
            return f"{path}: an object of its own instead of one that is also elsewhere in the value"
        return f"{path}: the same object as {self.taken[id(got)]} instead of one of its own"

    def inside(self, got: Any, want: Any, path: str, pending: Pending) -> str | None:
        match want:
            case torch.Tensor():
                return self.tensor(got, want, path)
            case np.ndarray():
                return self.array(got, want, path, pending)
            case torch.Generator():
                return None if torch.equal(got.get_state(), want.get_state()) else f"{path}: in another state"
            case random.Random():
                return None if got.getstate() == want.getstate() else f"{path}: in another state"
            case _ if isinstance(want, numpy_generators()[:1]):
                return self.of(got.bit_generator.state, want.bit_generator.state, f"{path}.bit_generator.state")
            case set() | frozenset():
                return None if got == want else f"{path}: {_brief(got)} instead of {_brief(want)}"
            case BaseException():
                return self.of(got.args, want.args, f"{path}.args")
        if _hold_same_atoms(got, want):
            return None
        parts = _parts(want)
        if parts is None:
            return None if _equal(got, want) else f"{path}: {_brief(got)} instead of {_brief(want)}"
        return self.parts(_parts(got) or [], parts, path, pending)

    def parts(self, got: list[_Part], want: list[_Part], path: str, pending: Pending) -> str | None:
        if len(got) != len(want):
            return f"{path}: {len(got)} elements instead of {len(want)}"
        for (got_key, _, _), (want_key, _, _) in zip(got, want, strict=True):
            if got_key is not want_key and self.of(got_key, want_key, path) is not None:
                return f"{path}: {got_key!r:.40} in the place of {want_key!r:.40}"
        goes_on = len(path) < LONGEST_PATH
        pending += reversed(
            [
                (mine, value, path + shown(key) if goes_on else path)
                for (_, _, mine), (key, shown, value) in zip(got, want, strict=True)
                if mine is not value or type(value) not in _ATOMS
            ]
        )
        return None

    def plain(self, got: Any, want: Any, path: str) -> str | None:
        if type(got) is type(want) and got == want:
            return None
        return f"{path}: {_shown(got)} instead of {_shown(want)}"

    def number(self, got: Any, want: Any, path: str) -> str | None:
        if type(got) is not type(want):
            return f"{path}: {_shown(got)} instead of {_shown(want)}"
        parts = [(got.real, want.real), (got.imag, want.imag)] if isinstance(want, complex) else [(got, want)]
        scale = max((abs(part) for _, part in parts if math.isfinite(part)), default=0.0)
        same = all(_float_close(g, w, scale, self) for g, w in parts)
        return None if same else f"{path}: {got!r} instead of {want!r}"

    def narrow_at(self, path: str) -> torch.dtype | None:
        found = next((dtype for start, dtype in self.narrow.items() if path.startswith(start)), None)
        return getattr(torch, found) if found else None

    def tensor(self, got: torch.Tensor, want: torch.Tensor, path: str) -> str | None:
        self.narrowest = self.narrow_at(path)
        for what in ("dtype", "shape", "device", "layout", "requires_grad"):
            ours, theirs = getattr(got, what), getattr(want, what)
            if ours != theirs:
                shown = (tuple(ours), tuple(theirs)) if what == "shape" else (ours, theirs)
                return f"{path}: {what} {shown[0]} instead of {shown[1]}"
        with torch.no_grad():
            if not _tensors_close(got.detach(), want.detach(), self):
                return f"{path}: {_first_of_tensors(got.detach(), want.detach(), self)}"
        if is_leaf(want) and is_leaf(got) and (want.grad is not None or got.grad is not None):
            return self.of(got.grad, want.grad, f"{path}.grad")
        return None

    def array(self, got: Any, want: Any, path: str, pending: Pending) -> str | None:
        self.narrowest = self.narrow_at(path)
        if type(got) is not type(want):
            return f"{path}: {_shown(got)} instead of {_shown(want)}"
        for what in ("dtype", "shape"):
            if getattr(got, what) != getattr(want, what):
                return f"{path}: {what} {getattr(got, what)} instead of {getattr(want, what)}"
        if want.dtype.kind == "O":
            return self.parts(_elements(got), _elements(want), path, pending)
        if want.dtype.kind in "fc" and want.dtype.itemsize <= 16:
            ours, theirs = _tensor_from_array(got), _tensor_from_array(want)
            return None if _tensors_close(ours, theirs, self) else f"{path}: {_first_of_tensors(ours, theirs, self)}"
        # not-a-time and the like differ from themselves
        same = np.asarray((got == want) | ((got != got) & (want != want)))
        if bool(np.all(same)):
            return None
        where = tuple(int(k) for k in np.argwhere(~same)[0]) if same.ndim else ()
        return f"{path}: {_counted(int((~same).sum()), same.size, where, got[where], want[where])}"


NARROW = {"float16": 11, "bfloat16": 8, "float32": 24, "complex64": 24}
"""The dtypes with fewer digits than double precision has, and how many bits these are."""


def narrowest(words: Iterable[str]) -> str:
    """The one of some dtypes, of those in ``NARROW``, that has the fewest digits."""
    return min(words, key=lambda word: NARROW[word])


def _tolerances(dtype: torch.dtype) -> tuple[float, float, float]:
    """Relative to the element, to the numbers computed with, and to the largest element."""
    epsilon = torch.finfo(dtype).eps
    if dtype in (torch.float64, torch.complex128):
        return 1e-7, 1e-9, 16 * epsilon
    return max(1e-4, 4 * epsilon), max(1e-5, epsilon), max(2e-6, epsilon)


def _float_close(got: float, want: float, scale: float, settings: _Comparison) -> bool:
    if math.isnan(want):
        return math.isnan(got)
    if settings.exact:
        return got == want and math.copysign(1, got) == math.copysign(1, want)
    if got == want or not math.isfinite(want):
        return got == want
    # a Python float may have been the element of a float32 tensor
    relative, absolute, _ = _tolerances(torch.float32)
    return abs(got - want) <= relative * scale + absolute * settings.magnitude


def _tensors_close(got: torch.Tensor, want: torch.Tensor, settings: _Comparison) -> bool:
    if want.layout != torch.strided:
        got, want = got.to_dense(), want.to_dense()
    if want.is_quantized or want.is_meta:
        return want.is_meta or torch.equal(got, want)
    floating = want.is_floating_point() or want.is_complex()
    if torch.equal(got, want) and not (floating and settings.exact):
        return True
    return floating and bool(_same(got, want, settings).all())


def _same(got: torch.Tensor, want: torch.Tensor, settings: _Comparison) -> torch.Tensor:
    """For each element, and for complex numbers each part, whether it is the same."""
    relative, absolute, overall = _tolerances(want.dtype)
    if settings.narrowest is not None:
        relative, absolute, overall = map(max, _tolerances(settings.narrowest), (relative, absolute, overall))
    got, want = _wide(got), _wide(want)
    both_nan = got.isnan() & want.isnan()
    if settings.exact:
        return ((got == want) & (got.signbit() == want.signbit())) | both_nan
    finite = want.isfinite()
    size = torch.where(finite, want.abs(), 0.0)
    largest = size.max() if size.numel() else size.sum()
    bound = relative * size + absolute * settings.magnitude + overall * largest
    return (got == want) | both_nan | (finite & ((got - want).abs() <= bound))


def _wide(values: torch.Tensor) -> torch.Tensor:
    values = values.resolve_conj().resolve_neg()
    return torch.view_as_real(values.to(torch.complex128)) if values.is_complex() else values.to(torch.float64)


def _first_of_tensors(got: torch.Tensor, want: torch.Tensor, settings: _Comparison) -> str:
    if want.layout != torch.strided:
        got, want = got.to_dense(), want.to_dense()
    if want.is_quantized:
        return "quantized values differ"
    floating = want.is_floating_point() or want.is_complex()
    same = _same(got, want, settings) if floating else got == want
    if want.is_complex():
        same = same.all(-1)
    where = tuple((~same).nonzero()[0].tolist()) if same.ndim else ()
    return _counted(int((~same).sum()), same.numel(), where, got[where].item(), want[where].item())


def _counted(different: int, size: int, where: tuple[int, ...], got: Any, want: Any) -> str:
    if not where:
        return f"{_brief(got)} instead of {_brief(want)}"
    place = where[0] if len(where) == 1 else where
    return f"{different} of {size} elements differ, the first at {place}: {_brief(got)} instead of {_brief(want)}"


def _tensor_from_array(array: Any) -> torch.Tensor:
    return torch.from_numpy(np.array(array, dtype=array.dtype.newbyteorder("=")))


def _elements(array: np.ndarray) -> list[_Part]:
    return [(where, lambda key: str(list(key)), array[where]) for where in np.ndindex(array.shape)]


def _hold_same_atoms(got: Any, want: Any) -> bool:
    """Whether two containers of one type hold the very same numbers and texts, and nothing else."""
    if type(want) not in (list, tuple, collections.deque, dict) or len(got) != len(want):
        return False
    if type(want) is dict:
        if not all(map(operator.is_, got, want)):
            return False
        got, want = got.values(), want.values()
    return all(map(operator.is_, got, want)) and _ATOMS.issuperset(map(type, want))


def _mutable(value: Any) -> bool:
    """Whether it can be seen that two places hold the same object."""
    return not isinstance(value, (str, tuple, frozenset, np.generic, *_PLAIN)) and not callable(value)


def _parts(value: Any) -> list[_Part] | None:
    """Each part of a container or plain object; None for a leaf."""
    if isinstance(value, torch.nn.Module):
        named = [*value.named_parameters(), *value.named_buffers()]
        return [(name, ".{}".format, part) for name, part in [("training", value.training), *named]]
    if isinstance(value, dict):
        return [(key, "[{!r:.40}]".format, part) for key, part in value.items()]
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return [(name, ".{}".format, getattr(value, name)) for name in value._fields]  # pyright: ignore
    if isinstance(value, _SEQUENCES):
        return [(place, "[{}]".format, part) for place, part in enumerate(value)]
    if callable(value):
        return None
    names = [*getattr(value, "__dict__", {}), *_slots(type(value))]
    return [(name, ".{}".format, getattr(value, name)) for name in names] if names else None


def _slots(kind: type) -> list[str]:
    """The attributes of objects without a ``__dict__``, as those of a dataclass with slots."""
    declared = [base.__dict__.get("__slots__", ()) for base in kind.__mro__ if kind.__module__ != "builtins"]
    names = [name for slots in declared for name in ((slots,) if isinstance(slots, str) else slots)]
    return [name for name in names if not name.startswith("__")]


def _equal(got: Any, want: Any) -> bool:
    """By the type's own idea of equality; a type without one has nothing to compare."""
    if type(want).__eq__ is object.__eq__ or callable(want):
        return True
    try:
        return bool(got == want)
    except Exception:
        return True


def _shown(value: Any) -> str:
    if isinstance(value, (torch.Tensor, np.ndarray)):
        return f"{type(value).__name__} of {value.dtype} and shape {tuple(value.shape)}"
    if isinstance(value, (bool, int, float, complex, str, bytes, type(None))):
        return _brief(value)
    return f"{type(value).__name__} {_brief(value)}"


def _brief(value: Any) -> str:
    """The beginning of a value's text, on one line."""
    return " ".join(repr(value).split())[:60]
