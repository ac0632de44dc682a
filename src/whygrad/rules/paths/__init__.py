"""Where the way from a parameter to the loss is cut, or was never there."""

from whygrad.rules.paths import (
    detached,
    loss_independent,
    no_grad_block,
    nondifferentiable_op,
    numpy_round_trip,
    outside_tape,
)

RULES = (
    detached.RULE,
    no_grad_block.RULE,
    numpy_round_trip.RULE,
    nondifferentiable_op.RULE,
    outside_tape.RULE,
    loss_independent.RULE,
)
