"""Selection in two stages: a fast selector finds candidates, an accurate one selects among them."""

from __future__ import annotations

import numbers
import warnings
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.optimize import nnls
from sklearn.base import clone
from sklearn.utils import get_tags

from columnist.criteria import Frobenius
from columnist.data import Matrices, in_memory
from columnist.data._parameters import Methods, Number, StrOptions
from columnist.data._validation import resolve_size
from columnist.linalg._column_parts import summed
from columnist.linalg._passes import (
    column_blocks,
    columns_of,
    energies_along,
    kernel_product,
    squared_norms,
    take_columns,
    without_empty,
)
from columnist.linalg._residual import blocked_energy, chosen_basis
from columnist.linalg._rounding import NEARLY_DEPENDENT as DEPENDENT
from columnist.linalg._second_moment import kernel_blocks, kernel_cost, squared_kernel_norm
from columnist.selection._algebraic import StrongRRQRSelector
from columnist.selection._base import FastSelector
from columnist.selection._certified import ColumnSelector
from columnist.selection._sampling import LeverageSampler, NormSampler

_FITTED = ("quadratic", "clipped")
_WEIGHTS = (*_FITTED, "sampling", "none")
_STAGE = Methods(
    "a selector like UniformSampler(), an object with fit and get_support",
    "fit", "get_support", "get_params",
)  # fmt: skip
# Names of the parameter for the number of columns.
_SIZE_NAMES = ("n_features_to_select", "k", "max_features")
# Warnings of selectors of this package that there is no more rank, which is expected here.
_SHORT = r".*(selected \d+ of \d+ columns|explain everything).*"
_EPS = np.finfo(np.float64).eps
# Eigenvalues of H, and weights, below this share of the largest are dropped.
_SINGULAR = 1e-12
# Entries of dense columns at a time: 256 MB.
_DENSE_ENTRIES = 2**25
# Side of the largest matrix whose eigenvalues sharpen the bound.
_SHARP_SIDE = 1000
# Multiplications that the norm of YY' may cost: about half a minute of one processor.
_NORM_COST = 1e12
# Rounding of the norm of YY' and of what is subtracted from it, as a share.
_NORM_ROUNDING = 1e-13


class TwoStageSelector(FastSelector):
    r"""Propose candidates by a fast selector and select among them by an accurate one.

    Any selector can be first and any second, with or without a target y. A second stage that uses y
    selects among the candidates as they are. For one that does not, the candidates S are scaled to
    :math:`X_1 = S\,\mathrm{diag}(w)` such that

    .. math:: X_1X_1^T \approx YY^T ,

    where the target Y is y or, without one, X itself; columns that explain :math:`X_1` well then
    explain Y well. With few targets most weights are zero. A round therefore takes at most half
    of the candidates with positive weights; the selected columns are projected out of candidates
    and target, and the remaining ones are weighted again, until enough are selected.

    Parameters
    ----------
    first : selector
        Finds the candidates: a selector of this package or of scikit-learn. The open ``rank`` of
        a :class:`~columnist.selection.LeverageSampler` becomes the size of the selection.
    second : selector
        Chooses among them. Its ``n_features_to_select`` (or ``k``, ``max_features``) is the
        size of the selection; a fraction or None counts the columns of X, not the candidates.
    n_candidates : int, float or None, default=None
        Number of candidates, or a fraction of the columns; None means four times the size of
        the selection. A ``first`` without a parameter for its size determines the number.
    weights : {"quadratic", "clipped", "sampling", "none"}, default="quadratic"
        Weights before a second stage that does not use y. ``"quadratic"``: the best ones,
        :math:`\min \|X_1X_1^T - YY^T\|_F`; ``"clipped"``: the solution of the linear system
        without :math:`w \ge 0`, negative entries set to zero; ``"sampling"``:
        :math:`1/\sqrt{p}`, with the ``probabilities_`` of a sampler as first stage, whatever the
        target; ``"none"``: ones.
    gamma : float, default=1e-8
        Regulariser of ``"quadratic"`` and ``"clipped"``, added to a unit diagonal.
    target : {"auto", "X", "y"}, default="auto"
        Target of the approximation; ``"auto"`` means y if ``fit`` gets one. With ``"X"`` no
        stage sees y.
    centering : {"none", "mean"}, default="none"
        ``"mean"`` makes an intercept free, in the weights and in the errors.

    Attributes
    ----------
    selected_ : ndarray of int
        Selected columns, in the second stage's order.
    candidates_ : ndarray of int
        Columns that the first stage selected, in its order.
    weights_ : ndarray of shape (n_candidates,)
        Weights w of the candidates in the first round; ones before a supervised second stage.
    n_rounds_ : int
        How often the candidates were weighted.
    error_ : float
        Squared Frobenius error of the target, recomputed from the data.
    relative_error_ : float
        ``error_`` divided by the squared norm of the target.
    weight_error_ : float
        :math:`\|X_1X_1^T - YY^T\|_F^2` in the last round. NaN, as the next two, before a
        supervised second stage; NaN also if the norm of :math:`YY^T` would take too long (more
        than 50,000 rows and columns, or about :math:`10^{12}` multiplications).
    second_error_ : float
        Squared error of the second stage on its own input, :math:`X_1` of the last round.
    error_bound_ : float
        Bound on ``error_`` from these two: the second stage's error plus the weight of what
        :math:`X_1X_1^T` lacks of :math:`YY^T`.
    first_, second_ : selectors
        The fitted stages; ``second_`` of the last round.
    n_features_in_ : int
        Number of columns seen by ``fit``.
    feature_names_in_ : ndarray of str
        Names of the columns, if X has any.

    Notes
    -----
    y goes to a stage that uses it: to selectors of this package by their ``target``, to others
    if they or the model in their parameter ``estimator`` require y by their tags, or if they
    have a ``score_func``.

    A Dask collection is read once where both stages depend on inner products alone, as most
    selectors of this package do; for other stages it is brought into memory.

    References
    ----------
    .. [1] K. Xu, H. Arai, C. Maung, H. Schweitzer. Two-stage feature selection with
       unsupervised second stage. ICTAI, 2017.
    .. [2] C. Boutsidis, M. W. Mahoney, P. Drineas. An improved approximation algorithm for the
       column subset selection problem. SODA, 2009.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.feature_selection import SelectKBest
    >>> from columnist.selection import PivotedQRSelector, TwoStageSelector
    >>> X, y = load_wine(return_X_y=True)
    >>> selector = TwoStageSelector(SelectKBest(), PivotedQRSelector(3), 8).fit(X, y)
    >>> selector.candidates_
    array([ 0,  1,  5,  6,  9, 10, 11, 12])
    >>> selector.selected_
    array([ 6,  1, 12])
    >>> selector.error_ <= selector.error_bound_
    True
    """

    _parameter_constraints = {
        "first": _STAGE,
        "second": _STAGE,
        "weights": StrOptions(*_WEIGHTS),
        "gamma": Number(0.0, 1e100),
    }

    def __init__(
        self,
        first,
        second,
        n_candidates: int | float | None = None,
        *,
        weights: str = "quadratic",
        gamma: float = 1e-8,
        target: str = "auto",
        centering: str = "none",
    ):
        self.first = first
        self.second = second
        self.n_candidates = n_candidates
        self.weights = weights
        self.gamma = gamma
        self.target = target
        self.centering = centering

    @classmethod
    def lev_ge(
        cls,
        n_features_to_select: int | float | None = None,
        *,
        n_candidates: int | float | None = None,
        weights: str = "quadratic",
        random_state: int | np.random.RandomState | None = None,
    ) -> TwoStageSelector:
        """Leverage sampling, then strong rank-revealing QR (LEV-GE)."""
        first = LeverageSampler(random_state=random_state)
        second = StrongRRQRSelector(n_features_to_select)
        return cls(first, second, n_candidates, weights=weights)

    @classmethod
    def fkv_ge(
        cls,
        n_features_to_select: int | float | None = None,
        *,
        n_candidates: int | float | None = None,
        weights: str = "quadratic",
        random_state: int | np.random.RandomState | None = None,
    ) -> TwoStageSelector:
        """Sampling by squared length, then strong rank-revealing QR (FKV-GE)."""
        first = NormSampler(random_state=random_state)
        second = StrongRRQRSelector(n_features_to_select)
        return cls(first, second, n_candidates, weights=weights)

    _on_passes = True

    def _matrices(self, X, y, **how) -> Matrices:
        y = y if self._uses_target(X, y) else None
        # Stages may remove means themselves.
        matrices = super()._matrices(X, y, **{"means": True, **how})
        # Stages that see other rows than these get a target of these.
        self._y = matrices.Y if matrices.sample or not matrices.is_here else in_memory(y)
        return matrices

    def _needs_rows(self) -> bool:
        return not all(map(_by_products, (self.first, self.second)))

    def _size(self, n_features: int) -> int | None:
        """Size of the selection; None if the second stage decides."""
        name = _size_name(self.second)
        value = None if name is None else getattr(self.second, name)
        half = value is None and name == "n_features_to_select"
        return resolve_size(value, n_features) if half or isinstance(value, numbers.Real) else None

    def _select(self, matrices: Matrices, size: int | None) -> np.ndarray:
        y = self._y
        del self._y
        supervised = _uses_y(self.second, y)
        self._find_candidates(matrices, size, y)
        size = size if size is None else min(size, len(self.candidates_))
        columns = take_columns(matrices.X, self.candidates_)
        if supervised:
            self.weights_, self.n_rounds_ = np.ones(len(self.candidates_)), 1
            picks, errors = self._choose(columns, size, y), StageErrors()
        else:
            picks, errors = self._choose_weighted(matrices, columns, size)
            self.weights_ *= matrices.y_scale / matrices.x_scale
        with np.errstate(over="ignore"):
            square = np.float64(matrices.unit) ** 2
            self.weight_error_ = float(square**2 * errors.weights)
            self.second_error_ = float(square * errors.second)
            self.error_bound_ = float(square * errors.bound)
        return self.candidates_[picks]

    def _find_candidates(self, matrices: Matrices, size: int | None, y) -> None:
        """First stage."""
        name = _size_name(self.first)
        first = clone(self.first)
        if name is not None:
            first.set_params(**{name: self._n_candidates(matrices.n_features, size)})
        elif self.n_candidates is not None:
            raise ValueError(
                f"{type(first).__name__} decides itself how many columns it selects, so "
                f"n_candidates must be None; got {self.n_candidates!r}."
            )
        if isinstance(first, LeverageSampler) and first.rank is None:
            first.set_params(rank=size)
        self.first_ = _fit(first, matrices.X, y)
        self.candidates_ = _selection(self.first_)

    def _n_candidates(self, n_features: int, size: int | None) -> int:
        if self.n_candidates is not None:
            count = resolve_size(self.n_candidates, n_features, name="n_candidates")
            if size is not None and count < size:
                raise ValueError(
                    f"n_candidates={self.n_candidates!r} leaves {count} candidates for a "
                    f"selection of {size} columns: raise it, or leave it None."
                )
            return count
        if size is None:
            raise ValueError(
                f"{type(self.second).__name__} decides itself how many columns it selects: "
                "give n_candidates."
            )
        return min(4 * size, n_features)

    def _choose(self, columns, size: int | None, y=None) -> np.ndarray:
        """Second stage: which of the columns it selects."""
        second = clone(self.second)
        if size is not None:
            second.set_params(**{str(_size_name(second)): size})
        self.second_ = _fit(second, columns, y)
        return _selection(self.second_)

    def _choose_weighted(self, matrices: Matrices, columns, size: int | None):
        """Weigh the candidates, choose, project the choice out, until there are enough."""
        Y = matrices.X if matrices.Y is None else matrices.Y
        Y = Y - Y.mean(axis=0) if matrices.center and matrices.Y is not None else Y
        total = replace(matrices, unit=1.0).error([], Frobenius())
        columns = columns if sp.issparse(columns) else columns.astype(np.float64, copy=False)
        chosen = np.zeros(0, dtype=np.intp)
        self.n_rounds_ = 0
        while self.n_rounds_ == 0 or (size is not None and len(chosen) < size):
            candidates = Candidates.measure(columns, Y, _basis(matrices, columns, chosen), total)
            z = self._squared_weights(candidates)
            z[chosen] = 0.0
            useful = np.flatnonzero(z)
            if self.n_rounds_ == 0:
                self.weights_ = np.sqrt(z)
            elif len(useful) == 0:
                break
            picks = self._choose_useful(candidates, z, useful, size and size - len(chosen))
            chosen = np.append(chosen, picks)
            last = candidates, z, picks
            self.n_rounds_ += 1
        return chosen, stage_errors(*last, Y)

    def _choose_useful(self, candidates: Candidates, z, useful, size: int | None) -> np.ndarray:
        """At most ``size`` of the useful candidates; some candidate if there are none."""
        if len(useful) == 0:
            return np.zeros(1, dtype=np.intp)
        if size is not None:
            # Who has to take all of them has no choice; the weights of the rest get better.
            most = (len(useful) + 1) // 2 if self.weights in _FITTED else len(useful)
            size = min(size, most)
        return useful[self._choose(candidates.weighted(useful, z), size)]

    def _why_short(self, found: int) -> str:
        few = f"the first stage found only {len(self.candidates_)} candidates."
        return few if found == len(self.candidates_) else "the other candidates add nothing."

    def _squared_weights(self, candidates: Candidates) -> np.ndarray:
        inner, energy = candidates.gram, candidates.energy
        if self.weights in _FITTED:
            return best_weights(self.weights, inner, energy, self.gamma)
        z = self._inverse_probabilities() if self.weights == "sampling" else np.ones(len(energy))
        return np.where(np.diag(inner) > 0.0, z, 0.0)

    def _inverse_probabilities(self) -> np.ndarray:
        """z = t / (kp) for a column drawn t times in k draws: on average S diag(z) S' is XX'."""
        if not hasattr(self.first_, "probabilities_"):
            raise ValueError(
                "weights='sampling' needs a sampler with probabilities_ as the first stage, like "
                f"NormSampler or LeverageSampler; got {self.first!r}."
            )
        p = np.asarray(self.first_.probabilities_)[self.candidates_]
        counts = np.asarray(getattr(self.first_, "counts_", np.ones(len(p))), dtype=np.float64)
        return counts / (counts.sum() * p)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        stages = [get_tags(self.first), get_tags(self.second)]
        tags.input_tags.sparse = all(stage.input_tags.sparse for stage in stages)
        tags.target_tags.required = any(stage.target_tags.required for stage in stages)
        return tags


def _size_name(stage) -> str | None:
    """The parameter that says how many columns a selector selects."""
    known = stage.get_params(deep=False)
    return next((name for name in _SIZE_NAMES if name in known), None)


def _by_products(stage) -> bool:
    """Whether a selector sees inner products of columns alone, and reads y as all others do."""
    if isinstance(stage, ColumnSelector):
        return stage.input == "data"
    alike = isinstance(stage, FastSelector) and type(stage)._matrices is FastSelector._matrices
    return alike and not stage._needs_rows()


def _uses_y(stage, y) -> bool:
    """Whether a selector would look at y; an error if it must and there is none."""
    if y is None:
        if get_tags(stage).target_tags.required:
            raise ValueError(
                f"{type(stage).__name__} requires y to be passed, but the target y is None or "
                "target='X'."
            )
        return False
    if isinstance(stage, FastSelector):
        return stage._uses_target(None, y)
    known = stage.get_params(deep=False)
    if "target" in known:
        return known["target"] != "X"
    asked = [stage] if known.get("estimator") is None else [stage, known["estimator"]]
    return "score_func" in known or any(get_tags(each).target_tags.required for each in asked)


def _fit(stage, X, y):
    """Fit a stage, with y if it uses it."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=_SHORT, category=UserWarning)
        y = y if _uses_y(stage, y) else None
        if type(stage).fit is FastSelector.fit:
            stage._begin(X, y)  # without its error, which is not used
            return stage
        X = X if isinstance(stage, FastSelector) else in_memory(X)
        return stage.fit(X) if y is None else stage.fit(X, y)


def _selection(stage) -> np.ndarray:
    """Selected columns, in order of selection where the selector has one."""
    found = getattr(stage, "selected_", None)
    found = stage.get_support(indices=True) if found is None else found
    if len(found) == 0:
        raise ValueError(f"{stage!r} selected no column: ask it for more.")
    return np.asarray(found, dtype=np.intp)


def _basis(matrices: Matrices, columns, chosen: np.ndarray) -> np.ndarray:
    """Orthonormal basis of the chosen columns, and of the constant if means are free."""
    taken = columns_of(columns, chosen)
    if matrices.center:
        taken = np.column_stack([np.ones(len(taken)), taken])
    return chosen_basis(taken.T, range(taken.shape[1]))


@dataclass(frozen=True)
class Candidates:
    """Candidate columns S without their part along Q, which may stand in for a target Y.

    A selection's error on Y depends on YY' alone, so X1 = S sqrt(z) with X1 X1' close to YY' can
    take its place. With G = S'S, H = G*G (by entries) and h_j = |Y's_j|^2, |X1 X1' - YY'|^2 = z'Hz
    - 2h'z + |YY'|^2, z >= 0.
    """

    columns: np.ndarray | sp.spmatrix  # S; zero where a candidate depends on Q
    Q: np.ndarray  # orthonormal basis of the selected columns, and of the constant if it is free
    gram: np.ndarray  # G
    energy: np.ndarray  # h; zero where nothing is gained

    @classmethod
    def measure(cls, S, Y, Q: np.ndarray, whole: float) -> Candidates:
        """Project the columns of S off Q and measure them; ``whole`` is the energy of Y."""
        own = squared_norms(S)
        if Q.shape[1]:
            S = deflated(columns_of(S, slice(None)), Q)
            S[:, squared_norms(S) <= DEPENDENT**2 * own] = 0.0
        inner = _kernel(S.T)
        energy = _energies(Y, S)
        energy[energy <= DEPENDENT**2 * whole * np.diag(inner)] = 0.0
        return cls(S, Q, inner, energy)

    def weighted(self, which: np.ndarray, z: np.ndarray):
        """Some of the columns times the square roots of their z."""
        scale = np.sqrt(z[which])
        part = self.columns[:, which]
        return sp.csc_array(part.multiply(scale)) if sp.issparse(part) else part * scale


class StageErrors(NamedTuple):
    """What the theorem adds up: squared errors of weights and second stage, and their bound."""

    weights: float = np.nan
    second: float = np.nan
    bound: float = np.nan


def best_weights(method: str, inner: np.ndarray, energy: np.ndarray, gamma: float) -> np.ndarray:
    """The z that minimises z'(H + gamma D)z - 2h'z, D the diagonal of H, from G = ``inner``. Over z
    >= 0 ("quadratic"), or over all z with negative ones set to zero then ("clipped"). Columns are
    scaled to unit length first, so that ``gamma`` is relative."""
    z = np.zeros(len(energy))
    kept = np.flatnonzero((energy > 0.0) & (np.diag(inner) > 0.0))
    if len(kept) == 0:
        return z
    squares = np.diag(inner)[kept]
    H = np.square(inner[np.ix_(kept, kept)]) / np.outer(squares, squares)
    h = energy[kept] / squares
    top = h.max()
    root, side, values = _square_root(H + gamma * np.eye(len(kept)), h / top)
    if method == "quadratic":
        solution = nnls(root, side, maxiter=100 * len(kept))[0]
    else:
        solution = np.maximum(root.T @ (side / values), 0.0)
    solution[solution <= _SINGULAR * solution.max()] = 0.0  # rounding
    z[kept] = top * solution / squares
    return z


def _square_root(H: np.ndarray, h: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A and b with A'A = H and A'b = h, and the eigenvalues kept: z'Hz - 2h'z is |Az - b|^2."""
    values, vectors = np.linalg.eigh(H)
    kept = values > _SINGULAR * values[-1]
    values, vectors = values[kept], vectors[:, kept]
    return np.sqrt(values)[:, None] * vectors.T, (vectors.T @ h) / np.sqrt(values), values


def _kernel(X) -> np.ndarray:
    """XX' for an X with few rows."""
    return np.vstack([block for _, block in kernel_blocks(X)])


@summed  # S is made dense where the parts of Y are
def _energies(Y, S) -> np.ndarray:
    """Squared lengths of Y's for every column s: one pass over Y if S fits into 256 MB."""
    _, Y = without_empty(Y)
    width = max(1, _DENSE_ENTRIES // S.shape[0])
    starts = range(0, S.shape[1], width)
    # Stored by rows: a product with a sparse Y would copy anything else.
    parts = (np.ascontiguousarray(columns_of(S, slice(i, i + width))) for i in starts)
    return np.concatenate([energies_along(Y, part) for part in parts])


def deflated(columns: np.ndarray, Q: np.ndarray) -> np.ndarray:
    """Columns without their part along the orthonormal Q."""
    rest = columns - Q @ (Q.T @ columns)
    return rest - Q @ (Q.T @ rest)  # the second pass restores orthogonality


def stage_errors(candidates: Candidates, z: np.ndarray, picks: np.ndarray, Y) -> StageErrors:
    r"""Errors of both stages, and a bound on the selection's error: the second stage's own plus the
    sum of the f most negative eigenvalues of :math:`E = X_1X_1^T - YY^T` (projected off Q), at most
    :math:`\sqrt{f \|E\|_F^2}`; f = min(m - rank of all selected, columns of Y). Bounds include a
    margin for rounding, and are NaN where the norm of :math:`YY^T` costs too much."""
    X1 = candidates.weighted(np.flatnonzero(z), z)
    basis = chosen_basis(columns_of(candidates.columns, picks).T, range(len(picks)))
    blocks = column_blocks(X1.shape[1], X1.shape[0])
    second = sum(blocked_energy(columns_of(X1, block), basis) for block in blocks)
    rank = candidates.Q.shape[1] + basis.shape[1]
    free = max(min(X1.shape[0] - rank, Y.shape[1]), 0)
    m, joint = Y.shape[0], Y.shape[1] + X1.shape[1]
    if min(m, joint) <= _SHARP_SIDE and (m <= joint or m * joint <= _DENSE_ENTRIES):
        weights, excess = _from_spectrum(X1, Y, candidates.Q, free)
    else:
        weights, excess = _from_norms(candidates, z, Y, free)
    return StageErrors(weights, second, second + excess if free else second)


def _from_spectrum(X1, Y, Q: np.ndarray, free: int) -> tuple[float, float]:
    """Squared norm of E, and minus the sum of its ``free`` most negative eigenvalues."""
    m, q = Y.shape
    X1 = columns_of(X1, slice(None))
    if q + X1.shape[1] < m:
        rest = deflated(columns_of(Y, slice(None)), Q)
        R: Any = np.linalg.qr(np.hstack([X1, rest]), mode="r")
        ours, theirs = R[:, : X1.shape[1]], R[:, X1.shape[1] :]
        ours, theirs = ours @ ours.T, theirs @ theirs.T
    else:
        ours = X1 @ X1.T
        theirs = deflated(deflated(_kernel(Y), Q).T, Q)
    values = np.linalg.eigvalsh(ours - theirs)
    margin = len(values) * _EPS * float(np.trace(ours) + squared_norms(Y).sum())
    return float(values @ values), margin - float(np.minimum(values[:free], 0.0).sum())


def _from_norms(candidates: Candidates, z: np.ndarray, Y, free: int) -> tuple[float, float]:
    """Squared norm of E by its formula, and the square root that bounds the eigenvalues."""
    if kernel_cost(Y) > _NORM_COST:
        return np.nan, np.nan
    whole = left = squared_kernel_norm(Y)
    if candidates.Q.shape[1]:
        image = kernel_product(Y, candidates.Q)
        inside = candidates.Q.T @ image
        left += float(np.vdot(inside, inside)) - 2.0 * float(np.vdot(image, image))
    ours = float(z @ (np.square(candidates.gram) @ z))
    weights = max(left - 2.0 * float(candidates.energy @ z) + ours, 0.0)
    margin = _NORM_ROUNDING * (whole + ours)
    return weights, float(np.sqrt(free * (weights + margin)))
