"""Lists of columns on the command line: names separated by commas, and ranges."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence


def expanded(given: Sequence[str] | None, known: Sequence[str]) -> list[str]:
    """The columns behind ``a``, ``a,b`` and ranges ``a:c`` or ``a-c``, each once.

    A text that is the name of a column always means that column. Unknown names are returned
    unchanged and reported when they are looked up.
    """
    places = {name: place for place, name in enumerate(known)}
    found = (name for text in given or () for name in _names_in(text, places, known))
    return list(dict.fromkeys(found))


def _names_in(text: str, places: dict[str, int], known: Sequence[str]) -> Iterator[str]:
    if text in places:
        yield text
        return
    for part in next(csv.reader([text], skipinitialspace=True), []):
        name = part.strip()
        if name:
            yield from _range(name, places, known)


def _range(text: str, places: dict[str, int], known: Sequence[str]) -> Sequence[str]:
    """The columns of a range, from the first to the last in the order of the file."""
    if text in places:
        return [text]
    for cut, sign in enumerate(text):
        first, last = text[:cut].strip(), text[cut + 1 :].strip()
        if sign in ":-" and first in places and last in places:
            ends = sorted((places[first], places[last]))
            return known[ends[0] : ends[1] + 1]
    return [text]
