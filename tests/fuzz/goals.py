"""Goals: what a random program computes (stores, totals, lists, recurrences), each with a step that loops repeat."""

from dataclasses import dataclass, replace

from .expressions import bare
from .vocabulary import Value


@dataclass
class Goal:
    """Something that loops build up: `prologue` lines, a `step(scope)` that gives lines or None, the result's text.

    value: what other expressions may read of it; finish: makes the result's text once all steps are written.
    """

    prologue: list
    step: object
    result: str | None
    value: Value | None = None
    finish: object = None
    stepped: bool = False


class Goals:
    """Makes goals; each step asks the expression writer for what the scope at that point offers."""

    def __init__(self, expressions, arguments):
        self.write = expressions
        self.choices = expressions.choices
        self.library = expressions.library
        self.arguments = arguments
        self.extents = expressions.extents
        self.readable = [
            d for d in self.extents if any(d in a.values[0].dims for a in arguments if a.values)
        ] or self.extents

    # ---- allocation

    def dtype(self, integers=False):
        """Text of a dtype argument, or nothing for the library's default."""
        word = "int64" if integers else self.write.float_type
        if not integers and self.choices.chance(20) and not self.write.complex:
            return (
                ""
                if self.write.float_type == "float32" or self.library.name == "np"
                else f", dtype={self.library.name}.float64"
            )
        return f", dtype={self.library.name}.{word}"

    def allocation(self, dims, integers=False):
        """Text of a new array of these extents."""
        shape = f"({', '.join(dims)}{',' if len(dims) == 1 else ''})" if dims else "()"
        dtype, lib = self.dtype(integers), self.library.name
        sources = [
            v for a in self.arguments for v in a.values if v.dims == dims and v.form == "tensor" and v.category == "f"
        ]
        if sources and not integers and self.choices.chance(25):
            forms = (f"{lib}.zeros_like({{}})", f"{lib}.ones_like({{}})", f"{{}}.{self.library.clone}()")
            return self.choices.pick(forms).format(self.choices.pick(sources).text)
        fill = self.choices.pick(("-1", "2")) if integers else self.choices.pick(("-1.0", "0.5", "float('-inf')", "2"))
        if fill.startswith("float") and self.choices.chance(70):
            fill = "1.0"
        forms = (
            (8, f"{lib}.zeros({shape}{dtype})"),
            (2, f"{lib}.ones({shape}{dtype})"),
            (2, f"{lib}.full({shape}, {fill}{dtype})"),
        )
        return self.choices.weighted(forms)

    # ---- the goals

    def make(self):
        makers = (
            (7, self.vector_store),
            (5, self.matrix_store),
            (4, self.scatter),
            (5, self.total),
            (2, self.row_total),
            (2, self.extreme),
            (2, self.count),
            (2, self.best),
            (5, self.appended),
            (2, self.lengthened),
            (3, self.recurrence),
            (2, self.product),
            (3, self.argument_store),
            (1, self.integer_store),
            (1, self.pair_recurrence),
            (1, self.keyed),
            (1, self.row_recurrence),
            (1, self.host_list),
        )
        return self.choices.weighted(makers)()

    def stored(self, dims, target, read, expression, cumulative=True):
        """The lines of one store into `target`: plain, in place, or with a maximum."""
        form = self.choices.weighted(((8, "="), (3, "+="), (1, "*="), (1, "max"), (1, "-=")))
        if form == "=" or not cumulative:
            return [f"{target} = {bare(expression.text)}"]
        if form == "max" and not self.write.complex:
            if expression.kind == "tensor":
                return [f"{target} = {self.library.spell('maximum')}({read}, {bare(expression.text)})"]
            return (
                [f"if {expression.text} > {read}:", f"    {target} = {bare(expression.text)}"]
                if not dims
                else [f"{target} = {bare(expression.text)}"]
            )
        return [f"{target} {form if form != 'max' else '+='} {bare(expression.text)}"]

    def vector_store(self):
        name, dim = self.write.name("out"), self.choices.pick(self.readable)
        value = Value(name, dims=(dim,), writable=True, weight=1)

        def step(scope):
            if not scope.indices(dim):
                return None
            at = self.choices.pick(scope.indices(dim)).text if self.choices.chance(85) else self.write.index(scope, dim)
            return self.stored((), f"{name}[{at}]", f"{name}[{at}]", self.write.value(scope))

        return Goal([f"{name} = {self.allocation((dim,))}"], step, name, value)

    def integer_store(self):
        name, dim = self.write.name("ids"), self.choices.pick(self.extents)
        value = Value(name, "tensor", "i", (dim,), writable=True, weight=1)

        def step(scope):
            if not scope.indices(dim):
                return None
            at = self.choices.pick(scope.indices(dim)).text
            return [f"{name}[{at}] {self.choices.pick(('=', '+='))} {bare(self.write.value(scope, (), 'i').text)}"]

        return Goal([f"{name} = {self.allocation((dim,), integers=True)}"], step, name, value)

    def matrix_store(self):
        name = self.write.name("grid")
        dims = self.choices.pick(
            (self.extents[:2], self.extents[:2], self.extents[:2][::-1], ("n", "n"), self.extents[-2:])
        )
        value = Value(name, dims=tuple(dims), writable=True, weight=1)

        def step(scope):
            texts = [[v.text for v in scope.indices(d)] for d in dims]
            if texts[0] and texts[1]:
                at = f"{self.choices.pick(texts[0])}, {self.choices.pick(texts[1])}"
                target = f"{name}[{at}]" if self.choices.chance(85) else f"{name}[{at.replace(', ', '][')}]"
                return self.stored((), target, target, self.write.value(scope))
            for axis in (0, 1):
                if texts[axis]:
                    at = self.choices.pick(texts[axis])
                    target = (
                        f"{name}[{at}]"
                        if axis == 0 and self.choices.chance(60)
                        else f"{name}[{at}, :]"
                        if axis == 0
                        else f"{name}[:, {at}]"
                    )
                    return self.stored((dims[1 - axis],), target, target, self.write.value(scope, (dims[1 - axis],)))
            return None

        return Goal([f"{name} = {self.allocation(tuple(dims))}"], step, name, value)

    def scatter(self):
        """Stores at places that a table names, with repeats."""
        tables = [v for a in self.arguments for v in a.values if v.into and v.dims and a.role == "value"]
        if not tables:
            return self.vector_store()
        table = self.choices.pick(tables)
        name, vector = self.write.name("bins"), self.choices.chance(25) and self.extents[1]
        dims = (table.into, vector) if vector else (table.into,)

        def step(scope):
            if not scope.indices(table.dims[0]):
                return None
            at = f"{table.text}[{self.choices.pick(scope.indices(table.dims[0])).text}]"
            target = f"{name}[{at}]"
            return self.stored(dims[1:], target, target, self.write.value(scope, dims[1:], depth=1))

        return Goal([f"{name} = {self.allocation(dims)}"], step, name, Value(name, dims=dims, writable=True, weight=1))

    def start(self):
        """(text, kind) of a scalar to accumulate from."""
        lib, dtype = self.library.name, self.dtype()
        options = [(4, ("0", "either")), (4, ("0.0", "either")), (2, ("1.0", "either"))]
        options += [(3, (f"{lib}.zeros((){dtype})", "tensor"))]
        if lib == "torch":
            options += [(2, ("torch.tensor(0.0)", "tensor")), (1, (f"torch.zeros((1,){dtype})", "tensor"))]
        return self.choices.weighted(options)

    def carried(self, name, start, kind="either"):
        """What others may read of an accumulator; not if it may be a Python integer, which squaring would blow up."""
        return None if "(1,)" in start or start.isdigit() else Value(name, kind, weight=1)

    def total(self):
        name = self.write.name("total")
        start, kind = self.start()

        def step(scope):
            text = bare(self.write.value(scope).text)
            forms = (
                (5, f"{name} += {text}"),
                (4, f"{name} = {name} + {text}"),
                (1, f"{name} -= {text}"),
                (1, f"{name} = 0.5 * {name} + {text}"),
            )
            return [self.choices.weighted(forms)]

        value = self.carried(name, start, kind)
        return Goal([f"{name} = {start}"], step, name, value)

    def product(self):
        name = self.write.name("scaled")

        def step(scope):
            text = bare(self.write.value(scope, depth=1).text)
            return [self.choices.pick((f"{name} *= 0.5 + ({text})", f"{name} = {name} * ({text})"))]

        start = self.choices.pick(("1", "1.0"))
        return Goal([f"{name} = {start}"], step, name, self.carried(name, start))

    def row_total(self):
        name, dim = self.write.name("sums"), self.choices.pick(self.readable)

        def step(scope):
            text = bare(self.write.value(scope, (dim,)).text)
            return [
                self.choices.pick((f"{name} += {text}", f"{name} = {name} + {text}", f"{name} = {name} * 0.5 + {text}"))
            ]

        if self.choices.chance(30):  # a number, until something is added to it
            return Goal([f"{name} = {self.choices.pick(('0', '0', '0.0', '0.5'))}"], step, name, None)
        return Goal([f"{name} = {self.allocation((dim,))}"], step, name, Value(name, dims=(dim,), weight=1))

    def extreme(self):
        if self.write.complex:
            return self.total()
        name, word = self.write.name("top"), self.choices.pick(("max", "min"))
        infinite = "float('-inf')" if word == "max" else "float('inf')"

        def step(scope):
            text = bare(self.write.value(scope).text)
            sign = ">" if word == "max" else "<"
            branch = [f"if ({text}) {sign} {name}:", f"    {name} = {text}"]
            return self.choices.pick(
                ([f"{name} = {word}({name}, {text})"], [f"{name} = {word}({text}, {name})"], branch)
            )

        start = self.choices.pick((infinite, "0", "0.5"))
        return Goal([f"{name} = {start}"], step, name, self.carried(name, start))

    def count(self):
        name = self.write.name("count")

        def step(scope):
            return [f"if {self.write.condition(scope)}:", f"    {name} += {self.choices.pick(('1', '1', '2'))}"]

        return Goal([f"{name} = 0"], step, name, Value(name, "number", "i", weight=1))

    def best(self):
        """The greatest value and where it was found, by a comparison."""
        if self.write.complex:
            return self.count()
        name, place = self.write.name("best"), self.write.name("place")
        start = self.choices.pick(("float('-inf')", "-1.0", "None"))

        def step(scope):
            indices = [v.text for v in scope.values if v.into and not v.dims]
            if not indices:
                return None
            candidate, test = self.write.name("c"), f"{self.choices.pick(('>', '>', '>=', '<'))} {name}"
            test = f"{name} is None or {candidate} {test}" if start == "None" else f"{candidate} {test}"
            found = self.choices.pick(indices) if self.choices.chance(70) else f"({', '.join(indices)},)"
            return [
                f"{candidate} = {bare(self.write.value(scope).text)}",
                f"if {test}:",
                f"    {name} = {candidate}",
                f"    {place} = {found}",
            ]

        return Goal([f"{name} = {start}", f"{place} = {self.choices.pick(('-1', 'None'))}"], step, f"{name}, {place}")

    def appended(self):
        """A list of scalars or rows, returned as it is, stacked, or as a tensor."""
        name = self.write.name("items")
        dims = (self.choices.pick(self.readable),) if self.choices.chance(35) else ()
        kinds = set()

        def step(scope):
            if not scope.in_loop:
                return None
            value = (
                self.write.tensor(scope, dims, depth=2) if self.choices.chance(70) else self.write.value(scope, dims)
            )
            if value is None:
                return None
            kinds.add(value.kind)
            line = f"{name}.append({bare(value.text)})"
            return [f"if {self.write.condition(scope)}:", f"    {line}"] if self.choices.chance(25) else [line]

        return Goal([f"{name} = []"], step, name, finish=lambda: self.packed(name, dims, kinds))

    def lengthened(self):
        """A list that begins with an item, and grows by what is made of the last one."""
        name = self.write.name("items")
        start, kind = self.start()

        def step(scope):
            if not scope.in_loop:
                return None
            a, b = self.write.value(scope, depth=1), self.write.value(scope, depth=1)
            forms = (
                (4, f"{a.text} * {name}[-1] + {b.text}"),
                (2, f"{name}[-1] / 2 + {b.text}"),
                (1, f"{b.text} - {name}[0]"),
            )
            return [f"{name}.append({self.choices.weighted(forms)})"]

        return Goal([f"{name} = [{start}]"], step, name, finish=lambda: self.packed(name, (), {kind}))

    def packed(self, name, dims, kinds):
        """The text that a list of these kinds is returned as."""
        if self.choices.chance(35):
            return name
        if kinds == {"tensor"}:
            words = ["stack"] + (["cat"] if dims else [])
            text = f"{self.library.spell(self.choices.pick(words))}({name})"
            return f"{text} if {name} else None" if self.choices.chance(40) else text
        if kinds == {"number"} or (kinds and self.choices.chance(50) and not dims):
            return f"{self.library.spell('tensor')}({name})"
        return name

    def recurrence(self):
        """A state that each step makes from the one before, kept in a list or an array at times."""
        name = self.write.name("state")
        start, kind = self.start()
        value = self.carried(name, start, kind)

        def step(scope):
            inner = scope.child(*([replace(value, weight=8)] if value else []))
            a, b = self.write.value(scope, depth=1), self.write.value(inner, depth=1)
            forms = (
                (4, f"{name} = {a.text} * {name} + {b.text}"),
                (2, f"{name} = 0.9 * {name} + 0.1 * {b.text}"),
                (1, f"{name} = {name} * {a.text}"),
                (1, f"{name} = {b.text} - {name}"),
                (1, f"{name} = {name} / 2 + {b.text}"),
            )
            return [self.choices.weighted(forms)]

        return Goal([f"{name} = {start}"], step, name, value)

    def row_recurrence(self):
        name, dim = self.write.name("hidden"), self.choices.pick(self.readable)

        def step(scope):
            inner = scope.child(Value(name, dims=(dim,), weight=8))
            made = self.write.tensor(inner, (dim,), depth=2)
            if made is None:
                return None
            squash = f"{self.library.name}.tanh({bare(made.text)})"
            return [self.choices.pick((f"{name} = {squash}", f"{name} = {name} * 0.5 + {made.text}"))]

        return Goal([f"{name} = {self.allocation((dim,))}"], step, name, Value(name, dims=(dim,), weight=1))

    def pair_recurrence(self):
        first, second = self.write.name("a"), self.write.name("b")

        def step(scope):
            text = self.write.value(scope, depth=1).text
            return [
                self.choices.pick(
                    (
                        f"{first}, {second} = {second}, {first} + {text}",
                        f"{first}, {second} = {first} + 1, {first} * {text}",
                    )
                )
            ]

        start = self.choices.pick(("0.0", "1"))
        return Goal([f"{first}, {second} = {start}, 1"], step, f"({first}, {second})", self.carried(first, start))

    def argument_store(self):
        """Stores into an argument, which may be a stencil over it."""
        options = [v for a in self.arguments for v in a.values if v.writable and v.category == "f"]
        if not options:
            return self.vector_store()
        value = self.choices.pick(options)

        def step(scope):
            texts = [[v.text for v in scope.indices(d)] for d in value.dims]
            if not all(texts):
                return None
            target = f"{value.text}[{', '.join(self.choices.pick(t) for t in texts)}]"
            return self.stored((), target, target, self.write.value(scope))

        return Goal([], step, value.text if self.choices.chance(50) else None)

    def keyed(self):
        """A dict that is updated by key."""
        tables = [a.name for a in self.arguments if a.role == "table"]
        name = self.choices.pick(tables) if tables else self.write.name("table")

        def step(scope):
            indices = [v for v in scope.values if v.into and not v.dims and v.kind == "number"]
            if not indices:
                return None
            key = f"{self.choices.pick(indices).text} % {self.choices.between(2, 4)}"
            text = bare(self.write.value(scope, depth=1).text)
            return [self.choices.pick((f"{name}[{key}] = {name}.get({key}, 0) + {text}", f"{name}[{key}] = {text}"))]

        return Goal([] if tables else [f"{name} = {{}}"], step, name)

    def host_list(self):
        """A Python list that is stored to, at times one whose rows are the same list."""
        name, dim = self.write.name("cells"), self.choices.pick(self.extents)
        nested = self.choices.chance(40)
        alike = self.choices.chance(30)
        start = f"[[0.0] * 2] * {dim}" if alike else f"[[0.0] * 2 for _ in range({dim})]"

        def step(scope):
            indices = [v.text for v in scope.indices(dim) if v.kind == "number"]
            if not indices:
                return None
            at, value = self.choices.pick(indices), self.write.number_value(scope, (), "f", 1)
            target = f"{name}[{at}][{self.choices.pick(('0', '1', f'{at} % 2'))}]" if nested else f"{name}[{at}]"
            return [f"{target} {self.choices.pick(('=', '+=', '='))} {bare(value.text)}"]

        return Goal([f"{name} = {start if nested else f'[0.0] * {dim}'}"], step, name)
