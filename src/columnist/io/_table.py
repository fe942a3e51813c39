"""What reading a data file gives, and the one error it may end with."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

__all__ = ["DataFileError", "Table", "listed", "one_line", "plural", "quoted"]

LONGEST_NAME = 60
MOST_NAMES = 5
LONGEST_MESSAGE = 600


class DataFileError(ValueError):
    """A data file that cannot be used; the message is one line: what is wrong, what to do."""


@dataclass(frozen=True)
class Table:
    """Numbers of a data file, with the columns that play another part.

    Attributes
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features)
        The features, float64, in C order; sparse files stay sparse.
    names : tuple of str
        Unique names of the columns of X.
    y : ndarray or None
        The target: shape (n,) for one, (n, q) for several; numbers or text.
    target_names : tuple of str
        Names of the targets.
    ids : dict of str to ndarray
        Columns that only label the rows.
    source, format : str
        Where the data came from and how they were read.
    ignored : dict of str to str
        Columns left out of X, and why: ``"text"``, ``"dates"``, ``"on request"``, ...
    imputed : dict of str to (int, float)
        How many missing values each column had, and what stands in their place.
    rows : ndarray or None
        Numbers (from 0) of the rows that were kept, where rows were dropped.
    renamed : dict of str to str
        Name in the file of the columns that had to be renamed, for names are unique here.
    """

    X: np.ndarray | sp.csr_array
    names: tuple[str, ...]
    y: np.ndarray | None
    target_names: tuple[str, ...]
    ids: dict[str, np.ndarray]
    source: str
    format: str
    ignored: dict[str, str]
    imputed: dict[str, tuple[int, float]]
    rows: np.ndarray | None
    renamed: dict[str, str] = field(default_factory=dict)


def quoted(text: object) -> str:
    """A name or value as it may stand in a message: quoted, escaped, not too long."""
    text = str(text)
    return repr(text if len(text) <= LONGEST_NAME else text[: LONGEST_NAME - 1] + "…")


def listed(items: Iterable[str], total: int | None = None) -> str:
    """The first few items, and how many more there are."""
    items = list(items)
    more = (len(items) if total is None else total) - MOST_NAMES
    return ", ".join(items[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


def one_line(message: object) -> str:
    """Text of any kind as one printable line of bounded length."""
    text = "".join(c if c.isprintable() else " " for c in str(message))
    text = " ".join(text.split())
    return text if len(text) <= LONGEST_MESSAGE else text[: LONGEST_MESSAGE - 1] + "…"


def plural(count: int, word: str) -> str:
    """``1 value``, ``2 values``."""
    return f"{count} {word}{'' if count == 1 else 's'}"
