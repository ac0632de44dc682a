"""Healthy agents to compare with, and what belongs to them. Nothing here knows of the diagnosis."""
