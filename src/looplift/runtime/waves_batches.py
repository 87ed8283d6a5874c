"""Recorded calls in, the results of all of them in one batch out.

The text between the two marks is also part of each emitted program, which so runs without this package.
"""

from __future__ import annotations

# --- begin ---
from array import array
from bisect import bisect_right

import torch

from looplift.runtime.waves_slopes import Slopes
from looplift.runtime.waves_tables import Handle, MixedShapes, Table


class Batches(Slopes):
    """Runs the calls of a point as one, on the rows of all their arguments."""

    SPARSE = 3  # so many times as many rows as are read, and they are picked out of each tensor by itself
    joined = False  # if calls share batches: what leaves depends on one set of what asks for gradients

    def results(self, function, rows, how):
        """The outputs of a batch of calls, and whether all rows share one."""
        return ((self.pick(rows),), False) if how is None else self.batch(function, rows, *how)

    def pick(self, rows):
        """The rows of tensors at recorded places."""
        pool, places, numbers, size, homes = [], {}, [], 0, {}
        for owner, index in rows:
            owner = self.at(owner)
            table = owner.table
            if table not in places:
                value = table.value if table.shared else table.value.flatten(0, 1)
                length = table.value.shape[0 if table.shared else 1]
                if id(table.value) not in homes:
                    if pool and self.sort_of(value) != self.sort_of(pool[0]):
                        raise MixedShapes
                    homes[id(table.value)] = size
                    pool.append(value)
                    size += value.shape[0]
                places[table] = homes[id(table.value)] + (0 if table.shared else table.start * length), length
            start, length = places[table]
            index = index + length if index < 0 else index
            if not 0 <= index < length:
                raise IndexError
            numbers.append(start + index + (0 if table.shared else owner.row * length))
        values = pool[0] if len(pool) == 1 else torch.cat(pool)
        return values.index_select(0, self.index(numbers, values.device))

    def split(self, function, rows, how, parts):
        """Calls whose tensors differ in shape run in one batch for each combination of shapes."""
        kinds = {}
        for number, row in enumerate(rows):
            kinds.setdefault(tuple([self.kind(value) for value in row]), []).append(number)
        if len(kinds) == 1:
            raise NotImplementedError("tensors of several shapes meet in one list")
        where = {}
        for numbers in kinds.values():
            results, shared = self.results(function, [rows[number] for number in numbers], how)
            pieces = [Table(0, 0, ()) for _ in results]
            for piece, value in zip(pieces, results):
                piece.value, piece.shared = value, shared
            where.update({number: [Handle(piece, row) for piece in pieces] for row, number in enumerate(numbers)})
        start = 0
        for part, tables in parts:
            for output, table in enumerate(tables):
                table.where = [where[start + row][output] for row in range(len(part))]
            start += len(part)

    def kind(self, value):
        """Shape and dtype of a recorded argument, and whether gradients flow through it."""
        if isinstance(value, list):
            return tuple([self.kind(item) for item in value])
        if value.__class__ is not Handle:
            return value.__class__
        table = self.at(value).table
        return self.sort_of(table.value.unsqueeze(0) if table.shared else table.value)

    def sort_of(self, value):
        """What rows must have in common to lie in one tensor."""
        return value.shape[1:], value.dtype, not self.joined and value.requires_grad and torch.is_grad_enabled()

    def at(self, handle):
        """Where the row of a handle really lies."""
        found = handle.table.where[handle.row] if handle.table.where else handle
        if found is None:
            raise NotImplementedError("a part of a sum is read after the sum was made")
        return found

    def batch(self, function, rows, roles, lanes, ranks, watched):
        """The results of all calls of a group, and whether all rows share one."""
        columns = [self.column(column, role) for column, role in zip(zip(*rows), roles)]
        axes = tuple([axis for _, axis in columns])
        shared = 0 not in axes
        if lanes:
            count = 1 if shared else len(rows)
            values = [
                column[0] if role == "s" else self.lane_axis(*column, count) for column, role in zip(columns, roles)
            ]
            self.check(values, ranks)
            results = self.several(function(*values))
            if not all([isinstance(value, torch.Tensor) and value.shape[:1] == (count,) for value in results]):
                raise NotImplementedError("an operation gives no row for each call")
            return ([value[0] for value in results], True) if shared else (results, False)
        if shared or len(rows) == 1:
            results = function(*[value if axis is None else value[0] for value, axis in columns])
            results = self.several(results[0] if watched else results)
            if any([isinstance(value, str) for value in results]):
                raise NotImplementedError("the text of a tensor")
            return results, True
        if torch.is_autocast_enabled("cpu") or torch.is_autocast_enabled("cuda"):
            raise NotImplementedError("autocast would cast what torch.vmap makes of an operation")
        results = torch.vmap(function, in_dims=axes)(*[value for value, _ in columns])
        if watched:
            results, notes = results
            for note, what in zip(notes, watched):
                self.noted(note, what)
        return self.several(results), False

    def several(self, results):
        return results if isinstance(results, (tuple, list)) else (results,)

    def lane_axis(self, value, axis, count):
        """The value with a row for each lane."""
        return value if axis == 0 else value.expand(count, *value.shape)

    def check(self, values, ranks):
        if any(value.dim() != rank + 1 for value, rank in zip(values, ranks)):
            raise NotImplementedError("a tensor has another number of dimensions than was expected")

    def column(self, column, role):
        """One argument of all calls of a group: (values, 0) with a row for each, or (value, None) if they share it."""
        first = column[0]
        if role == "s":
            return first, None
        if role == "w":
            if type(first) not in (int, float, bool):
                raise NotImplementedError("not a plain number")
            if len({*map(type, column)}) > 1:
                raise MixedShapes
            return torch.tensor(column, dtype=torch.float64 if type(first) is float else None), 0
        if role == "i" or role == "n":
            if {*map(type, column)} - {type(first)} or type(first) not in (
                (int,) if role == "i" else (int, float, bool)
            ):
                raise NotImplementedError("not a plain number")
            if role == "i" and min(column) < 0:
                raise NotImplementedError("not a plain index")
            return torch.tensor(column, dtype=torch.float64 if type(first) is float else None), 0
        if first.__class__ is Handle:
            return self.gather(column)
        if isinstance(first, list):
            flat, _ = self.gather([item for items in column for item in items], length=len(first))
            return flat.view(len(column), len(first), *flat.shape[1:]), 0
        if isinstance(first, torch.Tensor):
            same = all(item is first for item in column)
            return (first, None) if same else (self.noted(torch.stack(column), "finite"), 0)
        return first, None

    def gather(self, handles, length=0):
        """The rows of handles, from all the tables that they lie in; of lists of one length, in a new tensor."""
        tables = list(dict.fromkeys([handle.table for handle in handles]))
        if any([table.where for table in tables]):
            handles = [self.at(handle) for handle in handles]
            tables = list(dict.fromkeys([handle.table for handle in handles]))
        first = tables[0].value
        if not length and all([table.shared and table.value is first for table in tables]):
            return first, None
        values, offset, homes, sorts = [], 0, {}, set()
        for table in tables:
            if id(table.value) not in homes:
                homes[id(table.value)] = offset
                value = table.value.unsqueeze(0) if table.shared else table.value
                offset += value.shape[0]
                values.append(value)
                sorts.add(self.sort_of(value))
            table.offset = homes[id(table.value)] + (0 if table.shared else table.start)
        if len(sorts) > 1 and (len({sort[:2] for sort in sorts}) > 1 or not self.has_columns(handles, length)):
            raise MixedShapes
        if any([table.shared for table in tables]):
            rows = [handle.table.offset + (0 if handle.table.shared else handle.row) for handle in handles]
        else:
            rows = [handle.table.offset + handle.row for handle in handles]
        if len(values) > 1 and offset > self.SPARSE * len(rows):
            return self.picked_apart(values, rows), 0
        pool = values[0] if len(values) == 1 else torch.cat(values)
        if not length and len(rows) == pool.shape[0] and rows == list(range(len(rows))):
            return pool, 0
        return pool.index_select(0, self.index(rows, pool.device)), 0

    def picked_apart(self, values, rows):
        """Rows of several tensors, numbered through, of each of which few are read."""
        starts = [0]
        for value in values:
            starts.append(starts[-1] + value.shape[0])
        picked, homes = [[] for _ in values], []
        for row in rows:
            home = bisect_right(starts, row) - 1
            homes.append((home, len(picked[home])))
            picked[home].append(row - starts[home])
        parts = [value.index_select(0, self.index(own, value.device)) for value, own in zip(values, picked) if own]
        first = [0]
        for own in picked:
            first.append(first[-1] + len(own))
        places, pool = [first[home] + place for home, place in homes], torch.cat(parts)
        return pool if places == list(range(len(rows))) else pool.index_select(0, self.index(places, pool.device))

    def has_columns(self, handles, length):
        """Whether gradients flow through the same items of all lists."""
        flows = [handle.table.value.requires_grad for handle in handles]
        return length and flows == flows[:length] * (len(flows) // length)

    def index(self, rows, device):
        """Row numbers as a tensor."""
        return torch.frombuffer(array("q", rows), dtype=torch.int64).to(device)


# --- end ---
