"""When gradients are limited: in the wrong place, or away altogether."""

from whygrad.rules.clipping.judge_clipped_away import vanished
from whygrad.rules.clipping.judge_clips import clips

QUESTIONS = (vanished, clips)
