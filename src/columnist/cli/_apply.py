"""``columnist apply``: a model on new data."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from columnist._text import count
from columnist.cli._errors import BadInput
from columnist.cli._model import Model, read_model
from columnist.cli._names import expanded
from columnist.cli._options import Out, Printing, Reading, argument, option
from columnist.cli._outliers import FLAG, SHOWN, cutoff_words
from columnist.cli._task import Task
from columnist.cli._text import listed, number, unused

if TYPE_CHECKING:
    import numpy as np

    from columnist.io import Table

EXAMPLES = (
    "columnist select old.csv -k 4 --scale --model model.json",
    "columnist apply model.json new.csv --out kept.csv",
    "columnist apply model.json new.csv --rebuild --out all-columns.csv",
    "columnist apply pca.json new.csv --id sample --out flagged.csv",
    "cat new.csv | columnist apply cleaner.json - --out - > cleaned.csv",
)


@dataclass(frozen=True, kw_only=True)
class ModelFile:
    """Which model."""

    model_file: str = argument("MODEL", "Model file, written by --model.")


@dataclass(frozen=True, kw_only=True)
class Options(Out, Printing, Reading, ModelFile):
    """What to write of a selection."""

    rebuild: bool = option(
        "--rebuild", "Write all columns, reconstructed from the selected ones.", default=False
    )
    prepared: bool = option(
        "--prepared", "Write selected columns as in the fit: centred and scaled.", default=False
    )


class Apply(Task):
    """Apply a model to new data: selected columns, outlier flags, or cleaned rows."""

    command = "apply"
    options: Options
    table: Table

    def check(self) -> None:
        path = self.options.model_file
        self.fit_model = model = read_model(path)
        if model.kind != "selection" and (self.options.rebuild or self.options.prepared):
            held = f"{path} holds {model.kind}"
            raise BadInput(f"--rebuild and --prepared are for selections; {held}.")
        self.after: dict[str, np.ndarray] = {}
        self.facts: dict[str, Any] = {}

    @contextmanager
    def opened(self) -> Iterator[None]:
        yield  # what is read depends on the model

    def work(self) -> None:
        model = self.fit_model
        # Columns that new data must have.
        needed = list(range(len(model.columns)))
        if model.kind == "selection" and "components" not in model.arrays:
            needed = [int(i) for i in model.arrays["selected"]]
        X = self._read(needed)
        ready = model.prepare(X, needed)
        self.X, self.names = X, list(model.columns)
        if model.kind == "selection":
            self._select(X, ready, needed)
        elif model.kind == "outliers":
            self._flag(ready)
        else:
            self.X = model.restore(cleaner_of(model).transform(ready))

    def _read(self, needed: Sequence[int]) -> np.ndarray:
        """The needed columns of the file, in the order of the model, without gaps.

        Columns are found by their names; further ones are ignored. A file without names must have
        as many columns as the model.
        """
        from columnist.cli._prepare import mention_gaps
        from columnist.io import read_table

        options, model = self.options, self.fit_model
        given = [*(options.target or ()), *(options.id or ()), *(options.drop or ())]

        def choose(names: Sequence[str]) -> list[str]:
            apart = set(expanded(given, names))
            return _places(model, needed, [n for n in names if n not in apart], options.file)

        table = read_table(
            options.file, columns=choose, missing=options.missing,
            fill=None if model.fill is None else model.fill[list(needed)],
            **options.read_as() | {"drop": ()},
        )  # fmt: skip
        if model.fill is not None and table.imputed:
            total = sum(number for number, _ in table.imputed.values())
            self.screen.note(f"{count(total, 'missing value')} filled in with values of the model")
            table = replace(table, imputed={})
        mention_gaps(table, self.screen)
        self.table = table
        return table.X.toarray() if hasattr(table.X, "toarray") else table.X

    def _select(self, X: np.ndarray, ready: np.ndarray, needed: list[int]) -> None:
        """Kept columns and extracted features, or all columns rebuilt from them."""
        import numpy as np

        model, options = self.fit_model, self.options
        selected = [int(i) for i in model.arrays["selected"]]
        names = [model.columns[i] for i in selected]
        places = [needed.index(i) for i in selected]
        components, coef, intercept = map(model.arrays.get, ("components", "coef", "intercept"))
        self.facts = {"selected": names}
        scores = None
        if components is not None:
            rest = ready @ components.T - intercept @ components.T
            scores = rest - ready[:, places] @ (coef @ components.T)
        if options.rebuild:
            if coef is None:
                raise BadInput(
                    "--rebuild needs a model that explains all columns: use select --explain X."
                )
            whole = ready[:, places] @ coef + intercept
            self.X = model.restore(whole if scores is None else whole + scores @ components)
            return
        self.X, self.names = (ready if options.prepared else X)[:, places], names
        if scores is not None:
            self.X = np.hstack([self.X, scores])
            self.names = [*names, *(f"component{i}" for i in range(scores.shape[1]))]

    def _flag(self, ready: np.ndarray) -> None:
        """Distances and flags of all rows."""
        import numpy as np

        from columnist.cli._prepared import row_numbers
        from columnist.robust._subspace import Subspace

        arrays, facts = self.fit_model.arrays, self.fit_model.facts
        unit = facts["unit"]
        subspace = Subspace(arrays["mean"], arrays["components"], arrays["variances"])
        subspace, rows = subspace.scaled(1.0 / unit), ready / unit
        score = subspace.score_distances(rows)
        orthogonal = subspace.orthogonal_distances(rows) * unit
        along = score / facts["score_cutoff"]
        across = (orthogonal / unit) / (facts["orthogonal_cutoff"] / unit)
        self.flags = -np.maximum(along, across) + 1.0 < 0.0
        self.facts = {"outliers": row_numbers(self.table, len(rows))[self.flags]}
        distances = {"score_distance": score, "orthogonal_distance": orthogonal}
        self.after = {**distances, FLAG: self.flags.astype(np.int64)}

    def write_data(self, path: str) -> None:
        from columnist.io import write_table

        table, after = self.table, dict(self.after)
        if table.y is not None:
            columns = table.y.reshape(len(table.y), -1).T
            after |= dict(zip(table.target_names, columns, strict=True))
        taken = {*self.names, *table.ids}
        after = {unused(name, taken): values for name, values in after.items()}
        write_table(path, self.X, self.names, before=table.ids, after=after)

    def title(self) -> str:
        return f"{self.table.source}, {count(int(self.table.X.shape[0]), 'row')}"

    def show(self) -> None:
        screen, n = self.screen, int(self.table.X.shape[0])
        if self.fit_model.kind == "selection":
            screen.line(f"{count(len(self.names), 'column')}: {listed(self.names, 20)}")
            return
        if self.fit_model.kind == "cleaning":
            screen.line(f"{count(n, 'row')} cleaned.")
            return
        rows, ids = self.facts["outliers"], self.table.ids
        screen.line(f"{count(len(rows), 'outlier')} among {count(n, 'row')}.")
        places = self.flags.nonzero()[0].tolist()
        distances = self.after["score_distance"], self.after["orthogonal_distance"]
        shown = [
            [
                row,
                *(str(values[i]) for values in ids.values()),
                *(number(d[i], 4) for d in distances),
            ]
            for row, i in zip(rows[:SHOWN].tolist(), places, strict=False)
        ]
        if shown:
            screen.table(["row>", *ids, "within>", "from plane>"], shown)
        facts = self.fit_model.facts
        screen.line(f"{cutoff_words(facts['score_cutoff'], facts['orthogonal_cutoff'])}.")

    def json(self) -> dict[str, Any]:
        model, table = self.fit_model, self.table
        path, (n, m) = self.options.model_file, table.X.shape
        return {
            "model": {"file": path, "kind": model.kind, "columns": list(model.columns)},
            "data": {"source": table.source, "format": table.format, "rows": n, "columns": m},
            "columns": self.names,
            **self.facts,
        }


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
