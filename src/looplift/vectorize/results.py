"""What leaves the region in; which of it is one object or shares memory in the loop out, and a reason where the
batched code cannot have it so.

A value comes from a place: an argument, or the statement that makes it. Results that may come from one place are one
object, or views of one, or items of a list that holds both; all others have memory of their own.
"""

from __future__ import annotations

from looplift.base.data import dataclass
from looplift.ir.array import Assign, Node, anew, every_step, reachable
from looplift.ir.facts import Kind
from looplift.ir.grammar import Append, Atom, If, Let, Loop, Op, Var, as_atom, operands, walk
from looplift.ops import table
from looplift.vectorize import devices, flow, lists, sharing, views
from looplift.vectorize.context import Context
from looplift.vectorize.nodes import Val, as_array, shown
from looplift.vectorize.subscripts import Along


@dataclass(frozen=True)
class Memory:
    """The places that a value may come from; whether it is always the same one of them, as an object or a view."""

    places: frozenset[Var]
    certain: bool = True

    def or_else(self, other: Memory) -> Memory:
        return Memory(self.places | other.places, False)


NOWHERE = Memory(frozenset())

OF_COLUMNS = (*table.ZIPPED, "mapping")


@dataclass(eq=False)
class Leaf:
    """One array or list among the results; ``memory`` is None where nothing is known of it."""

    atom: Atom | None
    node: Node
    memory: Memory | None


def results_of(context: Context) -> tuple[list[tuple[str, Node]], list[frozenset[Var] | None]]:
    """The nodes of the results, and for each leaf of them the memory that it may be of."""
    leaves: list[Leaf] = []
    made = []
    for key, atom in context.facts.function.results:
        made.append((key, _node(context, key, atom, context.val(atom), leaves)))
    last = _last_items(context, leaves)
    _check_shared(context, leaves)
    displays: dict[int, Node] = {}
    return [(key, _with(node, last, displays)) for key, node in made], [_own_places(context, leaf) for leaf in leaves]


def _own_places(context: Context, leaf: Leaf) -> frozenset[Var] | None:
    """The places of what the region makes; an argument that is handed back stays the object that it is."""
    places = leaf.memory.places if leaf.memory is not None and _may_hold_arrays(leaf.node.kind) else None
    return None if places is None or places & {*context.facts.function.params} else places


def _may_hold_arrays(kind: Kind) -> bool:
    unknown = kind.family == "list" and not kind.items
    return kind.is_array or unknown or any(map(_may_hold_arrays, kind.items))


def _node(context: Context, key: str, atom: Atom | None, val: Val, leaves: list[Leaf]) -> Node:
    if atom is not None:
        views.check_result(context, key, atom)
    if isinstance(val.sequence, lists.Continued):
        first = [_node(context, key, one, context.val(one), leaves) for one in val.sequence.first]
        rest = _leaf(context, atom, lists.returned(context, val.sequence.rest), leaves)
        own = {"kind": "list", "continued": True, "own": atom}
        return Node("display", (*first, rest), (), Kind("tuple"), own)
    if val.sequence is not None and isinstance(val.sequence, lists.Built):
        return _leaf(context, atom, lists.returned(context, val.sequence), leaves)
    if val.items is not None:
        inner = _items(context, atom, len(val.items))
        made = tuple(_node(context, key, a, item, leaves) for a, item in zip(inner, val.items, strict=True))
        own = {"own": val.node.serial}  # two lists are two objects, even if they hold the same
        listed = Node("display", made, (), Kind("tuple"), val.node.attrs | own)
        return _sized(listed) if _is_size(context, atom) else listed
    if val.node.axes:
        raise context.refuse("internal", "a result that still varies with a loop")
    return _leaf(context, atom, val.node, leaves)


def _is_size(context: Context, atom: Atom | None) -> bool:
    """Whether a tuple is the shape of a tensor, a class of its own."""
    return isinstance(atom, Var) and type(context.facts[atom].sample).__name__ == "Size"


def _sized(numbers: Node) -> Node:
    return Node("apply", (numbers,), (), numbers.kind, {"name": "torch.Size", "kwargs": [], "positional": 1})


def _leaf(context: Context, atom: Atom | None, node: Node, leaves: list[Leaf]) -> Node:
    if (same := next((one for one in leaves if _are_one(context, one, atom, node)), None)) is not None:
        leaves.append(Leaf(atom, same.node, same.memory))
        return same.node
    memory = memory_of(context, atom) if isinstance(atom, Var) else None
    if memory is not None and memory.certain and _is_copy(context, *memory.places):
        node = Node("method", (node,), (), node.kind, {"name": "copy"}, node.hint)
    if memory is not None and any(map(_is_gathered, _bound_to(context, node))):
        outside = memory.places - {s.var for s in walk(context.facts.function.body) if isinstance(s, Let)}
        if outside:
            name = getattr(atom, "hint", "a result")
            raise context.refuse("aliasing", f"'{name}' is a view of an array after the loop")
    if memory is not None and _is_packed_item(context, node, memory):
        name = getattr(atom, "hint", "a result")
        raise context.refuse("aliasing", f"'{name}' is an item of a list of the caller, which is read as one array")
    if isinstance(atom, Var) and (value := _item_of_own_list(context, atom)) is not None:
        if any(_may_be_given(context, one, frozenset()) for one in value):
            raise context.refuse("aliasing", f"'{atom.hint}' may be an argument itself, as an item of a list")
    if node.kind.family == "list" and node.op != "name" and isinstance(atom, Var):
        node = anew(node, attrs=node.attrs | {"own": atom})  # two lists are two objects, even if they hold the same
    if isinstance(atom, Var) and node.op != "name":
        node = shown(as_array(node, context.facts.kind(atom)))
    devices.check_items(context.facts, atom)
    node = devices.at_home(context.facts, atom, node)
    leaves.append(Leaf(atom, node, memory))
    return node


def _item_of_own_list(context: Context, atom: Var) -> list[Atom] | None:
    """What may be read where a value is an item of a list that the region fills; None for another value."""
    match context.flow.definition.get(atom):
        case Let(op=Op(name="getitem" | "iter_item", args=[Var() as owner, *_])):
            made = context.flow.definition.get(owner)
            if isinstance(made, Let) and made.op.name == "list":
                appends = [u for u in context.flow.users.get(owner, ()) if isinstance(u, Append) and u.ref is owner]
                return [*(as_atom(one) for one in made.op.args), *(one.value for one in appends)]
    return None


def _may_be_given(context: Context, atom: Atom, seen: frozenset[Atom]) -> bool:
    """Whether a value may be an argument, and no new tensor or view."""
    if not isinstance(atom, Var) or atom in seen or context.facts.kind(atom).is_number:
        return False
    seen |= {atom}
    match context.flow.definition.get(atom):
        case None:
            return atom in context.facts.function.params
        case If(phis=phis):
            sides = [side for phi in phis if phi.var is atom for side in (phi.then, phi.orelse)]
        case Loop(carries=carries):
            sides = [side for one in carries if atom in (one.inside, one.after) for side in (one.init, one.next)]
        case Let(op=op) if op.name in ("copy", "builtin.min", "builtin.max"):
            sides = list(operands(op))
        case _:
            sides = _item_of_own_list(context, atom) or []
    return any(_may_be_given(context, side, seen) for side in sides)


def _is_packed_item(context: Context, node: Node, memory: Memory) -> bool:
    """Whether a value is an item of the caller's in the loop, and a copy of it here."""
    lists_given = {var for var in context.facts.function.params if context.facts.kind(var).family in ("list", "tuple")}
    return bool(memory.places & lists_given) and any(one.op in ("pack", "items") for one in reachable([node]))


def _bound_to(context: Context, node: Node) -> list[Node]:
    """A value, and all that its name is bound to, on both sides of an ``if`` or step by step."""
    if node.op != "name":
        return [node]
    found, known = [node], set()
    steps = [step for step in every_step(context.steps[0]) if isinstance(step, Assign)]
    for one in found:
        name = one.attrs["text"] if one.op == "name" else None
        if name is None or name in known:
            continue
        known.add(name)
        for step in steps:
            names = step.name.split(",")
            if name in names:
                found.append(step.node.args[names.index(name)] if len(names) > 1 else step.node)
    return found


SHOWING = frozenset(
    """last slice method apply vmapped batched leading elementwise along_dim unsqueezed transposed unflattened turned
    retype reshaped permuted merged diagonal stretched spread vector owned attribute settled""".split()
)
"""What a view of an array may be made by, of its first operand."""


def _is_gathered(node: Node) -> bool:
    """Whether the last value of a loop is taken from values that were gathered, turned around or put together, and so
    copied, where it was a view."""
    found = node
    while found.op in SHOWING and found.args:
        if found is not node and found.op == "slice" and any(map(_is_backwards, found.attrs["pieces"])):
            return True
        if found is not node and (found.op in ("reshaped", "merged") or _copies_what_is_apart(found)):
            return True
        found = found.args[0]
    return found is not node and found.op in ("gather", "pack")


def _copies_what_is_apart(node: Node) -> bool:
    """Whether an operation gives a view of what lies together, and a copy of what does not, as it may be for all."""
    return table.base_name(str(node.attrs.get("name"))) in ("contiguous", "reshape", "flatten", "ravel", "reshape_as")


def _is_backwards(piece: object) -> bool:
    return isinstance(piece, Along) and piece.coefficient < 0


def _is_copy(context: Context, *places: Var) -> bool:
    """Whether a value is a copy that NumPy makes in any case, for which other values stand in an array program."""
    made = context.flow.definition.get(places[0]) if len(places) == 1 else None
    return isinstance(made, Let) and context.library == "np" and table.base_name(made.op.name) in ("astype", "flatten")


def _items(context: Context, atom: Atom | None, count: int) -> list[Atom | None]:
    """The items of a tuple, list or dict that is written out."""
    match context.flow.definition.get(atom) if isinstance(atom, Var) else None:
        case Let(op=op) if op.name == "copy":
            return _items(context, as_atom(op.args[0]), count)
        case Let(op=op) if op.name in ("tuple", "list", "dict"):
            items = op.args[op.name == "dict" :]
            if len(items) == count:
                return [item if isinstance(item, Var) else None for item in items]
    return [None] * count


# ---------------------------------------------------------------- where a value comes from


def memory_of(context: Context, atom: Atom) -> Memory:
    """The places that a value may come from."""
    return _memory(context, atom, frozenset())


def _memory(context: Context, atom: Atom, seen: frozenset[Var]) -> Memory:
    if not isinstance(atom, Var) or atom in seen:
        return NOWHERE
    if context.facts.kind(atom).is_number:
        return NOWHERE
    seen |= {atom}
    match context.flow.definition.get(atom):
        case Let(op=op) if op.name == "list" and (not op.args or flow.is_stored(context.flow, atom)):
            return _list_memory(context, atom, seen)
        case Let(op=op) as made:
            return _made(context, made, seen)
        case If(phis=phis):
            return _any([_memory(context, side, seen) for p in phis if p.var is atom for side in (p.then, p.orelse)])
        case Loop(carries=carries) as loop:
            (carry,) = (c for c in carries if c.inside is atom or c.after is atom)
            if carry.after is atom and (carry.next is not carry.inside) and views.has_run(context, loop):
                return _memory(context, carry.next, seen)
            return _any([_memory(context, a, seen) for a in (carry.init, carry.next)])
    return Memory(frozenset((atom,)))


def _any(found: list[Memory]) -> Memory:
    found = [memory for memory in found if memory.places]
    total = found[0] if found else NOWHERE
    for memory in found[1:]:
        total = total if memory == total and total.certain else total.or_else(memory)
    return total


def _list_memory(context: Context, var: Var, seen: frozenset[Var]) -> Memory:
    """A list is a place of its own, and holds what is put into it."""
    total = Memory(frozenset((var,)), False)
    for user in context.flow.users.get(var, ()):
        if isinstance(user, Append) and user.ref is var:
            total = total.or_else(_memory(context, user.value, seen))
    return total


def _made(context: Context, made: Let, seen: frozenset[Var]) -> Memory:
    op, kind = made.op, context.facts.kind(made.var)
    own = Memory(frozenset((made.var,)))
    if op.name in OF_COLUMNS:
        return _any([own.or_else(NOWHERE), *(_memory(context, column, seen) for column in _columns(made))])
    if table.base_name(op.name) in sharing.PIECES and isinstance(first := op.args[0], Var):
        return _memory(context, first, seen)
    if not kind.is_array:
        return own if not (kind.is_number or kind.family == "none") else NOWHERE
    if op.name.startswith("inplace."):
        return _memory(context, as_atom(op.args[0]), seen)
    if op.name in ("builtin.min", "builtin.max"):
        return _any([_memory(context, a, seen) for a in operands(op)]).or_else(NOWHERE)
    if (item := sharing.result_item(context, op)) is not None:
        return Memory(frozenset((item,)))
    if op.name in sharing.ITEMS or (table.family(op.name) == "shape" and sharing.may_give_its_argument(context, made)):
        if sharing.copies(context, made):
            return own
        return _memory(context, as_atom(op.args[0]), seen)
    if sharing.may_give_its_argument(context, made):
        return _any([own, *(_memory(context, a, seen) for a in operands(op))])
    return own


# ---------------------------------------------------------------- what is shared


def _last_items(context: Context, leaves: list[Leaf]) -> dict[int, Node]:
    """Results that are the last item of a list among them, which they are to be then as well."""
    found: dict[int, Node] = {}
    listed = [pair for leaf in leaves for pair in _listed(context, leaf)]
    for leaf in leaves:
        for ref, node in listed:
            if leaf.memory is not None and leaf.node is not node and _is_last_item(context, leaf.atom, ref):
                found[leaf.node.serial] = leaf.node = Node("last_item", (node,), (), leaf.node.kind, {}, "last")
                leaf.memory = None
    return found


def _listed(context: Context, leaf: Leaf) -> list[tuple[Atom | None, Node]]:
    """The lists that a result is, or that it is made of, each with its name."""
    if leaf.node.op == "listed":
        return [(leaf.atom, leaf.node)]
    made = context.flow.definition.get(leaf.atom) if isinstance(leaf.atom, Var) else None
    if leaf.node.op != "zipped" or not isinstance(made, Let) or made.op.name not in OF_COLUMNS:
        return []
    pairs = zip(_columns(made), leaf.node.args, strict=True)
    return [(column, node) for column, node in pairs if node.op == "listed"]


def _columns(made: Let) -> list[Var]:
    """The lists of which a list of records, or a dict, is made."""
    return [arg for arg in made.op.args if isinstance(arg, Var)]


def _is_last_item(context: Context, atom: Atom | None, ref: Atom | None) -> bool:
    """Whether a carried value is, after the loop, what the last iteration has appended to a list in any case."""
    loop = context.flow.definition.get(atom) if isinstance(atom, Var) else None
    if atom is None or not isinstance(loop, Loop) or not views.has_run(context, loop):
        return False
    if not context.facts.kind(atom).is_array:
        return False
    nexts = [carry.next for carry in loop.carries if carry.after is atom and carry.next is not carry.inside]
    appended = [s.value for s in loop.body if isinstance(s, Append) and s.ref is ref]
    return bool(nexts) and [named(context, nexts[0])] == [named(context, value) for value in appended]


def _are_one(context: Context, leaf: Leaf, atom: Atom | None, node: Node) -> bool:
    """Whether two carried values are, after the loop, the one object that the last iteration gave both names to."""
    if node.op != "last" or not isinstance(leaf.atom, Var) or not isinstance(atom, Var) or leaf.atom is atom:
        return False
    loops = [context.flow.definition.get(one) for one in (leaf.atom, atom)]
    if loops[0] is not loops[1] or not isinstance(loops[0], Loop) or not context.facts.kind(atom).is_array:
        return False
    nexts = [carry.next for carry in loops[0].carries if carry.after in (leaf.atom, atom)]
    return len(nexts) == 2 and named(context, nexts[0]) is named(context, nexts[1])


def named(context: Context, atom: Atom) -> Atom:
    """The name that a value was given first."""
    match context.flow.definition.get(atom) if isinstance(atom, Var) else None:
        case Let(op=op) if op.name == "copy":
            return named(context, as_atom(op.args[0]))
    return atom


def _check_shared(context: Context, leaves: list[Leaf]) -> None:
    for position, leaf in enumerate(leaves):
        for other in leaves[:position]:
            if leaf.memory is None or other.memory is None or not leaf.memory.places & other.memory.places:
                continue
            if _is_same(leaf, other) or (_is_assigned(context, leaf) and _is_assigned(context, other)):
                continue
            if not _is_plain(context, leaf, other):
                name = getattr(leaf.atom, "hint", "a result")
                raise context.refuse("aliasing", f"'{name}' may share memory with another result of the loop")


def _is_same(leaf: Leaf, other: Leaf) -> bool:
    a, b = leaf.node, other.node
    if a is b or leaf.atom is other.atom:
        return True
    return a.op == b.op == "last" and a.args == b.args and a.attrs["axis"] is b.attrs["axis"]


def _is_assigned(context: Context, leaf: Leaf) -> bool:
    """Whether a value has a name that a loop which stays assigns, as it does in the loop."""
    return leaf.node.op == "name" and bool(leaf.node.attrs.get("local")) and _is_handed_on(context, leaf.atom, set())


def _is_handed_on(context: Context, atom: Atom | None, seen: set[Atom]) -> bool:
    """Whether no loop whose iterations are computed together has a part in which of several arrays a name gets: it
    would make a new one."""
    if not isinstance(atom, Var) or atom in seen:
        return True
    seen.add(atom)
    sides: list[Atom] = []
    match context.flow.definition.get(atom):
        case Let(op=op) if op.name == "copy":
            sides = [as_atom(op.args[0])]
        case If(phis=phis):
            sides = [side for phi in phis if phi.var is atom for side in (phi.then, phi.orelse)]
        case Loop(carries=carries) as loop:
            (carry,) = (c for c in carries if c.inside is atom or c.after is atom)
            together = context.decisions.get(loop, ("",))[0] in ("lanes", "scan")
            if together and carry.next is not carry.inside:
                return False
            sides = [carry.init, carry.next]
    return all(_is_handed_on(context, side, seen) for side in sides)


def _is_plain(context: Context, *leaves: Leaf) -> bool:
    """Whether all are an array or views of it that no loop takes: they are printed as such."""
    return all(leaf.memory and leaf.memory.certain and _is_outside(context, leaf.atom) for leaf in leaves)


def _is_outside(context: Context, atom: Atom | None) -> bool:
    definition = context.flow.definition.get(atom) if isinstance(atom, Var) else None
    if isinstance(definition, Let) and definition.op.name in sharing.ITEMS:
        return _is_outside(context, as_atom(definition.op.args[0]))
    return not isinstance(definition, Loop | If)


def _with(node: Node, last: dict[int, Node], displays: dict[int, Node]) -> Node:
    """A result; a list or dict that is there more than once is one node."""
    if node.serial in last:
        return last[node.serial]
    if node.op != "display":
        return node
    if (own := node.attrs.get("own", node.serial)) not in displays:
        parts = tuple(_with(arg, last, displays) for arg in node.args)
        displays[own] = Node("display", parts, (), node.kind, node.attrs)
    return displays[own]
