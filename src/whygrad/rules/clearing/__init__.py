"""When gradients are forgotten: too late, too early, or never; and what is handed over by hand."""

from whygrad.rules.clearing.judge_clears import cleared_too_early, never_cleared, polluted
from whygrad.rules.clearing.judge_discarded import discarded
from whygrad.rules.clearing.judge_handovers import handovers

QUESTIONS = (cleared_too_early, discarded, never_cleared, polluted, handovers)
