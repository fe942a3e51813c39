"""Preparation of a file for a fit: row labels are left out, missing values filled, columns scaled.

Every decision is a note that appears on the screen, in the JSON and in the report.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from columnist._text import count
from columnist.cli._errors import BadInput
from columnist.cli._options import Loading, Reading
from columnist.cli._prepared import Columns, Data
from columnist.cli._scan import Labels, Preparation, column_facts
from columnist.cli._screen import Screen
from columnist.cli._text import listed, percent
from columnist.data._scales import APART, is_one_kind, ratio_of
from columnist.io import Table, read_table
from columnist.io._header import NUMBER
from columnist.io._read import find_gaps

# Share of the sum of squares from which the means of columns cause a note.
_MOSTLY_MEANS = 0.5
# Share of filled values that causes a warning.
_WORTH_A_WARNING = 0.05
_ALLOWS_GAPS = (
    "select --missing covariance needs no filling: it estimates a covariance matrix from the "
    "observed values."
)


def read_here(options: Reading, ids: Sequence[str]) -> Data:
    """Read a file; ``ids`` are further columns that are no features."""
    if Path(options.file).is_dir():
        raise BadInput(
            f"{options.file} is a folder: select, rank and outliers read folders of Zarr and "
            "Parquet files with --dask."
        )
    missing = "keep" if options.missing == "covariance" else options.missing
    text = "dummies" if getattr(options, "dummies", False) else options.non_numeric
    return Data(read_table(
        options.file, non_numeric=text, missing=missing, **options.read_as(ids),
    ))  # fmt: skip


def prepare(
    data: Data,
    options: Loading,
    screen: Screen,
    *,
    hint: bool,
    scales: bool,
    spared: Collection[str] | None,
) -> Data:
    """Prepare the data of a file for a fit, with a note on every decision.

    ``hint`` is whether scales matter, ``scales`` whether columns with different units are put on
    one scale unasked. Columns that only label rows are left out, but not the ``spared`` ones, which
    the user named; with None, all columns stay.
    """
    mention(data.table, screen)
    if options.missing == "covariance":
        mention_estimate(data, screen)
    if spared is not None and not options.keep_ids:
        leave_out_labels(data, spared, screen)
    data.y, data.labels, data.classes = _target(data, options.task)
    columns = data.columns(data.y)
    check_filled(data, options.max_filled, screen)
    free = scales and options.center is None and options.scale is None
    mean, scale, constant = _scaling(data, columns, options, screen, hint, free)
    data.mean, data.scale, data.missing = mean, scale, options.missing
    data.steps = Preparation(data.fill, mean, scale, constant)
    data.X = data.features(data.steps)
    return data


# -- what is said of a file -----------------------------------------------------------


def leave_out_labels(data: Data, spared: Collection[str], screen: Screen) -> None:
    """Go on without running numbers, ids and dates, if that leaves anything."""
    kinds = data.labels_rows(spared)
    if not kinds or len(kinds) == len(data.names):
        return
    data.leave_out(kinds)
    told = [f"{name} ({kind})" for name, kind in kinds.items()]
    why = "it only labels the rows" if len(kinds) == 1 else "they only label the rows"
    screen.note(
        f"{count(len(kinds), 'column')} left out, because {why}: {listed(told)}; "
        "--keep-ids keeps them, --id NAME shows them next to the rows"
    )


def mention(table: Table, screen: Screen) -> None:
    """Say what of a file is left out or changed."""
    reasons: dict[str, list[str]] = {}
    for name, why in table.ignored.items():
        if why != "on request":
            reasons.setdefault(why, []).append(name)
    for why, names in reasons.items():
        screen.note(f"{count(len(names), 'column')} left out ({why}): {listed(names)}")
    for name, made in table.dummies.items():
        screen.note(
            f"{name} holds text: it is coded as {count(len(made), 'column')} of zeros and ones, "
            f"selected or dropped together: {listed(list(made))}"
        )
    mention_gaps(table, screen)
    if table.renamed:
        screen.note(f"repeated or empty column names changed: {listed(list(table.renamed))}")
    if table.header and all(map(NUMBER.fullmatch, table.names)):
        screen.note("the numbers in the first line are the names of the columns; --no-header reads "
                    "them as data")  # fmt: skip
    if table.header is False:
        screen.note("the file has no header: its columns are called x1, x2 and so on")


def mention_gaps(table: Table, screen: Screen) -> None:
    """Say which missing values were filled in, or how many rows are left without them."""
    if table.imputed:
        total = sum(number for number, _ in table.imputed.values())
        where = listed(list(table.imputed))
        screen.note(f"{count(total, 'missing value')} filled in: {where}")
    if table.rows is not None:
        screen.note(f"rows with missing values dropped; {count(len(table.rows), 'row')} left")


def mention_estimate(data: Data, screen: Screen) -> None:
    """Say how much is missing where a covariance matrix is estimated."""
    gaps = find_gaps(data.table.X)
    total = int(gaps.missing.sum())
    data.has_gaps = total > 0
    if total:
        most = int(np.argmax(gaps.missing))
        share = gaps.missing[most] / gaps.count
        screen.note(
            f"{count(total, 'missing value')}: means and covariances are estimated by the EM "
            f"algorithm, and proofs hold for these; most are missing in {data.names[most]} "
            f"({percent(share, 0)})"
        )


def check_filled(data: Data, most: float, screen: Screen) -> None:
    """Warn of columns with many filled values, and refuse those that hold little else."""
    n = data.raw.shape[0]
    shares = {name: filled / n for name, (filled, _) in data.table.imputed.items()}
    ranked = sorted(shares.items(), key=lambda item: -item[1])
    told = [f"{name} ({percent(share, 0)})" for name, share in ranked if share > most]
    if told:
        raise BadInput(
            f"more than {percent(most, 0)} of the values are missing in {listed(told)}: what is "
            "filled in would decide the result. Leave these columns out with --drop, or accept "
            f"them with --max-filled. {_ALLOWS_GAPS}"
        )
    told = [f"{name} ({percent(share, 0)})" for name, share in ranked if share > _WORTH_A_WARNING]
    if told:
        screen.note(
            f"warning: many values of {listed(told)} are filled, not measured; results on "
            f"these columns may be wrong. {_ALLOWS_GAPS}"
        )


# -- centring and scaling ---------------------------------------------------------------


def _scaling(
    data: Data, columns: Columns, options: Loading, screen: Screen, hint: bool, free: bool
):
    """Mean and scale of the columns, None where they are kept, and which columns are constant.

    ``free`` says that the user leaves the decision to the data.
    """
    sparse = data.raw.is_sparse
    if options.center and sparse:
        raise BadInput("--center would fill a sparse matrix: leave it out, or give a dense file.")
    center, scale = bool(options.center), bool(options.scale)
    if free and hint and not sparse and _units_differ(data, columns, screen):
        center = scale = data.by_default = True
    elif hint and not scale:
        sizes = columns.deviation * ~columns.constant if center else columns.size
        hint_at_scales(sizes, screen, "--scale" if sparse else "--center --scale")
    if free and hint and not (center or sparse):
        hint_at_means(columns, data.raw.shape[0], screen)
    mean = columns.mean if center else None
    if not scale:
        return mean, None, columns.constant if center else None
    constant = columns.constant | (columns.deviation == 0.0)
    if constant.any():
        names = listed(data.names_of(np.flatnonzero(constant).tolist()))
        screen.note(f"constant columns are not scaled: {names}")
    return mean, np.where(constant, 1.0, columns.deviation), constant


def _units_differ(data: Data, columns: Columns, screen: Screen) -> bool:
    """Whether sizes are so different that the columns cannot have one unit; say so."""
    factor = ratio_of(columns.size)
    if factor <= APART or is_one_kind(data.names, columns.low):
        return False
    screen.note(
        f"the columns' sizes differ by a factor of {factor:.3g}: they were put on one scale, as "
        "--center --scale do; --no-scale keeps them as read"
    )
    return True


def hint_at_scales(sizes: np.ndarray, screen: Screen, remedy: str) -> None:
    """One line if the largest columns dominate the others."""
    factor = ratio_of(sizes)
    if factor > APART:
        screen.note(
            f"the columns' sizes differ by a factor of {factor:.3g}: large ones decide the "
            f"result; {remedy} puts all on one scale"
        )


def hint_at_means(columns: Columns, n_rows: int, screen: Screen) -> None:
    """One line if most of the sum of squares is that of the means."""
    with np.errstate(over="ignore", invalid="ignore"):
        share = n_rows * np.square(columns.mean).sum() / np.square(columns.size).sum()
    if share > _MOSTLY_MEANS:
        screen.note(
            f"the means of the columns make up {percent(share, 0)} of the sum of squares, and "
            "count as explained; --center measures the variance alone"
        )


# -- the target -------------------------------------------------------------------------


def _target(data: Data, task: str) -> tuple[Any, tuple[str, ...], bool]:
    """The target as estimators take it, the names of its columns, whether it holds classes."""
    names, facts = tuple(data.targets), data.facts
    if not names:
        return None, (), False
    if len(names) > 1:
        if any(facts[name].is_text for name in names):
            raise BadInput("several targets must be numbers; name one target, or drop the text.")
        if task == "classes":
            raise BadInput("--task classes takes one target.")
        return data.target(Labels(np.dtype(np.float64))), names, False
    only = facts[names[0]]
    if not only.are_classes(names[0], task):
        y = data.target(Labels(np.dtype(np.float64)))
        # A matrix is numbers to all estimators.
        return y[:, None] if only.look_like_classes else y, names, False
    labels = tuple(f"class {label}" for label in only.labels())
    return data.target(only.reader()), labels, True


def read_label(values: np.ndarray, name: str) -> np.ndarray:
    """A column as estimators take a target."""
    facts = column_facts(values)
    classes = facts.are_classes(name, "auto")
    return (facts.reader() if classes else Labels(np.dtype(np.float64)))(values)
