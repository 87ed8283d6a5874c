"""Python functions as the host slice sees them: source, parameters, and how a free name is reached."""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import sys
import textwrap
import types
from collections.abc import Mapping
from typing import Any

from looplift.base.closures import closure_of
from looplift.base.data import dataclass, field
from looplift.base.errors import NotLiftable
from looplift.base.syntax import nodes_of
from looplift.frontend.host_filled import with_filled
from looplift.frontend.host_inner import origin_of, taken_apart
from looplift.frontend.host_values import Atom, Live
from looplift.frontend.private import attributes_apart, names_apart

RESERVED = {"Any", "Attributes", "Batches", "Handle", "MixedShapes", "Sums", "Table", "Waves", "array", "gc", "region",
            "bisect_right", "torch", "types", "without_collections"}  # fmt: skip
"""Names that the emitted text has for itself."""


class Names:
    """Names of the emitted text for live objects: the author's where they are free, numbered where they are not."""

    def __init__(self, globals: Mapping[str, Any], taken: set[str]):
        self.globals = globals
        self.taken = set(taken) | RESERVED
        self.known: dict[tuple[int, str], str] = {}
        self.constants: dict[str, Any] = {}
        self.guards: dict[str, Any] = {}

    def constant(self, value: Any, hint: str) -> str:
        """The name under which the emitted text finds a global object."""
        if (id(value), hint) in self.known:
            return self.known[id(value), hint]
        free = hint not in self.taken or (hint == "torch" and value is sys.modules.get("torch"))
        name = hint if free else self.fresh(hint)
        self.taken.add(name)
        self.known[id(value), hint] = name
        self.constants[name] = value
        return name

    def fresh(self, hint: str) -> str:
        """A name that nothing else has, starting with the hint."""
        number, name = 2, hint
        while name in self.taken or hasattr(builtins, name):
            name, number = f"{hint}_{number}", number + 1
        self.taken.add(name)
        return name


@dataclass(eq=False)
class Routine:
    """One user function, or the region itself, with what its names may hold."""

    name: str
    body: list[ast.stmt]
    parameters: list[str]
    function: Any = None
    defaults: dict[str, ast.expr] = field(default_factory=dict)
    variables: dict[str, set[Atom]] = field(default_factory=dict)
    returns: set[Atom] = field(default_factory=set)
    locals: set[str] = field(default_factory=set)
    inner: dict[str, types.FunctionType] = field(default_factory=dict)
    line_offset: int = 0

    def cells(self) -> dict[str, Any]:
        """The values of the closure, by name."""
        return {} if self.function is None else closure_of(self.function)


def bound_names(statements: list[ast.stmt]) -> set[str]:
    """Every name that the statements assign."""
    nodes = (node for statement in statements for node in nodes_of(statement))
    return {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del))}


def routine_of(function: types.FunctionType, names: Names) -> Routine:
    """A routine from a user's function; refuses what cannot be read or is not a plain function."""
    if hasattr(function, "__wrapped__"):
        raise NotLiftable("unknown-call", f"'{function.__name__}' is wrapped by a decorator")
    definition, offset = _definition(function)
    arguments = definition.args
    if arguments.vararg or arguments.kwarg:
        raise NotLiftable("unknown-call", f"'{function.__name__}' takes a variable number of arguments")
    if any(not _is_plain_decorator(item) for item in definition.decorator_list):
        raise NotLiftable("unknown-call", f"'{function.__name__}' has a decorator")
    parameters = [item.arg for item in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    positional = [item.arg for item in (*arguments.posonlyargs, *arguments.args)]
    defaults = dict(zip(reversed(positional), reversed(arguments.defaults)))
    for item, default in zip(arguments.kwonlyargs, arguments.kw_defaults):
        if default is not None:
            defaults[item.arg] = default
    for name, default in defaults.items():
        if not isinstance(default, ast.Constant) and not (
            isinstance(default, ast.UnaryOp) and isinstance(default.operand, ast.Constant)
        ):
            raise NotLiftable("unknown-call", f"the default of '{name}' in '{function.__name__}' is not a literal")
        if repr(_default_of(function, name)) != repr(ast.literal_eval(default)):
            raise NotLiftable("unknown-call", f"the default of '{name}' in '{function.__name__}' was replaced")
    body, inner = taken_apart(function, parameters, _without_docstring(definition.body))
    if (origin := origin_of(function)) is not None:
        inner = origin.beside
    body = attributes_apart(names_apart(body, parameters), parameters)
    body = with_filled(body, dict.fromkeys(parameters), {**function.__globals__, **closure_of(function)})
    variables: dict[str, set[Atom]] = {name: set() for name in parameters}
    routine = Routine(_emitted_name(function), body, parameters, function, defaults, variables, inner=inner)
    routine.locals = {*parameters, *bound_names(body)}
    names.taken |= routine.locals
    routine.line_offset = offset
    return routine


def _default_of(function: types.FunctionType, name: str) -> Any:
    """The value that a parameter has now where a call gives none."""
    return inspect.signature(function, follow_wrapped=False).parameters[name].default


def _emitted_name(function: types.FunctionType) -> str:
    """``encode``; ``tree_forward`` for the ``forward`` of a class ``Tree``."""
    if function.__name__ != "forward":
        return function.__name__
    owner = function.__qualname__.split(".")[-2:][0]
    return f"{owner.lower()}_forward"


def _is_plain_decorator(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in ("staticmethod", "classmethod", "property")


def _without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    first = body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        return body[1:] or [ast.Pass()]
    return body


@functools.lru_cache(maxsize=256)
def _source_lines(code: types.CodeType) -> tuple[str, int]:
    lines, start = inspect.getsourcelines(code)
    return textwrap.dedent("".join(lines)), start


def _definition(function: types.FunctionType) -> tuple[ast.FunctionDef, int]:
    """The function's syntax tree with line numbers of its file, and those of the first line."""
    if (origin := origin_of(function)) is not None:
        return origin.tree, origin.tree.lineno
    try:
        text, start = _source_lines(function.__code__)
        tree = ast.parse(text)
    except (OSError, TypeError, SyntaxError, IndentationError):
        raise NotLiftable("unknown-call", f"the source of '{function.__name__}' is not available") from None
    definition = tree.body[0]
    if not isinstance(definition, ast.FunctionDef):
        raise NotLiftable("unknown-call", f"'{function.__name__}' is not defined by a plain 'def'")
    ast.increment_lineno(definition, start - 1)
    return definition, start


def resolve(routine: Routine, name: str, names: Names) -> Live:
    """The live object of a free name, with the name by which the emitted text reaches it."""
    scope: Mapping[str, Any] = names.globals
    if routine.function is not None:
        scope = routine.function.__globals__
    if name in scope:
        return _known(scope[name], name, names)
    if hasattr(builtins, name):
        return Live(getattr(builtins, name), name)
    raise NotLiftable("unsupported-value", f"'{name}' is not defined where '{routine.name}' can see it")


def _known(value: Any, name: str, names: Names) -> Live:
    if getattr(builtins, name, None) is value:
        return Live(value, name)
    return Live(value, names.constant(value, name))
