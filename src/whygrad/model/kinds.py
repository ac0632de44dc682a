"""What an operation means to a gradient, whatever a framework calls it.

A backend says the kind of each operation; flow and rules ask for kinds and never for names. A kind is here
because some question needs it: two operations that no question tells apart have the same one.
"""

from __future__ import annotations

from enum import StrEnum


class Kind(StrEnum):
    """What an operation does with the values that go into it."""

    OTHER = "other"

    # Arithmetic
    ADD = "add"
    SUBTRACT = "subtract"
    MULTIPLY = "multiply"
    DIVIDE = "divide"
    NEGATE = "negate"
    NOT = "not"  # of yes and no, the other
    POWER = "power"
    MAGNITUDE = "magnitude"  # how far from zero: square, abs
    BLEND = "blend"  # a + weight * (b - a)
    FUSED = "fused"  # a sum and a product in one call: addcmul
    LINEAR = "linear"  # a product of matrices, with a bias perhaps

    # The same numbers
    RESHAPE = "reshape"  # in another shape
    WIDEN = "widen"  # with one dimension more, of length 1
    EXPAND = "expand"  # repeated, to fit another shape
    CAST = "cast"  # in another type
    COPY = "copy"  # in another place
    CONVERT = "convert"  # as an array of plain numbers, or back from one
    READ = "read"  # out of a variable
    ASK = "ask"  # told to ask for gradient

    # Some of them, or several together
    PICK = "pick"  # a part of it by its position: a slice, a split
    CHOOSE = "choose"  # an element of each row: by an index, or the largest
    JOIN = "join"  # stack, cat
    PUT = "put"  # a part of it replaced: x[i] = y
    ASSIGN = "assign"  # all of it replaced by the last input
    STORE = "store"  # kept in a variable: gradient of what is read from there does not come back
    WHERE = "where"  # either, by a condition
    COLLECT = "collect"  # carried through a loop

    # Limits
    BOUND = "bound"  # clipped: clamp, minimum with a number
    EXTREME = "extreme"  # one of these two, in recordings of earlier versions
    SMALLER = "smaller"  # the smaller one
    LARGER = "larger"  # the larger one

    # Reductions
    MEAN = "mean"
    SUM = "sum"

    # Where gradient ends, or was never there
    STOP = "stop"  # detach, stop_gradient
    STEPWISE = "stepwise"  # its derivative is zero wherever it exists: round, sign
    DRAW = "draw"  # a random sample of what goes in
    DRAW_LOGITS = "draw_logits"  # one of a distribution that is given by its logits
    NOISE = "noise"  # random numbers that depend on nothing
    PREDICT = "predict"  # a network that gives an array
    CALLBACK = "callback"  # the user's own function on arrays, called by the framework
    UNSEEN = "unseen"  # carries gradient, and was computed while nothing was recorded

    # Losses, scores, probabilities
    LOSS = "loss"  # a regression: its first input is compared with its second
    LOG_SOFTMAX = "log_softmax"
    LOG_SUM = "log_sum"  # the logarithm of a sum of exponentials
    CROSS_ENTROPY = "cross_entropy"  # of logits
    PICKED_LOG = "picked_log"  # the cross entropy of logarithms of probabilities: nll_loss
    LOGISTIC = "logistic"  # the cross entropy of logits of yes or no
    SOFTMAX = "softmax"
    SIGMOID = "sigmoid"

    # Functions of one number
    EXP = "exp"
    LOG = "log"
    RELU = "relu"
    TANH = "tanh"
    ROOT = "root"  # undefined outside of a range, and infinitely steep at its edge: sqrt, acos
    NORM = "norm"  # defined everywhere, and infinitely steep or without a slope somewhere: norm, std


SUMS = frozenset((Kind.ADD, Kind.SUBTRACT))
SCALES = frozenset((Kind.MULTIPLY, Kind.DIVIDE))
REDUCTIONS = frozenset((Kind.MEAN, Kind.SUM))
#: Nothing has happened to the numbers, and all of them are there.
SAME_NUMBERS = frozenset((Kind.RESHAPE, Kind.WIDEN, Kind.EXPAND, Kind.CAST, Kind.COPY))
#: For whoever asks what a value consists of, it is the same value still: clipped, or cut off.
KEEPS_VALUE = SAME_NUMBERS | {Kind.BOUND, Kind.STOP, Kind.ASK}
#: One of two values, by their size.
EXTREMES = frozenset((Kind.EXTREME, Kind.SMALLER, Kind.LARGER))
#: It grows where what goes in grows, in every element that it keeps.
KEEPS_SIGN = SAME_NUMBERS | REDUCTIONS | EXTREMES | {Kind.PICK, Kind.CHOOSE, Kind.BOUND, Kind.JOIN}
#: A policy is scored here: the logarithm of a probability.
SCORES = frozenset((Kind.LOG_SOFTMAX, Kind.LOG_SUM, Kind.CROSS_ENTROPY, Kind.PICKED_LOG))
#: Something is drawn.
DRAWS = frozenset((Kind.DRAW, Kind.DRAW_LOGITS))
#: Between 0 and 1, if what goes in is a log-probability or a logit.
PROBABILITIES = frozenset((Kind.SOFTMAX, Kind.SIGMOID, Kind.EXP))
#: Element by element: shapes that differ are broadcast.
ELEMENTWISE = (
    SUMS | SCALES | EXTREMES | {Kind.POWER, Kind.BLEND, Kind.FUSED, Kind.BOUND, Kind.WHERE, Kind.LOSS}
)
#: Their derivative is infinite somewhere.
SINGULAR = frozenset((Kind.ROOT, Kind.NORM, Kind.LOG))
#: They give NaN or Inf for arguments that are finite.
UNDEFINED = frozenset((Kind.LOG, Kind.EXP, Kind.DIVIDE, Kind.POWER, Kind.ROOT))
