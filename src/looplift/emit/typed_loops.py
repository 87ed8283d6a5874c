"""What a loop of a typed program goes through in, the C++ of its head and the value of each step out."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from typing import Any

from looplift.base.data import dataclass, field
from looplift.base.spans import is_strict
from looplift.base.syntax import nodes_of
from looplift.base.unpacked import applied
from looplift.emit.typed_expressions import SEQUENCES, element, inside, is_box
from looplift.emit.typed_generators import Generators, Step
from looplift.emit.typed_scope import Value, as_int, coerced, refuse
from looplift.emit.typed_types import INT, NEVER, TABLES, TEXT, Box, Tup, text_of

_MAPPED = "item that is mapped"


@dataclass
class Steps:
    """``test`` holds while there is another step, ``step`` goes to it; ``value`` is what the loop gets."""

    test: str
    step: list[str]
    value: Value
    before: list[str] = field(default_factory=list)
    """What each step begins with."""


class Loops(Generators):
    """Loops of statements and of comprehensions."""

    replaced: dict[Any, Any]
    """Nodes that others stand for, which are written in their place."""

    def run_through(
        self,
        node: ast.expr,
        target: ast.expr,
        body: Callable[[], None],
        *,
        own: bool = False,
        begin: Callable[[str], None] | None = None,
    ) -> None:
        """A loop over what an expression stands for; ``begin`` writes what comes before its first iteration."""

        def step(value: Value) -> None:
            if own:
                self.bind_own(target, value)
            else:
                self.bind(target, value)
            body()

        self.for_each(node, step, begin)

    def for_each(self, source: ast.expr, step: Step, begin: Callable[[str], None] | None = None) -> None:
        """Do something for each item of what an expression stands for."""
        self.emit("{")
        numbered = self._counted_generator(source)
        if numbered is not None or self.hands_out(source):
            if begin is not None:
                begin("")
            self._each_handed(source, numbered, step)
        else:
            steps = self.steps_of(source)
            if begin is not None:
                begin(steps.test)
            self.emit(f"for (; {steps.test}; {', '.join(steps.step)}) {{")
            self.lines += steps.before
            step(steps.value)
            self.emit("}")
        self.emit("}")

    def _counted_generator(self, node: ast.expr) -> tuple[ast.expr, ast.expr | None] | None:
        """Of ``enumerate(...)`` of a generator function's results that call, and where it begins to count."""
        if not isinstance(node, ast.Call) or not node.args or self.callee(node) is not enumerate:
            return None
        first, *rest = [*node.args, *(one.value for one in node.keywords if one.arg == "start")]
        plain = len(rest) == len(node.args) + len(node.keywords) - 1 < 2
        if not plain or not all(isinstance(one, ast.Constant) for one in rest) or not self.hands_out(first):
            return None
        return first, next(iter(rest), None)

    def _each_handed(self, source: ast.expr, numbered: tuple[ast.expr, ast.expr | None] | None, step: Step) -> None:
        if numbered is None:
            self.hand_to(source, step)
            return
        inner, start = numbered
        count = self.fresh("i")
        self.emit(f"I {count} = {as_int(self.expression(start), source) if start is not None else 'I(0)'};")

        def counting(value: Value) -> None:
            number = self.keep(Value(INT, f"{count}++"))
            step(self.parted(self.tuple_of([number, value]), [number, value]))

        self.hand_to(inner, counting)

    def goes_through_generator(self, source: ast.expr) -> bool:
        """Whether the statements of a generator function run between the iterations of a loop."""
        return self._counted_generator(source) is not None or self.hands_out(source)

    def bind(self, target: ast.expr, value: Value) -> None:
        raise NotImplementedError

    def bind_own(self, target: ast.expr, value: Value) -> None:
        """Bind names that only a comprehension or a lambda knows."""
        if isinstance(target, ast.Name):
            self.renamed[target.id] = self.keep(value)
            return
        if not isinstance(target, ast.Tuple | ast.List):
            raise refuse(target, "is bound in a comprehension")
        for one, part in zip(target.elts, self.taken_apart(value, len(target.elts), target), strict=True):
            self.bind_own(one.value if isinstance(one, ast.Starred) else one, part)

    def taken_apart(self, value: Value, count: int, node: ast.AST) -> list[Value]:
        """The items of a value that is bound to several names."""
        value = self.present(value)
        if value.type is NEVER:
            return [value] * count
        if isinstance(value.type, Tup):
            if len(value.type.items) != count:
                raise refuse(node, "has another number of items")
            return value.parts or self.fields(self.keep(value))
        if value.type is not TEXT and not is_box(value, "list", "deque", "tuple"):
            raise refuse(node, "is not taken apart")
        value = self.keep(value)
        self.emit(f"if (size({value.code}) != {count}) bail(KIND);")
        return [self.item_at(value, str(place)) for place in range(count)]

    def steps_of(self, node: ast.expr) -> Steps:
        if isinstance(node, ast.Call):
            function = self.callee(node)
            if isinstance(function, type) or callable(function):
                name = getattr(function, "__name__", "")
                known = getattr(builtins, name, None) is function and hasattr(self, f"steps_of_{name}")
                if known and (not node.keywords or (function is zip and is_strict(node) is not None)):
                    return getattr(self, f"steps_of_{name}")(node)
                if function is enumerate:
                    return self.steps_of_enumerate(node)
            if isinstance(node.func, ast.Attribute) and node.func.attr in ("items", "keys", "values") and not node.args:
                owner = self.present(self.expression(node.func.value))
                if is_box(owner, *TABLES):
                    return self.steps_of_dict(owner, node.func.attr)
        if isinstance(node, ast.Tuple | ast.List) and node.elts:
            values = [self.keep(value) for value in self.several(*node.elts)]
            return self.steps_of_values(values)
        return self.steps_of_value(self.expression(node), node)

    def steps_of_range(self, node: ast.Call) -> Steps:
        bounds = [as_int(self.keep(value), node) for value in self.several(*node.args)]
        if not 1 <= len(bounds) <= 3:
            raise refuse(node, "is no range")
        first, last = (bounds[0], bounds[1]) if len(bounds) > 1 else ("I(0)", bounds[0])
        step = bounds[2] if len(bounds) == 3 else "I(1)"
        place, left = self.fresh("i"), self.fresh("n")
        if step == "I(1)":
            self.emit(f"I {place} = {first}; const I {left} = {last};")
            return Steps(f"{place} < {left}", [f"++{place}"], Value(INT, place))
        self.emit(f"I {place} = {first}, {left} = range_size({first}, {last}, {step});")
        return Steps(f"{left} > 0", [f"--{left}", f"{place} += {step}"], Value(INT, place))

    def steps_of_enumerate(self, node: ast.Call) -> Steps:
        start = next((one.value for one in node.keywords if one.arg == "start"), None)
        start = node.args[1] if len(node.args) == 2 else start
        inner = self.steps_of(node.args[0])
        count = self.fresh("i")
        self.emit(f"I {count} = {as_int(self.expression(start), node) if start is not None else 'I(0)'};")
        value = self.tuple_of([Value(INT, count), inner.value])
        return Steps(
            inner.test, [*inner.step, f"++{count}"], self.parted(value, [Value(INT, count), inner.value]), inner.before
        )

    def steps_of_zip(self, node: ast.Call) -> Steps:
        if len(node.args) == 1 and isinstance(node.args[0], ast.Starred) and not node.keywords:
            if not isinstance(self.peek(node.args[0].value), Tup):
                return self._steps_of_columns(node, node.args[0].value)
        if len(node.args) > 1 and any(_is_mapped(one) for source in node.args for one in nodes_of(source)):
            raise refuse(node, "asks for an item more of what is mapped")
        every = [steps for one in node.args for steps in self._steps_of_each(one)]
        if not every:
            raise refuse(node, "zips nothing")
        values = [one.value for one in every]
        test = " && ".join(one.test for one in every)
        if is_strict(node):
            test = f"all_or_none({', '.join(one.test for one in every)})"
        steps = [part for one in every for part in one.step]
        before = [line for one in every for line in one.before]
        return Steps(test, steps, self.parted(self.tuple_of(values), values), before)

    def _steps_of_each(self, node: ast.expr) -> list[Steps]:
        """What an argument goes through, or each item of a tuple behind a star."""
        if not isinstance(node, ast.Starred):
            return [self.steps_of(node)]
        value = self.keep(self.present(self.expression(node.value)))
        if not isinstance(value.type, Tup):
            raise refuse(node, "unpacks what has any number of items")
        return [self.steps_of_value(one, node) for one in self.fields(value)]

    def peek(self, node: ast.expr) -> Any:
        raise NotImplementedError

    def steps_of_map(self, node: ast.Call) -> Steps:
        if len(node.args) != 2:
            raise refuse(node, "maps more than one")
        function, source = node.args
        if node not in self.replaced:
            self.replaced[node] = applied(function, [ast.Name(_MAPPED, ast.Load())])
        call = self.replaced[node]
        is_known = isinstance(function, ast.Lambda | ast.Name) or (
            isinstance(function, ast.Attribute) and self.resolved(function) is not None
        )
        if call is None or not is_known:
            raise refuse(node, "maps by what is not known")
        inner = self.steps_of(source)
        before = self.renamed
        with self.block() as lines:
            self.renamed = {**before, _MAPPED: self.keep(inner.value)}
            value = self.keep(self.expression(call))
        self.renamed = before
        return Steps(inner.test, inner.step, value, [*inner.before, *lines])

    def _steps_of_columns(self, node: ast.Call, source: ast.expr) -> Steps:
        """``zip(*rows)``: of each row its next item, as long as all have one."""
        rows = self.keep(self.listed(node, source))  # those that there are at the beginning
        row = element(rows)
        if row is NEVER:
            return Steps("false", [], Value(NEVER, "None_()"))
        if isinstance(row, Tup):
            steps = self.steps_of_values(self.columns_of(node, rows))
            steps.test = f"size({rows.code}) && {steps.test}"
            return steps
        if row is not TEXT and not is_box(Value(row, ""), *SEQUENCES):
            raise refuse(node, "zips what is no list of lists")
        place = self.fresh("i")
        with self.block() as lines:
            column = self._column(node, "column", rows, lambda one: self.item_at(one, place))
        self.emit(f"I {place} = 0;")
        test = f"all_longer({rows.code}, {place})"
        if is_box(Value(row, ""), "deque"):
            versions = self.fresh()
            self.emit(f"I {versions} = versions_of({rows.code});")
            test = f"unchanged_all({rows.code}, {versions}) && {test}"
        return Steps(test, [f"++{place}"], column, lines)

    def columns_of(self, node: ast.AST, rows: Value) -> list[Value]:
        """The columns of a list of tuples, each a tuple."""
        count = len(element(rows).items)
        return [self._column(node, f"column {k}", rows, lambda one, k=k: self.fields(one)[k]) for k in range(count)]

    def _column(self, node: ast.AST, hint: str, rows: Value, item_of: Callable[[Value], Value]) -> Value:
        """The tuple of an item of each row."""
        box: Any = self.box(node, "tuple", 1, hint)
        at, column = self.fresh("i"), self.fresh()
        item = item_of(Value(element(rows), f"{rows.code}->data[{rows.code}->head + {at}]"))
        self.joins.widen(box, 0, item.type)
        text = text_of(box)
        self.emit(f"{text} {column} = made<{inside(text)}>();")
        self.emit(f"for (I {at} = 0; {at} < size({rows.code}); ++{at})")
        self.emit(f"{column}->push({coerced(item, box.find().cells[0])});")
        return Value(box.find(), column)

    def parted(self, value: Value, parts: list[Value]) -> Value:
        """A tuple that is taken apart at once is never made."""
        value.parts = parts
        return value

    def steps_of_reversed(self, node: ast.Call) -> Steps:
        inner = node.args[0]
        if isinstance(inner, ast.Call) and self.callee(inner) is range and len(inner.args) <= 3:
            bounds = [as_int(self.keep(value), node) for value in self.several(*inner.args)]
            first, last = (bounds[0], bounds[1]) if len(bounds) > 1 else ("I(0)", bounds[0])
            step = bounds[2] if len(bounds) == 3 else "I(1)"
            place, left = self.fresh("i"), self.fresh("n")
            self.emit(f"I {left} = range_size({first}, {last}, {step}), {place} = {first} + ({left} - 1) * {step};")
            return Steps(f"{left} > 0", [f"--{left}", f"{place} -= {step}"], Value(INT, place))
        owner = self.keep(self.present(self.expression(inner)))
        if owner.type is NEVER:
            return Steps("false", [], owner)
        if owner.type is not TEXT and not is_box(owner, *SEQUENCES):
            raise refuse(node, "is not understood")
        place = self.fresh("i")
        self.emit(f"I {place} = size({owner.code}) - 1;")
        test = f"{place} >= 0 && {place} < size({owner.code})"
        if is_box(owner, "deque"):
            test = f"{place} >= 0 && {self._is_unchanged(owner)}"
        return Steps(test, [f"--{place}"], self.item_at(owner, place))

    def _is_unchanged(self, owner: Value) -> str:
        """What raises where a deque changed since now."""
        version = self.fresh()
        self.emit(f"I {version} = {owner.code}->version;")
        return f"unchanged({owner.code}.p, {version})"

    def item_at(self, owner: Value, place: str) -> Value:
        """The item of a list or a text at a place that it has."""
        if owner.type is TEXT:
            return Value(TEXT, f"letter({owner.code}.data()[{place}])")
        return Value(element(owner), f"{owner.code}->data[{owner.code}->head + {place}]")

    def steps_of_values(self, values: list[Value]) -> Steps:
        """A few values that are written out."""
        place = self.fresh("i")
        found = self.one_of(values, place)
        if found.type is NEVER:
            return Steps("false", [], found)
        self.emit(f"I {place} = 0;")
        return Steps(f"{place} < {len(values)}", [f"++{place}"], found)

    def one_of(self, values: list[Value], place: str) -> Value:
        """The value at a place among some that are written out."""
        type_: Any = NEVER
        for value in values:
            type_ = self.joins.join(type_, value.type)
        if type_ is NEVER:
            return Value(NEVER, "None_()")
        table = self.fresh()
        self.emit(f"{text_of(type_)} {table}[] = {{{', '.join(coerced(value, type_) for value in values)}}};")
        return Value(type_, f"{table}[{place}]")

    def steps_of_dict(self, owner: Value, part: str) -> Steps:
        box = self.keep(owner)
        place, version = self.fresh("i"), self.fresh()
        self.emit(f"I {place} = 0, {version} = {box.code}->version;")
        key, value = box.type.find().cells[0], Value(NEVER, "")
        entry = f"{box.code}->entries[{place}]"
        if part != "keys":
            value = Value(box.type.find().cells[1], f"{entry}.value")
        keys = Value(key, f"{entry}.key")
        found = (
            keys
            if part == "keys"
            else value
            if part == "values"
            else self.parted(self.tuple_of([keys, value]), [keys, value])
        )
        return Steps(f"next_live({box.code}.p, {place}, {version})", [f"++{place}"], found)

    def steps_of_value(self, value: Value, node: ast.AST) -> Steps:
        value = self.present(value)
        if value.type is NEVER:
            return Steps("false", [], value)
        if isinstance(value.type, Tup):
            return self.steps_of_values(self.fields(self.keep(value)))
        if is_box(value, *TABLES):
            return self.steps_of_dict(value, "keys")
        if is_box(value, "set") and self.is_as_given(value.type.find()):
            return self._steps_of_given_set(self.keep(value))
        if value.type is not TEXT and not is_box(value, *SEQUENCES):
            raise refuse(node, "is gone through in an order of its own")
        value, place = self.keep(value), self.fresh("i")
        self.emit(f"I {place} = 0;")
        test = f"{place} < size({value.code})"
        if is_box(value, "deque"):
            test = f"{self._is_unchanged(value)} && {test}"
        return Steps(test, [f"++{place}"], self.item_at(value, place))

    def is_as_given(self, box: Box) -> bool:
        """Whether no set of a type is made or changed here."""
        return not any(one.find() is box for one in (*self.boxes.values(), *self.changed_sets.values()))

    def _steps_of_given_set(self, owner: Value) -> Steps:
        """A set of the caller's, in the order in which it was read, which is that of its hashes while nobody adds."""
        self.emit(f"if (!{owner.code}->from || {owner.code}->dirty) bail(KIND);")
        return self.steps_of_dict(owner, "keys")

    # ------------------------------------------------------------ comprehensions

    def generate(self, generators: list[ast.comprehension], body: Callable[[], None]) -> None:
        """The loops and conditions of a comprehension, whose names are its own."""
        if not generators:
            body()
            return
        first, rest = generators[0], generators[1:]
        if first.is_async:
            raise refuse(None, "an asynchronous loop")
        before = dict(self.renamed)

        def inner() -> None:
            for test in first.ifs:
                self.emit(f"if (!({self.condition(test)})) continue;")
            self.generate(rest, body)

        self.run_through(first.iter, first.target, inner, own=True)
        self.renamed = before

    def of_ListComp(self, node: ast.ListComp) -> Value:
        return self.collected(node, "list", [node.elt], "push")

    def of_SetComp(self, node: ast.SetComp) -> Value:
        return self.hashed(self.collected(node, "set", [node.elt], "add"), node)

    def of_DictComp(self, node: ast.DictComp) -> Value:
        return self.hashed(self.collected(node, "dict", [node.key, node.value], "set"), node)

    def collected(self, node: Any, kind: str, items: list[ast.expr], method: str) -> Value:
        box = self.box(node, kind, len(items))
        return self.gathered(box, node.generators, items, method)

    def gathered(self, box: Any, generators: list[ast.comprehension], items: list[ast.expr], method: str) -> Value:
        name = self.fresh()
        with self.block() as lines:
            self.generate(generators, lambda: self.put_items(box, name, items, method))
        text = text_of(box)
        self.emit(f"{text} {name} = made<{inside(text)}>();")
        self.lines += lines
        return Value(box.find(), name)

    def put_items(self, box: Any, name: str, items: list[ast.expr], method: str) -> None:
        """Put what expressions stand for into the container of a name."""
        values = self.several(*items)
        for place, value in enumerate(values):
            self.joins.widen(box, place, value.type)
        cells = box.find().cells
        texts = [coerced(value, cell) for value, cell in zip(values, cells, strict=True)]
        self.emit(f"{name}->{method}({', '.join(texts)});")

    def listed(self, node: ast.AST, source: ast.expr, kind: str = "list") -> Value:
        """A new list of what an expression goes through."""
        box: Any = self.box(node, kind, 1, "listed")
        method = "add" if kind == "set" else "push"
        name = self.fresh()
        with self.block() as lines:
            self.put_each(box, name, source, method)
        text = text_of(box)
        self.emit(f"{text} {name} = made<{inside(text)}>();")
        self.lines += lines
        return Value(box.find(), name)

    def put_each(self, box: Any, name: str, source: ast.expr, method: str) -> None:
        """Put what an expression goes through into the container of a name."""
        if isinstance(source, ast.GeneratorExp):
            self.generate(source.generators, lambda: self.put_items(box, name, [source.elt], method))
            return

        def put(value: Value) -> None:
            self.joins.widen(box, 0, value.type)
            self.emit(f"{name}->{method}({coerced(value, box.find().cells[0])});")

        self.for_each(source, put)


def _is_mapped(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "map"


__all__ = ["Box", "Loops"]
