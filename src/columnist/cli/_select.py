"""``columnist select``: select the best columns, with a certificate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from columnist._text import count
from columnist.cli._constraints import Obeying, check_obeying, constraints_of
from columnist.cli._errors import BadInput
from columnist.cli._model import Model
from columnist.cli._names import expanded
from columnist.cli._options import Anywhere, Saving, Searching, Weighting, as_size, option
from columnist.cli._screen import certificate_json
from columnist.cli._selectors import build, complete_selector, find, parse_parameters
from columnist.cli._stability import check_bootstrap, resampled, show_stability, stability_json
from columnist.cli._task import Task
from columnist.cli._text import listed, number, percent
from columnist.cli._verdicts import show_verdicts, verdicts_json
from columnist.cli._verify import prepared_proof

if TYPE_CHECKING:
    from columnist.selection import (
        BudgetPath,
        ColumnVerdicts,
        SelectionPath,
        SelectionStability,
    )

EXAMPLES = (
    "columnist select wine.csv -k 4 --center --scale",
    "columnist select wine.csv -k 4 --target class --report wine.html",
    "columnist select genes.parquet -k 10 --time-limit 300 --out kept.parquet --model genes.json",
    "columnist select wine.csv -k 4 --path 8 --bootstrap 50 --report wine.html",
    "columnist select survey.csv -k auto --tol 0.1 --id respondent --missing median --json",
    "columnist select big.parquet -k 10 --center --scale --dask --out kept.parquet",
    "columnist select big.zarr -k 10 --dask tcp://127.0.0.1:8786",
    "cat data.csv | columnist select - -k 3 --method forward --out - > small.csv",
)
# Beyond this many columns the share of each one is left out of the JSON.
_MANY_COLUMNS = 10_000
# Sets that are shown.
_MOST_SETS = 50
# The tolerance of verdicts, unless another one is given.
_TOLERANCE = 0.01


@dataclass(frozen=True, kw_only=True)
class Options(Saving, Obeying, Searching, Weighting, Anywhere):
    """Options of the selection."""

    k: str | None = option(
        "-k --keep", "Number of columns to select, a share below 1, or auto with --tol."
    )
    tol: float | None = option("--tol", "With -k auto: largest relative error.")
    components: int | None = option(
        "--components", "Components to extract in addition to the columns."
    )
    include: list[str] | None = option(
        "--include",
        "Columns that must be selected: a name, a,b or a range a:c (repeatable).",
        metavar="NAMES",
    )
    exclude: list[str] | None = option(
        "--exclude",
        "Columns that must not be selected: a name, a,b or a range a:c (repeatable).",
        metavar="NAMES",
    )
    explain: Literal["X", "y"] | None = option(
        "--explain", "What the selected columns explain: all columns (X) or the target (y); "
        "by default the target, if one is given."
    )  # fmt: skip
    solutions: int | None = option("--solutions", "Number of best sets to find and prove.")
    tolerance: float | None = option(
        "--tolerance", "Find all sets whose error is at most this share above the best."
    )
    verdicts: bool = option(
        "--verdicts", "Prove which columns are necessary, replaceable or useless (within "
        "--tolerance, by default 0.01).", default=False
    )  # fmt: skip
    proof: str | None = option(
        "--proof", "Write a proof that columnist verify checks.", metavar="FILE"
    )
    path: int | None = option("--path", "Also select every size from 1 to K.", metavar="K")
    bootstrap: int | None = option(
        "--bootstrap", "Also select from N resamples of the rows: how stable is the selection? "
        "With --path, the error on rows left out for every size.", metavar="N"
    )  # fmt: skip
    method: str = option(
        "--method", "certified, or another selector (columnist rank --list).",
        default="certified", autocompletion=complete_selector
    )  # fmt: skip
    parameter: list[str] | None = option(
        "-o", "Parameter of the method (repeatable).", metavar="NAME=VALUE"
    )


class Select(Task):
    """Select the columns that best represent the others, or a target, with a certificate."""

    command = "select"
    estimates = True
    note = "Ctrl-C ends the search; the best selection so far is kept, shown and written."
    options: Options
    path: SelectionPath | None = None
    stability: SelectionStability | None = None
    verdicts: ColumnVerdicts | None = None
    budgets: BudgetPath | None = None

    def check(self) -> None:
        self.size, self.entry = as_size(self.options.k), find(self.options.method)
        check_bootstrap(self.options)
        self.method = self.entry.name
        check_obeying(self.options)
        if self.size is None and self.options.budget is None:
            raise BadInput(
                "-k is missing: how many columns should be selected? (-k auto --tol 0.1 decides)"
            )

    def outputs(self) -> dict[str, str | None]:
        return super().outputs() | {"--proof": self.options.proof}

    def work(self) -> None:
        options, data = self.options, self.data
        self.rehearse(data.write_one_row)
        self.explained = self.explains(options.explain, self.entry.target == "required")
        self._check_choice()
        self._check_proof()
        self.limits: dict[str, Any] = {
            "include": self.places(options.include, "--include") or None,
            "exclude": self.places(options.exclude, "--exclude") or None,
        }
        constraints = constraints_of(
            options, data.names, self.places, self.screen.note, data.dummies
        )
        if constraints:
            self.limits["constraints"] = constraints
        amount = "some" if options.k is None else options.k
        doing = f"choosing {amount} of {count(data.X.shape[1], 'column')}"
        self.selector = self.fit(self._made(), doing, data.y)
        self.selected = [int(i) for i in self.selector.selected_]
        if options.proof is not None:
            self.screen.written("proof", options.proof)
        if options.path is not None and not self.watch.interrupted:
            self.path = self._every_size(options.path)
        if options.bootstrap is not None and not self.watch.interrupted:
            self.stability = resampled(self)
        if options.verdicts and not self.watch.interrupted:
            self.verdicts = self._judged()
        if options.budget is not None and self.method == "certified" and not self.watch.interrupted:
            self.budgets = self._more_money()
        self._measure()

    def _check_choice(self) -> None:
        """Refuse options that contradict one another, or sizes beyond the columns that are left."""
        options = self.options
        if self.method == "certified" and options.tol is not None and options.k != "auto":
            raise BadInput(
                "--tol needs -k auto, which selects the fewest columns with at most this error."
            )
        include, exclude = (
            expanded(o, self.data.names) for o in (options.include, options.exclude)
        )
        both = set(include) & set(exclude)
        if both:
            raise BadInput(f"--include and --exclude both name {listed(sorted(both))}: choose one.")
        free = len(self.data.names) - len(exclude)
        if options.path is not None and not 1 <= options.path <= free:
            raise BadInput(f"--path takes a number from 1 to {free}; got {options.path}.")

    def _check_proof(self) -> None:
        if self.method != "certified" and self.options.tolerance is not None:
            raise BadInput("--tolerance needs --method certified.")
        if self.method != "certified" and self.options.verdicts:
            raise BadInput("--verdicts needs --method certified.")
        if self.options.proof is not None and self.method != "certified":
            raise BadInput(f"--proof needs --method certified; {self.method} gives no proof.")

    def _made(self):
        """The selector that was asked for; options that it does not have are refused."""
        options, data = self.options, self.data
        given = options.given(
            n_components=options.components, n_solutions=options.solutions, tol=options.tol,
            solution_tol=options.tolerance,
            target=None if data.y is None else options.explain, **self.limits, **self.gaps(),
        )  # fmt: skip
        selector = build(
            self.entry, self.size, given, parse_parameters(options.parameter), options.seed
        )
        if self.method == "certified":
            selector.set_params(
                time_limit=options.seconds, callback=self.watch.callback,
                proof=prepared_proof(options.proof, options, data),
            )  # fmt: skip
        # Means of columns with gaps are estimated again.
        free = data.mean is not None and (data.y is not None or data.has_gaps)
        if free and "centering" in selector.get_params():
            selector.set_params(centering="mean")
        return selector

    def _every_size(self, largest: int) -> SelectionPath | None:
        """Every size up to one; None if interrupted before there is anything."""
        from columnist import selection_path

        self.watch.phase(f"every size up to {largest}")
        return self._searched(selection_path, largest)

    def _judged(self) -> ColumnVerdicts | None:
        """Verdicts on the columns for the size of the selection."""
        from columnist import column_verdicts
        from columnist.selection._verdicts import verdicts_of

        self.watch.phase("verdicts on the columns")
        if self.options.tolerance is not None and self.options.k != "auto":  # all is listed
            return self._unless_interrupted(verdicts_of, self.selector)
        size = self.size if "constraints" in self.limits else len(self.selected)
        tol = _TOLERANCE if self.options.tolerance is None else self.options.tolerance
        return self._searched(column_verdicts, size, tol=tol)

    def _unless_interrupted(self, function: Callable, *given, **more):
        """What a function finds in the data; None if interrupted before there is anything."""
        data, found = self.data, None
        y = None if self.options.explain == "X" else data.y
        try:
            found = function(*given, data.X, y=y, sample_weight=data.weights, **more)
        except KeyboardInterrupt:
            pass
        self.watch.settle(None)
        return found

    def _searched(self, function: Callable, *given, **more):
        """The same for a search with the options of the selection, or others instead."""
        options = self.options
        own = {
            "criterion": options.criterion or "frobenius", "n_jobs": options.jobs,
            "n_components": options.components or 0, "time_limit": options.seconds,
            "centering": "none" if self.data.mean is None else "mean",
            "callback": self.watch.callback, **self.limits, **self.gaps(),
        }  # fmt: skip
        return self._unless_interrupted(lambda X, **how: function(X, *given, **how), **own | more)

    def _more_money(self) -> BudgetPath | None:
        """The selection, and the one for a budget that is larger by the smallest cost."""
        from columnist.constraints import Budget
        from columnist.selection import BudgetPath, BudgetStep, budget_path

        others = [one for one in self.limits["constraints"] if not isinstance(one, Budget)]
        own = next(one for one in self.limits["constraints"] if isinstance(one, Budget))
        positive = [cost for cost in own.costs if cost > 0.0]
        if not positive:
            return None
        self.watch.phase("a larger budget")
        path = self._searched(
            budget_path, own.costs, [own.budget + min(positive)], constraints=others,
            n_features_to_select=self.size,
        )  # fmt: skip
        if path is None:
            return None
        here = BudgetStep(self.selector.selected_, self.selector.certificate_, own.budget)
        return BudgetPath((here, *path), path.total)

    def _budget_json(self) -> dict[str, Any] | None:
        """What the selection costs, and what a larger budget would bring where that is proven."""
        if self.options.budget is None:
            return None
        own = next(one for one in self.limits["constraints"] if hasattr(one, "costs"))
        proof = self.selector.certificate_ if self.method == "certified" else None
        known = self.budgets or [(self.selected, proof, own.budget)]
        steps = [
            {
                "budget": budget,
                "cost": float(sum(own.costs[i] for i in chosen)),
                "selected": self.data.names_of([int(i) for i in chosen]),
                "error": self.error if found is None else found.error,
                "lower_bound": None if found is None else found.lower_bound,
                "status": None if found is None else found.status,
            }
            for chosen, found, budget in known
        ]
        return {**steps[0], "next": steps[1] if len(steps) > 1 else None}

    def _measure(self) -> None:
        """Errors and coefficients of any selector's choice, computed from the data."""
        from columnist.criteria import get_criterion
        from columnist.data import matrices_of
        from columnist.selection._rebuild import Rebuild, rebuild

        s, data = self.selector, self.data
        if self.method == "certified":
            self.error, self.relative_error = s.error_, s.relative_error_
            self.rebuilt = Rebuild(
                s.coef_, s.intercept_, s.column_r2_, s.representative_, s.components_
            )
            return
        target, center = self.explained == "y", data.mean is not None
        matrices = matrices_of(
            data.X, data.y, sample_weight=data.weights, target=target, center=center
        )
        measure = get_criterion(self.options.criterion or "frobenius")
        self.error, total = matrices.error(self.selected, measure), matrices.error([], measure)
        self.relative_error = self.error / total if total > 0.0 else 0.0
        self.rebuilt = rebuild(matrices, self.selected, 0)

    # -- the result in all forms ------------------------------------------------------

    def write_data(self, path: str) -> None:
        """Ids, the kept columns as read, extracted features, targets."""
        selector = self.selector
        extracts = bool(getattr(selector, "n_components", 0) and len(selector.components_))
        self.data.write_columns(path, sorted(self.selected), selector if extracts else None)

    def fitted(self) -> Model:
        import numpy as np

        rebuilt = self.rebuilt
        arrays: dict[str, Any] = {"selected": np.array(sorted(self.selected))}
        if self.explained == "X" and rebuilt.coef.size <= 1_000_000:
            order = np.argsort(self.selected)
            arrays |= {"coef": rebuilt.coef[order], "intercept": rebuilt.intercept}
            if len(rebuilt.components):
                arrays["components"] = rebuilt.components
        facts = {
            "method": self.method,
            "explains": self.explained,
            "target": list(self.data.table.target_names),
            "error": self.error,
            "relative_error": self.relative_error,
            "certificate": certificate_json(self.certificate, history=False),
        }
        return Model.of("selection", self.data, arrays, facts)

    def page(self) -> str:
        options, data = self.options, self.data
        keep = f"{options.k} {'groups' if options.groups else 'columns'}"
        if options.k is None:
            keep = "any number of columns"
        if options.k == "auto":
            keep = f"the fewest columns that leave at most {options.tol:g} unexplained"
        asked = self.asked(select=keep, method=self.method)
        if self.explained == "y":
            asked["explain"] = listed(data.table.target_names)
        if "constraints" in self.limits:
            asked["obey"] = "; ".join(
                one.describe(data.names) for one in self.limits["constraints"]
            )
        asked["time limit"] = f"{options.time_limit} s"
        return self.selection_page(
            self.selector, self.explained, asked, self.path, self.stability, self.verdicts,
            self.budgets,
        )  # fmt: skip

    def json(self) -> dict[str, Any]:
        data, names = self.data, self.data.names
        solutions = getattr(self.selector, "solutions_", [])
        few = len(names) <= _MANY_COLUMNS
        by = data.names_of(self.rebuilt.representative.tolist())
        return {
            "data": data.summary(),
            "method": self.method,
            "explains": self.explained,
            "selected": data.names_of(self.selected),
            "indices": self.selected,
            "error": self.error,
            "relative_error": self.relative_error,
            "certificate": certificate_json(self.certificate),
            "solutions": [{"columns": data.names_of(s), "error": s.error} for s in solutions],
            "column_r2": dict(zip(names, self.rebuilt.r2, strict=True)) if few else None,
            "representative": dict(zip(names, by, strict=True)) if few else None,
            "constraints": [one.describe(names) for one in self.limits.get("constraints", ())],
            "budget": self._budget_json(),
            "path": None if self.path is None else self._path_json(self.path),
            "stability": stability_json(self.stability),
            "verdicts": self.verdicts and verdicts_json(self.verdicts, names),
        }

    def _path_json(self, path) -> list[dict[str, Any]]:
        """One entry per size."""
        found = []
        for step, relative in zip(path, path.relative_errors, strict=True):
            content = step.certificate.to_dict()
            found.append({
                "size": len(step.selection),
                "selected": self.data.names_of(step.selection),
                "relative_error": relative,
                **{key: content[key] for key in ("status", "error", "lower_bound", "gap")},
            })  # fmt: skip
        return found

    def show(self) -> None:
        screen, names = self.screen, self.data.names
        shares, stands_for = self.rebuilt.r2, self.rebuilt.representative
        n_kept = len(self.selected)
        dropped = [name for i, name in enumerate(names) if i not in set(self.selected)]
        if 0 < len(dropped) < n_kept:
            screen.line(f"Dropped {count(len(dropped), 'column')}: {listed(dropped, 30)}")
        screen.line(f"Selected {count(n_kept, 'column')} of {len(names):,}: {self._unexplained()}.")
        behind: dict[int, list[int]] = {column: [] for column in sorted(self.selected)}
        for i, column in enumerate(stands_for.tolist()):
            if i != column:
                behind[column].append(i)
        rows = []
        for column, others in behind.items():
            others.sort(key=lambda i: -shares[i])
            shown = [f"{screen.short(names[i])} ({percent(shares[i], 0)})" for i in others[:6]]
            more = f" and {len(others) - 6} more" if len(others) > 6 else ""
            rows.append([screen.short(names[column]), ", ".join(shown) + more])
        screen.table(["selected", "represents (share explained by all selected)"], rows)
        if self.certificate is not None:
            screen.certificate(self.certificate, self.data.seconds)
        else:
            screen.facts({"error": number(self.error), "proof": f"none: {self.method} gives none"})
        self._show_runners_up(getattr(self.selector, "solutions_", []))
        if (budget := self._budget_json()) is not None:
            self._show_budget(budget)
        if self.path is not None:
            screen.heading("Every size")
            screen.path(self.path)
        if self.stability is not None:
            show_stability(self, self.stability)
        if self.verdicts is not None:
            show_verdicts(screen, self.verdicts, names)

    def _show_budget(self, budget: dict[str, Any]) -> None:
        """What is spent, and what a larger budget would bring."""
        steps = [budget] if budget["next"] is None else [budget, budget["next"]]
        rows = [
            [number(step["budget"]), number(step["cost"]), number(step["error"]),
             number(step["lower_bound"]), listed(step["selected"])]
            for step in steps
        ]  # fmt: skip
        self.screen.heading("What the budget costs")
        head = ["budget>", "spent>", "error>", "lower bound>", "selected"]
        self.screen.table(head, rows, best=0)

    def _unexplained(self) -> str:
        """The relative error, and what it is a share of."""
        share, criterion = percent(self.relative_error), self.options.criterion or "frobenius"
        whole = "" if self.explained == "X" else f" of {self.data.what('y')}"
        if criterion != "frobenius":
            return f"the relative error{whole} is {share} ({criterion})"
        centred = self.data.mean is not None
        total = (
            "variance" if whole and centred else "total variance" if centred else "sum of squares"
        )
        return f"{share} of the {total}{whole} is unexplained"

    def _show_runners_up(self, solutions) -> None:
        """The other solutions, by what they exchange."""
        if len(solutions) < 2:
            return
        best, names_of = set(solutions[0]), self.data.names_of
        rows = []
        for place, solution in enumerate(solutions[:_MOST_SETS], start=1):
            gone, new = sorted(best - set(solution)), sorted(set(solution) - best)
            worse = solution.error / solutions[0].error - 1 if solutions[0].error > 0 else None
            words = listed(names_of(new)), listed(names_of(gone))
            rows.append([place, number(solution.error), percent(worse), *words])
        self.screen.heading("The best sets")
        self.screen.table(["rank>", "error>", "worse by>", "with", "instead of"], rows, best=0)
        if len(solutions) > len(rows):
            self.screen.line(f"{len(solutions) - len(rows)} more are not listed.")
