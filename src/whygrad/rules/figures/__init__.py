"""Gradients that arrive and are right, while training suffers."""
