"""What TensorFlow's operations mean to a gradient, by the names of ``vocabulary``. Imports no framework."""

from __future__ import annotations

from whygrad.frameworks.shared.kinds import Kinds
from whygrad.model import Kind

KINDS = Kinds(
    {
        Kind.ADD: ("add", "bias_add"),
        Kind.SUBTRACT: ("sub", "rsub"),
        Kind.MULTIPLY: ("mul", "mul_no_nan"),
        Kind.DIVIDE: ("div", "rdiv", "reciprocal", "inv"),
        Kind.NEGATE: ("neg",),
        Kind.POWER: ("pow", "rpow"),
        Kind.MAGNITUDE: ("square", "abs"),
        Kind.LINEAR: ("mat_mul", "batch_mat_mul"),
        Kind.RESHAPE: ("reshape", "squeeze", "transpose"),
        Kind.WIDEN: ("unsqueeze",),
        Kind.EXPAND: ("broadcast_to",),
        Kind.CAST: ("cast",),
        Kind.COPY: ("clone",),
        Kind.CONVERT: ("constant", "numpy", "array"),
        Kind.READ: ("read",),
        Kind.PICK: ("strided_slice", "slice", "split", "split_v", "unpack"),
        Kind.CHOOSE: ("gather", "gather_nd", "min", "max"),
        Kind.JOIN: ("stack", "concat"),
        Kind.STORE: ("assign",),
        Kind.WHERE: ("where", "select"),
        Kind.COLLECT: (
            *("tensor_list_stack", "tensor_list_set_item", "tensor_list_get_item", "tensor_list_push_back"),
            *("while", "stateless_while"),
        ),
        Kind.BOUND: ("clip", "clip_by_value"),
        Kind.SMALLER: ("minimum",),
        Kind.LARGER: ("maximum",),
        Kind.MEAN: ("mean",),
        Kind.SUM: ("sum",),
        Kind.STOP: ("stop_gradient",),
        Kind.STEPWISE: ("round", "floor", "ceil", "sign"),
        Kind.DRAW: ("bernoulli",),
        Kind.DRAW_LOGITS: ("multinomial",),
        Kind.NOISE: (
            *("random_standard_normal", "random_uniform", "truncated_normal", "stateless_truncated_normal"),
            *("stateless_random_normal", "stateless_random_uniform"),
            *("stateless_random_gamma", "stateless_random_gamma_v3", "stateless_random_poisson"),
        ),
        Kind.PREDICT: ("predict", "predict_on_batch"),
        Kind.CALLBACK: ("numpy_function",),
        Kind.LOSS: ("squared_difference",),
        Kind.LOG_SOFTMAX: ("log_softmax",),
        Kind.CROSS_ENTROPY: ("cross_entropy",),
        Kind.SOFTMAX: ("softmax",),
        Kind.SIGMOID: ("sigmoid",),
        Kind.EXP: ("exp", "expm1"),
        Kind.LOG: ("log",),
        Kind.RELU: ("relu", "relu6"),
        Kind.TANH: ("tanh",),
        Kind.ROOT: ("sqrt", "rsqrt", "acos", "asin", "atanh"),
        Kind.NORM: ("atan2",),
    },
    alone={Kind.BOUND: ("minimum", "maximum")},
)
