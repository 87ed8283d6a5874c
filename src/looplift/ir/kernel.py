"""A loop nest as native code: its C++ text, and what it takes, writes and returns. Data only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from looplift.base.data import dataclass

if TYPE_CHECKING:
    from looplift.ir.facts import Kind
    from looplift.ir.grammar import Loop, Var

OUTCOMES = {
    "done": "",
    "index_out_of_range": "an index is out of range",
    "integer_overflow": "an integer needs more than 64 bits",
    "zero_division": "a division by zero",
    "domain_error": "a function of 'math' is called outside its domain, or overflows",
    "not_exact": "an integer is too large to be compared or divided exactly",
    "bad_conversion": "a number does not fit the type that it is converted to",
    "unbound": "a variable is read before it is bound",
    "broken_requirement": "an assertion fails, or the loop raises",
    "warned": "a NumPy operation overflows, divides by zero or is invalid, and warns",
    "aliased": "tensors share memory that the loop writes to",
    "out_of_memory": "the tape does not fit in memory",
    "interrupted": "interrupted",
    "another_kind": "a variable keeps the kind that it had before the loop",
    "without_gradient": "no gradient reaches a result in this run",
    "unsuitable_array": "an array's elements are not aligned, or it is read-only",
    "doubtful": "a number is not finite",
    "strided": "elements are not next to each other",
}
"""What a kernel returns: its position is the number, its text says why the original must run."""


@dataclass(frozen=True)
class Output:
    """One result: a carried value after the loop.

    ``init``: the input or constant that it still is where its flag does not hold (the loop never changed it).
    ``other``: the Python kind that it has instead where the loop never gave it its own kind.
    ``may_be_none``, ``may_be_unbound``: the result is None, or NotImplemented (the value of UNDEFINED) instead.
    ``same_as``: the input that it is, changed in place at most (a 0-dim tensor with ``+=``); None for a new value.
    ``element_of``: it is, or may be, a live view of an element in the loop, and a fresh tensor here.
    """

    var: Var
    kind: Kind
    other: Kind | None = None
    init: Any = None
    same_as: Var | None = None
    may_be_none: bool = False
    may_be_unbound: bool = False
    element_of: bool = False


@dataclass(frozen=True)
class Kernel:
    """``source``: C++ of the forward pass. ``caller``: Python text of a function that calls it.

    ``inputs``: what the loop reads from outside, in call order. ``stored``: those that it writes to.
    ``outputs``: the variables after the loop, described by ``results``. ``inexact``: operations whose last bit may
    differ from PyTorch's kernel for a single number; ``deciding``: those of them that a branch, an index or a number
    of iterations depends on. ``adjoint``: C++ of the forward pass with a tape and of the backward pass,
    ``adjoint_caller``: Python text of its autograd function; ``differentiable``: the inputs that get a gradient,
    ``running``: loops that must have an iteration for that, ``is_witnessed``: the kernel itself sees to the rest.
    ``loop``: what it was made of, if it has gradients. ``device``: the ``torch.device`` that it runs on, if not the
    CPU; ``source`` is CUDA C++ then (`kernel_launch.py`).
    """

    name: str
    source: str
    caller: str
    inputs: tuple[Var, ...]
    stored: tuple[Var, ...]
    outputs: tuple[Var, ...]
    results: tuple[Output, ...]
    inexact: tuple[str, ...] = ()
    deciding: tuple[str, ...] = ()
    adjoint: str | None = None
    adjoint_caller: str | None = None
    differentiable: tuple[Var, ...] = ()
    running: tuple[Loop, ...] = ()
    is_witnessed: bool = False
    loop: Loop | None = None
    device: Any = None
