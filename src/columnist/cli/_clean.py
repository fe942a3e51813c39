"""``columnist clean``: rows that contain the outputs of a predictor, and little else."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from columnist.cli._errors import BadInput
from columnist.cli._model import Model
from columnist.cli._names import expanded
from columnist.cli._options import Loading, Saving, option
from columnist.cli._task import Task
from columnist.cli._text import listed

if TYPE_CHECKING:
    import numpy as np

    from columnist.cli._prepared import Data

EXAMPLES = (
    "columnist clean patients.csv --target diagnosis --out cleaned.csv",
    "columnist clean patients.csv --target diagnosis --confidential age --scale --out cleaned.csv",
    "columnist clean meters.parquet --predictor coefficients.csv --utility 0.01 --out sent.parquet",
    "columnist clean patients.csv --target diagnosis --model cleaner.json --report privacy.html",
)


@dataclass(frozen=True, kw_only=True)
class Options(Saving, Loading):
    """What is predicted, and what is confidential."""

    predictor: str | None = option(
        "--predictor",
        "File with the predictor's coefficients, a row per output; without it, one is fitted "
        "to --target.",
        metavar="FILE",
    )
    confidential: list[str] | None = option(
        "--confidential",
        "Columns to protect: a name, a,b or a range a:c (repeatable).",
        metavar="NAMES",
    )
    utility: float = option(
        "--utility", "Largest change of a row's outputs, in squared norm.", default=0.0
    )


class Clean(Task):
    """Remove from every row what a predictor does not need."""

    command = "clean"
    note = (
        "A cleaned row has no information but the outputs of the predictor. It is not "
        "differential privacy: the report says what is not protected."
    )
    options: Options
    takes_all, scales = True, False

    def check(self) -> None:
        if self.options.predictor is None and not self.options.target:
            raise BadInput("what is to be predicted? Name it with --target, or give --predictor.")
        # Confidential columns are no features: they are read as ids, and taken apart later.
        self.ids = self.options.confidential or []

    def work(self) -> None:
        self.require_dense()
        data = self.data
        ids = dict(data.ids)
        self.ids = expanded(self.options.confidential, list(ids))
        labels = _labels({name: ids.pop(name) for name in self.ids})
        data.ids = ids
        self.rehearse(data.write_one_row)
        self.watch.phase("cleaning")
        self.cleaner = self._made(labels)
        self.cleaned = self.cleaner.transform(data.X)
        self.found = self.cleaner.report(data.X, labels)

    def _made(self, labels: np.ndarray | None):
        """The fitted cleaner, for which a linear model says how confidential labels are read."""
        from sklearn.linear_model import LinearRegression

        from columnist.data._target import resolve_target
        from columnist.privacy import NullSpaceCleaner

        data, file, secret = self.data, self.options.predictor, None
        source = _predictor(data) if file is None else _coefficients(file, data)
        if labels is not None:
            secret = LinearRegression().fit(data.X, resolve_target(labels, len(data.X)))
        cleaner = NullSpaceCleaner(source, utility=self.options.utility, confidential=secret)
        return cleaner.fit(data.X, data.y if file is None else None)

    def write_data(self, path: str) -> None:
        """Ids, cleaned features in the units of the file, targets."""
        from columnist.io import write_table

        data = self.data
        X = self.fitted().restore(self.cleaned)
        write_table(path, X, data.names, before=data.ids, after=data.targets)

    def fitted(self) -> Model:
        arrays = {"coef": self.cleaner.coef_, "mean": self.cleaner.mean_}
        if self.cleaner.confidential_coef_ is not None:
            arrays["confidential"] = self.cleaner.confidential_coef_
        target = list(self.data.table.target_names)
        facts = {"utility": self.cleaner.utility, "target": target}
        return Model.of("cleaning", self.data, arrays, facts)

    def page(self) -> str:
        from columnist.report import cleaning_report

        data, asked = self.data, self.asked(tolerance=f"{self.options.utility:g}")
        if self.ids:
            asked["confidential"] = listed(self.ids)
        return cleaning_report(
            self.cleaner, data.X, self.cleaned, names=data.names, asked=asked,
            origin=self.origin(),
        )  # fmt: skip

    def show(self) -> None:
        for line in str(self.found).splitlines():
            self.screen.line(line)

    def json(self) -> dict[str, Any]:
        return {
            "data": self.data.summary(),
            "confidential": list(self.ids),
            "removed_dimensions": int(self.cleaner.n_removed_),
            **self.found.to_dict(),
        }


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


def _labels(secrets: dict[str, np.ndarray]) -> np.ndarray | None:
    """The confidential columns as one target, or None."""
    import numpy as np

    from columnist.cli._prepare import read_label

    columns = {}
    for name, values in secrets.items():
        columns[name] = values
        # They were read as ids, which stay text.
        with suppress(ValueError):
            numbers = values.astype(np.float64)
            columns[name] = numbers if np.isfinite(numbers).all() else values
    if len(columns) < 2:
        return next((read_label(v, n) for n, v in columns.items()), None)
    if any(values.dtype.kind not in "biuf" for values in columns.values()):
        raise BadInput("several confidential columns must be numbers; name one, or code the text.")
    return np.column_stack([values.astype(float) for values in columns.values()])
