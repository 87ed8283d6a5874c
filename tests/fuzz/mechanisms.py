"""All goals: searches, loops of each lane, scans, numbers and texts, and what the other goals give."""

from .expressions import COMPARISONS, bare
from .goals import Goal
from .held import Held
from .pieces import indented
from .vocabulary import Value


class Mechanisms(Held):
    """Goals of every sort; about half of those that are made are of the plain ones."""

    def make(self):
        if not self.choices.chance(45):
            return super().make()
        makers = (
            (4, self.segment), (1, self.box), (1, self.window), (2, self.either), (3, self.group), (3, self.masked),
            (2, self.chain_of_groups), (2, self.zero_trips), (2, self.nested_list), (2, self.seeded_list),
            (4, self.filled), (2, self.rebound),
            (2, self.dictionary), (3, self.lane_list), (2, self.lane_numbers), (4, self.records),
            (2, self.handed_out_dict), (3, self.row_method), (3, self.several_results), (3, self.search),
            (3, self.lane_while), (4, self.scan), (2, self.array_scan), (2, self.tuples), (2, self.index_tensors),
            (2, self.windowed), (2, self.repeated), (2, self.numbers_summed), (1, self.formatted), (2, self.region),
            (2, self.touched_at_times), (3, self.edges), (4, self.sweep), (3, self.diagonal),
            (4, self.chosen), (3, self.placed), (4, self.table), (4, self.held), (3, self.folded_list), (3, self.cut),
            (3, self.tuple_state), (2, self.listed_rows), (2, self.rolling), (2, self.grown_row),
            (2, self.made_in_steps),
        )  # fmt: skip
        return self.choices.weighted(makers)()

    # ---- searches and loops of each lane

    def search(self):
        """The first index for which something holds, by `break` and `else`."""
        dim, outer = self.choices.pick((("m", "n"), ("n", "n"), ("n", "m")))
        found = self.write.name("found")
        prologue, keep, result = self.sink(outer)

        def step(scope):
            if self.at(scope, outer) is None or scope.depth >= 3:
                return None
            word = self.write.name("g")
            inner = scope.child(Value(word, "number", "i", (), dim), depth=3, in_loop=True, skippable=False)
            condition = self.write.condition(inner, 1)
            what = self.choices.pick((word, word, bare(self.write.leaf(inner, (), "f").text)))
            lines = [f"{found} = {self.choices.pick(('-1', '0', '0.0'))}"]
            body = [f"if {condition}:", f"    {found} = {what}", "    break"]
            if self.choices.chance(30):
                body = [f"if {self.write.condition(inner, 0)}:", "    continue", *body]
            lines += [f"for {word} in range({dim}):", *indented(body)]
            if self.choices.chance(40):
                lines += ["else:", f"    {found} = {self.choices.pick(('7', '-2', '1.5'))}"]
            return [*lines, *keep(scope, found)]

        return Goal(prologue, step, result)

    def lane_while(self):
        """A `while` in each lane, with branches inside, on numbers or tensors that may have gradients."""
        if self.write.complex:
            return self.scan()
        dim = self.choices.pick(("n", "n", "m"))
        text, _ = self.vector(dim, most=1)
        z, steps = self.write.name("z"), self.write.name("steps")
        prologue, keep, result = self.sink(dim)

        def step(scope):
            at = self.at(scope, dim)
            if at is None:
                return None
            start = f"{text}[{at}]" + self.choices.weighted(((5, ""), (2, " * 2"), (2, ".item()"), (1, " + 1")))
            inner = scope.child(
                Value(z, "either", weight=9), Value(steps, "number", "i"), in_loop=True, skippable=False
            )
            change = lambda: self.choices.pick(
                (
                    f"{z} = {z} * 0.5",
                    f"{z} = {z} - 0.3",
                    f"{z} = {z} * {z} * 0.25",
                    f"{z} = {z} + 0.2",
                    f"{z} = {z} * 0.5 + {self.write.leaf(scope, (), 'f').text}",
                )
            )
            body = [f"if {self.write.condition(inner, 0)}:", f"    {change()}", "else:", f"    {change()}"]
            if self.choices.chance(30):
                body[1:2] = [
                    f"    if {self.write.condition(inner, 0)}:",
                    f"        {change()}",
                    "    else:",
                    f"        {change()}",
                ]
            if self.choices.chance(25):
                body += [
                    f"if {self.write.condition(inner, 0)}:",
                    f"    {self.choices.pick(('break', f'{z} = {z} - 1'))}",
                ]
            limit = self.choices.pick((f"abs({z}) > 0.1", f"{z} > 0.2", f"{z} < 3", f"-4 < {z} < 1.5"))
            lines = [f"{z} = {start}", f"{steps} = 0", f"while {limit} and {steps} < {self.choices.pick((3, 5, 8))}:"]
            return [
                *lines,
                *indented([*body, f"{steps} += 1"]),
                *keep(scope, self.choices.pick((z, z, steps, f"{z} * {steps}"))),
            ]

        return Goal(prologue, step, result)

    # ---- loops that remember

    def scan(self):
        """Running sums, products, extremes, affine recurrences, resets, kept at each step."""
        dim = self.choices.pick(("n", "n", "m"))
        name, out = self.write.name("run"), self.write.name("trace")
        start, _ = self.start()
        rows = () if self.choices.chance(70) else (self.choices.pick(self.readable),)
        if rows:
            start = self.allocation(rows)
        form = self.choices.pick(
            ("sum", "product", "max", "affine", "affine", "reset", "pair", "last", "count", "mixed")
        )
        kept = self.choices.pick(("store", "append", "store"))
        if self.write.complex and form in ("max", "reset", "last", "count", "mixed"):
            form = "affine"

        def step(scope):
            at = self.at(scope, dim)
            if at is None:
                return None
            a, b = (bare(self.write.value(scope, rows, depth=1).text) for _ in range(2))
            condition = self.write.condition(scope, 0)
            maximum = (
                f"max({name}, {b})"
                if not rows and self.choices.chance(50)
                else f"{self.library.spell('maximum')}({name}, {b})"
            )
            lines = {
                "sum": [self.choices.pick((f"{name} = {name} + ({b})", f"{name} += {b}"))],
                "product": [f"{name} = {name} * ({a})"],
                "max": [f"{name} = {maximum}"],
                "affine": [f"{name} = ({a}) * {name} + ({b})"],
                "reset": [
                    f"if {condition}:",
                    f"    {name} = {self.choices.pick(('0.0', '1', b))}",
                    "else:",
                    f"    {name} = {name} + ({b})",
                ],
                "pair": [f"{name} = 0.5 * {name} + ({b})", f"{name}b = {name}b + {name}"],
                "last": [f"if {condition}:", f"    {name} = {b}"],
                "count": [f"if {condition}:", f"    {name} = {name} + 1", "else:", f"    {name} = {name} * 0"],
                "mixed": [f"{name} = {name} + ({b})", f"if {condition}:", f"    {name} = {name} * 0.5"],
            }[form]
            used = f"{name}b" if form == "pair" and self.choices.chance(60) else name
            before = self.choices.chance(25)
            keep = [f"{out}.append({used})"] if kept == "append" else [f"{out}[{at}] = {used}"]
            return [*keep, *lines] if before else [*lines, *keep]

        prologue = [f"{name} = {start}"] + ([f"{name}b = 0.0"] if form == "pair" else [])
        prologue += [f"{out} = []" if kept == "append" else f"{out} = {self.allocation((dim, *rows))}"]
        if "(1,)" in start and kept == "store":
            prologue[0] = f"{name} = 0.0"
        return Goal(prologue, step, self.choices.pick((f"{out}, {name}", out)))

    def array_scan(self):
        """A recurrence over the places of an array: `out[i] = a * out[i - 1] + b`."""
        dim = self.choices.pick(("n", "n", "m"))
        name = self.write.name("wave")
        rows = () if self.choices.chance(65) else (self.choices.pick(self.readable),)

        def step(scope):
            indices = [v for v in scope.indices(dim) if v.kind == "number"]
            if not indices:
                return None
            at = self.choices.pick(indices)
            text = bare(self.write.value(scope, rows, depth=1).text)
            before, after = f"{name}[{at.text} - 1]", f"{name}[{at.text} + 1]"
            forms = [
                f"{name}[{at.text}] = {before} + ({text})",
                f"{name}[{at.text}] = 0.5 * {before} + ({text})",
                f"{name}[{at.text}] += {before}",
            ]
            forms += [f"{name}[{at.text}] = ({text}) - {before} * {self.write.leaf(scope, (), 'f').text}"]
            forms += [f"{name}[({at.text} + 1) % {dim}] = {name}[{at.text}] + ({text})"]
            lines = [self.choices.pick(forms)]
            guard = [f"if {at.text} > 0:", *indented(lines)]
            if self.choices.chance(15):
                return [f"if {at.text} + 1 < {dim}:", f"    {after} = {name}[{at.text}] * 0.5 + ({text})"]
            return lines if at.low or self.choices.chance(40) else guard

        return Goal([f"{name} = {self.allocation((dim, *rows))}"], step, name)

    def made_in_steps(self):
        """An array that each step of a loop that remembers makes, and writes to."""
        dim = self.choices.pick(("n", "n", "m"))
        text, _ = self.vector(dim, most=1)
        made, state = self.write.name("made"), self.write.name("state")
        tanh, start = self.library.spell("tanh"), self.allocation((dim,))
        first = self.choices.pick((start, start, f"{text} * 1.5", f"{start} + 1", f"{start} + {text}"))

        def step(scope):
            at = self.at(scope, dim)
            if at is None:
                return None
            change = f"{made}[{at}] {self.choices.pick(('=', '+='))} {bare(self.write.value(scope, (), depth=1).text)}"
            lines = [change] if self.choices.chance(70) else [f"if {self.write.condition(scope, 0)}:", f"    {change}"]
            return [f"{made} = {first}", *lines, f"{state} = {tanh}({state} * 0.5 + {made})"]

        return Goal([f"{state} = {self.allocation((dim,))}"], step, state)

    # ---- numbers and texts

    def numbers_summed(self):
        """Python numbers accumulated from tensors, integers among them."""
        name = self.write.name("sum_of")
        start = self.choices.pick(("0", "0.0", "1"))

        def step(scope):
            value = self.write.tensor(scope, (), "f", 1)
            if value is None or self.write.complex:
                return None
            form = self.choices.pick(
                ("{}.item()", "float({})", "int({} * 4)", "bool({} > 0)", "round(float({}), 1)", "int({} > 0) * 2")
            )
            text = form.format(value.text)
            return [
                self.choices.pick(
                    (
                        f"{name} += {text}",
                        f"{name} = {name} + {text}",
                        f"{name} = max({name}, {text})",
                        f"{name} -= {text}",
                    )
                )
            ]

        return Goal([f"{name} = {start}"], step, name)

    def formatted(self):
        """Texts of numbers, in a list or printed."""
        name, printed = self.write.name("words"), self.choices.chance(40)

        def step(scope):
            value = self.write.leaf(scope, (), "f")
            indices = [v.text for v in scope.values if v.into and not v.dims and v.kind == "number"]
            if not indices or self.write.complex:
                return None
            number = f"float({value.text})"
            text = self.choices.pick(
                (
                    f'f"{{{indices[0]}}}: {{{number}:.2f}}"',
                    f'f"{{{number}:8.3f}}|"',
                    f"str({indices[0]})",
                    f'"%d" % {indices[0]}',
                )
            )
            return [f"print({text})"] if printed else [f"{name}.append({text})"]

        return Goal([f"{name} = []"], step, name)

    # ---- whole regions of numbers, and leaves that are touched at times

    def region(self):
        """Work on numbers alone, with arrays that are made in the region: kernels can take it whole."""
        dim = self.choices.pick(("n", "m"))
        lib, name, old, j = self.library.name, self.write.name("cells"), self.write.name("old"), self.write.name("w")
        text, _ = self.vector(dim, most=1)
        dtype = f", dtype={lib}.{self.write.float_type}"

        def step(scope):
            if scope.depth >= 3:
                return None
            inner = scope.child(Value(j, "number", "i", (), dim, 1, 0), depth=3, skippable=False)
            condition = f"{text}[{j}] {self.choices.pick(COMPARISONS)} {text}[{j} - 1]"
            condition = f"abs({text}[{j}]) > 0.75" if self.write.complex else condition
            forms = [
                f"{name}[{j}] = {name}[{j} - 1] + {text}[{j}]",
                f"{name}[{j}] = 0.5 * {old}[{j}] + {text}[{j} - 1]",
                f"{name}[{j}] += {old}[{j} - 1]",
            ]
            body = [f"if {condition}:", f"    {self.choices.pick(forms)}", "else:", f"    {self.choices.pick(forms)}"]
            del inner
            swap = [f"{old}, {name} = {name}, {old}"] if self.choices.chance(50) else []
            return [f"for {j} in range(1, {dim}):", *indented(body), *swap]

        return Goal(
            [f"{name} = {lib}.zeros(({dim},){dtype})", f"{old} = {lib}.ones(({dim},){dtype})"], step, f"{name}, {old}"
        )

    def touched_at_times(self):
        """An argument with gradients that is read only under a condition of numbers."""
        if not self.is_torch() or self.write.complex:
            return self.scan()
        name = "bonus"

        def make(name):
            self.inputs.add(
                name,
                [f"{name} = {self.inputs.array(('n',), self.write.float_type)}", f"{name}.requires_grad_()"],
                role="bonus",
            )

        self.given(name, make)
        total = self.write.name("paid")
        start = self.choices.pick(("0.0", "torch.zeros(())", f"{self.vector('n', most=1)[0]}.sum()"))

        def step(scope):
            at = self.at(scope, "n")
            if at is None:
                return None
            condition = self.choices.pick((f"{at} > 100", f"{at} == 1", self.write.condition(scope, 0), "n > 4"))
            return [f"if {condition}:", f"    {total} += {name}[{at}]"]

        return Goal([f"{total} = {start}"], step, total)

    def edges(self):
        """Both ends of edges, in one array: sums alone, or something else among them."""
        dim = self.choices.pick(("n", "m"))
        heads, tails = (self.integers(f"{name}_{dim}n", dim, "max(n, 1)") for name in ("heads", "tails"))
        name, width = self.write.name("ends"), ("m",) if self.choices.chance(25) else ()

        def step(scope):
            at = self.at(scope, dim)
            if at is None:
                return None
            head, tail = f"{name}[{heads}[{at}]]", f"{name}[{tails}[{at}]]"
            lines = []
            for place in (head, tail, *([head] if self.choices.chance(25) else ())):
                value = self.choices.pick(("1", bare(self.write.value(scope, width, depth=1).text)))
                operator = self.choices.weighted(((8, "+="), (4, "-="), (1, "*="), (1, "=")))
                form = "{} {} {}" if operator == "=" or self.choices.chance(60) else "{0} = {0} {3} {2}"
                lines.append(form.format(place, operator, value, operator[0]))
            if self.choices.chance(20):
                lines[1:1] = [f"if {self.write.condition(scope, 0)}:", "    " + lines.pop(1)]
            return lines

        return Goal([f"{name} = {self.allocation(('max(n, 1)', *width))}"], step, name)
