"""Benchmarks: one module per question, run by ``python benchmarks/run.py``."""
