"""Abstract values of the host slice: what an expression may hold, and a sample of the objects given from outside."""

from __future__ import annotations

import types
from contextlib import suppress
from typing import Any

from looplift.base.data import dataclass, field


@dataclass(frozen=True)
class Lane:
    """A tensor made by the loop: the result of the tensor expression with this number."""

    site: int


@dataclass(frozen=True)
class Pack:
    """A tuple of tensors made by one tensor expression (``chunk``, an LSTM cell), of ``arity`` elements if known."""

    site: int
    arity: int | None


@dataclass(frozen=True)
class Real:
    """A tensor found in the objects given from outside, or computed on the host; of unknown rank if None."""

    rank: int | None


@dataclass(frozen=True)
class Host:
    """A Python value without tensors in it; ``none`` if it is None, which has no elements, attributes or methods."""

    none: bool = False


@dataclass(frozen=True, eq=False)
class Live:
    """One known object; ``path`` is the expression that reaches it from the region's names, None when there is none."""

    value: Any
    path: str | None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Live) and self.value is other.value and self.path == other.path

    def __hash__(self) -> int:
        return hash((id(self.value), self.path))


@dataclass(frozen=True)
class Container:
    """A list, tuple, dict, set or iterator made by the region; ``site`` tells where."""

    site: int
    kind: str


@dataclass(frozen=True)
class External:
    """Objects of one type at one place of the live-ins, merged."""

    root: str
    types: tuple[type, ...]

    @property
    def type(self) -> type:
        return self.types[-1]


Atom = Lane | Pack | Real | Host | Live | Container | External
HOST = Host()
NONE = Host(none=True)
ABSENT = Live(None, None)
"""None in the data given from outside, which may hold any object there in another call."""
EMPTY: frozenset[Atom] = frozenset()


@dataclass
class Contents:
    """What may lie in a container or object: under a known key or attribute, anywhere else, and as dict key."""

    fields: dict[Any, set[Atom]] = field(default_factory=dict)
    rest: set[Atom] = field(default_factory=set)
    keys: set[Atom] = field(default_factory=set)

    def everything(self) -> set[Atom]:
        return set().union(self.rest, *self.fields.values())

    def at(self, key: Any) -> set[Atom]:
        """Under a key known before the run, or anywhere when it is None."""
        if key is None or key not in self.fields:
            return self.everything() if key is None or isinstance(key, int) else set(self.rest)
        return self.fields[key] | self.rest


SAMPLE = 400
"""How many objects of a live-in are looked at."""
DEPTH = 6
"""From this depth on, nested containers of one type are taken to hold the same."""


def is_none(atom: Atom) -> bool:
    return atom == NONE or (isinstance(atom, Live) and atom.value is None)


def is_tensor_atom(atom: Atom) -> bool:
    return isinstance(atom, (Lane, Real)) or (isinstance(atom, Live) and is_tensor(atom.value))


def is_tensor(value: Any) -> bool:
    import torch

    return isinstance(value, torch.Tensor)


def is_module(value: Any) -> bool:
    import torch

    return isinstance(value, torch.nn.Module)


def sample(value: Any, root: str, contents: dict[External, Contents]) -> Atom:
    """The atom of an object given from outside; what it holds is written to ``contents``, breadth first."""
    first = _atom(value, root, ())
    queue = [(value, first)] if isinstance(first, External) else []
    seen = {(id(value), first)}
    for item, atom in queue:
        if len(seen) > SAMPLE:
            break
        place = contents.setdefault(atom, Contents())
        for key, child in _children(item):
            below = _atom(child, root, atom.types)
            place.fields.setdefault(key, set()).add(below) if key is not None else place.rest.add(below)
            if isinstance(below, External) and (id(child), below) not in seen:
                seen.add((id(child), below))
                queue.append((child, below))
        if isinstance(item, dict):
            place.keys.update(_atom(key, root, atom.types) for key in list(item)[:SAMPLE])
    return first


def _atom(value: Any, root: str, above: tuple[type, ...]) -> Atom:
    import torch

    kind = type(value)
    if is_tensor(value):
        return Real(value.dim())
    if value is None:
        return ABSENT
    if kind in (bool, int, float, complex, str, bytes, range, slice):
        return HOST
    if isinstance(value, (torch.dtype, torch.device)):
        return HOST
    if is_module(value) or callable(value):
        return Live(value, None)
    merge = kind in above and (len(above) >= DEPTH or kind not in (list, tuple, dict))
    types = above[: above.index(kind) + 1] if merge else (*above, kind)
    return External(root, types)


def _children(value: Any):
    """(key, child) pairs: attributes, tuple positions and dict entries under text have keys, other elements None."""
    if isinstance(value, tuple):
        yield from list(enumerate(value))[:SAMPLE]
    elif isinstance(value, dict):
        for key, child in list(value.items())[:SAMPLE]:
            yield (key if isinstance(key, str) else None), child
    elif isinstance(value, (list, set, frozenset)) or type(value).__name__ == "deque":
        yield from ((None, child) for child in list(value)[:SAMPLE])
    for name, child in getattr(value, "__dict__", {}).items():
        yield name, child
    for cls in type(value).__mro__:
        for name in _slots(cls):
            slot = cls.__dict__.get(name)
            if name in ("__dict__", "__weakref__") or not isinstance(slot, types.MemberDescriptorType):
                continue
            with suppress(AttributeError):  # a class with a __getattr__ may run code for one that is not set
                yield name, slot.__get__(value)


def _slots(cls: type) -> tuple[str, ...]:
    slots = cls.__dict__.get("__slots__", ())
    return (slots,) if isinstance(slots, str) else tuple(slots)
