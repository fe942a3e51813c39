"""The linear map of a predictor, and its directions.

The map comes from coefficients, models and pipelines; its directions are ordered by how well they
can be removed, completely or in part.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.decomposition import PCA, IncrementalPCA, TruncatedSVD
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectorMixin
from sklearn.frozen import FrozenEstimator
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier, MultiOutputRegressor
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.utils.validation import check_array, check_is_fitted

# Models that only pass on to another one.
_INNER = ("best_estimator_", "regressor_")
_MANY = (MultiOutputRegressor, MultiOutputClassifier, OneVsRestClassifier)
# Rows of the unit matrix that are transformed together.
_BLOCK = 256
# A transformer is affine if it maps random points of these sizes to where it should.
_SIZES, _TOLERANCE = (1e-2, 1.0, 1e3), 1e-6
_EPS, _TINY = np.finfo(np.float64).eps, np.finfo(np.float64).tiny
# Gains below this share of the largest are rounding.
_NO_GAIN = 1e-12
# Spending moves what is left of a row by at most so many times its length; hiding confidential
# outputs for free moves rows by at most so many times theirs, in the root mean square.
REACH = 10.0


def is_model(thing) -> bool:
    """Whether this is an estimator rather than an array."""
    return hasattr(thing, "fit")


def is_unfitted(model) -> bool:
    """Whether a model has still to be fitted."""
    try:
        check_is_fitted(_thawed(model))
    except NotFittedError:
        return True
    return False


def coefficients_of(predictor, n_features: int | None = None, *, name: str = "predictor"):
    """The matrix A, n_outputs x n_features, of a predictor that computes some function of Ax. From
    coefficients, a linear model, a neural network (its first layer), a multi-output or
    one-versus-rest collection of linear models, a search over or a pipeline to one of these."""
    found = _from_model(predictor, name) if is_model(predictor) else predictor
    if isinstance(found, str) or not hasattr(found, "__len__"):
        raise ValueError(
            f"{name} must be coefficients (n_outputs, n_features) or a scikit-learn model; "
            f"got {found!r}."
        )
    found = found.toarray() if sp.issparse(found) else np.asarray(found)
    found = check_array(
        found[None] if found.ndim == 1 else found, dtype=np.float64, input_name=name
    )
    if n_features is not None and found.shape[1] != n_features:
        raise ValueError(
            f"{name} has coefficients for {found.shape[1]} features, but X has {n_features}: "
            "pass the rows as the predictor sees them."
        )
    return found


def precision_of(predictor) -> float:
    """Rounding of the coefficients of a predictor, relative to the largest. A model that was fitted
    in single precision has coefficients of that precision, even if they are stored in another
    type."""
    if not is_model(predictor):
        dtype = np.dtype(getattr(predictor, "dtype", np.float64))
        return float(np.finfo(dtype if dtype.kind == "f" else np.float64).eps)
    model = _thawed(predictor)
    if isinstance(model, Pipeline):
        return precision_of(model[-1])
    if isinstance(model, _MANY):
        return max(precision_of(part) for part in model.estimators_)
    inner = [getattr(model, name) for name in _INNER if hasattr(model, name)]
    return precision_of(inner[0] if inner else _from_model(model, "predictor"))


def _thawed(model):
    return model.estimator if isinstance(model, FrozenEstimator) else model


def _from_model(model, name: str) -> np.ndarray:
    """Coefficients of a fitted model with respect to its input."""
    model = _thawed(model)
    if is_unfitted(model):
        raise ValueError(f"{name} is not fitted: fit {model} first.")
    if isinstance(model, Pipeline):
        coef = np.atleast_2d(_from_model(model[-1], name))
        for _, transformer in reversed(model.steps[:-1]):
            coef = pull_back(coef, _thawed(transformer))
        return coef
    if isinstance(model, _MANY):
        return np.vstack([np.atleast_2d(_from_model(m, name)) for m in model.estimators_])
    for inner in _INNER:
        if hasattr(model, inner):
            return _from_model(getattr(model, inner), name)
    if hasattr(model, "coefs_"):  # a neural network
        return model.coefs_[0].T
    if isinstance(model, (PCA, IncrementalPCA, TruncatedSVD)):
        return pull_back(np.eye(len(model.components_)), model)
    try:
        coef = model.coef_
    except AttributeError:
        raise ValueError(
            f"{name} does not begin with a linear map: {model} has no coef_. Pass a linear model, "
            "a neural network, a pipeline that ends in one, or the coefficients."
        ) from None
    return coef.toarray() if sp.issparse(coef) else coef


def pull_back(coef: np.ndarray, transformer) -> np.ndarray:
    """Coefficients with respect to what goes into an affine transformer, from those of its output.
    Scalers, selectors, PCA and truncated SVD are read; any other is tried out on the unit vectors,
    and refused if it does not map other points accordingly."""
    if transformer is None or transformer == "passthrough":
        return coef
    if getattr(transformer, "clip", False):
        raise ValueError(
            f"{transformer} clips values, so it is not affine: set clip=False, or pass the "
            "coefficients of a predictor without it."
        )
    if isinstance(transformer, (StandardScaler, RobustScaler, MaxAbsScaler)):
        return coef if transformer.scale_ is None else coef / transformer.scale_
    if isinstance(transformer, MinMaxScaler):
        return coef * transformer.scale_
    if type(transformer) in (PCA, IncrementalPCA, TruncatedSVD):
        if getattr(transformer, "whiten", False):
            coef = coef / np.sqrt(transformer.explained_variance_)
        return coef @ transformer.components_
    if isinstance(transformer, SelectorMixin):
        support = np.asarray(transformer.get_support())
        if len(transformer.get_feature_names_out()) == support.sum():  # a few append others
            wide = np.zeros((len(coef), len(support)))
            wide[:, support] = coef
            return wide
    return _tried_out(coef, transformer)


def _tried_out(coef: np.ndarray, transformer: BaseEstimator) -> np.ndarray:
    """The linear part by its values at the unit vectors, a block at a time."""
    n = transformer.n_features_in_ if hasattr(transformer, "n_features_in_") else None
    if n is None:
        raise ValueError(_refusal(transformer, "it does not tell its number of features"))
    origin = _outputs(np.zeros((1, n)), transformer, coef)
    found = np.empty((len(coef), n))
    for start in range(0, n, _BLOCK):
        unit = np.eye(min(_BLOCK, n - start), n, k=start)
        found[:, start : start + len(unit)] = (_outputs(unit, transformer, coef) - origin).T
    rng = np.random.default_rng(0)
    for size in _SIZES:
        points = size * rng.standard_normal((3, n))
        expected, seen = points @ found.T + origin, _outputs(points, transformer, coef)
        if not np.allclose(seen, expected, rtol=_TOLERANCE, atol=_TOLERANCE * np.abs(seen).max()):
            raise ValueError(_refusal(transformer, "it is not an affine map of the features"))
    return found


def _outputs(points: np.ndarray, transformer, coef: np.ndarray) -> np.ndarray:
    """Outputs for points that go into the transformer."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            seen = transformer.transform(_named(points, transformer))
        except Exception as error:
            raise ValueError(_refusal(transformer, f"it fails on unit vectors: {error}")) from error
    seen = seen.toarray() if sp.issparse(seen) else np.asarray(seen, dtype=np.float64)
    return seen @ coef.T


def _named(points: np.ndarray, transformer):
    """Points with the column names that the transformer knows, if it knows any."""
    names = getattr(transformer, "feature_names_in_", None)
    if names is None:
        return points
    try:
        from pandas import DataFrame
    except ImportError:
        return points
    return DataFrame(points, columns=names)


def _refusal(transformer, reason: str) -> str:
    return (
        f"The linear map of {transformer} cannot be obtained: {reason}. Pass the coefficients of "
        "the predictor with respect to the features that are to be cleaned."
    )


@dataclass(frozen=True)
class Directions:
    r"""Coordinates of a row and the way back. With :math:`a = U^T x` the cleaned row is
    :math:`\tilde x = B(a - \text{removed})`, and :math:`\tau = a M` are coordinates in which
    removing shares :math:`\alpha` changes the outputs by :math:`\sum \alpha_j^2 \tau_j^2`, in units
    of ``scale`` squared."""

    basis: np.ndarray
    """U (n_features, rank): orthonormal, spans what the predictor reads."""
    rebuild: np.ndarray
    """B (n_features, rank): rows with the same outputs."""
    strengths: np.ndarray
    """Singular values of the coefficients over ``scale``, beside the columns of U."""
    scale: float
    """Largest singular value of the coefficients."""
    starts: np.ndarray
    """First coordinate of every group that may be removed."""
    n_spendable: int
    """Coordinates that may be removed; removing others would gain nothing."""
    mix: np.ndarray | None = None
    """M (rank, rank); None for a diagonal of ``strengths``."""
    stretch: float = 1.0
    """Largest singular value of B: how far rows may be moved."""
    dropped: float = 0.0
    """Strength of the strongest direction that the basis leaves out."""
    too_far: float = 0.0
    """How many times longer rows would become by the moves that are not made; 0 if all are."""

    @property
    def rank(self) -> int:
        """Number of directions the predictor reads."""
        return self.basis.shape[1]

    def coordinates(self, a: np.ndarray) -> np.ndarray:
        """Tau of rows of a."""
        return a * self.strengths if self.mix is None else a @ self.mix

    def keep(self, a: np.ndarray, tau: np.ndarray, kept: np.ndarray) -> np.ndarray:
        """Rows of a of which only the shares ``kept`` of the first columns of tau are left.
        Directions that hardly cost anything may be moved far at little gain: no row moves by more
        than ten times its length, at the price of some tolerance that is not spent. The arguments
        are overwritten."""
        touched = kept.shape[1]
        if self.mix is None:
            a[:, :touched] *= kept
            return a
        # M = diag(strengths) Z with orthogonal Z, so its inverse is Z' diag(1 / strengths).
        removed = (tau[:, :touched] * (1.0 - kept)) @ self.mix[:, :touched].T / self.strengths**2
        far, near = lengths(removed), REACH * lengths(a)
        removed *= np.where(far > near, near / np.where(far > near, far, 1.0), 1.0)[:, None]
        everything = (touched == self.rank) & ~kept.any(axis=1)
        return np.where(everything[:, None], 0.0, a - removed)


def lengths(rows: np.ndarray) -> np.ndarray:
    """Euclidean lengths of rows, without squares that overflow or vanish."""
    largest = np.abs(rows).max(axis=1, initial=0.0)
    unit = np.where(largest > 0.0, largest, 1.0)
    return largest * np.sqrt(np.square(rows / unit[:, None]).sum(axis=1))


def without_confidential(coef: np.ndarray, cut: float = 0.0) -> Directions:
    """Weak directions first: no secret is known, so what is removed should be long. Directions that
    are read more weakly than ``cut`` times the strongest are left out; those at the level of
    rounding always are."""
    U, s, scale, _, dropped = _read(coef, cut)
    U, s = U[:, ::-1], s[::-1]  # an ascending order is the order of removal
    return Directions(U, U, s, scale, _starts(s, 1.0), len(s), dropped=dropped)


def against_confidential(
    coef: np.ndarray,
    confidential: np.ndarray,
    cut: float = 0.0,
    precision: float = _EPS,
    typical: np.ndarray | None = None,
) -> Directions:
    r"""Directions ordered by their information about confidential outputs per change of the
    outputs.

    With :math:`A = PSU^T` the coefficients and C the confidential ones, a row is first moved within
    the null space of A to where :math:`\|Cx\|` is least: :math:`B = U - N`, :math:`N = (C(I -
    UU^T))^+ CU`. The singular vectors of :math:`E = (CB) S^{-1}` order the directions: the
    generalized eigenvectors of :math:`A^TA` and :math:`C^TC`, but nothing is squared.

    Directions of :math:`C(I - UU^T)` at the level of the rounding of C (``precision``, relative to
    its rows) are none, and those that would make typical rows more than ten times as long are not
    used. ``typical`` holds second moments of what the predictor reads of rows of root-mean-square
    length 1, by default of any. Rows are not moved along what ``cut`` leaves out.
    """
    U, s, scale, weak, dropped = _read(coef, cut)
    whole = np.hstack([U, weak])
    C = confidential / (np.abs(confidential).max() or 1.0)
    C = C / (np.linalg.norm(C, 2) or 1.0)
    inside = C @ U
    L, d, R = _outside(C, whole, precision)
    moves = (L.T @ inside) / d[:, None]
    near, too_far = _within_reach(moves, d, U if typical is None else typical @ U, precision)
    L, moves = L[:, near], moves[near]
    rebuild = U - _project_out(R[:, near], whole) @ moves
    left = (inside - L @ (L.T @ inside)) / s
    # All right singular vectors, those of zeros included.
    m, r = left.shape
    _, gains, Zt = scipy.linalg.svd(left, full_matrices=m < r, check_finite=False)
    gains = np.pad(gains, (0, r - len(gains)))
    spendable = int(np.sum(gains > _NO_GAIN * max(1.0, gains[0]))) if len(gains) else 0
    mix = s[:, None] * Zt.T
    starts = _starts(gains[:spendable], gains[0] if spendable else 1.0)
    stretch = float(np.linalg.norm(rebuild, 2)) if len(s) else 1.0
    return Directions(U, rebuild, s, scale, starts, spendable, mix, stretch, dropped, too_far)


def _outside(
    C: np.ndarray, read: np.ndarray, precision: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Singular vectors and values of what is left of C beside directions that are read. What is at
    the level of rounding is nothing, by row and by direction: in proportion to the lengths of the
    rows of C, as they take part in the direction."""
    units = 4.0 * sum(np.sqrt(C.shape))
    rounding = units * precision * lengths(C)
    rest = _project_out(C.T, read).T
    rest[lengths(rest) <= rounding] = 0.0
    L, d, Rt = scipy.linalg.svd(rest, full_matrices=False, check_finite=False)
    real = d > lengths(L.T * rounding) + units * _EPS * d.max(initial=0.0)
    return L[:, real], d[real], Rt[real].T


def _within_reach(
    moves: np.ndarray, d: np.ndarray, typical: np.ndarray, precision: float
) -> tuple[np.ndarray, float]:
    """Which moves do not carry typical rows too far, and how far the others would. The shortest are
    made first. Those of equal singular values d have no basis of their own: all of them are made,
    or none. Moves that would take half of their digits from the coordinates of a row are none, as
    if the confidential outputs were a function of those of the predictor."""
    if not moves.size:
        return np.zeros(len(d), dtype=bool), 0.0
    groups = _starts(d, d[0])
    any_row, far = (
        np.add.reduceat(np.square(lengths(each)), groups) for each in (moves, moves @ typical.T)
    )
    known = any_row < 1.0 / precision
    order = np.argsort(np.where(known, far, np.inf), kind="stable")
    near = np.empty(len(far), dtype=bool)
    near[order] = np.cumsum(far[order]) <= REACH**2
    near &= known
    sizes = np.diff(groups, append=len(d))
    return np.repeat(near, sizes), float(np.sqrt(far[known & ~near].sum()))


def _read(coef: np.ndarray, cut: float) -> tuple[np.ndarray, np.ndarray, float, np.ndarray, float]:
    """Right singular vectors, singular values over the largest, the largest.

    Also directions that are read, but left out, and the largest strength left out.
    """
    unit = np.abs(coef).max(initial=0.0) or 1.0
    _, s, Vt = scipy.linalg.svd(coef / unit, full_matrices=False, check_finite=False)
    largest = s[0] if len(s) and s[0] > 0.0 else 1.0
    read = int(np.sum(s > max(coef.shape) * _EPS * largest))
    rank = int(np.sum(s[:read] > cut * largest))
    dropped = float(s[rank] / largest) if rank < len(s) else 0.0
    return Vt[:rank].T, s[:rank] / largest, float(largest * unit), Vt[rank:read].T, dropped


def _project_out(columns: np.ndarray, U: np.ndarray) -> np.ndarray:
    """Columns without their part in the span of U; twice, for the first leaves rounding."""
    for _ in range(2):
        columns = columns - U @ (U.T @ columns)
    return columns


def _starts(values: np.ndarray, largest: float) -> np.ndarray:
    """First index of every run of values that are equal up to rounding."""
    near = 1e3 * _EPS * max(len(values), 10) * largest
    return np.flatnonzero(np.abs(np.diff(values, prepend=np.inf)) > near)


def fractional_knapsack(costs: Iterable[np.ndarray], budgets: np.ndarray) -> np.ndarray:
    r"""Shares b (n_rows, n_taken) that solve one fractional knapsack a row.

    .. math:: \max \sum_j b_j g_j \quad \text{s.t.} \quad \sum_j b_j c_j \le B, \; 0 \le b_j \le 1,

    for items in decreasing order of :math:`g_j / c_j`: take them one by one until the budget is
    spent, the last one in part. No more are asked for when all budgets are spent, not even such
    that cost nothing; their shares are zero. No input validation.
    """
    room, shares = budgets, []
    for cost in costs:
        fits = room >= cost
        shares.append(np.where(fits, 1.0, room / np.where(fits, 1.0, cost)))
        room = np.maximum(room - cost, 0.0)
        if not room.any():
            break
    return np.stack(shares, axis=1) if shares else np.empty((len(budgets), 0))


def removed_shares(
    coordinates: np.ndarray, tolerances: np.ndarray, starts: np.ndarray, *, per_row_order: bool
) -> np.ndarray:
    r"""Shares a of the first coordinates to remove, :math:`\sum_j a_j^2 \tau_j^2 \le \epsilon`.
    Tolerances are roots of :math:`\epsilon`. Coordinates of a group, from one of ``starts`` to the
    next, have one share, so that the basis within it does not matter. ``per_row_order`` takes the
    cheapest first, as if every direction gained the same. No input validation."""
    sizes = np.diff(starts, append=coordinates.shape[1])
    # In units of the tolerance nothing but a cost too high to pay can overflow.
    unit = np.maximum(tolerances, _TINY)
    budgets = (tolerances > 0.0).astype(np.float64)
    with np.errstate(over="ignore", under="ignore"):
        costs = (
            np.sum((coordinates[:, start : start + size] / unit[:, None]) ** 2, axis=1)
            for start, size in zip(starts, sizes, strict=True)
        )
        if per_row_order:  # groups gain their sizes
            each = np.stack([*costs], axis=1)
            order = np.argsort(each / sizes, axis=1, kind="stable")
            taken = fractional_knapsack(np.take_along_axis(each, order, axis=1).T, budgets)
            shares = np.zeros_like(each)
            np.put_along_axis(shares, order[:, : taken.shape[1]], taken, axis=1)
        else:
            shares = fractional_knapsack(costs, budgets)
    return np.repeat(np.sqrt(shares), sizes[: shares.shape[1]], axis=1)
