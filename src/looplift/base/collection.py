"""Nothing in; a stretch of work without garbage collection out."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def no_collection() -> Iterator[None]:
    """What is made within lives on, mostly: a collection in the midst of it walks all of torch and finds nothing."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            _count_as_old()
            gc.enable()


def _count_as_old() -> None:
    """Put what is there among the old objects, so that the first thing that is made next need not look through it."""
    if gc.get_freeze_count() == 0:  # else somebody has frozen objects, and wants them to stay so
        gc.freeze()
        gc.unfreeze()
