"""What was measured and no other topic explains. It is asked last."""

from whygrad.rules.unexplained import unexplained

RULES = (unexplained.RULE,)
