"""Calls that run as written, again and again, in; a question in front of all guards that lets them through out.

Guards tell apart kinds of arguments down to what is in containers, and read torch's modes: some microseconds, which is
more than a loop of a few iterations takes. Running as written is right for any arguments. So where a region did that
often, and briefly, calls with arguments of the same types and about the same sizes are not asked for more.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from looplift.runtime import guards

if TYPE_CHECKING:
    from looplift.runtime.dispatch import Dispatcher, Variant

OFTEN = 300
"""So many calls of a variant without batched code, and one is timed."""
BRIEF = 1e-4
"""Seconds of such a call, to which guards add little."""
MOST = 4
"""Kinds of arguments that are let through."""


def counted(dispatcher: Dispatcher, variant: Variant) -> Callable[..., Any]:
    """The statements as written, for a variant that runs them."""
    original = dispatcher.program.original
    if variant.heat >= OFTEN:
        return original

    def call(*arguments: Any) -> Any:
        variant.heat += 1
        return _timed(dispatcher, variant, arguments) if variant.heat == OFTEN else original(*arguments)

    return call


def _timed(dispatcher: Dispatcher, variant: Variant, arguments: tuple[Any, ...]) -> Any:
    conditions = _conditions(dispatcher, arguments)  # before the call, which may add items
    start = time.perf_counter()
    result = dispatcher.program.original(*arguments)
    if time.perf_counter() - start < BRIEF and conditions and len(dispatcher.hot) < MOST:
        dispatcher.hot.append(" and ".join(conditions))
        dispatcher.install()
    return result


def _conditions(dispatcher: Dispatcher, arguments: tuple[Any, ...]) -> list[str]:
    """Conditions for arguments of the same types, of at most about twice their size; none where they have no size."""
    writer, named = dispatcher.writer, dict(zip(dispatcher.program.arguments, arguments, strict=True))
    limits = [text for name, value in named.items() for text in guards.size_limits(writer, name, value)]
    return [*(writer.type_is(name, value) for name, value in named.items()), *limits] if limits else []


def lines(dispatcher: Dispatcher) -> list[str]:
    """The lines of an entry that let calls through."""
    if not dispatcher.hot:
        return []
    arguments = ", ".join(dispatcher.program.arguments)
    return [
        "    _looplift_brief = False",
        "    try:",
        f"        _looplift_brief = {' or '.join(f'({one})' for one in dispatcher.hot)}",
        "    except _looplift_exception:",
        "        pass",
        "    if _looplift_brief:",
        f"        return _looplift_original({arguments})",
    ]
