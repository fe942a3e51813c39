"""The printed figures, as small CSV files beside this one.

Figures stay text, so that the last printed digit is known; an empty field is a dash in print.
"""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files

__all__ = ["printed"]


@cache
def printed(table: str) -> tuple[dict[str, str], ...]:
    """Rows of one printed table, by its name: ``printed("he-3.2")``."""
    text = files(__package__).joinpath(f"{table}.csv").read_text(encoding="utf-8")
    return tuple(csv.DictReader(text.splitlines()))
