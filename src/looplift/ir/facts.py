"""What analysis knows of each value: its kind, the loops it varies with, and a sample from the first lane."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import Any

from looplift.base.data import dataclass, field
from looplift.base.errors import NotLiftable
from looplift.ir.grammar import Atom, Block, Const, Function, Loop, Var, uses, walk


@dataclass(frozen=True)
class Kind:
    """The type of one lane's value.

    ``family``: "tensor" (torch.Tensor), "array" (numpy.ndarray), "numpy" (a NumPy scalar), "int", "float", "bool",
    "complex" (Python numbers), "list", "tuple", "none", "string", "object", "either".
    ``dtype``: torch.dtype or numpy.dtype for the first three, else None.
    ``rank``: number of dimensions of one lane's value, 0 for numbers.
    ``items``: kinds of a tuple's items, or the one kind of a list's elements.
    """

    family: str
    dtype: Any = None
    rank: int = 0
    items: tuple[Kind, ...] = ()

    @property
    def is_number(self) -> bool:
        """A Python number: weak in promotion, exact in integers."""
        return self.family in ("int", "float", "bool", "complex")

    @property
    def is_array(self) -> bool:
        return self.family in ("tensor", "array", "numpy")

    @property
    def is_complex(self) -> bool:
        return self.family == "complex" or (self.is_array and "complex" in str(self.dtype))


EITHER = Kind("either")
"""Of a result that is of one kind or of another, as a condition outside of all loops decides."""


@dataclass(frozen=True)
class Fact:
    """Of one variable.

    ``loops``: the enclosing loops (outermost first) that the value varies with; empty for a uniform value.
    ``shape``: extents of the first lane's value (tensors and arrays).
    ``sample``: the first lane's value itself, or a stand-in of the same kind.
    ``fixed``: whether the shape is the same in every lane.
    """

    kind: Kind
    loops: tuple[Loop, ...] = ()
    shape: tuple[int, ...] = ()
    sample: Any = None
    fixed: bool = True


@dataclass
class Facts:
    """Facts of all variables of one function, and what the walk found about its loops and effects."""

    function: Function
    of: dict[Var, Fact] = field(default_factory=dict)
    mixed: set[Var] = field(default_factory=set)
    """What may be a Python number where its kind is a tensor's."""
    handed: set[Var] = field(default_factory=set)
    """Those of them that are used where that would be noticed."""
    later: set[Var] = field(default_factory=set)
    """What asks for a gradient in later iterations of a loop around, and may not in the first one."""
    found: dict[str, Any] = field(default_factory=dict)
    """What later rooms have computed of all this, by their names for it: a region is planned several times."""

    @cached_property
    def devices(self) -> frozenset[Any]:
        """Where its tensors are, in the first lane."""
        import torch

        samples = (fact.sample for fact in self.of.values())
        return frozenset(sample.device for sample in samples if isinstance(sample, torch.Tensor))

    @cached_property
    def reads(self) -> Counter[Var]:
        """How often the function reads each variable."""
        return reads_of(self.function.body)

    def __getitem__(self, atom: Atom) -> Fact:
        if isinstance(atom, Const):
            return Fact(kind_of(atom.value), (), shape_of(atom.value), atom.value)
        return self.of[atom]

    def kind(self, atom: Atom) -> Kind:
        return self[atom].kind


def reads_of(block: Block) -> Counter[Var]:
    return Counter(atom for statement in walk(block) for atom in uses(statement) if isinstance(atom, Var))


def shape_of(value: Any) -> tuple[int, ...]:
    if not hasattr(type(value), "shape"):  # an object of the user's may run code for it
        return ()
    shape = value.shape
    return tuple(shape) if isinstance(shape, tuple) else ()  # of a class it may be anything


_PYTHON = {bool: "bool", int: "int", float: "float", complex: "complex", str: "string", type(None): "none"}


def kind_of(value: Any) -> Kind:
    """The kind of a concrete value."""
    import numpy as np
    import torch

    if (family := _PYTHON.get(type(value))) is not None:
        return Kind(family)
    if isinstance(value, torch.Tensor):
        return Kind("tensor", value.dtype, value.dim())
    if isinstance(value, np.ndarray):
        return Kind("array", value.dtype, value.ndim)
    if isinstance(value, np.generic):
        return Kind("numpy", value.dtype)
    if type(value) is tuple:
        return Kind("tuple", items=tuple(kind_of(item) for item in value))
    if type(value) is list:
        try:
            return Kind("list", items=_element_kinds(value))
        except RecursionError:
            raise NotLiftable("unsupported-value", "a list that holds itself") from None
    return Kind("object")


def _element_kinds(values: list) -> tuple[Kind, ...]:
    """The one kind of a list's first items, as far as they agree; empty lists agree with any list."""
    kinds = set(map(kind_of, values[:64]))
    if len(kinds) > 1:
        kinds -= {Kind("list")}
    return tuple(kinds) if len(kinds) == 1 else ()
