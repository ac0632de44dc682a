"""Gradients that nobody applies, losses that only pretend to have one, and steps without a memory."""

from whygrad.rules.stepping.judge_modes import wrong_modes

QUESTIONS = (wrong_modes,)
