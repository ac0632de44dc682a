"""Healthy reference agents: standalone scripts that never import whygrad."""
