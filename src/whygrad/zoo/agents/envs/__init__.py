"""Environments for the agents; probes.py registers itself with gymnasium when it is imported or run."""
