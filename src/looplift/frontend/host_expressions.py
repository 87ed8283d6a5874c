"""From expressions to what they may hold; finds the tensor operations on the way."""

from __future__ import annotations

import ast
import types
from typing import Any

from looplift.frontend.host_extents import extent_of, is_beside_a_tensor
from looplift.frontend.host_flow import Flow, Operation, refuse
from looplift.frontend.host_narrowing import restricted, restriction
from looplift.frontend.host_routine import Routine
from looplift.frontend.host_tables import HOST_TENSOR_ATTRIBUTES, NAMED, is_literal
from looplift.frontend.host_timing import need_value
from looplift.frontend.host_values import (
    HOST,
    NONE,
    Atom,
    Container,
    External,
    Host,
    Lane,
    Live,
    Pack,
    Real,
    is_module,
    is_none,
    is_tensor,
    is_tensor_atom,
)  # fmt: skip


def evaluate(flow: Flow, routine: Routine, node: ast.expr) -> set[Atom]:
    """What the expression may hold, remembered in ``flow.values``."""
    if flow.timing.is_waited(node):
        _evaluate(flow, routine, node)
        return flow.record(node, {Real(None)})
    return flow.record(node, _evaluate(flow, routine, node))


def _evaluate(flow: Flow, routine: Routine, node: ast.expr) -> set[Atom]:
    match node:
        case ast.Constant() | ast.JoinedStr():
            return _text(flow, routine, node)
        case ast.Name(id=name):
            return restricted(flow, name, flow.lookup(routine, name, node))
        case ast.Attribute():
            return attribute(flow, routine, node)
        case ast.Subscript():
            return subscript(flow, routine, node)
        case ast.Call():
            from looplift.frontend.host_calls import call

            return call(flow, routine, node)
        case ast.BinOp() | ast.UnaryOp() | ast.Compare():
            return operator(flow, routine, node)
        case ast.BoolOp(values=values):
            return _either(flow, routine, values, tests=values[:-1])
        case ast.IfExp(test=test, body=body, orelse=orelse):
            _require_host(flow, routine, test)
            return _side(flow, routine, test, body, holds=True) | _side(flow, routine, test, orelse, holds=False)
        case ast.Tuple(elts=items) | ast.List(elts=items) | ast.Set(elts=items):
            return _display(flow, routine, node, items)
        case ast.Dict(keys=keys, values=values):
            return _dictionary(flow, routine, node, keys, values)
        case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
            return _comprehension(flow, routine, node)
        case ast.Slice(lower=lower, upper=upper, step=step):
            for part in (lower, upper, step):
                if part is not None:
                    _require_host(flow, routine, part)
            return {HOST}
    refuse("unsupported-syntax", f"'{ast.unparse(node)}' is not understood here", node)


def _side(flow: Flow, routine: Routine, test: ast.expr, value: ast.expr, *, holds: bool) -> set[Atom]:
    known = len(flow.restrictions)
    flow.restrictions += restriction(flow, routine, test, holds=holds, parts=[value])
    found = evaluate(flow, routine, value)
    del flow.restrictions[known:]
    return found


def _require_host(flow: Flow, routine: Routine, node: ast.expr) -> None:
    from looplift.frontend.host_statements import require_host

    require_host(flow, evaluate(flow, routine, node), node)


def _text(flow: Flow, routine: Routine, node: ast.expr) -> set[Atom]:
    if isinstance(node, ast.JoinedStr):
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                atoms = evaluate(flow, routine, part.value)
                if any(isinstance(atom, Lane) for atom in atoms):
                    need_value(flow, atoms, part.value, shown=part.conversion != -1 or flow.rank(atoms) != 0)
    return {NONE} if isinstance(node, ast.Constant) and node.value is None else {HOST}


def _either(flow: Flow, routine: Routine, values: list[ast.expr], tests: list[ast.expr]) -> set[Atom]:
    for test in tests:
        _require_host(flow, routine, test)
    return set().union(*(evaluate(flow, routine, value) for value in values))


def _display(flow: Flow, routine: Routine, node: ast.expr, items: list[ast.expr]) -> set[Atom]:
    if any(isinstance(item, ast.Starred) for item in items):
        refuse("unsupported-syntax", "a starred element is not understood", node)
    parts = [evaluate(flow, routine, item) for item in items]
    kind = type(node).__name__.lower()
    if kind == "tuple":
        return {flow.container(node, kind, fields=dict(enumerate(parts)))}
    return {flow.container(node, kind, set().union(*parts))}


def _dictionary(
    flow: Flow, routine: Routine, node: ast.expr, keys: list[ast.expr | None], values: list[ast.expr]
) -> set[Atom]:
    made = flow.container(node, "dict")
    contents = flow.inside(made)
    for key, value in zip(keys, values):
        if key is None:
            refuse("unsupported-syntax", "'**' in a dict is not understood", node)
        flow.add(contents.keys, evaluate(flow, routine, key))
        known = isinstance(key, ast.Constant) and isinstance(key.value, str)
        place = contents.fields.setdefault(key.value, set()) if known else contents.rest  # type: ignore[union-attr]
        flow.add(place, evaluate(flow, routine, value))
    return {made}


def _comprehension(flow: Flow, routine: Routine, node: Any) -> set[Atom]:
    from looplift.frontend.host_statements import bind

    for part in node.generators:
        if part.is_async:
            refuse("unsupported-syntax", "'async' is not understood", node)
        bind(flow, routine, part.target, flow.iterated(part.iter, evaluate(flow, routine, part.iter)))
        for test in part.ifs:
            _require_host(flow, routine, test)
    if isinstance(node, ast.DictComp):
        made = flow.container(node, "dict", evaluate(flow, routine, node.value))
        flow.add(flow.inside(made).keys, evaluate(flow, routine, node.key))
        return {made}
    kind = {"ListComp": "list", "SetComp": "set", "GeneratorExp": "iterator"}[type(node).__name__]
    return {flow.container(node, kind, evaluate(flow, routine, node.elt))}


def operator(flow: Flow, routine: Routine, node: ast.BinOp | ast.UnaryOp | ast.Compare) -> set[Atom]:
    """Arithmetic and comparison: a tensor operation if an operand is a tensor, else on the host."""
    match node:
        case ast.BinOp(left=left, right=right):
            operands = [left, right]
        case ast.UnaryOp(operand=operand):
            operands = [operand]
        case ast.Compare(left=left, comparators=comparators):
            operands = [left, *comparators]
    sets = [evaluate(flow, routine, operand) for operand in operands]
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.Is, ast.IsNot, ast.In, ast.NotIn)):
        return _membership(node, sets)
    if not all(sets):
        return set()  # nothing is known of an operand yet
    if any(map(is_tensor_atom, set().union(*sets))):
        return _tensor_operator(flow, node, operands, sets)
    joined = set().union(*sets)
    if isinstance(node, ast.BinOp) and any(_is_sequence(atom) for atom in joined):
        elements = flow.elements({atom for atom in joined if _is_sequence(atom)}, node)
        kinds = {_sequence_kind(atom) for atom in joined if _is_sequence(atom)}
        return {flow.container(node, "tuple" if "tuple" in kinds else "list", elements)}
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        require_plain_truth(joined, node)
    elif any(isinstance(atom, External) for atom in joined) and not isinstance(node, ast.Compare):
        refuse("unknown-call", f"'{ast.unparse(node)}' on objects may have effects", node)
    return {HOST}


def require_plain_truth(atoms: set[Atom], node: ast.AST) -> None:
    """Asking whether a value is true runs no code of the user's."""
    plain = (list, tuple, dict, set, frozenset)
    for atom in atoms:
        if isinstance(atom, External) and not issubclass(atom.type, plain):
            if hasattr(atom.type, "__bool__") or hasattr(atom.type, "__len__"):
                refuse("unknown-call", f"whether a '{atom.type.__name__}' is true may run code", node)


def _is_sequence(atom: Atom) -> bool:
    return isinstance(atom, (Container, Pack)) or (isinstance(atom, External) and issubclass(atom.type, (list, tuple)))


def _sequence_kind(atom: Atom) -> str:
    if isinstance(atom, Container):
        return atom.kind
    return "tuple" if isinstance(atom, Pack) or issubclass(atom.type, tuple) else "list"  # type: ignore[union-attr]


def _membership(node: ast.Compare, sets: list[set[Atom]]) -> set[Atom]:
    if len(node.ops) > 1:
        refuse("unsupported-syntax", "a chain with 'is' or 'in' is not understood", node)
    if isinstance(node.ops[0], (ast.In, ast.NotIn)) and any(map(is_tensor_atom, set().union(*sets))):
        refuse("recursion", "'in' compares tensors", node)
    tensors = [[atom for atom in atoms if is_tensor_atom(atom)] for atoms in sets]
    if all(tensors) and any(isinstance(atom, Lane) for atoms in tensors for atom in atoms):
        refuse("recursion", f"'{ast.unparse(node)}' asks whether two tensors of the loop are one", node)
    return {HOST}


def _tensor_operator(
    flow: Flow, node: ast.BinOp | ast.UnaryOp | ast.Compare, operands: list[ast.expr], sets: list[set[Atom]]
) -> set[Atom]:
    from looplift.frontend.host_ranks import matmul_rank
    from looplift.frontend.host_statements import join_ranks, require_host

    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        require_host(flow, sets[0], operands[0])
        return {HOST}
    if isinstance(node, ast.Compare) and len(node.ops) > 1:
        for operand, atoms in zip(operands, sets, strict=True):
            require_host(flow, atoms, operand)
        return {HOST}
    if any(isinstance(atom, (Container, Pack, External)) for atom in set().union(*sets)):
        refuse("unknown-op", f"'{ast.unparse(node)}' mixes tensors with other objects", node)
    ranks = [flow.rank(atoms) for atoms in sets]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        operation = Operation("matmul", "matmul", "operator", tuple(operands))
        return flow.lane(node, operation, matmul_rank(ranks[0], ranks[1]))
    sign = node.ops[0] if isinstance(node, ast.Compare) else node.op
    return flow.lane(
        node, Operation(type(sign).__name__, "elementwise", "operator", tuple(operands)), join_ranks(*ranks)
    )


def attribute(flow: Flow, routine: Routine, node: ast.Attribute) -> set[Atom]:
    found: set[Atom] = set()
    for atom in evaluate(flow, routine, node.value):
        if is_none(atom) or isinstance(atom, External):
            flow.attributes.add(node)
        if not is_none(atom):
            found |= attribute_of(flow, atom, node)
    return found


def attribute_of(flow: Flow, atom: Atom, node: ast.Attribute) -> set[Atom]:
    """What reading the attribute of one atom gives; refuses what could run code."""
    name = node.attr
    match atom:
        case Lane() if name in ("T", "mT"):
            return flow.lane(node, Operation(name, "same", "attribute", (node.value,)), flow.rank({atom}))
        case Pack(site=site) if is_named_result(flow, site, name):
            flow.projections.add(node)
            return {Lane(site)}
        case Lane() if name in HOST_TENSOR_ATTRIBUTES:
            return size_of(flow, {atom}, node, node.value)
        case Lane() | Pack():
            refuse("recursion", f"'.{name}' of a tensor that the loop computes is needed on the host", node)
        case Real():
            if name in HOST_TENSOR_ATTRIBUTES:
                return {HOST}
            refuse("unknown-op", f"'.{name}' of a tensor is not understood here", node)
        case Live(value=value) if is_tensor(value):
            if name in HOST_TENSOR_ATTRIBUTES:
                return {HOST}
            if name in ("T", "mT"):
                return {Live(getattr(value, name), f"{atom.path}.{name}" if atom.path else None)}
            refuse("unknown-op", f"'.{name}' of a tensor is not understood here", node)
        case Live(value=value, path=path):
            if is_module(value) and lacks(flow, value, path, name):
                return set()
            return {live_attribute(flow, value, path, node)}
        case External():
            return {HOST} if name == "__class__" else external_attribute(flow, atom, node)
        case Host() if name in ("__name__", "__class__", "real", "imag"):
            return {HOST}
    refuse("unknown-call", f"'.{name}' is not understood here", node)


def size_of(flow: Flow, atoms: set[Atom], node: ast.AST, tensor: ast.expr) -> set[Atom]:
    """What is asked of a tensor that the loop computes: a size may wait until the operation beside it runs."""
    beside = is_beside_a_tensor(flow, node)
    if beside is None:
        return set()  # nothing is known of that operation yet
    if not beside:
        need_value(flow, atoms, tensor)
    flow.extents.add(node if extent_of(node) else flow.parent(node) or node)
    return {HOST}


def is_named_result(flow: Flow, site: int, name: str) -> bool:
    """Whether an operation names one of its results so, as ``x.max(dim=0).values``."""
    node = next(node for node, number in flow.sites.items() if number == site)
    return name in NAMED and flow.operations[node].name in NAMED[name][1]


def live_attribute(flow: Flow, value: Any, path: str | None, node: ast.Attribute) -> Atom:
    name = node.attr
    below = f"{path}.{name}" if path else None
    if isinstance(value, (types.ModuleType, type)):
        if not hasattr(value, name):
            refuse("unsupported-value", f"'{ast.unparse(node)}' does not exist", node)
        return Live(getattr(value, name), below)
    if not is_module(value):
        refuse("unknown-call", f"'.{name}' of this object may run code", node)
    stored = module_slot(value, name)
    if stored is MISSING:
        refuse("unknown-call", f"'{ast.unparse(node)}' may run code", node)
    home = path or flow.homes.get(id(value))
    place = f"{home}.{name}" if home else ""
    if home and not is_tensor(stored) and (is_literal(stored) or is_module(stored)):
        flow.guard(f"type({place})", type(stored))
    if home and is_tensor(stored):
        flow.guard(f"{place}.dim()", stored.dim())
    if home and is_module(stored):
        flow.homes.setdefault(id(stored), place)
    return flow.atom(stored, below)


MISSING = object()


def lacks(flow: Flow, module: Any, path: str | None, name: str) -> bool:
    """Whether reading the attribute of a module raises: one of several modules that a name may hold has it."""
    home = path or flow.homes.get(id(module))
    plain = type(module).__getattr__ is torch_module().__getattr__
    if home is None or not plain or hasattr(type(module), name) or module_slot(module, name) is not MISSING:
        return False
    flow.guard(f"hasattr({home}, {name!r})", False)
    return True


def torch_module() -> Any:
    import torch

    return torch.nn.Module


def module_slot(module: Any, name: str) -> Any:
    """What a module stores under a name, without running a property."""
    for table in (module.__dict__, module._parameters, module._buffers, module._modules):
        if name in table:
            return table[name]
    stored = getattr(type(module), name, MISSING)
    return stored if is_literal(stored) else MISSING


def external_attribute(flow: Flow, atom: External, node: ast.Attribute) -> set[Atom]:
    kind, name = atom.type, node.attr
    if _is_computed(kind, name):
        refuse("unknown-call", f"'.{name}' of a '{kind.__name__}' may run code", node)
    stored = getattr(kind, name, None)
    if (
        isinstance(stored, property)
        or hasattr(kind, "__getattr__")
        or kind.__getattribute__ is not object.__getattribute__
    ):
        if isinstance(stored, property) and isinstance(stored.fget, types.FunctionType) and kind not in (object,):
            from looplift.frontend.host_calls import enter

            flow.guard_class(kind, name)
            pseudo = flow.properties.setdefault(node, ast.copy_location(ast.Call(node, [], []), node))
            return enter(flow, stored.fget, atom, kind, pseudo)
        if not issubclass(kind, tuple):
            refuse("unknown-call", f"'.{name}' of a '{kind.__name__}' may run code", node)
    inside = flow.inside(atom)
    if issubclass(kind, tuple) and name in getattr(kind, "_fields", ()):
        return set(inside.at(kind._fields.index(name)))  # type: ignore[attr-defined]
    if name in inside.fields:
        of_class = {HOST} if name in flow.assigned and is_literal(stored) and stored is not None else set()
        return inside.fields[name] | of_class
    return {HOST} if is_literal(stored) and stored is not None else set()


def _is_computed(kind: type, name: str) -> bool:
    """Whether a descriptor that is written in Python gives the attribute, as a ``cached_property`` does."""
    declared = next((vars(base)[name] for base in kind.__mro__ if name in vars(base)), None)
    return isinstance(getattr(type(declared), "__get__", None), types.FunctionType)


def subscript(flow: Flow, routine: Routine, node: ast.Subscript) -> set[Atom]:
    owners = evaluate(flow, routine, node.value)
    index = evaluate(flow, routine, node.slice)
    if any(map(is_tensor_atom, owners)):
        return _tensor_index(flow, node, owners, index)
    key = _constant_key(node.slice)
    found: set[Atom] = set()
    for owner in owners:
        if is_none(owner):
            continue
        match owner:
            case Container(kind=kind) if isinstance(node.slice, ast.Slice):
                found.add(flow.container(node, kind, flow.inside(owner).everything()))
            case External() if isinstance(node.slice, ast.Slice):
                found.add(flow.container(node, "list", flow.elements({owner}, node)))
            case Container() | External():
                if (
                    isinstance(owner, External)
                    and not issubclass(owner.type, (list, tuple, dict))
                    and owner.type.__name__ != "deque"
                ):
                    refuse("unknown-call", f"indexing a '{owner.type.__name__}' may run code", node)
                if isinstance(owner, External) and hasattr(owner.type, "__missing__"):
                    refuse("memory-dependence", "reading a dict with default values may change it", node)
                found |= flow.inside(owner).at(key)
            case Pack(site=site):
                flow.projections.add(node)
                found.add(Lane(site))
            case Live(value=value) if is_module(value):
                found |= _module_child(flow, owner, node)
            case Host():
                found.add(HOST)
            case _:
                refuse("unknown-op", f"'{ast.unparse(node)}' is not understood here", node)
    return found


def is_number(flow: Flow, part: ast.expr) -> bool:
    """Whether a part of a subscript may be a number of the host; that it is none of an object is seen in the run."""
    if isinstance(part, (ast.Slice, ast.Tuple, ast.List)):
        return False
    if isinstance(part, ast.Constant):
        return type(part.value) is int
    atoms = flow.values.get(part, set())
    numbers = {atom for atom in atoms if atom == HOST or _is_place(atom)}
    return bool(numbers) and all(is_none(atom) or isinstance(atom, External) for atom in atoms - numbers)


def _is_place(atom: Atom) -> bool:
    """An integer, or a tensor on the host that may be one, which is seen in the run."""
    if isinstance(atom, Live):
        return type(atom.value) is int or (is_tensor(atom.value) and atom.value.dim() == 0)
    return isinstance(atom, Real) and atom.rank in (0, None)


def is_list(atom: Atom) -> bool:
    if isinstance(atom, External):
        return issubclass(atom.type, (list, tuple))
    return isinstance(atom, Container) and atom.kind in ("list", "tuple")


def _constant_key(index: ast.expr) -> Any:
    if isinstance(index, ast.Constant) and isinstance(index.value, (int, str)):
        return index.value
    return None


def _module_child(flow: Flow, owner: Live, node: ast.Subscript) -> set[Atom]:
    key = _constant_key(node.slice)
    children = flow.children(owner)
    if key is None or owner.path is None:
        return children
    return {flow.atom(owner.value[key], f"{owner.path}[{key!r}]")}


def _tensor_index(flow: Flow, node: ast.Subscript, owners: set[Atom], index: set[Atom]) -> set[Atom]:
    """``x[i]``, ``x[i, 2:]``, ``x[None]`` on a tensor; the parts are host values."""
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    lists = {owner for owner in owners if is_list(owner)}
    if lists and not (len(parts) == 1 and is_number(flow, parts[0])):
        refuse("unknown-op", f"'{ast.unparse(node)}' indexes a tensor or a list", node)
    if not all(is_tensor_atom(owner) or is_none(owner) for owner in owners - lists):
        refuse("unknown-op", f"'{ast.unparse(node)}' indexes a tensor or something else", node)
    for part in parts:
        atoms = flow.values.get(part, set())
        if any(isinstance(atom, Lane) for atom in atoms):
            need_value(flow, atoms, part)
        if any(map(is_tensor_atom, atoms)) and not is_number(flow, part):
            refuse("unknown-op", "a tensor as an index is not understood here", node)
    rank = _index_rank(flow, parts, flow.rank(owners), owners)
    items = set().union(*(flow.inside(owner).everything() for owner in lists))
    return flow.lane(node, Operation("getitem", "index", "index", (node.value, *parts)), rank) | items


def _index_rank(flow: Flow, parts: list[ast.expr], rank: int | None, owners: set[Atom]) -> int | None:
    """The rank after indexing; unknown for an index that is neither literal nor a single int into a known tensor."""
    if rank is None or rank < 0:
        return rank
    known = len(parts) == 1 and all(isinstance(atom, Live) and atom.path for atom in owners)
    for part in parts:
        match part:
            case ast.Constant(value=None):
                rank += 1
            case ast.Constant(value=value) if value is Ellipsis:
                pass
            case ast.Slice():
                pass
            case ast.Constant(value=int()) | ast.UnaryOp(operand=ast.Constant(value=int())):
                rank -= 1
            case _ if known or is_number(flow, part):
                rank -= 1
            case _ if all(is_none(atom) or isinstance(atom, External) for atom in flow.values.get(part, ())):
                return -1  # it is not known yet
            case _:
                return None
    return rank
