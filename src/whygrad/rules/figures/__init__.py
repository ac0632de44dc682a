"""Gradients that arrive and are right, while training suffers."""

from whygrad.rules.figures import exploding, non_finite, oscillating, stalled, vanishing, zero_gradient

RULES = (vanishing.RULE, exploding.RULE, non_finite.RULE, zero_gradient.RULE, oscillating.RULE, stalled.RULE)
