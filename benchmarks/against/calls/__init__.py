"""How each program is called: one file per program, which imports NumPy and that program only."""
