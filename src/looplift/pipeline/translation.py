"""Statements and the values of their names in, a function of the IR out, with constructors as the stages know them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from typing import Any


def translated(statements: list[ast.stmt], values: Mapping[str, Any], live_out: Iterable[str], **places: Any) -> Any:
    """``places``: the file, the name and the options of the translation. Raises NotLiftable."""
    from looplift.analysis.unbound import check

    function = as_written(statements, values, live_out, **places)
    check(function)
    if not function.attributes["unrecorded"]:
        return function
    from looplift.analysis.probe import analyse
    from looplift.analysis.unrecorded import with_detached
    from looplift.base.data import replace

    # of gradients that are written out later the kinds are known
    of_slopes = replace(function, attributes=function.attributes | {"slopes": True})
    return with_detached(function, analyse(of_slopes))


def as_written(statements: list[ast.stmt], values: Mapping[str, Any], live_out: Iterable[str], **places: Any) -> Any:
    """The same before what runs under ``torch.no_grad()`` is told from the rest."""
    from looplift.frontend.translate import translate
    from looplift.ir.grammar import Let, walk
    from looplift.ops.names import TENSOR_TYPES

    function = translate(statements, values, list(live_out), **places)
    if not any(isinstance(one, Let) and one.op.name in TENSOR_TYPES for one in walk(function.body)):
        return function
    from looplift.analysis.constructors import with_plain_constructors

    return with_plain_constructors(function)
