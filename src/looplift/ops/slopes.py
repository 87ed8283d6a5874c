"""How large the derivatives of operations may be: where a gradient of zero may become NaN on its way through them."""

LINEAR = frozenset(
    """add sub neg pos getitem iter_item iter_len copy unpack tuple list attribute eq ne lt le gt ge not and_ or_
    max min len float item sum zeros ones full zeros_like empty stack cat roll flip clone detach view reshape flatten
    permute transpose unsqueeze t chunk split unbind tensor_split""".split()
)
"""Operations whose derivatives are finite whatever they are given."""

LEVEL = frozenset(
    """relu abs absolute maximum minimum fmax fmin amax amin where mean clamp clip clamp_min clamp_max contiguous
    squeeze expand to double type leaky_relu softplus logsigmoid logsumexp log_softmax diff""".split()
)
"""Others, whose results are hardly larger than what they are given, with derivatives that are small."""

BOUNDED = frozenset(
    """tanh sigmoid softmax softmin sin cos atan arctan erf erfc softsign hardtanh relu6 hardsigmoid sign normalize
    floor ceil round trunc""".split()
)
"""Those whose results are small, and their derivatives too."""

KEEPING = frozenset("add sub neg pos mul matmul sum mean clone reshape view flatten permute transpose".split())
"""Those whose result is not finite where an operand is not."""

FLAT = frozenset(("floordiv", "mod", "floor_divide", "remainder", "fmod"))
"""Operations with singular points that have no gradient."""
SMOOTH = FLAT | {"norm", "vector_norm", "std", "sinc", "angle", "sgn"}
"""Those, and operations with singular points at which torch's gradient is zero, and the gradient of that is NaN."""

ROOTS = ("sqrt", "pow", "power", "float_power", "hypot", "acosh", "arccosh", "xlogy", "atan2", "arctan2")
"""Operations that are zero, or may be, where their gradient is not finite."""
