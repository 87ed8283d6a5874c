"""Goals: lists of tensors that change at places of the data, folds of lists, slices as values, tuples as state, and
tables that lists fill."""

from .expressions import bare
from .goals import Goal
from .pieces import indented
from .tables import Tables
from .vocabulary import Value


class Held(Tables):
    """What loops keep in lists and tuples while they run."""

    # ---- lists of tensors that change

    def held(self):
        """A list of tensors that is filled and then changed at places that the data name, with counters beside."""
        if not self.is_torch() or self.write.complex:
            return self.scan()
        dim, into = self.choices.pick((("n", "n"), ("m", "n"), ("n", "m")))
        rows = (self.choices.pick(self.readable),) if self.choices.chance(70) else ()
        name, counts, r, q = (self.write.name(stem) for stem in ("held", "times", "r", "q"))
        heads, tails = (self.integers(f"{word}_{dim}{into}", dim, into) for word in ("head", "tail"))
        prologue = self._begun(name, r, into, rows)
        counted = self.choices.chance(40)
        if counted:
            prologue.append(self.choices.pick((f"{counts} = [0] * {into}", f"{counts} = [0 for _ in range({into})]")))
        in_place, whole = self.choices.chance(30), self.choices.chance(65)
        used = self.write.name("used") if whole and self.choices.chance(60) else None
        result = self._used(name, counts, counted, r, into)

        def step(scope):
            at = q if whole else self.at(scope, dim)
            if at is None or (whole and scope.depth >= 2):
                return None
            inner = scope.child(Value(q, "number", "i", (), dim), depth=3, in_loop=True) if whole else scope
            place = self.choices.weighted(
                ((10, f"{heads}[{at}]"), (3, f"{tails}[{at}]"), (1, f"{heads}[{at}] - 1"), (1, f"{heads}[{at}] + 1"))
            )
            lines = self._changed(inner, name, place, f"{tails}[{at}]", rows, in_place)
            if counted:
                lines.append(f"{counts}[{place}] += {self.choices.pick(('1', '1', '2'))}")
            if self.choices.chance(25):
                lines = [f"if {self.write.condition(inner, 0)}:", *indented(lines)]
            if not whole:
                return lines
            lines = [f"for {q} in range({dim}):", *indented(lines)]
            return [*prologue, *lines, f"{used} = {result}"] if used else lines

        return Goal([f"{used} = None"], step, used) if used else Goal(prologue, step, result)

    def _begun(self, name, index, dim, rows):
        """The lines that fill a list with tensors of one shape."""
        shape = f"({', '.join(rows)},)" if rows else "()"
        starts = [f"torch.zeros({shape}{self.dtype()})", f"torch.ones({shape}{self.dtype()})"]
        options = [
            v for a in self.arguments for v in a.values
            if v.dims == (dim, *rows) and v.form == "tensor" and v.category == "f" and v.text.isidentifier()
        ]  # fmt: skip
        starts += [form.format(f"{v.text}[{index}]") for v in options for form in ("{}", "{} * 2", "{}.clone()")]
        start = self.choices.pick(starts)
        if self.choices.chance(10):
            return [f"{name} = [{start.replace(f'[{index}]', '[0]')}] * {dim}"]
        if self.choices.chance(50):
            return [f"{name} = [{start} for {index} in range({dim})]"]
        return [f"{name} = []", f"for {index} in range({dim}):", f"    {name}.append({start})"]

    def _changed(self, scope, name, place, other, rows, in_place):
        text = bare(self.write.value(scope, rows, depth=1).text)
        here, there = f"{name}[{place}]", f"{name}[{other}]"
        if in_place:
            return [
                self.choices.pick((f"{here} += {text}", f"{here} += {text}", f"{here} *= 0.5", f"{here} -= {text}"))
            ]
        before = self.write.name("before")
        forms = (
            (6, [f"{here} = {here} + ({text})"]), (2, [f"{here} = 0.5 * {here} - ({text})"]),
            (2, [f"{before} = {here}", f"{here} = {before} + ({text})"]), (1, [f"{here} = {text}"]),
            (1, [f"{here} = {here} + {there}"]), (1, [f"{here} = torch.maximum({here}, {here} * 0 + ({text}))"]),
            (1, [f"{here} = {there}"]), (1, [f"{here}, {there} = {there}, {here}"]),
        )  # fmt: skip
        return self.choices.weighted(forms)

    def _used(self, name, counts, counted, index, dim):
        """The text of what becomes of the list."""
        forms = [f"torch.stack({name}) if {name} else None", f"[{index} * 2 for {index} in {name}]", name]
        forms += [f"sum({name})", f"[{index}.sum() for {index} in {name}]", f"{name}[:2]", f"sum({name}[1:], 1)"]
        forms += [
            f"[{name}[{index}] + {name}[{index} - 1] for {index} in range({dim})]",
            f"{name}[0] + 1 if {name} else 0",
        ]
        if counted:
            each = f"for {index} in range({dim})"
            forms += [f"[{name}[{index}] / max({counts}[{index}], 1) {each}]", f"({name}, {counts})"]
            forms += [f"[{name}[{index}] {each} if {counts}[{index}] > 0]"] * 2
            forms += [f"[{name}[{index}] / {counts}[{index}] if {counts}[{index}] else {name}[{index}] {each}]"]
        return self.choices.pick(forms)

    # ---- folds of lists

    def folded_list(self):
        """`sum`, `max` or `min` of a list that was made on the way, or of a generator."""
        outer, dim = self.choices.pick((("n", "m"), ("m", "n"), ("n", "n")))
        prologue, keep, result = self.sink(outer)
        name, word = self.write.name("parts"), self.write.name("w")
        folds = ["sum({})", "sum({})", "sum({}, 1)", "sum({}, 0.5)", "sum({}) / max(len({}), 1)"]
        if not self.write.complex:
            folds += ["max({})", "min({})", "max({})", "min({}, default=0)", "max({}, default=-1.0)"]
            folds += ["max({}) - min({})", "max(0, max({}))"]
        fold = self.choices.pick(folds)

        def step(scope):
            if self.at(scope, outer) is None or scope.depth >= 3:
                return None
            inner = scope.child(Value(word, "number", "i", (), dim), depth=3, in_loop=True, skippable=False)
            value = self.write.value(inner, depth=1)
            text = bare(value.text)
            if self.choices.chance(25):
                text = self.choices.pick((f"float({text})", word, "1", f"{value.text} > 0", f"int({text})"))
            if self.write.complex:
                text = bare(value.text)
            span = self.choices.pick((f"range({dim})", f"range({dim})", f"range(1, {dim})"))
            test = f" if {self.write.condition(inner, 0)}" if self.choices.chance(30) else ""
            if self.choices.chance(45):
                lines, what = [], f"[{text} for {word} in {span}{test}]"
                what = what[1:-1] if fold.count("{}") == 1 and "," not in fold and self.choices.chance(40) else what
            else:
                body = [f"{test[1:]}:", f"    {name}.append({text})"] if test else [f"{name}.append({text})"]
                lines, what = [f"{name} = []", f"for {word} in {span}:", *indented(body)], name
            kept = keep(scope, fold.format(*[what] * fold.count("{}")))
            guarded = what is name and "default" not in fold and self.choices.chance(50)
            return [*lines, *([f"if {name}:", *indented(kept)] if guarded else kept)]

        return Goal(prologue, step, result)

    # ---- slices as values

    def cut(self):
        """A slice that has a name, of an array that is read or stored into."""
        dim, into = self.choices.pick((("n", "n"), ("n", "m"), ("m", "n")))
        text, dims = self.vector(into)
        name, piece, whole = self.write.name("part"), self.write.name("piece"), self.write.name("scaled")
        prologue, keep, result = self.sink(dim)
        stored = self.choices.chance(30)
        first, last = self.bounds(dim, into) if self.choices.chance(40) else (None, None)

        def step(scope):
            at = self.at(scope, dim, numbers=True)
            if at is None:
                return None
            los = ["None", "0", at, f"{at} - 1", f"max({at} - 1, 0)", "-2", "1"] + [f"{first}[{at}]"] * 3 * bool(first)
            his = ["None", at, f"{at} + 1", f"{at} + 2", into, "-1", "2"] + [f"{last}[{at}]"] * 3 * bool(last)
            lo, hi = self.choices.pick(los), self.choices.pick(his)
            forms = ((12, f"slice({lo}, {hi})"), (2, f"slice({hi})"), (1, f"slice({lo}, {hi}, 2)"),
                     (1, f"slice({lo}, {hi}, None)"))  # fmt: skip
            lines = [f"{name} = {self.choices.weighted(forms)}"]
            where = name
            if len(dims) == 2 and self.choices.chance(40):
                where = self.choices.pick((f"{name}, 0", f"({name}, slice(None))", f"{name}, -1"))
            if stored:
                change = self.choices.pick(("1.5", f"{whole}[{where}] * 2", f"{text}[{where}] + {at}"))
                return [*lines, f"{whole}[{where}] {self.choices.pick(('=', '=', '+=', '*='))} {change}"]
            if self.choices.chance(15):
                return [*lines, *keep(scope, f"{name}.{self.choices.pick(('start', 'stop'))} or 0")]
            return [*lines, *self.with_piece(scope, f"{text}[{where}]", piece, len(dims), keep)]

        if stored:
            return Goal([f"{whole} = {text} * 1"], step, whole)
        return Goal(prologue, step, result)

    # ---- tuples as state

    def tuple_state(self):
        """A tuple that each iteration makes of the one before, of items of several kinds."""
        name, (a, b) = self.write.name("state"), (self.write.name("p"), self.write.name("q"))
        lib = self.library.name
        starts = ("0", "0.0", "1", "-1.5", "float('inf')", f"{lib}.zeros(())", "None", "True")
        first, second = (self.choices.weighted(tuple(zip((4, 4, 2, 2, 2, 1, 1, 1), starts))) for _ in range(2))
        kept, trace = self.choices.chance(25), self.write.name("trace")

        def step(scope):
            if not scope.in_loop:
                return None
            indices = [v.text for v in scope.values if v.into and not v.dims and v.kind == "number"] or ["2"]
            at, text = self.choices.pick(indices), bare(self.write.value(scope, depth=1).text)
            number = self.choices.pick(("1", at, text, text, "0.5", f"int({at} > 1)"))
            if "None" in (first, second):
                forms = [f"({at}, {text})", f"({b}, {at})", f"({b}, {a})", f"({text}, {a})"]
            else:
                forms = [
                    f"({a} + {number}, {b})",
                    f"({b}, {a})",
                    f"({b}, {a} + {number})",
                    f"({a} + 1, {b} * ({text}))",
                ]
                forms += [f"({a}, {b} - {number})", f"({at}, {text})", f"(max({a}, {number}), {b} + 1)"]
                if not self.write.complex:
                    forms += [f"max({name}, ({number}, {at}))", f"(min({a}, {number}), {a})"]
            made = self.choices.pick(forms)
            lines = [f"{name} = {made}"]
            if self.choices.chance(40):
                test = self.write.condition(scope, 0)
                if "None" not in (first, second) and not self.write.complex and self.choices.chance(50):
                    test = f"{a} < {number}"
                lines = [f"if {test}:", *indented(lines)]
            if f"{a}" in "\n".join(lines) or f"{b}" in "\n".join(lines):
                lines = [f"{a}, {b} = {name}", *lines]
            return [*lines, f"{trace}.append({name}[{self.choices.pick((0, 1))}])"] if kept else lines

        prologue = [f"{name} = ({first}, {second})"] + [f"{trace} = []"] * kept
        return Goal(prologue, step, f"{name}, {trace}" if kept else name)

    # ---- tables that lists fill

    def listed_rows(self):
        """Rows of an array, each from a list that is made for it."""
        if self.write.complex:
            return self.nested_list()
        dim, into = self.choices.pick((("n", "m"), ("m", "n"), ("n", "n")))
        name, row, word = self.write.name("grid"), self.write.name("line"), self.write.name("w")
        number = self.choices.chance(55)

        def step(scope):
            at = self.at(scope, dim, numbers=True)
            if at is None or scope.depth >= 3:
                return None
            inner = scope.child(Value(word, "number", "i", (), into), depth=3, in_loop=True, skippable=False)
            value = self.write.value(inner, depth=1)
            text = bare(value.text)
            if number:
                text = self.choices.pick((f"float({text})", f"int({text})", word, f"{word} * 0.5", f"{word} - {at}"))
            forms = [[f"{row} = [{text} for {word} in range({into})]"]]
            forms += [[f"{row} = []", f"for {word} in range({into}):", f"    {row}.append({text})"]]
            start = self.choices.pick(("0", "0.0", "1"))
            forms += [[f"{row} = [{start}] * {into}", f"for {word} in range({into}):", f"    {row}[{word}] = {text}"]]
            made = f"{self.library.spell('tensor')}({row})"
            made = f"torch.stack({row})" if self.is_torch() and not number and value.kind == "tensor" else made
            made = row if not self.is_torch() and self.choices.chance(30) else made
            return [*self.choices.pick(forms), f"{name}[{at}] {self.choices.pick(('=', '=', '+='))} {made}"]

        return Goal([f"{name} = {self.allocation((dim, into))}"], step, name)

    def rolling(self):
        """Two rows of numbers, of which one is made of the other, and then takes its place."""
        if self.write.complex:
            return self.nested_list()
        dim = self.choices.pick(self.extents[:2])
        old, new, word = self.write.name("last"), self.write.name("next"), self.write.name("w")
        start = self.choices.pick((f"[0] * ({dim} + 1)", f"list(range({dim} + 1))", f"[0.0] * ({dim} + 1)",
                                   f"[0] + [float('inf')] * {dim}", f"[1] + [0.5] * {dim}"))  # fmt: skip
        fresh = self.choices.chance(60)

        def step(scope):
            if scope.depth >= 3:
                return None
            inner = scope.child(Value(word, "number", "i", (), dim, 1, 1), depth=3, in_loop=True, skippable=False)
            cost = self._cost(inner, word, word)
            sides = [f"{old}[{word}]", f"{old}[{word} - 1]", f"{new}[{word} - 1]", f"{new}[{word}]"]
            a, b = self.choices.pick(sides), self.choices.pick(sides)
            forms = (f"min({a}, {b}) + {cost}", f"max({a}, {b} + {cost})", f"{a} + {b}", f"{a} - {cost}",
                     f"{a} if {a} < {b} else {cost}", f"{b}", f"{a} * {cost}", f"{cost}")  # fmt: skip
            body = [f"{new}[{word}] = {self.choices.pick(forms)}"]
            if self.choices.chance(25):
                body = [f"if {self.write.condition(inner, 0)}:", *indented(body)]
            made = self.choices.pick((f"{old}[:]", f"[0] * ({dim} + 1)", f"[{old}[0] + 1] + [0] * {dim}",
                                      f"[0.0] * ({dim} + 1)", f"list({old})"))  # fmt: skip
            begin = [f"{new} = {made}"] if fresh else []
            end = self.choices.pick(([f"{old}, {new} = {new}, {old}"], [f"{old} = {new}"], [f"{old} = {new}[:]"], []))
            return [*begin, f"for {word} in range(1, {dim} + 1):", *indented(body), *end]

        prologue = [f"{old} = {start}", f"{new} = {self.choices.pick((start, f'{old}[:]', f'[0] * ({dim} + 1)'))}"]
        result = self.choices.pick((f"{old}, {new}", f"{old}[-1]", f"max({old}), {new}[0]", f"sum({new})", old))
        return Goal(prologue, step, result)
