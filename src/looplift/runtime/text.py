"""A function's lines and its variants in, the text of the function with batched statements in place of loops out."""

from __future__ import annotations

import re
import symtable
import sys
import textwrap
import types
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

from looplift.runtime.dispatch import Dispatcher
from looplift.runtime.variants import RegionCode, indented, standard_namespace

_FAILED = '''class RequirementFailed(Exception):
    """The batched code is not for these values: the loop would raise, or take another path."""'''

Replacement = tuple[tuple[int, int, int], RegionCode]


def batched_source(source: Any, dispatchers: Iterable[Dispatcher], function: types.FunctionType) -> str:
    """The text of a function as it runs now, with what it needs above it; empty if nothing is lifted."""
    replacements = sorted(_replacements(dispatchers), key=lambda one: one[0][:2])
    if not replacements:
        return ""
    lines = list(source.lines)
    for span, code in reversed(replacements):
        _replace(lines, source.line, span, code)
    definition = textwrap.dedent("".join(lines[source.tree.lineno - source.line :]))
    codes = [code for _, code in replacements]
    above = list(dict.fromkeys(text.strip("\n") for code in codes for text in code.standalone))
    if "RequirementFailed" in definition:
        above.insert(0, _FAILED)
    imports = _imports([*above, definition], codes, function)
    return "\n\n\n".join(part for part in (imports, *above, definition) if part)


def _replacements(dispatchers: Iterable[Dispatcher]) -> Iterator[Replacement]:
    """The newest variant of each region, or, where there is none, those of the regions inside."""
    for dispatcher in dispatchers:
        lifted = [one for one in dispatcher.variants if one.call and one.code and not one.is_slow]
        lifted = [one.code for one in lifted if not one.is_rival and one.code]
        if lifted:
            yield dispatcher.program.span, lifted[-1]
        else:
            yield from _replacements(dispatcher.children)


def _replace(lines: list[str], first_line: int, span: tuple[int, int, int], code: RegionCode) -> None:
    """Put statements in the place of lines; where a loop is inside another statement's line, the line stays."""
    first, last, column = span
    start, stop = first - first_line, last - first_line + 1
    before = lines[start][:column]
    indentation = before[: len(before) - len(before.lstrip())]
    if before.strip() and not before.rstrip().endswith(";"):
        return
    text = indented(code.statements or ["pass"], indentation)
    kept = [before.rstrip().removesuffix(";") + "\n"] if before.strip() else []
    lines[start:stop] = kept + [line + "\n" for line in text.split("\n")]


# ---------------------------------------------------------------- imports


def _imports(texts: list[str], codes: list[RegionCode], function: types.FunctionType) -> str:
    """Import lines for all that the texts mention and that can be imported."""
    found = dict.fromkeys(line for code in codes for line in code.imports)
    known = standard_namespace() | function.__globals__
    counted = {text: names for code in codes for text, names in code.mentions.items()}
    words = set().union(*(counted[text][0] if text in counted else _words(text) for text in texts))
    words &= known.keys() - {"RequirementFailed"}
    lines = {name: _import_line(name, known[name], function) for name in sorted(words)}
    if any(line and line not in found for line in lines.values()):
        each = [counted[text] if text in counted else _names(text) for text in texts]
        used, bound = (set().union(*names) for names in zip(*each, strict=True))
        found |= dict.fromkeys(line for name, line in lines.items() if line and name in used - bound)
    return "\n".join(sorted(found, key=lambda line: (line.startswith("from"), line)))


def mentions(code: RegionCode) -> dict[str, tuple[frozenset[str], frozenset[str]]]:
    """Of each text that stands above a function with this code: the names that it reads and those that it binds."""
    return {text: _names(text) for text in (one.strip("\n") for one in code.standalone)}


@lru_cache(maxsize=64)
def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[^\W\d]\w*", text))


@lru_cache(maxsize=64)
def _names(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """The names that a module text reads as globals, and those that it binds; none if it cannot be parsed."""
    try:
        module = symtable.symtable(text, "<looplift source>", "exec")
    except SyntaxError:
        return frozenset(), frozenset()
    used = (name for table in _tables(module) for name in _read_as_globals(table))
    bound = (one.get_name() for one in module.get_symbols() if one.is_assigned() or one.is_imported())
    return frozenset(used), frozenset(bound)


def _tables(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    yield table
    for inner in table.get_children():
        yield from _tables(inner)


def _read_as_globals(table: symtable.SymbolTable) -> Iterator[str]:
    is_module = table.get_type() == "module"
    for one in table.get_symbols():
        if one.is_referenced() and (is_module or one.is_global()):
            yield one.get_name()


def _import_line(name: str, value: Any, function: types.FunctionType) -> str:
    if isinstance(value, types.ModuleType):
        return f"import {value.__name__}" + ("" if name == value.__name__ else f" as {name}")
    home, own = getattr(value, "__module__", None), getattr(value, "__qualname__", "")
    if not isinstance(home, str) or home in (function.__module__, "builtins", "__main__") or not own.isidentifier():
        return ""
    if getattr(sys.modules.get(home), own, None) is not value:
        return ""
    return f"from {home} import {own}" + ("" if name == own else f" as {name}")
