"""Text from files, and numbers, formatted for a terminal and for JSON."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from typing import Any

# Control characters, marks that turn the direction of text, broken halves of characters, line
# and paragraph separators: they would change what the terminal shows around them.
_UNSAFE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


def visible(text: object, width: int | None = None) -> str:
    """Text with control characters spelt out, and shortened in the middle."""
    text = str(text)
    if not text.isprintable():
        category = unicodedata.category
        text = "".join(ascii(c)[1:-1] if category(c) in _UNSAFE else c for c in text)
    if width is None or len(text) <= width:
        return text
    tail = (width - 1) // 2
    return f"{text[: width - 1 - tail]}…{text[len(text) - tail :]}"


def listed(names: Sequence[object], most: int = 8) -> str:
    """Names separated by commas, the first few only."""
    shown = ", ".join(visible(name, 60) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def unused(name: str, taken: Collection[str]) -> str:
    """A name like this one that is still free."""
    while name in taken:
        name += "_"
    return name


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


def parsed(text: str) -> int | float | None:
    """The number that is written, if it is one."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return None


def plain(value: Any) -> Any:
    """Plain types for JSON: NumPy as Python, NaN and infinity as None."""
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
