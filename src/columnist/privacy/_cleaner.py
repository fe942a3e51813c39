"""Cleaning the null space of a predictor: rows keep its outputs and little else."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.linalg
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin, clone
from sklearn.linear_model import LinearRegression
from sklearn.utils.validation import check_is_fitted

from columnist._warn import warn_caller
from columnist.data._parameters import FINITE, ParameterChecks, StrOptions
from columnist.data._target import resolve_target
from columnist.data._validation import read_data
from columnist.privacy._evaluation import PrivacyReport, make_report
from columnist.privacy._predictor import (
    REACH,
    Directions,
    against_confidential,
    coefficients_of,
    is_model,
    is_unfitted,
    lengths,
    precision_of,
    removed_shares,
    without_confidential,
)
from columnist.privacy._printed import PrintedDirections

_EPS = np.finfo(np.float64).eps
# Entries that are cleaned together: they stay in the cache from one product to the next.
_BLOCK = 1 << 17
# Directions that move the outputs of a row of usual length by less than this share of the
# tolerance, and are this much weaker than the strongest, are not worth moving the row for.
_NEGLIGIBLE, _WEAK = 1e-3, 1e-4
# No row ends up farther from the mean than so many times where it was, or rows of fit usually are.
_LONGEST = 100.0


class NullSpaceCleaner(ParameterChecks, OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    r"""Remove from every row what a predictor does not need.

    A predictor that begins with a linear map, :math:`f(Ax)`, does not depend on the component of x
    in the null space of A. Cleaning removes this part of each row, and further parts as far as the
    outputs allow: each row x becomes :math:`\tilde x` with

    .. math:: \|A x - A \tilde x\|^2 \le \text{utility},

    for every row, seen or not, in single and in double precision, whatever the rank of A. The
    predictor works on cleaned rows without changes. :math:`\tilde x` reveals the outputs, and what
    can be inferred from them, but nothing else about x.

    Without ``confidential`` the directions that the predictor reads most weakly go first:
    this maximises :math:`\|x - \tilde x\|`, and with it the expected error of an adversary with
    coefficients in a random direction (the first algorithm of Xu 2017, with the gains that its
    claim needs). With ``confidential`` the row is moved to where those outputs are nearest to their
    mean, and the tolerance is spent on what they still have in common with the predictor (the
    second algorithm, corrected).

    Parameters
    ----------
    predictor : array-like of shape (n_outputs, n_features), model or None, default=None
        Coefficients as in ``coef_``; or a fitted linear model, neural network (its first layer),
        or pipeline that ends in one, with affine steps before it; or such a model to be fitted
        in ``fit(X, y)``. None is linear regression of y, one output per class where y holds
        labels. A model that was fitted loses its fit when the cleaner is cloned, as in a grid
        search: freeze it (:class:`sklearn.frozen.FrozenEstimator`) or pass its coefficients.
    utility : float, default=0.0
        The tolerance: by how much, in squared norm, the outputs Ax of a row may move. The outputs
        are those of the linear map: decision values, log-odds, inputs of the first hidden layer.
        With 0 they are kept up to the rounding of the outputs of the given row. The tolerance holds
        for outputs computed in double precision from the cleaned rows; outputs computed in single
        precision add their own rounding, which matters where the tolerance is smaller than that.
    confidential : array-like, fitted model or None, default=None
        The confidential outputs: coefficients (n_secrets, n_features), a fitted model of the same
        kinds as ``predictor``, or labels of the rows of ``fit``, from which linear regression
        learns the coefficients. With None, no particular secret is protected.
    centering : {"mean", "none"}, default="mean"
        The point towards which rows are moved when directions are removed: the mean of the rows of
        ``fit``, or the origin, as in the literature.
    gain : {"distance", "count", "printed"}, default="distance"
        The gain of removing a direction if nothing confidential is given: the squared
        length that it takes from the row, or, as printed, the same for all. ``"printed"`` needs
        ``confidential`` and is the second algorithm as printed: its directions are those of an
        eigenvalue problem that is singular for most data, so what it removes depends on the
        solver. Rows that it would move too far are cleaned in the other way.

    Attributes
    ----------
    coef_ : ndarray of shape (n_outputs, n_features)
        The linear map A whose outputs are kept.
    confidential_coef_ : ndarray of shape (n_secrets, n_features) or None
        Coefficients of what is confidential.
    components_ : ndarray of shape (rank, n_features)
        Orthonormal directions that the predictor reads; a cleaned row is determined by ``rank``
        numbers.
    singular_values_ : ndarray of shape (rank,)
        How strongly it reads them.
    n_removed_ : int
        Dimensions that are removed from every row: ``n_features_in_`` less the rank.
    mean_ : ndarray of shape (n_features,)
        The point towards which rows are moved.
    predictor_ : model or None
        The model, fitted; None if coefficients were given.
    n_features_in_ : int
        Number of columns seen by ``fit``.
    feature_names_in_ : ndarray of str
        Names of the columns, if X has any.

    See Also
    --------
    columnist.privacy.attack : Evaluates an adversary who retrains on cleaned rows.
    columnist.privacy.laplace_noise : Noise with the same effect on the outputs.

    Notes
    -----
    A cleaned row is computed only from the coordinates of x along the directions of A, so that even
    its last digits contain no other information about x.

    A row whose outputs are within the tolerance of those at the mean becomes the mean.

    Confidential outputs that nearly follow from the predictor's can be hidden only by moving rows
    very far. Rows of ``fit`` are moved by no more than ten times their length (root mean square),
    and no row ends up more than a hundred times as far from the mean as it was, or as rows of
    ``fit`` usually are. ``fit`` warns where that leaves a part of the confidential outputs. What
    is at the level of the rounding of the confidential coefficients counts as nothing.

    Every cleaned row is checked against its tolerance, rounding included; part of the tolerance is
    reserved for rounding when the outputs are computed in the precision of the rows. A row that has
    to move too far to be represented well enough is moved less. Where the tolerance is smaller than
    the rounding of any cleaned row, the row stays as it is, with a warning. Directions that the
    predictor reads more weakly than its coefficients are known (single precision, say) count as not
    read, as far as the tolerance bears it.

    References
    ----------
    K. Xu. *Feature Engineering for Data Analytics.* PhD dissertation, The University of Texas at
    Dallas, 2017. Chapter 9.

    Examples
    --------
    The predictor needs the difference of two features, but not their sum.

    >>> import numpy as np
    >>> from columnist.privacy import NullSpaceCleaner
    >>> X = np.array([[3.0, 1.0], [4.0, 2.0], [5.0, 1.0], [6.0, 5.0]])
    >>> cleaner = NullSpaceCleaner([[1.0, -1.0]], centering="none").fit(X)
    >>> cleaner.transform(X).round(6) + 0.0
    array([[ 1. , -1. ],
           [ 1. , -1. ], [ 2. , -2. ], [ 0.5, -0.5]])
    """

    _parameter_constraints = {"utility": FINITE, "gain": StrOptions("distance", "count", "printed")}

    def __init__(
        self, predictor=None, *, utility=0.0, confidential=None, centering="mean", gain="distance"
    ):
        self.predictor = predictor
        self.utility = utility
        self.confidential = confidential
        self.centering = centering
        self.gain = gain

    def fit(self, X, y=None):
        """Find the directions that the predictor reads.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows like those to be cleaned: their mean is used, and coefficients that are not given
            are estimated from them.
        y : array-like of shape (n_samples,) or (n_samples, n_targets), optional
            Target of the predictor. Needed only if ``predictor`` is None or not fitted.

        Returns
        -------
        self
        """
        self._check_parameters()
        given, X = X, read_data(self, X, dtype=(np.float64, np.float32))
        n_features = X.shape[1]
        self.predictor_ = self._fitted_predictor(given, X, y)
        source = self.predictor if self.predictor_ is None else self.predictor_
        self._check_names(source)
        self.coef_ = coefficients_of(source, n_features)
        secret = self._secret_source(X)
        self.confidential_coef_ = (
            None if secret is None else coefficients_of(secret, n_features, name="confidential")
        )
        centred = self.centering == "mean"
        self.mean_ = X.mean(axis=0, dtype=np.float64) if centred else np.zeros(n_features)
        self._store_directions(X, precision_of(source), precision_of(secret))
        return self

    def _fitted_predictor(self, given, X: np.ndarray, y):
        """The model, fitted to y and X as given, unless fitted before; None for coefficients."""
        if self.predictor is not None and not is_model(self.predictor):
            return None
        if self.predictor is not None and not is_unfitted(self.predictor):
            return self.predictor
        if y is None:
            what = "predictor=None" if self.predictor is None else "an unfitted predictor"
            raise ValueError(
                f"NullSpaceCleaner with {what} requires y to be passed, but the target y is None: "
                "pass y, the coefficients of the predictor, or a fitted model."
            )
        if self.predictor is None:
            return LinearRegression().fit(X, resolve_target(y, len(X)))
        return clone(self.predictor).fit(given, y)

    def _check_names(self, model) -> None:
        """Columns in another order than the model's would be cleaned of the wrong things."""
        theirs = getattr(model, "feature_names_in_", None)
        ours = getattr(self, "feature_names_in_", None)
        if theirs is not None and ours is not None and not np.array_equal(theirs, ours):
            raise ValueError(
                "X has other column names than the rows the predictor was fitted to, or the same "
                "in another order: pass the columns as the predictor sees them."
            )

    def _secret_source(self, X: np.ndarray):
        """The source of the confidential coefficients, given or estimated."""
        if self.confidential is None:
            return None
        if is_model(self.confidential):
            self._check_names(self.confidential)
        elif _holds_labels(self.confidential, X.shape):
            return LinearRegression().fit(X, resolve_target(self.confidential, len(X)))
        return self.confidential

    def _store_directions(self, X: np.ndarray, precision: float, secret: float) -> None:
        n_outputs, n_features = self.coef_.shape
        # Rounding of single coefficients, and errors of their computation.
        self._cut = 4.0 * (np.sqrt(n_outputs) + np.sqrt(n_features)) * precision
        self._precision = max(precision, secret)
        self._guard = Guard(self.coef_)
        self._as_printed = None
        if self.gain == "printed":
            if self.confidential_coef_ is None:
                raise ValueError('gain="printed" needs confidential: what must not be guessed.')
            self._as_printed = PrintedDirections(self.coef_, self.confidential_coef_)
        self._store_typical(X - self.mean_)
        self._found: dict[float, Directions] = {}
        found = self._directions(self._cut)
        self.components_ = found.basis.T
        self.singular_values_ = found.strengths * found.scale
        self.n_removed_ = self.n_features_in_ - found.rank
        used = found if self.utility == 0.0 else next(self._ways(found))[0]
        if used.too_far > 0.0:
            warn_caller(
                "Confidential outputs nearly follow from the outputs of the predictor: to hide "
                f"all of them, cleaned rows would have to be {used.too_far:.2g} times as long as "
                f"the rows of fit. Rows are moved by at most {REACH:g} times their length, so part "
                "of the confidential outputs remains in the cleaned rows. To hide it, allow a "
                "larger utility, or use a predictor whose outputs do not reveal it."
            )

    def _store_typical(self, centred: np.ndarray) -> None:
        """How long rows are, and how the predictor reads them: limits to how far they are moved."""
        long = lengths(centred)
        unit = long.max() or 1.0
        self._spread = float(unit * np.sqrt(np.mean(np.square(long / unit))))
        self._typical = None
        if self.confidential_coef_ is not None and self._spread > 0.0:
            U = without_confidential(self.coef_).basis
            a = (centred / self._spread) @ U / np.sqrt(len(centred))
            self._typical = np.linalg.qr(a, mode="r") @ U.T

    def _directions(self, cut: float) -> Directions:
        """Directions without those that are read more weakly, found once."""
        if cut not in self._found:
            secret = self.confidential_coef_
            self._found[cut] = (
                without_confidential(self.coef_, cut)
                if secret is None
                else against_confidential(self.coef_, secret, cut, self._precision, self._typical)
            )
        return self._found[cut]

    def transform(self, X):
        """Cleaned rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, seen by the fit or not.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            Of the type of X, if that is float32 or float64.
        """
        check_is_fitted(self)
        X = read_data(self, X, dtype=(np.float64, np.float32), reset=False)
        if self.n_removed_ == 0 and self.utility == 0.0:
            warn_caller(
                f"The predictor reads all {self.n_features_in_} directions of the features: at "
                "utility=0 nothing can be removed, and the rows stay as they are. Allow a "
                "tolerance, or use a predictor with fewer outputs."
            )
        cleaned = np.empty(X.shape, dtype=X.dtype)
        step, n_left = max(64, _BLOCK // X.shape[1]), 0
        for start in range(0, len(X), step):
            rows = X[start : start + step]
            cleaned[start : start + step], left = self._clean(rows)
            n_left += left
        if n_left:
            warn_caller(
                f"{n_left} of {len(X)} rows stay as they are: the tolerance of {self.utility:g} is "
                f"less than the rounding of their outputs in {X.dtype}. Allow more, or pass rows "
                "of a higher precision."
            )
        return cleaned

    def _clean(self, rows: np.ndarray) -> tuple[np.ndarray, int]:
        """Cleaned rows of one block, and how many of them had to stay as they are. Ways of cleaning
        are tried from the thorough to the cautious, each on the rows whose outputs moved too far by
        those before."""
        found = self._directions(self._cut)
        if self.utility == 0.0:
            return self._clean_for_free(found, rows), 0
        cleaned, open_ = np.empty_like(rows), np.arange(len(rows))
        if self._as_printed is not None:
            printed = self._as_printed.cleaned(rows - self.mean_, self.utility) + self.mean_
            cleaned = printed.astype(rows.dtype)
            open_ = open_[~self._guard.holds(rows, cleaned, self.utility)]
            if not len(open_):
                return cleaned, 0
        for directions, spend in self._ways(found):
            broken = self._try(directions, spend, rows[open_], out := np.empty_like(rows[open_]))
            cleaned[open_], open_ = out, open_[broken]
            if not len(open_):
                return cleaned, 0
        cleaned[open_] = rows[open_]
        return cleaned, len(open_)

    def _clean_for_free(self, found: Directions, rows: np.ndarray) -> np.ndarray:
        """Rows whose outputs are kept up to the rounding of those of the given rows.

        A row that would become too long for that is not moved away from the secret.
        """
        cleaned = self._rebuilt(found, rows, None)
        if self.confidential_coef_ is None:
            return cleaned
        unread = found.scale * found.dropped * lengths(rows - self.mean_)
        broken = ~self._guard.keeps(rows, cleaned, self._sizes(rows), unread)
        broken |= self._too_long(found, rows, cleaned)
        if broken.any():
            plain = without_confidential(self.coef_, self._cut)
            cleaned[broken] = self._rebuilt(plain, rows[broken], None)
        return cleaned

    def _too_long(self, found: Directions, rows: np.ndarray, cleaned: np.ndarray) -> np.ndarray:
        """Which rows were moved too far from the mean."""
        if found.stretch * (1.0 + REACH) <= _LONGEST:
            return np.zeros(len(rows), dtype=bool)
        with np.errstate(invalid="ignore"):  # rows beyond their type have no length
            before, after = (lengths(each - self.mean_) for each in (rows, cleaned))
        return ~(after <= _LONGEST * np.maximum(before, self._spread))

    def _try(self, found: Directions, spend: bool, rows: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Clean rows in one way; which of them broke the promise. Room is left for rounding by the
        length that cleaned rows should have. Those that become longer get a second try, by the
        length that they had."""
        before, open_ = self._sizes(rows), np.arange(len(rows))
        sizes = before + found.stretch * before
        for _ in range(2):
            part = rows[open_]
            room = self._room(found, part, sizes) if spend else None
            tried = out[open_] = self._rebuilt(found, part, room)
            broken = ~self._guard.holds(part, tried, self.utility)
            broken |= self._too_long(found, part, tried)
            open_ = open_[broken]
            if not len(open_) or not spend:
                break
            with np.errstate(invalid="ignore"):  # rows beyond their type have no length
                sizes = sizes[broken] + 2.0 * lengths(tried[broken].astype(np.float64))
            sizes = np.where(np.isfinite(sizes), sizes, np.inf)
        return open_

    def _ways(self, found: Directions) -> Iterator[tuple[Directions, bool]]:
        """Directions, and whether to spend the tolerance on them, in the order of trying."""
        if self.confidential_coef_ is not None and self._spread > 0.0:
            # Weak directions are removed outright: else rows would be moved far along them to
            # hide little.
            free = _NEGLIGIBLE * np.sqrt(self.utility) / found.scale / self._spread
            cut = float(min(free, _WEAK))
            if np.any(found.strengths <= cut):
                yield self._directions(cut), True
        if found.n_spendable:
            yield found, True
        yield found, False
        yield without_confidential(self.coef_), False

    def _rebuilt(self, found: Directions, rows: np.ndarray, room: np.ndarray | None) -> np.ndarray:
        """Rows from their coordinates alone, rounded once; the tolerance is spent on the
        coordinates as far as there is room."""
        a = rows.astype(np.float64) @ found.basis - self.mean_ @ found.basis
        if room is not None and found.n_spendable:
            tau = found.coordinates(a)
            cheapest_first = self.gain == "count" and found.mix is None
            shares = removed_shares(
                tau[:, : found.n_spendable], room, found.starts, per_row_order=cheapest_first
            )
            a = found.keep(a, tau, 1.0 - shares)
        cleaned = a @ found.rebuild.T + self.mean_
        with np.errstate(over="ignore"):  # a row beyond its type is tried in another way
            return cleaned.astype(rows.dtype, copy=False)

    def _sizes(self, rows: np.ndarray) -> np.ndarray:
        """Lengths of rows and of the mean, together."""
        return lengths(rows.astype(np.float64)) + float(lengths(self.mean_[None])[0])

    def _room(self, found: Directions, rows: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        """Roots of the budgets, in units of the coordinates, less the shares of rounding and of
        directions that are left out."""
        reserve = self._guard.reserve(sizes, rows.dtype) / found.scale
        if found.dropped > 0.0:
            reserve += found.dropped * lengths(rows - self.mean_)
        return np.maximum(np.sqrt(self.utility) / found.scale - reserve, 0.0)

    def report(self, X, y_confidential=None) -> PrivacyReport:
        """Report what cleaning these rows keeps and removes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows as they were before cleaning.
        y_confidential : array-like of shape (n_samples,) or (n_samples, n_secrets), optional
            Confidential values or labels of the rows. With it, the report states how well linear
            models predict them before and after; :func:`~columnist.privacy.attack` does so for
            other models.

        Returns
        -------
        PrivacyReport
        """
        cleaned = np.asarray(self.transform(X))
        X = read_data(self, X, dtype=(np.float64, np.float32), reset=False)
        return make_report(self, X, cleaned, y_confidential)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        to_fit = is_model(self.predictor) and is_unfitted(self.predictor)
        tags.target_tags.required = self.predictor is None or to_fit
        tags.target_tags.multi_output = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _holds_labels(given, shape: tuple[int, int]) -> bool:
    """Whether an array holds labels of the rows rather than coefficients of the features."""
    (n, p), size = shape, np.shape(given)
    numbers = np.asarray(given).dtype.kind == "f"
    as_labels = size[:1] == (n,)
    as_coefficients = len(size) in (1, 2) and size[-1:] == (p,)
    if as_labels and as_coefficients and (numbers or len(size) == 2):
        raise ValueError(
            f"confidential has the shape {size}, which fits labels of the {n} rows as well as "
            f"coefficients of the {p} features: pass a fitted model instead."
        )
    if not as_labels and not as_coefficients:
        raise ValueError(
            f"confidential has the shape {size}: it must hold labels of the {n} rows of X, or "
            f"coefficients of its {p} features, one secret a row."
        )
    return as_labels


class Guard:
    """Checks cleaned rows against the tolerance of their outputs."""

    def __init__(self, coef: np.ndarray):
        self.unit = np.abs(coef).max(initial=0.0) or 1.0
        coef = coef / self.unit
        if coef.shape[0] > coef.shape[1]:  # outputs of the same length from fewer products
            coef = scipy.linalg.qr(coef, mode="r", check_finite=False)[0][: coef.shape[1]]
        self.coef = coef
        self.size = float(np.linalg.norm(coef))

    def reserve(self, sizes: np.ndarray, dtype) -> np.ndarray:
        """Part of the tolerance to leave to rounding, for rows of these lengths together."""
        return self._of_the_user(sizes, dtype) + self._of_the_check(sizes)

    def _of_the_user(self, sizes: np.ndarray, dtype) -> np.ndarray:
        """Rounding of cleaned rows, and of outputs computed in the precision of the rows.

        Errors of sums of many terms grow with the root of their number.
        """
        units = (4.0 + np.sqrt(self.coef.shape[1])) * np.finfo(dtype).eps
        return units * self.unit * self.size * sizes

    def _of_the_check(self, sizes: np.ndarray) -> np.ndarray:
        """Rounding of the check: every sum of products errs by its number of terms at most."""
        return (sum(self.coef.shape) + 4.0) * _EPS * self.unit * self.size * sizes

    def moved(self, rows: np.ndarray, cleaned: np.ndarray) -> np.ndarray:
        """Upper bounds on how far the outputs moved, in the norm; not finite where unknown."""
        with np.errstate(invalid="ignore", over="ignore"):
            change = rows.astype(np.float64) - cleaned
            return self.unit * lengths(change @ self.coef.T) + self._of_the_check(lengths(change))

    def holds(self, rows: np.ndarray, cleaned: np.ndarray, utility: float) -> np.ndarray:
        """Whether the outputs of every row moved by no more than the tolerance. Where the precision
        of the rows can resolve the tolerance, some of it is reserved for the rounding of a later
        check."""
        with np.errstate(invalid="ignore"):
            sizes = lengths(rows.astype(np.float64)) + lengths(cleaned.astype(np.float64))
        tolerance, reserve = np.sqrt(utility), self._of_the_user(sizes, rows.dtype)
        limit = np.where(reserve < tolerance, tolerance - 0.5 * reserve, tolerance)
        return self.moved(rows, cleaned) <= limit

    def keeps(
        self, rows: np.ndarray, cleaned: np.ndarray, sizes: np.ndarray, unread: np.ndarray
    ) -> np.ndarray:
        """Whether the outputs of every row are kept up to the rounding of rows of these lengths.

        What moves by leaving out directions that count as not read is allowed for.
        """
        with np.errstate(invalid="ignore", over="ignore"):
            change = self.unit * lengths((rows.astype(np.float64) - cleaned) @ self.coef.T)
        return change <= 2.0 * self._of_the_user(sizes, rows.dtype) + unread
