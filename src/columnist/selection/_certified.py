"""Column selection with a proof."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from columnist.constraints import Constraint
from columnist.criteria import Criterion, is_frobenius
from columnist.data import Matrices, open_matrices, open_rows, uses_target
from columnist.data._parameters import Integer, Number, StrOptions
from columnist.data._scales import warn_of_scales
from columnist.data._validation import (
    check_room,
    feature_names,
    random_generator,
    resolve_columns,
    resolve_constraints,
    resolve_size,
)
from columnist.linalg._reduce import Reduced
from columnist.search._certificate import Certificate, warn_unless_optimal
from columnist.search._interrupts import at_once, keeps_answer, raise_pending
from columnist.search._log import Progress
from columnist.search._policies import SEARCHES, WEIGHTS
from columnist.selection._constrained_sizes import ConstrainedSizes
from columnist.selection._proven import claim_of, problem_of, recorded
from columnist.selection._rebuild import Rebuild, rebuild, squared_rest
from columnist.selection._rules import Rules
from columnist.selection._scored import ScoredSelector
from columnist.selection._task import (
    Options,
    Outcome,
    Sizes,
    Solution,
    pool_options,
    warn_if_list_full,
)


class ColumnSelector(ScoredSelector):
    r"""Select the columns that best represent a matrix, with a proof.

    Selects a set S of k columns of X (and, with ``n_components``, as many extracted directions V)
    such that the error

    .. math:: \Theta\left(T - X_S A - V C\right), \quad A, C \text{ optimal},

    is smallest, where the target T is X itself or y. A best-first search returns the selection
    together with a :class:`~columnist.Certificate`: its error, a lower bound on the error of every
    other selection of this size, and the gap between the two.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default=None
        Number of columns; a fraction of them if a float in (0, 1); half if None;
        ``"auto"`` for the fewest with a relative error of at most ``tol``.
    n_components : int, default=0
        Directions extracted in addition to the columns (hybrid low rank).
    criterion : str or Criterion, default="frobenius"
        Error of the residual: ``"frobenius"`` (squared), ``"spectral"``, ``"nuclear"``,
        ``"schatten:<p>"``, ``"kyfan:<k>"`` or an object of :mod:`columnist.criteria`.
    search : {"auto", "optimal", "weighted", "greedy", "optimistic"}, default="auto"
        ``"auto"`` and ``"optimal"`` find a good choice, then search for a proof until the limits
        (``"optimal"`` warns if the proof is incomplete); ``"weighted"`` stops within a
        guarantee set by ``epsilon``; ``"greedy"`` adds the best column each time;
        ``"optimistic"`` starts from that choice and alternates between choice and proof.
    target : {"auto", "X", "y"}, default="auto"
        Target of the approximation; ``"auto"`` means y if ``fit`` gets one.
    centering : {"none", "mean"}, default="none"
        ``"mean"`` adds an intercept.
    epsilon : float, default=0.0
        Weight of the weighted search.
    weight : {"u", "g", "h", "b"}, default="u"
        Figure that ``epsilon`` multiplies: the error u of the partial choice (alias g),
        h = u - f, or the bound b (Frobenius, no components, target X, no ``exclude``).
    include, exclude : sequence of int or str, optional
        Columns that must, or must not, be selected; indices or names.
    constraints : list of Constraint, optional
        Further constraints, from :mod:`columnist.constraints`. With ``Groups``,
        ``n_features_to_select`` counts groups; with ``Budget``, None means any number of columns.
    tol : float, optional
        Relative error for ``n_features_to_select="auto"``.
    n_solutions : int, default=1
        Number of best sets to find and prove; with ``solution_tol``, the maximal length of the
        list, where 1 means 1000.
    solution_tol : float, optional
        List every set whose error is at most ``1 + solution_tol`` times the best.
    input : {"data", "gram"}, default="data"
        ``"gram"`` if X is a Gram or covariance matrix.
    missing : {"raise", "covariance", "pairwise"}, default="raise"
        What to do with missing values (NaN) in X. ``"covariance"`` estimates means and covariances
        for Gaussian data by the EM algorithm, ``"pairwise"`` from the rows that have both values of
        two columns; the selection is proven for these estimates.
    reduction : {"exact", "randomized"}, default="exact"
        ``"randomized"`` projects very large matrices on fewer dimensions; the certificate stays
        valid.
    time_limit : float or None, default=30.0
        Seconds from the call on; ``fit`` returns at most about two seconds later. The pass over a
        Dask collection is not included, and is stated as ``certificate_.preparation``.
    max_nodes : int, optional
        Nodes to expand at most.
    max_memory : float, optional
        Bytes for open nodes; half of the free memory by default.
    max_gap : float, default=0.0
        Relative gap at which the search stops.
    n_jobs : int, optional
        Worker threads; None means 1, -1 all processors.
    random_state : int, RandomState or None, default=None
        Randomness of ``reduction="randomized"``.
    callback : callable, optional
        Receives a :class:`~columnist.search.Progress`; the search stops if it returns true.
    proof : str or path, optional
        File to which a proof is written that :func:`columnist.verify` checks; for
        ``n_features_to_select="auto"``, of the selected size. Data in memory only.
    verbose : bool, default=False
        Print the solver log.

    Attributes
    ----------
    selected_ : ndarray of int
        Selected columns, ascending.
    solutions_ : list of Solution
        The ``n_solutions`` best sets, or those within ``solution_tol``, best first: tuples of
        columns with an ``error``.
    error_ : float
        Error of the selection, recomputed from the data.
    relative_error_ : float
        ``error_`` divided by the criterion of the target itself.
    coef_ : ndarray of shape (n_selected, n_features) or (n_selected, n_targets)
        Coefficients that reconstruct every column (or y) from the selected ones.
    intercept_ : ndarray of shape (n_features,) or (n_targets,)
        Zero unless ``centering="mean"``.
    column_r2_ : ndarray of shape (n_features,)
        Share of every column of X that the selection explains.
    representative_ : ndarray of int of shape (n_features,)
        The selected column with the largest squared cosine to each column.
    components_ : ndarray of shape (n_components, n_features) or (n_components, n_targets)
        Extracted directions.
    certificate_ : Certificate
        The proof. Status "optimal" means that no choice has an error smaller by more than a
        relative 1e-9, where a column of which the others leave less than 1e-13 counts as
        dependent on them; "precision_limit", that double precision cannot decide it; "interrupted",
        that Ctrl-C (or the callback) ended the search after the first choice. Before that
        Ctrl-C raises KeyboardInterrupt.
    n_features_in_ : int
        Number of columns seen by ``fit``.
    feature_names_in_ : ndarray of str
        Names of the columns, if X has any.

    See Also
    --------
    columnist.certify : Certificate for any selection, including ones made by other tools.
    columnist.selection_path : A selection and a certificate for every size.

    References
    ----------
    .. [1] H. Arai, C. Maung, K. Xu, H. Schweitzer. Unsupervised feature selection by
       heuristic search with provable bounds on suboptimality. AAAI, 2016.
    .. [2] B. He, S. Shah, C. Maung, G. Arnold, G. Wan, H. Schweitzer. Heuristic search
       algorithm for dimensionality reduction optimally combining feature selection and
       feature extraction. AAAI, 2019.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from columnist import ColumnSelector
    >>> X = scale(load_wine().data)
    >>> selector = ColumnSelector(3).fit(X)
    >>> selector.selected_
    array([3, 6, 9])
    >>> selector.certificate_.status
    'optimal'
    """

    _parameter_constraints = {
        "n_components": Integer(0),
        "n_solutions": Integer(1),
        "solution_tol": Number(0.0, 1.0, below=True) | None,
        "search": StrOptions(*SEARCHES),
        "weight": StrOptions(*WEIGHTS),
        "input": StrOptions("data", "gram"),
        "missing": StrOptions("raise", "covariance", "pairwise"),
        "reduction": StrOptions("exact", "randomized"),
        "tol": Number(0.0, 1.0) | None,
    }

    def __init__(
        self,
        n_features_to_select: int | float | str | None = None,
        *,
        n_components: int = 0,
        criterion: str | Criterion = "frobenius",
        search: str = "auto",
        target: str = "auto",
        centering: str = "none",
        epsilon: float = 0.0,
        weight: str = "u",
        include: Sequence[int | str] | None = None,
        exclude: Sequence[int | str] | None = None,
        constraints: Sequence[Constraint] | None = None,
        tol: float | None = None,
        n_solutions: int = 1,
        solution_tol: float | None = None,
        input: str = "data",
        missing: str = "raise",
        reduction: str = "exact",
        time_limit: float | None = 30.0,
        max_nodes: int | None = None,
        max_memory: float | None = None,
        max_gap: float = 0.0,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        callback: Callable[[Progress], object] | None = None,
        proof: str | os.PathLike | None = None,
        verbose: bool = False,
    ):
        self.n_features_to_select = n_features_to_select
        self.n_components = n_components
        self.criterion = criterion
        self.search = search
        self.target = target
        self.centering = centering
        self.epsilon = epsilon
        self.weight = weight
        self.include = include
        self.exclude = exclude
        self.constraints = constraints
        self.tol = tol
        self.n_solutions = n_solutions
        self.solution_tol = solution_tol
        self.input = input
        self.missing = missing
        self.reduction = reduction
        self.time_limit = time_limit
        self.max_nodes = max_nodes
        self.max_memory = max_memory
        self.max_gap = max_gap
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.callback = callback
        self.proof = proof
        self.verbose = verbose

    # -- fitting ------------------------------------------------------------------

    @keeps_answer
    def fit(self, X, y=None, sample_weight=None) -> ColumnSelector:
        """Select columns of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Data, or a Gram matrix with ``input="gram"``.
        y : array-like of shape (n_samples,) or (n_samples, n_targets), optional
            Target; class labels become an indicator matrix.
        sample_weight : array-like of shape (n_samples,), optional
            How often each sample counts.

        Returns
        -------
        self
        """
        matrices, options = self._prepare(X, y, sample_weight)
        include, exclude = self._constraints(matrices.n_features, options, matrices)
        proof = recorded(self.proof, matrices, self.reduction, options, self.constraints)
        with matrices.threads(), proof as recorder:
            options, rules = replace(options, recorder=recorder), None
            if self.n_features_to_select == "auto" and not self.constraints:
                outcome = self._fewest(matrices, options, include, exclude)
            else:
                sizes, size = self._asked(matrices, options, include, exclude)
                outcome, rules = sizes.best(size), getattr(sizes, "rules", None)
            if recorder is not None:
                problem = problem_of(matrices, options, outcome, include, exclude, rules)
                recorder.finish(problem, claim_of(outcome, options))
            self._store(matrices, options, outcome)
        return self

    def _options(self) -> Options:
        """Check the parameters that do not depend on the data."""
        self._check_parameters()
        return Options.of(
            self, self.time_limit, weight=self.weight, n_components=int(self.n_components),
            **pool_options(self.n_solutions, self.solution_tol),
        )  # fmt: skip

    def _prepare(self, X, y, sample_weight=None) -> tuple[Matrices, Options]:
        """Check parameters and data, and settle the target."""
        options = self._options()
        gram, uses_y = self.input == "gram", uses_target(self.target, X, y)
        if gram:
            _check_gram_use(uses_y, self.centering)
        if gram and self.missing != "raise":
            raise ValueError("input='gram' has no missing values to estimate: use missing='raise'.")
        if self.proof is not None and self.missing != "raise":
            raise ValueError(
                "proof is about the numbers of the data, and missing values are estimated: leave "
                "out proof, or fill in values."
            )
        with at_once():
            matrices = open_matrices(
                self, X, y, sample_weight=sample_weight, target=uses_y,
                center=self.centering == "mean", gram=gram, missing=self.missing,
                accept_sparse=False if gram else ("csr", "csc"), dtype=np.float64,
                open_y=self._open_target,
            )  # fmt: skip
        names = getattr(self, "feature_names_in_", None)
        warn_of_scales(matrices, names)
        return matrices, replace(
            options,
            names=None if names is None else tuple(map(str, names)),
            workers=matrices.workers,
            # The limit is for the search: a pass may take longer than that.
            deadline=options.deadline + matrices.preparation,
            preparation=matrices.preparation,
        )

    def _constraints(self, n_features: int, options: Options, matrices: Matrices):
        names = getattr(self, "feature_names_in_", None)
        include, exclude = resolve_constraints(self.include, self.exclude, n_features, names)
        if self.weight == "b" and self.search in ("weighted", "optimistic"):
            _check_weight_b(options, matrices, exclude)
        return include, exclude

    def _rules(self, matrices: Matrices, options: Options) -> Rules | None:
        """The constraints, if there are any."""
        if not self.constraints:
            return None
        _check_constrained(self)
        return Rules.of(self.constraints, matrices.n_features, options.names)

    def _asked(
        self, matrices: Matrices, options: Options, include, exclude, name="n_features_to_select"
    ) -> tuple[Sizes, Any]:
        """The problem, and the size that is asked for: None is any."""
        if (rules := self._rules(matrices, options)) is not None:
            rules = rules.asked(self.n_features_to_select, name)
            rules.check(include, exclude, options.names)
            sizes = self._sizes(matrices, options, include, exclude, rules.n_units, rules)
            return sizes, rules.size
        size = resolve_size(self.n_features_to_select, matrices.n_features, name=name)
        check_room(size, include, exclude, matrices.n_features)
        return self._sizes(matrices, options, include, exclude, size), size

    def _sizes(
        self, matrices: Matrices, options: Options, include, exclude, size: int, rules=None
    ) -> Sizes:
        """The problem, for sizes up to this one."""

        def reduce() -> Reduced:
            sketched = self.reduction == "randomized"
            rng = random_generator(self.random_state) if sketched else None
            raise_pending()  # there is nothing to return yet
            reduced = matrices.reduce(self.reduction, size, rng)
            raise_pending()
            return reduced

        if rules is not None:
            return ConstrainedSizes(matrices, reduce, options, include, exclude, rules)
        return Sizes(matrices, reduce, options, include, exclude)

    def _fewest(self, matrices: Matrices, options: Options, include, exclude) -> Outcome:
        """The smallest size whose relative error is at most ``tol``."""
        if self.tol is None:
            raise ValueError("n_features_to_select='auto' needs tol, the relative error to reach.")
        available = matrices.n_features - len(exclude)
        if available < max(1, len(include)):
            raise ValueError("Nothing to select: exclude names every column.")
        return self._sizes(matrices, options, include, exclude, available).fewest(self.tol)

    def _store(self, matrices: Matrices, options: Options, outcome: Outcome) -> None:
        error, subset = outcome.solutions[0]
        self.selected_ = np.array(subset, dtype=np.intp)
        self.solutions_ = [Solution(columns, error) for error, columns in outcome.solutions]
        self.error_ = error
        self.relative_error_ = error / outcome.total if outcome.total > 0.0 else 0.0
        self.certificate_ = outcome.certificate
        # What verdicts on columns follow from.
        self._listed = None if self.solution_tol is None else outcome
        rebuilt: Rebuild = rebuild(matrices, subset, options.n_components)
        self.coef_, self.intercept_ = rebuilt.coef, rebuilt.intercept
        self.column_r2_, self.components_ = rebuilt.r2, rebuilt.components
        self.representative_ = rebuilt.representative
        self._remember(matrices)
        self.certificate_ = replace(self.certificate_, elapsed=options.elapsed)
        warn_if_list_full(outcome, options)
        if self.search == "optimal":
            warn_unless_optimal(self.certificate_)

    # -- used by certify and selection_path ------------------------------------

    def _certify(self, X, y, columns, sample_weight=None) -> tuple[Certificate, Outcome]:
        """Certificate (error and selection only) of given columns, and the best found."""
        matrices, options = self._prepare(X, y, sample_weight)
        given = resolve_columns("columns", columns, matrices.n_features, options.names)
        if not given:
            raise ValueError("columns is empty: name at least one column to certify.")
        include, exclude = self._constraints(matrices.n_features, options, matrices)
        clash = sorted(set(given) & set(exclude) | set(include) - set(given))
        if clash:
            raise ValueError(f"columns contradicts include or exclude at {clash}.")
        with matrices.threads():
            return self._certified(matrices, options, given, include, exclude)

    def _certified(self, matrices: Matrices, options: Options, given, include, exclude):
        size: Any = len(given)
        if (rules := self._rules(matrices, options)) is not None:
            rules = rules.around(given)
            size = rules.size
        sizes = self._sizes(matrices, options, include, exclude, len(given), rules)
        error = sizes.error(given)
        outcome = sizes.best(size, quiet=True, start=[given])
        selection = tuple(sorted(given))
        names = options.names and tuple(options.names[i] for i in selection)
        return Certificate("heuristic", error, 0.0, selection=selection, names=names), outcome

    def _path(self, X, y, max_features, sample_weight=None) -> tuple[list[Outcome], tuple | None]:
        """Outcomes for every size up to ``max_features``, sharing one reduction."""
        matrices, options = self._prepare(X, y, sample_weight)
        include, exclude = self._constraints(matrices.n_features, options, matrices)
        Integer(1).check("max_features", max_features)
        if (rules := self._rules(matrices, options)) is not None:
            rules.check(include, exclude, options.names)
        else:
            check_room(max_features, include, exclude, matrices.n_features)
        with matrices.threads():
            sizes = self._sizes(matrices, options, include, exclude, max_features, rules)
            return sizes.up_to(max_features), options.names

    def _along(
        self, X, y, constraints: Sequence[list[Constraint]], sample_weight=None
    ) -> list[Outcome]:
        """Outcomes for several lists of constraints, each of which allows what the last one did,
        sharing one reduction."""
        matrices, options = self._prepare(X, y, sample_weight)
        include, exclude = self._constraints(matrices.n_features, options, matrices)
        _check_constrained(self)
        outcomes: list[Outcome] = []
        with matrices.threads():
            reduced = matrices.reduce("exact", matrices.n_features, None)
            for at, given in enumerate(constraints):
                rules = Rules.of(given, matrices.n_features, options.names)
                rules = rules.asked(self.n_features_to_select)
                rules.check(include, exclude, options.names)
                now = time.perf_counter()
                share = now + max((options.deadline - now) / (len(constraints) - at), 0.0)
                own = replace(options, deadline=share)
                sizes = ConstrainedSizes(matrices, lambda: reduced, own, include, exclude, rules)
                known = [subset for outcome in outcomes[-1:] for _, subset in outcome.solutions]
                outcomes.append(sizes.best(rules.size, start=known))
        return outcomes

    # -- use ----------------------------------------------------------------------

    def _extracts(self) -> bool:
        return self._rebuilds_x and len(self.components_) > 0

    def transform(self, X):
        """Selected columns in their original order, then the extracted features.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New data.

        Returns
        -------
        array of shape (n_samples, n_selected [+ n_components])
        """
        check_is_fitted(self)
        if not self._extracts():
            return super().transform(X)
        rows = open_rows(self, X, reset=False, accept_sparse=("csr", "csc"), dtype=np.float64)
        return rows.map(self._extract, len(self.selected_) + len(self.components_))

    def _extract(self, X) -> np.ndarray:
        """Selected columns and extracted features of checked data."""
        kept = X[:, self.selected_]
        kept = kept.toarray() if sp.issparse(kept) else kept
        rest = np.asarray(X @ self.components_.T) - self.intercept_ @ self.components_.T
        scores = rest - kept @ (self.coef_ @ self.components_.T)
        return np.hstack([kept, scores])

    def reconstruct(self, X_transformed) -> np.ndarray:
        """Rebuild the target from the output of :meth:`transform`.

        Parameters
        ----------
        X_transformed : array-like of shape (n_samples, n_selected [+ n_components])
            Output of ``transform``.

        Returns
        -------
        ndarray of shape (n_samples, n_features) or (n_samples, n_targets)
        """
        check_is_fitted(self)
        Z = X_transformed.toarray() if sp.issparse(X_transformed) else np.asarray(X_transformed)
        k = len(self.selected_)
        result = Z[:, :k] @ self.coef_ + self.intercept_
        return result + Z[:, k:] @ self.components_ if self._extracts() else result

    def _unexplained(self, matrices: Matrices) -> float:
        fitted = Rebuild(
            self.coef_, self.intercept_, self.column_r2_, self.representative_, self.components_
        )
        return squared_rest(matrices, self.selected_, fitted)

    def inverse_transform(self, X):
        """Put selected columns back in their places, zeros elsewhere.

        Use :meth:`reconstruct` for the best approximation of the other columns.
        """
        check_is_fitted(self)
        if self._extracts():
            X = X[:, : len(self.selected_)] if sp.issparse(X) else np.asarray(X)
            X = X[:, : len(self.selected_)]
        return super().inverse_transform(X)

    def get_feature_names_out(self, input_features=None) -> np.ndarray:
        """Names of the selected columns, then ``component0`` and so on."""
        check_is_fitted(self)
        names = feature_names(self, input_features)[self._get_support_mask()]
        if not self._extracts():
            return names
        extracted = [f"component{i}" for i in range(len(self.components_))]
        return np.concatenate([names, np.array(extracted, dtype=object)])

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.input != "gram"
        tags.input_tags.pairwise = self.input == "gram"
        tags.input_tags.allow_nan = self.missing != "raise"
        return tags


def _check_constrained(selector: ColumnSelector) -> None:
    """Raise for parameters that cannot be combined with constraints."""
    if selector.n_features_to_select == "auto":
        raise ValueError(
            "n_features_to_select='auto' does not go with constraints: give a number, or None with "
            "a Budget."
        )
    if selector.search not in ("auto", "optimal"):
        raise ValueError(
            f"search={selector.search!r} does not go with constraints: use 'auto' or 'optimal'."
        )


def _check_weight_b(options: Options, matrices: Matrices, exclude) -> None:
    fits = is_frobenius(options.criterion) and options.n_components == 0
    if not (fits and matrices.Y is None and not exclude):
        raise ValueError(
            "weight='b' is a bound only for criterion='frobenius', n_components=0, target X and "
            "no excluded columns. Use weight='u' or weight='h'."
        )


def _check_gram_use(uses_y: bool, centering: str) -> None:
    if uses_y:
        raise ValueError("input='gram' has no rows to match y with: use target='X'.")
    if centering != "none":
        raise ValueError("input='gram' cannot be centred afterwards: pass a covariance matrix.")
