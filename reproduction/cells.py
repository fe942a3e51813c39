"""One printed figure beside ours, and the verdict."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "KINDS",
    "VERDICTS",
    "WHOSE",
    "Cell",
    "agrees",
    "compare",
    "last_unit",
    "not_possible",
    "ours_text",
    "p_value",
    "random_tolerance",
    "skipped",
    "within",
]

VERDICTS = {
    "reproduced": "ours agrees with the printed figure",
    "better": "the method of the document comes out better than printed",
    "different": "ours differs from the printed figure",
    "not possible": "the figure cannot be computed here",
    "skipped": "left to the full mode",
}

WHOSE = {
    "method": "the method that the document proposes",
    "competitor": "a method that it is compared with; better than printed is different",
    "search": "a search that need not end at the optimum; better than printed is different",
}

KINDS = {
    "figure": "a printed figure",
    "size": "a size of a data set",
    "statement": "what the text says of a figure",
}
"""Only figures are counted by verdict."""


@dataclass(frozen=True)
class Cell:
    """A printed figure and what became of it.

    Attributes
    ----------
    where : str
        The place in its table: ``"vehicle, k = 5, nuclear"``.
    printed : str
        The figure as printed, so that its last digit is known; may be text.
    ours : float, str or None
        Our figure; None where there is none.
    verdict : str
        One of :data:`VERDICTS`.
    why : str
        The reason, where the verdict needs one.
    detail : str
        What stands behind our figure: ``"proven optimal"``.
    tolerance : float or None
        How far from the print agreement reaches; None where nothing is compared as a number.
    whose : str
        Whose figure it is, one of :data:`WHOSE`.
    kind : str
        One of :data:`KINDS`.
    """

    where: str
    printed: str
    ours: float | str | None
    verdict: str
    why: str = ""
    detail: str = ""
    tolerance: float | None = None
    whose: str = "method"
    kind: str = "figure"


def last_unit(printed: str) -> float:
    """One unit of the last printed digit: 0.1 for "1.252e2"."""
    mantissa, _, exponent = printed.partition("e")
    decimals = len(mantissa.partition(".")[2])
    return 10.0 ** (int(exponent or 0) - decimals)


def agrees(value: float, printed: str, units: float = 1.0) -> bool:
    """Within one unit of the last printed digit: the documents round or truncate."""
    return abs(value - float(printed)) <= units * last_unit(printed) * (1 + 1e-9)


def random_tolerance(printed: str) -> float:
    """How far a figure of random runs may be from a print without a spread: 3 % of the print.

    It depends on the print alone. The share was settled after the figures of chapter 9 had been
    seen: two units of the second printed digit had let 86.5 pass for a printed 100.0.
    """
    return 0.03 * abs(float(printed))


def compare(
    where: str,
    printed: str,
    ours: float,
    *,
    better: str | None = None,
    units: float = 1.0,
    spread: float = 0.0,
    random: bool = False,
    whose: str = "method",
    kind: str = "figure",
    why: str = "",
    detail: str = "",
) -> Cell:
    """The cell of a number.

    Parameters
    ----------
    where, printed
        As in :class:`Cell`.
    ours : float
        Our figure, in the convention of the print.
    better : {"smaller", "larger"}, optional
        Which side of the print is better; without it a difference is just different.
    units : float, default=1.0
        How many units of the last printed digit count as agreement.
    spread : float, default=0.0
        A spread that is printed, or follows from the print. Never one of our own runs.
    random : bool, default=False
        Whether the figure depends on random draws: :func:`random_tolerance` counts as agreement.
    whose, kind : str
        As in :class:`Cell`. Only the method of a document can be better than printed.
    why : str
        Reason of a difference; kept only where there is one.
    detail : str
        As in :class:`Cell`.
    """
    chance = random_tolerance(printed) if random else 0.0
    tolerance = max(units * last_unit(printed), spread, chance)
    if abs(ours - float(printed)) <= tolerance * (1 + 1e-9):
        verdict, why = "reproduced", ""
    else:
        gain = {"smaller": float(printed) - ours, "larger": ours - float(printed), None: 0.0}[
            better
        ]
        verdict = "better" if gain > 0 and whose == "method" else "different"
    return Cell(where, printed, ours, verdict, why, detail, tolerance, whose, kind)


def p_value(
    where: str, printed: str, ours: float, *, whose: str, why: str, detail: str = ""
) -> Cell:
    """The cell of a p value, which agrees within its digits or a factor of two."""
    near = 0.5 * float(printed) <= ours <= 2.0 * float(printed)
    verdict = "reproduced" if near or agrees(ours, printed) else "different"
    why = "" if verdict == "reproduced" else why
    tolerance = max(float(printed), last_unit(printed))
    return Cell(where, printed, ours, verdict, why, detail, tolerance, whose)


def within(cell: Cell) -> str:
    """How far agreement reaches, for readers; empty where nothing is compared as a number.

    Examples
    --------
    >>> from reproduction.cells import compare, p_value, within
    >>> (
    ...     within(compare("k = 20", "13.9", 13.84)),
    ...     within(p_value("p value", "0.29", 0.2, whose="method", why="")),
    ... )
    ('0.1', '0.01 or a factor of 2')
    """
    if cell.where.endswith("p value") and cell.tolerance is not None:
        return f"{last_unit(cell.printed):.2g} or a factor of 2"
    return "" if cell.tolerance is None else f"{cell.tolerance:.2g}"


def not_possible(
    where: str,
    printed: str,
    why: str,
    ours: float | str | None = None,
    *,
    whose: str = "method",
    kind: str = "figure",
) -> Cell:
    """The cell of a figure that cannot be compared here, and why."""
    return Cell(where, printed, ours, "not possible", why, whose=whose, kind=kind)


def skipped(where: str, printed: str, why: str = "takes minutes: full mode only") -> Cell:
    """The cell of a figure that the quick mode leaves out."""
    return Cell(where, printed, None, "skipped", why)


def ours_text(cell: Cell) -> str:
    """Our figure in the form of the printed one, with one digit more; empty if there is none.

    Examples
    --------
    >>> from reproduction.cells import compare, ours_text
    >>> ours_text(compare("k = 20", "6.05e8", 604536341.25))
    '6.045e8'
    """
    if cell.ours is None or isinstance(cell.ours, str):
        return cell.ours or ""
    value, (mantissa, e, _) = float(cell.ours), cell.printed.lower().partition("e")
    decimals = len(mantissa.partition(".")[2]) + 1
    try:
        float(cell.printed)
    except ValueError:
        return f"{value:.6g}"
    if e:
        digits, _, exponent = f"{value:.{decimals}e}".partition("e")
        return f"{digits}e{int(exponent)}" if exponent else digits
    if value.is_integer() and decimals == 1:
        return f"{value:.0f}"
    return f"{value:.{decimals}f}" if abs(value) >= 10.0 ** (2 - decimals) else f"{value:.3g}"
