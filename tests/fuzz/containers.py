"""Goals about lists, dicts, tuples and several indices, and about what is changed in place."""

from .expressions import bare
from .goals import Goal
from .pieces import Pieces, indented
from .vocabulary import Value


class Containers(Pieces):
    """Goals with containers; a step gives None where its index is not in reach."""

    # ---- lists and dicts

    def nested_list(self):
        """A list in a list, filled under a condition at times."""
        name, inner_name, dim = self.write.name("outer"), self.write.name("row"), self.choices.pick(self.extents)
        finish = self.choices.weighted(((3, "list"), (1, "sizes")))

        def step(scope):
            if not scope.in_loop or scope.depth >= 3:
                return None
            word = self.write.name("e")
            inner = scope.child(Value(word, "number", "i", (), dim), depth=3, skippable=False)
            value = bare(self.write.value(inner, depth=1).text)
            line = f"{inner_name}.append({value})"
            body = [f"if {self.write.condition(inner, 0)}:", f"    {line}"] if self.choices.chance(45) else [line]
            kept = inner_name if finish == "list" else f"len({inner_name})"
            return [f"{inner_name} = []", f"for {word} in range({dim}):", *indented(body), f"{name}.append({kept})"]

        return Goal([f"{name} = []"], step, name)

    def records(self):
        """A list that grows by several items at a time, or by lists and dicts of them, and what is made of it."""
        name, row = self.write.name("rows"), self.write.name("row")
        form = self.choices.pick(("append", "extend", "plus", "list", "list", "dict", "named", "changed", "tolist"))
        kinds = set()

        def step(scope):
            if not scope.in_loop:
                return None
            values = [self.write.value(scope, depth=1) for _ in range(2)]
            kinds.update(value.kind for value in values)
            a, b = (bare(value.text) for value in values)
            if form == "tolist":
                vector = self.write.tensor(scope, (self.choices.pick(self.readable),), depth=1)
                if vector is None:
                    return None
                kinds.add("number")
                how = self.choices.pick(("append", "extend"))
                return [f"{name}.{how}({vector.text}.tolist())"]
            lines = {
                "append": [f"{name}.append({a})", f"{name}.append({b})"],
                "extend": [f"{name}.extend([{a}, {b}])"],
                "plus": [f"{name} += [{a}, {b}]"],
                "list": [f"{name}.append([{a}, {b}])"],
                "dict": [f"{name}.append({{'a': {a}, 'b': {b}}})"],
                "named": [f"{row} = [{a}, {b}]", f"{name}.append({row})"],
                "changed": [f"{row} = [{a}, {b}]", f"{name}.append({row})", f"{row}[0] = {b}"],
            }[form]
            return [f"if {self.write.condition(scope)}:", *indented(lines)] if self.choices.chance(25) else lines

        def made():
            if form in ("list", "named") and self.choices.chance(50):
                table = f"{self.library.spell('tensor')}({name}) if {name} else None"
                back = f"[{row}[0] for {row} in {name}]"
                return self.choices.pick((table, back) if kinds == {"number"} else (back, f"len({name})"))
            if form == "dict" and self.choices.chance(30):
                return f"[{row}['b'] for {row} in {name}]"
            return name

        return Goal([f"{name} = []"], step, name, finish=made)

    def handed_out_dict(self):
        """A dict that the loops fill at one place."""
        name, dim = self.write.name("table"), self.choices.pick(("n", "m"))

        def step(scope):
            at = self.at(scope, dim, numbers=True)
            if at is None:
                return None
            key = self.choices.pick((at, at, f"{at} % 2", f"({at}, 1)", f"{at} * 0.5"))
            line = f"{name}[{key}] = {bare(self.write.value(scope).text)}"
            return [f"if {self.write.condition(scope)}:", f"    {line}"] if self.choices.chance(25) else [line]

        return Goal([f"{name} = {{}}"], step, name)

    def lane_list(self):
        """A list of another length in each iteration, over neighbours or of what an `if` lets in, and what it gives."""
        if self.write.complex:
            return self.nested_list()
        near, made, word = "near", self.write.name("mine"), self.write.name("e")
        rows = "[[(5 * r + k) % m for k in range((r * 7 + 1) % 4)] if m else [] for r in range(n)]"
        self.given(near, lambda name: self.inputs.add(name, rows, role="near"))
        prologue, keep, result = self.sink("n")
        stack = "torch.stack" if self.is_torch() else "np.array"
        folds = ["sum(0)", "mean(0)", "max()", "std()"]
        folds += ["max(0).values", "min(dim=0)[0]", "softmax(0)[0]"] if self.is_torch() else ["min(axis=0)"]

        def step(scope):
            at = self.at(scope, "n", numbers=True)
            if at is None or scope.depth >= 3:
                return None
            inner = scope.child(Value(word, "number", "i", (), "m"), depth=3, skippable=False)
            value = self.write.tensor(inner, (), "f", 1)
            if value is None:
                return None
            line = f"{made}.append({bare(value.text)})"
            if self.choices.chance(55):
                body = [f"for {word} in {near}[{at}]:", f"    {line}"]
            else:
                body = [f"for {word} in range(m):", f"    if {self.write.condition(inner, 0)}:", f"        {line}"]
            some = f"{stack}({made}).{self.choices.pick(folds)}"
            used = self.choices.weighted(((5, some), (2, f"len({made})"), (1, f"{made}[0]"), (1, f"{made}[-1] * 2")))
            test = self.choices.pick((f"if {made}:", f"if len({made}) > 1:", f"if not not {made}:"))
            return [f"{made} = []", *body, test, *indented(keep(scope, used))]

        return Goal(prologue, step, result)

    def lane_numbers(self):
        """An array of the numbers that an `if` lets in, none at times, made anew in each iteration."""
        if self.write.complex:
            return self.nested_list()
        name, made, word = self.write.name("arrays"), self.write.name("found"), self.write.name("e")
        lib, dim = self.library, self.choices.pick(("n", "m"))
        number = self.choices.pick((word, f"{word} * 0.5", f"{word} > 1", "item"))
        dtype = self.choices.weighted(((4, ""), (1, f", dtype={lib.name}.int64"), (1, f", dtype={lib.name}.float32")))
        array = f"{lib.spell('tensor')}({made}{dtype})"
        kept = self.choices.weighted(((5, array), (2, f"{array} * 2"), (2, f"{array}.sum()"), (1, f"len({array})")))

        def step(scope):
            if not scope.in_loop or scope.depth >= 3:
                return None
            inner = scope.child(Value(word, "number", "i", (), dim), depth=3, skippable=False)
            value = self.write.tensor(inner, (), "f", 1)
            if value is None:
                return None
            item = f"{value.text}.item()" if number == "item" else number
            condition = self.write.condition(inner, 0)
            if self.choices.chance(50):
                lines = [f"{made} = [{item} for {word} in range({dim}) if {condition}]"]
            else:
                line = [f"if {condition}:", f"    {made}.append({item})"]
                lines = [f"{made} = []", f"for {word} in range({dim}):", *indented(line)]
            return [*lines, f"{name}.append({kept})"]

        return Goal([f"{name} = []"], step, name)

    def grown_row(self):
        """A list of numbers that each iteration makes longer until it leaves a loop, and what that gives."""
        if self.write.complex:
            return self.nested_list()
        name, row, k, h = (self.write.name(stem) for stem in ("rows", "row", "k", "h"))
        text, dims = self.vector("n")
        lib, begun = self.library.name, self.choices.pick(("", "", "0", "1, 2"))
        first = f"float({h}[0])" if len(dims) == 2 else f"float({h})"
        changed = self.choices.pick((f"{lib}.tanh({h}) * 0.7", f"{h} * 0.5 - 0.1", f"{h} * {h} * 0.3"))
        if len(dims) == 2 and self.choices.chance(60):
            changed = f"{lib}.cumsum({h} * 0.3, 0)"
        items = [f"int({first} * 4)", f"{first} > 0", *([first] * (not begun)), *([f"{row}[-1] + 1"] * bool(begun))]
        item = self.choices.pick(items)
        kept = self.choices.weighted(((4, row), (2, f"len({row})"), (1, f"{lib}.asarray({row}, dtype={lib}.float64)")))

        def step(scope):
            at = self.at(scope, "n", numbers=True)
            if at is None or scope.depth >= 3:
                return None
            leave = self.choices.pick((f"abs({first}) < 0.2", f"{first} < 0", f"len({row}) > 2"))
            lines = [f"{h} = {changed}", f"{row}.append({item})"]
            if self.choices.chance(50):
                lines.insert(self.choices.pick((0, 1, 2)), f"if {leave}:\n        break")
                head = f"for {k} in range({self.choices.pick(('5', 'm + 1'))}):"
            else:
                head = f"while not {leave} and len({row}) < 5:"
            body = [line for text in lines for line in text.replace("\n        ", "\n    ").split("\n")]
            guard = [f"if {h}.shape[0]:"] if len(dims) == 2 else ["if True:"]
            return [
                f"{h}, {row} = {text}[{at}], [{begun}]",
                *guard,
                *indented([head, *indented(body), f"{name}.append({kept})"]),
            ]

        return Goal([f"{name} = []"], step, name)

    def seeded_list(self):
        """A list that begins with one value, each further one made of the last."""
        dim = self.choices.pick(("n", "m"))
        text, _ = self.vector(dim)
        name, lib = self.write.name("chain"), self.library.name
        start = self.choices.pick((f"{text}[0]", f"{text}[0]", f"{text}[0] * 0.5", f"{lib}.zeros_like({text}[0])"))

        def step(scope):
            at = self.at(scope, dim)
            if at is None:
                return None
            last = f"{name}[-1]"
            new = f"{text}[{at}]"
            forms = (
                f"{lib}.tanh({last} + {new})",
                f"0.5 * {last} + {new}",
                f"{last} + {new}",
                f"{last} * 0.9 - {new}",
                f"{new} - {last}",
            )
            return [f"{name}.append({self.choices.pick(forms)})"]

        stacked = f"{lib}.stack({name})"
        return Goal(
            [f"{name} = [{start}] if {dim} else []"],
            step,
            self.choices.pick((name, f"({stacked} if {name} else None)", f"{name}[-1:]")),
        )

    def rebound(self):
        """An argument under another name, while its own name is given to new arrays."""
        text, lib = self.inputs.array((self.choices.pick(("n", "m")),), self.write.float_type), self.library.name
        if not text.isidentifier():
            return self.filled()
        old = self.write.name("old")
        forms = (
            f"{text} = {lib}.tanh({text} + {old})",
            f"{text} = {text} * 0.5 - abs({old})",
            f"{text} = {text} if {old}.sum() > 0 else {lib}.sin({text} * {old})",
            f"{text} = {lib}.cos({old})",
        )

        def step(scope):
            return [self.choices.pick(forms)] if scope.in_loop else None

        return Goal([f"{old} = {text}"], step, self.choices.pick((text, f"({text}, {old} * 2)")))

    def filled(self):
        """A list at its full length, a list of such lists, or a dict, filled place by place and read elsewhere."""
        dim, width = self.choices.pick((("n", "m"), ("m", "n"), ("n", "n")))
        form, name = self.choices.pick(("list", "lists", "dict", "pairs")), self.write.name("filled")
        nothing = self.choices.pick(("None", "None", "0.0", "0"))
        made = {"list": f"[{nothing}] * {dim}", "lists": f"[[{nothing}] * {width} for _ in range({dim})]"}

        def step(scope):
            at = self.at(scope, dim)
            if at is None or scope.depth >= 3:
                return None
            if form in ("list", "dict"):
                return [f"{name}[{at}] = {bare(self.write.value(scope, depth=1).text)}"]
            word = self.write.name("e")
            inner = scope.child(Value(word, "number", "i", (), width), depth=3, skippable=False)
            place = f"{name}[{at}][{word}]" if form == "lists" else f"{name}[{at}, {word}]"
            line = f"{place} = {bare(self.write.value(inner, depth=1).text)}"
            return [f"for {word} in range({width}):", f"    {line}"]

        one = self.choices.pick(("q", f"{dim} - 1 - q", f"(q + 1) % {dim}", "q // 2", "0"))
        two = self.choices.pick(("r", f"{width} - 1 - r", f"(r * 2) % {width}", "0"))
        read = {"lists": f"{name}[{one}][{two}]", "pairs": f"{name}[{one}, {two}]"}.get(form, f"{name}[{one}]")
        rest = f" for r in range({width})" if form in ("lists", "pairs") else ""
        return Goal(
            [f"{name} = {made.get(form, '{}')}"],
            step,
            self.choices.weighted(((2, name), (4, f"[{read} for q in range({dim}){rest}]"), (1, f"len({name})"))),
        )

    def dictionary(self):
        """A dict of arrays or numbers, read by the loop's index or looped over by key."""
        kind, dim = self.choices.pick(("index", "key", "items")), self.choices.pick(("n", "m"))
        name, text = f"book_{kind}", self.inputs.array(("m",), self.write.float_type)
        keys = "range(max(n, m))" if kind == "index" else "('alpha', 'beta', 'gamma')"

        def make(name):
            self.inputs.add(name, f"{{key: {text} for key in {keys}}}", role="book")

        self.given(name, make)
        made = self.write.name("made")
        prologue, keep, result = self.sink(dim)

        def step(scope):
            at = self.at(scope, dim, numbers=True)
            if at is None:
                return None
            if kind == "index":
                return keep(scope, f"{name}[{at}].sum()")
            value = self.write.leaf(scope, (), "f").text
            if kind == "key":
                lines = [f"for key in {name}:", f"    {made} = {made} + ({name}[key] * {value}).sum()"]
            else:
                lines = [f"for key, entry in {name}.items():", f"    {made} = {made} + entry.sum() * {value}"]
            return [f"{made} = 0.0", *lines, *keep(scope, made)]

        return Goal(prologue, step, result)

    # ---- in place and several results

    def row_method(self):
        """Methods that change a row of an array in place."""
        name = self.write.name("table")
        dims = self.choices.pick((("n", "m"), ("n", "m"), ("n",), ("m", "n")))

        def step(scope):
            at = self.at(scope, dims[0])
            if at is None:
                return None
            rest = dims[1:]
            value = bare(self.write.value(scope, rest if self.choices.chance(70) else (), depth=1).text)
            if not self.is_torch():
                row = f"{name}[{at}]"
                forms = (
                    [f"{row}[...] = {value}", f"{row} -= {value}", f"np.add({row}, {value}, out={row})"]
                    if rest
                    else [f"{row} -= {value}"]
                )
                forms += [f"{row}.fill({self.choices.pick(('0.5', '2'))})", f"{row}[:] = {value}"] if rest else []
                return [self.choices.pick(forms)]
            forms = [
                f"add_({value})",
                f"mul_({value})",
                f"sub_({value})",
                "zero_()",
                "fill_(0.5)",
                "mul_(0.5).add_(1)",
                f"add_({value}).mul_(0.5)",
            ]
            forms += [f"copy_({value})", "neg_()", "abs_()", "exp_()", f"div_(abs({value}) + 1)", "tanh_()", "relu_()"]
            forms += ["clamp_(-0.5, 0.5)", "clamp_(min=0)"]
            return [f"{name}[{at}].{self.choices.pick(forms)}"]

        return Goal([f"{name} = {self.allocation(dims)}"], step, name, Value(name, dims=dims, writable=True, weight=1))

    def several_results(self):
        """Operations with several results, by unpacking or by name."""
        if self.write.complex:
            return self.scan()
        dim = self.choices.pick(self.readable)
        first, second = self.write.name("top"), self.write.name("place")
        sink_dim = self.choices.pick(self.extents)
        prologue, keep, result = self.sink(sink_dim)

        def step(scope):
            made = self.write.tensor(scope, (dim,), "f", 1)
            if made is None or self.at(scope, sink_dim) is None:
                return None
            row, lib = made.text, self.library.name
            if self.is_torch():
                forms = [
                    f"{row}.sort()",
                    f"torch.sort({row}, descending=True)",
                    f"{row}.max(0)",
                    f"torch.min({row}, dim=0)",
                    f"{row}.cummax(0)",
                ]
                forms += [
                    f"torch.topk({row}, 1)",
                    f"{row}.topk(1, largest=False)",
                    f"{row}.median(0)",
                    f"torch.var_mean({row})",
                ]
                forms += [
                    f"torch.std_mean({row}, unbiased=False)",
                    f"({row}.amax(), {row}.argmax())",
                    f"torch.frexp({row})",
                    f"torch.aminmax({row})",
                ]
                forms += [f"{row}.kthvalue(1)", f"{row}.mode()"]
            else:
                forms = [
                    f"np.divmod({row}, 0.75)",
                    f"np.modf({row})",
                    f"({row}.max(), {row}.argmax())",
                    f"np.frexp({row})",
                    f"(np.sort({row}), np.argsort({row}, kind='stable'))",
                ]
            used = self.choices.pick(
                (f"{first}.sum()", f"{second}.sum()", f"({first} * {second}).sum()", f"{first}.sum() + {second}.max()")
            )
            lines = [f"{first}, {second} = {self.choices.pick(forms)}"]
            test = [f"if {dim} > 0:", *indented(keep(scope, used))] if self.choices.chance(20) else keep(scope, used)
            del lib
            return [*lines, *test]

        return Goal(prologue, step, result)

    # ---- tuples, index tensors, windows

    def tuples(self):
        """A list of tuples of tensors as an argument, by index or looped over."""
        name = "couples"

        def make(name):
            first, second = (
                self.inputs.array(("m",), self.write.float_type),
                self.inputs.array((), self.write.float_type),
            )
            second = second.replace("size=(,)", "size=()").replace("torch.randn(, ", "torch.randn((), ")
            form = self.choices.pick(("({}, {})", "({}, {})", "[{}, {}]", "dict(left={}, right={})"))
            self.inputs.add(name, f"[{form.format(first, second)} for r in range(n)]", role="couples")

        self.given(name, make)
        built = next(a for a in self.arguments if a.name == name).build[0]
        left, right = ("['left']", "['right']") if "dict(" in built else ("[0]", "[1]")
        prologue, keep, result = self.sink("n")
        one, other = self.write.name("one"), self.write.name("other")

        def step(scope):
            at = self.at(scope, "n", numbers=True)
            if at is None:
                return None
            if left == "[0]" and self.choices.chance(60):
                return [f"{one}, {other} = {name}[{at}]", *keep(scope, f"({one} * {other}).sum()")]
            return keep(scope, f"({name}[{at}]{left} * {name}[{at}]{right}).sum()")

        return Goal(prologue, step, result)

    def index_tensors(self):
        """Several index tensors at once, read or written, with repeats."""
        rows, columns = self.integers("at_rows", "n", "n"), self.integers("at_columns", "n", "m")
        name = self.write.name("board")
        matrices = [v.text for a in self.arguments for v in a.values if v.dims == ("n", "m") and v.form == "tensor"]

        def step(scope):
            at = self.at(scope, "n", numbers=True)
            if at is None:
                return None
            place = f"{rows}[{at}], {columns}[{at}]"
            value = bare(self.write.value(scope, depth=1).text)
            lines = [f"{name}[{place}] {self.choices.pick(('=', '+=', '*=', '-='))} {value}"]
            if matrices and self.choices.chance(40):
                lines = [f"{name}[{place}] += {self.choices.pick(matrices)}[{place}]"]
            return lines

        return Goal([f"{name} = {self.allocation(('n', 'm'))}"], step, name)

    def windowed(self):
        """Windows around an index, of one width, in one dimension or two."""
        dim = self.choices.pick(("n", "m"))
        text, dims = self.vector(dim)
        prologue, keep, result = self.sink(dim)

        def step(scope):
            indices = [v for v in scope.indices(dim) if v.kind == "number"]
            if not indices:
                return None
            at = self.choices.pick(indices)
            forms = [
                f"{at.text} - 1:{at.text} + 2",
                f"{at.text}:{at.text} + 2",
                f"{at.text} - 1:{at.text} + 1",
                f"{at.text}:{at.text} + 3",
            ]
            window = self.choices.pick(forms)
            if len(dims) == 2 and (others := [v.text for v in scope.indices(dims[1])]) and self.choices.chance(60):
                other = self.choices.pick(others)
                window += f", {other} - 1:{other} + 2"
            lines = keep(scope, self.summary(f"{text}[{window}]", len(dims), guard_empty=self.choices.chance(70)))
            return lines if self.choices.chance(30) else [f"if 1 <= {at.text} < {dim} - 2:", *indented(lines)]

        return Goal(prologue, step, result)

    def repeated(self):
        """Updates of places that repeat, with every operator."""
        index = self.integers("into_bins", "n", "m")
        name, lib = self.write.name("bins"), self.library
        rows = () if self.choices.chance(65) else (self.choices.pick(self.readable),)

        def step(scope):
            at = self.at(scope, "n", numbers=True)
            if at is None:
                return None
            place = f"{name}[{index}[{at}]]"
            value = bare(self.write.value(scope, rows, depth=1).text)
            forms = [
                f"{place} += {value}",
                f"{place} *= {value}",
                f"{place} -= {value}",
                f"{place} = {place} + ({value})",
                f"{place} = {value}",
            ]
            if not self.write.complex:
                forms += [f"{place} = {lib.spell(word)}({place}, {value})" for word in ("maximum", "minimum")]
                forms += [] if rows else [f"{place} = max({place}, {value})"]
            line = self.choices.pick(forms)
            return [f"if {self.write.condition(scope, 0)}:", f"    {line}"] if self.choices.chance(25) else [line]

        return Goal([f"{name} = {self.allocation(('m', *rows))}"], step, name)
