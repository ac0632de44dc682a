"""What JAX's operations mean to a gradient, by the names of ``vocabulary``. Imports no framework."""

from __future__ import annotations

from whygrad.frameworks.shared.kinds import Kinds
from whygrad.model import Kind

KINDS = Kinds(
    {
        Kind.ADD: ("add",),
        Kind.SUBTRACT: ("sub", "rsub"),
        Kind.MULTIPLY: ("mul",),
        Kind.DIVIDE: ("div", "rdiv", "reciprocal"),
        Kind.NEGATE: ("neg",),
        Kind.POWER: ("pow", "rpow"),
        Kind.MAGNITUDE: ("square", "abs"),
        Kind.LINEAR: ("dot_general", "matmul", "dot", "conv_general_dilated", "einsum", "tensordot", "inner"),
        Kind.RESHAPE: ("reshape", "squeeze", "transpose", "ravel", "flatten", "moveaxis", "swapaxes"),
        Kind.WIDEN: ("expand_dims",),
        Kind.EXPAND: ("broadcast_in_dim", "broadcast_to", "tile", "repeat", "broadcast_arrays"),
        Kind.CAST: ("astype",),
        Kind.COPY: ("copy", "optimization_barrier", "real", "stage"),
        Kind.CONVERT: ("constant", "asarray", "__array__", "data"),
        Kind.READ: ("argument",),
        Kind.PICK: ("slice", "split", "unstack", "dynamic_slice", "getitem"),
        Kind.CHOOSE: ("gather", "take", "take_along_axis", "max", "min", "amax", "amin", "sort", "top_k"),
        Kind.JOIN: ("concatenate", "stack", "hstack", "vstack", "pad", "append"),
        Kind.PUT: ("scatter", "scatter-add", "dynamic_update_slice"),
        Kind.WHERE: ("where",),
        Kind.COLLECT: ("scan", "while", "cond"),
        Kind.BOUND: ("clip", "clamp"),
        Kind.SMALLER: ("minimum",),
        Kind.LARGER: ("maximum",),
        Kind.MEAN: ("mean",),
        Kind.SUM: ("sum",),
        Kind.STOP: ("stop_gradient",),
        Kind.STEPWISE: ("round", "rint", "floor", "ceil", "sign", "trunc", "fix", "floor_divide"),
        Kind.DRAW: ("bernoulli",),
        Kind.DRAW_LOGITS: ("categorical",),
        Kind.NOISE: (
            *("normal", "uniform", "gumbel", "truncated_normal", "randint", "permutation", "gamma", "beta"),
            *("random_bits", "random_normal", "exponential", "laplace", "shuffle", "choice"),
        ),
        Kind.CALLBACK: ("pure_callback", "io_callback"),
        Kind.LOG_SOFTMAX: ("log_softmax",),
        Kind.LOG_SUM: ("logsumexp",),
        Kind.CROSS_ENTROPY: ("softmax_cross_entropy", "softmax_cross_entropy_with_integer_labels"),
        Kind.SOFTMAX: ("softmax",),
        Kind.SIGMOID: ("sigmoid",),
        Kind.EXP: ("exp", "expm1"),
        Kind.LOG: ("log",),
        Kind.RELU: ("relu", "relu6"),
        Kind.TANH: ("tanh",),
        Kind.ROOT: ("sqrt", "rsqrt", "acos", "asin", "atanh", "arccos", "arcsin", "arctanh"),
        Kind.NORM: ("atan2", "arctan2", "norm"),
    },
    alone={Kind.BOUND: ("minimum", "maximum")},
)
