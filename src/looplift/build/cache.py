"""What is in the cache of compiled kernels and of regions that are remembered, and its removal."""

from __future__ import annotations

import contextlib
import re
import shutil
import time
from pathlib import Path

from looplift.base.data import dataclass
from looplift.build.compiler import cache_directory

NAME = re.compile(r'extern "C" (?:__attribute__\(\(noinline\)\) )?int (\w+?)(?:_forward)?\(')
LEFT_OVER = 3600
"""Seconds after which the folder of a compilation belongs to none that still runs."""


@dataclass(frozen=True)
class Entry:
    """A compiled kernel: ``name`` of its function, ``size`` in bytes with its text, ``made`` in seconds since 1970."""

    library: Path
    name: str
    size: int
    made: float


def entries() -> list[Entry]:
    """All kernels in the cache, the latest first."""
    found = []
    for library in _files("kernel-*.so"):
        with contextlib.suppress(FileNotFoundError):  # another process may clear the cache meanwhile
            found.append(_entry(library))
    return sorted(found, key=lambda entry: entry.made, reverse=True)


def _entry(library: Path) -> Entry:
    text, state = library.with_suffix(".cpp"), library.stat()
    name, size = "", state.st_size
    if text.exists():
        content = text.read_text()
        found = NAME.search(content)
        name, size = found[1] if found else "", size + len(content)
    return Entry(library, name, size, state.st_mtime)


def _files(pattern: str) -> list[Path]:
    return list(cache_directory().glob(pattern)) if cache_directory().is_dir() else []


def clear(older_than: float = 0.0) -> tuple[int, int]:
    """Remove the kernels that were made more than so many seconds ago, and what is remembered; how many, their bytes.

    A process that uses one keeps it in memory; one that needs it again compiles it anew. Raises OSError where the
    folder cannot be written.
    """
    limit = time.time() - older_than
    gone = [entry for entry in entries() if entry.made <= limit]
    for entry in gone:
        for file in (entry.library, entry.library.with_suffix(".cpp")):
            file.unlink(missing_ok=True)
    for file in (*_files("speed-*"), *_files("region-*")):
        with contextlib.suppress(FileNotFoundError):
            if file.stat().st_mtime <= limit:
                file.unlink()
    for folder in _files("build-*"):
        with contextlib.suppress(FileNotFoundError):
            if folder.stat().st_mtime <= min(limit, time.time() - LEFT_OVER):
                shutil.rmtree(folder)
    return len(gone), sum(entry.size for entry in gone)
