"""Small functions that emitted code may need for products of matrices."""

from __future__ import annotations

PRODUCTS = {
    "product_with_each": '''
def product_with_each(matrix, stack):
    """``matrix @ one`` for each matrix of a stack, as one product with all of them side by side if they are many."""
    if max(matrix.shape) >= 16 or stack.dim() == 3 and len(stack) < 300:
        return matrix @ stack
    beside = stack.movedim(-2, 0)
    return (matrix @ beside.flatten(1)).view(len(matrix), *beside.shape[1:]).movedim(0, -2)
''',
}
