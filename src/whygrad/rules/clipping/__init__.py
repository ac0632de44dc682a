"""When gradients are limited: in the wrong place, or away altogether."""

from whygrad.rules.clipping import clip_after_step, clip_before_backward, clip_to_nothing, clip_unused
from whygrad.rules.clipping.judge_clipped_away import vanished
from whygrad.rules.clipping.judge_clips import clips

RULES = (clip_before_backward.RULE, clip_after_step.RULE, clip_to_nothing.RULE, clip_unused.RULE)

QUESTIONS = (vanished, clips)
