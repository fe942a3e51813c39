"""``columnist clean``: rows that keep a predictor's answer and little else."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from columnist.cli._command import command, examples
from columnist.cli._errors import BadInput
from columnist.cli._inputs import load, rehearse
from columnist.cli._model import Model as FittedModel
from columnist.cli._model import write_model
from columnist.cli._options import Model, Out, Preparing, Printing, Reading, Report
from columnist.cli._output import Screen, check_outputs, write_page
from columnist.cli._progress import watching
from columnist.cli._text import listed

if TYPE_CHECKING:
    import numpy as np

    from columnist.cli._prepared import Data

__all__ = ["EPILOG", "clean"]

EPILOG = examples(
    "columnist clean patients.csv --target diagnosis --out cleaned.csv",
    "columnist clean patients.csv --target diagnosis --confidential age --scale --out cleaned.csv",
    "columnist clean meters.parquet --predictor coefficients.csv --utility 0.01 --out sent.parquet",
    "columnist clean patients.csv --target diagnosis --model cleaner.json --report privacy.html",
    after="A cleaned row tells nothing that the predictor's answer does not tell. It is not "
    "differential privacy: the report says what is not protected.",
)


@command
def clean(
    reading: Reading,
    preparing: Preparing,
    printing: Printing,
    predictor: Annotated[
        str | None,
        typer.Option(
            "--predictor",
            help="File with the predictor's coefficients, a row per output; without it, one is "
            "fitted to --target.",
            metavar="FILE",
        ),
    ] = None,
    confidential: Annotated[
        list[str] | None,
        typer.Option("--confidential", help="Column to protect (repeatable).", metavar="NAME"),
    ] = None,
    utility: Annotated[
        float,
        typer.Option("--utility", help="How far a row's outputs may move, in squared norm."),
    ] = 0.0,
    out: Out = None,
    report: Report = None,
    model: Model = None,
) -> None:
    """Remove from every row what a predictor does not need."""
    screen = Screen(printing, "clean", taken=out == "-")
    check_outputs(reading.file, out=out, report=report, model=model)
    if predictor is None and not reading.target:
        raise BadInput("what is to be predicted? Name it with --target, or give --predictor.")
    with watching(screen, f"reading {reading.file}") as watch:
        data = load(reading, screen, preparing, ids=confidential or ())
        if hasattr(data.X, "toarray"):
            raise BadInput("clean needs dense data; this file is sparse.")
        data, secrets = _apart(data, confidential or [])
        rehearse(out, data)
        watch.phase("cleaning")
        cleaner = _cleaner(data, predictor, secrets, utility)
        cleaned = cleaner.transform(data.X)
        found = cleaner.report(data.X, _secret(secrets))
        if out:
            write_cleaned(out, data, cleaned)
            screen.written("out", out)
        if model:
            write_model(_model(cleaner, data), model)
            screen.written("model", model)
        if report:
            write_page(_page(cleaner, data, cleaned, confidential or [], utility), report, screen)
    screen.heading(f"{data.describe()} ({data.prepared()})")
    for line in str(found).splitlines():
        screen.line(line)
    screen.finish(_json(cleaner, data, found, list(secrets)))


def _apart(data: Data, confidential: list[str]) -> tuple[Data, dict[str, np.ndarray]]:
    """The confidential columns, which were read as ids, and the data without them."""
    ids = dict(data.ids)
    secrets = {name: ids.pop(name) for name in confidential}
    return replace(data, ids=ids), secrets


def _cleaner(data: Data, predictor: str | None, secrets: dict[str, np.ndarray], utility: float):
    """The fitted cleaner."""
    from columnist.privacy import NullSpaceCleaner

    if predictor is not None:
        source, y = _coefficients(predictor, data), None
    else:
        source, y = _predictor(data), data.y
    secret = _secret_model(data.X, secrets)
    return NullSpaceCleaner(source, utility=utility, confidential=secret).fit(data.X, y)


def _predictor(data: Data):
    """Logistic regression for classes, linear regression for values."""
    if not data.classes or data.y is None:
        return None
    if len(set(data.y.tolist())) < 2:
        raise BadInput(f"the target {data.table.target_names[0]!r} has one class: there is nothing "
                       "to predict.")  # fmt: skip
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=2000)


def _coefficients(path: str, data: Data) -> np.ndarray:
    """Coefficients from a file; columns by name if it has the names, otherwise in order."""
    from columnist.io import read_table

    names = data.names
    table = read_table(path)
    X = table.X.toarray() if hasattr(table.X, "toarray") else table.X
    if set(names) <= set(table.names):
        places = {name: i for i, name in enumerate(table.names)}
        return X[:, [places[name] for name in names]]
    if X.shape[1] != len(names):
        missing = [name for name in names if name not in table.names]
        raise BadInput(
            f"--predictor {path} has {X.shape[1]} columns for {len(names)} features; not there by "
            f"name: {listed(missing)}."
        )
    return X


def _secret(secrets: dict[str, np.ndarray]) -> np.ndarray | None:
    """The confidential labels as one target, or None."""
    import numpy as np

    from columnist.cli._prepared import read_label

    # They were read as ids, which stay text.
    columns = {name: _numbers_if_possible(values) for name, values in secrets.items()}
    if len(columns) < 2:
        return next((read_label(v, n) for n, v in columns.items()), None)
    if any(values.dtype.kind not in "biuf" for values in columns.values()):
        raise BadInput("several confidential columns must be numbers; name one, or code the text.")
    return np.column_stack([values.astype(float) for values in columns.values()])


def _numbers_if_possible(values: np.ndarray) -> np.ndarray:
    import numpy as np

    try:
        numbers = values.astype(np.float64)
    except ValueError:
        return values
    return numbers if np.isfinite(numbers).all() else values


def _secret_model(X: np.ndarray, secrets: dict[str, np.ndarray]):
    """A linear model of what is confidential: its coefficients are what must not be read."""
    labels = _secret(secrets)
    if labels is None:
        return None
    from sklearn.linear_model import LinearRegression

    from columnist.data._target import resolve_target

    return LinearRegression().fit(X, resolve_target(labels, len(X)))


def write_cleaned(out: str, data: Data, cleaned: np.ndarray) -> None:
    """Ids, cleaned features in the units of the file, targets."""
    from columnist.io import write_table

    X = cleaned if data.scale is None else cleaned * data.scale
    X = X if data.mean is None else X + data.mean
    write_table(out, X, data.names, before=data.ids, after=data.file.targets)


def _model(cleaner, data: Data) -> FittedModel:
    arrays = {"coef": cleaner.coef_, "mean": cleaner.mean_}
    if cleaner.confidential_coef_ is not None:
        arrays["confidential"] = cleaner.confidential_coef_
    facts = {"utility": cleaner.utility, "target": list(data.table.target_names)}
    return FittedModel.of("cleaning", data, arrays, facts)


def _page(cleaner, data: Data, cleaned, confidential: list[str], utility: float) -> str:
    from columnist.report import cleaning_report

    asked = {"data": data.describe(), "tolerance": f"{utility:g}", "columns": data.prepared()}
    if confidential:
        asked["confidential"] = listed(confidential)
    return cleaning_report(cleaner, data.X, cleaned, names=data.names, asked=asked)


def _json(cleaner, data: Data, found, confidential: list[str]) -> dict[str, Any]:
    return {
        "data": data.summary(),
        "confidential": confidential,
        "removed_dimensions": int(cleaner.n_removed_),
        **found.to_dict(),
    }
