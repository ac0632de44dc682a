"""Healthy reference agents: standalone scripts that never import whygrad, and are run by path."""
