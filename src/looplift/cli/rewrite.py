"""Source of a module in, code out that lifts its loops: functions that hold one, and loops at module level.

    def f(x):                       @lifted
        for …            becomes    def f(x):
                                        for …

    for …                           if not loop():      # runs it lifted and binds its names, or
            …            becomes        for …:          # says no: then it runs as written
                                            …

No name is added to the module: ``lifted`` and ``loop`` are constants of the code.
"""

from __future__ import annotations

import ast
import types
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from looplift.cli.names import COMPREHENSIONS, LOOPS, Watched, walk_scope, watched_names
from looplift.cli.refusals import Refused, refused_function, refused_loop

PLACEHOLDER = "\0looplift %d"
# A context manager may swallow exceptions, after which half a loop's work would be visible; these do not.
HARMLESS_CONTEXTS = {
    "no_grad",
    "enable_grad",
    "inference_mode",
    "set_grad_enabled",
    "autocast",
    "device",
    "open",
    "errstate",
}


@dataclass
class ModuleLoop:
    """A loop, or a statement with a comprehension, at module level."""

    statement: ast.stmt
    filename: str
    source: str


@dataclass
class Rewritten:
    """The code of a module, and the loops that must stay as written, each with its reason."""

    code: types.CodeType
    kept: list[Refused] = field(default_factory=list)


def rewrite(
    source: bytes,
    text: str,
    filename: str,
    *,
    on_function: Callable[[types.FunctionType], Any],
    on_loop: Callable[[ModuleLoop], Callable[[], bool]],
) -> Rewritten:
    """Code in which ``on_function`` decorates functions with loops, and the callables made by ``on_loop`` run loops."""
    # without changes first: errors and warnings are the author's own
    compile(source, filename, "exec", dont_inherit=True)
    tree = ast.parse(source, filename)
    editor = _Editor(filename, text, watched_names(source, filename), on_function, on_loop)
    if not _uses_jit(text):
        editor.module(tree)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        code = compile(ast.fix_missing_locations(tree), filename, "exec", dont_inherit=True)
    return Rewritten(_with_constants(code, editor.constants), editor.kept)


def _uses_jit(text: str) -> bool:
    """Such compilers read functions themselves, and must find them as they are."""
    return "jit.script" in text


@dataclass
class _Editor:
    filename: str
    text: str
    watched: Watched
    on_function: Callable[[types.FunctionType], Any]
    on_loop: Callable[[ModuleLoop], Callable[[], bool]]
    constants: dict[str, Any] = field(default_factory=dict)
    kept: list[Refused] = field(default_factory=list)

    def module(self, tree: ast.Module) -> None:
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                self.function(node)
        tree.body = self.block(tree.body)

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        loops = [inner for inner in walk_scope(node) if isinstance(inner, (*LOOPS, *COMPREHENSIONS))]
        if not loops:
            return
        if refused := refused_function(node):
            outermost = [inner for inner in loops if isinstance(inner, LOOPS)][:1]
            self.kept += [Refused(*refused, line=loop.lineno, function=node.name) for loop in outermost]
            return
        node.decorator_list.append(ast.copy_location(self.constant(self.on_function), node))

    def block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        return [self.statement(statement) for statement in statements]

    def statement(self, node: ast.stmt) -> ast.stmt:
        if not isinstance(node, (*LOOPS, *_SIMPLE)) or not _has_loop(node):
            return self.inside(node)
        refused = refused_loop(node, self.text, self.watched)
        if refused is None:
            run = self.constant(self.on_loop(ModuleLoop(node, self.filename, self.text)))
            call = ast.UnaryOp(ast.Not(), ast.Call(run, [], []))
            return _at(ast.If(call, [self.inside(node)], []), node)
        if isinstance(node, LOOPS):
            self.kept.append(Refused(*refused, line=node.lineno, function="<module>"))
        return self.inside(node)

    def inside(self, node: ast.stmt) -> ast.stmt:
        """The same statement with the loops inside it made liftable."""
        match node:
            case ast.For() | ast.While() | ast.If():
                node.body, node.orelse = self.block(node.body), self.block(node.orelse)
            case ast.With(items=items) if all(_harmless(item.context_expr) for item in items):
                node.body = self.block(node.body)
        return node

    def constant(self, value: Any) -> ast.Constant:
        name = PLACEHOLDER % len(self.constants)
        self.constants[name] = value
        return ast.Constant(name)


_SIMPLE = (ast.Assign, ast.AugAssign, ast.Expr)


def _has_loop(node: ast.stmt) -> bool:
    return isinstance(node, LOOPS) or any(isinstance(inner, COMPREHENSIONS) for inner in walk_scope(node))


def _harmless(context: ast.expr) -> bool:
    name = context.func if isinstance(context, ast.Call) else context
    last = name.attr if isinstance(name, ast.Attribute) else name.id if isinstance(name, ast.Name) else ""
    return last in HARMLESS_CONTEXTS


def _at(made: ast.If, node: ast.stmt) -> ast.If:
    """The new nodes get the place of the loop's first line."""
    for new in [made, *ast.walk(made.test)]:
        new.lineno = new.end_lineno = node.lineno  # pyright: ignore
        new.col_offset, new.end_col_offset = node.col_offset, node.col_offset + 3  # pyright: ignore
    return made


def _with_constants(code: types.CodeType, constants: dict[str, Any]) -> types.CodeType:
    """The code with objects in the place of their placeholders."""

    def placed(constant: Any) -> Any:
        if isinstance(constant, types.CodeType):
            return _with_constants(constant, constants)
        return constants.get(constant, constant) if isinstance(constant, str) else constant

    return code.replace(co_consts=tuple(map(placed, code.co_consts)))
