"""The bytes of intermediate values in, whether they fit into memory out."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

SMALL = 2**26
"""Bytes that are always there: nothing is asked about free memory for less."""
SHARE = 4
"""Intermediate values may take the fourth part of the memory that is free."""
PIECE = 2**24
"""Bytes of the intermediate values of one piece, where a loop runs piece by piece; larger ones are not faster."""
SECONDS = 0.05
"""For so long what is free counts as known."""

_seen: dict[Any, tuple[float, int]] = {}


def fits(size: int, device: Any = None) -> bool:
    """Whether so many bytes of intermediate values may live at once in the memory of a device, or of the machine."""
    return size <= SMALL or size * SHARE <= free_bytes(device)


def free_bytes(device: Any = None) -> int:
    """Bytes that are free, as of just now."""
    moment = time.monotonic()
    seen = _seen.get(device)
    if seen is None or moment - seen[0] > SECONDS:
        found = _free_on_machine() if device is None or device.type == "cpu" else _free_on_device(device)
        _seen[device] = seen = moment, found
    return seen[1]


def _free_on_device(device: Any) -> int:
    import torch

    if device.type != "cuda":
        return _free_on_machine()
    kept = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    return torch.cuda.mem_get_info(device)[0] + kept


def _free_on_machine() -> int:
    free = _number_in("/proc/meminfo", "MemAvailable:", 1024)
    if free is None:
        free = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    limit, used = _number_in("/sys/fs/cgroup/memory.max"), _number_in("/sys/fs/cgroup/memory.current")
    if limit is None or used is None:
        return free
    return min(free, limit - used + (_number_in("/sys/fs/cgroup/memory.stat", "inactive_file") or 0))


def _number_in(path: str, word: str = "", unit: int = 1) -> int | None:
    """The number after a word in a file of the system; None if there is none."""
    try:
        words = Path(path).read_text().split()
        return int(words[words.index(word) + 1 if word else 0]) * unit
    except (OSError, ValueError, IndexError):
        return None
