"""What the host slice knows of Python and PyTorch: pure operations and the rank of their result, builtins, methods.

The rank of a result follows from its family; ``None`` stands for a rank that the table does not know.
"""

from __future__ import annotations

import functools
import operator
from typing import Any

UNARY = """
sigmoid tanh relu exp expm1 log log1p log2 log10 sqrt rsqrt square abs neg sin cos tan asin acos atan sinh cosh erf
erfc floor ceil round trunc frac sign reciprocal softplus elu selu gelu silu leaky_relu hardtanh relu6 logsigmoid
softsign mish celu hardsigmoid hardswish lgamma digamma logit isnan isinf isfinite logical_not nan_to_num float double
long int bool half bfloat16 positive absolute negative clone detach contiguous sgn signbit sinc deg2rad rad2deg
tanhshrink softshrink hardshrink threshold clamp clip clamp_min clamp_max zeros_like ones_like full_like
""".split()
BINARY = """
add sub subtract mul multiply div divide true_divide pow maximum minimum fmax fmin where eq ne lt le gt ge logical_and
logical_or logical_xor atan2 hypot remainder fmod floor_divide lerp addcmul addcdiv logaddexp logaddexp2 copysign
xlogy heaviside bitwise_and bitwise_or bitwise_xor
""".split()
SAME = """
softmax log_softmax softmin cumsum cumprod flip roll normalize layer_norm linear chunk split tensor_split cat concat
concatenate hstack logcumsumexp tril triu matrix_exp inverse sort argsort glu rms_norm narrow index_select gather t
transpose swapaxes swapdims permute movedim
""".split()
REDUCTIONS = "sum mean prod amax amin logsumexp all any std var norm max min argmax argmin nansum".split()
CREATIONS = "zeros ones full".split()
VIEWS = """
chunk split tensor_split narrow t transpose swapaxes swapdims permute movedim view reshape unsqueeze squeeze flatten
unbind select expand expand_as view_as contiguous float double long int bool half bfloat16 to type_as detach diagonal
unflatten ravel getitem T mT positive UAdd real imag broadcast_to reshape_as Identity Dropout Sequential
""".split()
REPEATS = {"expand", "expand_as", "broadcast_to"}
"""Views that show one place of memory several times."""
UNKNOWN = """
to type_as expand expand_as view_as reshape_as broadcast_to repeat einsum bilinear cosine_similarity outer
cross det logdet slogdet trace diag diagonal diag_embed arange kron one_hot pad tile repeat_interleave
unflatten baddbmm addmm addmv bmm mv mm topk cdist pairwise_distance ger vander dist mse_loss l1_loss smooth_l1_loss
cross_entropy nll_loss binary_cross_entropy binary_cross_entropy_with_logits kl_div huber_loss
""".split()
FAMILY = {
    **dict.fromkeys(UNKNOWN, "unknown"),
    **dict.fromkeys(UNARY, "elementwise"),
    **dict.fromkeys(BINARY, "elementwise"),
    **dict.fromkeys(SAME, "same"),
    **dict.fromkeys(REDUCTIONS, "reduction"),
    **dict.fromkeys(CREATIONS, "creation"),
    "eye": "square",
    "stack": "stack",
    "unsqueeze": "unsqueeze",
    "squeeze": "squeeze",
    "view": "sizes",
    "reshape": "sizes",
    "flatten": "flatten",
    "ravel": "flatten",
    "select": "drop",
    "unbind": "drop",
    "matmul": "matmul",
    "dot": "scalar",
    "inner": "unknown",
    "embedding": "embedding",
}
NAMED = {"values": (0, ("max", "min", "sort", "topk")), "indices": (1, ("max", "min", "sort", "topk")),
         "sign": (0, ("slogdet",)), "logabsdet": (1, ("slogdet",))}  # fmt: skip
"""Attributes of operations with several results: their position, and the operations."""
PACKS = {"chunk", "split", "tensor_split", "unbind", "topk", "sort", "slogdet"}
"""Operations with several results."""

ELEMENTWISE_MODULES = """
Sigmoid Tanh ReLU ReLU6 LeakyReLU ELU SELU CELU GELU SiLU Mish Softplus Softsign Hardtanh Hardsigmoid Hardswish
LogSigmoid Tanhshrink Softshrink Hardshrink Threshold Identity Softmax LogSoftmax LayerNorm RMSNorm Linear
""".split()
CELLS = ("RNNCell", "GRUCell", "LSTMCell")
MODULES = {
    **dict.fromkeys(ELEMENTWISE_MODULES, "same"),
    **dict.fromkeys(CELLS, "same"),
    "Dropout": "same",
    "Embedding": "embedding",
    "Bilinear": "same",
    "Sequential": "sequential",
}

HOST_BUILTINS = {
    *(
        len,
        isinstance,
        issubclass,
        type,
        abs,
        int,
        float,
        str,
        bool,
        ord,
        chr,
        divmod,
        round,
        repr,
        hash,
        complex,
        slice,
        pow,
    ),
}
MATH_LIKE = ("math", "operator")
TEXT_METHODS = {name for kind in (str, int, float, bytes, range) for name in dir(kind) if not name.startswith("_")}
READ_METHODS = {"get", "items", "keys", "values", "index", "count", "copy", "union", "intersection", "difference",
                "issubset", "issuperset", "most_common", "_asdict"}  # fmt: skip
HOST_TENSOR_METHODS = {"size", "dim", "numel", "item", "tolist", "is_floating_point", "ndimension", "element_size"}
HOST_TENSOR_ATTRIBUTES = {"shape", "dtype", "device", "ndim", "requires_grad", "is_cuda"}


OPERATORS = {"add": "add", "sub": "sub", "mul": "mul", "truediv": "true_divide", "pow": "pow", "neg": "neg",
             "matmul": "matmul"}  # fmt: skip
"""Functions of ``operator`` that do with tensors what these functions of torch do."""


def is_operator(value: Any) -> bool:
    return any(value is getattr(operator, name) for name in OPERATORS)


@functools.cache
def torch_functions() -> dict[int, str]:
    """The identity of each pure function of torch and ``torch.nn.functional``, with its name."""
    import torch

    homes = (torch, torch.nn.functional, torch.special, torch.linalg)
    found = {id(getattr(home, name)): name for home in homes for name in FAMILY if callable(getattr(home, name, None))}
    return found | {id(getattr(operator, name)): known for name, known in OPERATORS.items()}


def torch_name(value: Any) -> str | None:
    """The name under which a live value is a known pure operation."""
    return torch_functions().get(id(value))


def is_literal(value: Any) -> bool:
    return value is None or isinstance(value, (bool, int, float, complex, str, bytes))
