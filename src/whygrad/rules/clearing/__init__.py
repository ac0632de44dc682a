"""When gradients are forgotten: too late, too early, or never."""

from whygrad.rules.clearing import polluted_gradient, zero_grad_before_step, zero_grad_missing
from whygrad.rules.clearing.judge_clears import cleared_too_early, never_cleared, polluted

RULES = (zero_grad_missing.RULE, zero_grad_before_step.RULE, polluted_gradient.RULE)

QUESTIONS = (cleared_too_early, never_cleared, polluted)
