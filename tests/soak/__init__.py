"""Random hostile problems against enumeration in extended precision: ``python -m tests.soak``."""
