"""What the user asked for when lifting a function."""

from __future__ import annotations

from looplift.base.data import dataclass


@dataclass(frozen=True)
class Settings:
    """``backend`` and ``verify`` as in ``lift``; ``memory`` is a limit in bytes for intermediate values.

    ``in_graph``: the code is for a graph, which must know the sizes of a kernel's results.
    """

    backend: str = "auto"
    verify: str = "first"
    memory: int | None = None
    in_graph: bool = False
