"""What became of each loop: records in, text, HTML and JSON out."""

from __future__ import annotations

import json
import linecache
import os
import textwrap
from collections import Counter

from looplift.base import reasons
from looplift.base.data import dataclass, field
from looplift.base.spans import Span

DECISIONS = {
    "lanes": "all iterations run together",
    "scan": "all iterations are computed together, as a scan",
    "native": "runs as compiled code",
    "sequential": "runs step by step, with all the work inside a step batched",
    "waves": "operations that are ready run together, in waves",
    "lists": "the loop runs as it is, over lists of numbers instead of tensors",
    "kept": "runs as written",
}
"""Each decision, and what it means in one clause."""


@dataclass(frozen=True)
class Mark:
    """A piece of one source line: ``source`` is the whole line, the columns count from 0."""

    line: int
    source: str
    column: int
    end_column: int


@dataclass
class LoopRecord:
    """One loop of the user's source and its history.

    ``reason`` is one sentence in the author's names ("" where the loop was lifted), ``code`` its entry in the registry
    of reasons. ``mark`` points at what the reason is about, where that is not the loop's own line. ``seconds`` is the
    time spent in lifted code over ``calls`` calls, ``original_seconds`` an estimate for the loop, None if not known.
    """

    file: str
    line: int
    decision: str
    reason: str = ""
    code: str = ""
    source: str = ""
    notes: list[str] = field(default_factory=list)
    function: str = ""
    calls: int = 0
    seconds: float = 0.0
    original_seconds: float | None = None
    mark: Mark | None = None

    @property
    def lifted(self) -> bool:
        return self.decision != "kept"

    @property
    def hint(self) -> str:
        """What the author can do about a kept loop; empty for a lifted one."""
        return reasons.REASONS[self.code].hint if self.code in reasons.REASONS and not self.lifted else ""

    @property
    def sentence(self) -> str:
        """The reason, or what the decision means."""
        if self.reason:
            return self.reason
        if self.code in reasons.REASONS:
            return reasons.REASONS[self.code].title
        return DECISIONS.get(self.decision, self.decision)

    @property
    def seconds_saved(self) -> float | None:
        return None if self.original_seconds is None else self.original_seconds - self.seconds

    def __str__(self) -> str:
        return "\n".join(_lines_of(self))


@dataclass
class Report:
    """All loops of one callable or script, in the order of the source."""

    loops: list[LoopRecord] = field(default_factory=list)

    def __str__(self) -> str:
        return "\n\n".join([_summary(self.loops), *map(str, self.loops)])

    def _repr_html_(self) -> str:
        import html  # rarely needed, and not quick to import

        rows = "".join(map(_html_of, self.loops))
        heading = f"<style>{_STYLE}</style><h4>{html.escape(_summary(self.loops))}</h4>"
        return f'<div class="looplift-report">{heading}{rows}</div>'

    def to_dict(self) -> dict:
        return {"loops": [vars(record) | _derived(record) for record in self.loops]}

    def to_json(self, *, indent: int | None = 1) -> str:
        """The records as JSON text, each with its hint and the seconds saved."""
        return json.dumps(self.to_dict(), indent=indent)


def mark_at(file: str, span: Span, line_offset: int = 0) -> Mark | None:
    """The marked line for a span; None if it cannot be read. ``line_offset`` is added to the span's line."""
    line = span.line + line_offset
    source = linecache.getline(file, line).rstrip("\n")
    if not source.strip():
        return None
    start = _characters(source, span.column)
    end = _characters(source, span.end_column) if span.end_line == span.line else len(source)
    return Mark(line, source, start, max(end, start + 1))


def source_line(file: str, line: int) -> str:
    """The text of one source line without its indentation, empty if it cannot be read."""
    return linecache.getline(file, line).strip()


def _characters(source: str, utf8_column: int) -> int:
    """A column of the syntax tree counts bytes of UTF-8; this is the same in characters."""
    return len(source.encode()[:utf8_column].decode(errors="ignore"))


def _derived(record: LoopRecord) -> dict:
    mark = None if record.mark is None else dict(vars(record.mark))
    return {"notes": [*record.notes], "mark": mark, "hint": record.hint, "seconds_saved": record.seconds_saved}


def _summary(records: list[LoopRecord]) -> str:
    if not records:
        return "no loops"
    counts = Counter(record.decision for record in records)
    parts = [f"{counts[name]} {name}" for name in (*DECISIONS, *(set(counts) - set(DECISIONS))) if counts[name]]
    return f"{len(records)} loop{'s' * (len(records) != 1)}: {', '.join(parts)}"


def _headline(record: LoopRecord) -> str:
    inside = f" in {record.function}" if record.function and record.function != "<module>" else ""
    code = f" [{record.code}]" if record.code and not record.lifted else ""
    return f"{_short_path(record.file)}:{record.line}{inside}: {record.decision}{code}"


def _short_path(path: str) -> str:
    """Relative to the working directory where that is shorter."""
    try:
        relative = os.path.relpath(path)
    except (ValueError, OSError):
        return path
    return relative if os.path.isabs(path) and len(relative) < len(path) else path


def _excerpt(record: LoopRecord) -> tuple[int, str, str] | None:
    """Line number, source line and carets; the indentation that all lines share is gone."""
    mark = record.mark
    if mark is not None:
        text = mark.source.lstrip()
        cut = len(mark.source) - len(text)
        start = max(mark.column - cut, 0)
        return mark.line, text, " " * start + "^" * max(min(mark.end_column - cut, len(text)) - start, 1)
    text = record.source.strip()
    return (record.line, text, "^" * len(text)) if text else None


def _timing(record: LoopRecord) -> str:
    if not record.calls or not record.lifted:
        return ""
    times = f"{record.calls} call{'s' * (record.calls != 1)} in {readable_seconds(record.seconds)}"
    if record.original_seconds is None:
        return times
    return f"{times}, about {readable_seconds(record.original_seconds)} as written"


def readable_seconds(seconds: float) -> str:
    """A duration with three digits and a unit that suits it."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if abs(seconds) >= size:
            return f"{seconds / size:.3g} {unit}" if abs(seconds / size) < 1000 else f"{seconds / size:,.0f} {unit}"
    return "0 s" if not seconds else f"{seconds / 1e-9:.3g} ns"


def readable_bytes(size: int) -> str:
    """A size in memory or on disk with a unit that suits it."""
    for unit, name in ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if size >= unit:
            return f"{size / unit:.1f} {name}"
    return f"{size} bytes"


def _lines_of(record: LoopRecord):
    yield _headline(record)
    excerpt = _excerpt(record)
    if excerpt is not None:
        number, text, carets = excerpt
        yield f"  {number} | {text}"
        yield f"  {' ' * len(str(number))} | {carets}"
    yield _wrapped(record.sentence)
    if record.hint:
        yield _wrapped(f"what to do: {record.hint}")
    for note in record.notes:
        yield _wrapped(f"note: {note}")
    if timing := _timing(record):
        yield f"  {timing}"


def _wrapped(sentence: str) -> str:
    return textwrap.fill(sentence, 100, initial_indent="  ", subsequent_indent="    ", break_long_words=False)


def _html_of(record: LoopRecord) -> str:
    from html import escape

    code = f'<span class="code">{escape(record.code)}</span>' if record.code and not record.lifted else ""
    inside = f" in {escape(record.function)}" if record.function and record.function != "<module>" else ""
    badge = f'<span class="badge {escape(record.decision)}">{escape(record.decision)}</span>'
    place = f'<span class="place">{escape(_short_path(record.file))}:{record.line}{inside}</span>'
    parts = [f"<header>{badge}{code}{place}</header>"]
    if excerpt := _excerpt(record):
        number, text, carets = excerpt
        start = len(carets) - len(carets.lstrip())
        marked = text[start : len(carets)]
        parts.append(
            f'<pre><span class="number">{number}</span>{escape(text[:start])}<mark>{escape(marked)}</mark>'
            f"{escape(text[len(carets) :])}</pre>"
        )
    parts.append(f"<p>{escape(record.sentence)}</p>")
    if record.hint:
        parts.append(f'<p class="hint"><b>what to do</b> {escape(record.hint)}</p>')
    parts += [f'<p class="note"><b>note</b> {escape(note)}</p>' for note in record.notes]
    if timing := _timing(record):
        parts.append(f'<p class="note">{escape(timing)}</p>')
    return f'<section class="{escape(record.decision)}">{"".join(parts)}</section>'


_STYLE = """
.looplift-report { font: 14px/1.5 system-ui, sans-serif; max-width: 60em; color: inherit; }
.looplift-report h4 { font-size: 1em; font-weight: 600; margin: 0 0 .6em; }
.looplift-report section { border-left: 3px solid #2e9e5b; padding: .1em 0 .1em .9em; margin: 0 0 1.1em; }
.looplift-report section.kept { border-color: #d08a1d; }
.looplift-report header { display: flex; flex-wrap: wrap; gap: .7em; align-items: baseline; }
.looplift-report .badge { background: #2e9e5b26; border-radius: .3em; padding: 0 .5em; font-weight: 600; }
.looplift-report .badge.kept { background: #d08a1d33; }
.looplift-report .code, .looplift-report .place { font-family: ui-monospace, monospace; font-size: .92em;
  opacity: .75; }
.looplift-report .place { margin-left: auto; }
.looplift-report pre { font: .92em/1.5 ui-monospace, monospace; background: #88888818; color: inherit;
  border-radius: .3em; padding: .35em .7em; margin: .45em 0; overflow-x: auto; }
.looplift-report pre .number { opacity: .5; margin-right: 1.2em; user-select: none; }
.looplift-report pre mark { background: none; color: inherit; text-decoration: underline 2px #2e9e5b;
  text-underline-offset: 3px; }
.looplift-report section.kept pre mark { text-decoration-color: #d08a1d; }
.looplift-report p { margin: .2em 0; }
.looplift-report .hint b, .looplift-report .note b { font-weight: 600; margin-right: .3em; }
.looplift-report .note { opacity: .75; }
"""
