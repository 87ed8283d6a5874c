"""Code made from a part of the user's file: where its lines really are, and tracebacks that show only them.

A made function has a file name of its own, so that its source can be read; tracebacks name the user's file and lines.
"""

from __future__ import annotations

import functools
import linecache
import os
import sys
import threading
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

from looplift.base.data import dataclass

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


def clean_tracebacks() -> None:
    """From now on, tracebacks made in Python show the frames that the program would have without looplift.

    That is what ``traceback`` and ``logging`` print; uncaught exceptions of threads come this way too.
    """
    plain_init = traceback.TracebackException.__init__

    @functools.wraps(plain_init)
    def clean_init(self, *arguments, **keywords):
        plain_init(self, *arguments, **keywords)
        self.stack = traceback.StackSummary.from_list(list(_as_written(self.stack)))

    traceback.TracebackException.__init__ = clean_init
    if threading.excepthook is threading.__excepthook__:
        threading.excepthook = _thread_exception


def _thread_exception(what: threading.ExceptHookArgs) -> None:
    """As ``threading.__excepthook__``, in Python."""
    if what.exc_type is SystemExit or what.exc_value is None:
        return
    name = what.thread.name if what.thread is not None else threading.get_ident()
    print(f"Exception in thread {name}:", file=sys.stderr, flush=True)
    traceback.print_exception(what.exc_value)


def print_exception(error: BaseException) -> None:
    """What the interpreter does with an uncaught exception."""
    if sys.excepthook is sys.__excepthook__:
        traceback.print_exception(error)
    else:
        sys.excepthook(type(error), error, without_own_frames(error.__traceback__))


def without_own_frames(trace: TracebackType | None) -> TracebackType | None:
    """The traceback without the frames of looplift."""
    if trace is None:
        return None
    rest = without_own_frames(trace.tb_next)
    if _is_own(trace.tb_frame.f_code.co_filename):
        return rest
    return TracebackType(rest, trace.tb_frame, trace.tb_lasti, trace.tb_lineno)


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
    # a function calls itself without looplift in between, its regions with
    return through_looplift and (following.filename, following.name) == (frame.filename, frame.name)


def _moved(frame: traceback.FrameSummary, origin: Origin) -> traceback.FrameSummary:
    def line(number: int | None) -> int | None:
        return None if number is None else number + origin.line_offset

    def column(number: int | None) -> int | None:
        return None if number is None else number - origin.columns

    return traceback.FrameSummary(
        origin.file,
        line(frame.lineno),
        "<module>",
        locals=frame.locals,
        end_lineno=line(frame.end_lineno),
        colno=column(frame.colno),
        end_colno=column(frame.end_colno),
    )
