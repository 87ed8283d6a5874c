"""A region in, what ``torch.compile`` traces instead of its entry out; ``graphs.py`` makes it once something traces."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from looplift.runtime.dispatch import Dispatcher


class Numbered:
    """Functions as attributes: ``torch.compile`` guards each by itself, and sees those that are added meanwhile."""

    def __init__(self):
        self._functions: list[Callable[..., Any]] = []
        self.chosen = ""

    def name(self, function: Callable[..., Any]) -> str:
        if function not in self._functions:
            setattr(self, f"call_{len(self._functions)}", function)
            self._functions.append(function)
        return f"call_{self._functions.index(function)}"


def traced_entry(dispatcher: Dispatcher, names: Sequence[str]) -> Callable[..., Any]:
    """What ``torch.compile`` traces instead of a region's entry; ``names`` are those around the region that it reads,
    whose values it is given as well, so that the graph is guarded by them."""

    def look(context: Any) -> None:
        from looplift.runtime.graphs import seen_by

        shown = [context.get_local(name) for name in ("arguments", "outside")]
        arguments, outside = (one._i_will_not_complain_if_bc_breaks_VariableTracker() for one in shown)
        tracer = context._i_will_not_complain_if_bc_breaks_InstructionTranslator()
        calls.chosen = calls.name(seen_by(tracer, dispatcher, arguments, outside, names))

    def chosen() -> str:
        return calls.chosen

    chosen._dynamo_marked_constant = True  # pyright: ignore[reportFunctionMemberAccess]

    def traced(arguments: tuple[Any, ...], outside: tuple[Any, ...]) -> Any:
        from torch._dynamo.comptime import comptime

        comptime(look)
        return getattr(calls, chosen())(*arguments)

    calls = dispatcher.calls
    return traced
