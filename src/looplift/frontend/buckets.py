"""Lists that a loop fills at places of the data, in; two lists that grow, and searches in one of them, out.

inbox = [[] for _ in range(n)]          places = [i for i in range(n)]; keys = []; found = []
for s, t in edges:                      for s, t in edges:
    inbox[t].append(x[s])                   keys.append(places[t]); found.append(x[s])
for i in range(n):                      for i in range(n):
    if inbox[i]:                            place = places[i]
        ... inbox[i] ...                    if [v for k, v in zip(keys, found) if k == place]:
                                                ... [v for k, v in zip(keys, found) if k == place] ...

All is filled before any of it is read, and nothing else may change such a list or hold it. What is not there is looked
up among the places, where it raises as the loop does. A ``defaultdict(list)`` under integers has no such places: what
is not there is empty.
"""

from __future__ import annotations

import ast
import collections
import types
from collections.abc import Container, Mapping
from typing import Any

from looplift.base.syntax import children_of, fresh_copy, nodes_of
from looplift.frontend.bucket_keys import Keys
from looplift.frontend.names import COMPREHENSIONS, FUNCTIONS, fresh_name, names_of
from looplift.ops.names import is_library

READERS = {function.__name__: function for function in (zip, range, len, enumerate, sum, max, min, sorted, list, tuple)}
"""Functions of Python's own that change nothing that they are given."""
PURE = (ast.Name, ast.Constant, ast.Subscript, ast.Attribute, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop)


class _Unfit(Exception):
    """The lists are used in another way."""


def with_buckets(
    statements: list[ast.stmt], values: Mapping[str, Any], namespace: Mapping[str, Any], live_out: Container[str]
) -> list[ast.stmt] | None:
    """None where there are no such lists."""
    names = names_of(statements)
    made = [name for one in statements if (name := _name_made(one)) is not None and name not in live_out]
    every = [node for statement in statements for node in nodes_of(statement)]
    if not made or any(isinstance(node, FUNCTIONS) for node in every):
        return None
    known = {**namespace, **values}
    if any(name in names.stores or known.get(name, own) is not own for name, own in READERS.items()):
        return None
    found = None
    for name in made:
        try:
            taken = {*known, *names.loads, *names.stores}
            found = _Bucket(name, found or statements, known, values, taken).rewritten()
        except _Unfit:
            continue
    return found


def _is_default(made: ast.expr, known: Mapping[str, Any]) -> bool:
    """Whether a call makes a ``defaultdict`` of the standard library."""
    match made:
        case ast.Call(func=ast.Name(id=name)):
            return known.get(name) is collections.defaultdict
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name))):
            return known.get(name) is collections
    return False


def _name_made(statement: ast.AST) -> str | None:
    """The name of ``[[] for _ in range(n)]`` or ``defaultdict(list)``."""
    match statement:
        case ast.Assign(
            targets=[ast.Name(id=name)],
            value=ast.Call(
                func=ast.Name(id="defaultdict") | ast.Attribute(value=ast.Name(), attr="defaultdict"),
                args=[ast.Name(id="list")],
                keywords=[],
            ),
        ):
            return name
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.ListComp(elt=ast.List(elts=[]), generators=[one])):
            match one:
                case ast.comprehension(ast.Name(), ast.Call(ast.Name(id="range"), [_], []), ifs=[], is_async=0):
                    return name
    return None


class _Bucket(ast.NodeTransformer):
    """One such name in statements, which are copied."""

    def __init__(
        self,
        name: str,
        statements: list[ast.stmt],
        known: Mapping[str, Any],
        given: Container[str],
        taken: set[str],
    ) -> None:
        self.name, self.known, self.given, self.taken = name, known, given, taken
        self.statements = fresh_copy(statements)
        every = [node for statement in self.statements for node in nodes_of(statement)]
        self.parents = {id(child): node for node in every for child in children_of(node)}
        self.places, self.keys, self.values = (self._fresh(f"{name}_{end}") for end in ("places", "keys", "values"))
        self.rows: dict[str, str] = {}
        """Names of rows in loops over all of them, and the names of their places."""
        self.before: list[ast.stmt] = []
        self.by_key = False

    def _fresh(self, name: str) -> str:
        name = fresh_name(name, self.taken)
        self.taken.add(name)
        return name

    def rewritten(self) -> list[ast.stmt]:
        uses = [k for k, one in enumerate(self.statements) if self._is_named_in(one)]
        first = next(k for k, one in enumerate(self.statements) if _name_made(one) == self.name)
        filling = [k for k in uses if any(map(self._is_append, nodes_of(self.statements[k])))]
        if uses[0] != first or uses[1:2] != filling or len(uses) < 3:
            raise _Unfit
        inside = nodes_of(self.statements[filling[0]])
        if sum(_named(node) == self.name for node in inside) != sum(map(self._is_append, inside)):
            raise _Unfit
        creation = self.statements[first]
        assert isinstance(creation, ast.Assign)
        self.by_key = isinstance(creation.value, ast.Call)
        if self.by_key and not _is_default(creation.value, self.known):
            raise _Unfit
        self._check_uses()
        found: list[ast.stmt] = []
        for position, statement in enumerate(self.statements):
            if position == first:
                found += self._created(creation.value)
            elif position in uses:
                found += self._block([statement])
            else:
                found.append(statement)
        return found

    def _is_named_in(self, node: ast.AST) -> bool:
        return any(isinstance(one, ast.Name) and one.id == self.name for one in nodes_of(node))

    def _is_append(self, node: ast.AST) -> bool:
        match node:
            case ast.Expr(ast.Call(ast.Attribute(ast.Subscript(ast.Name(id=name)), "append"), [_], [])):
                return name == self.name
        return False

    # ------------------------------------------------------------ what may be done with the lists

    def _check_uses(self) -> None:
        """Every use fills a list, or reads one in a way that neither changes nor keeps it."""
        for node in [node for one in self.statements for node in nodes_of(one)]:
            if not isinstance(node, ast.Name) or node.id != self.name or _name_made(self._parent(node)):  # type: ignore[arg-type]
                continue
            parent = self._parent(node)
            above = self._parent(parent)
            if isinstance(parent, ast.Subscript) and isinstance(parent.ctx, ast.Load) and parent.value is node:
                if not self._is_append(self._parent(self._parent(above))):
                    self._check_row(parent)
            elif not self._is_counted(node, parent):
                self._check_iterated(node, parent)

    def _parent(self, node: ast.AST) -> Any:
        return self.parents.get(id(node), node)

    def _is_counted(self, node: ast.AST, parent: ast.AST) -> bool:
        counted = isinstance(parent, ast.Call) and _named(parent.func) == "len" and parent.args == [node]
        return counted and not self.by_key

    def _check_iterated(self, node: ast.AST, parent: ast.AST) -> None:
        if self.by_key:
            raise _Unfit
        if isinstance(parent, ast.Call) and _named(parent.func) == "enumerate" and parent.args == [node]:
            node, parent = parent, self._parent(parent)
        if not isinstance(parent, ast.For | ast.comprehension) or parent.iter is not node:
            raise _Unfit
        row, _ = _targets(parent, node)
        self._check_name(row)

    def _check_row(self, node: ast.AST) -> None:
        match self._parent(node):
            case ast.Assign(targets=[ast.Name(id=name)]) as parent if parent.value is node:
                self._check_name(name)
            case ast.Call(func=func) as parent if node in parent.args and self._is_reader(func):
                pass
            case ast.For() | ast.comprehension() as parent if parent.iter is node:
                pass
            case ast.If() | ast.IfExp() as parent if parent.test is node:
                pass
            case ast.UnaryOp(op=ast.Not()):
                pass
            case ast.Subscript(ctx=ast.Load()) as parent if parent.value is node:
                pass
            case _:
                raise _Unfit

    def _check_name(self, name: str) -> None:
        """A name of such a list: it is bound to no other thing, and read alone."""
        if name in self.rows:
            return
        self.rows[name] = ""
        for node in [node for one in self.statements for node in nodes_of(one)]:
            if not isinstance(node, ast.Name) or node.id != name:
                continue
            if isinstance(node.ctx, ast.Load):
                self._check_row(node)
            elif not self._binds_a_row(node):
                raise _Unfit

    def _binds_a_row(self, node: ast.Name) -> bool:
        parent = self._parent(node)
        if isinstance(parent, ast.Assign):
            return isinstance(parent.value, ast.Subscript) and _named(parent.value.value) == self.name
        loop = self._parent(parent) if isinstance(parent, ast.Tuple) else parent
        return isinstance(loop, ast.For | ast.comprehension) and self._is_named_in(loop.iter)

    def _is_reader(self, func: ast.expr) -> bool:
        if isinstance(func, ast.Name):
            return func.id in READERS
        while isinstance(func, ast.Attribute):
            func = func.value
        owner = self.known.get(func.id) if isinstance(func, ast.Name) else None
        return isinstance(owner, types.ModuleType) and is_library(owner)

    # ------------------------------------------------------------ statements

    def _created(self, made: ast.expr) -> list[ast.stmt]:
        if isinstance(made, ast.Call):
            parts, found = (made, made.args[0]), []
        else:
            assert isinstance(made, ast.ListComp)
            index = made.generators[0].target
            assert isinstance(index, ast.Name)
            places = ast.ListComp(ast.Name(index.id, ast.Load()), made.generators)
            parts, found = (made.generators[0].iter, made.elt), [(self.places, _standing_at(made, places))]
        keys, values = (_standing_at(part, ast.List([], ast.Load())) for part in parts)
        found += [(self.keys, keys), (self.values, values)]
        return [_standing_at(made, _assigned(name, value)) for name, value in found]

    def _place(self, index: ast.expr) -> ast.expr:
        """What the lists are told apart by."""
        if not self.by_key:
            return _item(self.places, index)
        if not Keys(self.statements, self.parents, self.known, self.given).is_integer(index):
            raise _Unfit
        return index

    def _block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        for statement in statements:
            saved, self.before = self.before, []
            made = self._statement(statement)
            found += [*self.before, *made]
            self.before = saved
        return found

    def _statement(self, statement: ast.stmt) -> list[ast.stmt]:
        if self._is_append(statement):
            return self._filled(statement)
        if isinstance(statement, ast.While) and self._is_named_in(statement.test):
            raise _Unfit
        if isinstance(statement, ast.For) and self._is_all_of_them(statement.iter):
            self._iterated(statement)
        for field, value in ast.iter_fields(statement):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                setattr(statement, field, self._block(value))
            elif isinstance(value, ast.AST):
                setattr(statement, field, self.visit(value))
            elif isinstance(value, list):
                setattr(statement, field, [self.visit(one) if isinstance(one, ast.AST) else one for one in value])
        return [statement]

    def _filled(self, statement: Any) -> list[ast.stmt]:
        call = statement.value
        place = self._place(call.func.value.slice)
        made = (_appended(self.keys, place), _appended(self.values, call.args[0]))
        return [_standing_at(statement, one) for one in made]

    def _iterated(self, loop: ast.For) -> None:
        """A loop over all lists, each with its place."""
        row, place = _targets(loop, loop.iter)
        place = place or self._fresh(f"{self.name}_at")
        if loop.orelse:
            raise _Unfit
        read = _standing_at(loop.iter, self._row(ast.Name(place, ast.Load())))
        loop.target = _standing_at(loop.target, ast.Name(place, ast.Store()))
        loop.iter = _standing_at(loop.iter, self._numbers())
        loop.body.insert(0, _standing_at(loop.target, _assigned(row, read)))

    def _is_all_of_them(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Call) and _named(node.func) == "enumerate" and len(node.args) == 1:
            node = node.args[0]
        return _named(node) == self.name

    def _numbers(self) -> ast.expr:
        return _call("range", _call("len", ast.Name(self.places, ast.Load())))

    def _row(self, place: ast.expr) -> ast.expr:
        key, value = (ast.Name(self._fresh(f"{self.name}_{end}"), ast.Store()) for end in ("key", "value"))
        pairs = _call("zip", ast.Name(self.keys, ast.Load()), ast.Name(self.values, ast.Load()))
        test = ast.Compare(ast.Name(key.id, ast.Load()), [ast.Eq()], [place])
        generator = ast.comprehension(ast.Tuple([key, value], ast.Store()), pairs, [test], 0)
        return ast.ListComp(ast.Name(value.id, ast.Load()), [generator])

    # ------------------------------------------------------------ expressions

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        if _named(node.value) != self.name:
            return self.generic_visit(node)
        if not all(isinstance(one, PURE) for one in nodes_of(node.slice)) or self._is_named_in(node.slice):
            raise _Unfit
        bound = {one.id for one in self._bound_around(node)}
        if bound & names_of(node.slice).loads:
            raise _Unfit
        place = self._fresh(f"{self.name}_at")
        self.before.append(_standing_at(node, _assigned(place, fresh_copy(self._place(node.slice)))))
        return _standing_at(node, self._row(ast.Name(place, ast.Load())))

    def _bound_around(self, node: ast.AST) -> list[ast.Name]:
        """What the comprehensions around an expression bind."""
        found: list[ast.Name] = []
        while (parent := self.parents.get(id(node))) is not None and not isinstance(parent, ast.stmt):
            if isinstance(parent, COMPREHENSIONS):
                targets = [one for generator in parent.generators for one in nodes_of(generator.target)]
                found += [one for one in targets if isinstance(one, ast.Name)]
            node = parent
        return found

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if _named(node.func) == "len" and len(node.args) == 1 and _named(node.args[0]) == self.name:
            return _standing_at(node, _call("len", ast.Name(self.places, ast.Load())))
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id == self.name:
            raise _Unfit
        return node


def _named(node: ast.AST) -> str | None:
    return node.id if isinstance(node, ast.Name) else None


def _standing_at(place: ast.AST, node: Any) -> Any:
    """A node that was made, at a place of the source: lists are told apart by theirs."""
    return ast.fix_missing_locations(ast.copy_location(node, place))


def _targets(loop: ast.For | ast.comprehension, iterated: ast.AST) -> tuple[str, str | None]:
    """The names of a list and of its place, in a loop over all of them."""
    match iterated, loop.target:
        case ast.Name(), ast.Name(id=row):
            return row, None
        case ast.Call(), ast.Tuple(elts=[ast.Name(id=place), ast.Name(id=row)]):
            return row, place
    raise _Unfit


def _assigned(name: str, value: ast.expr) -> ast.stmt:
    return ast.Assign([ast.Name(name, ast.Store())], value)


def _item(name: str, place: ast.expr) -> ast.expr:
    return ast.Subscript(ast.Name(name, ast.Load()), place, ast.Load())


def _call(name: str, *args: ast.expr) -> ast.expr:
    return ast.Call(ast.Name(name, ast.Load()), list(args), [])


def _appended(name: str, value: ast.expr) -> ast.stmt:
    return ast.Expr(ast.Call(ast.Attribute(ast.Name(name, ast.Load()), "append", ast.Load()), [value], []))
