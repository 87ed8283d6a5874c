"""Lists of arrays that a kernel makes only to stack them: growing arrays of one more dimension, which take copies.

frames = [u.copy()]              frames: Array<double, 2>
for _ in range(n):               for (...) {
    u = step(u)                      u = ...
    frames.append(u)                 copy(row_at<0>(frames, frames.size[0]++), u);
np.stack(frames)                 }

That is right where no item is changed after it was taken.
"""

from __future__ import annotations

from collections.abc import Iterator

from looplift.base.data import replace
from looplift.emit.native_access import getitem
from looplift.emit.native_allocation import allocate, copied, sizes_of, view_text
from looplift.emit.native_flow import ArrayType
from looplift.emit.native_ops import ADD, COMPARE
from looplift.emit.native_types import INT
from looplift.emit.native_values import Items, Number, Value, View
from looplift.emit.native_writer import Writer
from looplift.ir.grammar import (
    Append,
    Atom,
    Block,
    Const,
    If,
    Let,
    Loop,
    Op,
    Operand,
    Perform,
    Range,
    Statement,
    Store,
    Var,
    children,
    operands,
    uses,
    walk,
)

_STACKS = ("np.array", "np.asarray", "np.stack", "torch.stack")
_LENGTHS = ("builtin.len", "iter_len")
_ITEMS = ("getitem", "iter_item")
_JOINS = ("np.concatenate", "torch.cat", "torch.concat")
_CREATIONS = frozenset(
    "clone copy zeros ones empty full zeros_like ones_like empty_like full_like matmul mv mm dot outer where "
    "sum mean max min amax amin argmax argmin prod norm std var sin cos tan tanh sinh cosh exp log sqrt square sigmoid "
    "abs pow maximum minimum clip clamp relu floor ceil round sign cumsum sort argsort roll flip".split()
)
_OPERATORS = frozenset("add sub mul truediv floordiv mod pow neg abs matmul lt le gt ge eq ne invert".split())


def _is_fresh(op: Op) -> bool:
    """Whether the result of an operation is memory of its own: ``np.flip`` is a view."""
    owner, _, short = op.name.rpartition(".")
    if op.name == "np.flip":
        return False
    return short in _OPERATORS if not owner else short in _CREATIONS and owner in ("torch", "np", "method")


# ---------------------------------------------------------------- which lists


def is_stacked(writer: Writer, var: Var) -> bool:
    """Whether a list is only appended to, asked for its length, read item by item, and stacked."""
    readers = [statement for statement in walk(writer.flow.loop.body) if var in uses(statement)]
    whole = any(isinstance(s, Let) and (_is_stack(s.op) or s.op.name in _ITEMS) for s in readers)
    return whole and var not in writer.flow.kept and all(_is_reader(statement, var) for statement in readers)


def _is_reader(statement: Statement, var: Var) -> bool:
    match statement:
        case Append(ref=ref, value=value):
            return ref is var and value is not var
        case Let(op=op):
            alone = op.args[0] is var and all(operand is not var for operand in list(operands(op))[1:])
            is_item = op.name in _ITEMS and isinstance(op.args[1], Var | Const)
            return alone and (_is_stack(op) or is_item or op.name in _LENGTHS)
        case Loop(domain=Range(source=source)):
            return source is var and list(uses(statement)).count(var) == 1
    return False


def _has_items_read(writer: Writer, var: Var) -> bool:
    lets = (s for s in walk(writer.flow.loop.body) if isinstance(s, Let) and s.op.name in _ITEMS)
    return any(let.op.args[0] is var for let in lets)


def _is_stack(op: Op) -> bool:
    """Whether an operation stacks a list along a new first dimension."""
    others = [*op.args[1:], *(value for name, value in op.kwargs if name in ("axis", "dim"))]
    along = all(isinstance(other, Const) and other.value == 0 for other in others)
    return op.name in _STACKS and along and len(op.args) + len(op.kwargs) == 1 + len(others) and len(others) < 2


# ---------------------------------------------------------------- whether an item changes later


def is_settled(writer: Writer, item: Atom, taken: Statement) -> bool:
    """Whether an array stays as it is when a list takes it: no statement changes memory in place that may be its own,
    except of an array that is made anew each time, before the list takes it or for the first time after it."""
    if not isinstance(item, Var):
        return False
    body, given = writer.flow.loop.body, set(writer.inputs)
    order = {id(statement): k for k, statement in enumerate(walk(body))}
    made = {s.var: s for s in walk(body) if isinstance(s, Let)}
    same, root = _names_of(writer, item), _root(item, made)
    block = next((b for b in _blocks(body) if any(s is taken for s in b)), body)
    before = {id(s) for s in walk(Block(tuple(s for s in block if order[id(s)] < order[id(taken)])))}
    for statement in walk(body):
        changed = _changed(statement)
        if isinstance(statement, Perform):
            return False
        if changed is None:
            continue
        memory = _root(changed, made)
        maker = made.get(memory) if isinstance(memory, Var) else None
        if maker is None or not _is_fresh(maker.op):
            if changed in same or (same & given and _names_of(writer, changed) & given):
                return False  # two arrays of the caller may be one memory
        elif memory in same:
            is_own = memory is root and any(s is maker for s in block) and id(statement) in before
            comes_later = block is body and order[id(taken)] < order[id(maker)]
            if not (is_own or comes_later):
                return False
    return True


def _changed(statement: Statement) -> Atom | None:
    """What a statement changes in place."""
    if isinstance(statement, Store):
        return statement.ref
    if isinstance(statement, Let) and statement.op.name.startswith("inplace."):
        return statement.op.args[0]  # type: ignore[return-value]
    return None


def _root(atom: Atom | None, made: dict[Var, Let]) -> Atom | None:
    """The array that a name of one iteration is, or is a part of."""
    while isinstance(atom, Var) and atom in made:
        op = made[atom].op
        if not (op.name.startswith("inplace.") or op.name in ("copy", "getitem", "iter_item")):
            break
        atom = op.args[0]  # type: ignore[assignment]
    return atom


def _names_of(writer: Writer, item: Atom) -> set[Atom]:
    """Every name that may stand for the memory of an array, in any iteration."""
    groups = list(_shared(writer))
    found: set[Atom] = {item}
    while True:
        more = {atom for group in groups if not found.isdisjoint(group) for atom in group} - found
        if not more:
            return found
        found |= more


def _shared(writer: Writer) -> Iterator[set[Atom]]:
    """Names that may share memory with one another; what is stored into an array is copied."""
    for statement in walk(writer.flow.loop.body):
        match statement:
            case Let(var=var, op=op) if not (_is_fresh(op) or _is_stack(op)):
                yield {var, *_variables(operands(op))}
            case If(phis=phis):
                for phi in phis:
                    yield {phi.var, *_variables((phi.then, phi.orelse))}
            case Loop(carries=carries):
                for carry in carries:
                    yield {carry.inside, carry.after, *_variables((carry.init, carry.next))}
            case Append(ref=ref, value=value) if _has_items_read(writer, ref) or not is_stacked(writer, ref):
                yield {ref, *_variables((value,))}


def _variables(atoms) -> list[Var]:
    return [atom for atom in atoms if isinstance(atom, Var)]


def _blocks(block: Block) -> Iterator[Block]:
    yield block
    for statement in block:
        for inner in children(statement):
            yield from _blocks(inner)


# ---------------------------------------------------------------- lists that grow


def kind_of_stack(writer: Writer, ref: Var, item: Value) -> ArrayType | None:
    """What a list of arrays, or of tensors of one number, grows as; None if it is more than stacked."""
    if isinstance(item, View) and item.rank and not item.is_list and is_stacked(writer, ref):
        return ArrayType(item.type, item.rank + 1)
    if isinstance(item, Number) and item.type.family == "tensor" and is_stacked(writer, ref):
        return ArrayType(item.type, 1)
    return None


def settled(writer: Writer, item: Value, atom: Atom, taken: Statement) -> Value:
    """An item as it is now, which it stays; refused if something may change it."""
    if not is_settled(writer, atom, taken):
        raise writer.refuse("aliasing", f"'{getattr(atom, 'hint', '')}' is put into a list, and may change later")
    if isinstance(item, Number):
        return replace(item, alias=False, place="", origin=None)
    return item


def stack_of(writer: Writer, op: Op) -> View | None:
    """``np.stack(frames)`` and ``torch.cat((first, rest))``; None for any other operation."""
    if op.name in _JOINS:
        return _joined(writer, op)
    value = writer.operand(op.args[0]) if _is_stack(op) and isinstance(op.args[0], Var) else None
    if not isinstance(value, View) or value.is_list or value.origin not in writer.findings.items:
        return None
    writer.fail_if(f"{value.root}.size[0] == 0", "broken_requirement")
    writer.findings.has_vectors = True
    return copied(writer, value)


def item_of(writer: Writer, owner: Value, index: Operand) -> Value | None:
    """An item of such a list, which nothing changes, as a copy: the list may move when it grows; None for others."""
    if not isinstance(owner, View) or owner.is_list or owner.origin not in writer.findings.items:
        return None
    if writer.current is None or _is_told_apart(writer, writer.current):
        raise writer.refuse("aliasing", f"an item of '{owner.origin.hint}' is handed out, or told from its copy")
    found = getitem(writer, owner, index)
    if isinstance(found, Number):
        return writer.bind(replace(found, alias=False, place="", origin=None), "item")
    assert isinstance(found, View)
    return copied(writer, found)


def _is_told_apart(writer: Writer, var: Var) -> bool:
    """Whether it matters that a name is of this array, and not of a copy: it is handed out, or asked who it is."""
    found: set[Atom] = {var}
    more = found
    while more:
        more = {name for name, sources in _passed_on(writer) if not found.isdisjoint(sources)} - found
        found |= more
    asks = (s for s in walk(writer.flow.loop.body) if isinstance(s, Let) and s.op.name in ("is_", "is_not"))
    return bool(found & writer.flow.kept) or any(not found.isdisjoint(operands(let.op)) for let in asks)


def _passed_on(writer: Writer) -> Iterator[tuple[Var, list[Var]]]:
    """Each name that may be of an array that has another name, with these."""
    for statement in walk(writer.flow.loop.body):
        match statement:
            case Let(var=var, op=op) if not (_is_fresh(op) or _is_stack(op)):
                yield var, _variables(operands(op))
            case If(phis=phis):
                for phi in phis:
                    yield phi.var, _variables((phi.then, phi.orelse))
            case Loop(carries=carries):
                for carry in carries:
                    for name in (carry.inside, carry.after):
                        yield name, _variables((carry.init, carry.next))


def _joined(writer: Writer, op: Op) -> View | None:
    """Arrays one after the other, along their first dimension."""
    if len(op.args) != 1 or op.kwargs:
        return None
    items = writer.operand(op.args[0])
    parts = [part for part in items.items if isinstance(part, View)] if isinstance(items, Items) else []
    if not parts or len(parts) < len(items.items) or any(part.is_list or not part.rank for part in parts):  # type: ignore[union-attr]
        return None
    if len({(part.type, part.rank) for part in parts}) > 1:
        raise writer.refuse("mixed-kinds", "arrays of different kinds are joined")
    first, *rest = [sizes_of(writer, part) for part in parts]
    for sizes in rest:
        for own, size in zip(sizes[1:], first[1:], strict=True):
            if own.text != size.text:
                writer.fail_if(f"{own.at(COMPARE)} != {size.at(COMPARE)}", "broken_requirement")
    length = " + ".join(sizes[0].at(ADD) for sizes in (first, *rest))
    count = writer.bind(Number(length, INT, ADD, low=0, high=2**47), "count")
    made = allocate(writer, parts[0].type, [count, *first[1:]])
    writer.findings.has_vectors = True
    start = "0"
    for part in parts:
        stop = f"{start} + {part.size(0)}"
        writer.line(f"copy(cut<0>({made.root}, {start}, {stop}, 1), {view_text(part)});")
        start = stop
    return made
