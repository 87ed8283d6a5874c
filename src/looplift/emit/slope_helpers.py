"""Small functions that emitted code may need for gradients that come in infinite, or as NaN.

Batched code gives zeros to what takes no part in a lane, and infinity times zero is NaN. The ordinary gradient is taken
where what comes in is finite, which one sum tells.
"""

from __future__ import annotations

SLOPES = {
    "to_differentiate_by": '''
def to_differentiate_by(value):
    """The same values, to take a gradient by; that has gradients by what the value was made of."""
    return value.view_as(value) if value.requires_grad else value.detach().requires_grad_()
''',
    "asks": '''
def asks(*values):
    """Whether one of some tensors asks for a gradient."""
    return any(value.requires_grad for value in values)
''',
    "comes_finite": '''
def comes_finite(gradient):
    """Whether a gradient is finite, as is taken for granted where many are computed at once, which tell of none."""
    try:
        return bool(torch.isfinite(gradient.sum()))
    except RuntimeError:
        return True
''',
    "unless_finite": '''
def unless_finite(found, slopes, *inputs, twice=False):
    """A value, whose inputs get ``slopes(gradient, *inputs)`` where the gradient that comes in is not finite; with
    ``twice`` also where gradients of gradients are asked for."""
    if not (torch.is_grad_enabled() and found.requires_grad) or torch.compiler.is_compiling():
        return found
    return _UnlessFinite.apply(found, slopes, twice, *inputs)


class _UnlessFinite(torch.autograd.Function):
    """Hands the gradient on to the value, or else to its inputs."""

    @staticmethod
    def forward(context, found, slopes, twice, *inputs):
        context.set_materialize_grads(False)
        context.save_for_backward(*inputs)
        context.slopes, context.twice = slopes, twice
        return found.detach()

    @staticmethod
    def backward(context, gradient):
        apart = context.twice and torch.is_grad_enabled()
        if gradient is None or not apart and comes_finite(gradient):
            return gradient, *[None for _ in context.needs_input_grad[1:]]
        return None, None, None, *context.slopes(gradient, *context.saved_tensors)
''',
    "greatest_of": '''
def greatest_of(values, dims):
    """``amax`` with the gradient of ``max()``: zero, whatever comes in, for all that do not hold it."""
    def slopes(gradient, values):
        found = values.amax(dims, keepdim=True)
        holds = (values == found) | (values.isnan() & found.isnan())
        for dim in reversed(dims):
            gradient = gradient.unsqueeze(dim)
        return (torch.where(holds, gradient / holds.sum(dims, keepdim=True), 0),)
    found = values.amax(dims)
    if torch.compiler.is_compiling() or not found.isnan().any():
        return unless_finite(found, slopes, values)
    return extreme(values, "amax", dims)
''',
    "product": '''
def product(values, dim, rank, at_once=False, keepdim=False):
    """``values.prod(dim)``, with the gradients of each lane's own values, its last ``rank`` dimensions; ``at_once``:
    those of ``prod()``, zeros where several elements are zero."""
    found = values.prod(dim, keepdim=keepdim)
    if not (torch.is_grad_enabled() and found.requires_grad) or torch.compiler.is_compiling():
        return found
    if bool((found.detach().abs() > 0).all()):
        return found
    found = with_zeros_apart(values, rank, lambda part: part.prod(dim, keepdim=True))
    if at_once:
        found = unless_finite(found, lambda gradient, values: _of_one_zero(gradient, values, dim), values)
    return found if keepdim else found.squeeze(dim)


def _of_one_zero(gradient, values, dim):
    """The gradients of ``prod()`` of each row: those of several zeros have none but in graphs."""
    with torch.enable_grad():
        again = with_zeros_apart(values, 1, lambda part: part.prod(dim, keepdim=True))
    later = torch.is_grad_enabled()
    (shares,) = torch.autograd.grad(again, values, gradient, create_graph=later)
    return (shares if later else torch.where((values == 0).sum(dim, keepdim=True) > 1, 0, shares),)
''',
    "products_so_far": '''
def products_so_far(values, dim, rank):
    """``values.cumprod(dim)``, with the gradients of each lane's own values, its last ``rank`` dimensions."""
    found = values.cumprod(dim)
    if not (torch.is_grad_enabled() and found.requires_grad) or torch.compiler.is_compiling():
        return found
    if bool((found.detach().abs() > 0).all()):
        return found
    return with_zeros_apart(values, rank, lambda part: part.cumprod(dim))
''',
    "with_zeros_apart": '''
def with_zeros_apart(values, rank, multiplied):
    """Products of lanes without zeros and of others, each computed apart: where torch finds a zero anywhere, it takes
    other formulas for all gradients."""
    whole = (values.detach() != 0).all(-1, keepdim=True)
    for dim in range(-rank, -1):
        whole = whole.all(dim, keepdim=True)
    return torch.where(whole, multiplied(torch.where(whole, values, 1)), multiplied(torch.where(whole, 1, values)))
''',
    "segment_product": '''
def segment_product(values, owners, segments, at_once=False):
    """The product of each segment; ``at_once``: with the gradients of ``prod()`` of each, not of its steps."""
    places = owners.reshape(-1, *[1 for _ in values.shape[1:]]).expand_as(values)

    def slopes(gradient, values):
        shares = gradient[owners] * products_of_others(values, owners)
        if not at_once or torch.is_grad_enabled():
            return (shares,)
        zeros = (values == 0).long()
        several = zeros.new_zeros((segments, *zeros.shape[1:])).index_add(0, owners, zeros) > 1
        return (torch.where(several[owners], 0, shares),)
    found = values.new_full((segments, *values.shape[1:]), 1).scatter_reduce(0, places, values, "prod")
    return unless_finite(found, slopes, values, twice=True)
''',
    "products_of_others": '''
def products_of_others(values, owners):
    """For each entry the product of all others of its segment; its gradients have gradients, of zeros too."""
    order = owners.argsort(stable=True)
    values, owners = values[order], owners[order]
    before = _products_before(values, owners)
    after = _products_before(values.flip(0), owners.flip(0)).flip(0)
    return (before * after)[order.argsort()]


def _products_before(values, owners):
    """For each entry the product of those before it in its segment: of one, of two, of four, ..."""
    def before(values, count):
        own = (owners[count:] == owners[:-count]).reshape(-1, *[1 for _ in values.shape[1:]])
        return torch.cat([torch.ones_like(values[:count]), torch.where(own, values[:-count], 1)])
    count, longest = 1, int(owners.unique_consecutive(return_counts=True)[1].max()) if len(owners) else 0
    found = before(values, 1)
    while count < longest:
        found, count = found * before(found, count), 2 * count
    return found
''',
    "product_where": '''
def product_where(function, a, b, held_a=None, held_b=None):
    """``function(a, b)``, linear in both, which may put zeros around them: these, and those where a factor is not held,
    take no part in gradients, whatever comes in."""
    found = function(a, b)
    if not (torch.is_grad_enabled() and found.requires_grad) or torch.compiler.is_compiling():
        return found
    return _ProductWhere.apply(found, function, a, b, held_a, held_b)


class _ProductWhere(torch.autograd.Function):
    """Hands the gradient on to the product; to its factors what each product of numbers adds to it, if not finite."""

    @staticmethod
    def forward(context, found, function, a, b, held_a, held_b):
        context.set_materialize_grads(False)
        context.save_for_backward(a if b.requires_grad else None, b if a.requires_grad else None, held_a, held_b)
        context.function, context.shapes = function, (a.shape, b.shape)
        return found.detach()

    @staticmethod
    def backward(context, gradient):
        if gradient is None or comes_finite(gradient):
            return gradient, None, None, None, None, None
        a, b, held_a, held_b = context.saved_tensors
        function, (first, second) = context.function, context.shapes
        slopes_a = None if b is None else _slopes(lambda a, b: function(b, a), b, held_b, first, gradient)
        return None, None, slopes_a, None if a is None else _slopes(function, a, held_a, second, gradient), None, None


def _slopes(function, factor, held, shape, gradient):
    """The gradient of the second factor, a sum of products with the first one where that is held."""
    again, dtype = torch.is_grad_enabled(), factor.dtype

    def summed(factor, gradient, again=False):
        with torch.enable_grad():
            other = factor.new_zeros(shape, requires_grad=True)
            product = function(factor, other)
        return torch.autograd.grad(product, other, gradient, create_graph=again)[0]

    def counted(*pairs):
        return sum(summed(one.to(dtype), other.to(dtype)) for one, other in pairs) > 0.5
    held = torch.ones_like(factor, dtype=torch.bool) if held is None else held.expand_as(factor)
    above, below = gradient == float("inf"), gradient == -float("inf")
    up = counted((held & (factor > 0), above), (held & (factor < 0), below))
    down = counted((held & (factor > 0), below), (held & (factor < 0), above))
    none = counted((held, gradient.isnan()), (held & (factor == 0), above | below))
    found = summed(factor, torch.where(gradient.isfinite(), gradient, 0), again)
    found = torch.where(up, float("inf"), torch.where(down, -float("inf"), found))
    return torch.where(none | (up & down), float("nan"), found)
''',
}
