"""``columnist outliers``: find outlying rows, and fit a PCA without them."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from columnist._text import count
from columnist.cli._errors import BadInput
from columnist.cli._model import Model
from columnist.cli._options import Anywhere, Saving, Searching, option
from columnist.cli._screen import certificate_json
from columnist.cli._task import Task
from columnist.cli._text import listed, number, parsed, unused, visible
from columnist.cli._verify import prepared_proof

if TYPE_CHECKING:
    from columnist.cli._references import Reference

EXAMPLES = (
    "columnist outliers wine.csv -k 5 -r 2 --drop class --center --scale",
    "columnist outliers sensors.parquet -k 0.05 -r 3 --id time --report outliers.html",
    "columnist outliers data.csv -k 10 --method coherence --out clean.csv --remove",
    "columnist outliers data.csv -k 10 -r 2 --model pca.json",
    "columnist outliers wine.csv -k 5 -r 2 --proof wine.proof",
    "columnist outliers plants.csv -k 14 -r 2 --max-distance 1",
    "columnist outliers big.parquet -k 100 -r 3 --dask --out flagged.parquet",
)
FLAG = "outlier"
SHOWN = 30
Method = Literal[
    "certified", "schatten", "pursuit", "coherence", "hrpca", "robpca", "trimmed", "leverage"
]


@dataclass(frozen=True, kw_only=True)
class Options(Saving, Searching, Anywhere):
    """Options of the search for outliers."""

    k: str = option(
        "-k --outliers", "Rows excluded from the fit: a number, or a share below 1.", default="0.05"
    )
    r: int | None = option("-r --components", "Principal components; 2 by default.")
    method: Method = option(
        "--method", f"Method: {', '.join(get_args(Method))}.",
        default="certified", metavar="NAME"
    )  # fmt: skip
    max_distance: float | None = option(
        "--max-distance",
        "certified: also remove every row farther than this from a robust reference (ROBPCA), in "
        "units of its cut-offs; finds outliers that mask one another.",
    )
    proof: str | None = option(
        "--proof", "certified: write a proof that columnist verify checks.", metavar="FILE"
    )
    remove: bool = option("--remove", "With --out: leave outlying rows out.", default=False)


class Outliers(Task):
    """Find outlying rows: rows removed by the fit, and rows flagged by the cut-offs."""

    command = "outliers"
    note = (
        "The proof is about the error of the kept rows. Outliers that form a group may attract a "
        "component and stay unnoticed: certified runs ROBPCA and MCD (minimum covariance "
        "determinant) beside the search and says where they disagree. Rows are numbered from 1, "
        "without the header."
    )
    options: Options
    # Results of the robust methods that are run beside the search.
    references: Sequence[Reference] = ()

    def check(self) -> None:
        if self.options.remove and not self.out:
            raise BadInput("--remove says what --out writes: add --out FILE.")
        number_of = parsed(self.options.k)
        if number_of is None:
            raise BadInput(f"-k takes a number; got {self.options.k!r}.")
        if self.options.max_distance is not None and self.options.method != "certified":
            raise BadInput("--max-distance needs --method certified.")
        if self.options.proof is not None and self.options.method != "certified":
            raise BadInput("--proof needs --method certified.")
        if self.options.proof is not None and self.options.max_distance is not None:
            raise BadInput("--proof does not work with --max-distance.")
        self.n_outliers = number_of

    def outputs(self) -> dict[str, str | None]:
        return super().outputs() | {"--proof": self.options.proof}

    def work(self) -> None:
        import numpy as np

        data = self.data
        self.rehearse(data.write_one_row)
        self.require_dense()
        n = data.X.shape[0]
        doing = f"looking for outliers among {count(n, 'row')}"
        self.estimator = self.fit(self._made(self.n_outliers, n), doing)
        if self.options.proof is not None:
            self.screen.written("proof", self.options.proof)
        self.score, self.orthogonal, far, self.beyond = data.judged(self.estimator)
        self.removed = np.zeros(n, dtype=bool)
        self.removed[self.estimator.outliers_] = True
        if self.options.method == "certified":
            self._compare()
        flags = [found.flags for found in self.references if found.flags is not None]
        rows = np.flatnonzero(np.any([self.removed, self.beyond, *flags], axis=0))
        order = np.argsort(-far[rows], kind="stable")
        self.rows = rows[order]
        self.labels = {name: values[order] for name, values in data.ids_of(rows).items()}

    def _compare(self) -> None:
        """Run robust references beside the search, and say where they disagree with it."""
        from columnist.cli._references import references

        self.watch.phase("comparing with ROBPCA and MCD")
        size, seed = max(self.estimator.n_components_, 1), self.options.seed or 0
        self.references = references(self.data, size, seed)
        told: dict[tuple[int, ...], list[str]] = {}
        for found in self.references:
            if found.flags is None:
                self.screen.note(f"{found.name} was not run beside the search: {found.why_not}")
            elif len(masked := self._only_in(found)):
                told.setdefault(tuple(masked), []).append(found.name)
        for rows, names in told.items():
            flag = f"{' and '.join(names)} flag{'s' if len(names) == 1 else ''}"
            self.screen.note(
                f"warning: {flag} {count(len(rows), 'row')} that this fit keeps as regular: "
                f"{listed(list(rows), 20)}. Outliers in a group can attract a component and mask "
                "one another; the proof does not exclude that. Look at these rows, or use "
                "--max-distance or --method robpca."
            )

    def _only_in(self, reference: Reference) -> list[int]:
        """Numbers of the rows that only a reference flags."""
        import numpy as np

        if reference.flags is None:
            return []
        rows = np.flatnonzero(reference.flags & ~self.removed & ~self.beyond)
        return self.data.row_numbers()[rows].tolist()

    def _made(self, k: int | float, n: int):
        """The estimator that was asked for, not fitted."""
        from columnist import robust

        options, r, seed = self.options, self.options.r, self.options.seed
        size = 2 if r is None else r
        kept = 1.0 - (k if isinstance(k, float) else k / n)
        kinds = {
            "certified": robust.RobustPCA(
                size, n_outliers=k, time_limit=options.seconds, callback=self.watch.callback,
                max_distance=options.max_distance,
                proof=prepared_proof(options.proof, options, self.data),
                **options.given(random_state=seed),
            ),
            "schatten": robust.SchattenPCA(k, n_components=r),
            "pursuit": robust.OutlierPursuit(n_outliers=k, n_components=r),
            "coherence": robust.CoherencePursuit(size, n_outliers=k),
            "hrpca": robust.HRPCA(size, n_outliers=k, random_state=seed),
            "robpca": robust.ROBPCA(size, alpha=min(1.0, max(0.5, kept)), random_state=seed),
            "trimmed": robust.TrimmedPCA(size, n_outliers=k),
            "leverage": robust.LeverageOutliers(size, n_outliers=k),
        }  # fmt: skip
        return kinds[options.method]

    def write_data(self, path: str) -> None:
        """The data with a column of flags, or without the outlying rows."""
        data, remove = self.data, self.options.remove
        if remove and self.beyond.all():
            raise BadInput("--remove would leave no row at all.")
        name = unused(FLAG, {*data.names, *data.ids, *data.targets})
        data.write_rows(path, self.beyond, None if remove else name)

    def fitted(self) -> Model:
        estimator = self.estimator
        arrays = {
            "mean": estimator.mean_,
            "components": estimator.components_,
            "variances": estimator.explained_variance_,
        }
        facts = {
            "method": self.options.method,
            "score_cutoff": estimator.score_cutoff_,
            "orthogonal_cutoff": estimator.orthogonal_cutoff_,
            "unit": estimator._unit,
            "error": estimator.error_,
            "certificate": certificate_json(self.certificate, history=False),
        }
        return Model.of("outliers", self.data, arrays, facts)

    def page(self) -> str:
        from columnist.report import outlier_report

        data, options, numbers = self.data, self.options, self.data.row_numbers().tolist()
        asked = self.asked(
            outliers=options.k, components=str(self.estimator.n_components_), method=options.method
        )
        # The rows were judged already.
        judged = copy(self.estimator)
        judged.score_distances = lambda X: self.score
        judged.orthogonal_distances = lambda X: self.orthogonal
        return outlier_report(
            judged, data.X, names=data.names, labels=self._labels(), numbers=numbers, asked=asked,
            origin=self.origin(),
        )  # fmt: skip

    def _labels(self) -> list[str]:
        """A label for every row: its ids where they are known, or its number."""
        labels = [f"row {n}" for n in self.data.row_numbers()]
        rows: Any = range(len(labels)) if self.data.in_memory else self.rows
        ids = self.data.ids if self.data.in_memory else self.labels
        columns = (values.tolist() for values in ids.values())
        for row, *parts in zip(rows, *columns, strict=True) if ids else ():
            labels[row] = ", ".join(map(str, parts))
        return labels

    def show(self) -> None:
        screen, estimator = self.screen, self.estimator
        screen.line(
            f"{count(int(self.removed.sum()), 'row')} removed by the fit ({self.options.method}, "
            f"{count(estimator.n_components_, 'component')}); "
            f"{count(int(self.beyond.sum()), 'row')} flagged as outliers by the cut-offs."
        )
        far = len(getattr(estimator, "far_rows_", ()))
        if far:
            rest = count(int(self.removed.sum()) - far, "row")
            screen.line(f"{count(far, 'row')} removed because of --max-distance; the certificate "
                        f"is about the choice of the other {rest}.")  # fmt: skip
        numbers = self.data.row_numbers()
        asked = {r.name.lower(): r.flags for r in self.references if r.flags is not None}
        table = [
            [
                int(numbers[i]),
                *(visible(values[place], 30) for values in self.labels.values()),
                _marked(self.score[i], estimator.score_cutoff_),
                _marked(self.orthogonal[i], estimator.orthogonal_cutoff_),
                "yes" if self.removed[i] else "",
                "yes" if self.beyond[i] else "",
                *("yes" if flags[i] else "" for flags in asked.values()),
            ]
            for place, i in enumerate(self.rows[:SHOWN])
        ]
        if table:
            heads = ["row>", *self.labels, "within>", "from plane>", "removed", "outlier"]
            screen.table([*heads, *asked], table)
        if len(self.rows) > SHOWN:
            screen.line(f"and {len(self.rows) - SHOWN} more (--json or --out has all)")
        cutoffs = cutoff_words(estimator.score_cutoff_, estimator.orthogonal_cutoff_)
        screen.line(f"{cutoffs}; * marks larger distances.")
        if self.certificate is not None:
            screen.certificate(self.certificate, self.data.seconds)

    def json(self) -> dict[str, Any]:
        estimator, numbers = self.estimator, self.data.row_numbers()
        return {
            "data": self.data.summary(),
            "method": self.options.method,
            "components": int(estimator.n_components_),
            "error": estimator.error_,
            "removed": numbers[estimator.outliers_],
            "far": numbers[getattr(estimator, "far_rows_", [])],
            "outliers": numbers[self.beyond],
            "score_cutoff": estimator.score_cutoff_,
            "orthogonal_cutoff": estimator.orthogonal_cutoff_,
            "rows": [
                {
                    "row": numbers[i],
                    "ids": {name: values[place] for name, values in self.labels.items()},
                    "score_distance": self.score[i],
                    "orthogonal_distance": self.orthogonal[i],
                    "removed": self.removed[i],
                    "outlier": self.beyond[i],
                }
                for place, i in enumerate(self.rows)
            ],
            "certificate": certificate_json(self.certificate),
            "reference": self._told("ROBPCA"),
            "mcd": self._told("MCD"),
        }

    def _told(self, name: str) -> dict[str, Any] | None:
        """What a reference flags, for JSON."""
        for found in self.references:
            if found.name == name and found.flags is not None:
                outliers = self.data.row_numbers()[found.flags]
                only = self._only_in(found)
                return {"method": name.lower(), "outliers": outliers, "only_here": only}
        return None


def _marked(distance: float, cutoff: float) -> str:
    return number(distance, 4) + ("*" if distance > cutoff else " ")


def cutoff_words(score: float, orthogonal: float) -> str:
    """The cut-offs of both distances."""
    within, across = number(score, 4), number(orthogonal, 4)
    return f"Cut-offs: {within} within the plane of the components, {across} from it"
