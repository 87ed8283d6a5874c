"""Runs recorded calls of points in batches: each wave takes all calls of one point whose inputs are ready.

The text between the two marks is also part of each emitted program, which so runs without this package.
"""

from __future__ import annotations

# --- begin ---
import gc
from typing import Any

import torch

from looplift.runtime.waves_attributes import Attributes
from looplift.runtime.waves_sums import Sums
from looplift.runtime.waves_tables import Handle, MixedShapes, Table


def without_collections(function):
    """The function, without searches for cycles among what it records, which lives until the end anyway."""

    def run(*arguments):
        if not gc.isenabled():
            return function(*arguments)
        gc.disable()
        try:
            return function(*arguments)
        finally:
            gc.enable()

    return run


class Waves(Sums, Attributes):
    """Groups the calls of points by what they depend on, and runs group after group."""

    sharing = 1.0  # how many calls a batch of the last run had

    def __init__(self, *given):
        Sums.__init__(self, given)
        Attributes.__init__(self)
        self.described = {}
        self.kinds = {}
        self.joins = None
        self.done = []  # groups that ran before all was recorded
        self.picked = {}

    def point(
        self, *, stage, roles="", width=-1, lanes=False, ranks=(), reach=None, sums=False, watched=(), steep=False
    ):
        """A function over rows becomes one that records its calls and returns handles.

        ``reach``: of each result the arguments to which its gradients flow, where that are not all for each.
        ``sums``: it adds two tensors, so that calls which go on from one another are one sum.
        ``steep``: its derivatives may be infinite where what it is given is. ``watched``: what is asked of values
        that it returns besides.
        """
        count, base, how = roles.count("t") + roles.count("s"), stage << 32, (roles, lanes, ranks, watched)
        self.steep = self.steep or steep

        def recording(function):
            record = self.recorder(function, count, base, abs(width), width == -1, how, reach)
            return self.summing((function, how), record, base) if sums else record

        return recording

    def recorder(self, function, count, base, width, single, how, reach):
        groups, known, described, positions = {}, {}, self.described, range(count)
        self.open += [groups, known]

        def record(*arguments: Any):
            key: Any = ()
            for position in positions:
                value = arguments[position]
                if value.__class__ is Handle:
                    table = value.table
                    key += (table,)
                    if table.wanted is not None:
                        table.wanted.add(value.row)
                    continue
                number = described.get(id(value))
                if number is None and isinstance(value, (list, tuple)):
                    items = [self.wrap(item) for item in value]
                    arguments = (*arguments[:position], items, *arguments[position + 1 :])
                    number = tuple([item.table for item in items])
                key += (number,)
            group = known.get(key)
            if group is None:
                group = group_of(arguments)
                if None not in key:
                    known[key] = group
            rows, tables = group
            row = len(rows)
            rows.append(arguments)
            if single:
                return Handle(tables[0], row)
            return tuple([Handle(table, row) for table in tables])

        def group_of(arguments):
            level, mask, fixed = base, 0, ()
            for position in positions:
                value: Any = arguments[position]
                if value.__class__ is Handle:
                    mask |= value.table.mask
                    level = max(level, value.table.level + 1)
                elif isinstance(value, list):
                    for item in value:
                        mask |= item.table.mask
                        level = max(level, item.table.level + 1)
                    fixed += (position, ("list", len(value)))
                else:
                    mask |= self.bit_of_tensor(value) if isinstance(value, torch.Tensor) else 0
                    fixed += (position, described.get(id(value)) or self.describe(value))
            masks = None if reach is None else tuple([self.masks_of(arguments, places) for places in reach])
            key = (level, mask, fixed, masks)
            group = groups.get(key)
            if group is None:
                bits = [self.bit_of((function, fixed, 0 if masks is None else k)) for k in range(width)]
                rows = []
                tables = [Table(level, bit | (mask if masks is None else masks[k]), rows) for k, bit in enumerate(bits)]
                group = groups[key] = rows, tables
                self.groups.append((level, bits[0], *group, function, how))
            return group

        return record

    def describe(self, value):
        """What sets calls apart besides their level: kinds of tensors given from outside, host values."""
        if isinstance(value, torch.Tensor):
            key = ("tensor", value.dtype, value.shape, value.device, value.requires_grad)
            if value.requires_grad:
                return key
        elif isinstance(value, (float, complex)):
            key = (value.__class__, repr(value))
        else:
            has_sign = hasattr(value.__class__, "imag") and not hasattr(value.__class__, "numerator")
            key = (value.__class__, value, repr(value) if has_sign else "")  # of floats of NumPy, zeros are equal
        number = self.kinds.setdefault(key, len(self.kinds) + 1)
        self.described[id(value)] = number  # the recorded arguments keep the value alive, so its id stays its own
        return number

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
            index = self.place(index)
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

    @staticmethod
    def place(index):
        """The integer that a tensor without dimensions stands for in a subscript."""
        if not isinstance(index, torch.Tensor) or index.dim() or index.dtype not in (torch.int64, torch.int32):
            raise NotImplementedError("not a plain index")
        return int(index)

    def rows(self, owner, most=None):
        """What iterating a tensor gives; ``most``: so many rows are taken of it, or it has fewer, and the loop runs."""
        if most is not None and owner.__class__ is Handle:
            return [self.row(owner, index) for index in range(most)]
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

    def may_join(self, leaving):
        """Whether calls that use other parameters may share a batch: none gets zeros where it has no gradient."""
        if self.joins is None:
            masks = {handle.table.mask for handle in leaving}
            reached = masks.pop() if len(masks) == 1 else 0
            inside = all(not table.mask & ~reached for _, _, _, tables, *_ in self.groups for table in tables)
            self.joins = not torch.is_grad_enabled() or (not masks and inside)
        return self.joins

    def resolve(self, value):
        """The value with tensors in place of handles, after all waves have run; lists and dicts are filled in place."""
        found = {}
        self.search(value, found, set())
        self.run(found.values())
        self.check_slopes([table for *_, tables, _, _ in self.done for table in tables])
        tensors = {handle: self.own(handle) for handle in found.values()}
        result = self.fill(value, tensors, {})
        self.forget()
        return result

    def forget(self):
        """Lets go of what was recorded, which holds on to itself: sums that go on from one another share a table."""
        for _, _, rows, *_ in self.done:
            rows.clear()
        for kept in (self.done, self.open, self.wrapped, self.described, self.picked, self.notes):
            kept.clear()

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
    def stored(before, index, value):
        """What rows are after ``row[index] = value``."""
        made = before.clone()
        place = torch.arange(made.shape[0]), index
        made[place] = Waves.taken(value, made.dtype, (made.shape[0], *made.shape[2:]))
        return made

    @staticmethod
    def stored_part(before, index, value):
        """The same for subscripts and slices that are those of all rows."""
        made = before.clone()
        place = slice(None), *index
        made[place] = Waves.taken(value, made.dtype, made[place].shape)
        return made

    @staticmethod
    def stored_part_of_row(before, index, value):
        """What one row is after ``row[index] = value``; ``torch.vmap`` knows no stores."""
        places = torch.arange(before.numel(), device=before.device).view(before.shape)[index]
        taken = Waves.taken(value, before.dtype, places.shape, 0)
        flat = taken.reshape(-1) if isinstance(taken, torch.Tensor) else before.new_full((), taken)
        return before.reshape(-1).index_put((places.reshape(-1),), flat).view(before.shape)

    @staticmethod
    def taken(value, dtype, shape, rank=1):
        """A number, or one or a tensor for each row, as what has this dtype and shape takes it.

        ``rank`` is that of the numbers of all rows.
        """
        if not isinstance(value, torch.Tensor):
            if type(value) not in (int, float) or dtype not in (torch.float32, torch.float64):
                raise NotImplementedError("a store into a tensor of another dtype than float")
            return value
        number = value.dtype in (torch.float64, torch.int64) and dtype in (torch.float32, torch.float64)
        number = number and value.dim() == rank and not value.requires_grad
        if value.dtype != dtype and not number:
            raise NotImplementedError("a store of another shape or dtype")
        if number and len(shape) > rank:
            value = value.reshape(*value.shape, *[1] * (len(shape) - rank)).expand(shape)
        if value.shape != shape:
            raise NotImplementedError("a store of another shape or dtype")
        return value.to(dtype)

    def places(self, places, may_repeat=False):
        """Subscripts of numbers as a tensor with a row for each."""
        numbers = [tuple([part if type(part) is int else self.place(part) for part in place]) for place in places]
        if any([part < 0 for place in numbers for part in place]):
            raise NotImplementedError("not a plain index")
        if not may_repeat and len({*numbers}) < len(numbers):
            raise NotImplementedError("a loop stores twice at one place")
        return torch.tensor(numbers)

    @staticmethod
    def filled(before, rows, places, whole=False):
        """What a tensor is after ``before[place] = row`` for all rows; ``whole``: no other element may be left."""
        depth = places.shape[1]
        if rows.shape[1:] != before.shape[depth:] or rows.dtype != before.dtype:
            raise NotImplementedError("a store of another shape or dtype")
        if whole and len(places) != before.shape[:depth].numel():
            raise NotImplementedError("not all of a tensor is stored")
        return before.index_put(places.unbind(1), rows)

    @staticmethod
    def added(before, rows, places):
        """What a tensor is after ``before[place] += row`` for all rows, one after the other."""
        if rows.shape[1:] != before.shape[places.shape[1] :] or rows.dtype != before.dtype:
            raise NotImplementedError("a sum of another shape or dtype")
        if places.shape[1] == 1:
            return before.index_add(0, places[:, 0], rows)
        return before.index_put(places.unbind(1), rows, accumulate=True)

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
    def weak(number, other):
        """A number of the host for each lane, in the dtype that it has beside a tensor."""
        if number.dtype == torch.bool or other.dtype in (torch.float32, torch.float64):
            return number if number.dtype == torch.bool else number.to(other.dtype)
        if other.dtype != torch.int64:
            raise NotImplementedError("a number beside a tensor of a dtype for which there is no rule")
        return number.to(torch.get_default_dtype()) if number.is_floating_point() else number

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
