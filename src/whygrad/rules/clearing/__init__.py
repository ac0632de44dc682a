"""When gradients are forgotten: too late, too early, or never; and what is handed over by hand."""

from whygrad.rules.clearing import (
    gradient_handover,
    polluted_gradient,
    zero_grad_before_step,
    zero_grad_missing,
)
from whygrad.rules.clearing.judge_clears import cleared_too_early, never_cleared, polluted
from whygrad.rules.clearing.judge_handovers import handovers

RULES = (zero_grad_missing.RULE, zero_grad_before_step.RULE, polluted_gradient.RULE, gradient_handover.RULE)

QUESTIONS = (cleared_too_early, never_cleared, polluted, handovers)
