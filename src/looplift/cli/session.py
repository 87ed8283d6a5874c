"""What one ``looplift run`` has lifted: decorates functions, runs module loops, collects the records at the end."""

from __future__ import annotations

import types
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from looplift.base.report import LoopRecord, source_line
from looplift.cli.module_loops import LoopRunner
from looplift.cli.rewrite import ModuleLoop, Rewritten, rewrite
from looplift.runtime.script import origin_of

MOST_CLOSURES = 2
"""A function that is made again and again is lifted this often: each of them has variants of its own."""

NOT_RUN = "not-run"
"""The code of a loop that no call has reached."""


@dataclass
class Session:
    """The lifted callables of a run. ``lift`` is that of the public face."""

    lift: Callable[[types.FunctionType], Any]
    lifted: list[Any] = field(default_factory=list)
    kept: list[LoopRecord] = field(default_factory=list)
    _made: dict[types.CodeType, int] = field(default_factory=dict)

    def rewrite(self, source: bytes, text: str, filename: str) -> types.CodeType:
        """The code of a module with its loops lifted."""
        made: Rewritten = rewrite(source, text, filename, on_function=self.decorate, on_loop=self.runner)
        for refused in made.kept:
            line = source_line(filename, refused.line)
            record = LoopRecord(filename, refused.line, "kept", refused.sentence, refused.code, line)
            record.function = refused.function
            self.kept.append(record)
        return made.code

    def runner(self, loop: ModuleLoop) -> LoopRunner:
        return LoopRunner(loop, self._lift)

    def decorate(self, function: Any) -> Any:
        """The function lifted, which is a function still: classes, pickle and inspect treat it as the author's."""
        if not isinstance(function, types.FunctionType):
            return function
        count = self._made[function.__code__] = self._made.get(function.__code__, 0) + 1
        return function if count > MOST_CLOSURES else self._lift(function)

    def records(self) -> list[LoopRecord]:
        """One record for each loop that was reached or is known to stay, by file and line."""
        merged: dict[tuple[str, int], LoopRecord] = {(record.file, record.line): record for record in self.kept}
        for lifted in filter(_was_called, self.lifted):
            for record in map(_as_written, lifted.report().loops):
                if record.code == NOT_RUN:
                    continue
                place = (record.file, record.line)
                merged[place] = _merged(merged[place], record) if place in merged else record
        return sorted(merged.values(), key=lambda record: (record.file, record.line))

    def _lift(self, function: types.FunctionType) -> Callable:
        lifted = self.lift(function)
        self.lifted.append(lifted)
        return lifted


def _was_called(lifted: Any) -> bool:
    state = getattr(lifted, "__looplift_state__", None)
    return state is None or state.is_ready


def _as_written(record: LoopRecord) -> LoopRecord:
    """A record of made code moved to the user's file."""
    if record.function.startswith("__looplift"):
        record.function = "<module>"
    if origin := origin_of(record.file):
        record.file, record.line = origin.file, record.line + origin.line_offset
    record.source = record.source or source_line(record.file, record.line)
    return record


def _merged(one: LoopRecord, other: LoopRecord) -> LoopRecord:
    """Two records of the same loop: the decision is that of the one that ran more."""
    main, rest = (one, other) if one.calls > other.calls else (other, one)
    main.calls, main.seconds = one.calls + other.calls, one.seconds + other.seconds
    if rest.original_seconds is not None:
        main.original_seconds = (main.original_seconds or 0.0) + rest.original_seconds
    return main
