"""What a loss is made of: signs, shapes, scores, advantages."""

from whygrad.rules.losses import (
    advantage_not_detached,
    broadcast_loss,
    cancelled_gradient,
    double_softmax,
    entropy_sign,
    self_target,
    surrogate_missing,
    value_sign,
    wrong_axis,
)
from whygrad.rules.losses.judge_axes import mixed_rows
from whygrad.rules.losses.judge_draws import drawn_anew
from whygrad.rules.losses.judge_entropies import entropies
from whygrad.rules.losses.judge_policies import advantages, cancelled
from whygrad.rules.losses.judge_probabilities import probabilities
from whygrad.rules.losses.judge_self_targets import self_targets
from whygrad.rules.losses.judge_shapes import broadcast
from whygrad.rules.losses.judge_signs import signs

RULES = (
    broadcast_loss.RULE,
    cancelled_gradient.RULE,
    advantage_not_detached.RULE,
    value_sign.RULE,
    surrogate_missing.RULE,
    wrong_axis.RULE,
    double_softmax.RULE,
    entropy_sign.RULE,
    self_target.RULE,
)

QUESTIONS = (
    broadcast,
    advantages,
    cancelled,
    signs,
    mixed_rows,
    probabilities,
    entropies,
    self_targets,
    drawn_anew,
)
