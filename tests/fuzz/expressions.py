"""Random expressions of a wanted type over the values of a scope; every text that comes out is atomic."""

from .vocabulary import (
    COMPLEX_ELEMENTWISE,
    COMPLEX_REDUCTIONS,
    INTEGER_ELEMENTWISE,
    NUMBER_FUNCTIONS,
    Value,
)

ARITHMETIC = ((6, "+"), (5, "-"), (6, "*"), (2, "/"), (1, "//"), (1, "%"), (2, "**"))
INTEGER_ARITHMETIC = ((6, "+"), (5, "-"), (4, "*"), (2, "//"), (2, "%"), (1, "&"), (1, "|"), (1, "^"))
COMPARISONS = ("<", ">", "<=", ">=", "==", "!=")
WORDS = ("p", "q", "u", "w", "s", "z")


def bare(text):
    """The text without one redundant outer pair of parentheses."""
    if not (text.startswith("(") and text.endswith(")")):
        return text
    level = 0
    for at, letter in enumerate(text):
        level += (letter == "(") - (letter == ")")
        if level == 0 and at < len(text) - 1:
            return text
        if letter == "," and level == 1:
            return text
    return text[1:-1]


def joint(*values):
    kinds = {v.kind for v in values}
    if "tensor" in kinds:
        return "tensor"
    return "either" if "either" in kinds else "number"


def constant_text(text):
    return text.strip("(-)")[0].isdigit()


class Expressions:
    """Writes expressions; a program's float type, library and helpers are fixed when it is made."""

    def __init__(self, choices, library, float_type="float32", helpers=()):
        self.choices = choices
        self.library = library
        self.float_type = float_type
        self.complex = float_type == "complex64"
        self.helpers = helpers
        self.extents = ()
        self.simple = False
        self.fresh = 0

    def name(self, stem="v"):
        self.fresh += 1
        return f"{stem}{self.fresh}"

    # ---- leaves

    def index(self, scope, dim):
        """The text of an index that is valid for an extent, by a loop variable, a table or a constant."""
        options = scope.indices(dim)
        if not options or self.choices.chance(3):
            return self.choices.pick(("0", "-1", f"{dim} - 1"))
        chosen = self.choices.pick(options)
        text = chosen.text
        if self.choices.chance(72):
            return text
        nearby = [f"({text} + 1) % {dim}", f"{dim} - 1 - {text}", f"{text} // 2", f"{text} - 1"]
        nearby += [f"-{text} - 1", f"({text} * 2) % {dim}"]
        others = [one.text for one in scope.values if one.into and not one.dims] or [text]
        product = f"{text} * {self.choices.pick(others)}"
        nearby += [f"{product} % {dim}", f"({product} if {product} < {dim} else 0)"]
        if chosen.kind == "number":
            nearby += [f"max({text} - 1, 0)", f"min({text} + 1, {dim} - 1)"]
        if chosen.low:
            nearby += [f"{text} - 1"] * 4
        if chosen.high:
            nearby += [f"{text} + 1"] * 4
        tables = [(v, keep) for v, keep in scope.reads((), "i") if v.into == dim and v.dims and not keep]
        if tables and self.choices.chance(60):
            return self.read(scope, *self.choices.pick(tables)).text
        return self.choices.pick(nearby)

    def read(self, scope, value, keep):
        """The given value with the extents that are not kept indexed away."""
        if len(keep) == len(value.dims):
            return Value(value.text, value.kind, value.category, value.dims, value.into)
        indexed = [None if k in keep else self.index(scope, d) for k, d in enumerate(value.dims)]
        dims = tuple(value.dims[k] for k in keep)
        kind = "number" if value.form == "numbers" else "tensor"
        return Value(value.text + self.subscript(value, indexed), kind, value.category, dims, value.into)

    def subscript(self, value, indexed):
        leading = 0
        while leading < len(indexed) and indexed[leading] is not None:
            leading += 1
        only_leading = all(t is None for t in indexed[leading:])
        if value.form == "numbers":
            return "".join(f"[{t}]" for t in indexed)
        if value.form == "tensors":
            rest = indexed[1:]
            return f"[{indexed[0]}]" + (self.subscript(Value("", dims=value.dims[1:]), rest) if any(rest) else "")
        if only_leading and leading > 1 and self.choices.chance(25):
            return "".join(f"[{t}]" for t in indexed[:leading])
        if only_leading and self.choices.chance(70):
            return "[" + ", ".join(indexed[:leading]) + "]"
        if (
            leading == 0
            and indexed[-1] is not None
            and len(indexed) > 1
            and not any(indexed[:-1])
            and self.choices.chance(15)
        ):
            return f"[..., {indexed[-1]}]"
        return "[" + ", ".join(t or ":" for t in indexed) + "]"

    def constant(self, category="f"):
        if category == "i":
            return Value(str(self.choices.between(0, 4)), "number", "i")
        text = self.choices.pick(("0.5", "2.0", "1", "0.25", "-1.0", "3", "0.1", "1.5", "0.0", "2"))
        return Value(f"({text})" if text.startswith("-") else text, "number", "f")

    def leaf(self, scope, dims, category):
        if dims == () and self.choices.chance(9):
            return self.constant(category)
        if dims == () and category == "f" and self.choices.chance(8):
            return self.leaf(scope, dims, "i")
        reads = scope.reads(dims, category)
        if reads:
            return self.read(scope, *self.choices.pick(reads))
        if category == "i" and dims and scope.reads(dims, "f"):
            return self.constant("i")
        return self.filled(dims, category) if dims else self.constant(category)

    def filled(self, dims, category):
        dtype = self.float_type if category == "f" else "int64"
        shape = ", ".join(dims) + ("," if len(dims) == 1 else "")
        maker = self.choices.pick(("ones", "zeros"))
        return Value(
            f"{self.library.name}.{maker}(({shape}), dtype={self.library.name}.{dtype})", "tensor", category, dims
        )

    # ---- values

    def value(self, scope, dims=(), category="f", depth=2):
        """An expression of the wanted extents and category; its kind is whatever came out."""
        depth = min(depth, 1) if self.simple else depth
        if depth <= 0 or self.choices.chance(18):
            return self.leaf(scope, dims, category)
        makers = [(8, self.binary), (3, self.elementwise), (2, self.extremum), (2, self.ternary), (1, self.where)]
        if not dims:
            makers += [(4, self.reduction), (1, self.window), (2, self.number_value), (1, self.comprehension)]
            makers += [(3, self.helper_call)] if self.helpers else []
        if len(dims) == 1:
            makers += [(1, self.rowwise), (1, self.product)]
        return self.choices.weighted(makers)(scope, dims, category, depth - 1)

    def tensor(self, scope, dims=(), category="f", depth=1):
        """A value that is surely a tensor, or None."""
        for _ in range(3):
            value = self.value(scope, dims, category, depth)
            if value.kind == "tensor" and value.category == category:
                return value
        reads = [r for r in scope.reads(dims, category) if r[0].form != "numbers" and r[0].kind == "tensor"]
        return self.read(scope, *self.choices.pick(reads)) if reads else None

    def binary(self, scope, dims, category, depth):
        left = self.value(scope, dims, category, depth)
        right_dims = dims if not dims or self.choices.chance(65) else ()
        right = self.value(scope, right_dims, category, depth)
        if constant_text(left.text) and constant_text(right.text):
            left = self.leaf(scope, dims, category)
        if dims and self.choices.chance(20):
            left, right = right, left
        operator = self.choices.weighted(INTEGER_ARITHMETIC if category == "i" else ARITHMETIC)
        if "f" in (left.category, right.category) and operator in "&|^":
            operator = "+"
        if self.complex and operator in ("//", "%"):
            operator = "*"
        return Value(f"({self.operation(left, operator, right)})", joint(left, right), category, dims)

    def operation(self, left, operator, right):
        if operator == "**":
            power = self.choices.pick(("2", "2", "3", "0.5"))
            return f"abs({bare(left.text)}) ** 0.5" if power == "0.5" else f"{left.text} ** {power}"
        if operator in ("/", "//", "%") and not self.choices.chance(3):
            divisor = self.choices.pick(("2", "3", f"(abs({bare(right.text)}) + 1)"))
            return f"{left.text} {operator} {divisor}"
        return f"{left.text} {operator} {right.text}"

    def elementwise(self, scope, dims, category, depth):
        inner = self.value(scope, dims, category, depth)
        if inner.category == "i" and category == "i" and inner.kind != "either":
            text = self.choices.pick(INTEGER_ELEMENTWISE).format(inner.text)
            return Value(f"({text})", inner.kind, "i", inner.dims)
        if inner.kind == "number" and category == "f" and not self.complex:
            return Value(self.choices.pick(NUMBER_FUNCTIONS).format(bare(inner.text)), "number", "f", inner.dims)
        if inner.kind != "tensor" or inner.category != "f":
            return Value(f"abs({bare(inner.text)})", inner.kind, inner.category, inner.dims)
        options = COMPLEX_ELEMENTWISE if self.complex else self.library.elementwise
        text = self.choices.pick(options).replace("{}", inner.text)
        return Value(f"({text})" if text.startswith("-") else text, "tensor", "f", inner.dims)

    def extremum(self, scope, dims, category, depth):
        left = self.value(scope, dims, category, depth)
        right = self.value(scope, dims, category, 0)
        word = self.choices.pick(("max", "min"))
        if self.complex:
            return left
        if not dims and (joint(left, right) != "tensor" or self.choices.chance(50)):
            return Value(f"{word}({bare(left.text)}, {bare(right.text)})", joint(left, right), category, dims)
        if left.kind == right.kind == "tensor":
            function = self.library.spell(word + "imum")
            return Value(f"{function}({bare(left.text)}, {bare(right.text)})", "tensor", category, dims)
        if left.kind == "tensor":
            bounds = self.choices.pick(("0, 2", "-1, 1", "min=0" if self.library.name == "torch" else "0, 3"))
            return Value(f"{self.library.spell('clamp')}({bare(left.text)}, {bounds})", "tensor", category, dims)
        return left

    def ternary(self, scope, dims, category, depth):
        condition = self.condition(scope, depth)
        yes, no = self.value(scope, dims, category, depth), self.value(scope, dims, category, depth)
        kind = yes.kind if yes.kind == no.kind else "either"
        return Value(f"({bare(yes.text)} if {condition} else {bare(no.text)})", kind, category, dims)

    def where(self, scope, dims, category, depth):
        probe = self.tensor(scope, dims, category, 0)
        if probe is None or self.complex:
            return self.leaf(scope, dims, category)
        yes, no = self.value(scope, dims, category, depth), self.value(scope, dims, category, depth)
        if "tensor" not in (yes.kind, no.kind):
            yes = probe
        comparison = f"{probe.text} {self.choices.pick(COMPARISONS)} {self.constant(category).text}"
        text = f"{self.library.name}.where({comparison}, {bare(yes.text)}, {bare(no.text)})"
        return Value(text, "tensor", category, dims)

    def vector_dim(self, scope):
        dims = [d for d in self.extents if any(not v.into for v, _ in scope.reads((d,), "f"))]
        return self.choices.pick(dims) if dims else None

    def reduction(self, scope, dims, category, depth):
        dim = self.vector_dim(scope)
        inner = dim and self.tensor(scope, (dim,), "f", depth)
        if not inner:
            return self.leaf(scope, dims, category)
        other = self.tensor(scope, (dim,), "f", 0)
        if other and self.choices.chance(20) and not self.complex:
            function = self.choices.pick((f"{self.library.name}.dot", "product"))
            if function != "product" and {inner.text, other.text} <= {v.text for v in scope.values}:
                return Value(f"{function}({bare(inner.text)}, {bare(other.text)})", "tensor", "f")
            return Value(f"({inner.text} * {other.text}).sum()", "tensor", "f")
        options = COMPLEX_REDUCTIONS if self.complex else self.library.reductions
        return Value(self.choices.pick(options).replace("{}", inner.text), "tensor", "f")

    def window(self, scope, dims, category, depth):
        options = [(v, keep) for v, keep in scope.reads((), "f") if len(v.dims) == 1 and v.form == "tensor"]
        options = [v for v, _ in options if any(i.kind == "number" for i in scope.indices(v.dims[0]))]
        if not options:
            return self.leaf(scope, dims, category)
        vector = self.choices.pick(options)
        at = self.choices.pick([i for i in scope.indices(vector.dims[0]) if i.kind == "number"]).text
        bounds = (
            f"max({at} - 1, 0):{at} + 2",
            f"{at}:",
            f":{at} + 1",
            f"{at}:{at} + 2",
            f":{at}",
            f"{at} - 1:{at} + 2",
            f"{at}::2",
        )
        summary = self.choices.pick((".sum()", ".sum()", ".mean()", ".max()" if not self.complex else ".sum()"))
        return Value(f"{vector.text}[{self.choices.pick(bounds)}]{summary}", "tensor", "f")

    def number_value(self, scope, dims, category, depth):
        inner = self.tensor(scope, (), category, depth)
        if inner is None or self.complex:
            return self.leaf(scope, dims, category)
        if category == "i":
            return Value(self.choices.pick(("int({})", "{}.item()")).format(inner.text), "number", "i")
        text = self.choices.pick(("{}.item()", "{}.item()", "float({})")).format(inner.text)
        if self.choices.chance(60):
            text = self.choices.pick(NUMBER_FUNCTIONS).format(text)
        return Value(f"({text})" if text.startswith("-") else text, "number", "f")

    def comprehension(self, scope, dims, category, depth):
        if scope.depth >= 3 or not self.extents:
            return self.leaf(scope, dims, category)
        dim, at = self.choices.pick(self.extents), self.choices.pick(WORDS)
        inner_scope = scope.child(Value(at, "number", "i", (), dim), depth=3)
        inner = self.value(inner_scope, (), category, min(depth, 1))
        guard = f" if {self.condition(inner_scope, 0)}" if self.choices.chance(25) else ""
        body = f"{bare(inner.text)} for {at} in range({dim}){guard}"
        word = self.choices.pick(("sum({})", "sum([{}])"))
        return Value(word.format(body), "either", category)

    def helper_call(self, scope, dims, category, depth):
        left, right = self.tensor(scope, (), "f", depth), self.tensor(scope, (), "f", 0)
        if left is None or right is None:
            return self.leaf(scope, dims, category)
        return Value(f"{self.choices.pick(self.helpers)}({bare(left.text)}, {bare(right.text)})", "tensor", "f")

    def rowwise(self, scope, dims, category, depth):
        inner = self.tensor(scope, dims, "f", depth)
        if inner is None or self.complex or category != "f":
            return self.leaf(scope, dims, category)
        text = self.choices.pick(self.library.rowwise).replace("{}", inner.text)
        return Value(f"({text})", "tensor", "f", dims)

    def product(self, scope, dims, category, depth):
        """A matrix times a vector, where a matrix can be read."""
        options = [(v, k) for d in self.extents for v, k in scope.reads((*dims, d), "f") if v.form == "tensor"]
        if not options or category != "f":
            return self.leaf(scope, dims, category)
        matrix = self.read(scope, *self.choices.pick(options))
        vectors = [r for r in scope.reads((matrix.dims[1],), "f") if r[0].form != "numbers"]
        if not vectors:
            return self.leaf(scope, dims, category)
        vector = self.read(scope, *self.choices.pick(vectors))
        form = (
            "({} @ {})"
            if self.choices.chance(70)
            else f"({{}} * {{}}).sum({'axis=1' if self.library.name == 'np' else '1'})"
        )
        return Value(form.format(matrix.text, vector.text), "tensor", "f", dims)

    # ---- conditions

    def condition(self, scope, depth=1):
        """The text of a condition on Python numbers or 0-dim tensors, not wrapped."""
        makers = [(6, self.comparison), (3, self.index_condition), (1, self.chained)]
        makers += [(1, self.flag)]
        if depth > 0:
            makers += [(2, self.both), (1, self.negation)]
        return self.choices.weighted(makers)(scope, depth - 1)

    def comparison(self, scope, depth):
        left = self.value(scope, (), "f", max(depth, 0))
        if constant_text(left.text):
            left = self.leaf(scope, (), "f")
        if self.complex:
            return f"abs({bare(left.text)}) > 0.75"
        right = self.constant() if self.choices.chance(60) else self.leaf(scope, (), "f")
        return f"{left.text} {self.choices.pick(COMPARISONS)} {right.text}"

    def index_condition(self, scope, depth):
        indices = [v for v in scope.values if v.into and not v.dims]
        if not indices:
            return self.comparison(scope, depth)
        index = self.choices.pick(indices)
        others = [v.text for v in indices if v != index] + ["2", "1", f"{index.into} - 1"]
        counted = f"{index.text} * {self.choices.pick(indices).text}" if self.choices.chance(15) else index.text
        comparison = f"{counted} {self.choices.pick(COMPARISONS)} {self.choices.pick(others)}"
        vectors = [v for v, _ in scope.reads((), "f") if v.dims == (index.into,)]
        if vectors and self.choices.chance(40) and not self.complex:
            vector = self.choices.pick(vectors).text
            operator = self.choices.pick(COMPARISONS)
            return f"{index.text} > 0 and {vector}[{index.text} - 1] {operator} {vector}[{index.text}]"
        return self.choices.pick((comparison, comparison, f"{index.text} % 2 == {self.choices.between(0, 1)}"))

    def chained(self, scope, depth):
        middle = self.leaf(scope, (), "f")
        if self.complex:
            return f"0 <= abs({middle.text}) < 1"
        low, high = self.choices.pick((("-1", "1"), ("0", "1.5"), ("-0.5", "0.5")))
        return f"{low} {self.choices.pick(('<', '<='))} {middle.text} {self.choices.pick(('<', '<='))} {high}"

    def flag(self, scope, depth):
        reads = scope.reads((), "b")
        if reads:
            return self.read(scope, *self.choices.pick(reads)).text
        dim = self.vector_dim(scope)
        inner = dim and self.tensor(scope, (dim,), "f", 0)
        if not inner or self.complex:
            return self.comparison(scope, depth)
        return f"({inner.text} > {self.constant().text}).{self.choices.pick(('any', 'all'))}()"

    def both(self, scope, depth):
        word = self.choices.pick(("and", "or"))
        return f"({self.condition(scope, depth)}) {word} ({self.condition(scope, depth)})"

    def negation(self, scope, depth):
        return f"not ({self.condition(scope, depth)})"
