"""A function in, its syntax tree with the lines of its file out."""

from __future__ import annotations
import __future__

import ast
import bisect
import copy
import dis
import enum
import inspect
import linecache
import os
import types
from collections.abc import Mapping, Sequence
from typing import Any

from looplift.base.data import dataclass, replace
from looplift.base.errors import NotLiftable
from looplift.base.syntax import children_of, nodes_of
from looplift.frontend import headers, matches, slices, states

REGIONS_NAME = "__looplift_regions__"
"""The free variable by which rewritten code reaches its regions."""

_READ: dict[tuple[str, int, str, types.CodeType], Source] = {}
_NO_PARAMETERS = ast.arguments([], [], None, [], [], None, [])
_UNREADABLE = "the source text of '{}' cannot be read"


@dataclass(frozen=True)
class Source:
    """A function's definition: its tree without decorators, its own lines, and where they are.

    Lines and columns of the tree are those of ``file``; names with two leading underscores are already mangled
    as their class demands. ``line`` is the line of the first decorator or of ``def``.
    """

    tree: ast.FunctionDef
    lines: tuple[str, ...]
    file: str
    line: int
    line_offset: int = 0

    @property
    def text(self) -> str:
        return "".join(self.lines)


def source_of(function: Any) -> Source:
    """The source of a function or method. Raises NotLiftable where there is none, or not the one it was made from."""
    function = plain_function(function)
    if function.__code__.co_flags & inspect.CO_GENERATOR:
        raise NotLiftable("generator", f"'{function.__name__}' hands out its results one by one, with 'yield'")
    return source_of_called(function)


def source_of_called(function: Any) -> Source:
    """The same, also of a generator function, for those who know when its statements run."""
    function = plain_function(function)
    if function.__code__.co_flags & (inspect.CO_COROUTINE | inspect.CO_ITERABLE_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        raise NotLiftable("unsupported-syntax", f"'{function.__name__}' is asynchronous")
    return _read(function)


def remade(function: types.FunctionType, tree: ast.FunctionDef) -> types.FunctionType:
    """A function of another tree in the place of one, which reads the same variables around it."""
    like, free = source_of(function), function.__code__.co_freevars
    bare = ast.fix_missing_locations(copy.deepcopy(tree))
    bare.args.defaults = [ast.copy_location(ast.Constant(None), default) for default in bare.args.defaults]
    bare.args.kw_defaults = [
        default and ast.copy_location(ast.Constant(None), default) for default in bare.args.kw_defaults
    ]
    bare.returns, bare.decorator_list = None, []
    cells = [ast.Assign([ast.Name(name, ast.Store())], ast.Constant(None)) for name in free]
    around = ast.FunctionDef("around", _NO_PARAMETERS, [*cells, bare, ast.Return(ast.Name(tree.name, ast.Load()))], [])
    made: dict[str, Any] = {}
    exec(compile(ast.fix_missing_locations(ast.Module([around], [])), like.file, "exec"), made)
    code = made["around"]().__code__
    held = dict(zip(free, function.__closure__ or (), strict=True))
    closure = tuple(held[name] for name in code.co_freevars)
    found = types.FunctionType(code, function.__globals__, tree.name, function.__defaults__, closure)
    found.__kwdefaults__, found.__qualname__ = function.__kwdefaults__, function.__qualname__
    _READ[like.file, found.__code__.co_firstlineno, found.__qualname__, found.__code__] = replace(like, tree=tree)
    return found


def is_lambda(function: types.FunctionType) -> bool:
    return function.__code__.co_name == "<lambda>"


def source_of_generator(function: types.FunctionType) -> Source:
    """The same of a generator function."""
    return _read(function)


def plain_function(function: Any) -> types.FunctionType:
    """The Python function behind a method, a static or class method, or a lifted function."""
    while True:
        if isinstance(function, (staticmethod, classmethod, types.MethodType)):
            function = function.__func__
        elif (state := getattr(function, "__looplift_state__", None)) is not None and function in state.faces:
            function = function.__looplift_original__
        elif isinstance(function, types.FunctionType):
            return function
        else:
            name = getattr(function, "__name__", type(function).__name__)
            raise NotLiftable("no-source", f"'{name}' is not a Python function")


def _read(function: types.FunctionType) -> Source:
    file = getattr(function, "__looplift_file__", function.__code__.co_filename)
    line = getattr(function, "__looplift_line__", function.__code__.co_firstlineno)
    key = (file, line, function.__qualname__, function.__code__)
    if key not in _READ:
        lines = _block(function, file, line)
        _READ[key] = Source(_definition(function, lines, line), tuple(lines), file, line)
    return _READ[key]


def _block(function: types.FunctionType, file: str, line: int) -> list[str]:
    """The lines of the definition that starts at ``line``."""
    name = function.__name__
    if is_lambda(function):
        raise NotLiftable("no-source", "a lambda is not read")
    if os.path.exists(file):  # it may have been changed, and the module loaded anew
        linecache.checkcache(file)
    everything = linecache.getlines(file, function.__globals__)
    if not 0 < line <= len(everything):
        raise NotLiftable("no-source", _UNREADABLE.format(name))
    try:
        return inspect.getblock(everything[line - 1 :])
    except (SyntaxError, IndentationError, IndexError):
        raise NotLiftable("no-source", _UNREADABLE.format(name)) from None


def _definition(function: types.FunctionType, lines: list[str], line: int) -> ast.FunctionDef:
    name, namespace = function.__code__.co_name, function.__globals__
    indented = lines[0][:1] in (" ", "\t")
    try:
        module = ast.parse(("if True:\n" if indented else "") + "".join(lines))
    except SyntaxError:
        raise NotLiftable("no-source", _UNREADABLE.format(name)) from None
    body = module.body[0].body if indented and isinstance(module.body[0], ast.If) else module.body
    tree = body[0] if body else None
    if not isinstance(tree, ast.FunctionDef) or tree.name != name:
        raise NotLiftable("no-source", f"the file of '{name}' has changed since it was loaded")
    ast.increment_lineno(tree, line - 1 - indented)
    tree.decorator_list = []
    if (owner := _class_of(function)) is not None:
        for child in children_of(tree):
            _Mangler(owner).visit(child)
    if REGIONS_NAME not in function.__code__.co_freevars and not _belongs(tree, function.__code__, namespace):
        raise NotLiftable("no-source", f"the file of '{name}' has changed since it was loaded")
    if function.__code__.co_flags & ANNOTATIONS:
        _keep_annotations_as_text(tree)
    if any(isinstance(node, ast.Match) for node in nodes_of(tree)):
        tree = matches.without_matches(tree)
    tree = headers.with_numbers_in_front(tree)
    tree = slices.with_bounds_of_slices(tree, function.__code__.co_freevars, namespace)
    return states.with_numbered_states(tree, namespace) if _has_words(tree, namespace) else tree


ANNOTATIONS = __future__.annotations.compiler_flag
"""Of the code of a file that says ``from __future__ import annotations``."""


def _keep_annotations_as_text(tree: ast.FunctionDef) -> None:
    """Annotations of functions within a definition are texts, as in a file that says so."""
    for node in nodes_of(tree):
        if isinstance(node, ast.arg) and node.annotation is not None:
            node.annotation = _as_text(node.annotation)
        elif isinstance(node, ast.FunctionDef) and node.returns is not None:
            node.returns = _as_text(node.returns)


def _as_text(node: ast.expr) -> ast.expr:
    return ast.copy_location(ast.Constant(ast.unparse(node)), node)


def _has_words(tree: ast.FunctionDef, namespace: Mapping[str, Any]) -> bool:
    """Whether a definition mentions a string, None, or a member of an enumeration outside of what nobody reads."""
    unread = {id(node.value) for node in nodes_of(tree) if isinstance(node, ast.Expr)}
    for node in nodes_of(tree):
        match node:
            case ast.Constant(value=str() | None) if id(node) not in unread:
                return True
            case ast.Attribute(value=ast.Name(id=name)) if isinstance(namespace.get(name), enum.EnumMeta):
                return True
    return False


def _class_of(function: types.FunctionType) -> str | None:
    owner = function.__qualname__.rpartition(".")[0].rpartition(".")[2]
    return owner if owner and owner != "<locals>" else None


# ---------------------------------------------------------------- is it the text that was compiled?


def _belongs(tree: ast.FunctionDef, code: types.CodeType, namespace: Mapping[str, Any]) -> bool:
    """Whether ``code`` can come from this text: the same instructions, or more of them in the place of assertions.

    Test runners rewrite those, with names that no program can have.
    """
    imported = [name for name in code.co_names if isinstance(namespace.get(name), types.ModuleType)]
    found = code_of(tree, code.co_freevars, code.co_filename, code.co_flags & ANNOTATIONS, imported)
    if is_same(found, code):
        return True
    arguments = code.co_argcount + code.co_kwonlyargcount
    return (
        any(name.startswith("@") for name in (*code.co_names, *code.co_varnames))
        and found.co_varnames[:arguments] == code.co_varnames[:arguments]
        and set(found.co_names) <= set(code.co_names)
        and set(found.co_varnames) <= set(code.co_varnames)
        and _numbers(found) <= _numbers(code)
    )


def _numbers(code: types.CodeType) -> set[tuple[type, Any]]:
    return {(type(item), item) for item in code.co_consts if isinstance(item, (int, float, complex))}


def is_same(found: types.CodeType, code: types.CodeType) -> bool:
    """Whether two codes have the same instructions, names and constants, and so have those within them.

    Whether a name is imported where it is a global decides how its attributes are called: that is not looked at.
    """
    inner = [[one for one in each.co_consts if isinstance(one, types.CodeType)] for each in (found, code)]
    return (
        all(getattr(found, name) == getattr(code, name) for name in _OF_SIGNATURES)
        and not (found.co_flags ^ code.co_flags) & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
        and _constants(found) == _constants(code)
        and _have_same_steps(found, code)
        and len(inner[0]) == len(inner[1])
        and all(map(is_same, *inner))
    )


_OF_SIGNATURES = ("co_names", "co_varnames", "co_argcount", "co_posonlyargcount", "co_kwonlyargcount")


def _have_same_steps(found: types.CodeType, code: types.CodeType) -> bool:
    if found.co_code == code.co_code:
        return found.co_exceptiontable == code.co_exceptiontable
    return _steps(found) == _steps(code) and _handlers(found) == _handlers(code)


def _constants(code: types.CodeType) -> list[tuple[type, str]]:
    return [(type(item), repr(item)) for item in code.co_consts if not isinstance(item, types.CodeType)]


_NO_STEPS = {"CACHE", "EXTENDED_ARG", "NOP", "PRECALL", "PUSH_NULL"}


def _instructions(code: types.CodeType) -> tuple[list[dis.Instruction], list[int]]:
    """The instructions of a code without what tells functions from methods, and where they stand."""
    kept = [one for one in dis.get_instructions(code) if one.opname not in _NO_STEPS]
    return kept, [one.offset for one in kept]


def _handlers(code: types.CodeType) -> list[tuple[int, ...]]:
    """What handles exceptions, by the numbers of instructions: where they are raised, and where it goes on."""
    if not code.co_exceptiontable:
        return []
    offsets = _instructions(code)[1]
    table = dis._parse_exception_table(code)  # pyright: ignore[reportAttributeAccessIssue]
    return [tuple(bisect.bisect_left(offsets, place) for place in (one.start, one.end, one.target)) for one in table]


def _steps(code: types.CodeType) -> list[tuple[str, Any]]:
    """The instructions of a code; jumps by the number of their target."""
    kept, offsets = _instructions(code)
    return [
        (
            "LOAD_ATTR" if one.opname == "LOAD_METHOD" else one.opname,
            bisect.bisect_left(offsets, one.argval) if one.opcode in _JUMPS else _plain(one.argval),
        )
        for one in kept
    ]


_JUMPS = frozenset((*dis.hasjrel, *dis.hasjabs))


def _plain(value: Any) -> tuple[type, str]:
    return type(value), "" if isinstance(value, types.CodeType) else repr(value)


def code_of(
    tree: ast.FunctionDef, free: tuple[str, ...], file: str, flags: int = 0, imported: Sequence[str] = ()
) -> types.CodeType:
    """The code of a definition whose free variables are ``free``, as if it stood inside another function; ``flags``: of
    the file, ``imported``: names of modules in it, of which attributes are called in another way."""
    outer = ast.parse("def _outer():\n    pass").body[0]
    assert isinstance(outer, ast.FunctionDef)
    names: list[ast.stmt] = [ast.Assign([ast.Name(name, ast.Store())], ast.Constant(None)) for name in free]
    if tree.name not in free:
        names.append(ast.Global([tree.name]))  # a function that calls itself reads the name of the module
    modules: list[ast.stmt] = [ast.Import([ast.alias(name)]) for name in imported]
    for statement in (*modules, *names):
        ast.fix_missing_locations(ast.copy_location(statement, tree))
    outer.body = [*names, tree]
    module = ast.Module([*modules, ast.copy_location(outer, tree)], [])
    return inner_code(inner_code(_compiled(module, file, flags), "_outer"), tree.name)


def _compiled(module: ast.Module, file: str, flags: int) -> types.CodeType:
    try:
        return compile(module, file, "exec", flags, dont_inherit=True)
    except (TypeError, ValueError):  # there are nodes without a place, which most trees have not
        return compile(ast.fix_missing_locations(module), file, "exec", flags, dont_inherit=True)


def inner_code(code: types.CodeType, name: str) -> types.CodeType:
    """The code of the function ``name`` that ``code`` defines."""
    for constant in reversed(code.co_consts):
        if isinstance(constant, types.CodeType) and constant.co_name == name:
            return constant
    raise NotLiftable("internal", f"no code of '{name}'")


# ---------------------------------------------------------------- private names


class _Mangler(ast.NodeTransformer):
    """``__name`` inside the class ``Owner`` is ``_Owner__name``; classes inside keep their own."""

    def __init__(self, owner: str):
        self.prefix = "_" + owner.lstrip("_") if owner.strip("_") else ""

    def mangled(self, name: str) -> str:
        private = name.startswith("__") and not name.endswith("__") and "." not in name
        return self.prefix + name if private and self.prefix else name

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return node

    def generic_visit(self, node: ast.AST) -> ast.AST:
        match node:
            case ast.Name():
                node.id = self.mangled(node.id)
            case ast.Attribute():
                node.attr = self.mangled(node.attr)
            case ast.arg() | ast.keyword() if node.arg:
                node.arg = self.mangled(node.arg)
            case ast.Global() | ast.Nonlocal():
                node.names = [self.mangled(name) for name in node.names]
            case ast.FunctionDef() | ast.ExceptHandler() if node.name:
                node.name = self.mangled(node.name)
        return super().generic_visit(node)
