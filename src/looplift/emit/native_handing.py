"""Python text that hands lists to a kernel and takes arrays and lists from it."""

from __future__ import annotations

from collections.abc import Iterable

from looplift.emit.native_mixed import HAND_OVER_MIXED, PACK_MIXED, UNPAIRED
from looplift.emit.native_signature import ArrayResult, Parameter, Signature
from looplift.emit.native_types import MIXED, Scalar
from looplift.emit.native_writer import Adopted
from looplift.ir.grammar import Var
from looplift.ir.kernel_entry import NUMBERS

PACK = '''
import array
import itertools


def nested_rows(items, depth, writes):
    """The numbers in a list, or in lists of lists, with its sizes and the innermost lists."""
    sizes, rows = [len(items)], [items]
    for level in range(depth - 1):
        rows = list(itertools.chain.from_iterable(rows)) if level else items
        if not set(map(type, rows)) <= ({list} if writes else {list, tuple}):
            raise failed({another_kind})
        if len(set(map(len, rows))) > 1 or (writes and len(set(map(id, rows))) < len(rows)):
            raise failed({aliased})
        sizes.append(len(rows[0]) if rows else 0)
    return list(itertools.chain.from_iterable(rows)) if depth > 1 else items, sizes, rows


def packed(items, depth, kind, writes):
    """A list of numbers, or of lists of them, as one array of numbers, and its sizes."""
    numbers, sizes, rows = nested_rows(items, depth, writes)
    if numbers and set(map(type, numbers)) != {kind}:
        raise failed({another_kind})
    try:
        return array.array({float: "d", int: "q", bool: "b"}[kind], numbers), sizes, rows
    except OverflowError:
        raise failed({integer_overflow}) from None


def packed_rows(items, kind):
    """Lists of numbers, of any lengths, as one array of numbers, where each list ends, and the lists."""
    numbers, ends = [], [0]
    for row in items:
        if type(row) is not list and type(row) is not tuple:
            raise failed({another_kind})
        numbers += row
        ends.append(len(numbers))
    if numbers and set(map(type, numbers)) != {kind}:
        raise failed({another_kind})
    try:
        return array.array({float: "d", int: "q", bool: "b"}[kind], numbers), array.array("q", ends), items
    except OverflowError:
        raise failed({integer_overflow}) from None


def keep_apart(*lists):
    """Lists that are changed share no rows."""
    rows = [row for _, _, rows in lists for row in rows]
    if len(set(map(id, rows))) < len(rows):
        raise failed({aliased})


def put_back(packed, kind):
    """The numbers that a kernel changed, in the lists that they came from."""
    numbers, sizes, rows = packed
    numbers = list(map(bool, numbers)) if kind is bool else numbers.tolist()
    for place, row in enumerate(rows):
        row[:] = numbers[place * sizes[-1] : (place + 1) * sizes[-1]]

'''
HAND_OVER = '''

def numbers_of(handed, kind):
    """What a kernel made, as nested lists."""
    sizes, count = list(handed[3:]), 1
    for size in sizes:
        count *= size
    numbers = (kind * count).from_address(handed[2])[:] if count else []
    function_release(handed[1])
    return nested(numbers, sizes)


def nested(numbers, sizes):
    if len(sizes) == 1:
        return numbers
    width = len(numbers) // sizes[0] if sizes[0] else 0
    return [nested(numbers[row * width : (row + 1) * width], sizes[1:]) for row in range(sizes[0])]


def memory_of(handed, array, address, size):
    """What a kernel made, in a new tensor or array."""
    ctypes.memmove(address, handed[2], size)
    function_release(handed[1])
    return array

'''


def _numbered(text: str) -> str:
    from looplift.ir.kernel import OUTCOMES

    for number, name in enumerate(OUTCOMES):
        text = text.replace(f"{{{name}}}", str(number))
    return text


PACK, HAND_OVER, PACK_MIXED = _numbered(PACK), _numbered(HAND_OVER), _numbered(PACK_MIXED)


def list_helpers(given: list[Scalar], handed: list[Scalar]) -> str:
    """The functions that pack the lists that a kernel is given, and unpack what it hands out, by their types."""
    texts = [PACK] if given else []
    texts += [UNPAIRED] if MIXED in (*given, *handed) else []
    texts += [PACK_MIXED] if MIXED in given else []
    texts += [HAND_OVER] if handed else []
    texts += [HAND_OVER_MIXED] if MIXED in handed else []
    return "".join(texts)


def stored_back(stored: tuple[Var, ...], signature: Signature, arguments: dict[Var, str]) -> list[str]:
    """The lines that change the lists of the caller."""
    lists = [signature.of(var) for var in stored if signature.of(var).kind.family == "list"]
    return [_put_back(f"{arguments[p.var]}_packed", p.scalar) for p in lists]


def _put_back(packed: str, scalar: Scalar) -> str:
    return f"put_back_mixed({packed})" if scalar == MIXED else f"put_back({packed}, {_python(scalar.name)})"


def _python(name: str) -> str:
    return {"float64": "float", "int64": "int", "bool": "bool"}[name]


def makers(adopted: Iterable[Adopted]) -> list[str]:
    """The functions that make the tensors which a kernel hands out."""
    names = dict.fromkeys(one.scalar.name for one in adopted if one.scalar.family == "tensor")
    return [f"new_{name} = functools.partial(torch.empty, dtype=torch.{name})" for name in names]


def places(adopted: Iterable[Adopted]) -> str:
    """The list in which a kernel puts what it makes: a tensor takes the place of the function that makes it."""
    items = (f"new_{one.scalar.name}" if one.scalar.family == "tensor" else "None" for one in adopted)
    return f"made = [{', '.join(items)}]"


def array_text(result: ArrayResult, arguments: dict[Var, str]) -> str:
    """The array that a kernel hands out: one of the inputs, or what it made."""
    assert result.view is not None
    text = _made(result) if result.adopted is None else f"made[{result.adopted}]"
    for parameter in result.inputs:
        text = f"{arguments[parameter.var]} if {result.name}[0] == {_number(parameter)} else {text}"
    return text


def _number(parameter: Parameter) -> int:
    assert parameter.number is not None
    return parameter.number


def _made(result: ArrayResult) -> str:
    assert result.view is not None
    name, scalar = result.name, result.view.type
    shape = ", ".join(f"{name}[{3 + axis}]" for axis in range(result.view.rank))
    if scalar == MIXED:
        return f"mixed_numbers_of({name})"
    if scalar.is_python:
        return f"numbers_of({name}, ctypes.{NUMBERS[scalar.name]})"
    library = "torch" if scalar.family == "tensor" else "numpy"
    dtype = "bool_" if scalar.is_bool and library == "numpy" else scalar.name
    made = f"{name}_new"
    address = f"{made}.data_ptr()" if library == "torch" else f"{made}.ctypes.data"
    size = f"{made}.numel() * {scalar.size}" if library == "torch" else f"{made}.nbytes"
    text = f"memory_of({name}, {made} := {library}.empty(({shape},), dtype={library}.{dtype}), {address}, {size})"
    return f"list({text})" if result.view.holds_objects else text
