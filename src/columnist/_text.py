"""Formatting of numbers and names for reports, tables and messages."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence

_SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
# Longer names lose their middle everywhere.
_LONGEST = 200
_VISIBLE = {"\n": "↵", "\r": "↵", "\t": "⇥", "\x7f": "␡"}
# Characters that change the direction of the text after them: a name could look like another one.
_VISIBLE |= dict.fromkeys("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069", "\ufffd")


def readable(text: object, longest: int = _LONGEST) -> str:
    """Format any text as one line: control characters become visible, long text is shortened."""
    cut = shortened(str(text), longest)
    cut = cut.encode("utf-8", "replace").decode("utf-8")
    shown = "".join(_sign(c) for c in cut)
    return shown if shown.strip() else "(no name)"


def _sign(character: str) -> str:
    if character in _VISIBLE:
        return _VISIBLE[character]
    if character < " ":
        return chr(0x2400 + ord(character))
    return " " if unicodedata.category(character) in ("Cc", "Zl", "Zp") else character


def shortened(text: str, longest: int) -> str:
    """Shorten a long text by leaving out its middle."""
    if len(text) <= longest:
        return text
    tail = (longest - 1) // 3
    return text[: longest - 1 - tail] + "…" + text[len(text) - tail :]


def joined(names: Sequence[str], most: int = 8) -> str:
    """Quoted names, separated by commas, each set apart in its own direction; the rest counted."""
    shown = [f"“\u2068{name}\u2069”" for name in names[:most]]
    if len(names) > most:
        shown.append(f"{len(names) - most} more")
    return ", ".join(shown[:-1]) + " and " + shown[-1] if len(shown) > 1 else "".join(shown)


def count(n: int, what: str) -> str:
    """A number with its noun, in singular or plural."""
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"


def number(value: float | None, digits: int = 4) -> str:
    """A number with a few significant digits."""
    if value is None:
        return "–"
    if math.isnan(value):
        return "not defined"
    if math.isinf(value):
        return "infinite" if value > 0 else "minus infinite"
    if value == 0:
        return "0"
    if 1e-3 <= abs(value) < 1e6:
        if float(value).is_integer():
            return f"{value:,.0f}".replace("-", "−")
        decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
        text = f"{value:,.{decimals}f}"
        text = text.rstrip("0").rstrip(".") if "." in text else text
        return text.replace("-", "−")
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    power = str(int(exponent)).translate(_SUPERSCRIPTS)
    return f"{mantissa} × 10{power}".replace("-", "−")


def between(low: float, high: float, digits: int = 6) -> str:
    """A number that is known to lie between two, in words if one of these is infinite."""
    if math.isinf(low) and low > 0:
        return "–"  # no number is known
    if math.isinf(high):
        return f"≥ {number(low, digits)}"
    if high - low <= 1e-9 * abs(high):
        return number(high, digits)
    return f"{number(low, digits)} to {number(high, digits)}"


def percent(share: float | None) -> str:
    """A share in per cent."""
    if share is None or not math.isfinite(share):
        return number(share)
    value = 100 * share
    if 0 < value < 0.01:
        return "less than 0.01\u00a0%"
    if 99.99 < value < 100:  # rounding must not turn it into all there is
        return "more than 99.99\u00a0%"
    if 99 < value < 100:
        return f"{value:.2f}".rstrip("0").rstrip(".") + "\u00a0%"
    return f"{value:.3g}\u00a0%".replace("-", "−") if abs(value) < 1000 else f"{value:,.0f}\u00a0%"


def rounded_percent(share: float) -> str:
    """A share in per cent with one decimal, so that a column of them lines up."""
    text = f"{100 * share:.1f}\u00a0%"
    return percent(share) if share < 1.0 and text.startswith("100") else text


def seconds(value: float | None) -> str:
    """A time in seconds, or in minutes and seconds."""
    if value is None:
        return "-"
    if value < 60:
        return f"{value:.3g} s"
    minutes, rest = divmod(round(value), 60)
    return f"{minutes} min {rest:02d} s"


def ways(n_items: int, size: int) -> str:
    """The number of possible selections, in words."""
    if not 0 <= size <= n_items:
        return "0"
    log = math.lgamma(n_items + 1) - math.lgamma(size + 1) - math.lgamma(n_items - size + 1)
    if log < math.log(1e15):
        return f"{math.comb(n_items, size):,}"
    return f"about 10{str(round(log / math.log(10))).translate(_SUPERSCRIPTS)}"
