"""Runs recorded calls of points in batches: each wave takes all calls of one point whose inputs are ready.

The text between the two marks is also part of each emitted program, which so runs without this package.
"""

from __future__ import annotations

# --- begin ---
from array import array
from typing import Any

import torch


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


class Waves:
    """Groups the calls of points by what they depend on, and runs group after group."""

    sharing = 1.0  # how many calls a batch of the last run had

    def __init__(self):
        self.groups = []
        self.bits = {}
        self.wrapped = {}
        self.described = {}
        self.joins = None
        self.joined = (
            False  # whether calls share batches, and so all that leaves depends on all that asks for gradients
        )
        self.open = []  # tables of groups by key, of each point
        self.done = []  # groups that ran before all was recorded
        self.picked = {}
        self.continued = {}  # of each table of sums the rows from which another goes on

    def point(self, *, stage, roles="", width=-1, lanes=False, ranks=(), reach=None, sums=False):
        """A function over rows becomes one that records its calls and returns handles.

        ``reach``: of each result the arguments to which its gradients flow, where that are not all for each.
        ``sums``: it adds two tensors, so that calls which go on from one another are one sum.
        """
        count, base, how = roles.count("t"), stage << 32, (roles, lanes, ranks)

        def recording(function):
            record = self.recorder(function, count, base, abs(width), width == -1, how, reach)
            return self.summing((function, how), record, base) if sums else record

        return recording

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

    def recorder(self, function, count, base, width, single, how, reach):
        groups, described = {}, self.described
        self.open.append(groups)

        def record(*arguments: Any):
            level, mask, fixed = base, 0, ()
            for position in range(count):
                value = arguments[position]
                if value.__class__ is Handle:
                    table = value.table
                    mask |= table.mask
                    if table.level >= level:
                        level = table.level + 1
                    if table.wanted is not None:
                        table.wanted.add(value.row)
                else:
                    key = described.get(id(value))
                    if key is None:
                        arguments, level, mask, key = self.describe(arguments, position, level, mask)
                    fixed += (position, key)
            masks = None if reach is None else tuple([self.masks_of(arguments, places) for places in reach])
            key = (level, mask, fixed, masks)
            group = groups.get(key)
            if group is None:
                bits = [self.bit_of((function, fixed, 0 if masks is None else k)) for k in range(width)]
                rows = []
                tables = [Table(level, bit | (mask if masks is None else masks[k]), rows) for k, bit in enumerate(bits)]
                group = groups[key] = rows, tables
                self.groups.append((level, bits[0], *group, function, how))
            rows, tables = group
            row = len(rows)
            rows.append(arguments)
            if single:
                return Handle(tables[0], row)
            return tuple([Handle(table, row) for table in tables])

        return record

    def describe(self, arguments, position, level, mask):
        """What sets calls apart besides their level: lengths of lists, tensors given from outside, host values."""
        value = arguments[position]
        if isinstance(value, (list, tuple)):
            items = [self.wrap(item) for item in value]
            arguments = (*arguments[:position], items, *arguments[position + 1 :])
            for item in items:
                level = max(level, item.table.level + 1)
                mask |= item.table.mask
            return arguments, level, mask, len(items)
        if isinstance(value, torch.Tensor):
            key = ("tensor", value.dtype, value.shape, value.device, value.requires_grad)
            if value.requires_grad:
                return arguments, level, mask | self.bit_of_tensor(value), key
        else:
            key = (value.__class__, repr(value) if isinstance(value, (float, complex)) else value)
        self.described[id(value)] = key  # the recorded arguments keep the value alive, so its id stays its own
        return arguments, level, mask, key

    def bit_of(self, key):
        """One bit for each result of a point, and for each tensor given from outside that wants a gradient."""
        return self.bits.setdefault(key, 1 << len(self.bits))

    def bit_of_tensor(self, value):
        """All views of one tensor give their gradients to it."""
        if not value.requires_grad:
            return 0
        return self.bit_of(id(value if value._base is None else value._base))

    def masks_of(self, arguments, places):
        """What the arguments at some places depend on."""
        mask = 0
        for place in places:
            value = arguments[place]
            for item in value if isinstance(value, list) else (value,):
                if item.__class__ is Handle:
                    mask |= item.table.mask
                elif isinstance(item, torch.Tensor):
                    mask |= self.bit_of_tensor(item)
        return mask

    def read(self, handle):
        """The handle, of which the value will be needed."""
        if handle.table.wanted is not None:
            handle.table.wanted.add(handle.row)
        return handle

    def wrap(self, value):
        """A handle for a tensor given from outside that stands in a list."""
        if value.__class__ is Handle:
            return self.read(value)
        if not isinstance(value, torch.Tensor):
            raise NotImplementedError("a list of tensors holds something else")
        if id(value) not in self.wrapped:
            table = Table(-1, self.bit_of_tensor(value), [()])
            table.value, table.shared = value, True
            self.wrapped[id(value)] = Handle(table, 0)
        return self.wrapped[id(value)]

    def row(self, owner, index):
        """``owner[index]`` of a tensor that is not known beforehand; the same handle for the same place."""
        if isinstance(owner, (list, tuple)):
            return owner[index]
        if type(index) is not int:
            raise NotImplementedError("not a plain index")
        owner = self.wrap(owner)
        table = owner.table
        place = (table, owner.row, index)
        if place not in self.picked:
            level, mask = table.level + 1, table.mask
            if not self.open:
                self.open.append({})
            groups = self.open[0]
            if (level, mask) not in groups:
                bit = self.bit_of(())
                rows = []
                groups[level, mask] = rows, [Table(level, mask | bit, rows)]
                self.groups.append((level, bit, *groups[level, mask], None, None))
            rows, (made,) = groups[level, mask]
            self.picked[place] = Handle(made, len(rows))
            rows.append((owner, index))
        return self.picked[place]

    def rows(self, owner):
        """What iterating a tensor gives."""
        tensor = self.value(owner)
        return [self.row(owner, index) for index in range(len(tensor))] if isinstance(tensor, torch.Tensor) else tensor

    def value(self, value):
        """The tensor of a handle, now; all that was recorded so far runs for it."""
        if value.__class__ is not Handle:
            return value
        self.read(value)
        if value.table.value is None and value.table.where is None:
            self.run_groups(not torch.is_grad_enabled())
        handle = self.at(value)
        table = handle.table
        return table.value if table.shared else table.value[table.start + handle.row]

    def run(self, leaving=()):
        """All groups, lowest level first."""
        self.run_groups(self.may_join(leaving))

    def run_groups(self, joins):
        """The groups that have not run yet; calls that use other parameters share a batch if ``joins``."""
        joined, self.joined = {}, joins
        for level, bit, rows, tables, function, how in self.groups:
            key = (level, bit) if joins else (level, len(joined))
            joined.setdefault(key, (function, how, []))[2].append((rows, tables))
        Waves.sharing = sum([len(group[2]) for group in self.groups]) / max(len(joined), 1)
        for _, (function, how, parts) in sorted(joined.items()):
            if how == "sum":
                self.add_up(function, [table for _, (table,) in parts])
                continue
            rows = [row for part, _ in parts for row in part]
            try:
                results, shared = self.results(function, rows, how)
            except MixedShapes:
                self.split(function, rows, how, parts)
                continue
            start = 0
            for part, tables in parts:
                for table, value in zip(tables, results, strict=True):
                    table.value, table.shared, table.start = value, shared, start
                start += len(part)
        self.done += self.groups
        self.groups.clear()
        self.continued.clear()
        for groups in self.open:
            groups.clear()

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
            kinds = {}
            for one in sums:
                key = self.kind(one[2]), frozenset(map(self.kind, one[3]))
                kinds.setdefault(key, []).append(one)
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
        return dtype == kind[1] != torch.bool and torch.broadcast_shapes(kind[0], shape) == shape

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
            parts = [(k, value) for k, row in enumerate(values) for value in row if self.kind(value) == kind]
            if not parts:
                continue
            added = self.lane_axis(*self.column([value for _, value in parts], "t"), len(parts))
            wider = (len(parts), *[1] * (total.dim() - added.dim()), *added.shape[1:])
            added = added.reshape(wider).expand(len(parts), *total.shape[1:])
            if len(kinds) == 1 and all([len(row) == 1 for row in values]):
                total = total + added
            else:
                total = total.index_add(0, self.index([k for k, _ in parts], total.device), added)
        return total

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
                    size += len(value)
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
            return None
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

    def batch(self, function, rows, roles, lanes, ranks):
        """The results of all calls of a group, and whether all rows share one."""
        columns = [self.column(column, role) for column, role in zip(zip(*rows), roles)]
        axes = tuple([axis for _, axis in columns])
        shared = 0 not in axes
        if lanes:
            values = [self.lane_axis(*column, 1 if shared else len(rows)) for column in columns]
            self.check(values, ranks)
            results = self.several(function(*values))
            if not all([isinstance(value, torch.Tensor) and len(value) == len(values[0]) for value in results]):
                raise NotImplementedError("an operation gives no row for each call")
            return ([value[0] for value in results], True) if shared else (results, False)
        if shared or len(rows) == 1:
            results = self.several(function(*[value if axis is None else value[0] for value, axis in columns]))
            if any([isinstance(value, str) for value in results]):
                raise NotImplementedError("the text of a tensor")
            return results, True
        return self.several(torch.vmap(function, in_dims=axes)(*[value for value, _ in columns])), False

    def several(self, results):
        return results if isinstance(results, (tuple, list)) else (results,)

    def may_join(self, leaving):
        """Whether calls that use other parameters may share a batch: none gets zeros where it has no gradient."""
        if self.joins is None:
            masks = {handle.table.mask for handle in leaving}
            reached = masks.pop() if len(masks) == 1 else 0
            inside = all(not table.mask & ~reached for _, _, _, tables, *_ in self.groups for table in tables)
            self.joins = not torch.is_grad_enabled() or (not masks and inside)
        return self.joins

    def lane_axis(self, value, axis, count):
        """The value with a row for each lane."""
        return value if axis == 0 else value.expand(count, *value.shape)

    def check(self, values, ranks):
        if any(value.dim() != rank + 1 for value, rank in zip(values, ranks)):
            raise NotImplementedError("a tensor has another number of dimensions than was expected")

    def column(self, column, role):
        """One argument of all calls of a group: (values, 0) with a row for each, or (value, None) if they share it."""
        first = column[0]
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
            return (first, None) if same else (torch.stack(column), 0)
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
                offset += len(value)
                values.append(value)
                sorts.add(self.sort_of(value))
            table.offset = homes[id(table.value)] + (0 if table.shared else table.start)
        if len(sorts) > 1 and (len({sort[:2] for sort in sorts}) > 1 or not self.has_columns(handles, length)):
            raise MixedShapes
        if any([table.shared for table in tables]):
            rows = [handle.table.offset + (0 if handle.table.shared else handle.row) for handle in handles]
        else:
            rows = [handle.table.offset + handle.row for handle in handles]
        pool = values[0] if len(values) == 1 else torch.cat(values)
        if not length and len(rows) == len(pool) and rows == list(range(len(rows))):
            return pool, 0
        return pool.index_select(0, self.index(rows, pool.device)), 0

    def has_columns(self, handles, length):
        """Whether gradients flow through the same items of all lists."""
        flows = [handle.table.value.requires_grad for handle in handles]
        return length and flows == flows[:length] * (len(flows) // length)

    def index(self, rows, device):
        """Row numbers as a tensor."""
        return torch.frombuffer(array("q", rows), dtype=torch.int64).to(device)

    def resolve(self, value):
        """The value with tensors in place of handles, after all waves have run; lists and dicts are filled in place."""
        found = {}
        self.search(value, found, set())
        self.run(found.values())
        tensors = {handle: self.own(handle) for handle in found.values()}
        return self.fill(value, tensors, {})

    def own(self, handle):
        """The tensor of a handle that leaves, with memory of its own."""
        handle = self.at(handle)
        table = handle.table
        if not isinstance(table.value, torch.Tensor):
            return table.value
        alone = table.shared and not table.taken and table.value._base is None
        table.taken = True
        return (
            table.value if alone else (table.value if table.shared else table.value[table.start + handle.row]).clone()
        )

    def search(self, value, found, seen):
        """All handles in lists, tuples and dicts."""
        if value.__class__ is Handle:
            found[id(value)] = self.read(value)
        elif isinstance(value, (list, tuple, dict)) or type(value).__name__ == "deque":
            if id(value) not in seen:
                seen.add(id(value))
                for item in value.values() if isinstance(value, dict) else value:
                    self.search(item, found, seen)

    def fill(self, value, tensors, done):
        if value.__class__ is Handle:
            return tensors[value]
        if id(value) in done:
            return done[id(value)][1]
        result = value
        if isinstance(value, dict):
            done[id(value)] = (value, value)
            for key, item in value.items():
                value[key] = self.fill(item, tensors, done)
        elif isinstance(value, list) or type(value).__name__ == "deque":
            done[id(value)] = (value, value)
            for position, item in enumerate(value):
                value[position] = self.fill(item, tensors, done)
        elif isinstance(value, tuple):
            items = [self.fill(item, tensors, done) for item in value]
            if any(new is not old for new, old in zip(items, value)):
                result = tuple(items) if type(value) is tuple else type(value)(*items)
            done[id(value)] = (value, result)
        return result

    @staticmethod
    def squeezed(value, axis):
        """The value without an axis of one element."""
        if value.shape[axis] != 1:
            raise NotImplementedError("an axis to be left out has more than one element")
        return value.squeeze(axis)

    @staticmethod
    def method(owner, name, functions):
        """The function that stands for a method of the owner's class; only a property comes before the owner's own."""
        hidden = name in getattr(owner, "__dict__", ()) and not isinstance(getattr(type(owner), name), property)
        if hidden:
            raise NotImplementedError(f"an object has a {name!r} of its own")
        return functions[type(owner)]

    @staticmethod
    def one_of(function, known):
        """A function that is taken from data."""
        if not any([function is one for one in known]):
            raise NotImplementedError("another function stands in the data than before")
        return function

    @staticmethod
    def unknown(text):
        """What was None in the data that the program was made for."""
        raise NotImplementedError(f"nothing is known of the object in {text}")

    @staticmethod
    def dot(left, right):
        """Products of two vectors for each lane."""
        if left.shape != right.shape or left.dtype != right.dtype or torch.is_autocast_enabled(left.device.type):
            raise NotImplementedError("vectors of other kinds or lengths")
        return (left * right).sum(-1, dtype=left.dtype)

    @staticmethod
    def is_tensor(value):
        """Whether a value is a tensor, or will be one."""
        return value.__class__ is Handle or isinstance(value, torch.Tensor)

    @staticmethod
    def in_place(before, after):
        """The value of ``before += …`` where nobody else sees ``before``: it keeps its shape and dtype."""
        if isinstance(before, torch.Tensor) and (before.shape != after.shape or before.dtype != after.dtype):
            raise NotImplementedError("an update in place would change a shape or dtype")
        return after

    @staticmethod
    def number(value, dtype=None):
        """What ``torch.tensor`` makes of host numbers."""
        dtype = dtype or (torch.get_default_dtype() if value.is_floating_point() else value.dtype)
        made = value.to(dtype)
        whole = not dtype.is_floating_point and not dtype.is_complex and dtype != torch.bool
        if whole and dtype != value.dtype and not torch.equal(made.to(value.dtype), value.trunc()):
            raise NotImplementedError("a number does not fit into its dtype")
        return made


# --- end ---
