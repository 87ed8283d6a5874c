"""Live values in; copies of what a region writes to, ways to put them back, and the states of generators out."""

from __future__ import annotations

import bisect
import collections
import itertools
import operator
import random
import re
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import nullcontext, suppress
from typing import Any

import numpy as np
import torch
from torch import Tensor

from looplift.base import memory
from looplift.base.compare import is_leaf
from looplift.base.streams import numpy_generators, numpy_state, set_numpy_state
from looplift.runtime.contents import ATOMS, CONTAINERS, runs_code

MAX_ITEMS = 200_000
"""Elements of containers that are looked at, before a copy is given up."""


class CannotCopy(Exception):
    """A value that cannot be copied so that nothing but the copy is changed."""


def root_of(path: str) -> str:
    found = re.match(r"\w+", path)
    assert found is not None, path
    return found.group()


# ---------------------------------------------------------------- copies


def copied(values: Mapping[str, Any], mutated: Iterable[str], beside: Iterable[Any] = ()) -> dict[str, Any]:
    """The values, with those that are written to, and all that share their memory, replaced by copies.

    ``beside``: what is read, too, and stays in its place.
    """
    roots = set(mutated)
    if any(path != root_of(path) for path in roots):
        raise CannotCopy("it writes to an attribute of an object")
    copier = _Copier([values[root] for root in roots])
    if any(map(copier.touches, beside)):
        raise CannotCopy("it writes to a global that a function reads")
    return {
        name: copier.copy(value) if name in roots or copier.touches(value) else value for name, value in values.items()
    }


class _Copier:
    """Copies containers, tensors and arrays; those that share memory or identity do so in the copy."""

    def __init__(self, mutated: list[Any]):
        self.memo: dict[int, Any] = {}
        self.keep: list[Any] = []
        self.storages: dict[int, Any] = {}
        self.written: set[int] = set()
        self.memory: list[tuple[int, int]] = []
        for value in mutated:
            for part in parts(value):
                self._check(part)
                if isinstance(part, (Tensor, np.ndarray)) and _identity(part) not in self.written:
                    bisect.insort(self.memory, memory.reach(part))
                self.written.add(_identity(part))

    def touches(self, value: Any) -> bool:
        """Whether a value shares memory with one that is written to."""
        if not self.written:
            return False
        for part in parts(value):
            if _identity(part) in self.written:
                return True
            self._check(part)
        return False

    def _check(self, value: Any) -> None:
        """Memory is copied by array and by storage: copies of two would share nothing."""
        if not isinstance(value, Tensor | np.ndarray) or _identity(value) in self.written:
            return
        start, end = memory.reach(value)
        place = bisect.bisect(self.memory, (start, end))
        beside = self.memory[max(place - 1, 0) : place + 1]
        if any(start < other_end and other_start < end for other_start, other_end in beside):
            raise CannotCopy("arrays share memory")

    def copy(self, value: Any) -> Any:
        if id(value) not in self.memo:
            self.keep.append(value)
            self.memo[id(value)] = self.fresh(value)
        return self.memo[id(value)]

    def fresh(self, value: Any) -> Any:
        if type(value) in (list, set, collections.deque, dict, collections.defaultdict, collections.OrderedDict):
            return self.container(value)
        if isinstance(value, Tensor):
            return self.tensor(value)
        if type(value) is np.ndarray:
            return np.array(value, order="K", copy=True)
        if type(value) is tuple:
            return tuple(self.copy(item) for item in value)
        if isinstance(value, types.FunctionType) and self.touches(value):
            return self.function(value)
        if isinstance(value, _ATOMS) or (callable(value) and not self.touches(value)):
            return value
        raise CannotCopy(f"it may write to a {type(value).__name__}")

    def container(self, value: Any) -> Any:
        if ATOMS.issuperset(map(type, value.values() if isinstance(value, dict) else value)):
            return value.copy()
        if isinstance(value, dict):
            is_default = isinstance(value, collections.defaultdict)
            out = collections.defaultdict(value.default_factory) if is_default else type(value)()
            self.memo[id(value)] = out
            for key, item in value.items():
                out[key] = item if type(item) in ATOMS else self.copy(item)
            return out
        if isinstance(value, set):
            return set(value)
        out = collections.deque(maxlen=value.maxlen) if isinstance(value, collections.deque) else []
        self.memo[id(value)] = out
        out.extend([item if type(item) in ATOMS else self.copy(item) for item in value])
        return out

    def function(self, value: types.FunctionType) -> types.FunctionType:
        """The function over cells of its own, in which what is written to is a copy."""
        cells = value.__closure__ or ()
        made = tuple(types.CellType() for _ in cells)
        out = types.FunctionType(value.__code__, value.__globals__, value.__name__, value.__defaults__, made)
        self.memo[id(value)] = out
        out.__dict__.update(value.__dict__)
        out.__kwdefaults__ = value.__kwdefaults__
        if any(map(self.touches, (*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values()))):
            raise CannotCopy("it writes to a default value of a function")
        for cell, inner in zip(cells, made, strict=True):
            for held in _held(cell):
                inner.cell_contents = self.copy(held) if self.touches(held) else held
        return out

    def tensor(self, value: Tensor) -> Tensor:
        """A tensor over a copy of the whole storage, so that views of one memory stay views of one memory."""
        if value.requires_grad and _made_by(value) is not None:
            with torch.enable_grad():  # so that the copy asks for gradients where the caller switched them off
                return value.clone()
        if value.is_neg() or value.is_conj():
            raise CannotCopy("it writes to a view of conjugates or negatives")
        storage = value.untyped_storage()
        key = storage.data_ptr()
        if key not in self.storages:
            self.storages[key] = storage.clone()
        with torch.no_grad():
            out = torch.empty(0, dtype=value.dtype, device=value.device)
            out.set_(self.storages[key], value.storage_offset(), value.shape, value.stride())
        if value._is_view():  # what is taken of a view where gradients are off asks for one only if its base does
            base = value._base is not None and value._base.requires_grad
            with torch.set_grad_enabled(not base):
                out = out.requires_grad_(base).as_strided(out.shape, out.stride(), out.storage_offset())
        if isinstance(value, torch.nn.Parameter):
            return _with_gradient_of(value, torch.nn.Parameter(out, value.requires_grad))
        return _with_gradient_of(value, out.requires_grad_(value.requires_grad))


def _with_gradient_of(value: Tensor, out: Tensor) -> Tensor:
    """The copy of a leaf, with what earlier backward passes left in ``grad``."""
    if is_leaf(value) and value.grad is not None:
        out.grad = value.grad.clone()
    return out


_ATOMS = (int, float, complex, bool, str, bytes, type(None), np.generic, range, slice, torch.dtype, torch.device)


def _identity(value: Any) -> int:
    """Of a tensor the address of its storage, of anything else its id."""
    if isinstance(value, Tensor):
        return value.untyped_storage().data_ptr() or id(value)
    return id(value)


def parts(value: Any) -> Iterator[Any]:
    """The value and, of containers, modules and functions, what is in it, except plain numbers and text."""
    pending, seen = [value], set()
    while pending:
        one = pending.pop()
        is_container = type(one) in CONTAINERS
        if id(one) in seen or (not is_container and isinstance(one, _ATOMS)):
            continue
        seen.add(id(one))
        if len(seen) > MAX_ITEMS:
            raise CannotCopy("there is too much data to look through")
        yield one
        if is_container or isinstance(one, (dict, list, tuple, set, frozenset, collections.deque)):
            if not is_container and runs_code(one):
                raise CannotCopy(f"a {type(one).__name__} has methods of its own to be read by")
            items = one.values() if isinstance(one, dict) else one
            if not ATOMS.issuperset(map(type, items)):
                pending += [item for item in items if type(item) not in ATOMS]
        elif isinstance(one, torch.nn.Module):
            pending += [*one.parameters(), *one.buffers()]
        elif isinstance(one, types.FunctionType):
            pending += [held for cell in one.__closure__ or () for held in _held(cell)]
            pending += [*(one.__defaults__ or ()), *(one.__kwdefaults__ or {}).values()]
        elif isinstance(one, types.MethodType):
            pending += [one.__self__, one.__func__]


def _held(cell: types.CellType) -> list[Any]:
    """What a cell holds, if it holds anything yet."""
    try:
        return [cell.cell_contents]
    except ValueError:
        return []


# ---------------------------------------------------------------- putting back


class Saved:
    """What is in the values that a region writes to; ``restore`` puts it back in place.

    Raises CannotCopy where that is not possible for all of it; where it need not be ``whole``, it is what can be saved.
    """

    def __init__(self, values: Iterable[Any], *, whole: bool = True):
        self.undo: list[Callable[[], None]] = []
        self.storages: set[int] = set()
        for value in values:
            with nullcontext() if whole else suppress(CannotCopy):
                for part in parts(value):
                    with nullcontext() if whole else suppress(CannotCopy):
                        self.remember(part)

    def remember(self, value: Any) -> None:
        if isinstance(value, (list, collections.deque, dict, set)):
            self.undo.append(_refiller(value, value.copy()))
        elif isinstance(value, Tensor):
            self.tensor(value)
        elif isinstance(value, np.ndarray):
            self.undo.append(_putter(value, value.copy()))
        elif not isinstance(value, tuple) and not callable(value):
            raise CannotCopy(f"it may write to a {type(value).__name__}")

    def tensor(self, value: Tensor) -> None:
        storage = value.untyped_storage()
        had_gradient = value.requires_grad
        if storage.data_ptr() not in self.storages:
            self.storages.add(storage.data_ptr())
            before = storage.clone()
            self.undo.append(lambda: _copy_storage(storage, before))

        self.undo.append(_history_of(value, had_gradient))

    def restore(self) -> None:
        for undo in self.undo:
            undo()


def _made_by(value: Tensor) -> Any:
    """What a tensor was computed by; one of several views of memory that has changed since cannot tell."""
    try:
        return value.grad_fn
    except RuntimeError as error:
        raise CannotCopy(str(error)) from None


def _cannot_tell(value: Tensor) -> bool:
    """Whether it is a view, made where gradients were off, of memory that has changed since: nothing was recorded."""
    try:
        _made_by(value)
    except CannotCopy:
        return True
    return False


def _history_of(value: Tensor, had_gradient: bool) -> Callable[[], None]:
    """Puts back what a tensor was computed from."""
    made_by = _made_by(value)
    before = value.clone() if torch.is_grad_enabled() and (made_by is not None or value._is_view()) else None

    def put_back() -> None:
        if _cannot_tell(value) or value.grad_fn is made_by or not (value.requires_grad or had_gradient):
            return
        if not value._is_view():
            value.detach_()
        if before is not None:
            with torch.enable_grad():
                value.copy_(before)

    return put_back


class Attributes:
    """Attributes of objects at paths, as they are now: what is there, and what is not."""

    def __init__(self, paths: Iterable[str], read: Callable[[str], Any]):
        places = [path.rpartition(".") for path in paths]
        self.places = {"".join(place): (read(place[0]), place[2]) for place in places}
        self.before = self.values()

    def values(self) -> dict[str, Any]:
        """What they hold by now, by their paths."""
        return {path: getattr(owner, name, _UNSET) for path, (owner, name) in self.places.items()}

    def restore(self) -> None:
        now = self.values()
        for path, (owner, name) in self.places.items():
            if self.before[path] is now[path]:
                continue
            if self.before[path] is _UNSET:
                delattr(owner, name)
            else:
                setattr(owner, name, self.before[path])


_UNSET = "nothing is set"
"""What is compared in the place of an attribute that is not there."""


class Containers:
    """The containers among values, as they are now: analysis may try operations on them."""

    def __init__(self, values: Iterable[Any]):
        self.found: list[tuple[Any, Any]] = []
        for value in values:
            try:
                every = [part for part in parts(value) if isinstance(part, (list, dict, set, collections.deque))]
            except CannotCopy:
                continue
            self.found += [(part, part.copy()) for part in every]

    def restore(self) -> None:
        """Put back those that have changed; the others may be iterated right now, and are not touched."""
        for container, before in self.found:
            if not _unchanged(container, before):
                _refiller(container, before)()


def _unchanged(container: Any, before: Any) -> bool:
    if len(container) != len(before):
        return False
    if isinstance(container, dict):
        same_keys = all(map(operator.is_, container, before))
        return same_keys and all(map(operator.is_, container.values(), before.values()))
    return container == before if isinstance(container, set) else all(map(operator.is_, container, before))


def _copy_storage(storage: Any, before: Any) -> None:
    if storage.nbytes() != before.nbytes():
        storage.resize_(before.nbytes())
    storage.copy_(before)


def _putter(array: np.ndarray, before: np.ndarray) -> Callable[[], None]:
    def put() -> None:
        if array.flags.writeable:
            array[...] = before

    return put


def _refiller(container: Any, before: Any) -> Callable[[], None]:
    def refill() -> None:
        if isinstance(container, set):  # what stays in it stays in its order
            for item in container - before:
                container.discard(item)
            for item in before - container:
                container.add(item)
            return
        container.clear()
        container.extend(before) if hasattr(container, "extend") else container.update(before)

    return refill


# ---------------------------------------------------------------- random generators


class GeneratorStates:
    """The states of torch's, NumPy's and Python's generators, and of those among the values."""

    def __init__(self, values: Iterable[Any] = ()):
        self.torch = torch.get_rng_state()
        self.cuda = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else None
        self.numpy = numpy_state()
        self.python = random.getstate()
        self.own = [(one, _state_of(one)) for one in values if is_generator(one)]

    def restore(self) -> None:
        """Put back every generator that was used since."""
        if not torch.equal(torch.get_rng_state(), self.torch):
            torch.set_rng_state(self.torch)
        if self.cuda is not None:
            torch.cuda.set_rng_state_all(self.cuda)
        if not _equal(numpy_state(), self.numpy):
            set_numpy_state(self.numpy)
        if random.getstate() != self.python:
            random.setstate(self.python)
        for generator, state in self.own:
            _set_state(generator, state)

    def now(self) -> GeneratorStates:
        """Those of the same generators by now."""
        return GeneratorStates(one for one, _ in self.own)

    def same(self, other: GeneratorStates) -> bool:
        if self.python != other.python:
            return False
        mine, theirs = ([one.torch, one.cuda, [state for _, state in one.own]] for one in (self, other))
        if self.numpy is not None and other.numpy is not None:
            mine, theirs = [*mine, self.numpy], [*theirs, other.numpy]
        return all(map(_equal, mine, theirs))


NESTED = 3
"""Levels of objects and containers in which generators are looked for."""
LOOKED_AT = 64
"""So many items of a container at most."""


def is_generator(value: Any) -> bool:
    """Whether a value draws random numbers that can be drawn again."""
    kinds = (torch.Generator, random.Random, *numpy_generators())
    return isinstance(value, kinds) and not isinstance(value, random.SystemRandom)


def generators_in(values: Iterable[Any]) -> list[Any]:
    """Generators among values and in what they hold; that takes milliseconds for models."""
    found, level, seen = [], [*values], set()
    for _ in range(NESTED + 1):
        new = {id(one): one for one in level if type(one) not in _WITHOUT_GENERATORS and id(one) not in seen}
        seen |= new.keys()
        found += filter(is_generator, new.values())
        level = [item for one in new.values() for item in _items_of(one)]
    return found


_WITHOUT_GENERATORS = frozenset((*ATOMS, Tensor, torch.nn.Parameter, np.ndarray, type, types.ModuleType))


def _items_of(value: Any) -> Iterable[Any]:
    """The first items of a container, and what the attributes of an object hold."""
    if isinstance(value, type | types.ModuleType | types.FunctionType | Tensor | np.ndarray):
        return ()
    held = (*vars(value).values(),) if hasattr(value, "__dict__") else ()
    if isinstance(value, dict):
        held += (*itertools.islice(dict.values(value), LOOKED_AT),)
    elif isinstance(value, list | tuple | collections.deque):
        kind: Any = next(kind for kind in (list, tuple, collections.deque) if isinstance(value, kind))
        held += (*itertools.islice(kind.__iter__(value), LOOKED_AT),)
    return held


def _state_of(generator: Any) -> Any:
    if hasattr(generator, "bit_generator"):
        return generator.bit_generator.state
    if isinstance(generator, random.Random):
        return generator.getstate()
    return generator.get_state() if isinstance(generator, torch.Generator) else generator.get_state(legacy=False)


def _set_state(generator: Any, state: Any) -> None:
    if hasattr(generator, "bit_generator"):
        generator.bit_generator.state = state
    elif isinstance(generator, random.Random):
        generator.setstate(state)
    else:
        generator.set_state(state)


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, Tensor):
        return isinstance(other, Tensor) and torch.equal(one, other)
    if isinstance(one, np.ndarray):
        return np.array_equal(one, other)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_equal(one[key], other[key]) for key in one)
    if isinstance(one, (tuple, list)):
        return len(one) == len(other) and all(map(_equal, one, other))
    return one == other
