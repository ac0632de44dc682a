"""From evidence to causes: which parameter suffers, from what, and on which line.

Each module answers one question; ``causes`` asks them all and keeps one cause per suffering.
"""

from whygrad.rules.attribution.all import causes

__all__ = ["causes"]
