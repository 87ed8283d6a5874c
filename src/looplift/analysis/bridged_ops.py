"""One operation on NumPy arrays in, those on tensors that give the same out.

What may overflow, or has no value, is asked to be finite: NumPy warns of the rest, and there the loop runs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from looplift.base.data import dataclass, field, replace
from looplift.base.errors import TwoLibraries
from looplift.base.spans import Span
from looplift.ir.facts import Facts, Kind
from looplift.ir.grammar import (
    UNDEFINED,
    Atom,
    Const,
    Group,
    If,
    Let,
    Op,
    Operand,
    Require,
    Slice,
    Statement,
    Var,
    as_atom,
    operands,
)

OF_NUMPY = ("array", "numpy")
SCALARS = ("int", "float", "bool")
KEPT = frozenset("iter_len builtin.len copy list".split())
"""Operations that are the same on tensors."""
NUMBERS = frozenset("builtin.float builtin.int builtin.bool method.item".split())
JOINED = {
    "np.stack": "torch.stack", "np.array": "torch.stack", "np.asarray": "torch.stack", "np.concatenate": "torch.cat",
    "np.vstack": "torch.vstack", "np.hstack": "torch.hstack",
}  # fmt: skip
MADE = {"np.zeros": "torch.zeros", "np.ones": "torch.ones", "np.full": "torch.full"}
EXTREMES = {"argmax": "argmax", "argmin": "argmin", "max": "amax", "min": "amin", "amax": "amax", "amin": "amin"}
COMPARISONS = frozenset("eq ne lt le gt ge".split())
ATTRIBUTES = frozenset(("shape", "ndim"))
OPERATORS = frozenset("add sub mul truediv neg builtin.abs".split())
EXACT = frozenset("sqrt abs square".split())
FUNCTIONS = EXACT | frozenset("exp log log1p expm1 tanh sin cos".split())
"""Of NumPy, whose names they have in torch as well."""
FOLDS = frozenset("sum mean std var".split())
PRODUCTS = frozenset("matmul np.matmul np.dot method.dot".split())


def is_numpy(kind: Kind) -> bool:
    """Whether a value is an array, or a number of NumPy's."""
    return kind.family in OF_NUMPY


def tensor_dtype(dtype: Any) -> torch.dtype | None:
    """The dtype of tensors that a dtype of NumPy's is; None where there is none."""
    try:
        return torch.from_numpy(np.empty(0, dtype)).dtype
    except TypeError:
        return None


def _holds_all(dtype: torch.dtype, own: torch.dtype) -> bool:
    """Whether integers of a dtype are those of another as well: of others PyTorch raises, or wraps."""
    if own.is_floating_point or own.is_complex or dtype.is_complex or dtype is torch.bool:
        return False
    least, most = (0, 1) if own is torch.bool else (torch.iinfo(own).min, torch.iinfo(own).max)
    return torch.iinfo(dtype).min <= least and most <= torch.iinfo(dtype).max


@dataclass
class Operations:
    """``gradients``: whether any may flow, so that ``.numpy()`` may raise. ``inexact``: what is rounded otherwise."""

    source: Any
    facts: Facts
    gradients: bool
    lets: dict[Var, Op] = field(default_factory=dict)
    tests: set[Atom] = field(default_factory=set)
    users: dict[Atom, list[Statement]] = field(default_factory=dict)
    inexact: set[Var] = field(default_factory=set)

    def refuse(self, what: str, span: Span) -> TwoLibraries:
        return TwoLibraries(what, span)

    def kind(self, atom: Atom) -> Kind:
        return Kind("none") if atom is UNDEFINED else self.facts.kind(atom)

    def unknown(self, let: Let) -> list[Statement]:
        raise self.refuse(f"'{let.op.name.removeprefix('method.')}' of an array", let.span)

    def let(self, let: Let) -> list[Statement]:
        op = let.op
        short = op.name.rpartition(".")[2]
        if op.name in KEPT or op.name in NUMBERS:
            plain = not op.kwargs and (op.name in KEPT or len(op.args) == 1)
            return [let] if plain else self.unknown(let)
        if op.name in ("getitem", "iter_item"):
            self.check_index(op.args[1], let.span)
            return [let]
        if op.name == "attribute" and constant_of(op.args[1]) in ATTRIBUTES and self.is_taken_apart(let.var):
            return [let]
        if op.name == "tuple" or (op.name == "unpack" and self.kind(as_atom(op.args[0])).family == "tuple"):
            return [let]
        for fits, way in self.ways_of(op, short):
            if fits:
                return way(let)
        return self.unknown(let)

    def ways_of(self, op: Op, short: str) -> list[tuple[bool, Callable[[Let], list[Statement]]]]:
        first = self.kind(op.args[0]) if op.args and isinstance(op.args[0], Var) else Kind("none")
        of_numpy = op.name.startswith("np.") or (op.name.startswith("method.") and first.family == "array")
        listed = first.family == "list" and len(first.items) == 1
        to_array = first.family == "tensor" and op.name in ("method.numpy", "np.asarray", "np.array")
        return [
            (op.name in ("torch.from_numpy", "torch.as_tensor", "torch.tensor") and is_numpy(first), self.to_tensor),
            (to_array, self.to_array),
            (op.name in JOINED and listed and first.items[0].family == "array", self.joined),
            (op.name in ("np.array", "np.asarray") and listed, self.of_numbers),
            (op.name == "np.asarray" and first.family == "array" and len(op.args) == 1, self.itself),
            (op.name in MADE, self.made),
            (op.name == "method.astype", self.as_type),
            (op.name in ("method.copy", "np.copy") and len(op.args) == 1, self.copied),
            (short in EXTREMES and of_numpy, self.extreme),
            (op.name in COMPARISONS, self.comparison),
            (op.name in OPERATORS or (short in FUNCTIONS and op.name.startswith("np.")), self.elementwise),
            (short in FOLDS and of_numpy, self.fold),
            (op.name in PRODUCTS, self.product),
            (op.name == "np.linalg.norm" and first.rank == 1, self.norm),
        ]

    # ------------------------------------------------------------ from one library to the other

    def to_tensor(self, let: Let) -> list[Statement]:
        """An array, or a number of NumPy's, as a tensor: a view of it, or a copy."""
        source, *rest = let.op.args
        named = dict(let.op.kwargs)
        is_view = let.op.name != "torch.tensor"
        if rest or named.keys() - {"dtype"} or (is_view and self.kind(as_atom(source)).family == "numpy"):
            return self.unknown(let)
        own = tensor_dtype(self.kind(as_atom(source)).dtype)
        wanted = named.get("dtype", Const(None))
        dtype = wanted.value if isinstance(wanted, Const) and wanted.value is not None else own
        if own is None or not isinstance(dtype, torch.dtype) or not isinstance(wanted, Const):
            return self.unknown(let)
        if dtype != own:
            if not (dtype.is_floating_point and not own.is_complex) and not _holds_all(dtype, own):
                return self.unknown(let)
            return [replace(let, op=Op("method.to", (source, Const(dtype, str(dtype)))))]
        if is_view and self.is_item_of_its_own(as_atom(source)):
            return [replace(let, op=Op("copy", (source,)))]
        return [replace(let, op=Op("method.detach" if is_view else "method.clone", (source,)))]

    def is_item_of_its_own(self, atom: Atom) -> bool:
        """Whether an array, which nothing else reads, is made or shown for this."""
        op = self.lets.get(atom) if isinstance(atom, Var) else None
        if op is None or len(self.users.get(atom, ())) != 1:
            return False
        shown = op.name in ("getitem", "iter_item")
        return self.kind(as_atom(op.args[0])).family == "array" if shown else op.name not in ("copy", "unpack")

    def to_array(self, let: Let) -> list[Statement]:
        """A tensor as an array: it must not ask for a gradient."""
        source = as_atom(let.op.args[0])
        if len(let.op.args) > 1 or let.op.kwargs:
            return self.unknown(let)
        if self.gradients and not self.is_detached(source):
            what = f"'{let.op.name.removeprefix('method.')}' of a tensor that may ask for a gradient; detach it"
            raise self.refuse(what, let.span)
        if let.op.name == "np.array":
            return [replace(let, op=Op("method.clone", (source,)))]
        unseen = source in self.lets and len(self.users.get(source, ())) == 1
        return [replace(let, op=Op("copy" if unseen else "method.detach", (source,)))]

    def is_detached(self, atom: Atom) -> bool:
        op = self.lets.get(atom) if isinstance(atom, Var) else None
        if op is not None and op.name in ("method.cpu", "method.squeeze", "method.flatten", "getitem", "iter_item"):
            return self.is_detached(as_atom(op.args[0]))
        return op is not None and op.name == "method.detach"

    # ------------------------------------------------------------ arrays that are made

    def joined(self, let: Let) -> list[Statement]:
        named = dict(let.op.kwargs)
        if len(let.op.args) > 1 or named.keys() - {"axis"} or (named and let.op.name in ("np.array", "np.asarray")):
            return self.unknown(let)
        kwargs = tuple(("dim", axis) for axis in named.values())
        return [replace(let, op=Op(JOINED[let.op.name], let.op.args[:1], kwargs))]

    def of_numbers(self, let: Let) -> list[Statement]:
        """A list of numbers as an array: an empty one is of floats."""
        dtype = tensor_dtype(self.kind(let.var).dtype)
        item = self.kind(as_atom(let.op.args[0])).items[0]
        if len(let.op.args) > 1 or let.op.kwargs or dtype is None or item.family not in (*SCALARS, "numpy"):
            return self.unknown(let)
        if item.family == "numpy":
            made = replace(let, op=Op("torch.stack", let.op.args))
        else:
            made = replace(let, op=Op("torch.tensor", let.op.args, (("dtype", Const(dtype, str(dtype))),)))
        if dtype == torch.float64:
            return [made]
        size, some = Var(f"{let.var.name}_size"), Var(f"{let.var.name}_some")
        asked = [Let(size, Op("builtin.len", let.op.args), let.span), Let(some, Op("gt", (size, Const(0))), let.span)]
        return [*asked, Require(some, "an array of no numbers is of floats", let.span), made]

    def made(self, let: Let) -> list[Statement]:
        named = dict(let.op.kwargs)
        count = 2 if let.op.name == "np.full" else 1
        dtype = tensor_dtype(self.kind(let.var).dtype)
        if dtype is None or named.keys() - {"dtype"} or any(is_numpy(self.kind(a)) for a in operands(let.op)):
            return self.unknown(let)
        if not count <= len(let.op.args) <= count + 1:
            return self.unknown(let)
        return [replace(let, op=Op(MADE[let.op.name], let.op.args[:count], (("dtype", Const(dtype, str(dtype))),)))]

    def as_type(self, let: Let) -> list[Statement]:
        source = as_atom(let.op.args[0])
        own, dtype = self.kind(source).dtype, self.kind(let.var).dtype
        real = own.kind in "biu" or (own.kind == "f" and dtype.kind == "f")
        if len(let.op.args) != 2 or let.op.kwargs or not real or dtype.kind not in "fi" or dtype.itemsize < 4:
            return self.unknown(let)
        made = self.cast(let, source, dtype) or replace(let, op=Op("method.clone", (source,)))
        return [made] if own.kind != "f" or dtype.itemsize >= own.itemsize else self.finite(let, made)

    def cast(self, let: Let, source: Atom, dtype: Any) -> Let | None:
        """The array in another dtype; None where it has it."""
        wanted = tensor_dtype(dtype)
        if wanted is None:
            raise self.refuse(f"arrays of {dtype}", let.span)
        if self.kind(source).dtype == dtype:
            return None
        return replace(let, op=Op("method.to", (source, Const(wanted, str(wanted)))))

    def itself(self, let: Let) -> list[Statement]:
        return [replace(let, op=Op("copy", let.op.args[:1]))] if not let.op.kwargs else self.unknown(let)

    def copied(self, let: Let) -> list[Statement]:
        return [replace(let, op=Op("method.clone", let.op.args))]

    # ------------------------------------------------------------ what is computed

    def extreme(self, let: Let) -> list[Statement]:
        """The greatest or least, or where it is: of what has some, a NaN is it in both libraries."""
        source, *rest = let.op.args
        kind = self.kind(as_atom(source))
        if rest or let.op.kwargs or kind.family != "array" or kind.dtype.kind not in "fi":
            return self.unknown(let)
        return [replace(let, op=Op(f"torch.{EXTREMES[let.op.name.rpartition('.')[2]]}", (source,)))]

    def comparison(self, let: Let) -> list[Statement]:
        """Of two numbers, whose result only decides: exact in the dtype of those of NumPy's."""
        kinds = [self.kind(atom) for atom in operands(let.op)]
        numbers = all(kind.family in ("numpy", *SCALARS) for kind in kinds)
        dtypes = {kind.dtype for kind in kinds if kind.dtype is not None}
        plain = {kind.family for kind in kinds} - {"numpy"}
        exact = {"f": plain <= {"int", "float"}, "i": plain <= {"int"} and dtypes == {np.dtype(np.int64)}}
        alike = len(dtypes) == 1 and (not plain or exact.get(next(iter(dtypes)).kind, False))
        decides = let.var in self.tests and all(isinstance(one, If) for one in self.users.get(let.var, ()))
        return [let] if numbers and alike and decides else self.unknown(let)

    def elementwise(self, let: Let) -> list[Statement]:
        """In the dtype of the result, as NumPy computes it."""
        kinds = [self.kind(as_atom(argument)) for argument in let.op.args]
        dtype = self.kind(let.var).dtype
        if let.op.kwargs or not isinstance(dtype, np.dtype) or dtype.kind != "f" or dtype.itemsize < 4:
            return self.unknown(let)
        if not all(kind.family in (*OF_NUMPY, "int", "float") for kind in kinds):
            return self.unknown(let)
        out, args = [], []
        for k, argument in enumerate(let.op.args):
            cast = self.cast(let, as_atom(argument), dtype) if is_numpy(kinds[k]) else None
            if cast is not None:
                cast = replace(cast, var=Var(f"{let.var.name}_wide{k}"))
                out.append(cast)
            args.append(argument if cast is None else cast.var)
        short = let.op.name.rpartition(".")[2]
        name = let.op.name if let.op.name in OPERATORS else f"torch.{short}"
        if short in FUNCTIONS - EXACT:
            self.inexact.add(let.var)
        return [*out, *self.finite(let, replace(let, op=Op(name, tuple(args))))]

    def fold(self, let: Let) -> list[Statement]:
        """The sum, mean or deviation of an array of floats."""
        source, named = as_atom(let.op.args[0]), dict(let.op.kwargs)
        short = let.op.name.rpartition(".")[2]
        axis = named.get("axis", let.op.args[1] if len(let.op.args) > 1 else None)
        plain = axis is None or (isinstance(axis, Const) and type(axis.value) is int)
        kind = self.kind(source)
        if len(let.op.args) > 2 or named.keys() - {"axis"} or not plain or kind.family != "array":
            return self.unknown(let)
        if kind.dtype.kind != "f" or kind.dtype.itemsize < 4:
            return self.unknown(let)
        self.inexact.add(let.var)
        kwargs = () if axis is None else (("dim", axis),)
        kwargs += (("unbiased", Const(False)),) if short in ("std", "var") else ()
        return self.finite(let, replace(let, op=Op(f"torch.{short}", (source,), kwargs)))

    def product(self, let: Let) -> list[Statement]:
        kinds = [self.kind(as_atom(argument)) for argument in let.op.args]
        alike = len({kind.dtype for kind in kinds}) == 1 and "float" in str(self.kind(let.var).dtype)
        plain = len(kinds) == 2 and all(kind.family == "array" and kind.rank < 3 for kind in kinds)
        if let.op.kwargs or not plain or not alike:
            return self.unknown(let)
        self.inexact.add(let.var)
        return self.finite(let, replace(let, op=Op("torch.matmul", let.op.args)))

    def norm(self, let: Let) -> list[Statement]:
        (source, *rest) = let.op.args
        if rest or let.op.kwargs or self.kind(as_atom(source)).dtype.kind != "f":
            return self.unknown(let)
        self.inexact.add(let.var)
        return self.finite(let, replace(let, op=Op("torch.linalg.norm", (source,))))

    def finite(self, let: Let, made: Let) -> list[Statement]:
        """What is made, where all of it is finite."""
        if self.is_small(let.var):
            return [made]
        each, every = Var(f"{let.var.name}_each"), Var(f"{let.var.name}_finite")
        asked = [Let(each, Op("torch.isfinite", (let.var,)), let.span), Let(every, Op("torch.all", (each,)), let.span)]
        return [made, *asked, Require(every, "NumPy warns of what is not finite", let.span)]

    def is_small(self, atom: Atom, steps: int = 6) -> bool:
        """Whether an array is of integers, or of a few operations with literals near 1 on such."""
        if self.kind(atom).dtype is not None and self.kind(atom).dtype.kind in "iub":
            return True
        op = self.lets.get(atom) if isinstance(atom, Var) else None
        if op is None or not steps:
            return False
        if op.name in ("add", "sub", "mul", "truediv"):
            number = constant_of(op.args[1])
            near = isinstance(number, int | float) and 1e-3 <= abs(number) <= 1e3
            return near and self.is_small(as_atom(op.args[0]), steps - 1)
        kept = op.name in ("method.astype", "getitem", "iter_item", "copy")
        return kept and self.is_small(as_atom(op.args[0]), steps - 1)

    # ------------------------------------------------------------ places

    def is_taken_apart(self, var: Var) -> bool:
        """Whether a shape is only read number by number: as a whole it is of another class."""
        if self.kind(var).family != "tuple":
            return True
        reads = ("getitem", "unpack", "builtin.len")
        read = all(isinstance(one, Let) and one.op.name in reads for one in self.users.get(var, ()))
        return read and all(atom is not var for _, atom in self.source.results)

    def check_index(self, index: Operand, span: Span) -> None:
        """That an index picks from a tensor what it picks from an array."""
        for part in index.items if isinstance(index, Group) else (index,):
            if isinstance(part, Slice):
                step = part.step.value if isinstance(part.step, Const) else 0
                good = step is None or (type(step) is int and step > 0)
                good = good and all(self.kind(bound).family in ("int", "none") for bound in (part.lo, part.hi))
            else:
                kind = Kind("group") if isinstance(part, Group) else self.kind(part)
                good = kind.family in ("int", "none") or (kind.family == "numpy" and kind.dtype.kind == "i")
                good = good or (isinstance(part, Const) and part.value is Ellipsis)
            if not good:
                raise self.refuse("an index that tensors take otherwise", span)


def constant_of(operand: Operand) -> Any:
    """The value of a constant, None of what is none."""
    return operand.value if isinstance(operand, Const) else None
