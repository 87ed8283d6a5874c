"""Statements over numbers, text and containers in, the first of several forms of them that is one program out."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from looplift.base.errors import NotLiftable
from looplift.emit.typed_attempts import without_attempts
from looplift.emit.typed_groups import with_groups
from looplift.emit.typed_library_calls import check_worth
from looplift.emit.typed_loop_names import with_all_versions
from looplift.emit.typed_names import names_in_functions
from looplift.emit.typed_optional_names import groups_of
from looplift.emit.typed_program import TypedProgram, Writer
from looplift.emit.typed_ranges import with_lists_for_ranges
from looplift.emit.typed_types import MIXED, HoldsItself


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
    reached, lacks = [0], ""
    body = with_groups(with_lists_for_ranges(without_attempts(body), values, live_out))
    found, meets_items, in_versions = None, False, False
    for settings in ({}, {"writes_items": True}):
        for form, outs, more in _forms(body, values, live_out):
            is_mixed = found is None and any(one.code == "mixed-kinds" for one in refusals)
            if ("words_numbers" in more and not is_mixed) or (in_versions and more != {"has_versions": True}):
                continue
            writer: Writer | None = None
            try:
                writer = Writer(form, values, outs, source_of, others, **settings, **more)
                program = writer.written()
                check_worth(writer, form, _functions_of_users(writer))
            except NotLiftable as refusal:
                meets_items = meets_items or (writer is not None and writer.meets_items)
                reached.append(writer.line_reached if writer is not None else 0)
                lacks = lacks or _lacked(writer, refusal)
                other_forms = refusal.code == "mixed-kinds" or isinstance(refusal, HoldsItself) or meets_items
                if not refusals and not found and not other_forms:
                    in_versions = writer is not None and _mixes_numbers(writer)
                    if not in_versions:
                        refusal.reached, refusal.lacks = max(reached), lacks
                        raise
                refusals.append(refusal)
            else:
                if not writer.mixes_arrays:
                    return program
                found = program if writer.has_named_dicts or not found else found
                meets_items = meets_items or writer.meets_items
        if found is not None:
            return found
        if not meets_items:
            break
    refusal = refusals[0] if in_versions else (refusals[1:] or refusals)[0]
    refusal.reached, refusal.lacks = max(reached), lacks
    raise refusal


def _mixes_numbers(writer: Writer) -> bool:
    """Whether a name stands for numbers of several kinds, which it may do one after the other."""
    every = (writer.main, *writer.routines.values())
    return any(type_ is MIXED for routine in every for type_ in routine.types.values())


def _lacked(writer: Writer | None, refusal: NotLiftable) -> str:
    """What of the statements themselves has no form; "" of tensors, of which other forms know more."""
    if writer is None or not writer.line_reached or writer.joins.tensors or getattr(refusal, "node", None) is None:
        return ""
    return refusal.message


def _functions_of_users(writer: Writer) -> list[list[ast.stmt]]:
    """The bodies of functions that a program calls, but for those of this package, which are one operation each."""
    found = []
    for key, routine in writer.routines.items():
        function = next((one for one in (key if isinstance(key, tuple) else (key,)) if callable(one)), None)
        if not getattr(function, "__module__", "").startswith("looplift."):
            found.append(routine.body)
    return found


def _forms(
    body: list[ast.stmt], values: Mapping[str, Any], live_out: list[str]
) -> Iterator[tuple[list[ast.stmt], list[str], dict[str, bool]]]:
    """Statements, what they hand out, and settings of the writer: as they are, and where names, or items of dicts, are
    of several kinds each by itself."""
    yield body, live_out, {}
    held, is_whole = names_in_functions(body), live_out == ["return"]
    versions, last = with_all_versions(body, {*values}, set() if is_whole else {*live_out}, held)
    outs = [last.get(name, name) for name in live_out]
    yield versions, outs, {"has_versions": True}
    yield body, live_out, {"has_named_dicts": True, "has_versions": True}
    if is_whole or versions is not body:
        yield versions, outs, {"has_named_dicts": True, "has_versions": True}
    if groups_of(list(values.values())):
        yield body, live_out, {"has_named_dicts": True, "has_optional_names": True, "has_versions": True}
    yield versions, outs, {"words_numbers": True, "has_versions": True}
