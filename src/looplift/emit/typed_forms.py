"""Statements over numbers, text and containers in, the first of several forms of them that is one program out."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from looplift.base.errors import NotLiftable
from looplift.emit.typed_attempts import without_attempts
from looplift.emit.typed_loop_names import with_versions_in_loops
from looplift.emit.typed_names import names_in_functions, with_versions
from looplift.emit.typed_optional_names import groups_of
from looplift.emit.typed_program import TypedProgram, Writer
from looplift.emit.typed_types import HoldsItself


def typed_program(
    body: list[ast.stmt],
    values: Mapping[str, Any],
    live_out: list[str],
    source_of: Callable[[Any], Any],
    others: list[Mapping[str, Any]] | None = None,
) -> TypedProgram:
    """``live_out``: names that are bound afterwards, or "return". ``others``: types of values that it is for, too.

    Raises NotLiftable.
    """
    try:
        return _of_some_form(body, values, live_out, source_of, others or [])
    except NotLiftable:
        raise
    except RecursionError:
        raise NotLiftable("unsupported-value", "types without an end") from None
    except Exception as error:
        raise NotLiftable("internal", f"{type(error).__name__}: {error}") from error


def _of_some_form(
    body: list[ast.stmt], values: Mapping[str, Any], live_out: list[str], source_of: Callable[[Any], Any], others: list
) -> TypedProgram:
    """The program of the first form that has one, and at best of one in which the dtypes of arrays are known."""
    refusals: list[NotLiftable] = []
    found: TypedProgram | None = None
    body = without_attempts(body)
    for form, named, optional in _forms(body, values, live_out):
        try:
            writer = Writer(
                form, values, live_out, source_of, others, has_named_dicts=named, has_optional_names=optional
            )
            program = writer.written()
        except NotLiftable as refusal:
            other_forms = refusal.code == "mixed-kinds" or isinstance(refusal, HoldsItself)
            if not refusals and not found and not other_forms:
                raise
            refusals.append(refusal)
        else:
            if not writer.mixes_arrays:
                return program
            found = program if named or not found else found
    if found is None:
        raise (refusals[1:] or refusals)[0]
    return found


def _forms(
    body: list[ast.stmt], values: Mapping[str, Any], live_out: list[str]
) -> Iterator[tuple[list[ast.stmt], bool, bool]]:
    """Statements, whether dicts have a type for each name, and whether each has some of them: as they are, and where
    names, or items of dicts, are of several kinds each by itself."""
    yield body, False, False
    held, is_whole = names_in_functions(body), live_out == ["return"]
    versions = with_versions_in_loops(body, set() if is_whole else {*live_out}, held)
    if is_whole:
        versions = with_versions(versions or body, {*values}, held)
    if versions is not None:
        yield versions, False, False
    yield body, True, False
    if versions is not None:
        yield versions, True, False
    if groups_of(list(values.values())):
        yield body, True, True
