"""Families of operations: what a batched form of each needs.

    elementwise   works on every element by itself; operands broadcast
    reduction     folds dimensions of one lane's value
    along         keeps the shape and works along one dimension (softmax, cumsum, flip)
    shape         rearranges dimensions
    contraction   products summed over a dimension
    network       torch.nn.functional on one sample
    random        draws numbers: an effect
    blocked       has no batched form with this meaning (its result's shape depends on values, or it leaves tensors)

One name stands for the function, the method and the NumPy function of the same meaning.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from looplift.ops.names import OF_USERS

ELEMENTWISE = frozenset(
    """abs absolute acos acosh add angle arccos arccosh arcsin arcsinh arctan arctan2 arctanh asin asinh atan atan2
    atanh bitwise_and bitwise_not bitwise_or bitwise_xor ceil clamp clamp_max clamp_min clip cos cosh deg2rad div
    divide eq erf erfc erfinv exp exp2 expm1 fabs floor floor_divide fmax fmin fmod frac ge greater greater_equal gt
    hypot isfinite isinf isnan le ldexp lerp less less_equal lgamma log log10 log1p log2 logaddexp logical_and
    logical_not logical_or logical_xor logit lt maximum minimum mul multiply nan_to_num ne neg negative not_equal
    power pow rad2deg reciprocal relu remainder round rsqrt sgn sigmoid sign signbit sin sinc sinh softplus silu
    gelu elu selu leaky_relu hardtanh relu6 mish softsign logsigmoid hardswish hardsigmoid tanhshrink sqrt square
    sub subtract tan tanh true_divide trunc where xlogy float double long int half bfloat16 bool to type type_as
    floordiv mod truediv and_ or_ xor lshift rshift invert pos not digamma i0 addcmul addcdiv cbrt heaviside
    nextafter float_power isneginf isposinf rint around fix degrees radians float16 float32 float64
    bitwise_left_shift bitwise_right_shift left_shift right_shift""".split()
)

REDUCTION = frozenset(
    """sum mean prod amax amin max min argmax argmin norm var std logsumexp all any count_nonzero median nansum nanmean
    nanmedian vector_norm ptp nanmax nanmin""".split()
)

ALONG = frozenset(
    "softmax log_softmax cumsum cumprod flip roll sort argsort logcumsumexp softmin normalize diff".split()
)

SHAPE = frozenset(
    """reshape view flatten squeeze unsqueeze permute transpose t T mT expand repeat detach clone contiguous cpu chunk
    split unbind ravel copy view_as expand_as item tolist numpy swapaxes movedim""".split()
)

SMOOTH = frozenset(
    """cross_entropy mse_loss l1_loss smooth_l1_loss huber_loss nll_loss binary_cross_entropy_with_logits
    soft_margin_loss multi_margin_loss margin_ranking_loss hinge_embedding_loss triplet_margin_loss
    cosine_similarity cosine_embedding_loss pairwise_distance layer_norm group_norm batch_norm instance_norm
    rms_norm linear conv1d conv2d conv3d conv_transpose1d conv_transpose2d max_pool1d max_pool2d avg_pool1d
    avg_pool2d adaptive_avg_pool1d adaptive_avg_pool2d adaptive_max_pool1d adaptive_max_pool2d interpolate pad glu
    celu threshold hardshrink softshrink prelu embedding one_hot scaled_dot_product_attention cross vecdot trapz
    trapezoid cumulative_trapezoid gather take take_along_dim index_select masked_fill scatter scatter_add index_add
    index_fill tril triu diag diagonal diag_embed trace kron vander rot90 fliplr flipud hstack vstack dstack
    column_stack tile broadcast_to unflatten unfold narrow select quantile nanquantile kthvalue topk mode cummax
    cummin aminmax sort msort heaviside copysign matrix_exp matrix_power multi_dot chain_matmul addmm addmv addbmm
    baddbmm addr block_diag pixel_shuffle pixel_unshuffle channel_shuffle matmul dot mv mm bmm outer inner einsum
    tensordot vdot ger bilinear stack cat concat softmax log_softmax logsumexp cumsum sum mean prod amax amin max
    min median var roll flip diff reshape view flatten squeeze unsqueeze permute transpose expand repeat clone
    contiguous chunk split unbind""".split()
)
"""Operations, some of them without a rule of their own, whose gradients are finite where their operands are."""

KEPT_FOR_BACKWARD = frozenset(
    """exp exp2 expm1 sqrt rsqrt tanh sigmoid reciprocal tan relu elu celu selu softmax log_softmax softmin logsumexp
    norm vector_norm prod amax amin max min std cumprod logcumsumexp erfinv pow power float_power hypot""".split()
)
"""Operations of torch whose backward reads their result, which nothing may change before."""

CONTRACTION = frozenset("matmul dot mv mm outer inner bmm linear einsum tensordot ger vdot bilinear".split())

RANDOM = frozenset(
    """rand randn randint randperm normal bernoulli multinomial rand_like randn_like randint_like dropout dropout1d
    dropout2d dropout3d alpha_dropout feature_alpha_dropout poisson uniform choice shuffle permutation random rrelu
    standard_normal gumbel_softmax""".split()
)

KNOWN_ELSEWHERE = ("out", "requires_grad")
"""Arguments by which what is drawn is known elsewhere, too: in the memory of something else, or by its gradient."""

BLOCKED = frozenset(
    """nonzero unique unique_consecutive masked_select bincount histc item tolist numpy print save load isin
    manual_seed seed argwhere equal allclose is_tensor numel size dim backward requires_grad_ set_ data_ptr storage
    element_size stride is_contiguous register_hook repeat_interleave combinations cartesian_prod
    get_rng_state set_rng_state split_with_sizes tensor_split from_numpy as_tensor searchsorted bucketize""".split()
)

ZIPPED = {"zipped": "tuple", "zipped_lists": "list", "zipped_dicts": "dict"}
"""What makes a list of columns, and what its items are."""

CREATION = frozenset(
    "list torch.zeros torch.ones torch.empty torch.full torch.zeros_like torch.ones_like torch.empty_like "
    "torch.full_like method.new_zeros method.new_ones method.new_full method.new_empty method.clone torch.clone "
    "np.zeros np.ones np.empty np.full np.zeros_like np.ones_like np.empty_like np.full_like method.copy".split()
)

# operand positions that must not be zero, positive, ... where a lane does not run, and a value that is safe there
SINGULAR = {
    "truediv": (1, 1.0), "div": (1, 1.0), "divide": (1, 1.0), "true_divide": (1, 1.0), "floordiv": (1, 1),
    "mod": (1, 1), "floor_divide": (1, 1), "remainder": (1, 1), "fmod": (1, 1),
    "arccos": (0, 0.0), "arcsin": (0, 0.0), "arctanh": (0, 0.0), "arccosh": (0, 2.0), "hypot": (1, 1.0),
    "float_power": (0, 1.0), "addcdiv": (2, 1.0), "arctan2": (1, 1.0), "i0": (0, 0.0),
    "log": (0, 1.0), "log2": (0, 1.0), "log10": (0, 1.0), "sqrt": (0, 1.0), "rsqrt": (0, 1.0), "reciprocal": (0, 1.0),
    "norm": (0, 1.0), "log1p": (0, 1.0), "acos": (0, 0.0), "asin": (0, 0.0), "atanh": (0, 0.0), "acosh": (0, 2.0),
    "pow": (0, 1.0), "power": (0, 1.0), "xlogy": (1, 1.0), "vector_norm": (0, 1.0), "exp": (0, 0.0), "expm1": (0, 0.0),
    "exp2": (0, 0.0), "std": (0, None), "atan2": (1, 1.0),
    "sinc": (0, 1.0),
    "logit": (0, 0.5), "erfinv": (0, 0.0), "sinh": (0, 0.0), "cosh": (0, 0.0), "lgamma": (0, 1.0), "digamma": (0, 1.0),
}  # fmt: skip
SINGULAR_COMPLEX = {
    "angle": (0, 1.0), "sgn": (0, 1.0), "atan": (0, 0.0), "arctan": (0, 0.0), "asinh": (0, 0.0), "arcsinh": (0, 0.0),
}  # fmt: skip
"""Others that have singular points in the complex plane alone."""


def singular(base: str, *, is_complex: bool) -> tuple[int, Any] | None:
    """The position of the operand that must not be everything, and what is safe there; None where there is none."""
    return SINGULAR.get(base) or (SINGULAR_COMPLEX.get(base) if is_complex else None)


EXACT = frozenset(
    """add sub mul truediv neg pos abs absolute eq ne lt le gt ge maximum minimum where floor ceil trunc not and_ or_
    xor invert lshift rshift clamp clip getitem iter_item square sign relu div subtract multiply float double long int
    bool floordiv mod to type clone detach item""".split()
)

ITEM_BY_ITEM = ("builtin.sum", "math.prod")
"""Reductions of Python's own, which take an array row by row, from the integer 0 or 1 on."""

POWERS = frozenset(("pow", "power", "float_power"))
CONVERSIONS = frozenset("float double long int half bfloat16 bool to type type_as float16 float32 float64".split())
"""Element-wise operations that only change the dtype."""
UNCOPIED = CONVERSIONS | frozenset(
    """contiguous pos positive conj resolve_conj resolve_neg
    real imag as_tensor asarray asanyarray ascontiguousarray dropout broadcast_to expand_dims narrow select unfold
    diagonal as_strided atleast_1d atleast_2d atleast_3d moveaxis swapdims hsplit vsplit dsplit tensor_split
    unflatten""".split()
)
"""What may give its argument as it is, or a view of it, beside the family of shapes."""


@cache
def base_name(name: str) -> str:
    """The name that "torch.exp", "method.exp", "np.exp" and "math.exp" share: "exp". An operator of the user's, of
    whatever name, is none of those."""
    return name if name.startswith(OF_USERS) else name.rpartition(".")[2]


ARITHMETIC = frozenset(
    """add sub mul truediv floordiv mod pow neg pos eq ne lt le gt ge not builtin.max builtin.min builtin.abs
    builtin.float builtin.int builtin.bool inplace.add inplace.sub inplace.mul inplace.truediv""".split()
)
"""Operators, and functions of Python's own, that take numbers and tensors alike."""


def family(name: str) -> str:
    """The family of an operation, "" for one without a rule of its own."""
    base = base_name(name)
    if base in RANDOM and (name.startswith(("torch.", "np.", "method."))):
        return "random"
    for family_name, members in (
        ("elementwise", ELEMENTWISE), ("reduction", REDUCTION), ("along", ALONG), ("shape", SHAPE),
        ("contraction", CONTRACTION), ("blocked", BLOCKED),
    ):  # fmt: skip
        if base in members:
            return family_name
    return ""


_NEW = (CONTRACTION - {"einsum"}) | frozenset(
    """cat concat concatenate stack hstack vstack dstack column_stack softmax log_softmax softmin normalize cumsum
    cumprod logcumsumexp roll argsort inv inverse pinv solve solve_triangular cholesky cholesky_solve cholesky_inverse
    matrix_exp""".split()
)


def makes_new_memory(name: str, *, bare: bool) -> bool:
    """Whether the result of an operation is memory of its own, whatever its arguments are.

    ``bare``: it has one argument alone.
    """
    base = base_name(name)
    if family(name) in ("elementwise", "reduction"):
        return base not in UNCOPIED
    if base == "flip":  # NumPy's is a view
        return not name.startswith("np.")
    return base in _NEW or name == "np.sort" or (base == "diff" and bare)  # none at all gives the argument


COPIES = frozenset("clone item tolist repeat".split())
"""Of the family of shapes, what makes memory of its own, or numbers."""


def may_show(name: str) -> bool:
    """Whether an operation may give its argument as it is, or a view of it."""
    base = base_name(name)
    return base not in COPIES and (base in UNCOPIED or family(name) == "shape")


# network modules that keep no state and draw no random numbers, in training mode or not
STATELESS_MODULES = frozenset(
    """Linear Bilinear Identity ReLU ReLU6 Sigmoid Tanh GELU SiLU Mish ELU SELU CELU LeakyReLU PReLU Softplus Softsign
    Hardtanh Hardswish Hardsigmoid LogSigmoid Tanhshrink Threshold Hardshrink Softshrink LayerNorm RMSNorm GroupNorm
    Embedding Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d MaxPool1d MaxPool2d AvgPool1d AvgPool2d Softmax
    AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d AdaptiveMaxPool2d LogSoftmax RNNCell GRUCell
    LSTMCell MaxPool3d AvgPool3d ConvTranspose3d""".split()
)

# functions of matrices that take stacks of them: all dimensions but the last two are those of lanes
MATRIX_FUNCTIONS = frozenset(
    """inv inverse inv_ex pinv det slogdet logdet cholesky cholesky_ex cholesky_inverse eigh eigvalsh svd svdvals qr
    matrix_exp matrix_power solve_triangular solve cholesky_solve""".split()
)

# layers that take sequences, and draw random numbers where they drop some of their values
SEQUENCE_MODULES = frozenset("MultiheadAttention TransformerEncoderLayer TransformerDecoderLayer LSTM GRU RNN".split())


def is_stateless(module: Any) -> bool:
    """Whether calls of a module of torch's change nothing and draw no random numbers."""
    kind = type(module).__name__
    if kind.startswith("InstanceNorm"):
        return not (module.training and module.track_running_stats)
    if kind in SEQUENCE_MODULES:
        return not any(_drops(inner) for inner in module.modules())
    return not module.training or kind in STATELESS_MODULES


def _drops(module: Any) -> bool:
    rate = module.p if type(module).__name__ == "Dropout" else getattr(module, "dropout", 0)
    return module.training and isinstance(rate, int | float) and rate > 0


# network modules whose forward calls functions on their attributes, and does nothing else
FUNCTIONAL_MODULES = frozenset(
    """L1Loss MSELoss SmoothL1Loss HuberLoss BCELoss BCEWithLogitsLoss CrossEntropyLoss NLLLoss KLDivLoss
    SoftMarginLoss PoissonNLLLoss HingeEmbeddingLoss CosineEmbeddingLoss MarginRankingLoss TripletMarginLoss
    CosineSimilarity PairwiseDistance Flatten Unflatten Unfold Fold PixelShuffle PixelUnshuffle ChannelShuffle
    Upsample UpsamplingBilinear2d UpsamplingNearest2d ReflectionPad1d ReflectionPad2d ReflectionPad3d
    ReplicationPad1d ReplicationPad2d ReplicationPad3d ZeroPad1d ZeroPad2d ZeroPad3d ConstantPad1d ConstantPad2d
    ConstantPad3d CircularPad1d CircularPad2d LocalResponseNorm GLU PReLU Softmax2d""".split()
)

_SIDE_EFFECT_PREFIXES = tuple("set_ use_ manual_ seed save load init enable get_ print compile".split())
_PURE_METHODS = frozenset("get index count keys values items split strip lower upper startswith endswith union".split())


def is_pure_call(name: str, receiver: object) -> bool:
    """Whether evaluating the operation once more changes nothing: no state, no argument, no stream."""
    base = base_name(name)
    if base.endswith("_") and not base.endswith("__") and base not in ("and_", "or_", "is_", "in_"):
        return False
    if name.startswith("method."):
        return _is_value(receiver) or (base in _PURE_METHODS and type(receiver) in (dict, list, tuple, str, set))
    if name.startswith(("torch.", "np.")):
        return not base.startswith(_SIDE_EFFECT_PREFIXES)
    return name != "builtin.print"


def _is_value(receiver: object) -> bool:
    import numpy as np
    import torch

    return isinstance(receiver, torch.Tensor | np.ndarray | np.generic | int | float | complex | str)
