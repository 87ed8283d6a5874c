"""From calls to what they may return: tensor operations, modules, the user's functions, builtins."""

from __future__ import annotations

import ast
import types
from typing import Any

from looplift.frontend.host_effects import CHANGES
from looplift.frontend.host_expressions import attribute_of, evaluate, lacks, size_of
from looplift.frontend.host_extents import extent_of
from looplift.frontend.host_filled import ADDED, FILLED, PLACES
from looplift.frontend.host_flow import Flow, Operation, refuse
from looplift.frontend.host_methods import container_method, external_method
from looplift.frontend.host_modules import module_call
from looplift.frontend.host_ranks import function_rank, operand_rank, pack_arity
from looplift.frontend.host_routine import Routine
from looplift.frontend.host_stores import filled
from looplift.frontend.host_tables import (
    FAMILY,
    HOST_BUILTINS,
    HOST_TENSOR_METHODS,
    MATH_LIKE,
    PACKS,
    TEXT_METHODS,
    is_operator,
    torch_name,
)
from looplift.frontend.host_timing import need_value
from looplift.frontend.host_values import (
    ABSENT,
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
from looplift.ops import special
from looplift.ops.writes import by_parameter


def call(flow: Flow, routine: Routine, node: ast.Call) -> set[Atom]:
    if any(isinstance(item, ast.Starred) for item in node.args) or any(item.arg is None for item in node.keywords):
        refuse("unknown-call", "'*' and '**' in a call are not understood", node)
    for item in (*node.args, *(keyword.value for keyword in node.keywords)):
        evaluate(flow, routine, item)
    if isinstance(node.func, ast.Name) and node.func.id in (FILLED, ADDED, PLACES):
        return filled(flow, node)
    if isinstance(node.func, ast.Attribute):
        owners = evaluate(flow, routine, node.func.value)
        if ABSENT in owners and node.func.attr in CHANGES:
            refuse("memory-dependence", f"'{ast.unparse(node)}' may change an object given from outside", node)
        found: set[Atom] = set()
        for owner in owners:
            found |= _method(flow, owner, node)
        return found
    found = set()
    for callee in evaluate(flow, routine, node.func):
        if not is_none(callee):
            found |= _call_value(flow, callee, node)
    return found


def _method(flow: Flow, owner: Atom, node: ast.Call) -> set[Atom]:
    """``owner.name(…)`` for one atom of the owner."""
    assert isinstance(node.func, ast.Attribute)
    name = node.func.attr
    match owner:
        case _ if is_none(owner):
            return set()
        case Lane() | Pack():
            return _tensor_method(flow, name, node)
        case Real():
            return _real_method(flow, name, node)
        case Live(value=value) if is_tensor(value):
            return _real_method(flow, name, node)
        case Container():
            return container_method(flow, owner, name, node)
        case External():
            method = getattr(owner.type, name, None)
            if isinstance(method, types.FunctionType) and name not in flow.inside(owner).fields:
                flow.guard_class(owner.type, name)
                return enter(flow, method, owner, owner.type, node)
            if name in flow.inside(owner).fields:
                return set().union(*(_call_value(flow, atom, node) for atom in flow.inside(owner).fields[name]))
            return external_method(flow, owner, name, node)
        case Host():
            return _host_method(flow, name, node)
        case Live(value=value) if is_module(value):
            return _module_method(flow, owner, node)
        case Live(value=value) if isinstance(value, (str, bytes, int, float, range)):
            return _host_method(flow, name, node)
    found = set()
    for callee in flow.record(node.func, attribute_of(flow, owner, node.func)):
        found |= _call_value(flow, callee, node)
    return found


def _host_method(flow: Flow, name: str, node: ast.Call) -> set[Atom]:
    if name not in TEXT_METHODS:
        refuse("unknown-call", f"the effects of '{ast.unparse(node.func)}' are not known", node)
    _require_no_tensors(flow, node, shown=True)
    return {HOST}


def _require_no_tensors(flow: Flow, node: ast.Call, *, shown: bool) -> None:
    for item in (*node.args, *(keyword.value for keyword in node.keywords)):
        for atom in flow.values.get(item, ()):
            if isinstance(atom, Lane):
                need_value(flow, flow.values[item], item, shown=shown and flow.rank({atom}) != 0)


def _module_method(flow: Flow, owner: Live, node: ast.Call) -> set[Atom]:
    """A user's method of a module, or a method of a container of modules."""
    assert isinstance(node.func, ast.Attribute)
    name, module = node.func.attr, owner.value
    method = getattr(type(module), name, None)
    if name in module.__dict__ or name in module._modules:
        members = flow.record(node.func, attribute_of(flow, owner, node.func))
        return set().union(*(_call_value(flow, atom, node) for atom in members))
    if lacks(flow, module, owner.path, name):
        return set()
    if not isinstance(method, types.FunctionType) or method.__module__.startswith("torch."):
        if (
            type(module).__name__ in ("ModuleList", "ModuleDict")
            and name in ("values", "keys", "items")
            and not node.args
        ):
            children = flow.children(owner)
            pair = flow.container(node.func, "tuple", fields={0: {HOST}, 1: children})
            return {flow.container(node, "iterator", {"values": children, "keys": {HOST}, "items": {pair}}[name])}
        refuse("unknown-call", f"the effects of '{ast.unparse(node.func)}' are not known", node)
    if owner.path:
        flow.guard(f"type({owner.path})", type(module))
        flow.guard(f"{owner.path}.{name}.__code__", method.__code__)
    return enter(flow, method, owner, type(module), node)


def _call_value(flow: Flow, callee: Atom, node: ast.Call) -> set[Atom]:
    """The call of a value itself."""
    if not isinstance(callee, Live):
        refuse("unknown-call", f"it is not known what '{ast.unparse(node.func)}' calls", node)
    value = callee.value
    if is_module(value):
        return module_call(flow, callee, node, enter)
    if callable(value) and not isinstance(value, type):
        _require_the_same(flow, callee, node)
    if (name := torch_name(value)) and _is_tensor_call(flow, value, node):
        return tensor_function(flow, name, node)
    if isinstance(value, types.FunctionType):
        if value.__module__ == "torch" and value.__name__ == "is_tensor":
            flow.tests.add(node)
            return {HOST}
        if value.__module__.startswith("torch"):
            refuse("unknown-op", f"'{ast.unparse(node.func)}' is not in the table of operations", node)
        if callee.path in flow.live_ins:
            flow.guard(f"{callee.path}.__code__", value.__code__)
        return enter(flow, value, None, None, node)
    if isinstance(value, types.MethodType) and isinstance(value.__func__, types.FunctionType):
        refuse("unknown-call", f"'{ast.unparse(node.func)}' is a bound method", node)
    return builtin_call(flow, value, node)


def _is_tensor_call(flow: Flow, function: Any, node: ast.Call) -> bool:
    """Whether a function of torch's tensors is called; those of ``operator`` are for Python's numbers, too."""
    if not is_operator(function):
        return True
    atoms = set().union(*(flow.values[item] for item in node.args))
    if atoms and not all(map(is_tensor_atom, atoms)) and any(map(is_tensor_atom, atoms)):
        refuse("unknown-op", f"'{ast.unparse(node)}' is given tensors or numbers", node)
    return any(map(is_tensor_atom, atoms))


def _require_the_same(flow: Flow, callee: Live, node: ast.Call) -> None:
    """What is called is known in each call of the region: not one of the data, which may hold others then."""
    if callee.path is None:
        if id(callee.value) not in flow.enclosed and torch_name(callee.value) is None:
            refuse("unknown-call", f"'{ast.unparse(node.func)}' is taken from data, and may be another function", node)
        return
    root = callee.path.replace("[", ".").split(".")[0]
    if root in flow.live_ins and root != callee.path:
        flow.guard(f"{callee.path} is {flow.names.constant(callee.value, node_name(node))}", True)


def node_name(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else "function"


def enter(
    flow: Flow, function: types.FunctionType, receiver: Atom | None, kind: type | None, node: ast.Call
) -> set[Atom]:
    """The call of a user's function: its parameters take the arguments, the call gives its results."""
    routine = flow.routine(function)
    if flow.calls.setdefault(node, {}).setdefault(kind, routine) is not routine:
        refuse("unknown-call", f"'{ast.unparse(node.func)}' is one function or another", node)
    parameters = list(routine.parameters)
    if receiver is not None and not _is_static(function, kind):
        flow.add(routine.variables[parameters.pop(0)], {receiver})
    if receiver is None and kind is not None:
        refuse("unknown-call", f"'{function.__name__}' is called without its object", node)
    code = function.__code__
    if len(node.args) > len(parameters) - code.co_kwonlyargcount:
        refuse("unknown-call", f"'{function.__name__}' is called with too many arguments", node)
    by_place = dict(zip(parameters, node.args))
    by_name = {item.arg: item.value for item in node.keywords if item.arg}
    if by_name.keys() & {*by_place, *code.co_varnames[: code.co_posonlyargcount]}:
        refuse("unknown-call", f"'{function.__name__}' is called with arguments that do not fit", node)
    given = by_place | by_name
    for name in parameters:
        if name in given:
            flow.add(routine.variables[name], flow.values[given[name]])
        elif name in routine.defaults:
            flow.add(routine.variables[name], {HOST})
        else:
            refuse("unknown-call", f"'{function.__name__}' is called without '{name}'", node)
    if any(name not in parameters for name in given):
        refuse("unknown-call", f"'{function.__name__}' has no such parameter", node)
    return set(routine.returns) | ({NONE} if falls_through(routine.body) else set())


def falls_through(statements: list[ast.stmt]) -> bool:
    """Whether control may reach the end of the statements, so that a function returns None."""
    match statements[-1]:
        case ast.Return() | ast.Raise():
            return False
        case ast.If(body=body, orelse=[_, *_] as orelse):
            return falls_through(body) or falls_through(orelse)
    return True


def _is_static(function: types.FunctionType, kind: type | None) -> bool:
    for cls in kind.__mro__ if kind else ():
        if function.__name__ in cls.__dict__:
            stored = cls.__dict__[function.__name__]
            if isinstance(stored, classmethod):
                raise_classmethod()
            return isinstance(stored, staticmethod)
    return False


def raise_classmethod() -> None:
    from looplift.base.errors import NotLiftable

    raise NotLiftable("unknown-call", "class methods are not understood")


# ---------------------------------------------------------------- tensors


def _tensor_method(flow: Flow, name: str, node: ast.Call) -> set[Atom]:
    assert isinstance(node.func, ast.Attribute)
    if name not in FAMILY:
        if name in HOST_TENSOR_METHODS:
            return size_of(flow, flow.values[node.func.value], node, node.func.value)
        refuse("unknown-op", f"the tensor method '{name}' is not in the table of operations", node)
    return _operation(flow, name, "method", (node.func.value, *node.args), node)


def _real_method(flow: Flow, name: str, node: ast.Call) -> set[Atom]:
    """A method of a tensor given from outside: its value and shape are known on the host."""
    if name in HOST_TENSOR_METHODS:
        return {HOST}
    return _tensor_method(flow, name, node)


def tensor_function(flow: Flow, name: str, node: ast.Call) -> set[Atom]:
    return _operation(flow, name, "function", tuple(node.args), node)


WRITING = {"out", "inplace", "generator", "max_norm"}
"""Parameters of functions that write into what is given, or draw from it."""


def _operation(flow: Flow, name: str, kind: str, arguments: tuple[ast.expr, ...], node: ast.Call) -> set[Atom]:
    keywords = {item.arg: item.value for item in node.keywords if item.arg}
    given = by_parameter(f"torch.nn.functional.{name}", list(arguments)) if kind == "function" else {}
    if WRITING & (given | keywords).keys():
        refuse("aliasing", f"'{ast.unparse(node)}' writes into a tensor", node)
    counts = (given | keywords).get("scale_grad_by_freq")
    if counts is not None and not (isinstance(counts, ast.Constant) and counts.value is False):
        refuse(
            "unknown-op", f"the gradient of '{ast.unparse(node)}' depends on how often an index is in one call", node
        )
    if "requires_grad" in keywords:
        refuse("unknown-op", f"'{ast.unparse(node)}' makes a tensor that asks for gradients", node)
    if name == "einsum" and len(arguments) < 3:
        refuse("aliasing", f"'{ast.unparse(node)}' may be a view", node)
    second = flow.values.get(arguments[1], set()) if len(arguments) > 1 else set()
    family, extreme = FAMILY[name], name in ("max", "min")
    if extreme and any(map(is_tensor_atom, second)):
        family, extreme = "elementwise", False
    operation = Operation(name, family, kind, arguments, keywords)
    if name == "roll" and not any((operand_rank(flow, operand) or 0) > 0 for operand in arguments[:1]):
        refuse("unknown-op", "'roll' of a tensor that may have no dimension has no batched rule", node)
    rank = function_rank(flow, operation)
    if name in PACKS or (extreme and (len(arguments) > 1 or "dim" in keywords)):
        return flow.lane(node, operation, rank, pack_arity(operation))
    return flow.lane(node, operation, rank)


# ---------------------------------------------------------------- builtins


def builtin_call(flow: Flow, value: Any, node: ast.Call) -> set[Atom]:
    import torch

    arguments = [flow.values[item] for item in node.args]
    name = getattr(value, "__name__", "")
    if value in (torch.tensor, torch.as_tensor, torch.LongTensor, torch.FloatTensor) if callable(value) else False:
        return _number(flow, name, node)
    if value is torch.Tensor:
        refuse("unknown-call", f"'{ast.unparse(node)}' is not understood here", node)
    if value is isinstance:
        return _isinstance(flow, node, arguments)
    if value in HOST_BUILTINS or getattr(value, "__module__", None) in MATH_LIKE:
        return _host_function(flow, node, arguments, shown=value in (str, repr))
    if value in (
        list,
        tuple,
        set,
        frozenset,
        reversed,
        iter,
        sorted,
        enumerate,
        zip,
        dict,
        range,
        next,
        any,
        all,
        sum,
        min,
        max,
    ):
        return _sequence_function(flow, value, node, arguments)
    if name in ("deque", "defaultdict", "Counter", "OrderedDict") and value.__module__ == "collections":
        return _collection(flow, name, node, arguments)
    refuse("unknown-call", special.unknown_effects(ast.unparse(node.func), value), node)


def _isinstance(flow: Flow, node: ast.Call, arguments: list[set[Atom]]) -> set[Atom]:
    """A handle is not an instance of what its tensor is an instance of."""
    import torch

    lanes = any(isinstance(atom, Lane) for atom in arguments[0])
    classes = {atom.value for atom in arguments[1] if isinstance(atom, Live)}
    nested = arguments[1] if not classes else set()
    for atom in nested:
        classes |= {item.value for item in flow.elements({atom}, node) if isinstance(item, Live)}
    if classes == {torch.Tensor}:
        flow.tests.add(node)
        return {HOST}
    if lanes and (
        not classes or any(not isinstance(kind, type) or issubclass(torch.nn.Parameter, kind) for kind in classes)
    ):
        refuse("recursion", f"'{ast.unparse(node)}' asks for the type of a tensor that the loop computes", node)
    if any("__instancecheck__" in vars(meta) for kind in classes for meta in type(kind).__mro__[:-2]):
        return {HOST}
    return {HOST}


def _host_function(flow: Flow, node: ast.Call, arguments: list[set[Atom]], *, shown: bool) -> set[Atom]:
    for item, atoms in zip(node.args, arguments):
        for atom in atoms:
            if isinstance(atom, Pack):
                refuse("recursion", f"'{ast.unparse(node)}' needs the value of a tensor that the loop computes", node)
            if isinstance(atom, Lane) and node in flow.extents:
                continue
            if isinstance(atom, Lane) and not shown and extent_of(node):
                return size_of(flow, atoms, node, item)
            if isinstance(atom, Lane):
                need_value(flow, atoms, item, shown)
            if isinstance(atom, External) and not issubclass(atom.type, (list, tuple, dict, set, frozenset)):
                if atom.type.__name__ != "deque":
                    refuse("unknown-call", f"'{ast.unparse(node)}' of a '{atom.type.__name__}' may run code", item)
    return {HOST}


def _number(flow: Flow, name: str, node: ast.Call) -> set[Atom]:
    """``torch.tensor(k)`` of a host number."""
    argument = node.args[0] if len(node.args) == 1 else None
    if argument is None:
        refuse("unknown-op", "'torch.tensor' without its data is not understood", node)
    rank = _data_rank(flow, flow.values[argument])
    if rank == -1:
        return set()  # nothing is known of it yet
    if rank is None or rank > 0:
        return {Real(rank)}
    if name not in ("tensor", "as_tensor"):
        refuse("unknown-op", f"'{ast.unparse(node)}' is not understood", node)
    for atom in flow.values[argument]:
        if isinstance(atom, (Lane, Pack, Container, Real)) or (isinstance(atom, Live) and is_tensor(atom.value)):
            refuse("unknown-op", f"'{ast.unparse(node)}' of other than a number is not understood", node)
    keywords = {item.arg: item.value for item in node.keywords if item.arg}
    if "requires_grad" in keywords:
        refuse("unknown-op", f"'{ast.unparse(node)}' makes a tensor that asks for gradients", node)
    return flow.lane(node, Operation(name, "scalar", "number", (argument,), keywords), 0)


def note_lengths(flow: Flow, node: ast.Call) -> None:
    """Of a tensor beside a list in ``zip`` as many rows are taken as the list has items."""
    lists = [item for item in node.args if isinstance(item, ast.Name) and _has_length(flow, item)]
    for item in node.args if lists and not node.keywords else ():
        if any(isinstance(atom, Lane) for atom in flow.values[item]):
            flow.lengths[item] = lists[0]


def _has_length(flow: Flow, node: ast.expr) -> bool:
    atoms = flow.values[node]
    return bool(atoms) and all(
        (isinstance(atom, Container) and atom.kind in ("list", "tuple"))
        or (isinstance(atom, External) and issubclass(atom.type, (list, tuple)))
        for atom in atoms
    )


def _data_rank(flow: Flow, atoms: set[Atom]) -> int | None:
    """The rank of a tensor of host numbers in a list, None if it is not known; 0 for other data, -1 for none yet."""
    if not atoms or not all(isinstance(atom, (Container, External)) for atom in atoms):
        return 0
    inner = {item for atom in atoms for item in flow.inside(atom).everything() if not is_none(item)}
    if not inner:
        return -1
    if any(is_tensor_atom(atom) or isinstance(atom, Pack) for atom in inner):
        return 0
    return 1 if all(isinstance(atom, Host) for atom in inner) else None


def _sequence_function(flow: Flow, value: Any, node: ast.Call, arguments: list[set[Atom]]) -> set[Atom]:
    if value is range:
        _require_no_tensors(flow, node, shown=False)
        return {flow.container(node, "iterator", {HOST})}
    if value is zip:
        note_lengths(flow, node)
        parts = {position: flow.iterated(item, flow.values[item]) for position, item in enumerate(node.args)}
        pair = flow.container(node.func, "tuple", fields=parts)
        return {flow.container(node, "iterator", {pair})}
    if not arguments:
        return {flow.container(node, value.__name__)}
    elements = set() if value is dict else flow.iterated(node.args[0], arguments[0])
    if value is enumerate:
        pair = flow.container(node.func, "tuple", fields={0: {HOST}, 1: elements})
        return {flow.container(node, "iterator", {pair})}
    if value in (list, tuple, set, frozenset, reversed, iter):
        if value is tuple and all(isinstance(atom, Pack) for atom in arguments[0]):
            return set(arguments[0])
        kind = {reversed: "iterator", iter: "iterator", frozenset: "set"}.get(value, value.__name__)
        return {flow.container(node, kind, elements)}
    if value is next:
        return elements.union(*arguments[1:])
    if value is sum and not elements:
        flow.has_empty_sums = True
        return {HOST} if flow.sums_are_known else set()  # nothing is known of them yet, or there are none
    if value is sum and any(map(is_tensor_atom, elements)):
        if len(node.args) > 1 or node.keywords:
            refuse("unknown-op", "'sum' with a start is not understood", node)
        return flow.lane(node, Operation("python_sum", "same", "function", tuple(node.args)), flow.rank(elements))
    named = {item.arg: item.value for item in node.keywords}
    if value in (min, max) and len(arguments) == 1 and named.keys() == {"default"}:
        elements = elements | flow.values[named["default"]]
    elif value is dict or named.keys() - ({"reverse"} if value is sorted else set()):
        refuse("unknown-call", f"'{ast.unparse(node)}' is not understood here", node)
    return _ordering(flow, value, node, arguments, elements)


def _ordering(flow: Flow, value: Any, node: ast.Call, arguments: list[set[Atom]], elements: set[Atom]) -> set[Atom]:
    """``sorted``, ``min``, ``max``, ``any``, ``all``, ``sum`` of host values."""
    if value in (min, max) and len(arguments) > 1:
        elements = set().union(*arguments)
    if not all(isinstance(atom, (Host, Live)) or _is_plain(flow, atom) for atom in elements):
        refuse("recursion", f"'{ast.unparse(node)}' orders or tests tensors or objects", node)
    if value is sorted:
        return {flow.container(node, "list", elements)}
    return {HOST} if value not in (min, max) else set(elements)


def _is_plain(flow: Flow, atom: Atom) -> bool:
    """A tuple or list of host values only, whose comparison runs no code."""
    if isinstance(atom, External) and not issubclass(atom.type, (list, tuple, str)):
        return False
    return isinstance(atom, (Container, External)) and all(
        isinstance(item, Host) for item in flow.inside(atom).everything()
    )


def _collection(flow: Flow, name: str, node: ast.Call, arguments: list[set[Atom]]) -> set[Atom]:
    if name == "deque":
        elements = flow.elements(arguments[0], node) if arguments else set()
        return {flow.container(node, "deque", elements)}
    if name == "defaultdict" and len(arguments) == 1:
        made = flow.container(node, "dict")
        for atom in arguments[0]:
            factory = atom.value if isinstance(atom, Live) else None
            if factory not in (list, dict, set, int, float):
                refuse("unknown-call", "this default of a 'defaultdict' is not understood", node)
            empty = {HOST} if factory in (int, float) else {flow.container(node.func, factory.__name__)}
            flow.add(flow.inside(made).rest, empty)
        return {made}
    refuse("unknown-call", f"'{ast.unparse(node)}' is not understood here", node)


__all__ = ["TEXT_METHODS", "call", "enter"]
