"""Lengths of eigenvectors that Xu's solver may have returned: an experiment on chapter 9.

The second algorithm is taken literally: it may exceed the tolerance, which the package prevents.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np

from columnist.privacy import NullSpaceCleaner, linear_privacy
from columnist.privacy._printed import PrintedDirections
from reproduction.data import Data
from reproduction.experiments import Trial, tried
from reproduction.printed import printed
from reproduction.privacy_tables import RUNS, UTILITY, Linear, Split, load, split

__all__ = ["lengths", "resized"]

TABLES = (("xu-9.3", "", False), ("xu-9.4", "attacked ", True))
"""Table, prefix of its measures, and whether its models are centred as ours are."""
SOLVER, CORRECTED = "as the solver returns them", "in the corrected algorithm"
SETTINGS = {
    f"eigenvectors {length}, a tolerance for {whose}": (length, whose == "each label")
    for length in ("of length one", "ten times longer", SOLVER, CORRECTED)
    for whose in ("each label", "all labels")
}


def lengths(data: Data) -> Iterator[Trial]:
    """The second algorithm with every length and both tolerances, set by set."""
    for table, prefix, centred in TABLES:
        for row in (row for row in printed(table) if row["algorithm"] == "2"):
            name, desired = row["set"], int(row["desired"])
            X, Y = load(data, name)
            runs = [one_run(split(X, Y, desired, seed), centred) for seed in range(RUNS)]
            for setting in SETTINGS:
                for what in ("privacy error", "linear privacy"):
                    ours = float(np.mean([run[setting][prefix + what] for run in runs]))
                    where = f"{name}, {desired} desired, algorithm 2, {what}"
                    group = f"{table}, {name}, algorithm 2"
                    yield tried(group, table, where, row[what], setting, ours, random=True)


def one_run(part: Split, centred: bool) -> dict[str, dict[str, float]]:
    """Measures of both adversaries under every setting."""
    X, train = part.X, part.train
    mean = X[train].mean(axis=0) if centred else np.zeros(X.shape[1])
    secret = part.Y[:, part.secret]
    model = Linear(X[train], secret[train], intercept=centred)
    desired = Linear(X[train], part.Y[np.ix_(train, part.desired)], intercept=centred).coef
    directions = PrintedDirections(desired, model.coef)
    found = {}
    for setting, (length, each) in SETTINGS.items():
        utility = UTILITY * (len(part.desired) if each else 1)
        if length == CORRECTED:
            cleaned = corrected(X[train], desired, model.coef, utility, centred).transform(X)
        else:
            cleaned = mean + resized(directions, length).cleaned(X - mean, utility)
        again = Linear(cleaned[train], secret[train], intercept=True)
        found[setting] = judged(part, model, X, cleaned, "") | judged(
            part, again, cleaned, cleaned, "attacked ", model
        )
    return found


def corrected(
    X: np.ndarray, desired: np.ndarray, secret: np.ndarray, utility: float, centred: bool
) -> NullSpaceCleaner:
    """The second algorithm with the corrections of the package."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nothing to remove where outputs outnumber features
        return NullSpaceCleaner(
            desired,
            confidential=secret,
            utility=utility,
            centering="mean" if centred else "none",
        ).fit(X)


def resized(directions: PrintedDirections, length: str) -> PrintedDirections:
    """The same eigenvectors with another length."""
    if length == SOLVER:
        return directions
    sizes = np.linalg.norm(directions.vectors, axis=0)
    factors = 1.0 / sizes if length == "of length one" else np.full(len(sizes), 10.0)
    other = object.__new__(PrintedDirections)
    other.vectors = directions.vectors * factors
    other.desired = directions.desired * factors**2
    return other


def judged(
    part: Split,
    adversary: Linear,
    rows: np.ndarray,
    cleaned: np.ndarray,
    prefix: str,
    model: Linear | None = None,
) -> dict[str, float]:
    """Error and linear privacy of an adversary on cleaned test rows."""
    truth = part.Y[np.ix_(part.test, part.secret)]
    own = (model or adversary).predict(part.X[part.test])
    guess = adversary.predict(cleaned[part.test])
    blind = adversary.predict(rows[part.train].mean(axis=0))
    return {
        prefix + "privacy error": float(np.mean((guess - own) ** 2)),
        prefix + "linear privacy": 100.0 * linear_privacy(truth, guess, blind),
    }
