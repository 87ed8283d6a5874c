"""Names that hold one array after another: carried arrays, and those that an if chooses."""

from __future__ import annotations

from looplift.emit.native_flow import ArrayType, Home
from looplift.emit.native_mixed import are_mixed, note
from looplift.emit.native_types import MIXED
from looplift.emit.native_values import View
from looplift.emit.native_writer import Writer
from looplift.ir.grammar import Carry, Phi, Var


def array_type(view: View) -> ArrayType:
    return ArrayType(view.type, view.rank, view.holds_objects)


def lend(writer: Writer, view: View) -> str:
    """A whole array as the value of a name that may hold others."""
    if view.rank < len(view.indices) or view.is_part:
        raise writer.refuse("not-scalar", "a row of an array under a name that holds others later")
    if view.origin in writer.findings.items and view.origin not in writer.findings.closed:
        raise writer.refuse("not-scalar", "a list that grows under a name that holds others later")
    if view.origin is None:
        return view.root
    number = writer.inputs.get(view.origin)
    if number is None:
        writer.findings.lent |= {view.origin} & writer.findings.made
        return view.root
    if view.root != writer.input_roots.get(view.origin):
        raise writer.refuse("not-scalar", "a part of an array under a name that holds others later")
    writer.findings.lent.add(view.origin)
    kind = array_type(view)
    return f"{kind.cpp}({view.root}, {number})"


def declare(writer: Writer, home: Home, carry: Carry, init: View) -> None:
    """The variable of a carried array; a loop inside of another may go on with that of the other."""
    if carry.inside in writer.findings.mixed and init.type != MIXED:
        note(writer, init.origin)
    if home.name:
        writer.findings.renamed |= {carry.inside, carry.after}
        return assign(writer, home, init, sized=True)
    home.array = array_type(init)
    text = lend(writer, init)
    home.name = writer.fresh(home.hint)
    start = f"{home.array.cpp} {home.name}"
    writer.line(f"{start}{text.removeprefix(home.array.cpp)};" if text.startswith("Array") else f"{start} = {text};")
    writer.findings.renamed |= {carry.inside, carry.after}


def held(writer: Writer, home: Home, var: Var) -> View:
    """What the variable holds."""
    assert home.array is not None
    writer.findings.renamed.add(var)
    writer.findings.origins[var] = var
    kind = home.array
    homes = frozenset({home})
    return View(home.name, kind.scalar, (None,) * kind.rank, var, homes, holds_objects=kind.holds_objects)


def assign(writer: Writer, home: Home, view: View, *, sized: bool) -> None:
    """Let a name hold another array, of the same sizes, so that what was proven of indices still holds."""
    if home.array != array_type(view) and home.array is not None and _widened(writer, home, view):
        return
    if home.array != array_type(view):
        raise writer.refuse("mixed-kinds", f"'{home.hint}' holds arrays of different kinds")
    if view.root == home.name:
        return
    text = lend(writer, view)
    if sized:
        writer.fail_if(f"!same_sizes({home.name}, {view.root})", "broken_requirement")
    writer.line(f"{home.name} = {text};")


def _widened(writer: Writer, home: Home, view: View) -> bool:
    """Whether the lists that a name holds have to take integers and floats both; it is noted for the next pass."""
    assert home.array is not None
    if home.array._replace(scalar=view.type) != array_type(view) or not are_mixed(home.array.scalar, view.type):
        return False
    holders = [var for var, other in writer.flow.homes.items() if other is home]
    origins = [view.origin] if home.array.scalar == MIXED else holders
    return writer.findings.mixes and all([note(writer, origin) for origin in origins])


def declare_phi(writer: Writer, home: Home, phi: Phi, views: list[View]) -> None:
    writer.findings.renamed.add(phi.var)
    if home.name:  # the variable of what is carried
        return
    home.array = array_type(views[0])
    home.name = writer.fresh(home.hint)
    writer.line(f"{home.array.cpp} {home.name};")
