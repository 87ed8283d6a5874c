"""Goals: nests that store into arrays they read, at places next to these, on diagonals, and around the ends."""

from .containers import Containers
from .expressions import COMPARISONS, bare
from .goals import Goal
from .pieces import indented
from .vocabulary import Value


class Sweeps(Containers):
    """Loops of their own over two arrays; which iteration reads what another one wrote is left to chance."""

    def sweep(self):
        """`a[i, j] = a[i - 1, j - 1] + b[i, j]` and its like, over two indices."""
        dims = self.choices.pick((self.extents[:2], self.extents[:2][::-1], ("n", "n")))
        names = [self.write.name("field"), self.write.name("other")]
        rows, columns = self.write.name("r"), self.write.name("c")

        def step(scope):
            if scope.depth >= 2:
                return None
            heads = [self._range(rows, dims[0]), self._range(columns, dims[1])]
            if dims[0] == dims[1] and self.choices.chance(50):
                heads[1] = self._beside(rows, columns, dims[1])
            elif self.choices.chance(35):
                heads.reverse()
            values = [Value(rows, "number", "i", (), dims[0], 1, 1), Value(columns, "number", "i", (), dims[1], 1, 1)]
            inner = scope.child(*values, depth=3, in_loop=True, skippable=False)
            body, reads = [], []
            for _ in range(self.choices.weighted(((5, 1), (4, 2), (2, 3)))):
                body += self._assigned(inner, names, (rows, columns), reads)
            between = [f"{names[1]}[{rows}] = {names[0]}[{rows} - 1] * 0.5"] if self.choices.chance(10) else []
            if between and rows not in heads[0]:
                between = []
            return [heads[0], *indented([*between, heads[1], *indented(body)])]

        prologue = [f"{name} = {self.allocation(tuple(dims))}" for name in names]
        return Goal(prologue, step, ", ".join(names))

    def _beside(self, rows, columns, dim):
        """Places on one side of a diagonal, or near it."""
        forms = (
            (4, f"range({rows} + 1, {dim})"), (3, f"range({rows}, {dim})"), (3, f"range({rows})"),
            (2, f"range({rows} + 1)"), (1, f"range({dim} - 1, {rows}, -1)"), (1, f"range({rows} - 1, {dim})"),
            (1, f"range({rows} - 2)"),
        )  # fmt: skip
        return f"for {columns} in {self.choices.weighted(forms)}:"

    def _range(self, name, dim):
        """Places with a neighbour on both sides, now and then those at an end too, or backwards."""
        forms = (
            (5, f"range(1, {dim} - 1)"), (4, f"range(1, {dim})"), (2, f"range({dim} - 1)"), (1, f"range({dim})"),
            (1, f"range({dim} - 2, 0, -1)"),
        )  # fmt: skip
        return f"for {name} in {self.choices.weighted(forms)}:"

    def _near(self, indices):
        """A place next to the one at these indices, or at it."""
        offsets = ("{}", "{}", "{} - 1", "{} - 1", "{} + 1")
        texts = [self.choices.pick(offsets).format(index) for index in indices]
        if self.choices.chance(20):
            texts.reverse()
        if self.choices.chance(8):
            texts[self.choices.pick((0, 1))] = self.choices.pick(("0", "-1", "1"))
        return ", ".join(texts)

    def _assigned(self, scope, names, indices, reads):
        """A line that stores; it often reads what lines before it read, which may have changed since."""
        target = f"{names[self.choices.chance(30)]}[{', '.join(indices)}]"
        if self.choices.chance(25):
            places = self._near(indices) if self.choices.chance(60) else ", ".join(reversed(indices))
            target = f"{names[self.choices.chance(30)]}[{places}]"
        read = f"{names[self.choices.chance(35)]}[{self._near(indices)}]"
        if reads and self.choices.chance(40):
            read = self.choices.pick(reads)
        reads.append(read)
        text = bare(self.write.value(scope, (), depth=1).text)
        forms = (
            f"{target} = {read} + ({text})", f"{target} = 0.5 * {read} - ({text})", f"{target} += {read}",
            f"{target} = ({text})", f"{target} = {read}",
        )  # fmt: skip
        line = self.choices.pick(forms)
        if self.choices.chance(20) and not self.write.complex:
            return [f"if {read} {self.choices.pick(COMPARISONS)} ({text}):", *indented([line])]
        return [line]

    def diagonal(self):
        """A vector that a nest stores into at sums of its indices."""
        name, old = self.write.name("line"), self.write.name("kept")
        rows, columns = self.write.name("r"), self.write.name("c")
        dims = self.choices.pick((("n", "m"), ("m", "n"), ("n", "n")))

        def step(scope):
            if scope.depth >= 2:
                return None
            values = [Value(rows, "number", "i", (), dims[0]), Value(columns, "number", "i", (), dims[1])]
            inner = scope.child(*values, depth=3, in_loop=True, skippable=False)
            forms = (
                f"{rows} + {columns}", f"{rows} + {columns} - 1", f"{rows} - {columns}", f"{columns} + 1",
                f"{rows} + 1", f"2 * {rows} + {columns}",
            )  # fmt: skip
            at, where = self.choices.pick(forms), self.write.name("at")
            text = bare(self.write.value(inner, (), depth=1).text)
            lines = (
                f"{name}[{where}] = {name}[{where}] * 0.5 + ({text})", f"{name}[{where}] = {text}",
                f"{old}[{where}] = {name}[{where}] + 1", f"{name}[{where}] += {text}",
                f"{old}[{where}] = {name}[{rows}]", f"{name}[{where}] = {old}[{columns}] - 1",
            )  # fmt: skip
            body = [f"{where} = {at}", *(self.choices.pick(lines) for _ in range(self.choices.between(1, 3)))]
            inside = [f"for {columns} in range({dims[1]}):", *indented(body)]
            return [f"for {rows} in range({dims[0]}):", *indented(inside)]

        dtype = f", dtype={self.library.name}.{self.write.float_type}"
        prologue = [f"{one} = {self.library.name}.ones((n + n + n + m + m + 1,){dtype})" for one in (name, old)]
        return Goal(prologue, step, f"{name}, {old}")

    def chosen(self):
        """An item of an array that a loop chooses by comparisons, and hands out as the view that it is."""
        if self.write.complex:
            return self.count()
        dim = self.choices.pick(("n", "m"))
        text, _ = self.vector(dim, most=1)
        name, other, g = self.write.name("pick"), self.write.name("also"), self.write.name("g")
        library = self.library.name
        number = f"{library}.{'tensor' if library == 'torch' else 'float64'}(-1.0)"
        start = self.choices.weighted(((6, f"{text}[0]"), (2, "None"), (1, "-1.0"), (1, f"{text}[-1]"), (1, number)))
        sign = self.choices.pick((">", "<", ">="))
        whole = self.choices.chance(60)

        def step(scope):
            if whole and scope.depth >= 2:
                return None
            at = g if whole else self.at(scope, dim)
            if at is None:
                return None
            item = f"{text}[{at}]"
            test = f"{name} is None or {item} {sign} {name}" if start == "None" else f"{item} {sign} {name}"
            taken = [f"if {test}:", f"    {other} = {name}", f"    {name} = {item}"]
            forms = [(5, [*taken[:1], *taken[2:]]), (2, taken), (2, [f"if {item} > 0:", f"    {name} = {item}"])]
            if start != "None":
                forms += [(2, [f"{name} = {self.choices.pick(('max', 'min'))}({name}, {item})"])]
                forms += [(1, [f"{name} = {item} if {item} {sign} {name} else {name}"])]
            lines = self.choices.weighted(forms)
            if not whole:
                return lines
            stop = ["if " + item + " > 2.0:", "    break"] if self.choices.chance(15) else []
            return [f"for {g} in range({self.choices.pick(('', '', '1, '))}{dim}):", *indented([*lines, *stop])]

        first = [f"{name} = {other} = {start}"] if self.choices.chance(50) else [f"{name} = {start}", f"{other} = 0"]
        return Goal(first, step, self.choices.pick((name, f"{name}, {other}")))

    def placed(self):
        """The place where a loop finds something, as a tuple, where a name is None or another tuple before."""
        dim = self.choices.pick(("n", "m"))
        text, _ = self.vector(dim, most=1)
        name, count, g = self.write.name("place"), self.write.name("seen"), self.write.name("g")
        start = self.choices.weighted(((5, "None"), (2, "(0, 0)"), (1, "(-1, 2)")))
        whole = self.choices.chance(60)

        def step(scope):
            at = g if whole else self.at(scope, dim)
            if at is None or (whole and scope.depth >= 2):
                return None
            item, second = f"{text}[{at}]", self.choices.pick((at, f"{at} + 1", "3", f"2 * {at}"))
            test = f"{item} > 0" if not self.write.complex else f"{at} % 3 == 1"
            if start == "None" and self.choices.chance(30):
                test = f"{name} is None and {test}"
            lines = [f"if {test}:", f"    {name} = ({at}, {second})"]
            if start == "None" and self.choices.chance(25):
                lines += [f"elif {at} % 4 == 3:", f"    {name} = None"]
            read = [f"if {name} is not None:", f"    {count} += {name}[0]"] if start == "None" else []
            read = read or [f"{count} += {name}[{self.choices.pick((0, 1))}]"]
            lines = self.choices.weighted(((3, lines), (2, [*lines, *read]), (2, [*read, *lines])))
            if not whole:
                return lines
            stop = ["if " + test + ":", "    break"] if self.choices.chance(15) else []
            return [f"for {g} in range({dim}):", *indented([*lines, *stop])]

        return Goal([f"{name} = {start}", f"{count} = 0"], step, self.choices.pick((name, f"{name}, {count}")))
