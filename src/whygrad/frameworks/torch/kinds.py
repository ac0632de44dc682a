"""What torch's operations mean to a gradient. Imports no framework."""

from __future__ import annotations

from whygrad.frameworks.shared.kinds import Kinds
from whygrad.model import Kind

KINDS = Kinds(
    {
        Kind.ADD: ("add", "radd", "iadd"),
        Kind.SUBTRACT: ("sub", "rsub", "isub", "subtract"),
        Kind.MULTIPLY: ("mul", "rmul", "imul", "multiply"),
        Kind.DIVIDE: (
            *("div", "rdiv", "truediv", "rtruediv", "itruediv", "idiv"),
            *("divide", "true_divide", "reciprocal"),
        ),
        Kind.NEGATE: ("neg", "negative"),
        Kind.NOT: ("bitwise_not", "invert", "logical_not"),
        Kind.POWER: ("pow", "rpow", "ipow", "float_power"),
        Kind.MAGNITUDE: ("square", "abs", "absolute"),
        Kind.BLEND: ("lerp",),
        Kind.FUSED: ("addcmul", "addcdiv"),
        Kind.LINEAR: ("linear", "matmul", "rmatmul", "mm", "addmm", "bmm"),
        Kind.RESHAPE: (
            *("squeeze", "view", "view_as", "reshape", "reshape_as", "flatten", "unflatten", "ravel"),
            *("permute", "transpose", "swapaxes", "movedim", "t", "T", "mT"),
        ),
        Kind.WIDEN: ("unsqueeze",),
        Kind.EXPAND: ("expand", "expand_as", "broadcast_to", "broadcast_tensors", "repeat_interleave"),
        Kind.CAST: ("float", "double", "half", "bfloat16", "type", "type_as"),
        Kind.COPY: ("clone", "to", "contiguous", "cpu", "cuda"),
        Kind.CONVERT: ("numpy", "array"),
        Kind.ASK: ("requires_grad",),
        Kind.PICK: (
            *("getitem", "index_select", "narrow", "select"),
            *("split", "chunk", "tensor_split", "unbind"),
        ),
        Kind.CHOOSE: ("gather", "take_along_dim", "amax", "amin"),
        Kind.JOIN: ("stack", "cat", "concat", "concatenate", "hstack", "vstack"),
        Kind.PUT: ("setitem",),
        Kind.ASSIGN: ("copy", "set"),
        Kind.WHERE: ("where",),
        Kind.BOUND: ("clamp", "clip", "clamp_min", "clamp_max", "nan_to_num"),
        Kind.SMALLER: ("min", "minimum", "fmin"),
        Kind.LARGER: ("max", "maximum", "fmax"),
        Kind.MEAN: ("mean", "nanmean"),
        Kind.SUM: ("sum", "nansum"),
        Kind.STOP: ("detach", "data"),
        Kind.STEPWISE: ("round", "floor", "ceil", "trunc", "fix", "sign", "sgn", "heaviside"),
        Kind.DRAW: ("multinomial", "bernoulli", "normal", "poisson"),
        Kind.NOISE: ("randn", "randn_like", "rand", "rand_like", "normal_", "uniform_", "bernoulli_"),
        Kind.UNSEEN: ("unseen",),
        Kind.LOSS: ("mse_loss", "smooth_l1_loss", "huber_loss", "l1_loss"),
        Kind.LOG_SOFTMAX: ("log_softmax",),
        Kind.LOG_SUM: ("logsumexp",),
        Kind.CROSS_ENTROPY: ("cross_entropy",),
        Kind.PICKED_LOG: ("nll_loss",),
        Kind.LOGISTIC: ("binary_cross_entropy_with_logits",),
        Kind.SOFTMAX: ("softmax",),
        Kind.SIGMOID: ("sigmoid",),
        Kind.EXP: ("exp", "expm1"),
        Kind.LOG: ("log",),
        Kind.RELU: ("relu", "relu6", "threshold"),
        Kind.TANH: ("tanh",),
        Kind.ROOT: ("sqrt", "rsqrt", "acos", "asin", "atanh"),
        Kind.NORM: ("norm", "vector_norm", "std", "var", "atan2"),
    },
    alone={Kind.CHOOSE: ("min", "max"), Kind.BOUND: ("minimum", "maximum", "fmin", "fmax")},
)
