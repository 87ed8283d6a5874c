"""Small functions that emitted code may need; their text goes with the source, so that it runs by itself."""

from __future__ import annotations

import linecache
import math
from typing import Any

from looplift.base.errors import RequirementFailed
from looplift.emit.array_helpers import ARRAYS
from looplift.emit.list_helpers import LISTS
from looplift.emit.order_helpers import ORDERS
from looplift.emit.product_helpers import PRODUCTS
from looplift.emit.scan_helpers import SCANS
from looplift.emit.slope_helpers import SLOPES
from looplift.runtime.contents import names_in

HELPERS = (
    LISTS
    | ORDERS
    | PRODUCTS
    | SLOPES
    | {
        "with_spare": '''
def with_spare(entries, dim=0):
    """The entries; where there are none a zero, for lanes that do not run to read."""
    if entries.shape[dim]:
        return entries
    return entries.new_zeros(*entries.shape[:dim], 1, *entries.shape[dim + 1:])
''',
        "with_spare_array": '''
def with_spare_array(entries, dim=0):
    """The entries; where there are none a zero, for lanes that do not run to read."""
    if entries.shape[dim]:
        return entries
    return np.zeros((*entries.shape[:dim], 1, *entries.shape[dim + 1:]), entries.dtype)
''',
        "number_vector": '''
def number_vector(numbers, kind):
    """A list of Python numbers of one type as a vector."""
    vector = None if set(map(type, numbers)) - {kind} else np.array(numbers)
    if vector is None or vector.dtype != kind:
        raise RequirementFailed("the list holds other kinds of numbers, or integers of more than 64 bits")
    return torch.from_numpy(vector)
''',
        "number_array": '''
def number_array(numbers, kind):
    """A list of Python numbers of one type as a vector."""
    vector = None if set(map(type, numbers)) - {kind} else np.array(numbers)
    if vector is None or vector.dtype != kind:
        raise RequirementFailed("the list holds other kinds of numbers, or integers of more than 64 bits")
    return vector
''',
        "complex_array": '''
def complex_array(real, imag):
    """Complex numbers of their parts."""
    found = np.empty(np.broadcast_shapes(np.shape(real), np.shape(imag)), dtype=np.complex128)
    found.real, found.imag = real, imag
    return found
''',
        "with_diagonal": '''
def with_diagonal(values, first, second, diagonal):
    """The values, with others where the positions in two dimensions are the same."""
    return torch.diagonal_scatter(values, diagonal, 0, first, second)
''',
        "put_diagonal": '''
def put_diagonal(values, first, second, diagonal):
    """The values, in which others are put where the positions in two dimensions are the same."""
    values.diagonal(0, first, second).copy_(diagonal)
    return values
''',
        "fill_diagonal": '''
def fill_diagonal(values, number):
    """The values, with a number where the positions in both dimensions are the same."""
    values.diagonal().fill_(number)
    return values
''',
        "put_piece": '''
def put_piece(rows, piece, start, count):
    """The tensor of all rows, with a piece of them from the start on; the first piece makes it."""
    rows = piece.new_empty((count, *piece.shape[1:])) if rows is None else rows
    rows[start : start + len(piece)] = piece
    return rows
''',
        "row_lengths": '''
def row_lengths(rows):
    """How many items each list of a list of lists has."""
    return torch.from_numpy(np.fromiter(map(len, rows), np.int64, len(rows)))
''',
        "row_lengths_array": '''
def row_lengths_array(rows):
    """How many items each list of a list of lists has."""
    return np.fromiter(map(len, rows), np.int64, len(rows))
''',
        "row_entries": '''
def row_entries(rows, kind):
    """The items of all lists of a list of lists, one after the other."""
    items = []
    for row in rows:
        items += row
    entries = None if set(map(type, items)) - {kind} else np.array(items)
    if entries is None or entries.dtype != kind:
        raise RequirementFailed("the lists hold other kinds of numbers")
    return torch.from_numpy(entries)
''',
        "row_entries_array": '''
def row_entries_array(rows, kind):
    """The items of all lists of a list of lists, one after the other."""
    items = []
    for row in rows:
        items += row
    entries = None if set(map(type, items)) - {kind} else np.array(items)
    if entries is None or entries.dtype != kind:
        raise RequirementFailed("the lists hold other kinds of numbers")
    return entries
''',
        "same_dtype_stack": '''
def same_dtype_stack(tensors):
    """Tensors of one dtype and shape as the rows of one."""
    if not all(issubclass(kind, torch.Tensor) for kind in set(map(type, tensors))):
        raise RequirementFailed("the list holds something else than tensors in some places")
    if len({(tensor.dtype, type(tensor), tensor.requires_grad) for tensor in tensors}) != 1:
        raise RequirementFailed("the list holds tensors of several dtypes, or a gradient flows to some only")
    try:
        return torch.stack(list(tensors))
    except RuntimeError:
        if len({tensor.shape for tensor in tensors}) == 1:
            raise
        raise RequirementFailed("the list holds tensors of several shapes") from None
''',
        "row_tensors": '''
def row_tensors(rows):
    """The tensors of all lists of a list of lists, one after the other, as the rows of one."""
    tensors = []
    for row in rows:
        tensors += row
    stacked = same_dtype_stack(tensors)
    if tensors[0].requires_grad:  # as all of them do then
        raise RequirementFailed("tensors in lists of lists ask for gradients")
    return stacked
''',
        "all_read": '''
def all_read(places, count):
    """Whether every item of a list is read, by a place that counts from its start."""
    return len(torch.unique(places)) == count and bool((places >= 0).all())
''',
        "without_gradients": '''
def without_gradients(tensors):
    """Whether none of some tensors asks for a gradient."""
    return not any(tensor.requires_grad for tensor in tensors)
''',
        "same_inputs": '''
def same_inputs(tensors):
    """Whether gradients of all tensors reach the same inputs, as far as that is seen after some thousand steps."""
    found = {}
    ends = [tensor if tensor.grad_fn is None else tensor.grad_fn for tensor in tensors if tensor.requires_grad]
    if ends and len(ends) < len(tensors):
        return False  # some reach none
    pending = list({id(end): end for end in ends}.values())
    while pending and len(found) < 10_000:
        made = pending[-1]
        before = [one for one, _ in getattr(made, "next_functions", ()) if one is not None]
        unknown = [one for one in before if one not in found]
        if unknown:
            pending += unknown
            continue
        if len(before) > 1 and len(tensors) > 1 and hasattr(made, "tape"):
            return False  # a program, which gives to some of its inputs no gradient, as it depends on the result
        sets = {found[one] for one in before}
        own = frozenset().union(*sets) if before else frozenset([id(getattr(made, "variable", made))])
        found[pending.pop()] = next(iter(sets)) if len(sets) == 1 else own
    return not pending and len({found[end] for end in ends}) <= 1
''',
        "same_dtype_array": '''
def same_dtype_array(arrays):
    """Arrays of one dtype and shape as the rows of one."""
    if len({(array.dtype, type(array)) for array in arrays}) != 1:
        raise RequirementFailed("the list holds arrays of several dtypes")
    try:
        return np.stack(arrays)
    except ValueError:
        if len({array.shape for array in arrays}) == 1:
            raise
        raise RequirementFailed("the list holds arrays of several shapes") from None
''',
        "taken": '''
def taken(values, dim, index):
    """What ``values[index]`` is at dimension ``dim``; negative indices take longer."""
    if not values.numel():
        values.new_zeros(values.shape[dim])[index]  # of values without elements torch looks at no index
    try:
        if index.dim() == 1:
            return values.index_select(dim, index)
        shape = values.shape[:dim] + index.shape + values.shape[dim + 1:]
        return values.index_select(dim, index.reshape(-1)).reshape(shape)
    except (IndexError, RuntimeError):
        return values[(slice(None),) * dim + (index,)]
''',
        "taken_together": '''
def taken_together(values, dim, *indices):
    """What ``values[indices]`` is at dimensions ``dim`` and on: by one index, where backward, or much, is faster so."""
    extents = values.shape[dim:dim + len(indices)]
    single = all(isinstance(one, torch.Tensor) and one.dtype == torch.int64 and one.numel() for one in indices)
    faster = single and max(one.numel() for one in indices) >= 4096
    single = single and values.is_contiguous() and (faster or (values.requires_grad and torch.is_grad_enabled()))
    for index, extent in zip(indices, extents):
        low, high = index.aminmax() if single else (0, 0)
        single = single and int(low) >= 0 and int(high) < extent
    if not single:
        return values[(slice(None),) * dim + indices]
    flat = indices[0]
    for index, extent in zip(indices[1:], extents[1:]):
        flat = torch.add(index, flat, alpha=extent)
    rows = values.flatten(dim, dim + len(indices) - 1)
    return rows.index_select(dim, flat.flatten()).unflatten(dim, flat.shape)
''',
        "taken_at": '''
def taken_at(values, known, *indices):
    """What ``values[indices]`` is. ``known``: for each shape where the indices stand in flat values, if inside."""
    if values.numel() < 1024:
        return values[indices]
    if values.shape not in known:
        inside = all(index.dtype == torch.int64 and index.numel() for index in indices)
        for index, extent in zip(indices, values.shape):
            inside = inside and int(index.min()) >= 0 and int(index.max()) < extent
        flat = indices[0]
        for index, extent in zip(indices[1:], values.shape[1:]):
            flat = flat * extent + index
        known[values.shape] = flat if inside else None
    flat = known[values.shape]
    return values[indices] if flat is None else values.reshape(-1).index_select(0, flat.flatten()).view(flat.shape)
''',
        "first_held": '''
def first_held(mask):
    """The first place that holds in the last dimension; 0 where none does."""
    if not mask.shape[-1]:
        return mask.new_zeros(mask.shape[:-1], dtype=torch.int64)
    return mask.to(torch.uint8).argmax(-1)
''',
        "first_held_array": '''
def first_held_array(mask):
    """The first place that holds in the last dimension; 0 where none does."""
    return mask.argmax(-1) if mask.shape[-1] else np.zeros(mask.shape[:-1], np.int64)
''',
        "at_places": '''
def at_places(function, out, indices, value):
    """``function.at``; NumPy 2.4 reads beyond the end of values that it has to broadcast."""
    shape = np.broadcast_shapes(*map(np.shape, indices)) + out.shape[len(indices):]
    function.at(out, indices, np.broadcast_to(value, shape))
''',
        "put_last": '''
def put_last(out, indices, value):
    """``out[indices] = value`` where places may repeat: the last writer wins, as in a loop.

    NumPy goes through several dimensions in the order of memory.
    """
    places = np.broadcast_arrays(*indices)
    rest = out.shape[len(places):]
    value = np.broadcast_to(value, places[0].shape + rest)
    out[tuple(place.ravel() for place in places)] = np.ascontiguousarray(value.reshape((-1,) + rest))
''',
        "taken_along": '''
def taken_along(values, index):
    """``values[i, index[i]]`` for all leading places ``i``; negative indices take longer."""
    dim = values.dim() - 1
    places = index.flatten(dim) if index.dim() > dim else index.unsqueeze(-1)
    gather = _Gathered.apply if values.requires_grad and torch.is_grad_enabled() else torch.gather
    try:
        picked = gather(values, dim, places)
    except RuntimeError:
        places = places.long()
        picked = gather(values, dim, torch.where(places < 0, places + values.shape[dim], places))
    return picked if index.dim() == dim + 1 else picked.reshape(index.shape)


class _Gathered(torch.autograd.Function):
    """torch's own, which keeps the values for its backward pass, where the loop keeps nothing of them."""

    @staticmethod
    def forward(context, values, dim, places):
        context.set_materialize_grads(False)
        context.save_for_backward(places)
        context.dim, context.shape = dim, values.shape
        return values.gather(dim, places)

    @staticmethod
    def backward(context, gradient):
        if gradient is None:
            return None, None, None
        (places,) = context.saved_tensors
        return gradient.new_zeros(context.shape).scatter_add_(context.dim, places, gradient), None, None
''',
        "blocks_along": '''
def blocks_along(values, lanes, *indices):
    """``values[i, ..., *places]`` with the places ``index[i]`` in the last dimensions, for all leading places ``i``."""
    dim = values.dim() - len(indices)
    flat = indices[0]
    for index, extent in zip(indices[1:], values.shape[dim + 1:]):
        flat = torch.add(index, flat, alpha=extent)
    places = flat.flatten(lanes)
    places = places[(slice(None),) * lanes + (None,) * (dim - lanes)]
    places = places.expand(*places.shape[:lanes], *values.shape[lanes:dim], -1)
    gather = _Gathered.apply if values.requires_grad and torch.is_grad_enabled() else torch.gather
    return gather(values.flatten(dim), dim, places).unflatten(dim, flat.shape[lanes:])
''',
        "same_dtype_cat": '''
def same_dtype_cat(tensors, dim, asking=False):
    """Tensors of one dtype and rank, put together along a dimension; ``asking``: where a gradient may flow to them."""
    if len({(tensor.dtype, type(tensor), tensor.dim()) for tensor in tensors}) != 1:
        raise RequirementFailed("the list holds tensors of several dtypes or ranks")
    joined = torch.cat(list(tensors), dim)
    if joined.requires_grad and not asking:
        raise RequirementFailed("a gradient flows to tensors of the list")
    return joined
''',
        "same_dtype_concatenation": '''
def same_dtype_concatenation(arrays, axis):
    """Arrays of one dtype and rank, put together along a dimension."""
    if len({(array.dtype, array.ndim) for array in arrays}) != 1:
        raise RequirementFailed("the list holds arrays of several dtypes or ranks")
    return np.concatenate(arrays, axis)
''',
        "reached": '''
def reached(values, *steps):
    """An array whose last two dimensions hold windows: their first places, counts, steps, widths."""
    for size, (first, count, step, width) in zip(values.shape[-2:], steps):
        if min(count, step, width) < 1 or first < 0 or first + (count - 1) * step + width > size:
            raise RequirementFailed("slices that walk backwards, or are cut off at the end")
    return values
''',
        "pooled": '''
def pooled(values, name, *steps):
    """The mean or the greatest of each window of the last two dimensions: their first places, counts, steps, widths."""
    values = reached(values, *steps)
    for dim, (first, count, step, width) in zip((-2, -1), steps):
        values = values.narrow(dim, first, (count - 1) * step + width)
    (_, rows, step, height), (_, columns, other, width) = steps
    if name != "mean" and torch.is_grad_enabled() and values.requires_grad:  # equal ones share their gradient
        if (step, other) == (height, width):
            windows, dims = values.unflatten(-1, (columns, width)).unflatten(-3, (rows, height)), (-3, -1)
        else:
            windows, dims = values.unfold(-2, height, step).unfold(-2, width, other), (-2, -1)
        return windows.amax(dims) if name == "amax" else greatest_of(windows, dims)
    function = torch.nn.functional.avg_pool2d if name == "mean" else torch.nn.functional.max_pool2d
    found = function(values.reshape(-1, 1, *values.shape[-2:]), (height, width), (step, other))
    return found.view(*values.shape[:-2], rows, columns)
''',
        "tiles": '''
def tiles(values, dim, first, count, step, width):
    """``values[first + step * i:][:width]`` along a dimension: i in its place, the elements of each window last."""
    if min(count, step) < 1 or min(first, width) < 0 or first + (count - 1) * step + width > values.shape[dim]:
        raise RequirementFailed("slices that walk backwards, or are cut off at the end")
    if step == width:
        return values.narrow(dim, first, count * width).unflatten(dim, (count, width)).movedim(dim + 1, -1)
    return values.narrow(dim, first, (count - 1) * step + width).unfold(dim, width, step)
''',
        "windows": '''
def windows(values, dim, first, *steps):
    """``values[first + step * i + other * j]`` along a dimension, zero outside: i in its place, j last."""
    last = first + sum((count - 1) * step for count, step in steps)
    if any(count < 1 or step < 1 for count, step in steps):
        raise RequirementFailed("a loop that runs zero times, or backwards")
    low, high = max(0, -first), max(0, last + 1 - values.shape[dim])
    if low or high:
        values = torch.nn.functional.pad(values, (0, 0) * (values.dim() - 1 - dim) + (low, high))
    values = values.narrow(dim, first + low, last - first + 1)
    (_, step), *inner = steps
    if not inner:
        return values[(slice(None),) * dim + (slice(None, None, step),)]
    ((width, other),) = inner
    return values.unfold(dim, other * (width - 1) + 1, step)[..., ::other]
''',
        "picked_convolution": '''
def picked_convolution(x, places, w, samples, *steps):
    """``convolution`` whose outputs read the channels at ``places``: in groups as they stand, or picked one by one."""
    outputs, channels = places.shape
    groups = max(int(places[-1, 0]) // channels + 1, 1) if places.numel() else 1
    shared = max(outputs // groups, 1)
    wanted = torch.arange(groups * channels).view(groups, 1, channels).expand(groups, shared, channels)
    whole = groups * shared == outputs and groups * channels <= x.shape[samples]
    if whole and torch.equal(places, wanted.reshape(-1, channels)):
        rows = x.narrow(samples, 0, groups * channels).unflatten(samples, (groups, channels))
        found = convolution(rows, w.unflatten(0, (groups, shared)), (samples, 1, 1, 1), *steps)
        return found.flatten(samples, samples + 1)
    return convolution(taken(x, samples, places), w, (samples, 1, 0, 1), *steps)
''',
        "grouped_convolution": '''
def grouped_convolution(x, shared, w, samples, *steps):
    """``convolution`` whose output o reads the channels from o // shared * channels on: in groups, or picked."""
    outputs, channels = w.shape[:2]
    groups = -(-outputs // shared)
    fits = shared > 0 and groups * channels <= x.shape[samples]
    if not fits and x.device.type != "cpu":  # there an index that is out of range would end the process
        raise RequirementFailed("outputs that read other channels than there are")
    if fits and groups * shared == outputs:
        x = x if groups * channels == x.shape[samples] else x.narrow(samples, 0, groups * channels)
        return convolution(x, w, (samples, 0, 1, 1), *steps, parts=groups)
    first = torch.arange(outputs, device=x.device) // shared * channels
    places = first[:, None] + torch.arange(channels, device=x.device)
    return convolution(taken(x, samples, places), w, (samples, 1, 0, 1), *steps)
''',
        "convolution": '''
def convolution(x, w, counts, *steps, parts=None):
    """Sums of windows of ``x`` times ``w``, each with so many dimensions of samples, groups, outputs and channels.

    ``steps``: where the windows of a dimension begin, how many there are, their step, their width and its step.
    """
    samples, groups, outputs, channels = counts
    if any(min(part[1:]) < 1 for part in steps):
        raise RequirementFailed("a loop that runs zero times, or backwards")
    padding, around = (), []
    for dim, (first, count, step, width, apart) in enumerate(steps, x.dim() - len(steps)):
        reach, size = (count - 1) * step + (width - 1) * apart + 1, x.shape[dim]
        if first <= 0 and (size - 2 * first - (width - 1) * apart - 1) // step + 1 == count:
            padding, around = (0, 0, *padding), [*around, -first]
            continue
        around.append(0)
        start = min(max(first, 0), size)
        inside, low = max(min(first + reach, size) - start, 0), min(max(-first, 0), reach)
        padding = (low, reach - low - inside, *padding)
        x = x.narrow(dim, start, inside)
    lead, kept = x.shape[:samples + groups], w.shape[:groups + outputs]
    many, parts = lead[:samples].numel(), parts or lead[samples:].numel()
    rows, filters, single = x, w, samples == groups + outputs == 1  # where each is one dimension as it is
    if not single or x.dim() - len(steps) != 2:
        rows = x.reshape(many, x.shape[samples:x.dim() - len(steps)].numel(), *x.shape[x.dim() - len(steps):])
    if not single or w.dim() - len(steps) != 2:
        filters = w.reshape(kept.numel(), -1, *w.shape[w.dim() - len(steps):])
    function = torch.nn.functional.conv1d if len(steps) == 1 else torch.nn.functional.conv2d

    def folded(rows, filters):
        rows = torch.nn.functional.pad(rows, padding) if any(padding) else rows
        return function(rows, filters, None, [s[2] for s in steps], around, [s[4] for s in steps], parts)
    found = product_where(folded, rows, filters) if any(padding) or any(around) else folded(rows, filters)
    return found if single else found.view(*lead, *kept[groups:], *found.shape[2:])
''',
        "class_losses": '''
def class_losses(function, x, y, lanes, own, reduction, weight=None, ignore_index=-100, **settings):
    """Losses of classes: each lane has one, or as many as its ``own`` dimension of samples."""
    lead, last = x.shape[:lanes + own], lanes + own - 1
    named = {"weight": weight, "ignore_index": ignore_index, "reduction": "none"}
    found = function(x.flatten(0, last), y.flatten(0, last), **named, **settings)
    found = found.view(*lead, *found.shape[1:])
    inner = tuple(range(lanes, found.dim()))
    if reduction == "none":
        return found
    total = found.sum(inner) if inner else found
    if reduction == "sum":
        return total
    counted = y != ignore_index
    if weight is not None:
        counted = weight[torch.where(counted, y, 0)] * counted
    return total / (counted.sum(inner) if inner else counted)
''',
        "open_rows": '''
def open_rows(mask):
    """Whether no row of a mask of attention hides everything: what comes of such rows differs between batches."""
    hidden = mask if mask.dtype == torch.bool else mask == -torch.inf
    return not bool(hidden.all(-1).any())
''',
        "windows_along": '''
def windows_along(values, first, width):
    """``values[i, first[i]:first[i] + width]`` for all leading places ``i``; all of these places are there."""
    tracked = values.requires_grad and torch.is_grad_enabled()
    if tracked or not values.is_contiguous() or not values.numel() or first.shape != values.shape[:-1]:
        return taken_along(values, first.unsqueeze(-1) + torch.arange(width))
    rows = torch.arange(0, values.numel(), values.shape[-1]).view(first.shape) + first
    windows = values.view(-1).unfold(0, width, 1).index_select(0, rows.flatten())
    return windows.view(*first.shape, width)
''',
        "tiles_array": '''
def tiles_array(values, dim, first, count, step, width):
    """``values[first + step * i:][:width]`` along a dimension: i in its place, the elements of each window last."""
    if min(count, step) < 1 or min(first, width) < 0 or first + (count - 1) * step + width > values.shape[dim]:
        raise RequirementFailed("slices that walk backwards, or are cut off at the end")
    lead = (slice(None),) * dim
    values = values[(*lead, slice(first, first + (count - 1) * step + width))]
    return np.lib.stride_tricks.sliding_window_view(values, width, axis=dim)[(*lead, slice(None, None, step))]
''',
        "windows_array": '''
def windows_array(values, dim, first, *steps):
    """``values[first + step * i + other * j]`` along a dimension, zero outside: i in its place, j last."""
    last = first + sum((count - 1) * step for count, step in steps)
    if any(count < 1 or step < 1 for count, step in steps):
        raise RequirementFailed("a loop that runs zero times, or backwards")
    low, high = max(0, -first), max(0, last + 1 - values.shape[dim])
    if low or high:
        values = np.pad(values, [(low, high) if k == dim else (0, 0) for k in range(values.ndim)])
    lead = (slice(None),) * dim
    values = values[(*lead, slice(first + low, last + low + 1))]
    (_, step), *inner = steps
    for width, other in inner:
        values = np.lib.stride_tricks.sliding_window_view(values, other * (width - 1) + 1, axis=dim)[..., ::other]
    return values[(*lead, slice(None, None, step))]
''',
        "least_size": '''
def least_size(values):
    """The smallest size of a value that is not zero, infinity where there is none."""
    sizes = values.abs()
    return sizes.masked_fill_(sizes == 0, float("inf")).amin().item()
''',
        "only_finite": '''
def only_finite(values, *factors):
    """Sums that are factored: as the terms are added one by one if all values are finite, as those of a finite sum, and
    no products of the factors add up to what is not, or vanish beside sums that are as small."""
    total = None if factors else values.detach().sum()
    for factor in factors:
        size = torch.linalg.vector_norm(factor.detach(), 1)
        total = size if total is None else total * size
    if not abs(total.item()) < float("inf") and (factors or not torch.isfinite(values).all()):
        raise RequirementFailed("a factor of a sum is not finite, or too large")
    if not factors or not values.numel():
        return values
    tiny, found = torch.finfo(values.dtype).tiny, values.detach()
    small = tiny / torch.finfo(values.dtype).eps
    if found.abs().amin().item() < small and least_size(found) < small:
        if math.prod([min(least_size(factor.detach()), 1.0) for factor in factors]) < tiny:
            raise RequirementFailed("products of the factors of a sum may vanish")
    return values
''',
        "least_size_array": '''
def least_size_array(values):
    """The smallest size of a value that is not zero and below 1, 1 where there is none."""
    sizes = np.abs(values)
    return float(np.min(sizes, where=sizes > 0, initial=1.0))
''',
        "only_finite_array": '''
def only_finite_array(values, *factors):
    """Sums that are factored: as the terms are added one by one if the values are finite, and no products of the
    factors add up to what is not, or vanish beside sums that are as small."""
    bound = 1.0
    for factor in factors:
        bound = bound * float(np.abs(factor).sum())
    if not bound < float("inf") or not np.isfinite(values).all():
        raise RequirementFailed("a factor of a sum is not finite, or too large")
    tiny = np.finfo(np.float64).tiny
    small = tiny / np.finfo(np.float64).eps
    if np.min(np.abs(values), initial=1.0) < small and least_size_array(values) < small:
        if math.prod(map(least_size_array, factors)) < tiny:
            raise RequirementFailed("products of the factors of a sum may vanish")
    return values
''',
        "distances": '''
def distances(a, b, squared=False):
    """The distances between the rows of ``a`` and of ``b``, or their squares, without a table of differences."""
    if torch.is_grad_enabled() and (a.requires_grad or b.requires_grad):
        own = a.clone()  # they may change before the backward pass
        return _Distances.apply(own, own if a is b else b.clone(), squared, a is b)
    found = torch.cdist(a, b, compute_mode="donot_use_mm_for_euclid_dist")
    return found * found if squared else found


class _Distances(torch.autograd.Function):
    """torch's own, with second derivatives, and with those of squares where rows are equal."""

    @staticmethod
    def forward(context, a, b, squared, same):
        found = torch.cdist(a, b, compute_mode="donot_use_mm_for_euclid_dist")
        context.set_materialize_grads(False)
        context.save_for_backward(a, b, found)
        context.squared, context.same = squared, same
        return found * found if squared else found

    @staticmethod
    def backward(context, gradient):
        if gradient is None:
            return None, None, None, None
        a, b, found = context.saved_tensors
        asked = (True, False) if context.same else context.needs_input_grad[:2]
        again = torch.is_grad_enabled()
        looks = context.squared or not torch.compiler.is_compiling()
        if again or (looks and not comes_finite(gradient)):
            with torch.enable_grad():
                gaps = a.unsqueeze(-2) - b.unsqueeze(-3)
                if not context.squared:  # rows that are equal have no second derivative where none is asked for
                    gaps = torch.where(((found == 0) & (gradient == 0)).unsqueeze(-1), 1.0, gaps)
                wanted = (gaps * gaps).sum(-1) if context.squared else gaps.norm(dim=-1)
                inputs = [x for x, ask in zip((a, b), asked) if ask]
                parts = iter(torch.autograd.grad(wanted, inputs, gradient, create_graph=again))
            return *(next(parts) if ask else None for ask in asked), None, None
        gradient = gradient + gradient.mT if context.same else gradient
        gradient = 2 * gradient * found if context.squared else gradient.contiguous()
        sides = ((a, b, gradient, found), (b, a, gradient.mT, found.mT))
        parts = [
            torch.ops.aten._cdist_backward(g.contiguous(), x.contiguous(), y.contiguous(), 2.0, d.contiguous())
            if ask else None
            for (x, y, g, d), ask in zip(sides, asked)
        ]
        return *parts, None, None
''',
        "all_finite": '''
def all_finite(values):
    """Whether no element is infinite or NaN: none is where their sum is not."""
    values = values.detach()
    total = values.sum() if values.element_size() > 2 else values.sum(dtype=torch.float32)
    return abs(total.item()) < float("inf") or bool(torch.isfinite(values).all())
''',
        "extreme": '''
def extreme(values, how, dims, keepdim=False):
    """``values.amax(dims)``, ``amin`` or ``median``, with the gradient that each has of all elements: those that hold
    the extreme share it."""
    if torch.is_grad_enabled() and values.requires_grad:
        found = _Extreme.apply(values, how, dims)
        return found if keepdim else found.squeeze(dims)
    return _found(values, how, dims, keepdim)


def _found(values, how, dims, keepdim):
    found = getattr(values, how)(dims, keepdim)
    return found if isinstance(found, torch.Tensor) else found.values


class _Extreme(torch.autograd.Function):
    """Elements that hold the extreme share its gradient; that of others is zero, whatever comes in."""

    @staticmethod
    def forward(context, values, how, dims):
        found = _found(values, how, dims, True)
        context.set_materialize_grads(False)
        context.save_for_backward((values == found) | (values.isnan() & found.isnan()))
        context.dims = dims
        return found

    @staticmethod
    def backward(context, gradient):
        if gradient is None:
            return None, None, None
        (holds,) = context.saved_tensors
        return torch.where(holds, gradient / holds.sum(context.dims, keepdim=True), 0), None, None
''',
        "segment_extreme": '''
def segment_extreme(values, how, owners, segments):
    """The "amax" or "amin" of each segment, with the gradient of ``max()``: entries that hold it share it."""
    return _SegmentExtreme.apply(values, how, owners, segments)


class _SegmentExtreme(torch.autograd.Function):
    """The gradient of entries that do not hold the extreme is zero, also where what comes in is not finite."""

    @staticmethod
    def forward(context, values, how, owners, segments):
        rest = values.shape[1:]
        empty = float("-inf" if how == "amax" else "inf")
        found = values.new_full((segments, *rest), empty)
        found = found.scatter_reduce(0, owners.reshape(-1, *[1 for _ in rest]).expand_as(values), values, how)
        own = found[owners]
        context.set_materialize_grads(False)
        context.save_for_backward((values == own) | (values.isnan() & own.isnan()), owners)
        context.segments = segments
        return found

    @staticmethod
    def backward(context, gradient):
        if gradient is None:
            return None, None, None, None
        holds, owners = context.saved_tensors
        counts = gradient.new_zeros(context.segments, *holds.shape[1:]).index_add(0, owners, holds.to(gradient.dtype))
        return torch.where(holds, (gradient / counts)[owners], 0), None, None, None
''',
        "running_extreme": '''
def running_extreme(init, values, how, owners=None, taken=None):
    """``torch.maximum`` or ``minimum`` of ``init`` and all values, or each lane's, one after the other."""
    return _RunningExtreme.apply(init, values, how, owners, taken)


class _RunningExtreme(torch.autograd.Function):
    """Of equal extremes the last takes half of the gradient, the one before it half of the rest, and so on."""

    @staticmethod
    def forward(context, init, values, how, owners, taken):
        if owners is None:
            join = torch.maximum if how == "amax" else torch.minimum
            found = own = join(init, getattr(values, how)(0))
        else:
            lanes = owners.reshape(-1, *[1 for _ in values.shape[1:]]).expand_as(values)
            found = init.scatter_reduce(0, lanes, values, how)
            own = found[owners]
        holds = values == own if taken is None else (values == own) & taken
        context.set_materialize_grads(False)
        context.save_for_backward(holds, found == init, owners, init, values)  # which must not change, as in the loop
        return found

    @staticmethod
    def backward(context, gradient):
        if gradient is None:
            return None, None, None, None, None
        holds, first, owners, _, _ = context.saved_tensors
        upto = holds.cumsum(0)
        if owners is None:
            count, after, own_first, own = upto[-1], upto[-1] - upto, first, gradient
        else:
            count = upto.new_zeros(first.shape).index_add(0, owners, holds.long())
            after, own_first, own = count.cumsum(0)[owners] - upto, first[owners], gradient[owners]
        only = (after == (count if owners is None else count[owners]) - 1) & ~own_first
        share = torch.where(holds, torch.where(only, after, after + 1), 0)
        slopes = torch.where(holds, own * 0.5**share, 0)
        return torch.where(first, gradient * 0.5**count, 0), slopes, None, None, None
''',
        "least": '''
def least(values):
    """The least of some integers; more than any if there are none."""
    return values.min().item() if values.numel() else float("inf")
''',
        "greatest": '''
def greatest(values):
    """The greatest of some integers; less than any if there are none."""
    return values.max().item() if values.numel() else -float("inf")
''',
        "label_bins": '''
def label_bins(labels, first, count):
    """The places of labels among first, first + 1, ..., one place more for all others; how many places there are."""
    bins = labels - first if first else labels
    low, high = bins.aminmax() if bins.numel() else (0, 0)
    if 0 <= int(low) and int(high) < count:
        return bins, count
    return torch.where((bins < 0) | (bins >= count), count, bins), count + 1
''',
        "label_counts": '''
def label_counts(labels, first, count):
    """How many labels are first, first + 1, ...: ``count`` numbers."""
    bins, size = label_bins(labels, first, count)
    return torch.bincount(bins.flatten(), minlength=size)[:count]
''',
        "key_places": '''
def key_places(keys, asked):
    """Where each of some numbers stands among the keys; -1 for those that are no key."""
    order = keys.argsort()
    ordered = keys[order]
    found = torch.searchsorted(ordered, asked.contiguous()).clamp_max(len(keys) - 1)
    return torch.where(ordered[found] == asked, order[found], -1)
''',
        "label_table": '''
def label_table(labels, first, count, others, least, number):
    """How many places have the labels first + i and least + j, at [i + 1, j + 1]; other labels are first and last."""
    sides = []
    for side, low, size in ((labels, first, count), (others, least, number)):
        ends = side.aminmax() if low == 1 and side.numel() else (-1, -1)
        inside = int(ends[0]) >= 0 and int(ends[1]) <= size + 1
        sides.append(side if inside else side.clamp(low - 1, low + size) - (low - 1))
    joint = torch.add(sides[1], sides[0], alpha=number + 2).flatten()
    return torch.bincount(joint, minlength=(count + 2) * (number + 2)).view(count + 2, number + 2)
''',
        "label_either": '''
def label_either(table):
    """How many places have one of two labels, from how many have both."""
    return table.sum(1)[1:-1, None] + table.sum(0)[1:-1] - table[1:-1, 1:-1]
''',
        "counted_own": '''
def counted_own(mask, other, rank):
    """How many of the last ``rank`` dimensions hold, where they are broadcast to those of another mask."""
    own = mask.shape[mask.dim() - rank:]
    shape = torch.broadcast_shapes(own, other.shape[other.dim() - rank:])
    return mask.flatten(-rank).sum(-1) * (shape.numel() // max(1, own.numel()))
''',
        "counted_both": '''
def counted_both(a, b, rank):
    """How many elements of the last ``rank`` dimensions hold in both, for each pair of rows: exact in this dtype."""
    lead, other = a.shape[:a.dim() - rank], b.shape[:b.dim() - rank]
    shape = torch.broadcast_shapes(a.shape[len(lead):], b.shape[len(other):])
    dtype = torch.float32 if shape.numel() < 2**24 else torch.float64
    a, b = a.expand(*lead, *shape), b.expand(*other, *shape)
    rows, columns = (x.reshape(part.numel(), shape.numel()).to(dtype) for x, part in ((a, lead), (b, other)))
    return (rows @ columns.T).long().view(*lead, *other)
''',
        "label_sums": '''
def label_sums(values, labels, first, count):
    """The sums of the rows whose labels are first, first + 1, ...: ``count`` rows."""
    bins, size = label_bins(labels, first, count)
    if values.requires_grad and bins is labels:
        bins = labels.clone()  # backward reads it, where the loop reads labels no more
    sums = values.new_zeros(size, *values.shape[1:]).index_add_(0, bins, values)
    return sums if size == count else sums[:count]
''',
        "times_of_each": '''
def times_of_each(lanes, keys):
    """How often each key is in its lane, at the first place where it stands; 0 at the others."""
    least, most, last = (int(one) for one in (*keys.aminmax(), lanes.amax())) if keys.numel() else (0, 0, 0)
    if (most - least + 1) * (last + 1) >= 2**62:
        keys, least, most = keys.unique(return_inverse=True)[1], 0, keys.numel()
    pairs, order = (lanes * (most - least + 1) + (keys - least)).sort(stable=True)
    first = torch.ones_like(pairs, dtype=torch.bool)
    first[1:] = pairs[1:] != pairs[:-1]
    (first,) = first.nonzero(as_tuple=True)
    times = torch.zeros_like(pairs)
    times[order[first]] = first.diff(append=first.new_tensor([pairs.numel()]))
    return times
''',
        "label_members": '''
def label_members(labels, first, count, active=None):
    """The places of the labels first, first + 1, ..., group by group: the group of each that is active, the place."""
    order = labels.argsort(stable=True)
    own = labels[order] - first
    inside = (own >= 0) & (own < count)
    if active is not None:
        inside = inside & active[torch.where(inside, own, 0)] if count else inside
    return own[inside], order[inside]
''',
        "segments_apart": '''
def segments_apart(starts, lengths):
    """Whether no two runs of so many places, from these starts on, have a place in common."""
    some = lengths > 0
    first, last = starts[some], (starts + lengths)[some]
    if bool((first[1:] >= last[:-1]).all()):
        return True
    order = first.argsort()
    return bool((first[order][1:] >= last[order][:-1]).all())
''',
        "places_apart": '''
def places_apart(indices, sizes):
    """Whether all places are different ones."""
    flat = 0
    for index, size in zip(indices, sizes):
        flat = flat * size + index % size
    flat = np.sort(np.asarray(flat).ravel())
    return bool((flat[1:] != flat[:-1]).all())
''',
        "fold_of_each": '''
def fold_of_each(values, name, lengths, count):
    """A fold of each lane's entries, of which there are as many as the lengths add up to."""
    if len(values) != count:
        raise RequirementFailed("there are not as many entries as lanes have")
    return torch.segment_reduce(values, name, lengths=lengths, unsafe=True)
''',
        "segment_reduce": '''
def segment_reduce(ufunc, values, lengths, empty):
    """The reduction of each run of so many values; ``empty`` where there are none."""
    first, some = np.cumsum(lengths) - lengths, lengths > 0
    if len(lengths) and some.all():
        return ufunc.reduceat(values, first).astype(values.dtype, copy=False)
    folded = np.full((len(lengths), *values.shape[1:]), empty, values.dtype)
    if some.any():
        folded[some] = ufunc.reduceat(values, first[some])
    return folded
''',
        "add_at": '''
def add_at(out, indices, value):
    """``out[indices] += value``, as often as a place is named; numbers without gradients by their place in memory."""
    flat, size = indices[0], out.numel()
    plain = out.is_contiguous() and out.dtype in (torch.float32, torch.float64, torch.int32, torch.int64)
    plain &= not out.requires_grad and not value.requires_grad and value.dtype == out.dtype
    plain = plain and all(index.dtype == torch.int64 and index.numel() > 0 for index in indices)
    for index, extent in zip(indices, out.shape):
        low, high = index.aminmax() if plain else (index, index)
        plain = plain and low.item() >= 0 and high.item() < extent
    for index, extent in zip(indices[1:], out.shape[1:]):
        flat = torch.add(index, flat, alpha=extent) if plain else flat
    if not plain:
        out.index_put_(indices, value, accumulate=True)
    elif value.dim() == 0 and size <= 4 * flat.numel() < 2**26 and abs(value.item()) < float("inf"):
        out.view(-1).add_(torch.bincount(flat.flatten(), minlength=size).to(out.dtype) * value)
    else:
        out.view(-1).index_add_(0, flat.flatten(), value.expand(flat.shape).flatten())
''',
        "update_at": '''
def update_at(out, indices, value, how):
    """``out[indices]`` combined with ``value``, as often as a place is named: "prod", "amax" or "amin"."""
    places = torch.broadcast_tensors(*indices)
    sizes = out.shape[: len(places)]
    places = [torch.where(place < 0, place + size, place).flatten() for place, size in zip(places, sizes)]
    if any(bool((place < 0).any() | (place >= size).any()) for place, size in zip(places, sizes)):
        raise RequirementFailed("an index is out of range")
    flat = torch.zeros_like(places[0])
    for place, size in zip(places, sizes):
        flat = flat * size + place
    rows = out.reshape(sizes.numel(), -1)
    shape = torch.broadcast_shapes(*(index.shape for index in indices)) + out.shape[len(places):]
    value = value.expand(shape)
    value = value.reshape(len(flat), rows.shape[1])
    out.copy_(rows.scatter_reduce(0, flat[:, None].expand_as(value), value, how).view(out.shape))
''',
        "write_last": '''
def write_last(out, indices, value):
    """``out[indices] = value`` where indices may repeat: the last writer wins, as in a loop."""
    places = torch.broadcast_tensors(*(torch.as_tensor(index) for index in indices))
    sizes = out.shape[: len(places)]
    places = [torch.where(place < 0, place + size, place).flatten() for place, size in zip(places, sizes)]
    if any(bool((place < 0).any() | (place >= size).any()) for place, size in zip(places, sizes)):
        raise RequirementFailed("an index is out of range")
    flat = torch.zeros_like(places[0])
    for place, size in zip(places, sizes):
        flat = flat * size + place
    order = torch.arange(len(flat))
    last = torch.full((sizes.numel(),), -1).scatter_reduce(0, flat, order, "amax")
    winners = last[flat] == order
    value = torch.as_tensor(value, dtype=out.dtype).expand(*indices_shape(indices), *out.shape[len(places):])
    value = value.reshape(-1, *out.shape[len(places):])
    out[tuple(place[winners] for place in places)] = value[winners].to(out.dtype)


def indices_shape(indices):
    """The shape of indices together."""
    return torch.broadcast_shapes(*(torch.as_tensor(index).shape for index in indices))
''',
    }
    | SCANS
    | ARRAYS
)


_SCOPE: dict[str, Any] = {}
"""Where the helpers that were asked for are defined, once in a process."""


def helper_functions(names: tuple[str, ...]) -> dict[str, Any]:
    """The helpers of these names."""
    for name in names:
        _define(name)
    return {name: _SCOPE[name] for name in names}


def _define(name: str) -> None:
    """Define a helper, after the helpers that it calls."""
    if not _SCOPE:
        import numpy as np
        import torch

        _SCOPE.update(math=math, np=np, torch=torch, RequirementFailed=RequirementFailed)
    if name in _SCOPE:
        return
    text, label = HELPERS[name], f"<looplift helper {name}>"
    linecache.cache[label] = (len(text), None, text.splitlines(keepends=True), label)
    code = compile(text, label, "exec")
    for called in names_in(code) & HELPERS.keys() - {name}:
        _define(called)
    exec(code, _SCOPE)
