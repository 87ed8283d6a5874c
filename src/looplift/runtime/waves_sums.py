"""Recorded additions in, sums out.

The text between the two marks is also part of each emitted program, which so runs without this package.
"""

from __future__ import annotations

# --- begin ---
from typing import Any

import torch

from looplift.runtime.waves_batches import Batches
from looplift.runtime.waves_tables import Handle, Table


class Sums(Batches):
    """Sums that go on from one another are one addition of all that they add."""

    def __init__(self, given=()):
        Batches.__init__(self, given)
        self.groups: Any = []
        self.open: Any = []  # tables of groups by key, of each point
        self.bits: Any = {}
        self.continued: Any = {}  # of each table of sums the rows from which another goes on

    def summing(self, function, plain, base):
        """``before + value``, recorded as more of the sum that ``before`` is, where that is one already."""
        groups = {}
        self.open.append(groups)

        def record(before: Any, value: Any):
            if before.__class__ is not Handle or value.__class__ is not Handle:
                return plain(before, value)
            table, other = before.table, self.read(value).table
            ends = self.continued.get(table)
            if ends is None or before.row in ends or other.level >= table.level or other.mask & ~table.mask:
                self.read(before)
                key = max(base, table.level + 1, other.level + 1), table.mask | other.mask
                table = groups.get(key)
                if table is None:
                    table = groups[key] = self.sums(function, *key)
            else:
                ends.add(before.row)
            table.rows.append((before, value))
            return Handle(table, len(table.rows) - 1)

        return record

    def sums(self, function, level, mask):
        """A table of sums."""
        bit = self.bit_of((function, "sum"))
        table = Table(level, mask | bit, [])
        table.wanted, self.continued[table] = set(), set()
        self.groups.append((level, bit, table.rows, [table], function, "sum"))
        return table

    def bit_of(self, key):
        """One bit for each result of a point, and for each tensor given from outside that wants a gradient."""
        return self.bits.setdefault(key, 1 << len(self.bits))

    def read(self, handle):
        """The handle, of which the value will be needed."""
        if handle.table.wanted is not None:
            handle.table.wanted.add(handle.row)
        return handle

    def add_up(self, addition, tables):
        """Sums that go on from one another, from each row that something else reads to the next at once."""
        rounds = []
        for table in tables:
            table.where, unfinished, finished = [None] * len(table.rows), {}, {}
            for row, (before, value) in enumerate(table.rows):
                number, values = 0, []
                if before.table is table and before.row in unfinished:
                    number, before, values = unfinished.pop(before.row)
                elif before.table is table:
                    number = finished[before.row] + 1
                values.append(value)
                if row in self.continued[table] and row not in table.wanted:
                    unfinished[row] = number, before, values
                    continue
                finished[row] = number
                rounds += [[]] if number == len(rounds) else []
                rounds[number].append((table, row, before, values))
        for sums in rounds:
            kinds, of_table = {}, {}
            for one in sums:
                found = []
                for handle in (one[2], *one[3]):
                    table = self.at(handle).table
                    if table not in of_table:
                        of_table[table] = self.kind(handle)
                    found.append(of_table[table])
                start, *others = found
                kinds.setdefault((start, frozenset(others)), []).append(one)
            for (kind, others), some in kinds.items():
                starts, values = [one[2] for one in some], [one[3] for one in some]
                if not all([self.fits(other, kind) for other in others]):
                    starts = self.begun(addition, starts, values, others)
                    values = [row[1:] for row in values]
                total = self.totals(starts, values, others)
                for row, handle in enumerate(self.handles(total, len(some))):
                    table, place, *_ = some[row]
                    table.where[place] = handle

    def handles(self, value, count):
        """A handle for each row of a value."""
        made = Table(0, 0, ())
        made.value = value
        return [Handle(made, row) for row in range(count)]

    def fits(self, kind, start):
        """Whether a sum that starts so keeps its shape and dtype."""
        shape, dtype, _ = start
        fits = kind[0] == shape or torch.broadcast_shapes(kind[0], shape) == shape
        return dtype == kind[1] != torch.bool and fits

    def begun(self, addition, starts, values, kinds):
        """The first addition alone, where it gives another shape or dtype."""
        function, how = addition
        if len(kinds) > 1:
            raise NotImplementedError("what is added is of several shapes or dtypes")
        (result,), shared = self.batch(function, [(start, row[0]) for start, row in zip(starts, values)], *how)
        kind = self.sort_of(result.unsqueeze(0) if shared else result)
        if not all([self.fits(other, kind) for other in kinds]):
            raise NotImplementedError("what is added has another shape or dtype")
        return self.handles(self.lane_axis(result, None if shared else 0, len(starts)), len(starts))

    def totals(self, starts, values, kinds):
        """One row for each sum: what it starts with, and all that is added to it."""
        total = self.lane_axis(*self.column(starts, "t"), len(starts))
        for kind in kinds:
            parts = [(k, value) for k, row in enumerate(values) for value in row]
            parts = parts if len(kinds) == 1 else [part for part in parts if self.kind(part[1]) == kind]
            if not parts:
                continue
            added = self.lane_axis(*self.column([value for _, value in parts], "t"), len(parts))
            wider = (len(parts), *[1] * (total.dim() - added.dim()), *added.shape[1:])
            added = added.reshape(wider).expand(len(parts), *total.shape[1:])
            if len(kinds) == 1 and all([len(row) == 1 for row in values]):
                total = total + added
            else:
                total = total.index_add(0, self.index([k for k, _ in parts], total.device), added)
        if total.is_complex() and not torch.isfinite(total).all():  # torch multiplies by 1 first, which may make NaN
            raise NotImplementedError("sums of complex numbers that are not finite")
        return total


# --- end ---
