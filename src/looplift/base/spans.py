"""Places in the user's source."""

from __future__ import annotations

import ast
from typing import cast

from looplift.base.data import dataclass


@dataclass(frozen=True)
class Span:
    """Lines and columns of a piece of source, as Python counts them: lines from 1, columns from 0."""

    line: int
    column: int = 0
    end_line: int = 0
    end_column: int = 0


NOWHERE = Span(0)


def span_of(node: ast.AST) -> Span:
    """The span of a syntax node; NOWHERE for one that was made, not parsed."""
    if not hasattr(node, "lineno"):
        return NOWHERE
    parsed = cast("ast.stmt | ast.expr", node)
    end_line = parsed.end_lineno or parsed.lineno
    return Span(parsed.lineno, parsed.col_offset, end_line, parsed.end_col_offset or parsed.col_offset)


def is_strict(call: ast.Call) -> bool | None:
    """Of a call of ``zip`` whether its arguments must be as long as one another; None where it says other things."""
    match call.keywords:
        case []:
            return False
        case [ast.keyword(arg="strict", value=ast.Constant(value=bool(strict)))]:
            return strict
    return None
