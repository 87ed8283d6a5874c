"""Loops over ranges in, the same twice out: with no checks of places where all of them are in their lists, and with.

for j in range(1, m):          if (r1.covers(minus(i1, 1), minus(n2, 1)) && r2.covers(i1, n2)) {
    new[j] = u[j - 1] + c        for (; i1 < n2; ++i1) r2.at[i1] = r1.at[i1 - 1] + v_c;
                               } else { for (; i1 < n2; ++i1) r2[v_j] = r1[v_j - 1] + v_c; }

What is left are loads and stores, which compilers vectorise.
"""

from __future__ import annotations

import ast
import re

from looplift.base.data import dataclass, field
from looplift.base.syntax import nodes_of
from looplift.emit.typed_expressions import element
from looplift.emit.typed_rows import Rows, Survey
from looplift.emit.typed_scope import Value, as_int
from looplift.emit.typed_told import assigned

_ITERATES = (ast.For, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_STEP = re.compile(r"(i\d+) < (n\d+)")
_MADE = re.compile(r"(?!return )\w[\w:<>, ]* (t\d+)(?: = .+)?;")
_MARK = re.compile(r"@(\d+)@")


@dataclass
class _Range:
    """An innermost loop over a range, whose head is at ``line``: its ``variable``, and from where to where it goes.

    ``forms``: of each element that is read or stored, without a check and with it; ``covered``: what the former needs.
    """

    variable: str
    survey: Survey
    line: int
    first: str
    end: str
    forms: list[tuple[str, str]] = field(default_factory=list)
    covered: dict[str, None] = field(default_factory=dict)


class Unchecked(Rows):
    """Loops in which places are the number of the iteration, or that and what does not change."""

    _range: _Range | None

    def no_rows(self) -> None:
        super().no_rows()
        self._range = None

    def loop_begins(self, node: ast.For | ast.While, test: str = "") -> None:
        super().loop_begins(node, test)
        survey, step = self.survey, _STEP.fullmatch(test)
        self._range = None
        if survey is None or step is None or not isinstance(node, ast.For) or not isinstance(node.target, ast.Name):
            return
        inner = any(isinstance(one, _ITERATES) for part in node.body for one in nodes_of(part))
        bound_again = any(node.target.id in assigned(part) for part in node.body)
        if not inner and not bound_again:
            self._range = _Range(node.target.id, survey, len(self.lines), step[1], step[2])

    def loop_ends(self) -> None:
        super().loop_ends()
        here, self._range = self._range, None
        if here is not None and here.forms:
            body = self.lines[here.line + 1 : -2]
            self.lines[here.line :] = [*self._twice(here, self.lines[here.line], body), "}"]

    def _twice(self, here: _Range, head: str, body: list[str]) -> list[str]:
        def written(form: int) -> list[str]:
            return [_in_full(line, [pair[form] for pair in here.forms]) for line in body]

        known = dict.fromkeys(made[1] for line in body if (made := _MADE.fullmatch(line)))
        anew = {name: self.fresh() for name in known}
        other = re.compile(rf"\b(?:{'|'.join(anew)})\b") if anew else None
        fast = [other.sub(lambda found: anew[found[0]], line) if other else line for line in written(0)]
        lines = [head, *fast, "}"]
        if not any("break;" in line for line in fast):
            part = self.fresh("n")
            lines = [
                f"while ({here.first} < {here.end}) {{",
                f"const I {part} = tick.until({here.first}, {here.end});",
                head.replace(here.end, part), *(line for line in fast if line != "tick();"), "}", "}",
            ]  # fmt: skip
        return [f"if ({' && '.join(here.covered)}) {{", *lines, "} else {", head, *written(1), "}", "}"]

    def _item(self, row: Value, index: Value, node: ast.AST) -> Value:
        checked, here = super()._item(row, index, node), self._range
        places = None if here is None else self._places(node.slice, here)  # type: ignore[attr-defined]
        if here is None or places is None:
            return checked
        first, end, at = places
        here.covered[f"{row.code}.covers({first}, {end})"] = None
        here.forms.append((f"{row.code}.at[{at}]", checked.code))
        return Value(element(row), f"@{len(here.forms) - 1}@")

    def _places(self, place: ast.expr, here: _Range) -> tuple[str, str, str] | None:
        """The place in the first iteration, that after the last one, and that in any; None if it is not seen how it
        moves."""
        first, end = here.first, here.end
        match place:
            case ast.UnaryOp():
                return None
            case ast.Name(id=here.variable):
                return first, end, first
            case ast.BinOp(left=ast.Name(id=here.variable), op=ast.Add() | ast.Sub() as op, right=other):
                sign, word = ("+", "plus") if isinstance(op, ast.Add) else ("-", "minus")
            case ast.BinOp(left=other, op=ast.Add(), right=ast.Name(id=here.variable)):
                sign, word = "+", "plus"
            case _:
                code = self._known(place, here)
                return None if code is None else (code, f"plus({code}, I(1))", code)
        code = self._known(other, here)
        return (
            None if code is None else (f"{word}({first}, {code})", f"{word}({end}, {code})", f"{first} {sign} {code}")
        )

    def _known(self, node: ast.expr, here: _Range) -> str | None:
        """An integer that is the same in all iterations."""
        if not self.is_known(node, here.survey):
            return None
        with self.block() as lines:
            code = as_int(self.expression(node))
        return None if lines else code


def _in_full(line: str, forms: list[str]) -> str:
    """A line with the elements in it written out, which may be the places of others."""
    while _MARK.search(line):
        line = _MARK.sub(lambda found: forms[int(found[1])], line)
    return line
