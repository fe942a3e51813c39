"""Column selection with a proof: chapter 5 of the first document, chapter 3 of the second.

The first document prints squared Frobenius norms and the Schatten sum without its root, the
second the Frobenius norm itself and the Schatten norm with its root. Data are raw.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations

import numpy as np

from columnist.metrics import entry_errors
from reproduction.cells import Cell, agrees, compare, not_possible, skipped
from reproduction.printed import printed
from reproduction.reasons import by_setting
from reproduction.registry import PrintedTable, Run, by_set
from reproduction.searches import Found, Problem, after_extraction, rank_revealing, searched
from reproduction.settings import RRQR_F, TUNED_RRQR_F
from reproduction.sizes import size_cells
from reproduction.weighted_search import MOST_NODES, printed_greedy, printed_search

__all__ = ["TABLES"]

Row = Mapping[str, str]
Key = tuple[str, int, str]

WEIGHTS = ("0.2", "0.4", "0.8")
SCHATTEN = "schatten:0.5"

# Problems whose proof, or whose weighted search, takes longer than two seconds.
SLOW: frozenset[Key] = frozenset(
    {
        ("libras", 4, SCHATTEN),
        ("libras", 4, "nuclear"),
        ("libras", 3, SCHATTEN),
        ("spectf", 5, SCHATTEN),
        ("spectf", 5, "nuclear"),
        ("spectf", 5, "spectral"),
        ("spectf", 4, SCHATTEN),
        ("spectf", 5, "schatten:0.25"),
    }
)

NO_ARSS = (
    "the parameters of ARSS (Zhu et al. 2015) are not printed, and it is not among our methods"
)
UNFINISHED = f"the printed search comes to no end within {MOST_NODES:,} nodes"

# Printed figures that are wrong: what is right, and how one can tell.
WRONG: dict[tuple[str, Key, str], tuple[float, str]] = {
    ("xu-5.3", ("libras", 3, "nuclear"), "optimal"): (
        81.0328,
        "tested: the print is not optimal, and larger than the figure for weight 0.8 in its row",
    ),
    ("he-3.1", ("spectf", 5, "spectral"), "optimal"): (
        252.6586,
        "tested: a misprint, the first document has 252.658 for the same optimum",
    ),
    ("he-3.1", ("spectf", 15, "spectral"), "greedy"): (
        188.2764,
        "tested: a misprint, the a-posteriori bound printed beside it belongs to 188.28",
    ),
    ("he-3.1", ("libras", 30, "nuclear"), "greedy"): (
        6.4347,
        "tested: a misprint, equal to the figure for weight 0.8; the a-posteriori bound printed "
        "beside it belongs to 6.435",
    ),
}


def why_wrong(table: str, key: Key, column: str, ours: float) -> str:
    """Why a print is wrong, if ours is what we know to be right."""
    right, why = WRONG.get((table, key, column), (np.nan, ""))
    return why if abs(ours - right) <= 2e-5 * right else ""


def first_style(criterion: str, error: float) -> float:
    """An error as the first document prints it."""
    return error**0.5 if criterion == SCHATTEN else error


def second_style(criterion: str, error: float) -> float:
    """An error as the second document prints it."""
    return error**0.5 if criterion == "frobenius" else error


def key_of(row: Row) -> Key:
    """Set, number of columns and criterion of a row."""
    return row["set"], int(row["r1"]), row["criterion"]


def place(row: Row, *columns: str) -> str:
    """Where a row stands."""
    parts = [row["set"], f"r1 = {row['r1']}"]
    parts += [f"r2 = {row['r2']}"] if "r2" in row else []
    parts += [f"r = {row['r']}"] if "r" in row else []
    parts += [row["criterion"]] if "criterion" in row else []
    return ", ".join([*parts, *columns])


NAMES = {
    "a_priori": "a-priori bound of greedy",
    "a_posteriori": "a-posteriori bound of greedy",
    "hybrid": "together",
    "sequential": "select, then extract",
    **{weight: f"weight {weight}" for weight in WEIGHTS},
}
GIVEN = ("set", "r1", "r2", "r", "criterion")


def figures(row: Row) -> Iterator[tuple[str, str, str]]:
    """Column, place and text of the printed figures of a row."""
    for column, figure in row.items():
        if figure and column not in GIVEN:
            yield column, place(row, NAMES.get(column, column)), figure


def listed(row: Row) -> Iterator[tuple[str, str]]:
    """Place and text of the printed figures of a row."""
    return ((where, figure) for _, where, figure in figures(row))


def selection_table(table: str, run: Run) -> Iterator[Cell]:
    """Optimal, weighted, greedy and other selection, without components."""
    style = first_style if table.startswith("xu") else second_style

    def compute(name: str, rows: list[Row]) -> Iterator[Cell]:
        run.data.matrix(name)
        for row in rows:
            key = key_of(row)
            for column, where, figure in figures(row):
                if column == "ARSS":
                    yield not_possible(where, figure, NO_ARSS)
                elif run.quick and key in SLOW:
                    yield skipped(where, figure)
                else:
                    problem = Problem(run.data, *key)
                    error, detail = answer(problem, column)
                    if error is None:
                        yield not_possible(where, figure, UNFINISHED, whose="search")
                        continue
                    ours = style(key[2], error)
                    why = why_wrong(table, key, column, ours)
                    why = why or other_why(problem, column, figure, style)
                    yield compare(
                        where, figure, ours, better="smaller", why=why, detail=detail,
                        whose=whose(column),
                    )  # fmt: skip

    yield from by_set(printed(table), compute, listed)


Style = Callable[[str, float], float]


def other_why(problem: Problem, column: str, figure: str, style: Style) -> str:
    """Why another method may differ: GE is tried with another bound."""
    if column == "GE":
        tuned = style(problem.criterion, rank_revealing(problem, TUNED_RRQR_F))
        return by_setting(figure, f"f = {TUNED_RRQR_F}", tuned)
    known = column in WEIGHTS
    return "unknown; ties and the key of the printed search are not stated" if known else "unknown"


def whose(column: str) -> str:
    """Whose figures a column holds."""
    if column in WEIGHTS or column.startswith(("greedy", "a_")):
        return "search"
    return "competitor" if column in ("GE", "sequential") else "method"


def answer(problem: Problem, column: str) -> tuple[float | None, str]:
    """Our figure for a column of a table, and what stands behind it."""
    if column == "GE":
        tuned = rank_revealing(problem, TUNED_RRQR_F)
        return rank_revealing(problem), f"with f = {TUNED_RRQR_F}, found by trying: {tuned:.6g}"
    if column in WEIGHTS:
        return printed_search(problem, "f+u", float(column)), ""
    if column == "optimal":
        found = searched(problem)
        return found.error, found.proof
    greedy = printed_greedy(problem)
    errors = {"greedy": greedy.error, "a_priori": greedy.a_priori_greedy}
    return errors.get(column, greedy.a_posteriori), ""


def spectral_table(run: Run) -> Iterator[Cell]:
    """The spectral norm, with sizes that are misprinted."""

    def compute(name: str, rows: list[Row]) -> Iterator[Cell]:
        run.data.matrix(name)
        for row in rows:
            problem = Problem(run.data, name, int(row["r1"]), "spectral")
            for column, where, figure in figures(row):
                if run.quick and (name, problem.k, "spectral") in SLOW:
                    yield skipped(where, figure)
                    continue
                ours, detail = answer(problem, column)
                assert ours is not None
                better: str | None = "smaller"
                why = other_why(problem, column, figure, first_style)
                smaller = replace(problem, k=problem.k - 1)
                if not agrees(ours, figure) and agrees(answer(smaller, column)[0] or 0.0, figure):
                    why, better = f"tested: the size is misprinted for {smaller.k}", None
                yield compare(
                    where, figure, ours, better=better, why=why, detail=detail, whose=whose(column)
                )

    yield from by_set(printed("xu-5.4"), compute, listed)


def hybrid_table(table: str, run: Run) -> Iterator[Cell]:
    """Selection and extraction together, and one after the other."""
    style = first_style if table.startswith("xu") else second_style

    def compute(name: str, rows: list[Row]) -> Iterator[Cell]:
        run.data.matrix(name)
        for row in rows:
            problem = Problem(run.data, *key_of(row), int(row["r2"]))
            for column, where, figure in figures(row):
                if column == "hybrid":
                    error, proof = answer(problem, "optimal")
                else:
                    error, proof = after_extraction(problem), ""
                assert error is not None
                ours = style(row["criterion"], error)
                why = wrong_exponent(figure, ours)
                yield compare(
                    where, figure, ours, better="smaller", why=why, detail=proof,
                    whose=whose(column),
                )  # fmt: skip

    yield from by_set(printed(table), compute, listed)


def wrong_exponent(figure: str, ours: float) -> str:
    """Why a figure with the right digits is wrong."""
    for places in (1, 2):
        if agrees(ours / 10**places, figure):
            return f"tested: the digits are right, the printed exponent is too small by {places}"
    return ""


def mixture_table(run: Run) -> Iterator[Cell]:
    """From components alone to columns alone."""

    def compute(name: str, rows: list[Row]) -> Iterator[Cell]:
        run.data.matrix(name)
        for row in rows:
            for criterion, where, figure in figures(row):
                problem = Problem(run.data, name, int(row["r1"]), criterion, int(row["r2"]))
                if problem.k:
                    error, proof = answer(problem, "optimal")
                else:
                    error, proof = problem.error(()), "principal components"
                # Printed Schatten figures are squares of figures rounded to two decimals.
                slack = 0.02 * float(figure) ** 0.5 if criterion == SCHATTEN else 0.0
                assert error is not None
                ours = second_style(criterion, error)
                yield compare(where, figure, ours, better="smaller", spread=slack, detail=proof)

    yield from by_set(printed("he-3.2"), compute, listed)


NEAR = 1e-3
"""How much larger the error of a near choice may be, as a share."""


def entry_table(run: Run) -> Iterator[Cell]:
    """Entries of the residual of the optimal choice."""

    def compute(name: str, rows: list[Row]) -> Iterator[Cell]:
        run.data.matrix(name)
        for row in rows:
            key = key_of(row)
            if run.quick and key in SLOW:
                yield from (skipped(*cell) for cell in listed(row))
                continue
            problem = Problem(run.data, *key, int(row["r"]) - key[1])
            found = searched(problem)
            ours = entries(problem, found.columns)
            theirs = [agrees(ours[column], row[column]) for column in ours]
            why = "" if all(theirs) else near_choices(problem, found, row)
            for column, where, figure in figures(row):
                yield compare(where, figure, ours[column], why=why, detail=found.proof)

    yield from by_set(printed("he-3.4"), compute, listed)


def entries(problem: Problem, columns: Sequence[int]) -> dict[str, float]:
    """Both measures of a choice."""
    errors = entry_errors(problem.X, columns, n_components=problem.r2)
    return dict(zip(("l0", "l1"), errors, strict=True))


def near_choices(problem: Problem, found: Found, row: Row) -> str:
    """Whether choices one or two exchanges away, nearly as good, give both printed measures."""
    near = [
        columns
        for columns in exchanged(found.columns, problem.X.shape[1])
        if problem.error(columns) <= (1.0 + NEAR) * found.error
    ]
    measures = [entries(problem, columns) for columns in near]
    met = sum(all(agrees(one[c], row[c]) for c in one) for one in measures)
    what = f"of {len(near)} other choices whose error is larger by less than {100 * NEAR:g} %"
    if met:
        return f"tested: {met} {what} give both printed measures"
    return f"unknown; none {what} gives both printed measures"


def exchanged(columns: Sequence[int], n: int) -> Iterator[tuple[int, ...]]:
    """Choices that differ in one or two columns."""
    others = [j for j in range(n) if j not in columns]
    for size in (1, 2)[: len(columns)]:
        for out in combinations(columns, size):
            kept = [j for j in columns if j not in out]
            yield from (tuple(sorted((*kept, *new))) for new in combinations(others, size))


def sizes(run: Run) -> Iterator[Cell]:
    """Table 5.2 of the first document."""
    yield from size_cells("xu-5.2", lambda name: (*run.data.matrix(name).shape, 0))


OTHER_PATH = (
    "Weighted columns are searches of the printed kind, which keep every child of a node open and "
    "begin with nothing; the package's own begin with a strong choice. "
)
FIRST_STYLE = "Frobenius is the squared norm, Schatten the sum of the roots (p = 0.5). "
ONE_BOUND = f" GE runs with f = {RRQR_F:g} in every table."
SECOND_STYLE = "Frobenius is the norm, Schatten (p = 0.5) is with its root. "

TABLES = (
    PrintedTable(
        "xu-5.2", "Sizes of the sets of chapter 5", sizes, "spectf counts its label as a column."
    ),
    PrintedTable(
        "xu-5.3",
        "Error of optimal and weighted column selection under four criteria",
        partial(selection_table, "xu-5.3"),
        FIRST_STYLE + OTHER_PATH,
    ),
    PrintedTable(
        "xu-5.4",
        "Spectral error of optimal selection and of a rank-revealing factorisation",
        spectral_table,
        "The last digits are cut off. Two sizes of vehicle are too large by one, for the "
        "factorisation all three." + ONE_BOUND,
    ),
    PrintedTable(
        "xu-5.5",
        "Columns and components chosen together, and one after the other",
        partial(hybrid_table, "xu-5.5"),
        FIRST_STYLE,
    ),
    PrintedTable(
        "he-3.1",
        "Error of optimal, weighted and greedy column selection, and its bounds",
        partial(selection_table, "he-3.1"),
        OTHER_PATH + " Bounds are absolute. Searches that took the authors more than five minutes "
        "have no printed figure." + ONE_BOUND,
    ),
    PrintedTable(
        "he-3.2",
        "Ten columns and components of vehicle in six mixtures",
        mixture_table,
        SECOND_STYLE + "Its Schatten figures are squares of sums rounded to two decimals, and are "
        "compared as such.",
    ),
    PrintedTable(
        "he-3.3",
        "Columns and components chosen together, and one after the other",
        partial(hybrid_table, "he-3.3"),
        SECOND_STYLE + "The exponents of its Schatten figures are misprinted.",
    ),
    PrintedTable(
        "he-3.4",
        "Entries of the residual as more of ten (thirty) directions are columns",
        entry_table,
        "The measures are not defined in print. We read l0 as the share of entries above 0.5, l1 "
        "as the mean size of an entry, r as columns plus components, of the optimal choice.",
    ),
)
