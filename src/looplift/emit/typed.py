"""A region's statements and the values that they start from in, its code as one typed program out."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

from looplift.base import declared
from looplift.base.data import dataclass
from looplift.base.errors import NotLiftable
from looplift.base.report import LoopRecord
from looplift.base.settable import has_plain_attribute
from looplift.emit.native_standalone import loader_text
from looplift.emit.typed_forms import typed_program
from looplift.emit.typed_program import TypedProgram, Writer
from looplift.emit.typed_tensor_caller import CALLER as TENSOR_CALLER
from looplift.emit.typed_tensor_caller import CALLS, WITHOUT_LOOP
from looplift.emit.typed_types import ELEMENTS, Box
from looplift.ops.names import of_libraries
from looplift.runtime import contents
from looplift.runtime.variants import RegionCode

CALLER = """\
def make(source):
    function = _library(source).run_program
    function.restype, function.argtypes = ctypes.py_object, [ctypes.py_object, ctypes.c_int64]

    def program(*values):
        return function((RequirementFailed, deque, *values{more}), {limit})

    return program


program = make(source)
"""

NUMPY = ", (numpy.ndarray, numpy.empty, numpy.bool_" + "".join(f", numpy.{one}" for one in [*ELEMENTS][1:]) + "{loops})"
FLAT = "0"
DEEP = "(sys.getrecursionlimit() - depth() - 50) // 3"
"""A call of a function that keeps its results takes three of Python's levels."""

DEPTH = """\
def depth():
    count, frame = 0, sys._getframe()
    while frame is not None:
        count, frame = count + 1, frame.f_back
    return count


"""


@dataclass
class TypedCode:
    """``text``: C++. ``caller``: Python that makes a function ``program`` of it, once it is compiled."""

    program: TypedProgram
    caller: str


def typed_code(
    program: Any, values: Mapping[str, Any], source_of: Callable[[Any], Any], others: list[Mapping[str, Any]]
) -> TypedCode:
    """Raises NotLiftable where there is no such program."""
    live_out = ["return"] if program.returns else list(program.live_out)
    found = typed_program(program.region.statements, values, live_out, source_of, others)
    limit = DEEP if found.is_deep else FLAT
    more = NUMPY.format(loops="".join(f", numpy.{one}" for one in found.loops)) if found.has_numpy else ""
    copies = found.tracked and bool(found.changes)
    tensors = TENSOR_CALLER.replace("{limit}", limit).replace("{is_tracked_and_changes}", str(copies))
    tensors = tensors.replace("{calls}", ", library_call, read_result" if found.library else "")
    if found.library:
        tensors = CALLS.replace("{calls}", "\n".join(f"    {one}," for one in found.library)) + tensors
    text = tensors if found.tensors else CALLER.format(limit=limit, more=more)
    caller = (DEPTH if found.is_deep else "") + text
    return TypedCode(found, caller)


def region_code(program: Any, typed: TypedCode, function: Callable[..., Any]) -> RegionCode:
    """The code of a region whose statements are one call of a typed program."""
    found = typed.program
    name = f"{program.name}_program"
    outside = {one: f"{name}_outside[{place}]" for place, one in enumerate(found.outside)}
    given = [outside.get(one) or found.paths.get(one, one) for one in found.inputs]
    given += [f"*{name}_classes"] if found.passes_objects else []
    call = f"{name}({', '.join(given)})"
    sets = [f"{owner}.{one}" for owner, one in found.sets]
    outs = [f"{name}_result"] if program.returns else list(program.live_out)
    targets = [*outs, *sets]
    if program.returns and not sets:
        statements = [f"return {call}"]
    else:
        statements = [f"{', '.join(targets)}{',' if len(targets) == 1 else ''} = {call}" if targets else call]
        statements += [f"return {name}_result"] if program.returns else []
    namespace: dict[str, Any] = {name: function}
    if outside:
        namespace[f"{name}_outside"] = contents.Outside([*found.outside.values()])
    if found.passes_objects:
        namespace[f"{name}_classes"] = [made for made, _ in found.classes]
    guards = []
    if found.callees:
        namespace |= {"_same_callees": contents.same_callees, "_callees": found.callees}
        guards.append("_same_callees(_callees)")
    if found.classes:
        namespace |= {"_same_classes": contents.same_classes, "_classes": found.classes}
        guards.append("_same_classes(_classes)")
    guards += declared.conditions(found.reads, namespace)
    guards += of_libraries(found.functions, namespace)
    if found.overriding:
        namespace |= {"_same_methods": contents.same_methods, "_methods": found.overriding}
        guards.append("_same_methods(_methods)")
    if found.tables:
        namespace |= {"_same_tables": contents.same_tables, "_tables": found.tables}
        guards.append("_same_tables(_tables)")
        namespace["_named_tables"] = found.named_tables
        guards += [f"{one} is _named_tables[{one!r}]" for one in found.named_tables]
    guards += [_equals(path, value) for path, value in found.equal.items()] + found.told_apart
    if sets:
        namespace["_has_plain_attribute"] = has_plain_attribute
        guards += [f"_has_plain_attribute({owner}, {one!r})" for owner, one in found.sets]
    lines = [place[0] for place in program.loops] or [program.line]
    has_singles = any(f"{array}<float," in found.text for array in ("Ten", "Arr"))
    narrow = dict.fromkeys(["result", *found.changes, *sets], "float32") if has_singles else {}
    return RegionCode(
        statements, namespace, [standalone(name, typed)], guards, list(found.modules), found.changes,
        objects=[one for one, type_ in found.types.items() if isinstance(type_, Box) and type_.find().made],
        rounded_to=narrow, sets=sets,
        decisions=[LoopRecord(program.file, line, "native", notes=list(found.notes)) for line in lines],
    )  # fmt: skip


def _equals(path: str, value: Any) -> str:
    if value is None or isinstance(value, bool):
        return f"{path} is {value}"
    if isinstance(value, float) and (not value or value - value != 0):  # a zero has a sign, others no expression
        return f"type({path}) is float and repr({path}) == {repr(value)!r}"
    return f"type({path}) is {type(value).__name__} and {path} == {value!r}"


def standalone(name: str, typed: TypedCode) -> str:
    """Python that defines the program's function without looplift."""
    caller = typed.caller.replace("RequirementFailed", "RuntimeError").replace("program = make(source)", "")
    caller = caller.rstrip() + f"\n\n\n{name} = make({name}_source)\n"
    text = f'{name}_source = r"""\n{typed.program.text}"""\n'
    numpy = "import numpy\n" if typed.program.has_numpy else ""
    seconds = f"{WITHOUT_LOOP}\n\n" if typed.program.tensors else ""
    return f"{loader_text()}\n\nimport sys\n{numpy}from collections import deque\n\n{text}\n\n{seconds}{caller}"


def whole_function(
    statements: list[ast.stmt],
    values: Mapping[str, Any],
    source_of: Callable[[Any], Any],
    *,
    loops: bool,
    objects: bool,
) -> bool:
    """Whether all that a function does is one typed program for these values, with ``loops`` or recursion in it.

    ``objects``: it has functions or containers that only such a program knows.
    """
    region: Any = SimpleNamespace(region=SimpleNamespace(statements=statements), returns=True, live_out=())
    try:
        if not objects and Writer(statements, values, [], source_of, []).joins.tensors:
            return False
        found = typed_code(region, values, source_of, []).program
        if found.has_numpy:  # of loops over arrays alone other forms know more
            functions = any(isinstance(one, ast.FunctionDef) for one in statements)
            return found.is_deep or found.makes_missing or functions
        return found.is_of_objects if found.tensors else found.is_deep or loops
    except NotLiftable:
        return False
