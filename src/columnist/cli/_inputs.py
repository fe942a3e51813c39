"""From a file to what a fit needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from columnist.cli._errors import BadInput
from columnist.cli._options import Placing, Preparing, Reading
from columnist.cli._output import Screen
from columnist.cli._text import count, listed

if TYPE_CHECKING:
    import numpy as np

    from columnist.cli._progress import Watch
    from columnist.data._matrices import Matrices
    from columnist.io import Table

__all__ = [
    "Data",
    "as_delimiter",
    "classes_or_values",
    "hint_at_scales",
    "load",
    "load_from",
    "mention",
]
__all__ += ["mention_gaps", "names_in", "rehearse", "rehearse_writing", "resolve_names"]

# Columns whose scales differ by more than this are worth a hint.
_APART = 100.0


@dataclass(frozen=True)
class Data:
    """A table as read, and as the fit sees it.

    Attributes
    ----------
    table : Table
        As read.
    X : ndarray or sparse array
        Features after preparation.
    y : ndarray or None
        Target, in a type that estimators read as what it is.
    classes : bool
        Whether the target holds classes.
    mean, scale : ndarray or None
        What was subtracted from the columns, and what they were divided by.
    missing : str
        What was done about missing values.
    """

    table: Table
    X: Any
    y: np.ndarray | None
    classes: bool
    mean: np.ndarray | None
    scale: np.ndarray | None
    missing: str

    in_memory = True

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features."""
        return self.table.names

    def names_of(self, columns: Sequence[int]) -> list[str]:
        """Names of some features."""
        return [self.table.names[i] for i in columns]

    def row_numbers(self) -> np.ndarray:
        """Numbers of the rows in the file, from 1."""
        import numpy as np

        rows = np.arange(self.X.shape[0]) if self.table.rows is None else self.table.rows
        return np.asarray(rows) + 1

    def describe(self) -> str:
        """The data in a few words."""
        n, m = self.X.shape
        text = f"{self.table.source}, {count(n, 'row')}, {count(m, 'column')}"
        if self.table.target_names:
            text += f", target {listed(self.table.target_names, 3)}"
        return text

    def prepared(self) -> str:
        """What was done to the columns, in a few words."""
        done = [w for w, x in (("centred", self.mean), ("scaled", self.scale)) if x is not None]
        return " and ".join(done) or "as read"

    def summary(self) -> dict[str, Any]:
        """The data for JSON."""
        table, (n, m) = self.table, self.X.shape
        return {
            "source": table.source,
            "format": table.format,
            "rows": n,
            "columns": m,
            "target": list(table.target_names),
            "target_kind": None if self.y is None else "classes" if self.classes else "values",
            "ids": list(table.ids),
            "ignored": table.ignored,
            "imputed": {c: {"count": k, "value": v} for c, (k, v) in table.imputed.items()},
            "centered": self.mean is not None,
            "scaled": self.scale is not None,
        }

    def before(self) -> dict[str, np.ndarray]:
        """Columns that are written before the features."""
        return dict(self.table.ids)

    def after(self) -> dict[str, np.ndarray]:
        """Columns that are written after the features."""
        table = self.table
        if table.y is None:
            return {}
        columns = table.y.reshape(len(table.y), -1).T
        return dict(zip(table.target_names, columns, strict=True))

    def write_one_row(self, path: str) -> None:
        """Write the first row with its ids and targets."""
        from columnist.io import write_table

        before = {name: values[:1] for name, values in self.before().items()}
        after = {name: values[:1] for name, values in self.after().items()}
        write_table(path, self.table.X[:1, :1], self.names[:1], before=before, after=after)

    def write_columns(self, out: str, columns: Sequence[int], selector=None) -> None:
        """Write ids, some columns as read, what ``selector`` extracts beside them, targets."""
        import numpy as np

        from columnist.io import write_table

        X, names = self.table.X[:, list(columns)], self.names_of(columns)
        if selector is not None:
            extracted = np.asarray(selector.transform(self.X))[:, len(columns) :]
            X = np.hstack([X.toarray() if hasattr(X, "toarray") else X, extracted])
            names = [*names, *(f"component{i}" for i in range(extracted.shape[1]))]
        write_table(out, X, names, before=self.before(), after=self.after())

    def write_rows(self, out: str, flags: np.ndarray, name: str | None) -> None:
        """Write all rows with a column of flags, or without a name for it only the others."""
        import numpy as np

        from columnist.io import write_table

        keep = ~flags if name is None else np.ones(len(flags), dtype=bool)
        before = {column: values[keep] for column, values in self.before().items()}
        after = {column: values[keep] for column, values in self.after().items()}
        if name is not None:
            after[name] = flags.astype(np.int64)
        write_table(out, self.table.X[keep], self.names, before=before, after=after)

    def judged(self, estimator) -> tuple[np.ndarray, ...]:
        """Both distances of all rows from a fit, how far they are, and which are outlying."""
        X = self.X
        return (
            estimator.score_distances(X), estimator.orthogonal_distances(X),
            -estimator.score_samples(X), estimator.predict(X) < 0,
        )  # fmt: skip

    def ids_of(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        """Labels of some rows."""
        return {name: values[rows] for name, values in self.table.ids.items()}

    def matrices(self, explains: str, *, center: bool) -> Matrices:
        """What errors are computed from: X alone, or X and the target."""
        from columnist.data._matrices import Matrices
        from columnist.data._target import resolve_target
        from columnist.linalg._passes import merge_repeats

        Y = resolve_target(self.y, self.X.shape[0]) if explains == "y" else None
        return Matrices(merge_repeats(self.X), Y, center=center)

    def for_report(self, explains: str) -> tuple[Any, Any]:
        """X, and the target if it is explained."""
        return self.X, self.y if explains == "y" else None

    def fill_values(self) -> np.ndarray | None:
        """What stands for a missing value of each column, if values were filled in at all."""
        import numpy as np
        import scipy.sparse as sp

        if self.missing not in ("mean", "median"):
            return None
        X = self.table.X
        if self.missing == "mean" or sp.issparse(X):
            fill = np.asarray(X.mean(axis=0), dtype=float).ravel()
        else:
            fill = np.median(X, axis=0)
        places = {name: i for i, name in enumerate(self.names)}
        for name, (_, value) in self.table.imputed.items():
            fill[places[name]] = value
        return fill


def load(
    reading: Reading,
    screen: Screen,
    preparing: Preparing,
    *,
    ids: Sequence[str] = (),
    hint: bool = True,
) -> Data:
    """Read a file and prepare its columns; say what had to be done.

    ``ids`` are further columns that are no features; ``hint`` is whether scales matter.
    """
    from pathlib import Path

    from columnist.io import read_table

    if Path(reading.file).is_dir():
        raise BadInput(
            f"{reading.file} is a folder: select, rank and outliers read those of Zarr and "
            "Parquet with --dask."
        )
    table = read_table(
        reading.file, format=reading.format, delimiter=as_delimiter(reading.delimiter),
        header=reading.header, variable=reading.variable, target=reading.target or (),
        drop=reading.drop or (), ids=[*(reading.id or ()), *ids],
        non_numeric=reading.non_numeric, missing=reading.missing,
    )  # fmt: skip
    mention(table, screen)
    y, classes = _target(table, reading.task)
    data = Data(table, table.X, y, classes, None, None, reading.missing)
    data = _prepared(data, preparing, screen)
    if hint and not preparing.scale:
        remedy = "--scale" if hasattr(data.X, "toarray") else "--center --scale"
        hint_at_scales(_sizes(data.X), screen, remedy)
    return data


@contextmanager
def load_from(
    reading: Reading,
    placing: Placing,
    preparing: Preparing,
    screen: Screen,
    watch: Watch,
    *,
    hint: bool = True,
) -> Iterator[Data]:
    """The data of a file in memory, or with ``--dask`` in blocks that workers read.

    The workers are there until the end of the block.
    """
    if placing.dask is None:
        yield load(reading, screen, preparing, hint=hint)
        return
    try:
        from columnist.cli._large import load_large, open_large
    except ModuleNotFoundError as error:
        raise BadInput(f"--dask needs {error.name}: pip install 'columnist[dask]'") from error
    from columnist.cli._cluster import on_cluster
    from columnist.distributed._run import watch as watch_blocks

    collection = open_large(reading)
    watch.phase("starting Dask")
    with on_cluster(placing.dask, screen), watch_blocks(watch.blocks):
        yield load_large(collection, reading, screen, preparing, watch, hint=hint)
        watch.phase("stopping Dask")


def as_delimiter(text: str | None) -> str | None:
    """A tab may be written as ``\\t`` or ``tab``."""
    return {r"\t": "\t", "tab": "\t", "space": " "}.get(text, text) if text else None


def mention(table: Table, screen: Screen) -> None:
    """Say what of a file is left out or changed."""
    reasons: dict[str, list[str]] = {}
    for name, why in table.ignored.items():
        if why != "on request":
            reasons.setdefault(why, []).append(name)
    for why, names in reasons.items():
        screen.note(f"{count(len(names), 'column')} left out ({why}): {listed(names)}")
    mention_gaps(table, screen)
    if table.renamed:
        screen.note(f"repeated or empty column names changed: {listed(list(table.renamed))}")


def mention_gaps(table: Table, screen: Screen) -> None:
    """Say which missing values were filled in, or how many rows are left without them."""
    if table.imputed:
        total = sum(number for number, _ in table.imputed.values())
        where = listed(list(table.imputed))
        screen.note(f"{count(total, 'missing value')} filled in: {where}")
    if table.rows is not None:
        screen.note(f"rows with missing values dropped; {count(len(table.rows), 'row')} left")


def _target(table: Table, task: str) -> tuple[Any, bool]:
    """The target as estimators take it, and whether it holds classes."""
    import numpy as np

    y = table.y
    if y is None:
        return None, False
    if y.ndim == 1:
        return classes_or_values(y, table.target_names[0], task)
    if y.dtype.kind not in "biuf":
        raise BadInput("several targets must be numbers; name one target, or drop the text.")
    if task == "classes":
        raise BadInput("--task classes takes one target.")
    return y.astype(np.float64), False


def classes_or_values(y: np.ndarray, name: str, task: str = "auto") -> tuple[np.ndarray, bool]:
    """Classes and values in types that estimators read as such; and which it is."""
    import numpy as np

    from columnist.data._target import is_classes
    from columnist.io._assemble import EXACT

    if y.dtype.kind not in "biuf":
        if task == "values":
            raise BadInput(f"the target {name!r} holds text, not values.")
        return y.astype(str), True
    whole = bool(np.all(np.abs(y) < EXACT) and np.all(y == np.round(y)))
    numbers = y.astype(np.int64 if whole else np.float64)
    looks = is_classes(numbers)
    if task == "classes" or (task == "auto" and looks):
        return numbers if looks and whole else numbers.astype(str), True
    values = y.astype(np.float64)
    return values[:, None] if looks else values, False  # a matrix is numbers to all estimators


def _prepared(data: Data, preparing: Preparing, screen: Screen) -> Data:
    import numpy as np
    import scipy.sparse as sp

    from columnist.linalg._passes import without_means

    X = data.X
    mean = scale = None
    constant = np.zeros(X.shape[1], dtype=bool)
    if preparing.scale:
        # Before means are subtracted: what is left of a constant column looks as if it varied.
        scale, constant = _deviations(X)
        if constant.any():
            names = listed([data.names[i] for i in np.flatnonzero(constant)])
            screen.note(f"constant columns are not scaled: {names}")
    if preparing.center:
        if sp.issparse(X):
            raise BadInput(
                "--center would fill a sparse matrix: leave it out, or give a dense file."
            )
        mean = X.mean(axis=0)
        X = without_means(X)
        X[:, constant] = 0.0
    if scale is not None:
        X = sp.csr_array(X @ sp.diags_array(1.0 / scale)) if sp.issparse(X) else X / scale
    return replace(data, X=X, mean=mean, scale=scale)


def _deviations(X) -> tuple[np.ndarray, np.ndarray]:
    """Standard deviations, 1 for constant columns, and which those are."""
    import numpy as np
    import scipy.sparse as sp
    from sklearn.preprocessing import StandardScaler

    def dense(row) -> np.ndarray:
        return np.asarray(row.toarray() if sp.issparse(row) else row, dtype=float).ravel()

    high, low = dense(X.max(axis=0)), dense(X.min(axis=0))
    largest = np.maximum(np.abs(high), np.abs(low))
    constant = high / 2 - low / 2 <= 4 * np.finfo(float).eps * largest
    unit = np.where(largest > 0.0, largest, 1.0)
    X = X @ sp.diags_array(1.0 / unit) if sp.issparse(X) else X / unit
    deviation = unit * np.sqrt(StandardScaler(with_mean=False).fit(X).var_)
    constant |= deviation == 0.0
    return np.where(constant, 1.0, deviation), constant


def _sizes(X) -> np.ndarray:
    """Lengths of the columns."""
    import numpy as np
    import scipy.sparse as sp

    if sp.issparse(X):
        return np.sqrt(np.asarray(X.multiply(X).sum(axis=0)).ravel())
    with np.errstate(over="ignore", under="ignore"):
        return np.sqrt(np.einsum("ij,ij->j", X, X))


def hint_at_scales(sizes: np.ndarray, screen: Screen, remedy: str) -> None:
    """One line if the largest columns will drown the others."""
    import numpy as np

    sizes = sizes[(sizes > 0.0) & np.isfinite(sizes)]
    if len(sizes) > 1 and sizes.max() > _APART * sizes.min():
        screen.note(
            f"the columns' sizes differ by a factor of {sizes.max() / sizes.min():.3g}: large ones "
            f"decide the result; {remedy} puts all on one scale"
        )


def rehearse(out: str | None, data: Data) -> None:
    """Refuse a format that cannot hold the ids or targets, before the long work begins."""
    rehearse_writing(out, data.write_one_row)


def rehearse_writing(out: str | None, write: Callable[[str], None]) -> None:
    """Write something small elsewhere, and say what is wrong about the name that was given."""
    from pathlib import Path
    from tempfile import TemporaryDirectory

    from columnist.io import DataFileError

    if out is None or out == "-":
        return
    with TemporaryDirectory() as folder:
        path = str(Path(folder) / Path(out).name)
        try:
            write(path)
        except DataFileError as error:
            raise BadInput(str(error).replace(path, f"--out {out}")) from None


def names_in(text: str | None, names: Sequence[str]) -> list[str]:
    """Names separated by commas; a name that holds commas may stand alone."""
    if text is None:
        return []
    if text in names:
        return [text]
    return [part.strip() for part in text.split(",") if part.strip()]


def resolve_names(given: Sequence[str] | None, names: Sequence[str], option: str) -> list[int]:
    """Places of columns named on the command line."""
    import difflib

    places = {name: i for i, name in enumerate(names)}
    found = []
    for name in given or ():
        if name not in places:
            close = difflib.get_close_matches(name, list(names)[:100_000], n=3)
            hint = f"did you mean {listed(close)}?" if close else f"there are: {listed(names)}."
            raise BadInput(f"{option} names the column {name!r}, which is not there; {hint}")
        found.append(places[name])
    return list(dict.fromkeys(found))
