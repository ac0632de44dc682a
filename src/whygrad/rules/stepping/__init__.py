"""Gradients that nobody applies, losses that only pretend to have one, and steps without a memory."""
