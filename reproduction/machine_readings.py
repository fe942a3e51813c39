"""Support vector machines that chapter 9 may have used: an experiment on tables 9.5 and 9.6."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVR, LinearSVR

from columnist.privacy import NullSpaceCleaner, linear_privacy
from reproduction.data import Data
from reproduction.experiments import Trial, tried
from reproduction.printed import printed
from reproduction.privacy_tables import UTILITY, Linear, Split, load, split

__all__ = ["machines"]

RUNS = 3
MACHINES: dict[str, Callable[[], Any]] = {
    "Gaussian kernel, standardised": lambda: pipeline(StandardScaler(), SVR()),
    "Gaussian kernel, as they are": lambda: pipeline(FunctionTransformer(), SVR()),
    "Gaussian kernel, standardised, C = 100": lambda: pipeline(StandardScaler(), SVR(C=100.0)),
    "linear, standardised": lambda: pipeline(StandardScaler(), LinearSVR(max_iter=2000)),
}
TABLES = (("xu-9.5", ""), ("xu-9.6", "attacked "))


def pipeline(scaling: Any, machine: Any) -> Any:
    """One machine for every target."""
    return make_pipeline(scaling, MultiOutputRegressor(machine))


def machines(data: Data) -> Iterator[Trial]:
    """The first algorithm against every machine, with both ways to centre, set by set."""
    rows = {
        (table, row["set"], row["desired"]): row
        for table, _ in TABLES
        for row in printed(table)
        if row["algorithm"] == "1"
    }
    for name, desired in dict.fromkeys(key[1:] for key in rows):
        X, Y = load(data, name)
        for (machine, make), centred in product(MACHINES.items(), (False, True)):
            parts = [split(X, Y, int(desired), seed) for seed in range(RUNS)]
            runs = [one_run(part, make, centred) for part in parts]
            setting = f"{machine}, cleaning {'centred' if centred else 'uncentred'}"
            for (table, prefix), what in product(TABLES, ("privacy error", "linear privacy")):
                ours = float(np.mean([run[prefix + what] for run in runs]))
                figure = rows[table, name, desired][what]
                where = f"{name}, {desired} desired, algorithm 1, {what}"
                group = f"{table}, {name}, algorithm 1"
                yield tried(group, table, where, figure, setting, ours, random=True)


def one_run(part: Split, make: Callable[[], Any], centred: bool) -> dict[str, float]:
    """Errors and linear privacy of both adversaries."""
    X, train, test = part.X, part.train, part.test
    desired = Linear(X[train], part.Y[np.ix_(train, part.desired)], intercept=centred).coef
    secret = part.Y[:, part.secret]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nothing to remove, and machines that stop early
        cleaner = NullSpaceCleaner(
            desired,
            gain="count",
            utility=UTILITY * len(part.desired),
            centering="mean" if centred else "none",
        ).fit(X[train])
        cleaned = cleaner.transform(X)
        plain = make().fit(X[train], secret[train])
        again = make().fit(cleaned[train], secret[train])
    own, found = plain.predict(X[test]), {}
    for prefix, machine, rows in (("", plain, X), ("attacked ", again, cleaned)):
        guess = machine.predict(cleaned[test])
        blind = machine.predict(rows[train].mean(axis=0)[None])[0]
        found[prefix + "privacy error"] = float(np.mean((guess - own) ** 2))
        found[prefix + "linear privacy"] = 100.0 * linear_privacy(secret[test], guess, blind)
    return found
