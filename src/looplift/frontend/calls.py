"""Calls: operations with a row, functions and modules to inline, and calls of unknown effect."""

from __future__ import annotations

import ast
import dataclasses
import functools
import inspect
import operator
import sys
import types
from typing import Any

from looplift.base.classes import is_called_object, method_of_users
from looplift.base.errors import NotLiftable
from looplift.base.hooks import HOOKS
from looplift.frontend import (
    backward,
    complexes,
    comprehensions,
    contexts,
    conversions,
    cuts,
    descents,
    dictionaries,
    differentiation,
    evident,
    expressions,
    functional,
    host_items,
    inheritance,
    instances,
    lambdas,
    nested,
    ranges,
    reading,
    statements,
    structures,
    sugar,
    training,
    unrolling,
)
from looplift.frontend.exits import always_exits, with_tuples_for_dicts, without_exits
from looplift.frontend.names import assigned_names
from looplift.frontend.scope import LITERALS, Builder, Frame, Outer, Structure, Tup, Value, is_none
from looplift.frontend.source import plain_function
from looplift.ir.grammar import INNER_RESULT, UNDEFINED, Atom, Const, Group, Operand, Require, Var
from looplift.ops import distributions, table, twins
from looplift.ops.names import name_of

MAX_DEPTH = 24


def call(build: Builder, node: ast.Call) -> Value:
    """The value of a call."""
    if isinstance(node.func, ast.Name) and (special := _special(build, node)) is not None:
        return special
    if (counted := twins.counted(node)) is not None and build.is_builtin("bin"):
        return inline(build, Const(twins.ones, "bin"), twins.ones, [expressions.evaluate(build, counted[1])], {})
    if isinstance(node.func, ast.Attribute):
        owner = expressions.evaluate(build, node.func.value)
        if isinstance(owner, instances.Instance) and not owner.is_tuple:
            return call_value(build, owner.attribute(build, node.func.attr), *_arguments(build, node))
        if node.func.attr in ("backward", "step", "zero_grad"):
            if (left := backward.called(build, owner, node)) is not None:
                return left
            training.check_method(build, owner, node.func.attr)
        if node.func.attr == "get" and (table := dictionaries.table_of(build, owner)) is not None and not node.keywords:
            return _of_table(build, table, owner, [expressions.evaluate(build, argument) for argument in node.args])
        if isinstance(owner, Structure):
            positional, keywords = _arguments(build, node)
            return owner.method(build, node.func.attr, positional, keywords)
        has_arguments = bool(node.args or node.keywords)
        is_container = not has_arguments and build.is_container(owner)
        listed = host_items.module_listing(build, owner, node.func.attr) if is_container else None
        if listed is not None:
            noun = f"'{ast.unparse(node)}'"
            if host_items.is_dict_view(build, owner, node.func.attr):
                return structures.View(noun, lambda build: listed, lambda: listed)
            return structures.Once(noun, listed, build.blocks[-1])
        if node.func.attr in ("keys", "values", "items") and not node.args and not node.keywords:
            if (found := of_dict(build, owner, node.func.attr)) is not None:
                return found
        if not (isinstance(owner, Const) and owner.path) and build.object_path(owner) is None:
            return _method(build, build.atom(owner), node.func.attr, node)
        callee = _bound(build, owner, node.func.attr)
    else:
        callee = expressions.evaluate(build, node.func)
    if isinstance(callee, Const) and callee.value is functools.reduce:
        if (found := sugar.reduced(build, node)) is not None:
            return found
    callee = _called_method(build, callee) or callee
    if isinstance(callee, Structure) or (isinstance(callee, Const) and callable(callee.value)):
        if isinstance(callee, Const) and node.args and isinstance(node.args[0], ast.Call):
            node = conversions.of_lists(build, node, callee.value)
        return call_value(build, callee, *_arguments(build, node))
    raise build.refuse("unknown-call", f"'{ast.unparse(node.func)}' is not known before the loop runs")


def _of_table(build: Builder, table: dictionaries.Table, owner: Value, arguments: list[Value]) -> Value:
    """``d.get(key)`` and ``d.get(key, default)``."""
    if len(arguments) not in (1, 2):
        raise build.refuse("requirement", "'get' takes one or two arguments")
    if dictionaries.unknown_key(build, owner, arguments[0]) is not None:
        return table.get(build, *arguments)
    if isinstance(owner, Structure):
        return owner.method(build, "get", arguments, {})
    args = [operand(build, value) for value in arguments]
    return build.operation("method.get", [build.atom(owner), *args], {})


def of_dict(build: Builder, owner: Value, kind: str) -> Value | None:
    """A view of a dict of the caller: its items one by one if they are of different kinds."""
    from looplift.frontend.rows import dict_view

    table = host_items.items_of(build, owner)
    if isinstance(table, dict):
        pairs = [(Const(key), value) for key, value in table.items()]
        found = {"keys": [key for key, _ in pairs], "values": [value for _, value in pairs], "items": map(Tup, pairs)}
        shown = list(found[kind])
        return structures.View(f"the {kind} of a dict", lambda build: shown, lambda: shown)
    return dict_view(build, owner, kind)


def call_value(build: Builder, callee: Value, positional: list[Value], keywords: dict[str, Value]) -> Value:
    """The value of calling a function that is known now."""
    if isinstance(callee, Structure):
        return callee.call(build, positional, keywords)
    callee = _called_method(build, callee) or callee
    if not isinstance(callee, Const) or not callable(callee.value):
        raise build.refuse("unknown-call", "a function that is not known before the loop runs")
    return static_call(build, callee, positional, keywords)


def special(build: Builder, owner: Value, name: str, arguments: list[ast.expr]) -> Value | None:
    """What ``ds[i]`` or ``len(ds)`` gives for an object whose class says it in Python; None for any other value."""
    if (method := _special_method(build, owner, name)) is None:
        return None
    return call_value(build, method, [expressions.evaluate(build, one) for one in arguments], {})


def _special_method(build: Builder, owner: Value, name: str) -> Const | None:
    """A special method of an object whose class has it in Python, bound to it; None of any other value."""
    path = owner.path if isinstance(owner, Const) else build.object_path(owner)
    if not path:
        return None
    held = owner.value if isinstance(owner, Const) else build.param_values[path]
    if method_of_users(type(held), name) is None or name in getattr(held, "__dict__", {}):
        return None
    return _bound(build, owner, name)


def _called_method(build: Builder, callee: Value) -> Const | None:
    """What a call of an object runs whose class has a ``__call__``; None of any other value."""
    return _special_method(build, callee, "__call__") if is_called_object(build.given(callee)) else None


def _length(build: Builder, owner: Value) -> Value | None:
    """``len(ds)`` of such an object."""
    found = special(build, owner, "__len__", [])
    if found is None:
        return None
    if not (evident.is_integer(build, found) or evident.is_extent(build, found)):
        raise build.refuse("unsupported-value", "a '__len__' that may give something else than an integer")
    count = build.atom(found)
    if not (isinstance(count, Const) and count.value >= 0):
        build.add(Require(build.emit("ge", count, Const(0)), "a length is negative", build.span))
    return count


def _bound(build: Builder, owner: Value, name: str) -> Const:
    """What a static object has under a name: its path keeps the owner's, so that a method can be inlined."""
    path = owner.path if isinstance(owner, Const) else build.object_path(owner)
    assert path is not None
    value = owner.value if isinstance(owner, Const) else build.param_values[path]
    found = expressions.read_attribute(build, value, path, name)
    reading.watch(build, value, path, name)
    if isinstance(owner, Const) and owner in build.strangers:
        return expressions.of_stranger(build, owner, name, found)
    if isinstance(value, types.ModuleType):
        expressions.watch_module(build, value, name, found)
    elif isinstance(found, types.MethodType):
        build.watch(None, f"{path}.{name}.__func__", found.__func__)
    else:
        build.modules.setdefault(f"{path}.{name}", found)
    return Const(found, f"{path}.{name}")


def _arguments(build: Builder, node: ast.Call) -> tuple[list[Value], dict[str, Value]]:
    positional = expressions._items(build, node.args)
    keywords: dict[str, Value] = {}
    for keyword in node.keywords:
        value = expressions.evaluate(build, keyword.value)
        found = {keyword.arg: value} if keyword.arg is not None else _spread_keywords(build, value)
        if twice := keywords.keys() & found.keys():
            raise build.refuse("requirement", f"'{min(twice)}' is given twice")
        keywords |= found
    return positional, keywords


def _spread_keywords(build: Builder, value: Value) -> dict[str, Value]:
    """``**value`` of a dict whose items are known one by one."""
    from looplift.frontend.structures import Shelf

    if isinstance(value, Shelf) and value.kind == "dict":
        found = {key: value.value(build, key) for key in value.cells}
    else:
        found = host_items.items_of(build, value)
    if isinstance(found, dict) and all(isinstance(key, str) for key in found):
        return {str(key): one for key, one in found.items()}
    raise build.refuse("unsupported-syntax", "'**' in a call, of something that is not known item by item")


def operand(build: Builder, value: Value) -> Operand:
    if isinstance(value, Tup):
        return Group("tuple", tuple(operand(build, item) for item in value.items))
    return value.operand(build) if isinstance(value, Structure) else value


def _method(build: Builder, owner: Atom, name: str, node: ast.Call) -> Value:
    positional, keywords = _arguments(build, node)
    if name == "requires_grad_":
        return differentiation.asks_for_gradients(build, owner, positional, keywords)
    args = [operand(build, value) for value in positional]
    kwargs = {key: operand(build, value) for key, value in keywords.items()}
    if name == "where" and len(args) == 2 and not kwargs:  # its first operand is not the first of the function
        return build.operation("torch.where", [args[0], owner, args[1]], {})
    return build.operation(f"method.{name}", [owner, *args], kwargs)


def static_call(build: Builder, callee: Const, positional: list[Value], keywords: dict[str, Value]) -> Value:
    """A call of something known: an operation, a function or module to inline, or unknown."""
    import torch

    value = callee.value
    if value is torch.is_tensor and len(positional) == 1 and isinstance(positional[0], Const | Var) and not keywords:
        if (answer := inheritance.is_of(build, positional[0], (torch.Tensor,))) is not None:
            return Const(answer)
    if value is torch.autograd.backward:
        raise training.refusal(build)
    if value is torch.autograd.grad:
        return differentiation.gradients(build, positional, keywords)
    if functional.is_functional_call(value):
        return functional.called(build, positional, keywords)
    if isinstance(value, functools.partial) or value is functools.partial:
        return _partial(build, callee, positional, keywords)
    if (
        complexes.is_function(value)
        and not keywords
        and (found := complexes.called(build, value, positional)) is not None
    ):
        return found
    if (twin := twins.twin_of(value, len(positional))) is not None:
        return inline(build, callee, twin, positional, keywords)
    if (name := name_of(value) or _of_operator(value)) is not None:
        if name == "builtin.round":
            positional, keywords = _with_digits(positional, keywords)
        args = [_as_array(build, name, v) for v in positional]
        unrolling.joined(build, name, args)
        return build.operation(name, args, {k: operand(build, v) for k, v in keywords.items()})
    if isinstance(value, torch.nn.Module):
        return _module(build, callee, positional, keywords)
    if isinstance(value, types.MethodType):
        if getattr(value.__self__, "__looplift_lifted__", False):
            raise build.refuse("unknown-call", f"'{callee.path}' is lifted by itself")
        return inline(build, callee, value.__func__, [_owner(build, callee), *positional], keywords)
    if isinstance(value, types.FunctionType) and value is not dataclasses.replace:
        return inline(build, callee, value, positional, keywords)
    if (of := distributions.twin_of(value, len(positional), keywords)) is not None:
        for name in (one for one in distributions.METHODS if hasattr(value, one)):
            build.watch(value, f".{name}", getattr(value, name))
        callee = Const(of, callee.path)
    if (made := instances.called(build, callee, positional, keywords)) is not None:
        return made
    return unknown(build, callee, positional, keywords)


_OF_ARRAYS = table.ELEMENTWISE | {"dot", "vdot", "inner", "outer", "matmul", "cross", "median"}


def _as_array(build: Builder, name: str, value: Value) -> Operand:
    """An argument; NumPy makes an array of a list or tuple of numbers before it computes with it."""
    given = operand(build, value)
    library, _, base = name.rpartition(".")
    is_listed = isinstance(value, Tup) or (isinstance(value, structures.Shelf) and value.kind == "list")
    if (
        library != "np"
        or base not in _OF_ARRAYS
        or not (is_listed or (isinstance(value, Var) and value in build.displays))
    ):
        return given
    return build.operation("np.array", [given], {})


def _with_digits(positional: list[Value], keywords: dict[str, Value]) -> tuple[list[Value], dict[str, Value]]:
    """``round(x, ndigits=2)`` is ``round(x, 2)``, and ``round(x, None)`` is ``round(x)``."""
    if len(positional) == 1 and keywords.keys() == {"ndigits"}:
        positional, keywords = [*positional, keywords["ndigits"]], {}
    return (positional[:1] if len(positional) == 2 and is_none(positional[1]) else positional), keywords


def _of_operator(value: Any) -> str | None:
    """The operation that a function of the module ``operator`` is."""
    name = getattr(value, "__name__", "")
    operators = {*expressions.BINARY.values(), *expressions.COMPARE.values(), "neg", "pos", "getitem"} - {
        "in_",
        "not_in",
    }
    return name if name in operators and getattr(operator, name, None) is value else None


def _partial(build: Builder, callee: Const, positional: list[Value], keywords: dict[str, Value]) -> Value:
    """``functools.partial`` called, or a call of what it made."""
    from looplift.frontend.structures import Partial

    value = callee.value
    if value is functools.partial:
        return Partial(positional[0], positional[1:], keywords)
    if callee in build.strangers:
        raise build.refuse("unsupported-value", f"'{callee.path}' is of another module; pass it as an argument")
    build.watch(None, f"{callee.path}.func", value.func)
    build.watch(None, f"len({callee.path}.args)", len(value.args))
    build.watch(None, f"tuple({callee.path}.keywords)", tuple(value.keywords))
    function = build.live_in(f"{callee.path}.func", value.func)
    first = [build.live_in(f"{callee.path}.args[{k}]", one) for k, one in enumerate(value.args)]
    named = {key: build.live_in(f"{callee.path}.keywords[{key!r}]", one) for key, one in value.keywords.items()}
    return call_value(build, function, [*first, *positional], {**named, **keywords})


def _owner(build: Builder, method: Const) -> Const:
    """The object that a method is bound to, under a path that leads to it."""
    owner = method.value.__self__
    if method in build.strangers and not isinstance(owner, type):
        raise build.refuse("unsupported-value", f"'{method.path}' is bound to an object of another module")
    path = method.path.rpartition(".")[0]
    if build.modules.get(path) is owner or build.param_values.get(path) is owner:
        return Const(owner, path)
    found = Const(owner, f"{method.path}.__self__")
    if method in build.strangers:
        build.strangers.add(found)
    return found


def unknown(build: Builder, callee: Const, positional: list[Value], keywords: dict[str, Value]) -> Value:
    args = [operand(build, v) for v in positional]
    return build.operation("call", [callee, *args], {k: operand(build, v) for k, v in keywords.items()})


def _module(build: Builder, callee: Const, positional: list[Value], keywords: dict[str, Value]) -> Value:
    """A network module: a standard one is an operation, any other is inlined through its ``forward``."""
    import torch

    module = callee.value
    _check_hooks(build, callee)
    if callee in build.strangers:
        raise build.refuse("unsupported-value", f"'{callee.path}' is of another module; pass it as an argument")
    if isinstance(module, torch.nn.Sequential) and type(module).forward is torch.nn.Sequential.forward:
        build.watch(None, f"len({callee.path})", len(module))
        value = positional[0]
        for position, inner in enumerate(module):
            path = f"{callee.path}[{position}]"
            build.live_in(path, inner)
            value = static_call(build, Const(inner, path), [value], {})
        return value
    is_functional = type(module).__name__ in table.FUNCTIONAL_MODULES or differentiation.is_functional(build, module)
    is_functional |= type(module) is torch.nn.Dropout and module.training
    if type(module).__module__.startswith("torch.nn.") and not is_functional:
        if not keywords and (found := differentiation.module(build, callee, positional)) is not None:
            return found
        functional.check_module(build, callee)
        for name, inner in list(module.named_modules())[1:]:
            _check_hooks(build, Const(inner, f"{callee.path}.{name}"))
        args = [operand(build, v) for v in positional]
        build.modules[callee.path] = module
        return build.operation("module", [callee, *args], {k: operand(build, v) for k, v in keywords.items()})
    if is_functional:
        differentiation.with_fixed_options(build, callee)
    build.modules[callee.path] = module
    forward = type(module).forward
    build.watch(type(module), ".forward", forward)
    build.watch(type(module), ".__call__", torch.nn.Module.__call__)
    return inline(build, callee, forward, [Const(module, callee.path), *positional], keywords)


def _check_hooks(build: Builder, callee: Const) -> None:
    import torch

    module = callee.value
    if type(module).__call__ is not torch.nn.Module.__call__:
        raise build.refuse("unknown-call", f"'{callee.path}' has a '__call__' of its own")
    if any(getattr(module, name, None) for name in HOOKS) or "forward" in vars(module):
        raise build.refuse("unknown-call", f"'{callee.path}' has hooks, which must run once for each call")


# ---------------------------------------------------------------- inlining


def inline(build: Builder, callee: Const, function: Any, positional: list[Value], keywords: dict[str, Value]) -> Value:
    """The value of a call of a Python function, translated in place."""
    try:
        function = plain_function(function)
        if (inner := contexts.undecorated(build, function)) is not None:
            build.watch(function, ".__code__", function.__code__)
            with contexts.without_history(build):
                return inline(build, callee, inner, positional, keywords)
        known = descents.known_of(build, [*positional, *keywords.values()])
        again = function in build.calls and not descents.goes_on(build, function, known)
        if again or len(build.calls) >= MAX_DEPTH:
            raise build.refuse("recursion", f"'{callee.path}' calls itself")
        source = lambdas.source_of_any(function)
    except NotLiftable as refusal:
        if refusal.code == "recursion":
            raise
        raise build.refuse("unknown-call", f"'{callee.path}' cannot be read: {refusal.message}") from None
    has_path = build.modules.get(callee.path) is callee.value and callee not in build.strangers
    is_guarded = (has_path and isinstance(callee.value, types.FunctionType)) or callee in build.in_guarded_cells
    if not is_guarded or "<locals>" not in function.__qualname__:  # those are guarded by what they are made of
        build.watch_function(function)
    env = _bind(build, callee, function, source.tree.args, positional, keywords)
    for name in assigned_names(source.tree.body):
        env.setdefault(name, UNDEFINED)
    path = _path_of(build, callee, has_path=has_path) if is_guarded and callee.value is function else ""
    frame = Frame(env, outer_names(function), file=source.file, cells_are_guarded=is_guarded, path=path)
    build.descents.append(descents.Descent(function, known, build.rounds))
    try:
        return run_body(build, frame, function, source.tree.body)
    except SyntaxError as error:
        raise build.refuse("unsupported-syntax", f"'{callee.path}' has {error}") from None
    except NotLiftable as refusal:
        if refusal.code not in _OF_AUTHORS or not _is_of_python(function) or any(map(_is_of_python, build.calls)):
            raise
        raise build.refuse("unknown-call", f"the effects of calling '{callee.path}' are not known") from None
    finally:
        build.descents.pop()


_OF_AUTHORS = ("exception-handling", "unsupported-syntax")
"""Reasons about how something is written, which only those who wrote it can act on."""


def _is_of_python(function: Any) -> bool:
    """Whether a function is one of Python's own library."""
    return str(getattr(function, "__module__", None)).partition(".")[0] in sys.stdlib_module_names - {"__main__"}


def _path_of(build: Builder, callee: Const, *, has_path: bool) -> str:
    """By which the region reaches a function whose closure is guarded; empty if it does not."""
    if has_path:
        return callee.path
    outer = build.frame.outer
    if not build.frame.path or not isinstance(outer, Outer) or callee.path not in outer.cells:
        return ""
    return f"{build.frame.path}.__closure__[{list(outer.cells).index(callee.path)}].cell_contents"


def run_body(build: Builder, frame: Frame, key: Any, statements_of_body: list[ast.stmt]) -> Value:
    """What the body of a function returns, translated in a frame of its own; ``key`` tells the function."""
    build.counter.avoid(statements_of_body)
    result = f"{INNER_RESULT}{next(build.counter)}"
    saved, env = build.span, frame.env
    keys, statements_of_body = with_tuples_for_dicts(statements_of_body)
    build.frames.append(frame)
    build.calls.append(key)
    try:
        body = without_exits(statements.without_docstring(statements_of_body), result, build.counter)
        env[result] = UNDEFINED if always_exits(statements_of_body) else Const(None)
        statements.translate_block(build, body)
        found = env[result]
        if not keys:
            return found
        if not isinstance(found, Tup):
            raise build.refuse("mixed-kinds", "a dict that is returned at several places holds values of several kinds")
        return structures.shelf_of(build, dict(zip(keys, found.items, strict=True)))
    finally:
        build.calls.pop()
        build.frames.pop()
        build.span = saved


def outer_names(function: types.FunctionType) -> Outer:
    """What a function sees beyond its locals: its closure over its module's globals."""
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    return Outer(function.__globals__, dict(cells))


def _bind(
    build: Builder,
    callee: Const,
    function: types.FunctionType,
    arguments: ast.arguments,
    positional: list[Value],
    keywords: dict[str, Value],
) -> dict[str, Value]:
    """Bind arguments to parameters as Python does; defaults must be static or numbers."""
    if "__signature__" in vars(function):
        raise build.refuse("unknown-call", f"'{callee.path}' shows another signature than its own")
    signature = inspect.signature(function, follow_wrapped=False)
    try:
        bound = signature.bind(*positional, **keywords)
    except TypeError as error:
        raise build.refuse("unknown-call", f"the call of '{callee.path}' does not fit: {error}") from None
    env: dict[str, Value] = dict(bound.arguments)
    if arguments.vararg is not None:
        env[arguments.vararg.arg] = Tup(tuple(bound.arguments.get(arguments.vararg.arg, ())))
    if arguments.kwarg is not None:
        from looplift.frontend.structures import shelf_of

        env[arguments.kwarg.arg] = shelf_of(build, dict(bound.arguments.get(arguments.kwarg.arg, {})))
    for name, parameter in signature.parameters.items():
        if name not in env:
            env[name] = default_value(build, callee, parameter.default)
    return env


def default_value(build: Builder, callee: Const, value: Any) -> Value:
    """What a parameter or field holds that a call does not give."""
    import numpy as np

    if value is None or type(value) in LITERALS or isinstance(value, np.generic):
        return Const(value)
    if build.is_known_by_itself(value):
        return build.stranger(value, f"{callee.path}.__defaults__")
    if isinstance(value, tuple):
        return Tup(tuple(default_value(build, callee, item) for item in value))
    raise build.refuse("unknown-call", f"a default value of '{callee.path}' is a {type(value).__name__}")


# ---------------------------------------------------------------- builtins that are loops or structure


def _special(build: Builder, node: ast.Call) -> Value | None:
    assert isinstance(node.func, ast.Name)
    name = node.func.id
    if not build.is_builtin(name):
        return None
    single = len(node.args) == 1 and not node.keywords
    match name:
        case "sum" if node.args and _is_iteration(node.args[0]) and {k.arg for k in node.keywords} <= {"start"}:
            return _sum(build, node)
        case "min" | "max" if node.keywords:
            return _extreme_by_key(build, name, node)
        case "float" if single and _is_infinite(node.args[0]):
            return Const(float(ast.literal_eval(node.args[0])))
        case "super" if not node.args and not node.keywords:
            return instances.parent(build)
        case "next":
            return sugar.first_of(build, node)
        case "sum" | "min" | "max" | "any" | "all" if single:
            return _of_known(build, name, node)
        case "list" | "tuple" | "dict" if len(node.args) <= 1:
            return conversions.converted(build, node)
        case "zip" if not node.keywords:
            return conversions.unpacked_zip(build, node)
        case "sorted" | "set" | "frozenset":
            if (found := host_items.made_beforehand(build, node)) is not None or name != "sorted":
                return found
            return _sorted_set(build, node) if single else sugar.sorted_by_key(build, node)
        case "slice":
            return cuts.made(build, node)
        case "range" if not node.keywords and not any(isinstance(one, ast.Starred) for one in node.args):
            return ranges.made(build, node)
        case "len" if single:
            value = expressions.evaluate(build, node.args[0])
            if isinstance(value, Structure):
                return value.length(build)
            if (count := _length(build, value)) is not None:
                return count
            items = value.items if isinstance(value, Tup) else host_items.items_of(build, value)
            return build.emit("builtin.len", build.atom(value)) if items is None else Const(len(items))
        case "divmod" if len(node.args) == 2 and not node.keywords:
            left, right = (expressions.evaluate_atom(build, arg) for arg in node.args)
            if not (evident.is_no_tensor(build, left) and evident.is_no_tensor(build, right)):
                raise build.refuse("unsupported-value", "'divmod' of what may be tensors; write '//' and '%'")
            return Tup((build.emit("floordiv", left, right), build.emit("mod", left, right)))
        case "isinstance" if len(node.args) == 2:
            return _isinstance(build, node)
        case "min" | "max" if len(node.args) >= 2 and not node.keywords:
            return _extreme(build, name, [expressions.evaluate_atom(build, arg) for arg in node.args])
    return None


def _sorted_set(build: Builder, node: ast.Call) -> Value | None:
    """``sorted(s)`` of a set or tuple of numbers that goes by a name; None of anything else."""
    value = expressions.evaluate(build, node.args[0]) if isinstance(node.args[0], ast.Name) else None
    return build.emit("builtin.sorted", value.whole, hint="order") if isinstance(value, nested.Frozen) else None


def _extreme_by_key(build: Builder, name: str, node: ast.Call) -> Value | None:
    """``max(xs, key=f)``, and ``max(a, b, key=f)`` of several values; None of one iterable with other arguments."""
    if len(node.args) < 2:
        return sugar.best_by_key(build, node, name)
    items = ast.copy_location(ast.Tuple(node.args, ast.Load()), node)
    found = sugar.best_by_key(build, ast.copy_location(ast.Call(node.func, [items], node.keywords), node), name)
    if found is None:
        raise build.refuse("unsupported-syntax", f"'{name}' of several values with these arguments")
    return found


def _is_infinite(node: ast.expr) -> bool:
    """``"inf"`` or ``"-inf"``, of which ``float`` makes a number that is known before the loop runs."""
    return isinstance(node, ast.Constant) and node.value in ("inf", "-inf", "Inf", "-Inf", "infinity", "-infinity")


def _of_known(build: Builder, name: str, node: ast.Call) -> Value:
    """``sum(values)`` and the like of items known one by one, or of a generator; the builtin of anything else."""
    if _is_iteration(node.args[0]):
        if name in ("any", "all"):
            return _search(build, name, node.args[0])
        if name == "sum":
            return _sum(build, node)
        made = comprehensions.comprehension(build, _comprehension_of(build, node.args[0]))
    elif isinstance(listed := node.args[0], ast.List) and not any(isinstance(one, ast.Starred) for one in listed.elts):
        made = Tup(tuple(expressions.evaluate(build, one) for one in listed.elts))  # nobody else has this list
    else:
        made = expressions.evaluate(build, node.args[0])
    if isinstance(made, nested.Frozen):
        return build.emit(f"builtin.{name}", made.whole)
    items = expressions.known_items(build, made)
    if items is None:
        return build.emit(f"builtin.{name}", operand(build, made))
    if name in ("any", "all"):
        return _first_that(build, name, items)
    if name == "sum":
        return functools.reduce(lambda total, item: expressions._binary(build, "add", total, item), items, Const(0))
    if not items:
        raise build.refuse("requirement", f"'{name}' of nothing")
    return _extreme(build, name, list(map(build.atom, items)))


def _first_that(build: Builder, name: str, items: list[Value]) -> Value:
    """``any`` of values one by one, up to the first that holds; ``all`` up to the first that does not."""
    if not items:
        return Const(name == "all")
    holds = build.emit("builtin.bool", build.atom(items[0]))
    rest = lambda: _first_that(build, name, items[1:])  # noqa: E731
    done = lambda: Const(name == "any")  # noqa: E731
    return expressions.conditional(build, holds, *((done, rest) if name == "any" else (rest, done)))


def _comprehension_of(build: Builder, node: ast.expr) -> ast.GeneratorExp | ast.ListComp:
    """An iteration as a comprehension."""
    if isinstance(node, ast.GeneratorExp | ast.ListComp):
        return node
    element, generators = _generator(build, node)
    return ast.fix_missing_locations(ast.copy_location(ast.ListComp(element, generators), node))


def _extreme(build: Builder, name: str, atoms: list[Atom]) -> Atom:
    """Python's ``min(a, b)`` is ``b if b < a else a``: the first of equals, and no NaN is special."""
    best = atoms[0]
    for atom in atoms[1:]:
        best = build.emit(f"builtin.{name}", best, atom, hint=name)
    return best


def _isinstance(build: Builder, node: ast.Call) -> Value:
    value = expressions.evaluate(build, node.args[0])
    kinds = expressions.evaluate(build, node.args[1])
    kinds = kinds.items if isinstance(kinds, Tup) else (kinds,)
    if isinstance(value, instances.Instance) and all(isinstance(kind, Const) for kind in kinds):
        return Const(any([value.is_of(build, kind.value) for kind in kinds if isinstance(kind, Const)]))
    classes = tuple(kind.value for kind in kinds if isinstance(kind, Const))
    if len(classes) == len(kinds) and (answer := inheritance.is_of(build, build.atom(value), classes)) is not None:
        return Const(answer)
    raise build.refuse("mixed-kinds", "'isinstance' of a value that the loop makes")


def _is_iteration(node: ast.expr) -> bool:
    return isinstance(node, ast.GeneratorExp | ast.ListComp) or (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("range", "zip", "map")
    )


def _generator(build: Builder, node: ast.expr) -> tuple[ast.expr, list[ast.comprehension]]:
    if isinstance(node, ast.GeneratorExp | ast.ListComp):
        return node.elt, node.generators
    name = f"_item_{next(build.counter)}"
    return ast.Name(name, ast.Load()), [ast.comprehension(ast.Name(name, ast.Store()), node, [], 0)]


def _sum(build: Builder, node: ast.Call) -> Value:
    """``sum(e for x in xs)`` is ``total = 0`` and a loop that adds."""
    start = [*node.args[1:], *(keyword.value for keyword in node.keywords), ast.Constant(0)][0]
    element, generators = _generator(build, comprehensions.made_first(build, node.args[0], [start]))
    total = f"_total_{next(build.counter)}"
    body = ast.Assign([ast.Name(total, ast.Store())], ast.BinOp(ast.Name(total, ast.Load()), ast.Add(), element))
    return _run(build, node, total, start, body, generators)


def _search(build: Builder, name: str, node: ast.expr) -> Value:
    """``any(c for x in xs)`` stops at the first that holds, ``all`` at the first that does not."""
    if isinstance(node, ast.ListComp):  # the list is made to its end before its items are asked
        made = ast.GeneratorExp(*_generator(build, comprehensions.listed(build, node)))
        return _search(build, name, ast.copy_location(made, node))
    element, generators = _generator(build, node)
    found = f"_found_{next(build.counter)}"
    if len(generators) > 1:
        raise build.refuse("unsupported-syntax", f"'{name}' over several nested iterations")
    test = element if name == "any" else ast.UnaryOp(ast.Not(), element)
    hit = ast.Assign([ast.Name(found, ast.Store())], ast.Constant(name == "any"))
    return _run(build, node, found, ast.Constant(name == "all"), ast.If(test, [hit, ast.Break()], []), generators)


def _run(build: Builder, node, name: str, start: ast.expr, body: ast.stmt, generators) -> Value:
    first = ast.Assign([ast.Name(name, ast.Store())], start)
    loop = comprehensions.loops_of(generators, [body])
    for made in (first, loop):
        ast.copy_location(made, node)
        ast.fix_missing_locations(made)
    statements.translate_block(build, [first])
    comprehensions.translate_scoped(build, generators, without_exits([loop], "_unused", build.counter))
    return build.env.pop(name)
