"""Small functions that emitted code may need for scans: along one dimension, for tensors and for NumPy arrays."""

from __future__ import annotations

SCANS = {
    "sums_from": '''
def sums_from(start, terms, dim):
    """Running sums that begin with ``start``, to which one term after the other is added."""
    return torch.cat([start.unsqueeze(dim), terms], dim).cumsum(dim).narrow(dim, 1, terms.shape[dim])
''',
    "sums_from_array": '''
def sums_from_array(start, terms, dim):
    """Running sums that begin with ``start``, to which one term after the other is added."""
    sums = np.concatenate([np.expand_dims(start, dim), terms], dim).cumsum(dim)
    return np.delete(sums, 0, dim)
''',
    "shifted": '''
def shifted(first, values, dim):
    """What each position had before it: ``first``, then the values but for the last."""
    first = first.unsqueeze(dim).expand_as(values.narrow(dim, 0, 1))
    return torch.cat([first, values.narrow(dim, 0, values.shape[dim] - 1)], dim)
''',
    "shifted_array": '''
def shifted_array(first, values, axis):
    """What each position had before it: ``first``, then the values but for the last."""
    before, head = np.take(values, range(values.shape[axis] - 1), axis), np.take(values, [0], axis)
    return np.concatenate([np.broadcast_to(np.expand_dims(first, axis), head.shape), before], axis)
''',
    "running_last": '''
def running_last(taken, values, first, dim):
    """At each position the last value that was taken so far, ``first`` before there is one."""
    shape = [-1 if k == dim else 1 for k in range(taken.dim())]
    place = torch.arange(taken.shape[dim], device=taken.device).view(shape)
    place = torch.where(taken, place, -1).cummax(dim).values
    pick = torch.Tensor.gather if values.shape == place.shape else _taken_along_dim
    place = place.view(place.shape + (1,) * (values.dim() - place.dim()))
    return torch.where(place >= 0, pick(values, dim, place.clamp(min=0)), first.unsqueeze(dim))


def _taken_along_dim(values, dim, place):
    return torch.take_along_dim(values, place, dim)
''',
    "running_last_array": '''
def running_last_array(taken, values, first, axis):
    """At each position the last value that was taken so far, ``first`` before there is one."""
    shape = [-1 if k == axis else 1 for k in range(taken.ndim)]
    place = np.arange(taken.shape[axis]).reshape(shape)
    place = np.maximum.accumulate(np.where(taken, place, -1), axis)
    place = place.reshape(place.shape + (1,) * (values.ndim - place.ndim))
    return np.where(place >= 0, np.take_along_axis(values, place.clip(0), axis), np.expand_dims(first, axis))
''',
    "first_true": '''
def first_true(mask, dim, otherwise, start=0, step=1):
    """Where a mask holds first along a dimension, counted from ``start``; ``otherwise`` where it never does."""
    found, place = mask.max(dim)
    return torch.where(found, start + step * place if start or step != 1 else place, otherwise)
''',
    "places_reached": '''
def places_reached(last, places, more):
    """How many places of an axis come before what no lane looks at: what is behind its last one, or, with one more,
    behind the next."""
    if last.numel() * places < 16384:
        return places
    return max(1, min(places, int(last.max()) + more))
''',
    "first_true_array": '''
def first_true_array(mask, axis, otherwise, start=0, step=1):
    """Where a mask holds first along an axis, counted from ``start``; ``otherwise`` where it never does."""
    return np.where(mask.any(axis), start + step * mask.argmax(axis), otherwise)
''',
    "last_taken": '''
def last_taken(taken, values, first, dim):
    """The last value that was taken, ``first`` where none was."""
    shape = [-1 if k == dim else 1 for k in range(taken.dim())]
    place = torch.arange(taken.shape[dim], device=taken.device).view(shape)
    place = torch.where(taken, place, -1).amax(dim)
    place = place.view(place.shape + (1,) * (values.dim() - taken.dim()))
    found = torch.take_along_dim(values, place.clamp(min=0).unsqueeze(dim), dim).squeeze(dim)
    return torch.where(place >= 0, found, first)
''',
    "last_taken_array": '''
def last_taken_array(taken, values, first, axis):
    """The last value that was taken, ``first`` where none was."""
    shape = [-1 if k == axis else 1 for k in range(taken.ndim)]
    place = np.where(taken, np.arange(taken.shape[axis]).reshape(shape), -1).max(axis)
    place = place.reshape(place.shape + (1,) * (values.ndim - taken.ndim))
    found = np.take_along_axis(values, np.expand_dims(place.clip(0), axis), axis).squeeze(axis)
    return np.where(place >= 0, found, first)
''',
    "passes": '''
def passes(sign, values, first, dim, mask=None):
    """Where a value is ``sign`` (">", ">=", "<", "<=") than ``first`` and all values before it that the mask takes."""
    values, first = values.detach(), first.detach().unsqueeze(dim)
    least = sign[0] == "<"
    infinity = float("inf") if least else float("-inf")
    limits = None if values.is_floating_point() else torch.iinfo(values.dtype)
    never = infinity if limits is None else limits.max if least else limits.min
    seen = torch.where(values == values if mask is None else mask & (values == values), values, never)
    best = torch.minimum(seen.cummin(dim).values, first) if least else torch.maximum(seen.cummax(dim).values, first)
    before = torch.cat([first, best.narrow(dim, 0, best.shape[dim] - 1)], dim)
    taken = {">": torch.gt, ">=": torch.ge, "<": torch.lt, "<=": torch.le}[sign](values, before)
    return taken if mask is None else taken & mask
''',
    "passes_array": '''
def passes_array(sign, values, first, axis, mask=None):
    """Where a value is ``sign`` (">", ">=", "<", "<=") than ``first`` and all values before it that the mask takes."""
    first, least, floating = np.expand_dims(first, axis), sign[0] == "<", values.dtype.kind == "f"
    limits = np.iinfo(values.dtype) if not floating else None
    never = (np.inf if least else -np.inf) if floating else (limits.max if least else limits.min)
    seen = np.where(values == values if mask is None else mask & (values == values), values, values.dtype.type(never))
    extreme = np.minimum if least else np.maximum
    best = extreme(extreme.accumulate(seen, axis), first)
    before = np.concatenate([first, np.take(best, range(best.shape[axis] - 1), axis)], axis)
    taken = {">": np.greater, ">=": np.greater_equal, "<": np.less, "<=": np.less_equal}[sign](values, before)
    return taken if mask is None else taken & mask
''',
    "running_best": '''
def running_best(sign, values, first, dim):
    """At each position the last value so far that was ``sign`` (">", ">=", "<", "<=") than ``first`` and all before."""
    least, size = sign[0] == "<", values.shape[dim]
    if (plain := _plain_best(least, values, first, dim)) is not None:
        return plain
    seen = torch.where(values == values, values, float("inf") if least else float("-inf"))
    seen = torch.cat([first.unsqueeze(dim), seen], dim)
    best = (torch.cummin if least else torch.cummax)(seen, dim).values.narrow(dim, 0, size)
    taken = {">": torch.gt, ">=": torch.ge, "<": torch.lt, "<=": torch.le}[sign](values, best)
    shape = [-1 if k == dim else 1 for k in range(values.dim())]
    place = torch.arange(1, size + 1, device=values.device).view(shape)
    return seen.gather(dim, torch.where(taken, place, 0).cummax(dim).values)


def _plain_best(least, values, first, dim):
    """The same where equal values are one, as no gradient tells them apart and no zero its sign, and none is NaN."""
    asks = torch.is_grad_enabled() and (values.requires_grad or first.requires_grad)
    if asks or values.dtype != first.dtype or not values.shape[dim]:
        return None
    best, better = (torch.cummin, torch.minimum) if least else (torch.cummax, torch.maximum)
    found = better(best(values, dim).values, first.unsqueeze(dim))
    return None if (found == 0).any() or found.select(dim, -1).isnan().any() else found
''',
    "best_of": '''
def best_of(sign, values, first, dim, mask=None):
    """The last place whose value is ``sign`` than ``first`` and all values before it that the mask takes, or -1, and
    the value there, ``first`` where there is none."""
    kept, least = mask, sign[0] == "<"
    if values.is_floating_point():
        never = float("inf") if least else float("-inf")
        kept = values == values if mask is None else mask & (values == values)
    elif mask is not None:
        limits = torch.iinfo(values.dtype)
        never = limits.max if least else limits.min
    seen = values if kept is None else torch.where(kept, values, never)
    best, place = seen.min(dim) if least else seen.max(dim)
    if "=" in sign:  # the last one of those that are equal
        same = seen == best.unsqueeze(dim)
        shape = [-1 if k == dim else 1 for k in range(seen.dim())]
        places = torch.arange(seen.shape[dim], device=seen.device).view(shape)
        place = torch.where(same if kept is None else same & kept, places, -1).amax(dim)
        best = seen.gather(dim, place.clamp(min=0).unsqueeze(dim)).squeeze(dim)
    better = {">": torch.gt, ">=": torch.ge, "<": torch.lt, "<=": torch.le}[sign](best, first)
    return torch.where(better, place, -1), torch.where(better, best, first)
''',
    "best_place": '''
def best_place(sign, values, first, dim, mask=None):
    """The last place whose value is ``sign`` than ``first`` and all values before it that the mask takes, or -1."""
    return best_of(sign, values.detach(), first.detach(), dim, mask)[0]
''',
    "best_place_array": '''
def best_place_array(sign, values, first, axis, mask=None):
    """The last place whose value is ``sign`` than ``first`` and all values before it that the mask takes, or -1."""
    least, floating = sign[0] == "<", values.dtype.kind == "f"
    limits = np.iinfo(values.dtype) if not floating else None
    never = (np.inf if least else -np.inf) if floating else (limits.max if least else limits.min)
    kept = values == values if mask is None else mask & (values == values)
    seen = np.where(kept, values, values.dtype.type(never))
    place = seen.argmin(axis) if least else seen.argmax(axis)
    best = np.take_along_axis(seen, np.expand_dims(place, axis), axis)
    if "=" in sign:  # the last one of those that are equal
        shape = [-1 if k == axis else 1 for k in range(seen.ndim)]
        place = np.where((seen == best) & kept, np.arange(seen.shape[axis]).reshape(shape), -1).max(axis)
    better = {">": np.greater, ">=": np.greater_equal, "<": np.less, "<=": np.less_equal}[sign]
    return np.where(better(best.squeeze(axis), first), place, -1)
''',
    "at_best": '''
def at_best(place, values, first, dim):
    """The value at a place, ``first`` where there is none."""
    index = place.clamp(min=0).unsqueeze(dim)
    if values.dim() == index.dim():
        return torch.where(place >= 0, values.gather(dim, index).squeeze(dim), first)
    lane = (1,) * (values.dim() - index.dim())
    found = torch.take_along_dim(values, index.view(index.shape + lane), dim).squeeze(dim)
    return torch.where((place >= 0).view(place.shape + lane), found, first)
''',
    "at_best_array": '''
def at_best_array(place, values, first, axis):
    """The value at a place, ``first`` where there is none."""
    place = np.asarray(place).reshape(np.shape(place) + (1,) * (np.ndim(first) - np.ndim(place)))
    found = np.take_along_axis(values, np.expand_dims(place.clip(0), axis), axis).squeeze(axis)
    return np.where(place >= 0, found, first)
''',
    "keeps_products": '''
def keeps_products(h, a, dim):
    """Whether states are finite, and as they are where their factors are multiplied one by one: no product of some of
    the factors vanishes that the others, or the states, would have made large again."""
    if not h.numel():
        return True
    h, limits, factors = h.detach(), torch.finfo(h.dtype), a.detach() if isinstance(a, torch.Tensor) else None
    found = torch.stack([*h.aminmax(), *(factors.aminmax() if factors is not None else ())]).tolist()
    largest, least, steps = max(map(abs, found[:2])), math.log(limits.tiny), h.shape[dim]
    smallest, highest = (min(found[2:]), max(map(abs, found[2:]))) if found[2:] else (abs(a), abs(a))
    if largest <= limits.tiny**-0.25 and highest <= 1:
        return True
    if not largest < float("inf"):
        return False
    if smallest > 0 and steps * math.log(smallest) >= least:
        return True
    lost = least + math.log(largest or 1)
    allowed = max(0.75 * least, math.log(h.abs().amin().item() or limits.tiny) + math.log(limits.eps))
    if factors is None or lost + 2 * steps * math.log(max(highest, 1)) <= allowed:
        return lost + 2 * steps * math.log(max(highest, 1)) <= allowed
    logs = torch.where(factors == 0, 1, factors.abs()).log()
    if logs.clamp(max=0).sum(dim).amin() >= least or lost + 2 * logs.clamp(min=0).sum(dim).amax() <= allowed:
        return True
    logs = logs.transpose(dim, -1).contiguous().cumsum(-1)  # whose differences are those of products of factors
    if (logs - logs.cummax(-1)[0]).amin() >= least:
        return True
    return bool(lost + 2 * (logs - logs.cummin(-1)[0]).amax() <= allowed)
''',
    "linear_recurrence": '''
def linear_recurrence(a, b, h, dim, begun=None):
    """``h = a * h + b`` along a dimension, all values of h; from zeros on without h, or of the shape that is given.

    ``begun``: where h begins anew, and so has a factor of zero, which does not stand in the loop.
    """
    constant, size = not isinstance(a, torch.Tensor), b.shape[dim]
    if isinstance(h, torch.Size):
        h = None if b.shape[b.dim() - len(h) :] == h else b.new_zeros((1,) * (b.dim() - 1 - len(h)) + h)
    way = _by_powers if constant else _doubled
    needed = torch.is_grad_enabled() and not constant and a.requires_grad  # backward needs the values: they get a copy
    if h is None and constant and a - a == 0:
        return _Recurrence.apply(a, b, dim, True, way, None) if _asks(b) else way(a, b, dim, True)
    h = b.detach().select(dim, 0) * 0 if h is None else h
    if h.shape == b.shape[:dim] + b.shape[dim + 1 :] and not (needed or _asks(b) or _asks(h)):
        b = _in_order(b, dim)
        b.select(dim, 0).add_((a if constant else a.select(dim, 0)) * h)
        return way(a if constant else a.narrow(dim, 1, size - 1), b, dim, True)
    first = (a if constant else a.narrow(dim, 0, 1)) * h.unsqueeze(dim) + b.narrow(dim, 0, 1)
    shape = [size if k == dim else n for k, n in enumerate(first.shape)]
    b = torch.cat([first, b.expand(shape).narrow(dim, 1, size - 1)], dim)
    a = a if constant else a.expand(shape).narrow(dim, 1, size - 1)
    if not needed and not _asks(b):
        return way(a, b, dim, True)
    begun = None if begun is None else begun.expand(shape).narrow(dim, 1, size - 1)
    found = _Recurrence.apply(a, b, dim, True, way, begun)
    return found.clone() if needed else found


def _in_order(values, dim):
    """A copy in which each state lies in memory as the loop's: of one dimension without gaps, else as what it is of."""
    single = dim == 0 and values.dim() < 3
    return values.clone(memory_format=torch.contiguous_format if single else torch.preserve_format)


def _asks(values):
    return torch.is_grad_enabled() and values.requires_grad


class _Recurrence(torch.autograd.Function):
    """Adds ``a[k] * h[k]`` to ``h[k + 1]``, one after the other; or the other way around, which gives the gradients."""

    @staticmethod
    def forward(context, a, h, dim, forth, way, begun):
        found = way(a, _in_order(h, dim), dim, forth).detach()  # no view of what is made here: it may change in place
        if not forth and found.numel() and not torch.compiler.is_compiling() and not _is_moderate(found):
            found = _one_by_one(a, _in_order(h, dim), dim, forth, begun).detach()
        factors = isinstance(a, torch.Tensor)
        context.set_materialize_grads(False)
        context.save_for_backward(begun, *((a, found if context.needs_input_grad[0] else None) if factors else ()))
        context.number, context.dim, context.forth = None if factors else a, dim, forth
        return found

    @staticmethod
    def backward(context, gradient):
        if gradient is None:
            return None, None, None, None, None, None
        begun, *saved = context.saved_tensors
        a, h = saved or (context.number, None)
        factor = a.conj() if context.number is None else a
        if torch._C._functorch.is_legacy_batchedtensor(gradient):
            gradient = _apart(factor, gradient, context.dim, not context.forth, begun)
        else:
            gradient = _Recurrence.apply(factor, gradient, context.dim, not context.forth, _doubled, begun)
        if not context.needs_input_grad[0]:
            return None, gradient, None, None, None, None
        size = a.shape[context.dim]
        early, late = (h, gradient) if context.forth else (gradient, h)
        early, late = early.narrow(context.dim, 0, size), late.narrow(context.dim, 1, size)
        slopes = early.conj() * late if context.forth else early * late.conj()
        return slopes, gradient, None, None, None, None


def _is_moderate(gradient):
    """Whether nothing is left of it by factors whose product vanishes; nothing of it is infinite or NaN."""
    return bool(gradient.abs().amax() <= torch.finfo(gradient.dtype).tiny ** -0.25)


def _one_by_one(a, h, dim, forth, begun):
    """The same one position after the other, as a loop rounds it; nothing comes from where ``begun`` cuts it off."""
    rows, a = h.transpose(0, dim), a.transpose(0, dim) if isinstance(a, torch.Tensor) else a
    begun = None if begun is None else begun.transpose(0, dim)
    for k in range(len(rows) - 1) if forth else range(len(rows) - 2, -1, -1):
        step = (a[k] if isinstance(a, torch.Tensor) else a) * rows[k if forth else k + 1]
        rows[k + 1 if forth else k].add_(step if begun is None else torch.where(begun[k], 0, step))
    return h


def _apart(a, h, dim, forth, begun):
    """The same where ``h`` stands for many gradients, which nothing changes in place."""
    rows, a = list(h.unbind(dim)), a.transpose(0, dim) if isinstance(a, torch.Tensor) else a
    begun = None if begun is None else begun.transpose(0, dim)
    for k in range(len(rows) - 1) if forth else range(len(rows) - 2, -1, -1):
        step = (a[k] if isinstance(a, torch.Tensor) else a) * rows[k if forth else k + 1]
        to = k + 1 if forth else k
        rows[to] = rows[to] + (step if begun is None else torch.where(begun[k], torch.zeros_like(step), step))
    return torch.stack(rows, dim)


def _doubled(a, h, dim, forth):
    """Adds ``a[k] * h[k]`` to ``h[k + 1]``, or ``a[k] * h[k + 1]`` to ``h[k]``, over 1, 2, 4... positions at a time."""
    rows, a = h.transpose(0, dim), a.transpose(0, dim) if isinstance(a, torch.Tensor) else a
    size, step = len(rows), 1
    while step < size:
        early, late = rows[: size - step], rows[step:]
        if forth:
            late.add_(a * early)
        else:
            early.add_(a * late)
        if 2 * step < size:
            a = a[: size - 2 * step] * a[step:] if isinstance(a, torch.Tensor) else a * a
        step *= 2
    return h


def _by_powers(a, h, dim, forth):
    """The same for a number, by a matrix of its powers for some positions at a time, where that takes less time."""
    size = h.shape[dim]
    if 64 < size < 2048 or not h.is_floating_point() or torch.is_autocast_enabled(h.device.type):
        return _doubled(a, _in_order(h, dim), dim, forth)
    width = size if size <= 64 else 32
    powers = torch.pow(a, torch.arange(width + 1, dtype=h.dtype, device=h.device))
    matrix = torch.nn.functional.pad(powers[:-1], (width - 1, 0)).unfold(0, width, 1).flip(0)
    if size == width and dim == 0 and h.dim() == 2:
        return matrix.mT @ h
    kept, h = h, h.transpose(dim, -1)
    if size == width:
        return _as_kept(kept, (h @ matrix).transpose(dim, -1), dim)
    parts = torch.nn.functional.pad(h, (0, -size % width)).unflatten(-1, (-1, width)) @ matrix
    ends = _by_powers(powers[-1].item(), parts[..., -1], h.dim() - 1, True)
    parts[..., 1:, :] += ends[..., :-1].unsqueeze(-1) * powers[1:]
    return _as_kept(kept, parts.flatten(-2)[..., :size].transpose(dim, -1), dim)


def _as_kept(kept, found, dim):
    """Values whose states lie in memory as the loop's, as those of others do where they have several dimensions."""
    if dim:
        return found
    return found.contiguous() if found.dim() < 3 else torch.empty_like(kept).copy_(found)

''',
    "keeps_products_array": '''
def keeps_products_array(h, a, axis):
    """Whether states are finite, and as they are where their factors are multiplied one by one: no product of some of
    the factors vanishes that the others, or the states, would have made large again."""
    if not h.size:
        return True
    limits, sizes, a = np.finfo(h.dtype), np.abs(h), np.abs(a)
    least, largest = np.log(limits.tiny), sizes.max()
    if largest <= float(limits.tiny) ** -0.25 and np.max(a) <= 1:
        return True
    if not largest < np.inf:
        return False
    allowed = max(0.75 * least, np.log(sizes.min() or limits.tiny) + np.log(limits.eps))
    logs = np.cumsum(np.broadcast_to(np.log(np.where(a > 0, a, 1)), h.shape), axis)
    grown = np.max(logs - np.minimum.accumulate(logs, axis))
    shrunk = np.min(logs - np.maximum.accumulate(logs, axis))
    return bool(shrunk >= least or least + np.log(largest or 1) + 2 * grown <= allowed)
''',
    "linear_recurrence_array": '''
def linear_recurrence_array(a, b, h, axis):
    """``h = a * h + b`` along an axis, all values of h, by doubling (Hillis and Steele 1986)."""
    h = np.expand_dims(h, axis)
    b = np.moveaxis(np.broadcast_to(b, np.broadcast_shapes(b.shape, h.shape)), axis, 0)
    h, constant = np.moveaxis(h, axis, 0), not isinstance(a, np.ndarray)
    a = a if constant else np.moveaxis(a, axis, 0)
    b = np.concatenate([(a if constant else a[:1]) * h + b[:1], b[1:]])
    step = 1
    while step < len(b):
        later = a if constant else a[step:]
        b = np.concatenate([b[:step], b[step:] + later * b[:-step]])
        a = a * a if constant else np.concatenate([a[:step], later * a[:-step]])
        step *= 2
    return np.moveaxis(b, 0, axis)
''',
    "all_lanes": '''
def all_lanes(waiting, held):
    """What each lane holds, those that wait and those that went on."""
    if waiting is None:
        return held
    places, before = waiting
    return tuple(one.index_copy(0, places, now) for one, now in zip(before, held))
''',
    "as_one_axis": '''
def as_one_axis(dims, held):
    """The first dimensions as one, and their shape before."""
    return held[0].shape[:dims], *(one.flatten(0, dims - 1) for one in held)
''',
    "as_axes": '''
def as_axes(shape, held):
    """The first dimension as several."""
    return tuple(one.unflatten(0, shape) for one in held)
''',
    "those_that_go_on": '''
def those_that_go_on(active, waiting, held, given, many=1024):
    """Of many lanes, once half are done, the others alone. Waiting: their places, and what all of them held before."""
    if len(active) < many or 2 * int(active.count_nonzero()) > len(active):
        return waiting, *held, *given
    here = active.nonzero().squeeze(1)
    places, before = (here, held) if waiting is None else (waiting[0][here], all_lanes(waiting, held))
    return (places, before), *(one.index_select(0, here) for one in (*held, *given))
''',
    "longest_first": '''
def longest_first(lengths, held, given):
    """The order of lanes in which their lengths fall, how many of them run each step, and what they have in it."""
    least, most = (int(one) for one in lengths.aminmax())
    if least == most:
        return None, [len(lengths)] * most, *held, *given
    lengths, order = lengths.sort(descending=True, stable=True)
    counts = (len(lengths) - lengths.clamp(min=0).bincount().cumsum(0)[:-1]).tolist()
    return order, counts, *(one.index_select(0, order) for one in (*held, *given))
''',
    "first_lanes": '''
def first_lanes(counts, step, done, held, given):
    """What the lanes have that run a step, the first ones; what the others hold is added to what is done."""
    if (count := counts[step]) == len(held[0]):
        return *held, *given
    done.append(tuple(one[count:] for one in held))
    return tuple(one[:count] for one in (*held, *given))
''',
    "of_first_lanes": '''
def of_first_lanes(values, order, counts, step):
    """The values of the lanes that run a step, longest first."""
    return values if order is None else values.index_select(0, order[: counts[step]])
''',
    "places_of_steps": '''
def places_of_steps(first, counts, way=1):
    """Of the lanes that run each step the places at which they are, one step after the other."""
    lanes = torch.tensor(counts, dtype=torch.int64, device=first.device)
    lane = torch.arange(sum(counts), device=first.device) - (lanes.cumsum(0) - lanes).repeat_interleave(lanes)
    return first[lane] + way * torch.arange(len(counts), device=first.device).repeat_interleave(lanes)
''',
    "in_old_order": '''
def in_old_order(order, done, held):
    """What each lane holds, where it stood before lanes were ordered."""
    if order is None:
        return held
    places = order.argsort()
    return tuple(torch.cat(parts[::-1]).index_select(0, places) for parts in zip(*done, held))
''',
    "of_lanes": '''
def of_lanes(values, waiting):
    """The values of the lanes that go on."""
    return values if waiting is None else values[waiting[0]]
''',
}
