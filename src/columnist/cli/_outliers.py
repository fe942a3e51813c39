"""``columnist outliers``: rows that do not belong, and PCA without them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import typer

from columnist.cli._command import command, examples
from columnist.cli._errors import BadInput
from columnist.cli._inputs import load_from, rehearse
from columnist.cli._model import Model as FittedModel
from columnist.cli._model import write_model
from columnist.cli._options import (
    Model,
    Out,
    Placing,
    Preparing,
    Printing,
    Reading,
    Report,
    Searching,
    as_number,
)
from columnist.cli._output import (
    Screen,
    certificate_json,
    check_outputs,
    show_certificate,
    write_page,
)
from columnist.cli._progress import watching
from columnist.cli._text import count, number, visible

if TYPE_CHECKING:
    import numpy as np

    from columnist.cli._prepared import Data

__all__ = ["EPILOG", "FLAG", "outliers"]

EPILOG = examples(
    "columnist outliers wine.csv -k 5 -r 2 --drop class --center --scale",
    "columnist outliers sensors.parquet -k 0.05 -r 3 --id time --report outliers.html",
    "columnist outliers data.csv -k 10 --method coherence --out clean.csv --remove",
    "columnist outliers data.csv -k 10 -r 2 --model pca.json",
    "columnist outliers big.parquet -k 100 -r 3 --dask --out flagged.parquet",
)
FLAG = "outlier"
_SHOWN = 30
Method = Literal[
    "certified", "schatten", "pursuit", "coherence", "hrpca", "robpca", "trimmed", "leverage"
]


@command
def outliers(
    reading: Reading,
    placing: Placing,
    preparing: Preparing,
    searching: Searching,
    printing: Printing,
    k: Annotated[
        str,
        typer.Option(
            "-k", "--outliers", help="Rows the fit does without: a number, or a share below 1."
        ),
    ] = "0.05",
    r: Annotated[
        int | None, typer.Option("-r", "--components", help="Principal components; 2 by default.")
    ] = None,
    method: Annotated[
        Method,
        typer.Option(
            "--method", help=f"How to find them: {', '.join(get_args(Method))}.", metavar="NAME"
        ),
    ] = "certified",
    remove: Annotated[
        bool, typer.Option("--remove", help="With --out: leave outlying rows out.")
    ] = False,
    out: Out = None,
    report: Report = None,
    model: Model = None,
) -> None:
    """Find outlying rows: those removed by the fit, and those beyond the cut-offs."""
    screen = Screen(printing, "outliers", taken=out == "-")
    blocks = placing.dask is not None
    check_outputs(reading.file, out=out, report=report, model=model, blocks=blocks)
    if remove and not out:
        raise BadInput("--remove says what --out writes: add --out FILE.")
    number_of = as_number(k, "-k")
    with (
        watching(screen, f"reading {reading.file}") as watch,
        load_from(reading, placing, preparing, screen, watch) as data,
    ):
        rehearse(out, data)
        if hasattr(data.X, "toarray"):
            raise BadInput("outliers needs dense data; this file is sparse.")
        n = data.X.shape[0]
        estimator = _estimator(method, number_of, r, searching, n, watch.callback)
        watch.phase(f"looking for outliers among {count(n, 'row')}")
        estimator.fit(data.X)
        watch.settle(getattr(estimator, "certificate_", None))
        found = Found.of(estimator, data)
        if out:
            write_flagged(out, data, found.flags, remove=remove)
            screen.written("out", out)
        if model:
            write_model(_model(found, method), model)
            screen.written("model", model)
        if report:
            write_page(_page(found, method, k), report, screen)
    _show(screen, found, method)
    screen.finish(_json(found, method))


def _estimator(method: str, k: int | float, r: int | None, searching: Searching, n: int, callback):
    from columnist import robust

    size = 2 if r is None else r
    if method == "certified":
        given: dict[str, Any] = {
            "criterion": searching.criterion,
            "search": searching.search,
            "epsilon": searching.epsilon,
            "max_gap": searching.max_gap,
            "n_jobs": searching.jobs,
            "random_state": searching.seed,
        }
        given = {name: value for name, value in given.items() if value is not None}
        return robust.RobustPCA(
            size, n_outliers=k, time_limit=searching.seconds, callback=callback, **given
        )
    if method == "schatten":
        return robust.SchattenPCA(k, n_components=r)
    if method == "pursuit":
        return robust.OutlierPursuit(n_outliers=k, n_components=r)
    if method == "robpca":
        share = k if isinstance(k, float) else k / n
        return robust.ROBPCA(
            size, alpha=min(1.0, max(0.5, 1.0 - share)), random_state=searching.seed
        )
    if method == "hrpca":
        return robust.HRPCA(size, n_outliers=k, random_state=searching.seed)
    kinds = {
        "coherence": robust.CoherencePursuit,
        "trimmed": robust.TrimmedPCA,
        "leverage": robust.LeverageOutliers,
    }
    return kinds[method](size, n_outliers=k)


@dataclass(frozen=True)
class Found:
    """Distances of all rows, and which are outlying.

    ``rows`` are those worth showing, the farthest first, and ``ids`` their labels.
    """

    estimator: Any
    data: Data
    score: np.ndarray
    orthogonal: np.ndarray
    removed: np.ndarray
    beyond: np.ndarray
    rows: np.ndarray
    ids: dict[str, np.ndarray]

    @classmethod
    def of(cls, estimator, data: Data) -> Found:
        """Judge the rows of the fit."""
        import numpy as np

        score, orthogonal, far, beyond = data.judged(estimator)
        removed = np.zeros(len(score), dtype=bool)
        removed[estimator.outliers_] = True
        rows = np.flatnonzero(removed | beyond)
        order = np.argsort(-far[rows], kind="stable")
        ids = {name: values[order] for name, values in data.ids_of(rows).items()}
        return cls(estimator, data, score, orthogonal, removed, beyond, rows[order], ids)

    @property
    def flags(self) -> np.ndarray:
        """Rows beyond the cut-offs: the outliers."""
        return self.beyond


def write_flagged(out: str, data: Data, flags: np.ndarray, *, remove: bool) -> None:
    """The data with a column of flags, or without the outlying rows."""
    if remove and flags.all():
        raise BadInput("--remove would leave no row at all.")
    name = FLAG
    while name in (*data.names, *data.ids, *data.file.targets):
        name += "_"
    data.write_rows(out, flags, None if remove else name)


def _model(found: Found, method: str) -> FittedModel:
    estimator = found.estimator
    arrays = {
        "mean": estimator.mean_,
        "components": estimator.components_,
        "variances": estimator.explained_variance_,
    }
    facts = {
        "method": method,
        "score_cutoff": estimator.score_cutoff_,
        "orthogonal_cutoff": estimator.orthogonal_cutoff_,
        "unit": estimator._unit,
        "error": estimator.error_,
        "certificate": certificate_json(getattr(estimator, "certificate_", None), history=False),
    }
    return FittedModel.of("outliers", found.data, arrays, facts)


class _Labels(Sequence[str]):
    """A label for every row: its ids where they are known, or its number."""

    def __init__(self, found: Found):
        self._numbers = found.data.row_numbers()
        rows, ids = found.rows, found.ids
        if found.data.in_memory:
            rows, ids = found.data.row_numbers() - 1, dict(found.data.ids)
        columns = [values.tolist() for values in ids.values()]
        names = [", ".join(map(str, parts)) for parts in zip(*columns, strict=True)]
        self._known = dict(zip(rows.tolist(), names, strict=False))

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, row):
        known = self._known.get(int(row))
        return f"row {self._numbers[row]}" if known is None else known


def _page(found: Found, method: str, k: str) -> str:
    from copy import copy

    from columnist.report import outlier_report

    data = found.data
    asked = {
        "data": data.describe(),
        "outliers": k,
        "components": str(found.estimator.n_components_),
        "method": method,
        "columns": data.prepared(),
    }
    # The rows were judged already.
    judged = copy(found.estimator)
    judged.score_distances = lambda X: found.score
    judged.orthogonal_distances = lambda X: found.orthogonal
    return outlier_report(judged, data.X, names=data.names, labels=_Labels(found), asked=asked)


def _show(screen: Screen, found: Found, method: str) -> None:
    if not screen.shows_tables:
        return
    data, estimator = found.data, found.estimator
    screen.heading(f"{data.describe()} ({data.prepared()})")
    screen.line(
        f"{count(int(found.removed.sum()), 'row')} removed by the fit ({method}, "
        f"{count(estimator.n_components_, 'component')}); "
        f"{count(int(found.beyond.sum()), 'row')} beyond the cut-offs: the outliers."
    )
    rows, ids = found.rows.tolist(), found.ids
    numbers = data.row_numbers()
    table = [
        [
            int(numbers[i]),
            *(visible(values[place], 30) for values in ids.values()),
            number(found.score[i], 4) + ("*" if found.score[i] > estimator.score_cutoff_ else " "),
            number(found.orthogonal[i], 4)
            + ("*" if found.orthogonal[i] > estimator.orthogonal_cutoff_ else " "),
            "yes" if found.removed[i] else "",
            "yes" if found.beyond[i] else "",
        ]
        for place, i in enumerate(rows[:_SHOWN])
    ]
    heads = ["row>", *ids, "within>", "from plane>", "removed", "outlier"]
    if table:
        screen.table(heads, table)
    if len(rows) > _SHOWN:
        screen.line(f"and {len(rows) - _SHOWN} more (--json or --out has all)")
    screen.line(
        f"Cut-offs: {number(estimator.score_cutoff_, 4)} within the plane of the components, "
        f"{number(estimator.orthogonal_cutoff_, 4)} from it; * beyond."
    )
    if hasattr(estimator, "certificate_"):
        show_certificate(screen, estimator.certificate_)


def _json(found: Found, method: str) -> dict[str, Any]:
    data, estimator = found.data, found.estimator
    numbers = data.row_numbers()
    return {
        "data": data.summary(),
        "method": method,
        "components": int(estimator.n_components_),
        "error": estimator.error_,
        "removed": numbers[estimator.outliers_],
        "outliers": numbers[found.beyond],
        "score_cutoff": estimator.score_cutoff_,
        "orthogonal_cutoff": estimator.orthogonal_cutoff_,
        "rows": [
            {
                "row": numbers[i],
                "ids": {name: values[place] for name, values in found.ids.items()},
                "score_distance": found.score[i],
                "orthogonal_distance": found.orthogonal[i],
                "removed": found.removed[i],
                "outlier": found.beyond[i],
            }
            for place, i in enumerate(found.rows.tolist())
        ],
        "certificate": certificate_json(getattr(estimator, "certificate_", None)),
    }
