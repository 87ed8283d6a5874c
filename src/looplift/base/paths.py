"""Paths: the Python expressions by which the values are reached that a region starts from."""

from __future__ import annotations

import re


def roots_of(path: str) -> set[str]:
    """The names by which a value is reached, of the path that leads to it."""
    return {path} if path.isidentifier() else set(re.findall(r"(?<![.\w])[A-Za-z_]\w*", path))
