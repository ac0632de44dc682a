"""What a loss is made of: signs, shapes, scores, advantages."""

from whygrad.rules.losses import (
    advantage_not_detached,
    broadcast_loss,
    cancelled_gradient,
    surrogate_missing,
    value_sign,
)
from whygrad.rules.losses.judge_policies import advantages, cancelled
from whygrad.rules.losses.judge_shapes import broadcast
from whygrad.rules.losses.judge_signs import signs

RULES = (
    broadcast_loss.RULE,
    cancelled_gradient.RULE,
    advantage_not_detached.RULE,
    value_sign.RULE,
    surrogate_missing.RULE,
)

QUESTIONS = (broadcast, advantages, cancelled, signs)
