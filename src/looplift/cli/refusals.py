"""Loops and functions that ``looplift run`` leaves as they are, from their syntax alone, each with its reason."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from looplift.cli.names import SELF_AWARE, Watched, bound_in, read_in, walk_scope

# Decorators of compilers that read the function's source or bytecode themselves.
COMPILERS = {"jit", "njit", "script", "script_if_tracing", "compile", "vectorize", "guvectorize", "stencil", "cfunc"}
COMPILERS |= {"kernel", "triton", "numba", "lift", "looplift", "autotune", "export", "overload", "custom_op"}
# Called by the interpreter or by torch in ways that a wrapper would disturb.
SPECIAL_METHODS = {"__torch_function__", "__torch_dispatch__", "__getattr__", "__getattribute__", "__setattr__"}
FRAME_READERS = {"_getframe", "currentframe", "getouterframes"}


@dataclass(frozen=True)
class Refused:
    """A reason code, one sentence, and the place of the loop."""

    code: str
    sentence: str
    line: int = 0
    function: str = ""


def refused_function(node: ast.FunctionDef | ast.AsyncFunctionDef) -> tuple[str, str] | None:
    """Why the loops of a function stay, or None."""
    if isinstance(node, ast.AsyncFunctionDef):
        return "generator", f'"{node.name}" is a coroutine, which stops at each await until its caller goes on'
    inside = list(walk_scope(node))
    if any(isinstance(part, (ast.Yield, ast.YieldFrom)) for part in inside):
        return "generator", f'"{node.name}" yields one value at a time'
    if node.name in SPECIAL_METHODS:
        return "unsupported-value", f'"{node.name}" is called by the interpreter or by torch itself'
    for decorator in node.decorator_list:
        if names := _dotted(decorator) & COMPILERS:
            return "subclass", f'"{node.name}" belongs to another compiler: its decorator is "{min(names)}"'
    names = {name for part in inside for name in _names(part)} & FRAME_READERS
    if names := names | (read_in(ast.Module(node.body, [])) & SELF_AWARE):
        return "unknown-call", f'"{node.name}" looks at its own frame or names with "{min(names)}"'
    if any(isinstance(part, ast.Call) and _calls_itself(part.func, node.name) for part in inside):
        return "recursion", f'"{node.name}" calls itself'
    return None


def refused_loop(node: ast.stmt, text: str, watched: Watched) -> tuple[str, str] | None:
    """Why a loop at module level stays, or None."""
    for part in [node, *walk_scope(node)]:
        if why := _refused_part(part):
            return "unsupported-syntax", f"a loop at module level that holds {why}"
    if not _has_lines_of_its_own(node, text):
        return "unsupported-syntax", "the statement shares its line with another"
    if names := read_in(node) & SELF_AWARE:
        return "unknown-call", f'"{min(names)}" looks at all names of the module'
    if watched.everything:
        return "effect-order", "a function of this module looks at all names of the module"
    if names := read_in(node) & watched.rebound:
        return "effect-order", f'"{min(names)}" is read here and set by a function of this module'
    if names := bound_in(node) & watched.seen:
        return "effect-order", f'"{min(names)}" is set here and seen by a function of this module'
    return None


def _refused_part(part: ast.AST) -> str:
    match part:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() | ast.Lambda():
            return "a definition"
        case ast.Import() | ast.ImportFrom():
            return "an import"
        case ast.Delete(targets=targets) if any(isinstance(target, ast.Name) for target in targets):
            return '"del" of a name'
        case ast.AnnAssign():
            return "an annotation"
        case ast.ExceptHandler(name=str(name)):
            return f'"except … as {name}"'
        case ast.Global() | ast.Nonlocal():
            return "a declaration"
        case ast.Match():
            return '"match"'
        case ast.Await() | ast.Yield() | ast.YieldFrom() | ast.AsyncFor() | ast.AsyncWith():
            return "asynchronous code"
    return ""


def _has_lines_of_its_own(node: ast.stmt, text: str) -> bool:
    lines = text.split("\n")
    before = lines[node.lineno - 1].encode()[: node.col_offset]
    after = lines[(node.end_lineno or node.lineno) - 1].encode()[node.end_col_offset or 0 :].strip()
    return not before.strip() and (not after or after.startswith(b"#"))


def _calls_itself(function: ast.expr, name: str) -> bool:
    match function:
        case ast.Name(id=called):
            return called == name
        case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=called):
            return called == name
    return False


def _dotted(decorator: ast.expr) -> set[str]:
    inner = decorator.func if isinstance(decorator, ast.Call) else decorator
    return {name for part in ast.walk(inner) for name in _names(part)}


def _names(node: ast.AST) -> set[str]:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return {name}
    return set()
