"""Small functions that emitted code may need for gradients that come in infinite, or as NaN.

Batched code gives zeros to what takes no part in a lane, and infinity times zero is NaN. The ordinary gradient is taken
where what comes in is finite, which one sum tells.
"""

from __future__ import annotations

SLOPES = {
    "comes_finite": '''
def comes_finite(gradient):
    """Whether a gradient is finite, as is taken for granted where many are computed at once, which tell of none."""
    try:
        return bool(torch.isfinite(gradient.sum()))
    except RuntimeError:
        return True
''',
    "unless_finite": '''
def unless_finite(found, slopes, *inputs):
    """A value, whose inputs get ``slopes(gradient, *inputs)`` where the gradient that comes in is not finite."""
    if not (torch.is_grad_enabled() and found.requires_grad) or torch.compiler.is_compiling():
        return found
    return _UnlessFinite.apply(found, slopes, *inputs)


class _UnlessFinite(torch.autograd.Function):
    """Hands the gradient on to the value, or else to its inputs."""

    @staticmethod
    def forward(context, found, slopes, *inputs):
        context.set_materialize_grads(False)
        context.save_for_backward(*inputs)
        context.slopes = slopes
        return found.detach()

    @staticmethod
    def backward(context, gradient):
        count = len(context.needs_input_grad) - 2
        if gradient is None or comes_finite(gradient):
            return (gradient, None) + (None,) * count
        return None, None, *context.slopes(gradient, *context.saved_tensors)
''',
    "greatest_of": '''
def greatest_of(values, dims):
    """``values.amax(dims)``; elements that do not hold it have a gradient of zero, whatever comes in."""
    def slopes(gradient, values):
        found = values.amax(dims, keepdim=True)
        holds = (values == found) | (values.isnan() & found.isnan())
        for dim in reversed(dims):
            gradient = gradient.unsqueeze(dim)
        return (torch.where(holds, gradient / holds.sum(dims, keepdim=True), 0),)
    return unless_finite(values.amax(dims), slopes, values)
''',
    "product": '''
def product(values, dim):
    """``values.prod(dim)``, with the gradients of ``prod()`` of each row, zeros where several elements are zero."""
    def slopes(gradient, values):
        with torch.enable_grad():
            again = values.prod(dim)
        return (shares_of_product(again, values, gradient, lambda zeros: zeros.sum(dim, keepdim=True)),)
    return unless_finite(values.prod(dim), slopes, values)
''',
    "segment_product": '''
def segment_product(values, owners, segments):
    """The product of each segment, with the gradients of ``prod()`` of each."""
    places = owners.reshape(-1, *[1 for _ in values.shape[1:]]).expand_as(values)

    def folded(values):
        return values.new_full((segments, *values.shape[1:]), 1).scatter_reduce(0, places, values, "prod")

    def counted(zeros):
        found = zeros.new_zeros((segments, *zeros.shape[1:]), dtype=torch.int64)
        return found.index_add(0, owners, zeros.long())[owners]

    def slopes(gradient, values):
        with torch.enable_grad():
            again = folded(values)
        return (shares_of_product(again, values, gradient, counted),)
    return unless_finite(folded(values), slopes, values)
''',
    "shares_of_product": '''
def shares_of_product(product, values, gradient, counted):
    """The gradient of each factor; zero for those of which ``counted`` finds several zeros beside one another."""
    again = torch.is_grad_enabled()
    (shares,) = torch.autograd.grad(product, values, gradient, create_graph=again)
    return shares if again else torch.where(counted(values == 0) > 1, 0, shares)
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
