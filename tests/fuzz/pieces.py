"""Goals about pieces of arrays: slices of another length in each lane, boxes, masks, groups."""

from .expressions import bare
from .goals import Goal, Goals
from .vocabulary import Value


def indented(lines):
    return ["    " + line for line in lines]


class Pieces(Goals):
    """Goals with arguments and inner loops of their own; a step gives None where its index is not in reach."""

    def __init__(self, expressions, inputs):
        super().__init__(expressions, inputs.arguments)
        self.inputs = inputs

    # ---- what is given

    def is_torch(self):
        return self.library.name == "torch"

    def dimension(self, axis, keep=False):
        word = "dim" if self.is_torch() else "axis"
        return f"{word}={axis}" + ((", keepdim=True" if self.is_torch() else ", keepdims=True") if keep else "")

    def given(self, name, make):
        """The name of an argument of this kind, made by `make(name)` unless there is one already."""
        if not any(a.name == name for a in self.arguments):
            make(name)
        return name

    def integers(self, name, dim, high, as_list=None):
        """Integers of 0 to `high` - 1 for each index of an extent, as a tensor or a list."""
        as_list = self.choices.chance(35) if as_list is None else as_list

        def make(name):
            text = self.inputs.integers((dim,), high)
            value = Value(name, "number" if as_list else "tensor", "i", (dim,), weight=1)
            self.inputs.add(name, text + (".tolist()" if as_list else ""), value, role="integers")

        return self.given(name, make)

    def bounds(self, dim, into):
        """The names of two arguments: where a piece begins and ends, for each index of an extent."""
        first, last = f"starts_{dim}{into}", f"ends_{dim}{into}"
        if any(a.name == first for a in self.arguments):
            return first, last
        as_list = self.choices.chance(50)
        exclusive = "sort" if self.choices.chance(30) else ""
        low, high = self.inputs.integers((dim,), f"{into} + 1"), self.inputs.integers((dim,), f"{into} + 1")
        library = self.library.name
        ends = f"{library}.clip({first} + {high} // 2, 0, {into})"
        if exclusive:
            low = f"{library}.sort({low})" + ("[0]" if self.is_torch() else "")
            cut = f"{library}.{'cat' if self.is_torch() else 'concatenate'}(({first}[1:], {first}[-1:]))"
            ends = cut
        elif self.choices.chance(20):
            ends = high
        tail = f"{first}, {last} = {first}.tolist(), {last}.tolist()"
        lines = [f"{first} = {low}", f"{last} = {ends}"]
        self.inputs.add(first, lines + ([tail] if as_list else []), role="bounds")
        self.inputs.add(last, [], role="bounds")
        return first, last

    def vector(self, dim, most=2):
        """(text, extents) of a float array whose first extent is the given one, made if there is none."""
        options = [
            v for a in self.arguments for v in a.values
            if v.dims[:1] == (dim,) and len(v.dims) <= most and (v.form, v.category) == ("tensor", "f")
            and "?" not in v.dims
        ]  # fmt: skip
        if options and self.choices.chance(85):
            value = self.choices.pick(options)
            return value.text, value.dims
        name = f"values_{dim}"
        if not any(a.name == name for a in self.arguments):
            self.inputs.float_tensor(name, (dim,))
        return name, (dim,)

    def at(self, scope, dim, numbers=False):
        options = [v.text for v in scope.indices(dim) if v.kind == "number" or not numbers]
        return self.choices.pick(options) if options else None

    # ---- where results go

    def sink(self, dim, dims=()):
        """(prologue, lines(scope, text) that keep one result for an index of `dim`, the result's text)."""
        name = self.write.name("kept")
        form = self.choices.pick(("store", "store", "total", "append", "update"))
        if form == "append":
            return [f"{name} = []"], lambda scope, text: [f"{name}.append({text})"], name
        if form == "total":
            form = self.choices.pick(("{} = {} + {}", "{} += {}"))
            fill = lambda text: form.format(*[name] * (form.count("{}") - 1), text)
            return [f"{name} = 0.0"], lambda scope, text: [fill(text)], name
        operator = "=" if form == "store" else "+="

        def lines(scope, text):
            at = self.at(scope, dim)
            return [f"{name}[{at}] {operator} {text}"]

        return [f"{name} = {self.allocation((dim, *dims))}"], lines, name

    def summary(self, piece, rank, guard_empty=True):
        """The text of a number made of a piece of an array."""
        lib = self.library.name
        forms = [f"{piece}.sum()", f"{piece}.sum()", f"({piece} * 2 + 1).sum()", f"({piece} ** 2).sum()"]
        forms += [f"{lib}.sum({piece})", f"{lib}.linalg.norm({piece})", f"{lib}.exp(-abs({piece})).sum()"]
        forms += [f"({piece} > 0).sum()", f"len({piece})", f"{piece}.shape[0]", f"({piece} > 0.5).any()"]
        if not guard_empty or self.write.complex:
            forms += [f"{piece}.mean()"]
        if not guard_empty and not self.write.complex:
            forms += [f"{piece}.mean()", f"{piece}.max()", f"{piece}.min()", f"({piece} - {piece}.mean()).sum()"]
            forms += [f"{piece}.max() - {piece}.min()", f"{piece}.var()", f"{piece}.std()", f"{piece}.argmax()"]
            forms += [f"({lib}.exp({piece} - {piece}.max())).sum()", f"{piece}.flatten()[0]", f"{piece}.flatten()[-1]"]
            forms += [f"torch.logsumexp({piece}.flatten(), 0)", f"torch.softmax({piece}, 0).max()"] * self.is_torch()
            forms += [f"{lib}.median({piece})", f"{lib}.prod({piece})", f"{lib}.cumsum({piece}, 0)[-1].sum()"]
            forms += [
                f"{lib}.sort({piece.join(('', ''))})" + ("[0].flatten()[0]" if self.is_torch() else ".flatten()[0]")
            ]
        return self.choices.pick(forms)

    def with_piece(self, scope, piece, name, rank, keep):
        """Lines that bind a piece, pass over empty ones at times, and keep a summary of it."""
        lines = [f"{name} = {piece}"]
        guard = self.choices.weighted(((4, "none"), (4, "if"), (2, "continue" if scope.skippable else "if")))
        size = self.choices.pick((f"len({name}) > 0", f"{name}.shape[0] > 0", f"len({name}) != 0", f"len({name}) > 1"))
        kept = keep(scope, self.summary(name, rank, guard_empty=guard == "none" and self.choices.chance(92)))
        if guard == "continue":
            return [*lines, f"if not {size}:", "    continue", *kept]
        return [*lines, *([f"if {size}:", *indented(kept)] if guard == "if" else kept)]

    # ---- pieces of another length in each lane

    def segment(self):
        """`x[starts[i]:ends[i]]`, reduced, normalised into its place, or put in a list."""
        dim, into = self.choices.pick((("n", "n"), ("n", "m"), ("m", "n")))
        first, last = self.bounds(dim, into)
        text, dims = self.vector(into)
        prologue, keep, result = self.sink(dim)
        name, whole, pieces = self.write.name("piece"), self.write.name("scaled"), self.write.name("pieces")
        form = self.choices.weighted(((6, "reduce"), (3, "store"), (2, "append"), (1, "zip")))
        if form == "store":
            prologue, result = (
                [f"{whole} = {self.choices.pick((f'{self.library.name}.zeros_like({text})', f'{text} * 1'))}"],
                whole,
            )
        if form == "append":
            prologue, result = [f"{pieces} = []"], pieces

        def step(scope):
            at = self.at(scope, dim)
            if at is None:
                return None
            bounds = f"{first}[{at}]:{last}[{at}]"
            bounds = self.choices.weighted(((8, bounds), (1, f":{last}[{at}]"), (1, f"{first}[{at}]:")))
            piece = f"{text}[{bounds}]"
            if form == "store":
                change = self.choices.pick(
                    (
                        f"{piece} * 2",
                        f"{piece} / ({piece}.sum() + 7)",
                        f"{piece} - {piece}.mean()",
                        "1.5",
                        f"{piece} + {whole}[{bounds}]",
                    )
                )
                return [f"{whole}[{bounds}] {self.choices.pick(('=', '=', '+=', '*='))} {change}"]
            if form == "append":
                change = self.choices.pick((piece, f"{piece} * 2", f"{piece} - {piece}.sum()", f"{piece}.sum()"))
                return [f"{pieces}.append({change})"]
            return self.with_piece(scope, piece, name, len(dims), keep)

        return Goal(prologue, step, result)

    def box(self):
        """A box of a matrix, of another size in each lane."""
        matrices = [
            v for a in self.arguments for v in a.values if len(v.dims) == 2 and v.form == "tensor" and "?" not in v.dims
        ]
        if not matrices:
            return self.segment()
        matrix = self.choices.pick(matrices)
        (r0, r1), (c0, c1) = self.bounds("n", matrix.dims[0]), self.bounds("n", matrix.dims[1])
        prologue, keep, result = self.sink("n")
        name = self.write.name("box")

        def step(scope):
            at = self.at(scope, "n")
            piece = f"{matrix.text}[{r0}[{at}]:{r1}[{at}], {c0}[{at}]:{c1}[{at}]]"
            return self.with_piece(scope, piece, name, 2, keep) if at else None

        return Goal(prologue, step, result)

    def window(self):
        """A window of a matrix whose rows move with one loop and whose columns move with another."""
        matrices = [
            v for a in self.arguments for v in a.values if v.dims == ("n", "m") and v.form == "tensor"
        ]  # fmt: skip
        if not matrices:
            return self.box()
        matrix, reach = self.choices.pick(matrices), self.choices.pick(("1", "1", "2", "m"))
        sides = [
            self.choices.pick(
                ("max(0, {i} - %s):{i} + %s + 1" % (reach, reach), "max({i} - 1, 0):min({i} + %s, {n})" % reach,
                 "{i}:{i} + %s" % reach, "{i} // 2:{i} + 1", "{i}:", ":{i} + 1", "-{i} - 1:", "{i} - 1:{i} + 2")
            )
            for _ in "nm"
        ]  # fmt: skip
        name, windows = self.write.name("window"), self.write.name("windows")
        whole = self.choices.chance(50)
        prologue, keep, result = self.sink("n")
        if whole:
            prologue, result = [f"{windows} = {self.allocation(('n', 'm'))}"], windows

        def step(scope):
            row, column = self.at(scope, "n", numbers=True), self.at(scope, "m", numbers=True)
            if row is None or column is None:
                return None
            cut = ", ".join(side.format(i=at, n=dim) for side, at, dim in zip(sides, (row, column), "nm"))
            put = lambda scope, text: [f"{windows}[{row}, {column}] = {text}"]
            return self.with_piece(scope, f"{matrix.text}[{cut}]", name, 2, put if whole else keep)

        return Goal(prologue, step, result)

    def either(self):
        """What is an element or a row in some iterations, and a number in the others; and what is computed of it."""
        dims = (self.choices.pick(self.readable),) if self.choices.chance(50) else ()
        name, number = self.write.name("either"), self.choices.pick(("0", "0.0", "1.0", "-2.0", "0.5", "3"))
        prologue, keep, result = self.sink("n", dims)
        uses = ("1.0 / {}", "{} ** 0.5", "{} ** -1", "3 % {}", "{} // 2", "abs({})", "-{}", "{} * 2.0", "{}", "2 - {}",
                "{} / {}", "{} > 0.5", "max({}, 0.5)")  # fmt: skip

        def step(scope):
            if self.at(scope, "n") is None:
                return None
            text, test = bare(self.write.value(scope, dims, depth=1).text), self.write.condition(scope)
            branch = [f"if {test}:", f"    {name} = {text}", "else:", f"    {name} = {number}"]
            lines = self.choices.pick(([f"{name} = {text} if {test} else {number}"], branch))
            used = self.choices.pick(uses).replace("{}", name)
            if self.choices.chance(30):
                used = f"({used}) + {bare(self.write.value(scope, (), depth=0).text)}"
            return [*lines, *keep(scope, used)]

        return Goal(prologue, step, result)

    def zero_trips(self):
        """An inner loop over a range of data, which may have no trip."""
        dim, into = self.choices.pick((("n", "n"), ("n", "m")))
        first, last = self.bounds(dim, into)
        prologue, keep, result = self.sink(dim)
        total, form = self.write.name("inner"), self.choices.pick(("sum", "sum", "count", "max", "last"))

        def step(scope):
            at = self.at(scope, dim, numbers=True)
            if at is None or scope.depth >= 3:
                return None
            word = self.write.name("c")
            inner = scope.child(Value(word, "number", "i", (), into), depth=3, in_loop=True, skippable=False)
            text = bare(self.write.value(inner, depth=1).text)
            change = {
                "sum": f"{total} += {text}",
                "count": f"{total} += 1",
                "max": f"{total} = max({total}, {text})",
                "last": f"{total} = {text}",
            }[form]
            if form == "max" and self.write.complex:
                change = f"{total} = {total} + {text}"
            body = [f"if {self.write.condition(inner, 0)}:", f"    {change}"] if self.choices.chance(30) else [change]
            header = f"for {word} in range({first}[{at}], {last}[{at}]):"
            start = self.choices.pick(("0.0", "0", "0.5"))
            return [f"{total} = {start}", header, *indented(body), *keep(scope, total)]

        return Goal(prologue, step, result)

    # ---- masks and groups

    def labels(self, dim, groups):
        return self.integers(f"labels_{dim}{groups}", dim, groups, as_list=False)

    def group(self):
        """`x[labels == k]`, reduced or changed in place."""
        dim, groups = self.choices.pick((("n", "m"), ("m", "n"), ("n", "n")))
        labels = self.labels(dim, groups)
        text, dims = self.vector(dim)
        prologue, keep, result = self.sink(groups)
        members, copy = self.write.name("members"), self.write.name("copied")
        in_place = self.choices.chance(25)

        def step(scope):
            at = self.at(scope, groups)
            if at is None:
                return None
            mask = f"{labels} {self.choices.weighted(((8, '=='), (1, '!='), (1, '<')))} {at}"
            if in_place:
                change = self.choices.pick(
                    (f"{copy}[{mask}] - {copy}[{mask}].sum(0)", f"{copy}[{mask}] * 2", "0.5", f"{copy}[{mask}] * {at}")
                )
                return [f"{copy}[{mask}] {self.choices.pick(('=', '+='))} {change}"]
            return self.with_piece(scope, f"{text}[{mask}]", members, len(dims), keep)

        if in_place:
            return Goal([f"{copy} = {text}.{self.library.clone}()"], step, copy)
        return Goal(prologue, step, result)

    def masked(self):
        """`h[mask[i]]`, or a mask made of values in each lane."""
        prologue, keep, result = self.sink("n")
        members, form = self.write.name("chosen"), self.choices.pick(("rows", "values", "near"))
        text, dims = self.vector("m" if form == "rows" else "n")
        flags = "flags"
        if form == "rows":

            def make(name):
                word = ".bool()" if self.is_torch() else ".astype(bool)"
                self.inputs.add(
                    name, self.inputs.integers(("n", "m"), "2") + word, Value(name, "tensor", "b", ("n", "m"))
                )

            self.given(flags, make)
        one = f"{text}[:, 0]" if len(dims) == 2 else text

        def step(scope):
            at = self.at(scope, "n")
            if at is None:
                return None
            piece = f"{text}[{flags}[{at}]]"
            if form != "rows":
                if self.write.complex:
                    return None
                bound = one.replace(text, f"{text}[{at}]").replace("[:, 0]", "[0]")
                mask = {"values": f"{one} > {bound}", "near": f"abs({one} - {bound}) < 0.75"}[form]
                mask = f"({mask}) & ({one} < 2)" if self.choices.chance(25) else mask
                piece = f"{text}[{mask}]"
            return self.with_piece(scope, piece, members, len(dims), keep)

        return Goal(prologue, step, result)

    def chain_of_groups(self):
        """A mean over a group, differences from it, and their squares."""
        dim, groups = self.choices.pick((("n", "m"), ("m", "n")))
        labels = self.labels(dim, groups)
        text, _ = self.vector(dim)
        name, chosen, middle = self.write.name("spread"), self.write.name("is_in"), self.write.name("middle")
        prologue, keep, result = self.sink(groups)

        def step(scope):
            at = self.at(scope, groups)
            if at is None or not scope.skippable:
                return None
            empty = self.choices.pick((f"{chosen}.sum() == 0", f"not {chosen}.any()"))
            lines = [
                f"{chosen} = {labels} == {at}",
                f"if {empty}:",
                "    continue",
                f"{middle} = {text}[{chosen}].mean(0)",
            ]
            lines += [f"{name} = {text}[{chosen}] - {middle}"]
            form = self.choices.pick(
                (
                    f"({name} ** 2).sum()",
                    f"abs({name}).mean()",
                    f"({middle} * {name}).sum()",
                    f"{name}.sum() + len({name})",
                )
            )
            return [*lines, *keep(scope, form)]

        return Goal(prologue, step, result)
