"""What a document says in words, beside what we measure."""

from __future__ import annotations

from reproduction.cells import Cell

__all__ = ["DRAWN", "claim"]

DRAWN = "the data are not printed; ours are another draw of the described kind"


def claim(where: str, said: str, ours: str | float, holds: bool, why: str = DRAWN) -> Cell:
    """The cell of a statement.

    Parameters
    ----------
    where : str
        Place in the figure or text.
    said : str
        The statement in a few of our own words.
    ours : str or float
        What we measured.
    holds : bool
        Whether that agrees with the statement.
    why : str
        Reason of a difference; kept only where there is one.
    """
    verdict = "reproduced" if holds else "different"
    return Cell(where, said, ours, verdict, "" if holds else why, kind="statement")
