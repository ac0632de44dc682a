"""When gradients are forgotten: too late, too early, or never."""

from whygrad.rules.clearing.judge_clears import cleared_too_early, never_cleared, polluted

QUESTIONS = (cleared_too_early, never_cleared, polluted)
