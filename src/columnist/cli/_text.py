"""Text of unknown origin, and numbers, made fit for a terminal and for JSON."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from columnist._text import count, seconds

__all__ = ["count", "listed", "number", "percent", "plain", "seconds", "visible"]

# Control characters, marks that turn the direction of text, broken halves of characters, line
# and paragraph separators: they would change what the terminal shows around them.
_UNSAFE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


def visible(text: object, width: int | None = None) -> str:
    r"""Text with control characters spelt out, and shortened in the middle.

    Examples
    --------
    >>> from columnist.cli._text import visible
    >>> visible("a\x1b[31mb")
    'a\\x1b[31mb'
    >>> visible("a very long name", 9)
    'a ve…name'
    """
    text = str(text)
    if not text.isprintable():
        text = "".join(_spelt(c) if unicodedata.category(c) in _UNSAFE else c for c in text)
    if width is None or len(text) <= width:
        return text
    tail = (width - 1) // 2
    return f"{text[: width - 1 - tail]}…{text[len(text) - tail :]}"


def _spelt(character: str) -> str:
    return ascii(character)[1:-1]


def listed(names: Sequence[object], most: int = 8) -> str:
    """Names separated by commas, the first few only.

    Examples
    --------
    >>> from columnist.cli._text import listed
    >>> listed(["a", "b", "c"], most=2)
    'a, b and 1 more'
    """
    shown = ", ".join(visible(name, 60) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def number(value: Any, digits: int = 6) -> str:
    """A number, or a dash where there is none."""
    if value is None or not math.isfinite(value):
        return "-"
    return f"{value:.{digits}g}"


def percent(share: Any, digits: int = 2) -> str:
    """A share in percent, or a dash."""
    if share is None or not math.isfinite(share):
        return "-"
    if 0.0 < abs(share) < 0.5 * 10.0 ** -(digits + 2):
        return f"{100 * share:.1g}%"
    return f"{100 * share:.{digits}f}%"


def plain(value: Any) -> Any:
    """Plain types for JSON: NumPy as Python, NaN and infinity as None.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.cli._text import plain
    >>> plain({"a": np.array([1.0, np.nan]), "b": np.int64(3)})
    {'a': [1.0, None], 'b': 3}
    """
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item) for item in value]
    if value is None or isinstance(value, (bool, int, str)):
        return value
    return str(value)
