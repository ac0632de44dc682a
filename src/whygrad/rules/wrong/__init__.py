"""Gradients arrive, but not the ones that the algorithm wants."""
