"""Statements and the values of their names in, a function of the IR out, with constructors as the stages know them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from typing import Any


def translated(statements: list[ast.stmt], values: Mapping[str, Any], live_out: Iterable[str], **places: Any) -> Any:
    """``places``: the file, the name and the options of the translation. Raises NotLiftable."""
    from looplift.analysis.constructors import with_plain_constructors
    from looplift.frontend.translate import translate

    return with_plain_constructors(translate(statements, values, list(live_out), **places))
