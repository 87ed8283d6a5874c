"""Goals: dynamic programs over lists of numbers that are integers here and floats there."""

from .expressions import bare
from .goals import Goal
from .pieces import indented
from .sweeps import Sweeps
from .vocabulary import Value

STARTS = (
    "[0] + [float('inf')] * {n}", "[0] * ({n} + 1)", "[math.inf] * ({n} + 1)", "[1] + [0.5] * {n}", "[0.0] * ({n} + 1)",
    "[0 for _ in range({n} + 1)]", "[False] * ({n} + 1)",
)  # fmt: skip


class Tables(Sweeps):
    """A list, or a list of lists, that a nest of its own fills from what it filled before."""

    def table(self):
        dim, is_deep = self.choices.pick(self.extents[:2]), self.choices.chance(35)
        name, best = self.write.name("table"), self.write.name("best")
        start = self.choices.pick(STARTS).format(n=dim)
        first = self.choices.pick(("0", "0.0", "float('inf')", "-math.inf"))
        start = f"[{start} for _ in range(2)]" if is_deep else start
        prologue = [f"{name} = {start}", f"{best} = {first}"]

        def step(scope):
            if scope.depth >= 2:
                return None
            row, column = self.write.name("r"), self.write.name("c")
            values = [Value(row, "number", "i", (), dim, 1, 1), Value(column, "number", "i", (), dim, 1, 1)]
            inner = scope.child(*values, depth=3, in_loop=True, skippable=False)
            places = [f"{name}[{index % 2}]" if is_deep else name for index in range(2)]
            here, there = f"{places[1]}[{row}]", f"{places[0]}[{self.choices.pick((column, f'{row} - 1', '0', '-1'))}]"
            body = self._filled(inner, here, there, best, (row, column))
            return [
                f"for {row} in range(1, {dim} + 1):",
                *indented([f"for {column} in range({row}):", *indented(body)]),
            ]

        result = self.choices.pick((name, f"({name}, {best})", best, f"{name}[-1]"))
        return Goal(prologue, step, result)

    def _cost(self, scope, row, column):
        """A number: a literal, an index, or one of a tensor or array."""
        value = bare(self.write.leaf(scope, (), "f").text)
        texts = ("1", "1", row, column, "0.5", "-1", f"float({value})", f"int({value})", f"({row} - {column})")
        return self.choices.pick(texts)

    def _filled(self, scope, here, there, best, indices):
        cost = self._cost(scope, *indices)
        relaxed = f"{there} {self.choices.pick(('+', '+', '-', '*'))} {cost}"
        forms = (
            [f"{here} = {self.choices.pick(('min', 'max'))}({here}, {relaxed})"],
            [f"if {relaxed} {self.choices.pick(('<', '>', '!='))} {here}:", f"    {here} = {relaxed}"],
            [f"{here} {self.choices.pick(('+=', '-='))} {there}"],
            [f"{best} = {self.choices.pick(('min', 'max'))}({best}, {relaxed})", f"{here} = {best}"],
            [f"{here} = {there} if {self.write.condition(scope, 0)} else {cost}"],
        )
        return self.choices.pick(forms)
