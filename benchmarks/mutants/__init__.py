"""Mutants of healthy programs: the parts of ``benchmarks/mutants.py``."""
