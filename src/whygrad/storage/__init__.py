"""Runs on disk: how their directory is named, what is in it, and how it is written and read."""
