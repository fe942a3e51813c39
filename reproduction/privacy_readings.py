"""Readings of the protocol of chapter 9 that its text allows: an experiment on its tables."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from itertools import product

import numpy as np

from columnist.privacy import NullSpaceCleaner, linear_privacy
from reproduction.data import Data
from reproduction.experiments import Trial, tried
from reproduction.printed import printed
from reproduction.privacy_tables import RUNS, UTILITY, Linear, Split, load, split

__all__ = ["privacy"]

Values = dict[str, float]


def privacy(data: Data) -> Iterator[Trial]:
    """The first algorithm in tables 9.3 and 9.4 under every reading, set by set."""
    rows = {
        table: [row for row in printed(table) if row["algorithm"] == "1"]
        for table in ("xu-9.3", "xu-9.4")
    }
    divisions = dict.fromkeys((row["set"], row["desired"]) for row in rows["xu-9.3"])
    for name, desired in divisions:
        for reading, values in readings(data, name, int(desired)):
            for table, prefix in (("xu-9.3", ""), ("xu-9.4", "attacked ")):
                row = next(r for r in rows[table] if (r["set"], r["desired"]) == (name, desired))
                yield from trials(table, row, reading, values, prefix)


def trials(
    table: str, row: Mapping[str, str], reading: str, values: Values, prefix: str
) -> Iterator[Trial]:
    """The figures of one row under one reading."""
    for what in ("privacy error", "linear privacy"):
        where = f"{row['set']}, {row['desired']} desired, algorithm 1, {what}"
        group = f"{table}, {row['set']}, algorithm 1"
        yield tried(group, table, where, row[what], reading, values[prefix + what], random=True)


def readings(data: Data, name: str, n_desired: int) -> Iterator[tuple[str, Values]]:
    """Means of the runs under every reading."""
    X, Y = load(data, name)
    codings = {"labels -1 and 1": Y}
    if np.isin(Y, (-1.0, 1.0)).all():
        codings["labels 0 and 1"] = (Y + 1.0) / 2.0
    for (coding, targets), centred, each in product(codings.items(), (False, True), (False, True)):
        utility = UTILITY * (n_desired if each else 1)
        runs = [
            one_run(split(X, targets, n_desired, seed), utility, centred) for seed in range(RUNS)
        ]
        means = {key: float(np.mean([run[key] for run in runs])) for key in runs[0]}
        for total, truth in product((False, True), (False, True)):
            words = (
                coding,
                "centred, with intercepts" if centred else "uncentred, without intercepts",
                f"a tolerance for {'each label' if each else 'all labels'}",
                f"{'sum' if total else 'mean'} over labels",
                f"errors against the {'truth' if truth else 'model'}",
            )
            scale = Y.shape[1] - n_desired if total else 1
            error = "true error" if truth else "error"
            values = {}
            for prefix in ("", "attacked "):
                values[f"{prefix}privacy error"] = scale * means[prefix + error]
                values[f"{prefix}linear privacy"] = means[f"{prefix}linear privacy"]
            yield ", ".join(words), values


def one_run(part: Split, utility: float, centred: bool) -> Values:
    """Errors of both adversaries against their model and against the truth, and linear privacy."""
    X, train, test = part.X, part.train, part.test
    desired = Linear(X[train], part.Y[np.ix_(train, part.desired)], intercept=centred).coef
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nothing to remove where outputs outnumber features
        cleaner = NullSpaceCleaner(
            desired, gain="count", utility=utility, centering="mean" if centred else "none"
        ).fit(X[train])
    cleaned, trained = cleaner.transform(X[test]), cleaner.transform(X[train])
    secret = part.Y[:, part.secret]
    model = Linear(X[train], secret[train], intercept=centred)
    again = Linear(trained, secret[train], intercept=centred)
    own, truth = model.predict(X[test]), secret[test]
    found = {}
    for prefix, adversary, rows in (("", model, X[train]), ("attacked ", again, trained)):
        guess, blind = adversary.predict(cleaned), adversary.predict(rows.mean(axis=0))
        found[prefix + "error"] = float(np.mean((guess - own) ** 2))
        found[prefix + "true error"] = float(np.mean((guess - truth) ** 2))
        found[prefix + "linear privacy"] = 100.0 * linear_privacy(truth, guess, blind)
    return found
