"""Handles of rows that are not computed yet, and the tables that they lie in.

The text between the two marks is also part of each emitted program, which so runs without this package.
"""

from __future__ import annotations

# --- begin ---
from typing import Any


class Handle:
    """One row of a table that is not computed yet. Whoever needs its value gets an error."""

    __slots__ = ("row", "table")

    def __init__(self, table, row):
        self.table = table
        self.row = row

    def _refuse(self, *_):
        raise NotImplementedError("the value of a tensor is needed before its wave has run")

    __bool__ = __len__ = __iter__ = __getitem__ = __float__ = __int__ = __index__ = __str__ = __format__ = _refuse
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __add__ = __radd__ = __mul__ = __rmul__ = _refuse
    __repr__ = __getattr__ = __contains__ = __call__ = __sub__ = __neg__ = __matmul__ = __pow__ = _refuse
    __hash__ = object.__hash__


class Table:
    """One output of a group: row ``k`` lies at ``start + k`` of ``value``, or is ``value`` if ``shared``.

    ``where``: if rows differ in shape, or are sums, for each a handle of another table. ``wanted``: of sums that go
    on from one another, the rows that something else reads; only these have a value.
    """

    __slots__ = ("level", "mask", "offset", "rows", "shared", "start", "taken", "value", "wanted", "where")

    def __init__(self, level, mask, rows):
        self.level = level
        self.mask = mask
        self.rows = rows
        self.value: Any = None
        self.shared = False
        self.start = 0
        self.taken = False
        self.where: Any = None
        self.wanted: Any = None


class MixedShapes(Exception):
    """Tensors of several shapes or dtypes meet in one argument."""


# --- end ---
