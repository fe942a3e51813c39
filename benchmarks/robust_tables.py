"""Are the printed outliers met, what is proven, and which printed figures are wrong?

Second document, tables 4.1, 4.2, 5.1, 5.2 and 5.3. Errors are squared distances of the kept points,
divided by their number, or by the squared norm of all points in table 4.2. "Met" allows for the
printed rounding. Our seconds are processor time of one thread, the whole fit; the machine of the
printed ones is not stated. No print has a bound; our gap is the distance to what is proven.

Table 4.2: the points are the columns, uncentred; spectf has its label as a column. "Optimal" is
``RobustPCA`` as it is, to a limit of 20 s where the print has a dash. The sub-optimal
searches of the document go by f + epsilon u from the empty set; ours, ``search="weighted"``,
begin with a strong choice, so that one figure serves every epsilon. Outlier Pursuit has its default
price 1 / sqrt(log n): it gives the print to the digit on vehicle and in half of spectf, so the
document's price is probably near it (it is not stated); on libras the two differ by up to 4 %.
The printed leverage figures do not come out: on vehicle no number of singular vectors from 1 to
18 gives any of them, centred or not, and elsewhere no one number gives more than a few. Ours,
with (4.4) as printed (as many vectors as outliers), are lower in all rows but one.

Table 5.1: the coordinates are not printed. Two L and a trapezoid were built from the description:
without the named outliers the other points lie on a line. Their numbering and proportions were
then chosen, among some thirty, so that the printed sets come out often: this shows that the print
is consistent, not that it was predicted. EU and EC are enumerations. HR-PCA is random; the print
seems to list the rows it dropped, ours are the rows farthest from its subspace. "ok" of the
print covers nearly optimal sets; ours is the exact set only.

Tables 5.2 and 5.3: samples are the points. "Bias" is ``BiasCentered``, gamma = 10; without it the
data are centred first. Our Coherence Pursuit, with absolute cosines, removes the rows of least
coherence, as its paper says; the bias does not help it. The printed figures with bias are, but
for glass, exactly those of "PCA": ordinary PCA of all samples, then the k farthest removed. So
the printed gain may come from another way to name the outliers, not from the bias. HR-PCA is
the mean of ten draws. Outlier Pursuit and ROBPCA do not take k: the k longest rows of C, and the
k rows farthest from the subspace, are removed. COPT is ``RobustPCA``: never above the print,
and below it on wine and glass, whose printed figures are not optimal. "gom" is not public.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from itertools import groupby
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.data import Sets
from benchmarks.measure import Row, timed
from columnist.robust import (
    HRPCA,
    ROBPCA,
    BiasCentered,
    CoherencePursuit,
    LeverageOutliers,
    OutlierPursuit,
    RobustPCA,
    TrimmedPCA,
)
from tests.oracles.outliers import best_rows
from tests.reference.printed import last_unit
from tests.reference.printed_robust import TABLE_4_1, TABLE_4_2, TABLE_5_1, TABLE_5_3, TOYS

__all__ = ["TITLE", "average_error", "farthest", "met", "rows", "tables", "toy"]

TITLE = "The printed outliers (second document, tables 4.1, 4.2, 5.1, 5.2 and 5.3)"

EPSILONS = ("2", "5", "10")
N_DRAWS = 10
# Seconds for a proof.
LIMIT, QUICK_LIMIT = 20.0, 10.0


def rows(sets: Sets, quick: bool = False) -> list[Row]:
    """One row per table, problem and method."""
    limit = QUICK_LIMIT if quick else LIMIT
    found = [
        row for name, X in sets.these("lung-cancer") for row in reduction(name, X, quick, limit)
    ]
    for name, X in sets.these("vehicle", "spectf", "libras"):
        for line in [line for line in TABLE_4_2 if line["set"] == name][: 1 if quick else None]:
            found += columns_as_points(name, X.T, line, limit)
    for name in TOYS:
        found += toy_rows(name)
    for line in TABLE_5_3[: 1 if quick else None]:
        for name, X in sets.these(line["set"]):
            found += samples_as_points(name, X, line, limit)
    return found


def measured(method: str, head: Row, run: Callable[[], Row]) -> Row:
    """One row: what a program finds, and its processor seconds with one thread."""
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a limit that was reached is seen in the status
        seconds, facts = timed(run, time.process_time)
    row = {**head, "method": method, "error": "", "outliers": "", "status": "", "gap [%]": ""}
    row |= {"printed": "", "printed s": ""} | facts | {"seconds": seconds}
    print(
        f"  {head['set']} k={head['k']} {method}: {row['error']} in {seconds:.1f} s",
        file=sys.stderr,
    )
    return row


def certified(X: np.ndarray, r: int, k: int, scale: float, **options: Any) -> Row:
    """A search with its certificate; its error divided by ``scale``."""
    found = RobustPCA(r, n_outliers=k, random_state=0, **options).fit(X)
    certificate = found.certificate_
    return {
        "error": float(certificate.error / scale),
        "outliers": numbered(found.outliers_),
        "status": certificate.status,
        "gap [%]": 100.0 * float(certificate.gap),
    }


def numbered(outliers: Any) -> str:
    """Rows counted from 1, as the document does."""
    return " ".join(str(int(i) + 1) for i in sorted(outliers)) or "none"


def met(error: Any, printed: str) -> bool | str:
    """Whether an error is no larger than printed, up to half a unit of the last digit."""
    if not printed or error == "":
        return ""
    return bool(error <= float(printed) + 0.5 * last_unit(printed))


# Table 4.1


def reduction(name: str, X: np.ndarray, quick: bool, limit: float) -> Iterator[Row]:
    """The average error of the best k points removed."""
    for line in TABLE_4_1[: 4 if quick else None]:
        r, k = int(line["r"]), int(line["k"])
        run = partial(certified, X, r, k, len(X) - k, centering="none", time_limit=limit)
        head = {"table": "4.1", "set": name, "k": k, "r": r}
        yield measured("optimal", head, run) | {"printed": line["error"]}


# Table 4.2


def columns_as_points(name: str, X: np.ndarray, line: dict[str, str], limit: float) -> list[Row]:
    """Every method of table 4.2 on one problem."""
    k, r = int(line["k"]), int(line["r"])
    head = {"table": "4.2", "set": name, "k": k, "r": r}
    scale = float(np.sum(X * X))
    uncentred = partial(certified, X, r, k, scale, centering="none")
    programs = {"optimal": partial(uncentred, time_limit=limit)}
    for epsilon in EPSILONS:
        options = {"search": "weighted", "epsilon": float(epsilon), "time_limit": limit}
        programs[epsilon] = partial(uncentred, **options)
    others = {
        "pursuit": OutlierPursuit(n_outliers=k, n_components=r, centering="none"),
        "leverage": LeverageOutliers(r, n_outliers=k, centering="none"),
    }
    for method, estimator in others.items():
        programs[method] = partial(fitted_error, estimator, X, scale)
    return [
        measured(method, head, run) | {"printed": line[method], "printed s": line[f"s {method}"]}
        for method, run in programs.items()
    ]


def fitted_error(estimator: Any, X: np.ndarray, scale: float) -> Row:
    """An estimator without a certificate."""
    found = estimator.fit(X)
    return {"error": float(found.error_ / scale), "outliers": numbered(found.outliers_)}


# Table 5.1


def toy(name: str) -> np.ndarray:
    """Points of the described kind: without those of ``TOYS`` the others lie on a line."""
    if name == "Trapezoid":
        return np.array([*((x, 0.0) for x in range(5)), (1.0, 5.0), (3.0, 5.0)])
    height, step = {"Tall-L": (15, 1.0), "Short-L": (5, 0.75)}[name]
    foot = [(step * x, 0.0) for x in (3, 2, 1)]
    return np.array([*foot, *((0.0, y) for y in range(height))])


def toy_rows(name: str) -> list[Row]:
    """Every method of table 5.1 on one toy set."""
    X, k = toy(name), len(TOYS[name])
    head = {"table": "5.1", "set": name, "k": k, "r": 1}
    found = []
    for line in TABLE_5_1:
        run = partial(toy_outliers, X, k, line["method"], line["bias"] == "yes")
        method = line["method"] + (" bias" if line["bias"] == "yes" else "")
        outliers, mark = line[name].rsplit(" ", 1)
        found.append(measured(method, head, run) | {"printed": outliers, "mark": mark})
    exact = partial(certified, X, 1, k, 1.0)
    return [*found, measured("RobustPCA", head, exact) | {"mark": ""}]


def toy_outliers(X: np.ndarray, k: int, method: str, bias: bool) -> Row:
    """Outliers of a method of table 5.1; r = 1."""
    if method == "EC":
        return {"outliers": numbered(best_rows(X, 1, k)[1])}
    if method == "EU":
        Z, r = (with_bias(X), 2) if bias else (X - X.mean(axis=0), 1)
        return {"outliers": numbered(best_rows(Z, r, k, centering="none")[1])}
    estimator = estimators(1, k)[method]
    if method == "Outlier Pursuit":
        estimator.set_params(n_outliers=None, n_components=None)  # the document gives it neither
    return {"outliers": numbered(wrapped(estimator, bias).fit(X).outliers_)}


def with_bias(X: np.ndarray, gamma: float = 10.0) -> np.ndarray:
    """Every point with one more, large coordinate."""
    return np.column_stack([X, np.full(len(X), gamma * np.linalg.norm(X))])


# Tables 5.2 and 5.3


def estimators(r: int, k: int, seed: int = 0) -> dict[str, Any]:
    """The methods compared in chapter 5, centred by the mean of all data where they are not."""
    return {
        "IU": TrimmedPCA(r, n_outliers=k, centering="mean"),
        "IC": TrimmedPCA(r, n_outliers=k),
        "HR-PCA": HRPCA(r, n_outliers=k, centering="mean", random_state=seed),
        "CoP": CoherencePursuit(r, n_outliers=k, centering="mean", norm="l1"),
        "Outlier Pursuit": OutlierPursuit(n_outliers=k, n_components=r, centering="mean"),
        "ROBPCA": ROBPCA(r, random_state=seed),
    }


def wrapped(estimator: Any, bias: bool) -> Any:
    """The estimator, or the bias trick around it."""
    return BiasCentered(estimator) if bias else estimator


def samples_as_points(name: str, X: np.ndarray, line: dict[str, str], limit: float) -> list[Row]:
    """Every method of tables 5.2 and 5.3 on one set."""
    k, r = int(line["k"]), int(line["r"])
    head = {"table": "5.3", "set": name, "k": k, "r": r}
    programs = {"COPT": partial(certified, X, r, k, len(X) - k, time_limit=limit)}
    for method in line:
        if method in ("set", "k", "r", "COPT"):
            continue
        bias, plain = method.endswith(" bias"), method.removesuffix(" bias")
        programs[method] = partial(average_of_draws, X, r, k, plain, bias)
    programs["PCA"] = lambda: {"error": average_error(X, farthest(X, r, k), r)}
    programs["IC"] = partial(average_of_draws, X, r, k, "IC", False)
    return [
        measured(method, head, run) | {"printed": line.get(method, "")}
        for method, run in programs.items()
    ]


def average_of_draws(X: np.ndarray, r: int, k: int, method: str, bias: bool) -> Row:
    """The error of a method's outliers, a random one's on average."""
    errors = []
    for seed in range(N_DRAWS if method == "HR-PCA" else 1):
        found = wrapped(estimators(r, k, seed)[method], bias).fit(X)
        outliers = found.outliers_
        if method == "ROBPCA":
            outliers = np.argsort(-found.orthogonal_distances(X), kind="stable")[:k]
        errors.append(average_error(X, outliers, r))
    return {"error": float(np.mean(errors)), "outliers": numbered(outliers)}


def average_error(X: np.ndarray, outliers: np.ndarray, r: int) -> float:
    """Formula (5.1): squared distances of the kept rows from their own PCA, on average."""
    kept = np.delete(X, outliers, axis=0)
    sigma = np.linalg.svd(kept - kept.mean(axis=0), compute_uv=False)
    return float(np.sum(sigma[r:] ** 2) / len(kept))


def farthest(X: np.ndarray, r: int, k: int) -> np.ndarray:
    """The k rows farthest from the ordinary PCA of all rows."""
    Z = X - X.mean(axis=0)
    axes = np.linalg.svd(Z, full_matrices=False)[2][:r]
    return np.argsort(-np.sum((Z - (Z @ axes.T) @ axes) ** 2, axis=1), kind="stable")[:k]


# What to show


def tables(rows: list[Row]) -> dict[str, list[Row]]:
    """The printed tables, ours beside them."""
    groups = problems(rows)
    chosen = {
        number: [g for t, g in groups if t == number] for number in ("4.1", "4.2", "5.1", "5.3")
    }
    return {
        "Table 4.1: average error": [average_line(group) for group in chosen["4.1"]],
        "Table 4.2: best sets of points": [best_line(group) for group in chosen["4.2"]],
        "Table 4.2: the other methods": [other_line(group) for group in chosen["4.2"]],
        "Table 5.1: toy sets (points counted from 1)": toy_lines(chosen["5.1"]),
        "Table 5.3: best sets of samples": [sample_line(group) for group in chosen["5.3"]],
        "Tables 5.2 and 5.3: the other methods": [
            line for group in chosen["5.3"] for line in method_lines(group)
        ],
    }


def problems(rows: list[Row]) -> list[tuple[str, dict[str, Row]]]:
    """(table, rows by method), one a problem."""
    groups = groupby(rows, key=lambda row: (row["table"], row["set"], row["k"], row["r"]))
    return [(key[0], {row["method"]: row for row in group}) for key, group in groups]


def head_of(row: Row) -> Row:
    """Set and sizes."""
    return {name: row[name] for name in ("set", "k", "r")}


def proven(row: Row) -> str:
    """ "Optimal", or how far the proof got."""
    return row["status"] if row["status"] == "optimal" else f"gap {row['gap [%]']:.2g} %"


def average_line(group: dict[str, Row]) -> Row:
    """Table 4.1, one problem."""
    row = group["optimal"]
    return head_of(row) | {
        "printed": row["printed"],
        "ours": f"{row['error']:.3f}",
        "same digits": f"{row['error']:.3f}" == row["printed"],
        "proof": proven(row),
        "seconds": row["seconds"],
    }


def best_line(group: dict[str, Row]) -> Row:
    """Table 4.2, one problem: the optimal and the sub-optimal columns."""
    row = group["optimal"]
    printed = {epsilon: group[epsilon]["printed"] for epsilon in EPSILONS}
    figures = [met(group[epsilon]["error"], printed[epsilon]) for epsilon in EPSILONS]
    least = min(filter(None, printed.values()), key=float)
    return head_of(row) | {
        "optimal printed": row["printed"] or "-",
        "ours": f"{row['error']:.3e}",
        "met": met(row["error"], row["printed"] or least),
        "proof": proven(row),
        "seconds": row["seconds"],
        "printed s": row["printed s"] or "-",
        "eps 2, 5, 10 printed": ", ".join(figure or "-" for figure in printed.values()),
        "weighted": ", ".join(f"{group[epsilon]['error']:.3e}" for epsilon in EPSILONS),
        "all met": all(figure for figure in figures if figure != ""),
        "its seconds": max(group[epsilon]["seconds"] for epsilon in EPSILONS),
    }


def other_line(group: dict[str, Row]) -> Row:
    """Table 4.2, one problem: the two competitors."""
    line = head_of(group["optimal"])
    for method in ("pursuit", "leverage"):
        row = group[method]
        ours, printed = row["error"], float(row["printed"])
        line |= {
            f"{method} printed": row["printed"],
            method: f"{ours:.3e}",
            f"{method} differs [%]": round(100.0 * (ours / printed - 1.0), 1) + 0.0,
            f"{method} s": row["seconds"],
            f"{method} printed s": row["printed s"],
        }
    return line


def toy_lines(groups: list[dict[str, Row]]) -> list[Row]:
    """Table 5.1: one line per method."""
    lines = []
    for method in groups[0] if groups else ():
        line: Row = {"method": method}
        for group in groups:
            row = group[method]
            true = " ".join(map(str, TOYS[row["set"]]))
            line |= {
                f"{row['set']} printed": f"{row['printed']} {row['mark']}".strip(),
                row["set"]: row["outliers"],
                f"{row['set']} found": row["outliers"] == true,
            }
        lines.append(line)
    return lines


def sample_line(group: dict[str, Row]) -> Row:
    """Table 5.3, one set: the best samples to remove."""
    row = group["COPT"]
    best = min(float(other["printed"]) for other in group.values() if other["printed"])
    return head_of(row) | {
        "COPT printed": row["printed"],
        "ours": f"{row['error']:.4f}",
        "met": met(row["error"], row["printed"]),
        "printed is optimal": printed_is_optimal(row),
        "least printed": best,
        "proof": proven(row),
        "seconds": row["seconds"],
    }


def printed_is_optimal(row: Row) -> bool | str:
    """Whether a printed error is the least there is, where that is known."""
    below = row["error"] < float(row["printed"]) - last_unit(row["printed"])
    return False if below else True if row["status"] == "optimal" else "not known"


def method_lines(group: dict[str, Row]) -> Iterator[Row]:
    """Tables 5.2 and 5.3, one set: every method, and how far above the best it is."""
    least = group["COPT"]["error"]
    for method, row in group.items():
        yield head_of(row) | {
            "method": method,
            "printed": row["printed"],
            "ours": f"{row['error']:.4f}",
            "ours above best [%]": round(100.0 * (row["error"] / least - 1.0), 2) + 0.0,
            "seconds": row["seconds"],
        }
