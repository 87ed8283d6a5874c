"""Strings that a region only compares and looks up, in; the region over numbers that stand for them out.

for w in sentence:                       numbers = {"the": 0}
    if w != "the" and w in places:       sentence_numbers = [numbers.setdefault(one, len(numbers)) for one in sentence]
        total += rows[places[w]]         places_known = ...
                                         for w in sentence_numbers:
                                             if w != 0 and places_has[w]:
                                                 total += rows[places_values[places_places[w]]]

Equal strings have one number. What is made of a string alone, as its length or ``w.lower()``, and what a dict holds
under it become lists with an item for each number. A key that is not there has a place behind the end of what the dict
holds, where the loop is asked.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from typing import Any

from looplift.base.data import dataclass, field
from looplift.base.errors import RequirementFailed
from looplift.base.syntax import fresh_copy, nodes_of
from looplift.frontend.names import FUNCTIONS, assigned_names, fresh_name, names_of

CHANGING = frozenset("lower upper strip lstrip rstrip title casefold capitalize swapcase replace".split())
TELLING = frozenset(
    "startswith endswith isdigit isalpha isalnum isupper islower isspace isnumeric istitle count find".split()
)
"""Methods of strings that give strings, and those that give numbers; all of them without effects."""


_BUILTINS = {function.__name__: function for function in (all, enumerate, len, str, tuple, type)}
"""What the lines before the statements call."""


class _Unfit(Exception):
    """A string is used in another way."""


@dataclass
class Words:
    """The statements over numbers, the lines that make these, and the names that the lines bind for the statements."""

    statements: list[ast.stmt]
    lines: list[str]
    names: dict[str, str]
    """What is bound, and the argument that it is as long as, or ""."""
    namespace: Mapping[str, Any]

    def values(self, values: Mapping[str, Any]) -> dict[str, Any]:
        known = {**self.namespace, **_BUILTINS, **values}
        known["RequirementFailed"] = RequirementFailed
        exec("\n".join(self.lines), known)
        return {**values, **{name: known[name] for name in self.names}}


def words_of(
    statements: list[ast.stmt], values: Mapping[str, Any], namespace: Mapping[str, Any], live_out: Iterable[str]
) -> Words | None:
    """None where there are no strings, or one is used in another way."""
    used = names_of(statements).loads
    bound = {*assigned_names(statements)}
    given = {name: _kind(value) for name, value in values.items() if name in used - bound}
    every = [node for statement in statements for node in nodes_of(statement)]
    spelled = any(isinstance(node, ast.Constant) and type(node.value) is str for node in every)
    if not (spelled or any(given.values())) or any(isinstance(node, FUNCTIONS) for node in every):
        return None
    if "one" in values or any(name in bound or values.get(name, own) is not own for name, own in _BUILTINS.items()):
        return None  # the lines before the statements have other things by these names
    speller = _Speller({name: kind for name, kind in given.items() if kind}, values, {*values, *bound, *used})
    speller.steady = frozenset(name for name, value in values.items() if name not in bound and type(value) is int)
    try:
        speller.find(statements)
        made = [speller.visit(statement) for statement in fresh_copy(statements)]
    except _Unfit:
        return None
    if not speller.names or {*speller.words, *speller.rows, *speller.literals} & {*live_out}:
        return None
    lines = [f"{speller.table} = {speller.numbers!r}", *(line for phase in speller.phases for line in phase)]
    return Words([ast.fix_missing_locations(one) for one in made], lines, speller.names, namespace)


def _kind(value: Any) -> str:
    """What a value of the caller is, if it is of strings."""
    if type(value) is str:
        return "word"
    if type(value) in (list, tuple) and value and all(type(one) is str for one in value):
        return "list"
    if type(value) in (list, tuple) and value and all(_kind(one) == "list" for one in value):
        return "lists"
    if type(value) in (dict, set, frozenset) and value and all(type(one) is str for one in value):
        return "dict" if type(value) is dict else "set"
    return ""


def _is_literal(node: ast.AST) -> bool:
    try:
        found = ast.literal_eval(node)  # type: ignore[arg-type]
    except ValueError:
        return False
    return isinstance(found, dict) and bool(found) and all(type(key) is str for key in found)


@dataclass
class _Table:
    """The names of the lists that tell what a dict or a set holds for each number."""

    has: str
    places: str = ""
    values: tuple[str, ...] = ()
    holds: str = ""
    """Whether it holds words, tuples, or neither."""


@dataclass
class _Speller(ast.NodeTransformer):
    given: dict[str, str]
    values: Mapping[str, Any]
    taken: set[str]
    words: set[str] = field(default_factory=set)
    rows: set[str] = field(default_factory=set)
    literals: dict[str, Any] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)
    phases: tuple[list[str], ...] = field(default_factory=lambda: ([], [], [], []))
    """Lines that number strings, that make others of them, and that look up strings and other things."""
    names: dict[str, str] = field(default_factory=dict)
    made: dict[str, str] = field(default_factory=dict)
    tables: dict[str, _Table] = field(default_factory=dict)
    table: str = ""
    checked: set[str] = field(default_factory=set)
    """Lists that are looked through for what is no string."""
    steady: frozenset[str] = frozenset()
    """Integers of the caller that the region does not bind."""

    def find(self, statements: list[ast.stmt]) -> None:
        """The names that hold words, and dicts that are written out."""
        self.table = self._fresh("numbers")
        every = [node for statement in statements for node in nodes_of(statement)]
        assigned: dict[str, int] = {}
        for node in every:
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                assigned[node.id] = assigned.get(node.id, 0) + 1
            if isinstance(node, ast.Constant) and type(node.value) is str:
                self.numbers.setdefault(node.value, len(self.numbers))
        for node in every:
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Dict() as value) if assigned[name] == 1:
                    if node in statements and _is_literal(value) and not _mentions(statements, node, name):
                        self.literals[name] = ast.literal_eval(value)
                        self.given[name] = "dict"
        before = None
        while before != (self.words, self.rows):
            before = {*self.words}, {*self.rows}
            found = self._bindings(every)
            self.words |= {name for name, kind in found if kind == "word"}
            self.rows |= {name for name, kind in found if kind == "list"}
        for name, count in assigned.items():
            kind = "word" if name in self.words else "list" if name in self.rows else ""
            if kind and (self._bindings(every).count((name, kind)) != count or self.words & self.rows):
                raise _Unfit

    def _bindings(self, every: list[ast.AST]) -> list[tuple[str, str]]:
        """Names and what they are bound to: a "word", a "list" of them, or something else."""
        found: list[tuple[str, str]] = []
        for node in every:
            match node:
                case ast.For(target=target, iter=source) | ast.comprehension(target=target, iter=source):
                    found += self._items(target, source)
                case ast.Assign(targets=[target], value=value):
                    found += [(name, self._kind_of(part)) for name, part in _pairs(target, value)]
        return found

    def _items(self, target: ast.expr, source: ast.expr) -> list[tuple[str, str]]:
        """The names that a loop over something binds, and what to."""
        match source, target:
            case ast.Call(func=ast.Name(id="enumerate"), args=[inner, *_]), ast.Tuple(elts=[_, one]):
                return self._items(one, inner)
            case ast.Call(func=ast.Name(id="zip"), args=inners), ast.Tuple(elts=targets) if len(inners) == len(targets):
                return [pair for inner, one in zip(inners, targets, strict=True) for pair in self._items(one, inner)]
            case ast.Name(id=source_name), ast.Name(id=name) if self.given.get(source_name) == "lists":
                return [(name, "list")]
            case _, ast.Name(id=name):
                return [(name, "word" if self._is_list(source) else "")]
        return []

    def _kind_of(self, node: ast.expr) -> str:
        return "word" if self._is_word(node) else "list" if self._is_list(node) else ""

    def _is_list(self, node: ast.expr) -> bool:
        match node:
            case ast.Name(id=name):
                return self.given.get(name) == "list" or name in self.rows
            case ast.Subscript(value=inner, slice=ast.Slice()):
                return self._is_list(inner)
            case ast.Subscript(value=ast.Name(id=name)):
                return self.given.get(name) == "lists"
            case ast.Call(func=ast.Attribute(value=inner, attr="split" | "rsplit" | "splitlines"), keywords=[]):
                return self._is_word(inner)
        return False

    def _is_word(self, node: ast.expr) -> bool:
        match node:
            case ast.Constant(value=str()):
                return True
            case ast.Name(id=name):
                return name in self.words or self.given.get(name) == "word"
            case ast.Subscript(value=inner, slice=ast.Slice() as cut):
                return self._is_written_out(cut) and self._is_word(inner)
            case ast.Subscript(value=inner, slice=index) if _is_number(index):
                return self._is_word(inner) or self._is_list(inner)
            case ast.Subscript(value=ast.Name(id=name), slice=index) if self.given.get(name) == "dict":
                return self._is_word(index) and self._holds(name) == "words"
            case ast.Subscript(value=inner):
                return self._is_list(inner)
            case ast.IfExp(body=body, orelse=orelse):
                return self._is_word(body) and self._is_word(orelse)
            case ast.Call(func=ast.Attribute(value=inner, attr=method)) if method in CHANGING:
                return self._is_word(inner)
        return False

    def _is_written_out(self, cut: ast.Slice) -> bool:
        """Whether the bounds of a slice are the same in all iterations, and known before the first."""
        return all(
            _is_number(bound) or (isinstance(bound, ast.Name) and bound.id in self.steady)
            for bound in (cut.lower, cut.upper, cut.step)
            if bound is not None
        )

    # ------------------------------------------------------------ what stands for strings

    def _fresh(self, name: str) -> str:
        name = fresh_name(name, self.taken)
        self.taken.add(name)
        return name

    def _number(self, text: str) -> str:
        return f"{self.table}.setdefault({text}, len({self.table}))"

    def _line(self, name: str, text: str, length: str) -> str:
        """A name for what a text gives, made before the region."""
        if text not in self.made:
            made = self.made[text] = self._fresh(f"{name}_numbers" if length else f"{name}_number")
            self.names[made] = length
            self.phases[0].append(f"{made} = {text}")
        return self.made[text]

    def _list(self, name: str) -> str:
        if name not in self.checked:
            self.checked.add(name)
            one = "all(type(one) is str for one in items)" if self.given[name] == "lists" else "type(items) is str"
            self.phases[0].append(f"if not all({one} for items in {name}):\n    raise RequirementFailed")
        if self.given[name] == "lists":
            return self._line(name, f"[[{self._number('one')} for one in items] for items in {name}]", name)
        return self._line(name, f"[{self._number('one')} for one in {name}]", name)

    def _size(self, name: str) -> str:
        """How many a dict or a set holds."""
        key = f"size of {name}"
        if key not in self.made:
            made = self.made[key] = self._fresh(f"{name}_size")
            self.names[made] = ""
            self.phases[0].append(f"{made} = len({name})")
        return self.made[key]

    def _of_each(self, hint: str, text: str) -> str:
        """A list of what a text over ``one`` gives for each string."""
        key = f"of each: {text}"
        if key not in self.made:
            made = self.made[key] = self._fresh(hint)
            self.names[made] = ""
            self.phases[1].append(f"{made} = [{text} for one in [*{self.table}]]")
        return self.made[key]

    def _holds(self, name: str) -> str:
        found = [*self.literals.get(name, self.values.get(name, {})).values()]
        kinds = {*map(type, found)}
        if kinds == {str}:
            return "words"
        if kinds == {tuple} and len({*map(len, found)}) == 1:
            return "tuples"
        return ""

    def _table_of(self, name: str) -> _Table:
        if name not in self.tables:
            lines = self.phases[2 if self.given[name] == "dict" and self._holds(name) == "words" else 3]
            if name in self.literals:
                lines.append(f"{name} = {self.literals[name]!r}")
            known, has = self._fresh(f"{name}_known"), self._fresh(f"{name}_has")
            lines.append(f"{has} = [one in {name} for one in {self.table}]")
            self.names[has] = ""
            self.tables[name] = _Table(has)
            if self.given[name] == "dict":
                lines.append(f"{known} = [one for one in {self.table} if one in {name}]")
                self.tables[name] = self._filled(name, known, has, lines)
        return self.tables[name]

    def _filled(self, name: str, known: str, has: str, lines: list[str]) -> _Table:
        places, holds = self._fresh(f"{name}_places"), self._holds(name)
        lines.append(f"{places} = {{one: place for place, one in enumerate({known})}}")
        lines.append(f"{places} = [{places}.get(one, len({known})) for one in {self.table}]")
        found = [*self.literals.get(name, self.values.get(name, {})).values()]
        columns = range(len(found[0])) if holds == "tuples" else [None]
        if holds == "tuples":
            lines.append(_required(f"type({name}[one]) is tuple and len({name}[one]) == {len(columns)}", known))
        made: list[str] = []
        for column in columns:
            values = self._fresh(f"{name}_values" if column is None else f"{name}_values_{column}")
            item = f"{name}[one]" if column is None else f"{name}[one][{column}]"
            lines.append(f"{values} = [{self._number(item) if holds == 'words' else item} for one in {known}]")
            if holds == "words":
                lines.append(_required(f"type({item}) is str", known))
            else:
                lines.append(_checked(values, found if column is None else [one[column] for one in found]))
            made.append(values)
        self.names |= dict.fromkeys((places, *made), "")
        return _Table(has, places, tuple(made), holds)

    # ------------------------------------------------------------ the statements

    def word(self, node: ast.expr) -> ast.expr:
        """The number of a word."""
        match node:
            case ast.Constant(value=str(text)):
                return ast.Constant(self.numbers[text])
            case ast.Name(id=name) if name in self.words:
                return node
            case ast.Name(id=name) if self.given.get(name) == "word":
                return _name(self._line(name, self._number(name), ""))
            case ast.Subscript(value=inner, slice=index) if self._is_word(inner):
                return self._made_of(inner, node, f"[{ast.unparse(index)}]", "part")
            case ast.Subscript(value=ast.Name(id=name), slice=index) if self.given.get(name) == "dict":
                return self._looked_up(name, index)[0]
            case ast.Subscript(value=inner, slice=index):
                return ast.Subscript(self._whole(inner), self.visit(index), ast.Load())
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return ast.IfExp(self.visit(test), self.word(body), self.word(orelse))
            case ast.Call(func=ast.Attribute(value=inner, attr=method), args=args, keywords=[]):
                return self._made_of(inner, node, f".{method}({_literals(args)})", method)
        raise _Unfit

    def _made_of(self, inner: ast.expr, node: ast.expr, text: str, hint: str) -> ast.expr:
        """What a text makes of a word: a word again."""
        number = self.word(inner)
        return ast.Subscript(_name(self._of_each(hint, self._number(f"one{text}"))), number, ast.Load())

    def _whole(self, node: ast.expr) -> ast.expr:
        """A list of words as one of numbers."""
        match node:
            case ast.Name(id=name) if name in self.rows:
                return node
            case ast.Name(id=name) if self.given.get(name) in ("list", "lists"):
                return _name(self._list(name))
            case ast.Subscript(value=inner, slice=ast.Slice() as cut):
                return ast.Subscript(self._whole(inner), self.generic_visit(cut), ast.Load())  # type: ignore[arg-type]
            case ast.Subscript(value=ast.Name(id=name), slice=index) if self.given.get(name) == "lists":
                return ast.Subscript(_name(self._list(name)), self.visit(index), ast.Load())
            case ast.Call(func=ast.Attribute(value=inner, attr=method), args=args):
                number = self.word(inner)
                parts = f"[{self._number('part')} for part in one.{method}({_literals(args)})]"
                return ast.Subscript(_name(self._of_each("parts", parts)), number, ast.Load())
        raise _Unfit

    def _looked_up(self, name: str, key: ast.expr) -> list[ast.expr]:
        """What a dict holds under a word, item by item for a tuple."""
        table, number = self._table_of(name), self.word(key)
        place = ast.Subscript(_name(table.places), number, ast.Load())
        return [ast.Subscript(_name(values), fresh_copy(place), ast.Load()) for values in table.values]

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in self.given or (node.id in self.words | self.rows and isinstance(node.ctx, ast.Load)):
            raise _Unfit
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        if type(node.value) is str:
            raise _Unfit
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        match node.targets:
            case [ast.Name(id=name)] if name in self.literals:
                return ast.copy_location(ast.Pass(), node)
            case [target]:
                node.targets = [self._target(target)]
                node.value = self._assigned(target, node.value)
                return node
        return self.generic_visit(node)  # type: ignore[return-value]

    def _target(self, target: ast.expr) -> ast.expr:
        return target if isinstance(target, ast.Name | ast.Tuple) else self.visit(target)

    def _assigned(self, target: ast.expr, value: ast.expr) -> ast.expr:
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            return ast.Tuple([self._assigned(*pair) for pair in zip(target.elts, value.elts)], ast.Load())
        if isinstance(target, ast.Name) and target.id in self.words | self.rows:
            return self.word(value) if target.id in self.words else self._whole(value)
        return self.visit(value)

    def visit_For(self, node: ast.For) -> ast.stmt:
        node.target, node.iter = self._target(node.target), self._iterated(node.iter)
        node.body, node.orelse = [[self.visit(one) for one in part] for part in (node.body, node.orelse)]
        return node

    def visit_comprehension(self, node: ast.comprehension) -> ast.comprehension:
        node.iter, node.ifs = self._iterated(node.iter), [self.visit(one) for one in node.ifs]
        return node

    def _iterated(self, source: ast.expr) -> ast.expr:
        match source:
            case ast.Call(func=ast.Name(id="enumerate" | "zip"), args=inners):
                source.args = [self._iterated(one) for one in inners]
                return source
        if self._is_list(source) or (isinstance(source, ast.Name) and self.given.get(source.id) == "lists"):
            return self._whole(source)
        return self.visit(source)

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        match node:
            case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq()], comparators=[right]):
                if self._is_word(left) != self._is_word(right):
                    raise _Unfit
                if self._is_word(left):
                    node.left, node.comparators = self.word(left), [self.word(right)]
                    return node
            case ast.Compare(left=left, ops=[ast.In() | ast.NotIn() as op], comparators=[right]) if self._is_word(left):
                found = self._contained(left, right)
                return ast.UnaryOp(ast.Not(), found) if isinstance(op, ast.NotIn) else found
        return self.generic_visit(node)  # type: ignore[return-value]

    def _contained(self, left: ast.expr, right: ast.expr) -> ast.expr:
        match right:
            case ast.Name(id=name) if self.given.get(name) in ("dict", "set", "list"):
                return ast.Subscript(_name(self._table_of(name).has), self.word(left), ast.Load())
            case ast.Tuple(elts=items) | ast.List(elts=items) | ast.Set(elts=items) if all(map(self._is_word, items)):
                return ast.Compare(self.word(left), [ast.In()], [ast.Tuple([*map(self.word, items)], ast.Load())])
        if isinstance(left, ast.Constant) and self._is_word(right):
            return self._told(right, f"{left.value!r} in one", "holds")
        raise _Unfit

    def _told(self, inner: ast.expr, text: str, hint: str) -> ast.expr:
        """What a text tells of a word: a number."""
        number = self.word(inner)
        return ast.Subscript(_name(self._of_each(hint, text)), number, ast.Load())

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        match node:
            case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store() | ast.Del()) if name in self.given:
                raise _Unfit
            case ast.Subscript(value=ast.Name(id=name), slice=index) if self.given.get(name) == "dict":
                found = self._looked_up(name, index)
                return found[0] if len(found) == 1 else ast.Tuple(found, ast.Load())
        if self._is_word(node):
            raise _Unfit
        return self.generic_visit(node)  # type: ignore[return-value]

    def visit_Call(self, node: ast.Call) -> ast.expr:
        match node:
            case ast.Call(func=ast.Name(id="len"), args=[one], keywords=[]) if self._is_word(one):
                return self._told(one, "len(one)", "lengths")
            case ast.Call(func=ast.Name(id="len"), args=[one], keywords=[]) if self._is_list(one):
                node.args = [self._whole(one)]
                return node
            case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name) as one], keywords=[]) if name in self.given:
                if name in self.literals:
                    return ast.Constant(len(self.literals[name]))
                if self.given[name] != "lists":
                    return _name(self._size(name))
                node.args = [self._whole(one)]
                return node
            case ast.Call(func=ast.Attribute(value=inner, attr=method), args=args, keywords=[]) if self._is_word(inner):
                if method not in TELLING:
                    raise _Unfit
                return self._told(inner, f"one.{method}({_literals(args)})", method)
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="get"), args=[key, *rest], keywords=[]) if (
                self.given.get(name) == "dict"
            ):
                return self._got(name, key, rest)
        return self.generic_visit(node)  # type: ignore[return-value]

    def _got(self, name: str, key: ast.expr, rest: list[ast.expr]) -> ast.expr:
        found = self._looked_up(name, key)
        if len(found) != 1 or len(rest) != 1 or self._holds(name) or not self._is_at_hand(rest[0]):
            raise _Unfit
        has = ast.Subscript(_name(self._table_of(name).has), self.word(key), ast.Load())
        return ast.IfExp(has, found[0], self.visit(rest[0]))

    def _is_at_hand(self, node: ast.expr) -> bool:
        """Whether nothing is to be seen of a default that is worked out only where it is taken."""
        match node:
            case ast.Name():
                return True
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=str(key))) if (
                self.given.get(name) == "dict"
            ):
                self._table_of(name)
                self.phases[3].append(_required(f"{key!r} in one", f"[{name}]"))
                return True
            case ast.Call(func=ast.Attribute(value=ast.Name(), attr="zeros" | "ones"), args=args, keywords=[]):
                return all(map(_is_number, args))
        return _is_plain(node)


def _mentions(statements: list[ast.stmt], last: ast.stmt, name: str) -> bool:
    """Whether a name is in a statement before the last one."""
    before = statements[: statements.index(last)]
    return any(isinstance(node, ast.Name) and node.id == name for one in before for node in nodes_of(one))


def _pairs(target: ast.expr, value: ast.expr) -> list[tuple[str, ast.expr]]:
    """Names, and what an assignment binds them to."""
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        return [pair for one, part in zip(target.elts, value.elts) for pair in _pairs(one, part)]
    return [(target.id, value)] if isinstance(target, ast.Name) else []


def _is_plain(node: ast.expr) -> bool:
    try:
        return type(ast.literal_eval(node)) in (int, float, bool)
    except ValueError:
        return False


def _is_number(node: ast.expr) -> bool:
    try:
        return type(ast.literal_eval(node)) is int
    except ValueError:
        return False


def _literals(args: list[ast.expr]) -> str:
    """Arguments that are written out."""
    for arg in args:
        try:
            ast.literal_eval(arg)
        except ValueError:
            raise _Unfit from None
    return ", ".join(map(ast.unparse, args))


def _name(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def _checked(name: str, found: list[Any]) -> str:
    """The check that a dict holds what it held when the code was made, of one type."""
    kinds = {*map(type, found)}
    if len(kinds) != 1:
        raise _Unfit
    (kind,) = kinds
    if kind in (int, float, bool):
        return _required(f"type(one) is {kind.__name__}", name)
    first = found[0]
    if kind.__module__ != "torch" or not hasattr(first, "requires_grad"):
        raise _Unfit
    alike = (first.dtype, tuple(first.shape), first.requires_grad, first.device.type)
    facts = "(one.dtype, tuple(one.shape), one.requires_grad, one.device.type)"
    if any((one.dtype, tuple(one.shape), one.requires_grad, one.device.type) != alike for one in found):
        raise _Unfit
    return _required(f"{facts} == {alike}", name)


def _required(text: str, name: str) -> str:
    """The line that leaves to the loop what does not hold of all items."""
    return f"if not all({text} for one in {name}):\n    raise RequirementFailed"
