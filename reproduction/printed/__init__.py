"""The printed figures, as small CSV files beside this one.

Figures stay text, so that the last printed digit is known; an empty field is a dash in print.
"""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

__all__ = ["FOLDER", "printed"]

FOLDER = Path(__file__).parent


@cache
def printed(table: str) -> tuple[dict[str, str], ...]:
    """Rows of one printed table, by its name: ``printed("he-3.2")``."""
    text = (FOLDER / f"{table}.csv").read_text(encoding="utf-8")
    return tuple(csv.DictReader(text.splitlines()))
