"""Gradients arrive and are right, but training suffers."""
