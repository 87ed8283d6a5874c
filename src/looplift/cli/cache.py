"""``looplift cache``: the compiled kernels on disk, listed and cleared."""

from __future__ import annotations

import sys
import time

from rich.console import Console
from rich.table import Table

from looplift.base.report import readable_bytes
from looplift.build import cache
from looplift.build.compiler import cache_directory

LISTED = 20
DAY = 86400.0


def show_cache() -> int:
    """Prints where kernels are kept, how many, their size, and the latest of them."""
    found, console = cache.entries(), Console()
    console.print(f"{cache_directory()}: {_counted(len(found))}, {readable_bytes(sum(entry.size for entry in found))}")
    if not found:
        return 0
    table = Table("kernel", "size", "made")
    for entry in found[:LISTED]:
        table.add_row(entry.name or entry.library.stem, readable_bytes(entry.size), _age(time.time() - entry.made))
    console.print(table)
    if len(found) > LISTED:
        console.print(f"and {len(found) - LISTED} older ones")
    return 0


def clear_cache(days: float) -> int:
    """Removes kernels that were made more than so many days ago; 2 if the folder cannot be written."""
    if days < 0:
        print(f"looplift: --older-than must be a number of days from 0 on, not {days:g}", file=sys.stderr)
        return 2
    try:
        count, size = cache.clear(days * DAY)
    except OSError as problem:
        print(f"looplift: {cache_directory()} cannot be cleared: {problem}", file=sys.stderr)
        return 2
    print(f"removed {_counted(count)}, {readable_bytes(size)}")
    return 0


def _counted(count: int) -> str:
    return f"{count} kernel{'' if count == 1 else 's'}"


def _age(seconds: float) -> str:
    for unit, length in (("days", DAY), ("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit} ago"
    return f"{max(seconds, 0.0):.0f} seconds ago"
