"""Gradients that nobody applies, losses that only pretend to have one, and steps without a memory."""

from whygrad.rules.stepping import fake_root, no_step, optimizer_recreated, wrong_mode
from whygrad.rules.stepping.judge_modes import wrong_modes
from whygrad.rules.stepping.optimizer_recreated import recreated

RULES = (fake_root.RULE, no_step.RULE, optimizer_recreated.RULE, wrong_mode.RULE)

QUESTIONS = (recreated, wrong_modes)
