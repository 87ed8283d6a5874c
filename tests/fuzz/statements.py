"""Random statements: loop nests that move the goals forward, and what may happen on the way."""

from dataclasses import replace

from .expressions import bare
from .vocabulary import Value

LOOP_WORDS = ("i", "j", "l", "e", "f", "h")


def indent(lines):
    return ["    " + line for line in lines]


class Statements:
    """Writes blocks and loop nests that move the goals forward."""

    def __init__(self, expressions, arguments, goals, effects):
        self.write = expressions
        self.choices = expressions.choices
        self.library = expressions.library
        self.arguments = arguments
        self.goals = goals
        self.effects = effects
        self.extents = expressions.extents
        self.budget = self.choices.pick((6, 9, 14))
        self.after_loop = []

    # ---- loops

    def nest(self, scope):
        """The lines of one loop, or of one `while`, with what it contains."""
        if self.choices.chance(7):
            return self.while_loop(scope)
        prepare, header, inner, written = self.header(scope)
        body = self.block(inner, first=written)
        after = []
        if self.choices.chance(3):
            after = ["else:", f"    {self.write.name('finished')} = True"]
        return [*prepare, header, *indent(body), *after]

    def simple_nest(self, scope):
        """One or two plain loops around nothing but the steps of the goals; nothing where no step suits them."""
        nests = [("n",), ("n",), ("m",), ("n", "m"), ("m", "n")]
        start = self.choices.between(0, len(nests) - 1)
        for dims in nests[start:] + nests[:start]:
            values = [Value(word, "number", "i", (), dim) for word, dim in zip(LOOP_WORDS, dims)]
            inner = scope.child(*values, depth=len(dims), in_loop=True, skippable=True)
            lines = [self.guarded_step(goal, inner) for goal in self.goals]
            if all(lines):
                return self.headers(dims, [line for step in lines for line in step])
        return []

    def guarded_step(self, goal, scope):
        lines = goal.step(scope)
        if lines and self.choices.chance(20):
            return [f"if {self.write.condition(scope, 0)}:", *indent(lines)]
        return lines

    def headers(self, dims, body):
        """The loops over these extents, nested, or as one loop over all pairs."""
        words = LOOP_WORDS[: len(dims)]
        if len(dims) == 2 and self.choices.chance(25):
            pairs = [f"itertools.product(range({dims[0]}), range({dims[1]}))", f"np.ndindex({dims[0]}, {dims[1]})"]
            return [f"for {', '.join(words)} in {self.choices.pick(pairs)}:", *indent(body)]
        for word, dim in reversed(list(zip(words, dims))):
            body = [f"for {word} in range({dim}):", *indent(body)]
        return body

    def header(self, scope):
        """(lines before, the `for` line, scope inside, first lines inside) of a loop over something in reach."""
        word = LOOP_WORDS[scope.depth] if scope.depth < 3 else self.write.name("t")
        around = {"depth": scope.depth + 1, "in_loop": True, "skippable": True}
        makers = [(10, self.over_range)] + [(2, self.over_triangle)] * bool(scope.depth)
        makers += [(3, self.over_rows), (1, self.over_zip), (1, self.over_table), (1, self.over_product)]
        roles = {a.role for a in self.arguments}
        makers += [(5, self.over_ragged)] if "ragged" in roles and scope.indices("n") else []
        makers += [(2, self.over_uneven)] if "uneven" in roles else []
        makers += [(2, self.over_pairs)] if "pairs" in roles else []
        for _ in range(4):
            made = self.choices.weighted(makers)(scope, word)
            if made:
                break
        else:
            made = self.over_range(scope, word)
        header, values, first = made
        return [], header, scope.child(*values, **around), first

    def over_range(self, scope, word):
        used = {v.into for v in scope.values if v.into and not v.dims}
        held = {d for v in scope.values if v.category == "f" for d in v.dims}
        unused = [d for d in self.extents if d not in used and (d in held or self.choices.chance(10))]
        dim = self.choices.pick(unused) if unused and self.choices.chance(85) else self.choices.pick(self.extents)
        forms = (
            (12, (f"range({dim})", 0, 0)),
            (2, (f"range(1, {dim})", 1, 0)),
            (1, (f"range({dim} - 1)", 0, 1)),
            (1, (f"range(1, {dim} - 1)", 1, 1)),
            (1, (f"range({dim} - 1, -1, -1)", 0, 0)),
            (1, (f"range(0, {dim}, 2)", 0, 0)),
            (1, (f"reversed(range({dim}))", 0, 0)),
            (1, (f"range({dim} - 2, -1, -1)", 0, 1)),
            (1, (f"range(0, {dim} - 1, 3)", 0, 1)),
        )
        text, low, high = self.choices.weighted(forms)
        return f"for {word} in {text}:", [Value(word, "number", "i", (), dim, low, high)], []

    def over_triangle(self, scope, word):
        outer = [v for v in scope.values if v.into and not v.dims and v.kind == "number"]
        if not outer:
            return None
        around = self.choices.pick(outer)
        at, dim = around.text, around.into
        forms = (
            (f"range({at} + 1, {dim})", 1, 0),
            (f"range({at})", 0, 1),
            (f"range({at}, {dim})", 0, 0),
            (f"range({dim} - {at})", 0, 0),
            (f"range({at} - 1, -1, -1)", 0, 1),
        )
        text, low, high = self.choices.pick(forms)
        return f"for {word} in {text}:", [Value(word, "number", "i", (), dim, low, high)], []

    def readable_rows(self, scope, category="f"):
        return [
            v
            for v in scope.values
            if v.dims and v.category == category and v.kind == "tensor" and v.text.isidentifier() and "?" not in v.dims
        ]

    def over_rows(self, scope, word):
        options = self.readable_rows(scope)
        if not options:
            return None
        source = self.choices.pick(options)
        row = Value(f"row{scope.depth}", "tensor", source.category, source.dims[1:], weight=9)
        form = self.choices.weighted(((4, "plain"), (4, "enumerate"), (1, "start"), (1, "reversed")))
        if form == "plain":
            return f"for {row.text} in {source.text}:", [row], []
        if form == "reversed" and source.form == "tensors":
            return f"for {row.text} in reversed({source.text}):", [row], []
        index = Value(word, "number", "i", (), source.dims[0])
        if form == "start":
            return f"for {word}, {row.text} in enumerate({source.text}, start=1):", [row, replace(index, into=None)], []
        return f"for {word}, {row.text} in enumerate({source.text}):", [row, index], []

    def over_zip(self, scope, word):
        options = self.readable_rows(scope)
        if len(options) < 2:
            return None
        first, second = self.choices.pick(options), self.choices.pick(options)
        left = Value(f"left{scope.depth}", "tensor", "f", first.dims[1:])
        right = Value(f"right{scope.depth}", "tensor", "f", second.dims[1:])
        if self.choices.chance(40):
            index = Value(word, "number", "i", (), first.dims[0])
            return (
                f"for {word}, {left.text}, {right.text} in zip(range({first.dims[0]}), {first.text}, {second.text}):",
                [left, right, index],
                [],
            )
        return f"for {left.text}, {right.text} in zip({first.text}, {second.text}):", [left, right], []

    def over_table(self, scope, word):
        options = [v for v in scope.values if v.into and v.dims]
        if not options:
            return None
        table = self.choices.pick(options)
        if table.form == "tensor" and self.choices.chance(40):
            return f"for {word} in {table.text}.tolist():", [Value(word, "number", "i", (), table.into)], []
        return f"for {word} in {table.text}:", [Value(word, table.kind, "i", (), table.into)], []

    def over_product(self, scope, word):
        first, second = self.choices.pick(self.extents), self.choices.pick(self.extents)
        pair = [f"itertools.product(range({first}), range({second}))", f"np.ndindex({first}, {second})"]
        other = f"{word}{word}"
        values = [Value(word, "number", "i", (), first), Value(other, "number", "i", (), second)]
        return f"for {word}, {other} in {self.choices.pick(pair)}:", values, []

    def over_ragged(self, scope, word):
        near = next(a.values[0] for a in self.arguments if a.role == "ragged")
        outer = [v.text for v in scope.indices("n")]
        index = Value(word, "number", "i", (), near.into)
        text = f"{near.text}[{self.choices.pick(outer)}]"
        if self.choices.chance(15):
            return (
                f"for p{scope.depth}, {word} in enumerate({text}):",
                [index, Value(f"p{scope.depth}", "number", "i")],
                [],
            )
        return f"for {word} in {text}:", [index], []

    def over_uneven(self, scope, word):
        outer = [v.text for v in scope.indices("n")]
        if outer and self.choices.chance(60):
            row = Value(f"entry{scope.depth}", "tensor", "f")
            return f"for {row.text} in uneven[{self.choices.pick(outer)}]:", [row], []
        piece, summary = f"piece{scope.depth}", Value(f"sum{scope.depth}", "tensor", "f")
        return (
            f"for {piece} in uneven:",
            [summary],
            [f"{summary.text} = {piece}.{self.choices.pick(('sum', 'sum', 'mean'))}()"],
        )

    def over_pairs(self, scope, word):
        first, second = f"s{scope.depth}", f"d{scope.depth}"
        return (
            f"for {first}, {second} in pairs:",
            [Value(first, "number", "i", (), "n"), Value(second, "number", "i", (), "m")],
            [],
        )

    def while_loop(self, scope):
        """A bounded `while` that halves or counts until a condition on data."""
        name, steps = self.write.name("level"), self.write.name("steps")
        start = bare(self.write.value(scope, depth=1).text)
        inner = scope.child(Value(name, "either"), Value(steps, "number", "i"), in_loop=True, skippable=False)
        size = f"abs({name})"
        change = self.choices.pick(
            (
                f"{name} = {name} * 0.5",
                f"{name} = {name} / 3 + 0.01",
                f"{name} *= 0.6",
                f"{name} = {name} - 0.25 * {name}",
            )
        )
        body = [change, f"{steps} += 1", *(self.step(inner) or [])]
        if self.choices.chance(25):
            body += [f"if {self.write.condition(inner)}:", "    break"]
        scope.add(Value(name, "either", weight=1), Value(steps, "number", "i"))
        return [
            f"{name} = {start}",
            f"{steps} = 0",
            f"while {size} > 0.1 and {steps} < {self.choices.between(2, 6)}:",
            *indent(body),
        ]

    # ---- blocks

    def block(self, scope, first=()):
        """A loop body: one to four statements, deeper loops among them, and a goal in any case."""
        lines = list(first)
        if scope.depth < self.depth_limit() and self.choices.chance(62 if scope.depth == 1 else 35):
            lines += self.plain(scope) if self.choices.chance(40) else []
            lines += self.nest(scope)
            lines += (self.step(scope) or []) if self.choices.chance(55) else []
            return lines
        for _ in range(self.choices.between(0, 3)):
            lines += self.plain(scope)
        for _ in range(self.choices.between(1, 2)):
            lines += self.step(scope) or []
        return lines or ["pass"]

    def depth_limit(self):
        return 3 if self.choices.chance(25) else 2

    def plain(self, scope):
        """A statement on the way: a new variable, a guard, a branch, an effect."""
        makers = [(7, self.let), (2, self.guard), (3, self.branch), (1, self.number_let)]
        makers += [(3, self.effect)] if self.effects else []
        return self.choices.weighted(makers)(scope)

    def let(self, scope):
        dim = self.write.vector_dim(scope) if self.choices.chance(30) else None
        value = self.write.value(scope, (dim,) if dim else ())
        name = self.write.name()
        scope.add(Value(name, value.kind, "f", value.dims, weight=9))
        lines = [f"{name} = {bare(value.text)}"]
        if self.choices.chance(12):
            change = self.choices.pick(
                (f"{name} = {name} * 0.5", f"{name} += 1", f"{name} = {name} + {self.write.leaf(scope, (), 'f').text}")
            )
            lines += [f"if {self.write.condition(scope)}:", f"    {change}"]
            scope.values[-1] = replace(scope.values[-1], kind=value.kind if value.kind != "number" else "either")
            scope.add()
        return lines

    def number_let(self, scope):
        value, name = self.write.number_value(scope, (), "f", 1), self.write.name("number")
        scope.add(Value(name, value.kind, "f", weight=8))
        return [f"{name} = {bare(value.text)}"]

    def guard(self, scope):
        if not scope.skippable:
            return self.let(scope)
        word = self.choices.weighted(((5, "continue"), (3, "break"), (1, "return")))
        if word == "return":
            word = f"return {self.choices.pick(('None', '-1', bare(self.write.value(scope, depth=1).text)))}"
        return [f"if {self.write.condition(scope)}:", f"    {word}"]

    def branch(self, scope):
        """An `if`, with `elif` and `else` at times; each arm moves a goal."""
        lines = [f"if {self.write.condition(scope)}:", *indent(self.arm(scope))]
        if self.choices.chance(25):
            lines += [f"elif {self.write.condition(scope)}:", *indent(self.arm(scope))]
        if self.choices.chance(50):
            lines += ["else:", *indent(self.arm(scope))]
        return lines

    def arm(self, scope):
        inner = scope.child()
        lines = self.let(inner) if self.choices.chance(30) else []
        if self.choices.chance(8) and scope.depth < 3:
            return lines + self.nest(inner)
        return lines + (self.step(inner) or ["pass"])

    def step(self, scope):
        """The lines that move one goal, preferring those that have not moved yet."""
        waiting = [g for g in self.goals if not g.stepped] or self.goals
        for pool in (waiting, self.goals):
            goal = self.choices.pick(pool)
            lines = goal.step(scope)
            if lines:
                goal.stepped = True
                return lines
        return None

    # ---- effects and hazards

    def effect(self, scope):
        return self.effects.pop()(scope)

    def printed(self, scope):
        indices = [v.text for v in scope.values if v.into and not v.dims]
        value = (
            self.write.leaf(scope, (), "i").text if self.choices.chance(50) else self.write.leaf(scope, (), "f").text
        )
        parts = ", ".join(["'at'", *indices[:2], value])
        return [f"print({parts})"]

    def drawn(self, scope):
        name = self.write.name("noise")
        torch_forms = (
            "torch.rand(())",
            "torch.randn(())",
            "torch.rand(2).sum()",
            "torch.randn(17)[3]",
            "random.random()",
            "torch.randint(0, 5, ()) * 0.5",
        )
        numpy_forms = ("np.random.rand()", "np.random.normal()", "random.random()", "np.random.randint(0, 5) * 0.5")
        text = self.choices.pick(torch_forms if self.library.name == "torch" else numpy_forms)
        kind = "tensor" if text.startswith("torch") else "either"
        scope.add(Value(name, kind, weight=1))
        return [f"{name} = {text}"]

    def logged(self, scope):
        return [f"log.append({bare(self.write.leaf(scope, (), self.choices.pick(('f', 'i'))).text)})"]

    def counted(self, scope):
        return [f"STATE['calls'] = STATE.get('calls', 0) + {self.choices.pick(('1', '2'))}"]

    def hazard(self, scope):
        """A statement that raises in some lane, for some arguments."""
        indices = [v for v in scope.values if v.into and not v.dims and v.kind == "number"]
        if not indices:
            return self.let(scope)
        at, dim, name = indices[-1].text, indices[-1].into, self.write.name("q")
        condition = self.write.condition(scope, 0)
        vectors = [v.text for v in scope.values if v.dims == (dim,) and v.category == "f"]
        options = [
            [f"if {condition}:", f'    raise ValueError(f"bad {{{at}}}")'],
            [f"assert {at} < 2, 'too far'"],
            [f"assert {condition}"],
            [f"{name} = 1 / ({at} - 2)"],
            [f"{name} = 7 // (2 - {at})"],
            [f"{name} = 5 % ({at} - 1)"],
            [f"{name} = math.sqrt(1.5 - {at})"],
            [f"{name} = math.log(2 - {at})"],
            [f"{name} = [1, 2, 3][{at}]"],
            [f"{name} = {{0: 1, 1: 2}}[{at}]"],
            [f"{name} = int('x' * {at} or '1')"],
            [f"{name} = math.exp({at} * 400.0)"],
            [f"if {condition}:", f"    {name} = {at} + 'text'"],
        ]
        options += [[f"{name} = {v}[{at} + 1] * 2"] for v in vectors] * 2
        lines = self.choices.pick(options)
        scope.add(*([Value(name, "either", weight=1)] if lines[-1].startswith(name) else []))
        return lines
