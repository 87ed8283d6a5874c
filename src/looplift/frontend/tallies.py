"""Dicts that count the items of a list and are then gone through, in; loops over two lists, out.

counts = {}                              keys, times = the items, each once, and how often each is there
for t in history:
    counts[t] = counts.get(t, 0) + 1
for t, c in counts.items():              for t, c in zip(keys, times):
    f(t, c)                                  f(t, c)
"""

from __future__ import annotations

import ast
import collections
from collections.abc import Container, Iterator, Mapping
from typing import Any

from looplift.base.data import dataclass
from looplift.base.syntax import Tallied, fresh_copy, nodes_of
from looplift.frontend.names import fresh_name, names_of
from looplift.ir.grammar import DISTINCT, TIMES

VIEWS = frozenset(("items", "keys", "values"))


def with_tallies(
    statements: list[ast.stmt], values: Mapping[str, Any], namespace: Mapping[str, Any], live_out: Container[str]
) -> list[ast.stmt] | None:
    """None where there is no such dict."""
    names = names_of(statements)
    known = {**namespace, **values}
    if "zip" in names.stores or known.get("zip", zip) is not zip:
        return None
    rewriting = _Tallies(fresh_copy(statements), known, {*known, *names.loads, *names.stores}, live_out)
    found = rewriting.block(rewriting.statements)
    return [ast.fix_missing_locations(one) for one in found] if rewriting.count else None


@dataclass(frozen=True)
class _Tally:
    """``name`` counts what ``items`` holds in the loop ``filling``; ``readers`` are the loops over it."""

    name: str
    items: ast.expr
    filling: ast.For
    readers: list[ast.For]


class _Tallies:
    def __init__(
        self, statements: list[ast.stmt], known: Mapping[str, Any], taken: set[str], live_out: Container[str]
    ) -> None:
        self.statements, self.known, self.taken, self.live_out = statements, known, taken, live_out
        self.count = 0

    def _fresh(self, name: str) -> str:
        name = fresh_name(name, self.taken)
        self.taken.add(name)
        return name

    def block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        """The statements, with those in their blocks, where dicts that count are none."""
        found = [*statements]
        for position, statement in enumerate(statements):
            if (name := self._created(statement)) is None:
                continue
            tally = self._tally(name, statement, statements[position + 1 :])
            if tally is not None:
                self.count += 1
                place = found.index(tally.filling)
                found[place : place + 1] = self._rewritten(tally)
                found.remove(statement)
        for statement in statements:
            for field in ("body", "orelse"):
                inner = getattr(statement, field, None)
                if isinstance(inner, list) and isinstance(statement, ast.For | ast.While | ast.If | ast.With):
                    setattr(statement, field, self.block(inner))
        return found

    def _created(self, statement: ast.stmt) -> str | None:
        """The name of a new dict."""
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if self._is_empty(value):
                return name
        return None

    def _is_empty(self, made: ast.expr) -> bool:
        return self._counts_up(made) or (isinstance(made, ast.Dict) and not made.keys)

    def _counts_up(self, made: ast.expr) -> bool:
        """Whether what is not in a dict counts as 0: ``defaultdict(int)`` and ``Counter()``."""
        if not isinstance(made, ast.Call) or made.keywords:
            return False
        match made.func:
            case ast.Name(id=name):
                callee = self.known.get(name)
            case ast.Attribute(value=ast.Name(id=name), attr=attr) if self.known.get(name) is collections:
                callee = getattr(collections, attr, None)
            case _:
                return False
        if callee is collections.Counter:
            return not made.args
        match made.args:
            case [ast.Name(id="int")]:
                return callee is collections.defaultdict and self.known.get("int", int) is int
        return False

    def _tally(self, name: str, creation: ast.stmt, after: list[ast.stmt]) -> _Tally | None:
        """How a dict is used after it was made; None where it is used in other ways."""
        assert isinstance(creation, ast.Assign)
        filling = next((one for one in after if _names(one, name)), None)
        match filling:
            case ast.For(ast.Name(id=item), items, [step], orelse=[]) if item != name and not _names(items, name):
                if not _adds_one(step, name, item, by_default=self._counts_up(creation.value)):
                    return None
            case _:
                return None
        behind = after[after.index(filling) + 1 :]
        readers = [one for statement in behind for one in nodes_of(statement) if _is_over(one, name)]
        loops = [one for one in readers if isinstance(one, ast.For)]
        seen = sum(len(_names(one, name)) for one in self.statements)
        known = len(_names(creation, name)) + len(_names(filling, name)) + len(loops)
        if seen != known or name in self.live_out or not loops or self._is_read(item, filling):
            return None
        return _Tally(name, items, filling, loops)

    def _is_read(self, item: str, filling: ast.For) -> bool:
        """Whether the last item is looked at after the loop over all of them, which is there no more."""
        bound = [
            one for one in _every(self.statements) if isinstance(one, ast.For) and item in names_of(one.target).stores
        ]
        inside = {id(node) for loop in bound for one in loop.body for node in _names(one, item)}
        loads = [node for one in self.statements for node in _names(one, item) if isinstance(node.ctx, ast.Load)]
        return item in self.live_out or any(id(node) not in inside for node in loads)

    def _rewritten(self, tally: _Tally) -> list[ast.stmt]:
        """The assignments in place of the loop that counts; the loops over the dict are changed."""
        items, keys, times = (self._fresh(f"{tally.name}_{end}") for end in ("items", "keys", "times"))
        for reader in tally.readers:
            self._over_the_lists(reader, keys, times)
        parts = [ast.Assign([ast.Name(items, ast.Store())], tally.items)]
        parts += [_part(keys, items, DISTINCT), _part(times, items, TIMES)]
        return [ast.copy_location(one, tally.filling) for one in parts]

    def _over_the_lists(self, reader: ast.For, keys: str, times: str) -> None:
        view = reader.iter.func.attr if isinstance(reader.iter, ast.Call) else "keys"  # type: ignore[union-attr]
        listed = {"keys": ast.Name(keys, ast.Load()), "values": ast.Name(times, ast.Load())}
        both = ast.Call(ast.Name("zip", ast.Load()), [*listed.values()], [])
        reader.iter = ast.copy_location(listed.get(view, both), reader.iter)


def _part(name: str, items: str, part: str) -> ast.Assign:
    """The assignment of the different items, or of how often each is there."""
    made = Tallied()
    made.items, made.name = ast.Name(items, ast.Load()), part
    return ast.Assign([ast.Name(name, ast.Store())], made)


def _every(statements: list[ast.stmt]) -> Iterator[ast.AST]:
    for statement in statements:
        yield from nodes_of(statement)


def _names(statement: ast.AST, name: str) -> list[ast.Name]:
    return [node for node in nodes_of(statement) if isinstance(node, ast.Name) and node.id == name]


def _is_over(node: ast.AST, name: str) -> bool:
    """Whether a loop goes through a dict, or one of its views."""
    match node:
        case ast.For(iter=ast.Name(id=found), orelse=[]):
            return found == name
        case ast.For(iter=ast.Call(ast.Attribute(ast.Name(id=found), attr), [], []), orelse=[]):
            return found == name and attr in VIEWS
    return False


def _adds_one(step: ast.stmt, name: str, item: str, *, by_default: bool) -> bool:
    """Whether a statement counts an item once more."""
    forms = [f"{name}[{item}] = {name}.get({item}, 0) + 1"]
    forms.append(f"if {item} in {name}:\n    {name}[{item}] += 1\nelse:\n    {name}[{item}] = 1")
    forms.append(f"if {item} not in {name}:\n    {name}[{item}] = 1\nelse:\n    {name}[{item}] += 1")
    if by_default:
        forms.append(f"{name}[{item}] += 1")
    written = ast.unparse(step)
    return any(written == ast.unparse(ast.parse(form)) for form in forms)
