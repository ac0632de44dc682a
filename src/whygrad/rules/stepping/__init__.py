"""Gradients that nobody applies, losses that only pretend to have one, and steps without a memory."""

from whygrad.rules.stepping import fake_root, no_step, optimizer_recreated
from whygrad.rules.stepping.optimizer_recreated import recreated

RULES = (fake_root.RULE, no_step.RULE, optimizer_recreated.RULE)

QUESTIONS = (recreated,)
