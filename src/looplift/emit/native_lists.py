"""Lists that a kernel makes and that grow."""

from __future__ import annotations

from looplift.emit import native_handed, native_stacks
from looplift.emit.native_allocation import owned, view_text
from looplift.emit.native_arrays import as_list
from looplift.emit.native_convert import convert
from looplift.emit.native_flow import ArrayType
from looplift.emit.native_mixed import are_mixed, copy_line, element_type_of, widens
from looplift.emit.native_types import MIXED
from looplift.emit.native_values import Items, Names, Number, Unknown, Value, View
from looplift.emit.native_writer import Writer
from looplift.ir.grammar import Append, Block, Const, Let, Loop, Statement, Var, uses, walk


def empty_list(writer: Writer, var: Var, rest: tuple[Statement, ...]) -> Value:
    """``[]``: what is appended to it later says what it holds."""
    first = next((statement for statement in rest if var in writer.flow.reads(statement)), None)
    if var not in writer.findings.items and first is not None:
        find_items(writer, var, rest[: rest.index(first) + 1])
    if isinstance(first, Loop) and _appends(first, var) == writer.flow.appends[var]:
        writer.findings.closed.add(var)
    if var not in writer.findings.items:
        return Items((), is_list=True)
    return growing(writer, var, writer.findings.items[var])


def started(writer: Writer, statement: Let, value: Value, rest: tuple[Statement, ...]) -> Value:
    """A list that begins with some items, ready to grow if it does."""
    var = statement.var
    if isinstance(value, Items) and (stack := _begun(writer, statement, value)) is not None:
        return stack
    if isinstance(value, Items) and value.is_list:
        value = as_list(writer, value)
    if isinstance(value, View) and value.is_list and value.origin is var and not value.is_part:
        writer.findings.items[var] = ArrayType(value.type, value.rank, value.holds_objects)
        writer.grows(value.root)
        first = next((statement for statement in rest if var in writer.flow.reads(statement)), None)
        if isinstance(first, Loop) and _appends(first, var) == writer.flow.appends[var]:
            writer.findings.closed.add(var)
    return value


def _begun(writer: Writer, statement: Let, value: Items) -> View | None:
    """A list that begins with arrays and is only stacked; None for any other."""
    kinds = [native_stacks.kind_of_stack(writer, statement.var, item) for item in value.items]
    if not kinds or kinds[0] is None or statement.op.name != "list" or any(kind != kinds[0] for kind in kinds):
        return None
    view = growing(writer, statement.var, kinds[0])
    writer.findings.items[statement.var] = kinds[0]
    for item, atom in zip(value.items, statement.op.args, strict=True):
        assert isinstance(atom, Var | Const)
        append(writer, view, native_stacks.settled(writer, item, atom, statement))
    return view


def _appends(loop: Loop, var: Var) -> int:
    return sum(isinstance(statement, Append) and statement.ref is var for statement in walk(loop.body))


def append_item(writer: Writer, statement: Append) -> None:
    ref, value = statement.ref, writer.value(statement.value)
    target = writer.value(ref)
    is_stack = native_stacks.kind_of_stack(writer, ref, value) is not None
    if is_stack:
        value = native_stacks.settled(writer, value, statement.value, statement)
    if isinstance(target, Unknown):
        note_item(writer, ref, value)
        return
    if not isinstance(target, View) or target.origin not in writer.findings.items:
        raise writer.refuse("not-scalar", f"'{ref.hint}' grows in the loop")
    is_handed = (
        isinstance(value, View) and value.origin in writer.findings.made and native_handed.is_handed_over(writer, value)
    )
    if isinstance(value, View) and not (is_stack or is_handed):
        raise writer.refuse("aliasing", f"'{ref.hint}' takes a list that is known under another name")
    append(writer, target, value)


def find_items(writer: Writer, var: Var, statements: tuple[Statement, ...]) -> None:
    """Write statements, the last of which appends to a list, only to see what it appends."""
    from looplift.emit import native_statements

    kept = (writer.lines, writer.names, writer.values, writer.provisional, writer.proven, writer.flow.homes)
    names = {home: (home.name, home.flag, home.bound, home.array) for home in writer.flow.homes.values()}
    place = (writer.hoists, writer.current, writer.hint, writer.span, writer.noted, writer.depth)
    writer.hoists = [None]
    writer.lines, writer.names, writer.values = [], Names(set(writer.names.taken)), {**writer.values, var: Unknown()}
    writer.provisional, writer.proven = True, set(writer.proven)
    try:
        for position, statement in enumerate(statements):
            native_statements.write(writer, statement, statements[position + 1 :], ())
    finally:
        writer.lines, writer.names, writer.values, writer.provisional, writer.proven, writer.flow.homes = kept
        writer.hoists, writer.current, writer.hint, writer.span, writer.noted, writer.depth = place
        for home, fields in names.items():
            home.name, home.flag, home.bound, home.array = fields


def passed_over(writer: Writer, loop: Loop) -> bool:
    """Whether a loop only reads a list that is not known yet: its results are taken to be of the kinds before it."""
    unknown = {var for var, value in writer.values.items() if isinstance(value, Unknown)}
    inside = walk(Block((loop,)))
    reads = any(atom in unknown for statement in inside for atom in uses(statement))
    appends = any(isinstance(statement, Append) and statement.ref in unknown for statement in walk(Block((loop,))))
    if not reads or appends:
        return False
    for carry in loop.carries:
        writer.values[carry.after] = writer.value(carry.init)
    return True


def note_item(writer: Writer, ref: Var, value: Value) -> None:
    """What is appended to a list that is not known yet."""
    if (stack := native_stacks.kind_of_stack(writer, ref, value)) is not None:
        writer.findings.items[ref] = stack
    elif isinstance(value, Number) and value.type.family != "tensor":
        writer.findings.items[ref] = ArrayType(value.type, 1, not value.type.is_python)
    elif isinstance(value, View) and value.type.is_python:
        writer.findings.items[ref] = ArrayType(value.type, value.rank + 1)
    else:
        raise writer.refuse("not-scalar", f"'{ref.hint}' holds something else than numbers")


def growing(writer: Writer, var: Var, kind: ArrayType) -> View:
    """An empty list that grows."""
    kind = kind._replace(scalar=element_type_of(writer, kind.scalar))
    name = writer.fresh(var.hint if var.hint not in ("t", "items") and not var.hint.startswith("_") else "items")
    writer.line(f"{kind.cpp} {name};")
    writer.grows(name)
    return owned(writer, name, kind)


def append(writer: Writer, target: View, value: Value) -> None:
    """``list.append(value)`` of a number, or of a list that nobody else holds."""
    writer.hint = target.origin.hint if target.origin is not None else ""
    if isinstance(value, Number | View) and value.type != target.type and are_mixed(value.type, target.type):
        if target.type != MIXED and widens(writer, target, value.type):
            return
        if target.type == MIXED and isinstance(value, Number) and not (value.other or value.bound):
            value = convert(writer, value, MIXED)
    if isinstance(value, Number):
        if target.rank != 1 or value.type != target.type or value.other is not None or value.alias or value.bound:
            raise writer.refuse("mixed-kinds", f"'{writer.hint}' holds different kinds of values")
        writer.line(f"if (!{target.root}.push({value.text})) return out_of_memory;")
        return
    if not isinstance(value, View) or value.rank + 1 != target.rank or target.type not in (value.type, MIXED):
        raise writer.refuse("mixed-kinds", f"'{writer.hint}' holds different kinds of values")
    row = view_text(value)
    for axis in range(value.rank):
        own = f"{target.root}.size[{axis + 1}]"
        writer.line(f"if ({target.root}.size[0] == 0) {own} = {value.size(axis)};")
        writer.fail_if(f"{own} != {value.size(axis)}", "broken_requirement")
    full = f"{target.root}.size[0] == {target.root}.capacity"
    writer.line(f"if ({full} && !{target.root}.reserve(2 * {target.root}.capacity + 8)) return out_of_memory;")
    place = f"row_at<0>({target.root}, {target.root}.size[0]++)"
    writer.line(copy_line(place, row, value.type, target.type))
