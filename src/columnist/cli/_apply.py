"""``columnist apply``: a model on new data."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from columnist.cli._command import command, examples
from columnist.cli._errors import BadInput
from columnist.cli._inputs import as_delimiter, mention_gaps
from columnist.cli._model import Model, read_model
from columnist.cli._options import Out, Printing, Reading
from columnist.cli._outliers import FLAG
from columnist.cli._output import Screen, check_outputs
from columnist.cli._progress import watching
from columnist.cli._text import count, listed, number

if TYPE_CHECKING:
    import numpy as np

    from columnist.io import Table

__all__ = ["EPILOG", "apply"]

EPILOG = examples(
    "columnist select old.csv -k 4 --scale --model model.json",
    "columnist apply model.json new.csv --out kept.csv",
    "columnist apply model.json new.csv --rebuild --out all-columns.csv",
    "columnist apply pca.json new.csv --id sample --out flagged.csv",
    "cat new.csv | columnist apply cleaner.json - --out - > cleaned.csv",
)
_SHOWN = 30


@command
def apply(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="What --model wrote.")],
    reading: Reading,
    printing: Printing,
    rebuild: Annotated[
        bool,
        typer.Option("--rebuild", help="Write all columns, rebuilt from the kept ones."),
    ] = False,
    prepared: Annotated[
        bool,
        typer.Option(
            "--prepared", help="Write kept columns as the fit saw them: centred and scaled."
        ),
    ] = False,
    out: Out = None,
) -> None:
    """Apply a model to new data: kept columns, outlier flags, or cleaned rows."""
    screen = Screen(printing, "apply", taken=out == "-")
    check_outputs(reading.file, out=out)
    fitted = read_model(model)
    if fitted.kind != "selection" and (rebuild or prepared):
        raise BadInput(f"--rebuild and --prepared are for selections; {model} holds {fitted.kind}.")
    with watching(screen, f"reading {reading.file}"):
        needed = _needed(fitted, rebuild)
        table, X = read_for_model(fitted, needed, reading, screen)
        result = _KINDS[fitted.kind](fitted, needed, X, rebuild=rebuild, prepared=prepared)
        if out:
            _write(out, table, result)
            screen.written("out", out)
    _show(screen, fitted, table, result)
    screen.finish(
        {
            "model": {"file": model, "kind": fitted.kind, "columns": list(fitted.columns)},
            "data": {
                "source": table.source,
                "format": table.format,
                "rows": int(table.X.shape[0]),
                "columns": int(table.X.shape[1]),
            },
            "columns": list(result["names"]),
            **result["facts"],
        }
    )


def _needed(model: Model, rebuild: bool) -> list[int]:
    """Columns that new data must have."""
    if model.kind == "selection" and "components" not in model.arrays:
        return [int(i) for i in model.arrays["selected"]]
    return list(range(len(model.columns)))


def _part(model: Model, needed: list[int]) -> Model:
    """The preparation of some columns."""
    return replace(
        model,
        mean=None if model.mean is None else model.mean[needed],
        scale=None if model.scale is None else model.scale[needed],
    )


def _selection(model: Model, needed: list[int], X, *, rebuild: bool, prepared: bool) -> dict:
    """Kept columns and extracted features, or all columns rebuilt from them."""
    import numpy as np

    selected = [int(i) for i in model.arrays["selected"]]
    places = [needed.index(i) for i in selected]
    ready = _part(model, needed).prepare(X)
    kept, names = (ready if prepared else X)[:, places], [model.columns[i] for i in selected]
    components = model.arrays.get("components")
    coef, intercept = model.arrays.get("coef"), model.arrays.get("intercept")
    scores = None
    if components is not None:
        rest = ready @ components.T - intercept @ components.T
        scores = rest - ready[:, places] @ (coef @ components.T)
    if rebuild:
        if coef is None:
            raise BadInput(
                "--rebuild needs a model that explains all columns: use select --explain X."
            )
        whole = ready[:, places] @ coef + intercept
        whole = whole if scores is None else whole + scores @ components
        return _result(model.restore(whole), list(model.columns), {"selected": names})
    if scores is not None:
        kept = np.hstack([kept, scores])
        names = [*names, *(f"component{i}" for i in range(scores.shape[1]))]
    return _result(kept, names, {"selected": [model.columns[i] for i in selected]})


def _outliers(model: Model, needed: list[int], X, **_: Any) -> dict:
    """The data with flags."""
    import numpy as np

    from columnist.robust._subspace import Subspace

    unit, facts = model.facts["unit"], model.facts
    subspace = Subspace(
        model.arrays["mean"], model.arrays["components"], model.arrays["variances"]
    ).scaled(1.0 / unit)
    rows = _part(model, needed).prepare(X) / unit
    score = subspace.score_distances(rows)
    orthogonal = subspace.orthogonal_distances(rows) * unit
    along = score / facts["score_cutoff"]
    across = (orthogonal / unit) / (facts["orthogonal_cutoff"] / unit)
    flags = -np.maximum(along, across) + 1.0 < 0.0
    result = _result(X, list(model.columns), {"outliers": np.flatnonzero(flags) + 1})
    result["after"] = {
        "score_distance": score,
        "orthogonal_distance": orthogonal,
        FLAG: flags.astype(np.int64),
    }
    return result


def _cleaning(model: Model, needed: list[int], X, **_: Any) -> dict:
    """Cleaned rows, in the units of the file."""
    ready = _part(model, needed).prepare(X)
    return _result(model.restore(cleaner_of(model).transform(ready)), list(model.columns), {})


def cleaner_of(model: Model):
    """The cleaner as it was fitted."""
    import numpy as np

    from columnist.privacy import NullSpaceCleaner

    secret, coef = model.arrays.get("confidential"), model.arrays["coef"]
    # As many rows as cannot be taken for labels of them.
    rows = 1 if secret is None else len(secret) + 1
    cleaner = NullSpaceCleaner(coef, utility=model.facts["utility"], confidential=secret)
    cleaner.fit(np.zeros((rows, coef.shape[1])))
    cleaner.mean_ = model.arrays["mean"]
    return cleaner


def _result(X, names: list[str], facts: dict[str, Any]) -> dict:
    return {"X": X, "names": names, "after": {}, "facts": facts}


_KINDS = {"selection": _selection, "outliers": _outliers, "cleaning": _cleaning}


def _write(out: str, table: Table, result: dict) -> None:
    from columnist.io import write_table

    after = dict(result["after"])
    if table.y is not None:
        columns = table.y.reshape(len(table.y), -1).T
        after |= dict(zip(table.target_names, columns, strict=True))
    taken = {*result["names"], *table.ids}
    renamed: dict[str, np.ndarray] = {}
    for name, values in after.items():
        while name in taken:
            name += "_"
        renamed[name] = values
    write_table(out, result["X"], result["names"], before=table.ids, after=renamed)


def _show(screen: Screen, model: Model, table: Table, result: dict) -> None:
    n = int(table.X.shape[0])
    screen.heading(f"{table.source}, {count(n, 'row')}")
    if model.kind == "selection":
        screen.line(f"{count(len(result['names']), 'column')}: {listed(result['names'], 20)}")
    elif model.kind == "cleaning":
        screen.line(f"{count(n, 'row')} cleaned.")
    else:
        _show_outliers(screen, model, table, result)


def _show_outliers(screen: Screen, model: Model, table: Table, result: dict) -> None:
    rows = result["facts"]["outliers"]
    screen.line(f"{count(len(rows), 'outlier')} among {count(int(table.X.shape[0]), 'row')}.")
    after = result["after"]
    shown = [
        [
            int(row),
            *(str(values[row - 1]) for values in table.ids.values()),
            number(after["score_distance"][row - 1], 4),
            number(after["orthogonal_distance"][row - 1], 4),
        ]
        for row in rows[:_SHOWN]
    ]
    if shown:
        screen.table(["row>", *table.ids, "within>", "from plane>"], shown)
    screen.line(
        f"Cut-offs: {number(model.facts['score_cutoff'], 4)} within the plane of the components, "
        f"{number(model.facts['orthogonal_cutoff'], 4)} from it."
    )


# -- new data: columns by name, values where some are missing ------------------------


def read_for_model(
    model: Model, needed: Sequence[int], reading: Reading, screen: Screen
) -> tuple[Table, Any]:
    """The needed columns of a file, in the order of the model, without gaps.

    Columns are found by their names; further ones are ignored. A file without names must have as
    many columns as the model.
    """
    from columnist.io import read_table

    target, ids = tuple(reading.target or ()), tuple(reading.id or ())
    apart = {*target, *ids, *(reading.drop or ())}

    def choose(names: Sequence[str]) -> list[str]:
        return _places(model, needed, [n for n in names if n not in apart], reading.file)

    table = read_table(
        reading.file, format=reading.format, delimiter=as_delimiter(reading.delimiter),
        header=reading.header, variable=reading.variable, target=target, ids=ids, columns=choose,
        fill=None if model.fill is None else model.fill[list(needed)], missing=reading.missing,
    )  # fmt: skip
    if model.fill is not None and table.imputed:
        total = sum(number for number, _ in table.imputed.values())
        screen.note(f"{count(total, 'missing value')} filled in as the model says")
        table = replace(table, imputed={})
    mention_gaps(table, screen)
    X = table.X.toarray() if hasattr(table.X, "toarray") else table.X
    return table, X


def _places(model: Model, needed: Sequence[int], names: Sequence[str], source: str) -> list[str]:
    """The names under which the file has the needed columns."""
    wanted = [model.columns[i] for i in needed]
    known = set(names)
    absent = [name for name in wanted if name not in known]
    if not absent:
        return wanted
    nameless = list(names) == [f"x{i}" for i in range(1, len(names) + 1)]
    if nameless and len(names) == len(model.columns):
        return [names[i] for i in needed]
    folded = {name.lower(): name for name in names}
    close = difflib.get_close_matches(absent[0].lower(), list(folded)[:100_000], n=1)
    hint = f"; is {absent[0]!r} the {folded[close[0]]!r} of the file?" if close else "."
    raise BadInput(
        f"{source} lacks {count(len(absent), 'column')} of the model: {listed(absent)}{hint}"
    )
