"""Records of loops in, a table for the terminal out."""

from __future__ import annotations

import os

from rich.console import Console
from rich.table import Table
from rich.text import Text

from looplift.base.reasons import REASONS
from looplift.base.report import LoopRecord, readable_seconds

NOT_KNOWN = "–"
WIDTH = 120
"""Of a table that goes to a file."""
STYLES = {"kept": "yellow"}


def print_table(records: list[LoopRecord]) -> None:
    """To standard error, so that what the script prints can be piped on."""
    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:
        console.width = WIDTH
    if not records:
        console.print("looplift: no loop was reached")
        return
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("file", no_wrap=True, overflow="ellipsis")
    table.add_column("line", justify="right")
    table.add_column("loop", no_wrap=True, overflow="ellipsis", max_width=40)
    table.add_column("what became of it")
    table.add_column("time saved", justify="right", no_wrap=True)
    for record in records:
        outcome = Text(record.decision, STYLES.get(record.decision, "green"))
        if reason := _short_reason(record):
            outcome.append(f": {reason}", "default")
        table.add_row(_short(record.file), str(record.line), Text(record.source.strip()), outcome, _saved(record))
    console.print()
    console.print(table)


def _short_reason(record: LoopRecord) -> str:
    if record.lifted:
        return ""
    return record.reason or (REASONS[record.code].title if record.code in REASONS else record.code)


def _saved(record: LoopRecord) -> str:
    saved = record.seconds_saved
    return NOT_KNOWN if saved is None or not record.lifted else readable_seconds(saved)


def _short(file: str) -> str:
    relative = os.path.relpath(file)
    return relative if len(relative) < len(file) else file
