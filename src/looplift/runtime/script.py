"""Code made from a part of the user's file: where its lines really are, and tracebacks that show only them.

A made function has a file name of its own, so that its source can be read; tracebacks name the user's file and lines.
"""

from __future__ import annotations

import linecache
import os
import sys
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

PACKAGE = str(Path(__file__).parents[1]) + os.sep


@dataclass(frozen=True)
class Origin:
    """Line ``k`` of a made source is line ``k + line_offset`` of ``file``, ``columns`` further to the left."""

    file: str
    line_offset: int
    columns: int = 0


_ORIGINS: dict[str, Origin] = {}


def register_source(text: str, origin: Origin) -> str:
    """Make a text readable by ``inspect`` and ``linecache``; returns the file name to compile it with."""
    name = f"<looplift {origin.file}:{origin.line_offset + 2}>"
    while name in _ORIGINS and linecache.getlines(name) != text.splitlines(keepends=True):
        name = f"{name[:-1]}'>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    _ORIGINS[name] = origin
    return name


def origin_of(file: str) -> Origin | None:
    """Where a made source comes from; None for a real file."""
    return _ORIGINS.get(file)


def print_exception(error: BaseException) -> None:
    """What the interpreter does with an uncaught exception, without the frames of looplift."""
    if sys.excepthook is not sys.__excepthook__:
        sys.excepthook(type(error), error, without_own_frames(error.__traceback__))
        return
    shown = traceback.TracebackException(type(error), error, error.__traceback__, compact=True)
    for part in _chain(shown):
        part.stack = traceback.StackSummary.from_list(list(_as_written(part.stack)))
    print(*shown.format(), sep="", end="", file=sys.stderr)


def without_own_frames(trace: TracebackType | None) -> TracebackType | None:
    """The traceback without the frames of looplift."""
    if trace is None:
        return None
    rest = without_own_frames(trace.tb_next)
    if _is_own(trace.tb_frame.f_code.co_filename):
        return rest
    return TracebackType(rest, trace.tb_frame, trace.tb_lasti, trace.tb_lineno)


def _chain(shown: traceback.TracebackException | None) -> Iterator[traceback.TracebackException]:
    """An exception, its causes and contexts, and the exceptions in a group."""
    if shown is None:
        return
    yield shown
    for part in (shown.__cause__, shown.__context__, *(getattr(shown, "exceptions", None) or ())):
        yield from _chain(part)


def _is_own(file: str) -> bool:
    return file.startswith(PACKAGE) or (file.startswith("<looplift") and file not in _ORIGINS)


def _as_written(stack: traceback.StackSummary) -> Iterator[traceback.FrameSummary]:
    """The frames that the user's program would have had."""
    kept = [place for place, frame in enumerate(stack) if not _is_own(frame.filename)]
    for place, following in zip(kept, [*kept[1:], None]):
        frame = stack[place]
        if following is None or not _continues(frame, stack[following], through_looplift=following > place + 1):
            origin = origin_of(frame.filename)
            yield frame if origin is None else _moved(frame, origin)


def _continues(frame: traceback.FrameSummary, following: traceback.FrameSummary, *, through_looplift: bool) -> bool:
    """Whether the second is a part of the code of the first: a loop of a module, or a region of a function."""
    origin = origin_of(following.filename)
    if origin is not None and frame.name == "<module>" and frame.filename == origin.file:
        return True
    same = (following.filename, following.name) == (frame.filename, frame.name)
    return same and through_looplift and (following.lineno or 0) >= (frame.lineno or 0)


def _moved(frame: traceback.FrameSummary, origin: Origin) -> traceback.FrameSummary:
    def line(number: int | None) -> int | None:
        return None if number is None else number + origin.line_offset

    def column(number: int | None) -> int | None:
        return None if number is None else number - origin.columns

    return traceback.FrameSummary(
        origin.file,
        line(frame.lineno),
        "<module>",
        locals=None,
        end_lineno=line(frame.end_lineno),
        colno=column(frame.colno),
        end_colno=column(frame.end_colno),
    )
