"""Calls of a typed program in, their types and C++ out: Python's own functions, and the user's."""

from __future__ import annotations

import ast
import bisect
import builtins
import collections
import heapq
import itertools
import math
from typing import Any

from looplift.base.syntax import nodes_of
from looplift.emit.typed_classes import is_named_tuple
from looplift.emit.typed_expressions import SEQUENCES, element, float_text, is_box
from looplift.emit.typed_folds import check_order
from looplift.emit.typed_groups import GROUPS
from looplift.emit.typed_scope import (
    Factory,
    Routine,
    Value,
    as_int,
    as_number,
    coerced,
    common,
    evaluated,
    refuse,
)
from looplift.emit.typed_tuples import Tuples
from looplift.emit.typed_types import (
    BOOL,
    DICTS,
    FLOAT,
    INT,
    KINDS,
    NEVER,
    NONE,
    NUMBERS,
    TABLES,
    TEXT,
    Box,
    Either,
    Ten,
    Tup,
    text_of,
)
from looplift.emit.typed_variants import fitting
from looplift.ops import decimals, twins


def decimal_factor(node: ast.Call) -> str:
    """Of ``round(x, 2)`` 100."""
    digits = node.args[1]
    factor = decimals.factor(digits.value if isinstance(digits, ast.Constant) else None)
    if factor is None:
        raise refuse(node, "rounds to digits that are not known, negative or more than 22")
    return float_text(factor)


def _is_hashable(function: Any) -> bool:
    try:
        return hash(function) is not None
    except TypeError:
        return False


_MATH = {
    math.sqrt: "root", math.log2: "logarithm2", math.log10: "logarithm10", math.exp: "exponential", math.fabs: "fabs",
}  # fmt: skip
_LIBRARY = (
    "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "log1p", "expm1",
    "exp2", "cbrt", "erf", "erfc",
)  # fmt: skip
_ANGLES = {math.radians: math.pi / 180, math.degrees: 180 / math.pi}
_PAIRS = {math.atan2: "atan2(hidden({0}), {1})", math.copysign: "copysign(hidden({0}), {1})",
          math.log: "over(logarithm({0}), logarithm({1}))", math.pow: "finite(pow({0}, hidden({1})))",
          math.fmod: "finite(fmod({0}, {1}))"}  # fmt: skip
_TESTS = (math.isinf, math.isnan, math.isfinite)
_ROUNDING = {math.floor: "floor_", math.ceil: "ceil_", math.trunc: "whole"}
_LOOKING = (range, enumerate, zip, reversed, map, len, abs, min, max, sum, int, float, str, bool)
"""Calls that change nothing, at least not before what they make is gone through."""
_HEAP = {heapq.heappush: 2, heapq.heappop: 1, heapq.heapify: 1, heapq.heapreplace: 2, heapq.heappushpop: 2}
_EXCHANGED = {"heapreplace": "heap_replace", "heappushpop": "heap_pass"}
_BISECT = (bisect.bisect_left, bisect.bisect_right, bisect.bisect)
_INSERTED = {bisect.insort: bisect.bisect, bisect.insort_left: bisect.bisect_left, bisect.insort_right: bisect.bisect}
_CONTAINERS = {
    list: "list",
    set: "set",
    collections.deque: "deque",
    dict: "dict",
    collections.OrderedDict: "ordered dict",
    collections.defaultdict: "defaultdict",
    collections.Counter: "counter",
}
_KEY = "key of a dict"
_OF_PYTHON = ("builtins", "collections", "numpy", "torch", "functools", "itertools", "math")
_FACTORIES = {int: "int", float: "float", bool: "bool", str: "str", list: "list", set: "set", dict: "dict"}


class Calls(Tuples):
    """Calls of functions."""

    routines: dict[Any, Routine]
    gone_through: list[tuple[Any, ast.expr]]
    """The types of what must not change, as groups of it are handed out meanwhile."""

    def callee(self, node: ast.Call) -> Any:
        """The function that is called: an object from outside, or a routine of the program's own."""
        if isinstance(node.func, ast.Name) and node.func.id == GROUPS:
            return None
        if isinstance(node.func, ast.Name) and self.owner(node.func.id) is not None:
            owner = self.owner(node.func.id)
            if owner is self.routine and node.func.id not in self.bound:
                raise refuse(node, "may be called before it is defined")
            return self.routines.get((owner, node.func.id))
        return self.resolved(node.func)

    def of_Call(self, node: ast.Call) -> Value:
        if isinstance(node.func, ast.Name) and node.func.id == GROUPS:
            return self._grouped(node)
        if any(isinstance(one, ast.Starred) for one in node.args) or any(one.arg is None for one in node.keywords):
            raise refuse(node, "unpacks")
        function = self.callee(node)
        if (counted := twins.counted(node)) is not None and self.callee(ast.Call(counted[0], [], [])) is bin:
            made = ast.copy_location(ast.Call(node.func, [counted[1]], []), node)
            function, node = twins.ones, self.replaced.setdefault(node, made)
        if isinstance(node.func, ast.Attribute) and function is None:
            return self.method(node, node.func)
        function = twins.twin_of(function, len(node.args)) or function
        if (routine := self.routine_of(function)) is not None:
            return self.call(routine, node)
        if isinstance(function, type) and (function.__module__ not in _OF_PYTHON or is_named_tuple(function)):
            return self.made_object(function, node)
        if function is None or not _is_hashable(function):
            raise refuse(node, "calls what is not known")
        keywords = {str(one.arg): one.value for one in node.keywords}
        return self.known(function, node, keywords)

    def _grouped(self, node: ast.Call) -> Value:
        """The groups of what is gone through, if it stays as it is meanwhile."""
        call, function, source, about = node.args
        names = str(about.value).split() if isinstance(about, ast.Constant) else []
        may_change, names = "changes" in names, [one for one in names if one != "changes"]
        own = all(self.resolved(ast.Name(one, ast.Load())) is getattr(builtins, one) for one in names)
        if self.resolved(function) is not itertools.groupby or not own or self.hands_out(source):
            raise refuse(function, "is called in a way of its own")
        if may_change:
            type_ = self.peek(source)
            is_fresh = isinstance(source, ast.Call)
            self.gone_through.append(
                (element(Value(type_, "")) if is_fresh and isinstance(type_, Box) else type_, source)
            )
        routine = self.routine_of(twins.grouped)
        assert routine is not None and isinstance(call, ast.Call)
        return self.call(routine, call)

    def made_object(self, made: type, node: ast.Call) -> Value:
        raise NotImplementedError

    def routine_of(self, function: Any) -> Routine | None:
        raise NotImplementedError

    def method(self, node: ast.Call, func: ast.Attribute) -> Value:
        raise NotImplementedError

    def known(self, function: Any, node: ast.Call, keywords: dict[str, ast.expr]) -> Value:
        """A call of one of Python's own functions."""
        if function is tuple and len(node.args) == 1 and not keywords:
            if (found := self.tuple_of_known(node.args[0])) is not None:
                return found
            if self._has_any_length(node.args[0]):
                return self.listed(node, node.args[0], "tuple")
        if function == dict.fromkeys:
            return self._dict_of_keys(node, keywords)
        if function in _CONTAINERS:
            return self.container(_CONTAINERS[function], node, keywords)
        name = getattr(function, "__name__", "")
        is_builtin = getattr(builtins, name, None) is function
        if is_builtin and name in ("min", "max"):
            return self.extreme(name, node, keywords)
        if is_builtin and name == "sorted" and len(node.args) == 1:
            return self.sorted(node, keywords)
        if is_builtin and name == "sum" and len(node.args) <= 2 and not keywords:
            return self.total(node)
        if is_builtin and name in ("any", "all") and len(node.args) == 1:
            return self.quantified(node, name == "any")
        if is_builtin and name == "next" and len(node.args) == 1 and not keywords:
            return self._first_of(node.args[0], node)
        if function in (heapq.nsmallest, heapq.nlargest) and len(node.args) == 2 and not keywords.keys() - {"key"}:
            return self.fewest(node, keywords, down=function is heapq.nlargest)
        if function is itertools.groupby:
            raise refuse(node, "hands out groups that are no lists; list(group) at once, and only once, makes one")
        if keywords:
            raise refuse(node, "is called with names")
        if function in _HEAP and len(node.args) == _HEAP[function]:
            return self.heap(function.__name__, node)
        if function in _BISECT and len(node.args) == 2:
            owner, value = self.several(*node.args)
            return self.bisected(function, owner, value, node)
        if function in _INSERTED and len(node.args) == 2:
            owner, value = map(self.keep, self.several(*node.args))
            place = self.keep(self.bisected(_INSERTED[function], owner, value, node))
            self.alters(owner)
            return self.list_insert(owner, node, place, value)
        if is_builtin and hasattr(self, f"call_{name}"):
            return getattr(self, f"call_{name}")(node, *map(self.present, self.several(*node.args)))
        return self.of_math(function, node)

    def _first_of(self, source: ast.expr, node: ast.Call) -> Value:
        """``next(iter(container))``."""
        if not isinstance(source, ast.Call) or self.callee(source) is not iter or len(source.args) != 1:
            raise refuse(node, "asks an iterator")
        owner = self.present(self.expression(source.args[0]))
        if owner.type is NEVER:
            return owner
        if not is_box(owner, *DICTS, "list", "deque"):
            raise refuse(node, "asks for the first item in an order of its own")
        first = "first_key" if is_box(owner, *DICTS) else "first_item"
        return self.keep(Value(element(owner), f"{first}({owner.code})"))

    def of_math(self, function: Any, node: ast.Call) -> Value:
        given = list(map(self.present, self.several(*node.args)))
        if function is math.dist:
            given, function = self._differences(given, node), math.hypot
        values = self.math_values(given)
        if any(value.type is NEVER for value in values):
            return Value(NEVER, "None_()")
        if not values or any(value.type not in NUMBERS for value in values):
            raise refuse(node, "has no form in a typed program")
        first = as_number(values[0], FLOAT)
        if len(values) == 1 and function in _MATH:
            return Value(FLOAT, f"{_MATH[function]}({first})")
        if len(values) == 1 and any(function is getattr(math, name) for name in _LIBRARY):
            return Value(FLOAT, f"checked({function.__name__}(hidden({first})), {first})")
        if len(values) == 1 and function in _ANGLES:
            return Value(FLOAT, f"({first} * {float_text(_ANGLES[function])})")
        if len(values) == 2 and function in _PAIRS:
            return Value(FLOAT, _PAIRS[function].format(first, as_number(values[1], FLOAT)))
        if function is math.hypot:
            return Value(FLOAT, f"length_of({', '.join(as_number(one, FLOAT) for one in values)})")
        if len(values) == 1 and function is math.factorial:
            return Value(INT, f"factorial({as_int(values[0], node)})")
        if len(values) == 1 and function is math.log:
            return Value(FLOAT, f"logarithm({first})")
        if len(values) == 1 and function in _ROUNDING:
            whole = values[0].type in (INT, BOOL)
            return Value(INT, as_int(values[0]) if whole else f"{_ROUNDING[function]}({values[0].code})")
        if len(values) == 1 and function in _TESTS:
            return Value(BOOL, f"bool({function.__name__}({first}))")
        if len(values) == 1 and function is math.isqrt:
            return Value(INT, f"isqrt_({as_int(values[0], node)})")
        if len(values) == 2 and function is math.gcd:
            return Value(INT, f"gcd({as_int(values[0], node)}, {as_int(values[1], node)})")
        raise refuse(node, "has no form in a typed program")

    def _differences(self, points: list[Value], node: ast.Call) -> list[Value]:
        """By how much two points that are tuples differ in each dimension."""
        if len(points) == 2 and all(isinstance(one.type, Tup) and one.type.of is None for one in points):
            pairs = list(zip(*(self.fields(self.keep(one)) for one in points), strict=False))
            numbers = all(one.type in (FLOAT, INT, BOOL) for pair in pairs for one in pair)
            if numbers and len({len(one.type.items) for one in points}) == 1 and pairs:
                return [Value(FLOAT, f"minus({', '.join(as_number(one, FLOAT) for one in pair)})") for pair in pairs]
        raise refuse(node, "has no form in a typed program")

    def math_values(self, values: list[Value]) -> list[Value]:
        """The numbers that functions of numbers get."""
        return values

    # ------------------------------------------------------------ numbers and text

    def call_len(self, node: ast.Call, *values: Value) -> Value:
        if len(values) != 1:
            raise refuse(node, "is no length")
        if isinstance(values[0].type, Tup):
            return Value(INT, evaluated(f"I({len(values[0].type.items)}LL)", values[0]))
        if values[0].type is NEVER:
            return Value(INT, "I(0)")
        if values[0].type is not TEXT and not is_box(values[0], *KINDS):
            raise refuse(node, "has no length")
        return Value(INT, f"size({values[0].code})")

    def call_abs(self, node: ast.Call, value: Value) -> Value:
        if value.type is NEVER:
            return value
        if value.type not in NUMBERS:
            raise refuse(node, "is no number")
        return Value(
            INT if value.type is BOOL else value.type, f"magnitude({as_number(value, common(value.type, BOOL))})"
        )

    def call_int(self, node: ast.Call, *values: Value) -> Value:
        if not values:
            return Value(INT, "I(0)")
        value = values[0]
        if value.type is NEVER:
            return Value(INT, "I(0)")
        if value.type is TEXT and len(values) == 1:
            return Value(INT, f"parsed({value.code})")
        if value.type is TEXT and len(values) == 2:
            return Value(INT, f"parsed({value.code}, {as_int(values[1], node)})")
        if value.type not in NUMBERS or len(values) > 1:
            raise refuse(node, "is no number")
        return Value(INT, f"whole({as_number(value, common(value.type, BOOL))})")

    def call_float(self, node: ast.Call, *values: Value) -> Value:
        if len(values) != 1:
            return Value(FLOAT, "F(0)")
        text = node.args[0].value if isinstance(node.args[0], ast.Constant) else None
        if isinstance(text, str):
            try:
                number = float(text)
            except ValueError:
                raise refuse(node, "is no number") from None
            return Value(FLOAT, float_text(number))
        if values[0].type is NEVER:
            return Value(FLOAT, "F(0)")
        value: Value = values[0]
        if value.type is TEXT:
            return Value(FLOAT, f"parsed_float({value.code})")
        if value.type not in NUMBERS:
            raise refuse(node, "is no number")
        return Value(FLOAT, as_number(value, FLOAT))

    def call_bool(self, node: ast.Call, *values: Value) -> Value:
        return Value(BOOL, self.truth_of(values[0]) if values else "false")

    def call_str(self, node: ast.Call, *values: Value) -> Value:
        if len(values) > 1:
            raise refuse(node, "decodes")
        return Value(TEXT, self.as_text(values[0], node) if values else "Str()")

    def call_format(self, node: ast.Call, *values: Value) -> Value:
        if len(values) != 2:
            raise refuse(node, "formats a value")
        return self.formatted(values[0], values[1], node)

    def call_bin(self, node: ast.Call, value: Value) -> Value:
        return self._in_base(node, value, 2)

    def call_oct(self, node: ast.Call, value: Value) -> Value:
        return self._in_base(node, value, 8)

    def call_hex(self, node: ast.Call, value: Value) -> Value:
        return self._in_base(node, value, 16)

    def _in_base(self, node: ast.Call, value: Value, base: int) -> Value:
        if value.type not in (INT, BOOL):
            raise refuse(node, "is no integer of Python's")
        return Value(TEXT, f"in_base({as_int(value, node)}, {base})")

    def call_ord(self, node: ast.Call, value: Value) -> Value:
        if value.type is not TEXT:
            raise refuse(node, "is no text")
        return Value(INT, f"code_of({value.code})")

    def call_chr(self, node: ast.Call, value: Value) -> Value:
        return Value(TEXT, f"letter_of({as_int(value, node)})")

    def call_round(self, node: ast.Call, *values: Value) -> Value:
        if not values or values[0].type not in NUMBERS:
            raise refuse(node, "rounds what is no number")
        value = values[0]
        if len(values) > 1:
            return self.rounded_to(node, value, decimal_factor(node))
        return Value(INT, as_int(value) if value.type in (INT, BOOL) else f"round_({value.code})")

    def rounded_to(self, node: ast.Call, value: Value, factor: str) -> Value:
        if value.type not in (INT, BOOL, FLOAT):
            raise refuse(node, "rounds what is now an integer and now a float")
        return Value(FLOAT, f"round_to({value.code}, {factor})") if value.type is FLOAT else Value(INT, as_int(value))

    def call_divmod(self, node: ast.Call, left: Value, right: Value) -> Value:
        if any(isinstance(one.type, Ten | Either) for one in (left, right)):
            raise refuse(node, "of a tensor, which has none")
        left, right = self.keep(left), self.keep(right)
        return self.tuple_of([self.arithmetic(op, left, right, node) for op in (ast.FloorDiv, ast.Mod)])

    def call_pow(self, node: ast.Call, *values: Value) -> Value:
        if len(values) == 3:
            return Value(INT, f"power({', '.join(as_int(value, node) for value in values)})")
        return self.arithmetic(ast.Pow, values[0], values[1], node)

    def _has_any_length(self, source: ast.expr) -> bool:
        """Whether a tuple of what an expression goes through may have any number of items."""
        value = self.looked_at(source)
        return value is None or value.type is TEXT or is_box(value, *SEQUENCES)

    def call_tuple(self, node: ast.Call, *values: Value) -> Value:
        if len(values) == 1 and isinstance(values[0].type, Tup):
            special = values[0].type.named or values[0].type.of
            return self.tuple_of(self.fields(self.keep(values[0]))) if special else values[0]
        raise refuse(node, "makes a tuple of any length")

    # ------------------------------------------------------------ containers

    def _limited(self, node: ast.Call, keywords: dict[str, ast.expr]) -> Value:
        """``deque(xs, maxlen=n)``."""
        if keywords.keys() - {"maxlen"} or len(node.args) + len(keywords) > 2:
            raise refuse(node, "is made in a way of its own")
        given = keywords or {"maxlen": node.args[1]}
        if node.args:
            source, given = self.before_option(node.args[0], given, "maxlen", node)
            found = self.keep(self.listed(node, source, "deque"))
        else:
            found = self.filled(self.box(node, "deque", 1), [])
        most = self.expression(given["maxlen"])
        if most.type is not NONE:
            self.emit(f"{found.code}->limit({as_int(most, node)});")
        return found

    def container(self, kind: str, node: ast.Call, keywords: dict[str, ast.expr]) -> Value:
        if kind == "deque" and (keywords or len(node.args) > 1):
            return self._limited(node, keywords)
        if keywords or len(node.args) > 1:
            raise refuse(node, "is made in a way of its own")
        if kind == "dict" and node.args:
            return self._dict_of(self.keep(self.expression(node.args[0])), node)
        if kind == "defaultdict":
            return self._defaultdict(node)
        if kind == "ordered dict" and node.args:
            raise refuse(node, "is made in a way of its own")
        if kind in DICTS or not node.args:
            return self.filled(self.box(node, kind, 2 if kind in DICTS else 1), [])
        if kind == "set":
            source = node.args[0]
            value = self.looked_at(source)
            if value is not None and not (value.type is TEXT or is_box(value, *SEQUENCES) or value.type is NEVER):
                raise refuse(node, "makes a set in an order of its own")
        return self.hashed_if_set(self.listed(node, node.args[0], kind), node)

    def _dict_of(self, source: Value, node: ast.Call) -> Value:
        """A new dict with the items of another one."""
        if not is_box(source, *TABLES):
            raise refuse(node, "is made in a way of its own")
        return self.with_items_of(self.filled(self.box(node, "dict", 2), []), source)

    def with_items_of(self, found: Value, source: Value) -> Value:
        """A dict which takes all items of another one."""
        place, key, value = self.fresh("i"), *source.type.find().cells
        self.joins.widen(found.type, 0, key)
        self.joins.widen(found.type, 1, value)
        if NEVER in (key, value):
            return found
        item = f"{source.code}->entries[{place}]"
        self.emit(f"{source.code}->in_order();")
        pair = (Value(key, f"{item}.key"), Value(value, f"{item}.value"))
        texts = [coerced(one, cell) for one, cell in zip(pair, found.type.find().cells, strict=True)]
        self.emit(f"for (I {place} = 0; {place} < {source.code}->used; ++{place})")
        self.emit(f"if ({item}.live) {found.code}->set({', '.join(texts)});")
        return found

    def _dict_of_keys(self, node: ast.Call, keywords: dict[str, ast.expr]) -> Value:
        """``dict.fromkeys(keys, value)``."""
        if keywords or not 1 <= len(node.args) <= 2:
            raise refuse(node, "is made in a way of its own")
        source, value = node.args[0], node.args[1] if len(node.args) == 2 else ast.Constant(None)
        if not isinstance(value, ast.Constant | ast.Name):
            source = self._worked_out_before(source, node)
            value = self._worked_out_once(value, "value", node)
        key = ast.copy_location(ast.Name(_KEY, ast.Load()), source)
        pairs = [ast.comprehension(ast.copy_location(ast.Name(_KEY, ast.Store()), source), source, [], 0)]
        made = self.replaced.setdefault(node, ast.copy_location(ast.DictComp(key, value, pairs), node))
        return self.expression(made)

    def _worked_out_before(self, keys: ast.expr, node: ast.Call) -> ast.expr:
        """The keys of a dict, of which all is worked out that Python works out before their value."""
        if not self.is_stream(keys):
            return self._worked_out_once(keys, "keys", node)
        calls = [one for part in node.args for one in nodes_of(part) if isinstance(one, ast.Call)]
        if not all(self._only_looks(one) for one in calls):
            raise refuse(node, "calls something for its keys, or for their value")
        return keys

    def _only_looks(self, node: ast.Call) -> bool:
        """Whether a call changes nothing, and asks for nothing that changes."""
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("items", "keys", "values"):
            return True
        return self.callee(node) in _LOOKING

    def _worked_out_once(self, part: ast.expr, of: str, node: ast.Call) -> ast.expr:
        """A name for a part of a dict that is worked out as a whole."""
        name = f"{of} in line {node.lineno} at {node.col_offset}"
        self.renamed[name] = self.keep(self.expression(part))
        return ast.copy_location(ast.Name(name, ast.Load()), part)

    def is_stream(self, node: ast.expr) -> bool:
        """Whether an expression is only gone through, and is no value of its own."""
        if isinstance(node, ast.GeneratorExp):
            return True
        if not isinstance(node, ast.Call):
            return False
        views = isinstance(node.func, ast.Attribute) and node.func.attr in ("items", "keys", "values")
        return views or self.callee(node) in (range, enumerate, zip, reversed, map) or self.hands_out(node)

    def hashed_if_set(self, value: Value, node: ast.AST) -> Value:
        return self.hashed(value, node) if is_box(value, "set") else value

    def _defaultdict(self, node: ast.Call) -> Value:
        made: Any = next(iter(node.args), None)
        factory = None if made is None else self.resolved(made)
        if isinstance(made, ast.Lambda):
            body: Any = made.body
            plain = isinstance(body, ast.Constant) and type(body.value) in (int, float) and not body.value
            factory = type(body.value) if plain else list if isinstance(body, ast.List) and not body.elts else None
            default = None if factory is not None else self._number_in(body) or self._made_anew(made)
            if default is not None:
                box: Any = self.box(node, "defaultdict", 2)
                box.default = default
                return self.filled(box, [])
        if factory not in _FACTORIES:
            raise refuse(node, "makes values in a way of its own")
        box = self.box(node, "defaultdict", 2)
        box.default = _FACTORIES[factory]
        return self.filled(box, [])

    def _number_in(self, body: ast.expr) -> Value | None:
        """What a lambda gives that stands for one number."""
        names = {one.id for one in nodes_of(body) if isinstance(one, ast.Name)}
        if names - {"float"} or not isinstance(body, ast.Call | ast.Constant | ast.UnaryOp):
            return None
        with self.block() as lines:
            found = self.expression(body)
        return found if found.type in (INT, FLOAT) and not lines else None

    def _made_anew(self, made: ast.Lambda) -> Factory | None:
        """A lambda whose expression may stand where a value is missing: none of its names is bound a second time."""
        arguments = made.args
        given = [*arguments.args, *arguments.posonlyargs, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
        names = {one.id for one in nodes_of(made.body) if isinstance(one, ast.Name)}
        every = [node for statement in self.routine.body for node in nodes_of(statement)]
        bound = [node.id for node in every if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
        again = {name for name in names & self.routine.stores if bound.count(name) != 1}
        if any(given) or again or isinstance(made.body, ast.Name | ast.Constant):
            return None
        return Factory(made.body, self.routine)

    def heap(self, name: str, node: ast.Call) -> Value:
        owner, *rest = self.several(*node.args)
        if not is_box(owner, "list"):
            raise refuse(node, "is no heap")
        self.alters(owner)
        if name == "heappush":
            self.joins.widen(owner.type, 0, rest[0].type)
            check_order(element(owner), node)
            self.emit(f"heap_push({owner.code}, {text_of(element(owner))}({coerced(rest[0], element(owner))}));")
            return Value(NONE, "None_()")
        if name in _EXCHANGED:
            self.joins.widen(owner.type, 0, rest[0].type)
            check_order(element(owner), node)
            item = f"{text_of(element(owner))}({coerced(rest[0], element(owner))})"
            return self.keep(Value(element(owner), f"{_EXCHANGED[name]}({owner.code}, {item})"))
        check_order(element(owner), node)
        if name == "heapify":
            self.emit(f"heapify({owner.code});")
            return Value(NONE, "None_()")
        return self.keep(Value(element(owner), f"heap_pop({owner.code})"))

    def list_insert(self, owner: Value, node: ast.Call, place: Value, value: Value) -> Value:
        raise NotImplementedError

    def bisected(self, function: Any, owner: Value, value: Value, node: ast.Call) -> Value:
        if not is_box(owner, "list"):
            raise refuse(node, "is no list")
        self.joins.widen(owner.type, 0, value.type)
        check_order(element(owner), node)
        right = "false" if function is bisect.bisect_left else "true"
        text = text_of(element(owner))
        return Value(INT, f"bisect({owner.code}, {text}({coerced(value, element(owner))}), {right})")

    # ------------------------------------------------------------ the user's functions

    def call(self, routine: Routine, node: ast.Call, first: Value | None = None) -> Value:
        """``first``: the object whose method it is."""
        own = [] if first is None else routine.parameters[:1]
        parameters = routine.parameters[len(own) :]
        given = dict(zip(parameters, node.args))
        if len(node.args) > len(parameters):
            raise refuse(node, "has too many arguments")
        for one in node.keywords:
            if one.arg not in parameters or one.arg in given:
                raise refuse(node, "is called with other names")
            given[str(one.arg)] = one.value
        if routine.memory:  # what is passed in another way is kept apart
            routine.forms.add((len(node.args), tuple(str(one.arg) for one in node.keywords)))
            if len(routine.forms) > 1:
                raise refuse(node, "calls a function that keeps its results in several ways")
        first_default = len(routine.parameters) - len(routine.defaults)
        for place, name in enumerate(routine.parameters):
            if name not in given and name not in own:
                if place < first_default:
                    raise refuse(node, "lacks an argument")
                given[name] = routine.defaults[place - first_default]
        ordered = [*(name for name in given), *()]
        values = dict(zip(ordered, self.several(*(given[name] for name in ordered)), strict=True))
        if first is not None:
            values[own[0]] = first
        return self.handed_out(routine, values, node) if routine.hands_out else self.called(routine, values)

    def called_with(self, routine: Routine, values: dict[str, Value]) -> list[str]:
        """The arguments of a call with the values of all parameters."""
        for name, value in values.items():
            self.widen(routine, name, value.type)
        self.reached(routine)
        return [coerced(values[name], routine.types[name]) for name in routine.parameters]

    def called(self, routine: Routine, values: dict[str, Value]) -> Value:
        """A call with the values of all parameters, in the order in which they were evaluated."""
        if routine.hands_out:
            raise refuse(None, f"'{routine.name}' hands out its results one by one, with 'yield'")
        self.calls += 1
        routine = fitting(routine, values, self.routines)
        code = f"{routine.name}({', '.join(self.called_with(routine, values))})"
        if routine.result is NEVER:
            self.emit(f"{code};")
            return Value(NEVER, "None_()")
        return self.keep(Value(routine.result, code))

    def reached(self, routine: Routine) -> None:
        raise NotImplementedError
