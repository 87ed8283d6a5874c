"""What a variable of the IR is while a kernel is written: a number, a view of a tensor, a tuple, or a fixed object."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from looplift.base.data import dataclass, field, replace
from looplift.emit.native_ops import ATOM
from looplift.emit.native_types import Scalar
from looplift.ir.grammar import Var

LEAST, GREATEST = -(2**63), 2**63 - 1


@dataclass(frozen=True)
class Number:
    """A C++ expression for one number.

    ``low`` and ``high`` bound a Python integer, ``below`` names sizes that it is less than; ``affine``: it is the
    index of a loop and a constant.
    ``homes``: the assigned variables that the text or the flag mentions; ``reads``: it reads a tensor.
    ``alias``: it is a live view of a tensor's element; ``place``: the element as C++ can assign it, of ``origin``.
    ``other``: the Python type that it has instead where ``flag`` does not hold; ``rounded`` if the C++ type may then
    have changed its value, ``zero`` if it then is 0, ``sure`` if that takes a loop without an iteration.
    ``bound``: the flag that says whether it is bound, else it is ``absent``.
    """

    text: str
    type: Scalar
    level: int = ATOM
    low: int = LEAST
    high: int = GREATEST
    below: frozenset[str] = frozenset()
    affine: tuple[str, int] | None = None
    homes: frozenset[Any] = frozenset()
    reads: bool = False
    alias: bool = False
    place: str = ""
    origin: Var | None = None
    other: Scalar | None = None
    flag: str = ""
    rounded: bool = False
    zero: bool = False
    sure: bool = False
    bound: str = ""
    absent: Any = None
    constant: Any = None

    def at(self, level: int, *, strict: bool = False) -> str:
        """The text as an operand of an operator that binds at ``level``."""
        return self.text if self.level < level or (self.level == level and not strict) else f"({self.text})"

    @property
    def is_simple(self) -> bool:
        """Whether the text is a literal or a name that never changes."""
        return not self.homes and not self.reads and self.text.lstrip("-").replace(".", "").replace("_", "").isalnum()


@dataclass(frozen=True)
class View:
    """A tensor or array, or what is left of one after some indices.

    ``root`` is the name of the C++ view, ``indices`` holds an index per axis of it, None where an axis is left.
    ``is_part``: the root is itself a part of an array, or shows all of one as another object. ``holds_objects``: it is
    a list of NumPy's numbers.
    """

    root: str
    type: Scalar
    indices: tuple[str | None, ...] = ()
    origin: Var | None = None
    homes: frozenset[Any] = frozenset()
    is_part: bool = False
    holds_objects: bool = False

    @property
    def is_list(self) -> bool:
        return self.type.is_python or self.holds_objects

    @property
    def axes(self) -> tuple[int, ...]:
        """The axes of the root that are left."""
        return tuple(axis for axis, index in enumerate(self.indices) if index is None)

    @property
    def rank(self) -> int:
        return len(self.axes)

    def size(self, axis: int) -> str:
        return f"{self.root}.size[{self.axes[axis]}]"


@dataclass(frozen=True)
class Items:
    """A tuple, or a list that is never changed, known item by item."""

    items: tuple[Value, ...]
    is_list: bool = False
    there: Number | None = None
    """Where it may be None: whether it is not. Then it is only handed out."""


@dataclass(frozen=True)
class Fixed:
    """An object known before the loop runs: None, a dtype, a string."""

    value: Any


@dataclass(frozen=True)
class Steps:
    """``range(first, limit)``."""

    first: Number
    limit: Number


@dataclass(frozen=True)
class Unknown:
    """A list of which nothing is known yet."""


@dataclass(frozen=True)
class Elements:
    """An array that is not stored: what its element at some indices is, written where they are known.

    ``origins``: the arrays that it reads. ``is_view``: in Python it would show what is stored into one of them.
    """

    sizes: tuple[Number, ...]
    type: Scalar
    at: Callable[[Any, tuple[str, ...]], Number]
    origins: frozenset[Var] = frozenset()
    homes: frozenset[Any] = frozenset()
    is_view: bool = False


@dataclass(frozen=True)
class Rows:
    """A list of the caller of lists of different lengths, which are only read. ``root`` is its name in C++."""

    root: str
    type: Scalar


Value = Number | View | Items | Fixed | Steps | Unknown | Elements | Rows


def plain(number: Number) -> Number:
    """The number as a value of its own, no longer a view of anything."""
    return replace(number, alias=False, place="", origin=None)


@dataclass
class Names:
    """Hands out C++ names that are not taken, starting from the author's."""

    taken: set[str] = field(default_factory=lambda: set(_RESERVED))

    def fresh(self, hint: str) -> str:
        base = "".join(c if c.isalnum() and c.isascii() else "_" for c in hint).strip("_") or "value"
        base = base if not base[0].isdigit() else f"value_{base}"
        name, number = base, 1
        while name in self.taken:
            number += 1
            name = f"{base}_{number}"
        self.taken.add(name)
        return name


_RESERVED = frozenset("""
alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class compl
concept const consteval constexpr constinit const_cast continue co_await co_return co_yield decltype default delete
do double dynamic_cast else enum explicit export extern false float for friend goto if inline int long mutable
namespace new noexcept not not_eq nullptr operator or or_eq private protected public register reinterpret_cast
requires return short signed sizeof static static_assert static_cast struct switch template this thread_local throw
true try typedef typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq
std math simd SEVERAL
int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t size_t NAN INFINITY INT64_MIN INT64_C
shared Shared ran is_alone Span span_of meets copy_out
View Number Rows row row_at cut reversed transposed Array same_sizes copy copied hand_out holds
Doubt Before NumPyArray Writes Held shares is_dense suits view_of
half bfloat16 Element Tape Recorder Host Watch Moment MONOTONIC moment_of this_thread moved_on
Outcome Results outside from_end smaller larger
absolute left_shift right_shift quotient_of rest_of widened overlap meets_itself length_of add_to Gradient Alike Bare
Word timespec minimum maximum floor_divide remainder_of round_to python_remainder integer_floor_divide
integer_remainder integer_fmod
checked_power wrapping_power power surprising select middle_number sort sort_range search pairwise_block pairwise_sum
with_few pairwise_part
doubt sign_of inexact range_length bits_of float_of patience host watch truncated integer_of strip_end
Maker maker made made_array made_tensor given outcome function doubts chosen again entry library codes found slots
failed functools ctypes type int
torch numpy isinstance TypeError list packed packed_rows packed_mixed numbers_of mixed_numbers_of memory_of nested
put_back unusual usual_place misplaced add_overflows sub_overflows mul_overflows infinity not_a_number stopped Bits
blockIdx threadIdx blockDim gridDim warpSize launch home_of
trips tape recorded thread results linux unix asm errno math_errhandling HUGE_VAL isnan isinf isfinite signbit main
""".split()) | frozenset(
    "done index_out_of_range integer_overflow zero_division domain_error not_exact bad_conversion unbound "
    "broken_requirement another_kind without_gradient warned aliased out_of_memory interrupted doubtful strided "
    "unsuitable_array".split()
)  # fmt: skip
