"""``columnist select --bootstrap``: how stable the selection is."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from columnist.cli._errors import BadInput
from columnist.cli._text import listed, percent

if TYPE_CHECKING:
    from columnist.cli._select import Select
    from columnist.selection import SelectionStability

# Columns and pairs in the table.
_MOST_ROWS = 30


def check_bootstrap(options: Any) -> None:
    """Refuse what cannot be resampled."""
    if options.bootstrap is None:
        return
    if options.bootstrap < 2:
        raise BadInput(f"--bootstrap takes a number from 2; got {options.bootstrap}.")
    if options.dask is not None:
        raise BadInput("--bootstrap needs the rows in memory: leave out --dask.")


def resampled(task: Select) -> SelectionStability | None:
    """The selection from resampled rows, also for every size of the path; None if interrupted
    before two are finished."""
    from columnist import selection_stability

    options, data = task.options, task.data
    total, sizes = int(options.bootstrap or 0), _sizes(task)
    task.watch.phase(f"resampling: 0 of {total}  Ctrl-C: stop")

    def hear(progress: Any) -> bool:
        task.watch.phase(f"resampling: {progress.done} of {progress.total}  Ctrl-C: stop")
        return task.watch.interrupted

    try:
        found = selection_stability(
            task.selector, data.X, data.y, n_resamples=total, sizes=sizes, target=task.explained,
            sample_weight=data.weights, time_limit=options.seconds, n_jobs=options.jobs,
            random_state=options.seed or 0, callback=hear,
        )  # fmt: skip
    except KeyboardInterrupt:
        task.screen.note("interrupted: too few resamples to say how stable the selection is")
        return None
    if found.interrupted:
        task.screen.note(f"interrupted: {found.n_resamples} of {total} resamples are finished")
    if found.n_proven is not None and found.n_proven < found.n_resamples:
        task.screen.note(
            f"{found.n_proven} of {found.n_resamples} resamples are proven optimal in their share "
            "of --time-limit; the others have the best columns found"
        )
    return replace(found, feature_names=tuple(data.names))


def _sizes(task: Select) -> list[int] | None:
    """The sizes of the path, where -k is one of such sizes; None for the selection alone."""
    if task.path is None or not isinstance(task.size, int):
        return None
    if task.options.groups is not None:
        task.screen.note(
            "with --groups the error on rows left out is that of the selection, not of every size"
        )
        return None
    return [int(size) for size in task.path.sizes]


def show_stability(task: Select, found: SelectionStability) -> None:
    """Frequencies, replacements, and errors on rows left out as tables."""
    screen, (low, high) = task.screen, found.index_interval
    screen.heading(f"Stability ({found.n_resamples} resamples)")
    if found.index == found.index:
        screen.line(
            f"Stability index {found.index:.2f} (95 % interval {low:.2f} to {high:.2f}; "
            "1: always the same columns, 0: random ones)"
        )
    rows = found.table()
    screen.table(
        ["column", "kept in>", "±>", "selected", "replaced by"],
        [
            [screen.short(row["column"], 30), percent(row["frequency"]),
             percent(row["standard_error"]), "yes" if row["selected"] else "",
             listed(row["replaced_by"], 3) if row["replaced_by"] else ""]
            for row in rows[:_MOST_ROWS]
        ],
    )  # fmt: skip
    if len(rows) > _MOST_ROWS:
        screen.line(f"and {len(rows) - _MOST_ROWS} columns that are selected less often")
    screen.table(
        ["columns>", "unexplained in rows left out>", "±>", ""],
        [
            [int(size), percent(error), percent(spread), _mark(found, int(size))]
            for size, error, spread in zip(
                found.sizes, found.errors, found.error_standard_errors, strict=True
            )
        ],
    )


def _mark(found: SelectionStability, size: int) -> str:
    several = len(found.sizes) > 1
    return "smallest within one standard error" if several and size == found.best_size else ""


def stability_json(found: SelectionStability | None) -> dict[str, Any] | None:
    """The result for JSON."""
    if found is None:
        return None
    errors = zip(found.sizes, found.errors, found.error_standard_errors, strict=True)
    return {
        "resamples": found.n_resamples,
        "interrupted": found.interrupted,
        "proven": found.n_proven,
        "index": found.index,
        "index_interval": list(found.index_interval),
        "columns": found.table(),
        "replacements": [
            {
                "column": found.name(pair.column), "by": found.name(pair.by), "times": pair.times,
                "absent": pair.absent, "share": pair.share, "r2": pair.r2,
            }
            for pair in found.replacements
        ],
        "left_out_errors": [
            {"size": int(size), "relative_error": error, "standard_error": spread}
            for size, error, spread in errors
        ],
        "one_standard_error_size": found.best_size if len(found.sizes) > 1 else None,
    }  # fmt: skip
