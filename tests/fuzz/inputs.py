"""The arguments of a random program: lines that build each from a seed, and the values that the program can read."""

from dataclasses import dataclass, replace

from .expressions import bare
from .vocabulary import Value

MAIN_SIZES = ((4, 3, 2), (5, 3, 2), (3, 4, 2), (4, 4, 3), (6, 2, 3))
OTHER_SIZES = ((7, 4, 2), (2, 5, 3), (3, 3, 3), (5, 2, 1))
EDGE_SIZES = ((1, 3, 2), (2, 1, 1), (1, 1, 1), (0, 3, 2), (3, 0, 2), (2, 2, 2), (0, 0, 1), (1, 4, 0))
FLOAT_TYPES = ((12, "float32"), (6, "float64"), (1, "float16"), (1, "bfloat16"), (1, "complex64"))
NUMPY_FLOAT_TYPES = ((8, "float64"), (6, "float32"), (1, "float16"))
INTEGER_TYPES = ((8, "int64"), (3, "int32"), (1, "int16"), (1, "int8"), (1, "uint8"))


@dataclass
class Argument:
    """One parameter: `build` are lines that assign it, given `seed`, `g` and the extents; `values` what can be read."""

    name: str
    build: list
    values: tuple
    role: str = "value"


class Inputs:
    """Chooses the arguments of one program."""

    def __init__(self, choices, library, float_type, gradients):
        self.choices = choices
        self.library = library
        self.float_type = float_type
        self.gradients = gradients
        self.extents = ("n", "m", "k") if choices.chance(15) else ("n", "m")
        self.arguments = []

    # ---- texts that build arrays

    def array(self, shape, dtype):
        """Text of a contiguous array of random values, quarters with many ties or normal ones."""
        if self.library.name == "np":
            text = f"g.normal(size=({', '.join(shape)},))"
            text = f"(np.round({text} * 2) / 2)" if self.choices.chance(35) else text
            return f"{text}.astype(np.{dtype})"
        text = f"torch.randn({', '.join(shape)}, generator=g)"
        text = f"(({text} * 2).round() / 2)" if self.choices.chance(35) else text
        return text if dtype == "float32" else f"{text}.to(torch.{dtype})"

    def layout(self, shape, dtype):
        """(text, writable) of an array, often contiguous, at times strided, transposed, expanded or overlapping."""
        rank, first = len(shape), shape[0]
        options = [(14, (self.array(shape, dtype), True))]
        options += [(1, (self.array((f"2 * {first}", *shape[1:]), dtype) + "[::2]", True))]
        options += [(1, (self.array((f"{first} + 1", *shape[1:]), dtype) + "[1:]", True))]
        if rank == 2:
            options += [(2, (self.array(shape[::-1], dtype) + (".T" if self.library.name == "np" else ".t()"), True))]
            options += [(1, (self.array((first, f"2 * {shape[1]}"), dtype) + "[:, 1::2]", True))]
        if self.library.name == "torch":
            repeated = self.array(("1", *shape[1:]), dtype)
            options += [(1, (f"{repeated}.expand({', '.join(shape)})", False))]
        else:
            options += [(1, (self.array(shape, dtype) + "[::-1]", True))]
        if rank == 2 and self.library.name == "torch":
            overlapping = f"{self.array((f'{first} + {shape[1]}',), dtype)}.as_strided(({', '.join(shape)}), (1, 1))"
            options += [(1, (overlapping, self.choices.chance(30)))]
        return self.choices.weighted(options)

    def integers(self, shape, high, dtype="int64"):
        if self.library.name == "np":
            return f"g.integers(0, max({high}, 1), size=({', '.join(shape)},)).astype(np.{dtype})"
        return f"torch.randint(0, max({high}, 1), ({', '.join(shape)},), generator=g).to(torch.{dtype})"

    # ---- arguments

    def add(self, name, build, *values, role="value"):
        self.arguments.append(Argument(name, build if isinstance(build, list) else [f"{name} = {build}"], values, role))

    def float_tensor(self, name, shape):
        other = self.choices.chance(8) and self.float_type != "complex64"
        dtype = self.choices.pick(("float64", "float32")) if other else self.float_type
        text, writable = self.layout(shape, dtype)
        build = [f"{name} = {bare(text)}"]
        needs_gradient = self.gradients and self.choices.chance(70)
        if needs_gradient:
            build.append(f"{name}.requires_grad_(seed != 2)")
        elif self.choices.chance(6) and len(shape) == 2:
            swap = "np.asfortranarray({})" if self.library.name == "np" else "{}.t().contiguous().t()"
            build.append(f"if seed % 5 == 4:\n    {name} = {swap.format(name)}")
        elif self.choices.chance(4) and self.float_type == "float32":
            change = "{}.astype(np.float64)" if self.library.name == "np" else "{}.double()"
            build.append(f"if seed == 3:\n    {name} = {change.format(name)}")
        self.add(name, build, Value(name, dims=shape, writable=writable and not needs_gradient))

    def shared(self, name):
        """An argument that shares its storage with another one, always or only on some calls."""
        options = [
            a
            for a in self.arguments
            if a.role == "value" and a.values[0].form == "tensor" and a.values[0].category == "f"
        ]
        options = [
            a
            for a in options
            if "requires_grad" not in "".join(a.build) and a.values[0].dims and a.values[0].kind == "tensor"
        ]
        if not options:
            return
        other = self.choices.pick(options)
        value = other.values[0]
        forms = [f"{name} = {other.name}", f"{name} = {other.name}[:]"]
        flipped = f"np.flip({other.name})" if self.library.name == "np" else f"{other.name}.flip(0)"
        forms += [f"{name} = {other.name} if seed >= 3 else {other.name}.{self.library.clone}()"]
        if self.library.name == "np":
            forms += [f"{name} = {flipped}"]
        if len(value.dims) == 1:
            first = value.dims[0]
            base = self.array((f"{first} + 1",), self.float_type)
            other.build = [f"base = {base}", f"{other.name} = base[:-1]"]
            forms = [f"{name} = base[1:]"] if self.choices.chance(60) else forms
        self.add(name, [self.choices.pick(forms)], replace(value, text=name, writable=value.writable))

    def table(self, name, dim, into):
        """Indices: a tensor or a list of integers that are valid for an extent."""
        high = f"min({into}, 2)" if self.choices.chance(25) else into
        if self.choices.chance(65):
            dtype = self.choices.weighted(((6, "int64"), (2, "int32"))) if self.library.name == "torch" else "int64"
            self.add(name, self.integers((dim,), high, dtype), Value(name, "tensor", "i", (dim,), into))
        else:
            self.add(
                name,
                self.integers((dim,), high) + ".tolist()",
                Value(name, "number", "i", (dim,), into, form="numbers"),
            )

    def ragged(self, name, dim, into):
        text = f"[{self.integers(('(r * 7 + seed) % 4',), into)}.tolist() if {into} else [] for r in range({dim})]"
        self.add(name, text, Value(name, "number", "i", (dim,), into), role="ragged")

    def rows(self, name, shape):
        text = f"[{self.array(shape[1:], self.float_type)} for _ in range({shape[0]})]"
        build = [f"{name} = {text}"]
        if self.gradients and self.choices.chance(50):
            build.append(f"for row in {name}:\n    row.requires_grad_()")
        self.add(name, build, Value(name, dims=shape, form="tensors"))

    def uneven(self, name, dim):
        shape = "(1 + (r * 5 + seed) % 3)"
        self.add(
            name,
            f"[{self.array((shape,), self.float_type)} for r in range({dim})]",
            Value(name, dims=(dim, "?")),
            role="uneven",
        )

    def numbers(self, name, dim):
        text = f"{self.array((dim,), 'float64')}.tolist()"
        self.add(name, text, Value(name, "number", "f", (dim,), form="numbers"))

    def scalar(self, name):
        form = self.choices.between(0, 3)
        if form == 0:
            self.add(
                name, self.choices.pick(("0.75 + 0.1 * seed", "1.25", "0.3 - 0.2 * seed")), Value(name, "number", "f")
            )
        elif form == 1:
            self.add(name, "2 + seed % 3", Value(name, "number", "i"))
        else:
            dtype = self.float_type if self.choices.chance(75) else "float32"
            text = (
                f"np.{dtype}(0.5 + seed)"
                if self.library.name == "np"
                else f"torch.tensor(0.5 + 0.25 * seed, dtype=torch.{dtype})"
            )
            build = [f"{name} = {text}"]
            if self.gradients and self.choices.chance(60):
                build.append(f"{name}.requires_grad_()")
            self.add(name, build, Value(name))

    def choose(self):
        """Fills `arguments`: always a float tensor or two, the rest by chance."""
        chance, pick, extents = self.choices.chance, self.choices.pick, self.extents
        self.float_tensor("x", pick((("n",), ("n",), ("n", "m"), ("n", "m"), ("m", "n"))))
        if chance(75):
            self.float_tensor("y", pick((("n",), ("m",), ("n", "m"), ("m", "m"), ("n",))))
        if chance(15):
            self.float_tensor("cube", ("n", "m", extents[-1]))
        if chance(15):
            self.shared("twin")
        if chance(40):
            self.table("idx", "n", pick(("n", "m")))
        if chance(25):
            self.ragged("near", "n", pick(("n", "m")))
        if chance(15):
            dtype = self.choices.weighted(INTEGER_TYPES)
            self.add("steps", self.integers(("n",), "5", dtype), Value("steps", "tensor", "i", ("n",), writable=True))
        if chance(15):
            flags = self.integers(("n",), "2") + (".astype(bool)" if self.library.name == "np" else ".bool()")
            self.add("mask", flags, Value("mask", "tensor", "b", ("n",)))
        if chance(12):
            self.rows("rows", ("n", "m"))
        if chance(10):
            self.uneven("uneven", "n")
        if chance(15):
            self.numbers("numbers", pick(("n", "m")))
        if chance(30):
            self.scalar("scale")
        if chance(6):
            self.add("log", "[]", role="log")
        if chance(6):
            self.add("totals", "{0: 1.0, 5: 2}", role="table")
        if chance(6):
            self.add("pairs", "[((r * 3) % max(n, 1), r % max(m, 1)) for r in range(4) if n and m]", role="pairs")
        return self.arguments


def arguments_source(arguments, sizes, extents, library):
    """The text of `arguments(seed)`; each seed has its sizes."""
    first = "g = np.random.default_rng(seed)" if library.name == "np" else "g = torch.Generator().manual_seed(seed)"
    lines = [
        f"SIZES = {list(sizes)!r}",
        "",
        "",
        "def arguments(seed):",
        f"    {', '.join(extents)} = SIZES[seed % {len(sizes)}]",
        f"    {first}",
    ]
    for argument in arguments:
        lines += [
            "    " + line
            for text in argument.build
            if text != f"{argument.name} = {argument.name}"
            for line in text.split("\n")
        ]
    names = ", ".join(a.name for a in arguments)
    return [*lines, f"    return ({names},)"]
