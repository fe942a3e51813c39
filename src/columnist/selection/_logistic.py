r"""Best subsets for classification: bounds of nodes by relaxation of the penalised log-loss.

With R = Q - Y for any probabilities Q (:mod:`columnist.selection._log_loss`) every choice that
contains S and t of the candidates C has at least the objective

.. math:: \sum_i H(q_i) - \sum_{j \in S} g_j - \sum_{t\text{ largest in } C} g_j,
          \qquad g_j = \lVert x_j^T R \rVert^2 / 4\alpha .

The best Q are the probabilities of the relaxation

.. math:: \min_{b,\,z} \; \sum_i \mathrm{loss}_i(Xb) + \alpha \sum_j \lVert b_j \rVert^2 / z_j,
          \qquad z_S = 1, \; 0 \le z \le 1, \; \sum_{j \in C} z_j = t,

found by Newton's method: each quadratic model, on the few columns that have coefficients or should
have, is minimised by :mod:`columnist.selection._descent`, and one product with R tells g of all
others. Columns are divided by the square root of alpha, so that alpha is 1.

No input validation.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.linalg.lapack import dposv
from scipy.optimize import minimize

from columnist.data._weights import WeightedRows
from columnist.linalg._passes import columns_of, squared_norms
from columnist.linalg._rounding import UNIT
from columnist.linalg._threads import single_threaded_blas
from columnist.search._interrupts import expired
from columnist.selection._active import Relaxed, shares
from columnist.selection._descent import descend
from columnist.selection._log_loss import DualPoint, Fit, LogLoss
from columnist.selection._wide import WideColumns

# Operations below which more than one BLAS thread only costs.
_SMALL = 1e8
# Fits that are remembered.
_REMEMBERED = 4096
# Looks at the bound of a node, sweeps between them, halvings of a step.
_LOOKS, _SWEEPS, _HALVINGS = 16, 6, 6
# How often shares and coefficients of a model are solved for in turn.
_ALTERNATIONS = 3
# What stands for a number between 1 and 2.
_BETWEEN = 1.5
# Share of the gap that coefficients may leave where the threshold is out of reach.
_SETTLED = 0.1
# Columns that join the model at a time.
_JOIN = 24
# Coefficients of all columns that are fitted by Newton's method; steps for more.
_FEW, _LEAST_STEPS = 100, 60
# Candidates whose estimate is replaced by a fit.
_FITTED = 8
# Lengths of columns, relative to the root of alpha, that can be squared and summed.
_LONGEST = 1e100


@dataclass(frozen=True)
class ClassData:
    """Checked data: what :class:`columnist.selection._task.Sizes` asks of them, and fits.

    Attributes
    ----------
    X : ndarray or sparse array of shape (n, p)
        The columns.
    Y : ndarray of int of shape (n,)
        Class of each row, from 0 on; every class has a row.
    center : bool
        Whether intercepts are free.
    ridge : float
        What squared coefficients cost; positive.
    weights : ndarray of shape (n,) or None
        How often each row counts.
    rows : WeightedRows or None
        The same rows, and which of those that were given they are.
    """

    X: Any
    Y: np.ndarray
    center: bool
    ridge: float
    weights: np.ndarray | None = None
    rows: WeightedRows | None = None
    gram = False
    target_kind = "classes"
    workers = missing = None
    preparation = 0.0
    _known: dict[tuple[int, ...], Fit] = field(default_factory=dict, repr=False)

    @property
    def n_samples(self) -> float:
        """Number of rows, or the sum of their weights."""
        return self.X.shape[0] if self.weights is None else float(self.weights.sum())

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.X.shape[1]

    @property
    def n_targets(self) -> int:
        """Free coefficients for each column: those of all classes may move together."""
        return self.loss.n_classes - 1

    @cached_property
    def loss(self) -> LogLoss:
        """The loss of all rows."""
        return LogLoss(self.Y, self.center, self.weights)

    @cached_property
    def columns(self) -> _Columns:
        """The columns, ready for products."""
        kind = _SparseColumns if sp.issparse(self.X) else _DenseColumns
        return kind(self.X, self.center, float(np.sqrt(self.ridge)))

    def threads(self) -> AbstractContextManager:
        """One BLAS thread for small matrices, as many as there are otherwise."""
        m, n = self.X.shape
        return single_threaded_blas() if m * n * min(m, n) < _SMALL else nullcontext()

    def take_rows(self, rows: np.ndarray) -> ClassData:
        """The same for some rows; classes that these do not have are left out."""
        present, codes = np.unique(self.Y[rows], return_inverse=True)
        if len(present) < 2:
            raise ValueError("The training rows of a fold hold one class: use stratified folds.")
        weights = self.weights_of(rows)
        return replace(self, X=self.X[rows], Y=codes, weights=weights, rows=None, _known={})

    def weights_of(self, rows: np.ndarray) -> np.ndarray | None:
        """Weights of some rows, if they have any."""
        return None if self.weights is None else self.weights[rows]

    def take_columns(self, columns: np.ndarray) -> ClassData:
        """The same for some columns."""
        if len(columns) == self.n_features:
            return self
        return replace(self, X=self.X[:, columns], _known={})

    # -- fits -----------------------------------------------------------------------

    def fit(self, subset: Sequence[int] | np.ndarray) -> Fit:
        """The fit of some columns; those of late are remembered."""
        key = tuple(sorted(int(i) for i in subset))
        fit = self._known.get(key)
        if fit is None:
            fit = self.loss.fit(self.columns.rows(np.array(key, dtype=np.intp)))
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            self._known[key] = fit
        return fit

    def coefficients(self, subset: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients (k, q) of ascending columns as they are, and intercepts."""
        fit, columns = self.fit(subset), self.columns
        coef = fit.coef / columns.root
        return coef, fit.intercept - columns.means[list(subset)] @ coef

    def interval(self, subset, *_: Any) -> tuple[float, float]:
        """Where the objective of a choice lies."""
        fit = self.fit(subset)
        return fit.low, fit.high

    def error(self, subset, *_: Any) -> float:
        """The objective of a choice."""
        return self.fit(subset).value


class _DenseColumns:
    """Columns without their means, divided by the root of alpha: the rows of A.

    That subtraction rounds each number by itself: with a free intercept columns may be moved by
    whatever their means were rounded to.
    """

    def __init__(self, X: np.ndarray, center: bool, root: float):
        self.root, self.means = root, np.zeros(X.shape[1])
        if center:
            self.means = X.mean(axis=0)
            self.means = self.means + (X - self.means).mean(axis=0)  # sums of large numbers round
        self.A = np.ascontiguousarray(((X - self.means) / root).T)
        self.norms = np.linalg.norm(self.A, axis=1)

    def rows(self, which: np.ndarray) -> np.ndarray:
        """Some columns, as rows."""
        return self.A[which]

    def products(self, R: np.ndarray, which: np.ndarray) -> np.ndarray:
        """Products of some columns with R."""
        if 2 * len(which) > len(self.A):
            return (self.A @ R)[which]
        return self.A[which] @ R

    def back(self, b: np.ndarray) -> np.ndarray:
        """All columns times coefficients."""
        return self.A.T @ b

    def squares(self, weights: np.ndarray) -> np.ndarray:
        """Weighted squared lengths of all columns."""
        return np.einsum("ij,ij,j->i", self.A, self.A, weights)


class _SparseColumns:
    """The same for sparse columns, whose means are removed from products alone. Lengths are those
    before that, to which the rounding of products is relative."""

    def __init__(self, X, center: bool, root: float):
        self.root, self.X = root, X.tocsc()
        self.means = np.zeros(X.shape[1])
        if center:
            self.means = np.asarray(self.X.mean(axis=0)).ravel()
        self.turned = self.X.T.tocsr()
        self.norms = np.sqrt(squared_norms(self.X / root))

    def rows(self, which: np.ndarray) -> np.ndarray:
        """Some columns, as dense rows."""
        return np.ascontiguousarray((columns_of(self.X, which) - self.means[which]).T / self.root)

    def products(self, R: np.ndarray, which: np.ndarray) -> np.ndarray:
        """Products of some columns with R."""
        every = 2 * len(which) > self.turned.shape[0]
        products = np.asarray((self.turned if every else self.turned[which]) @ R)
        products = products[which] if every else products
        return (products - np.outer(self.means[which], R.sum(axis=0))) / self.root

    def back(self, b: np.ndarray) -> np.ndarray:
        """All columns times coefficients."""
        return np.asarray(self.X @ (b / self.root)) - self.means @ b / self.root

    def squares(self, weights: np.ndarray) -> np.ndarray:
        """Weighted squared lengths of all columns."""
        first, second = self.turned @ weights, self.turned.power(2) @ weights
        moved = second - self.means * (2.0 * first - self.means * weights.sum())
        return np.maximum(moved, 0.0) / self.root**2


def _times(P: np.ndarray, B: np.ndarray) -> np.ndarray:
    """PB, output by output."""
    q, n = B.shape
    return np.stack([P[j * n : (j + 1) * n] @ B[j] for j in range(q)])


_Columns = _DenseColumns | _SparseColumns


def check_lengths(data: ClassData) -> None:
    """Raise if columns are too long, beside the penalty, for any arithmetic."""
    largest = float(abs(data.X).max()) if data.X.size else 0.0
    if largest / np.sqrt(data.ridge) * np.sqrt(data.n_samples) > _LONGEST:
        raise ValueError(
            f"X has entries of {largest:.2g}, for which alpha={data.ridge:g} is no penalty at all: "
            "scale the columns (StandardScaler), or raise alpha."
        )


class _Model(NamedTuple):
    """Coefficients (q, n) of chosen columns and candidates, the scores and the relaxed value."""

    B: np.ndarray
    eta: np.ndarray
    value: float


class LogisticForm:
    """The objective of all columns, as :class:`columnist.selection._wide.WideColumns` asks for it;
    :class:`columnist.selection._active.GramForm` is the one of squared errors."""

    # Deadline after which a node returns its current bound.
    deadline = np.inf

    def __init__(self, data: ClassData):
        self.data, self.loss, self.columns = data, data.loss, data.columns
        self.total, self.least = data.error(()), self._least()

    def until(self, deadline: float) -> LogisticForm:
        """The same with a deadline."""
        form = copy(self)
        form.deadline = deadline
        return form

    @property
    def n_items(self) -> int:
        """Number of columns."""
        return self.data.n_features

    def _least(self) -> float:
        """Lower bound of the objective of all columns."""
        p, q = self.n_items, self.loss.n_outputs
        every = np.arange(p)
        if p * q <= _FEW:
            return self.data.fit(every).low

        def objective(x: np.ndarray):
            b, intercept = x[: p * q].reshape(p, q), x[p * q :]
            eta = self.columns.back(b) + intercept
            R = self.loss.responses(eta)
            slope = np.append(self.columns.products(R, every) + 2.0 * b, R.sum(axis=0))
            return float(self.loss.losses(eta).sum() + np.vdot(b, b)), slope * free

        free = np.append(np.ones(p * q), np.full(q, float(self.loss.center)))
        x = np.append(np.zeros(p * q), self.loss.start())
        x = minimize(objective, x, jac=True, options={"maxiter": _LEAST_STEPS}, method="L-BFGS-B").x
        eta = self.columns.back(x[: p * q].reshape(p, q)) + x[p * q :]
        point = self.loss.point(self.loss.centered(eta)[0])
        g = self._gains(point, every)
        return max(point.entropy - float(g.sum()) * (1.0 + 2.0 * (p + 4) * UNIT), 0.0)

    def narrowed(self, chosen: np.ndarray, candidates: np.ndarray) -> LogisticForm:
        """None: chosen columns cannot be eliminated."""
        raise np.linalg.LinAlgError("The log-loss is not quadratic.")

    def error(self, chosen: np.ndarray) -> float:
        """Lower bound of the objective of these columns."""
        return self.data.fit(chosen).low

    def additions(self, chosen: np.ndarray, candidates: np.ndarray, threshold: float) -> np.ndarray:
        """Lower bounds of the objective of the chosen columns and each candidate, of which those
        that reach the threshold need not be distinguished."""
        relaxed = self.relax(chosen, candidates, 1, threshold)
        return relaxed.base - relaxed.g * (1.0 + 4.0 * UNIT)

    def estimates(self, chosen: np.ndarray, candidates: np.ndarray) -> np.ndarray:
        r"""About the objective of the chosen columns and each candidate: what the quadratic model
        at the fit of the chosen ones says, and fits of the best. With several outputs the model is
        diagonal: :math:`q_c (1 - q_c)`, times what makes it right for equal probabilities."""
        fit, loss = self.data.fit(chosen), self.loss
        order = np.sort(chosen)
        A = self.columns.rows(order)
        Z = np.vstack([A, np.ones((int(loss.center), loss.n_samples))])
        R = loss.responses(A.T @ fit.coef + fit.intercept)
        curvatures = loss.curvatures(R)
        if loss.n_outputs > 1:
            curvatures *= loss.n_classes / (loss.n_classes - 1.0)
        slopes = self.columns.products(R, candidates)
        gains = np.zeros(len(candidates))
        for slope, h in zip(slopes.T, curvatures.T, strict=True):
            weighted = Z * h
            M = weighted @ Z.T
            np.einsum("ii->i", M)[: len(A)] += 2.0
            cross = self.columns.products(weighted.T, candidates)
            inner = np.einsum("ij,ij->i", cross, np.linalg.lstsq(M, cross.T, rcond=None)[0].T)
            heights = self.columns.squares(h)[candidates] - inner
            gains += np.square(slope) / (2.0 * (2.0 + np.maximum(heights, 0.0)))
        errors = fit.value - gains
        best = np.argsort(errors, kind="stable")[:_FITTED]
        fitted = [self.data.fit([*chosen, candidates[i]]).value for i in best]
        # The model promises much: what was not fitted is not better than what was.
        errors = np.maximum(errors, max(fitted))
        errors[best] = fitted
        return errors

    # -- one node -------------------------------------------------------------------

    def relax(
        self,
        chosen: np.ndarray,
        candidates: np.ndarray,
        t: int,
        threshold: float,
        start: np.ndarray | None = None,
    ) -> Relaxed:
        """The bound of a node; solved until it is closed or the threshold is out of reach."""
        node = _NodeModel(self, chosen, candidates, t)
        model = node.begin(start)
        best: Relaxed | None = None
        price = 0.0
        for _ in range(_LOOKS):
            point = self.loss.point(model.eta)
            found, slopes = node.look(point, model)
            if best is None or found.bound > best.bound:
                best = found
            room = threshold - best.bound
            left = model.value - best.bound
            if room <= 0.0 or (model.value < threshold and left <= _SETTLED * room):
                break
            if left <= 1e-9 * abs(model.value) or expired(self.deadline):
                break
            new, price = node.step(model, point, slopes, price)
            if not new.value < model.value:
                break
            model = new
        assert best is not None
        return best

    def _gains(self, point: DualPoint, items: np.ndarray) -> np.ndarray:
        """g, not less than it is."""
        return self._charged(self.columns.products(point.R, items), point, items)

    def _charged(self, slopes: np.ndarray, point: DualPoint, items: np.ndarray) -> np.ndarray:
        off = self.columns.norms[items] * point.charge(self.loss.n_samples)
        return 0.25 * np.square(np.linalg.norm(slopes, axis=1) + off) * (1.0 + 16.0 * UNIT)


class _NodeModel:
    """The relaxation of one node: chosen columns first, then candidates, of which t are chosen."""

    def __init__(self, form: LogisticForm, chosen: np.ndarray, candidates: np.ndarray, t: int):
        self.form, self.loss, self.columns, self.t = form, form.loss, form.columns, t
        self.n_chosen = len(chosen)
        self.items = np.concatenate([chosen, candidates])

    def begin(self, start: np.ndarray | None) -> _Model:
        """Coefficients to start from."""
        B = np.zeros((self.loss.n_outputs, len(self.items)))
        if start is not None:
            B[:, self.n_chosen :] = start.T
        return self.model(B)

    def model(self, B: np.ndarray) -> _Model:
        """These coefficients with their best intercepts."""
        used = np.flatnonzero(B.any(axis=0))
        eta = self.columns.rows(self.items[used]).T @ B[:, used].T + self.loss.start()
        eta = self.loss.centered(eta)[0]
        value = float(self.loss.losses(eta).sum()) + self._penalty(B)
        return _Model(B, eta, value)

    def _lengths(self, B: np.ndarray) -> np.ndarray:
        return np.linalg.norm(B[:, self.n_chosen :], axis=0)

    def _penalty(self, B: np.ndarray) -> float:
        lengths = self._lengths(B)
        z = shares(lengths, self.t)
        some = z > 0.0
        own = float(np.square(B[:, : self.n_chosen]).sum())
        return own + float((np.square(lengths[some]) / z[some]).sum())

    def look(self, point: DualPoint, model: _Model) -> tuple[Relaxed, np.ndarray]:
        """The bound of a point, and products of all columns with its R."""
        slopes = self.columns.products(point.R, self.items)
        g = self.form._charged(slopes, point, self.items)
        own, free, n = g[: self.n_chosen], g[self.n_chosen :], len(g) - self.n_chosen
        base = point.entropy - float(own.sum()) * (1.0 + 2.0 * len(own) * UNIT)
        base -= 8.0 * UNIT * (abs(point.entropy) + abs(base))
        top = float(np.partition(free, n - self.t)[n - self.t :].sum())
        bound = base - top * (1.0 + 2.0 * (n + 4) * UNIT)
        z = shares(self._lengths(model.B), self.t)
        start = model.B[:, self.n_chosen :].T.astype(np.float32)
        return Relaxed(bound, base, free, z, start), slopes

    def step(
        self, model: _Model, point: DualPoint, slopes: np.ndarray, price: float
    ) -> tuple[_Model, float]:
        """A step of Newton's method on the columns that matter, halved until it helps."""
        B, c = model.B, self.n_chosen
        squares = 0.25 * np.square(slopes[c:]).sum(axis=1)
        price = price or self._price(B, squares)
        which = self._working(B, squares, price)
        P = self._second(self.columns.rows(self.items[which]), point)
        new, U = B[:, which].copy(), np.ascontiguousarray(-0.5 * slopes[which].T)
        at = np.arange(len(which), dtype=np.int32)
        cross = U + _times(P, new)
        price = descend(P, np.ones(len(which)), at[:c], at[c:], self.t, new, U, price, _SWEEPS)
        new = self._solved(P, cross, new)
        for _ in range(_HALVINGS):
            trial = np.zeros_like(B)
            trial[:, which] = new
            found = self.model(trial)
            if found.value < model.value:
                break
            new = 0.5 * (new + B[:, which])
        return found, price

    def _solved(self, P: np.ndarray, cross: np.ndarray, B: np.ndarray) -> np.ndarray:
        """Better coefficients of the model: the best ones for the shares, and shares of these."""
        q, n = B.shape
        for _ in range(_ALTERNATIONS):
            z = np.append(np.ones(self.n_chosen), shares(self._lengths(B), self.t))
            used = np.flatnonzero(z > 0.0)
            if not len(used):
                break
            B = np.zeros_like(B)
            for j in range(q):
                M = P[j * n : (j + 1) * n][np.ix_(used, used)]
                np.einsum("ii->i", M)[:] += 1.0 / z[used]
                _, x, info = dposv(M, cross[j, used], lower=1)
                B[j, used] = x if info == 0 else 0.0
            if q > 1:  # coefficients that move together change no loss
                B -= B.mean(axis=0)
        return B

    def _second(self, Z: np.ndarray, point: DualPoint) -> np.ndarray:
        r"""Half of the second derivatives, with the best intercepts, one form below the other.

        Of those by two classes at once only their size is used: :math:`\mathrm{diag}(q) - qq^T` is
        between 1 and 2 times :math:`q_c(1 - q_c)` on scores that sum to zero.
        """
        curvatures = self.loss.curvatures(point.R) * (1.0 if self.loss.n_outputs == 1 else _BETWEEN)
        forms = []
        for h in curvatures.T:
            weighted = Z * h
            P = weighted @ Z.T
            if self.loss.center:
                sums = weighted.sum(axis=1)
                P -= np.outer(sums, sums) / max(float(h.sum()), 1e-300)
            forms.append(0.5 * P)
        return np.concatenate(forms)

    def _price(self, B: np.ndarray, squares: np.ndarray) -> float:
        """Square root of the price of z to start from."""
        lengths = self._lengths(B)
        if np.count_nonzero(lengths) >= self.t:
            return float(lengths.sum() / self.t)
        beyond = min(3 * self.t, len(squares) - 1)
        return max(float(np.sqrt(np.partition(squares, -1 - beyond)[-1 - beyond])), 1e-300)

    def _working(self, B: np.ndarray, squares: np.ndarray, price: float) -> np.ndarray:
        """Chosen columns, those with coefficients, and some that should have one."""
        used = self._lengths(B) > 0.0
        wanted = np.flatnonzero(~used & (squares > price**2))
        most = max(_JOIN, 2 * self.t)
        wanted = wanted[np.argsort(-squares[wanted], kind="stable")[:most]]
        free = np.union1d(np.flatnonzero(used), wanted)
        return np.concatenate([np.arange(self.n_chosen), self.n_chosen + free])


class LogisticColumns(WideColumns):
    """The problem for :mod:`columnist.search`."""

    form: LogisticForm

    def estimate(self, subset: Sequence[int]) -> float:
        """The objective of a complete choice."""
        return self.value(subset)

    def completion_errors(self, chosen: np.ndarray, candidates: np.ndarray) -> np.ndarray:
        """About the objective of ``chosen`` and each one of the candidates."""
        return self.form.estimates(self._place[chosen], self._place[candidates])

    def cost(self) -> float:
        """Seconds per expansion, roughly."""
        return 1e-8 * len(self.columns) * self.form.loss.n_samples


class LogisticData(NamedTuple):
    """The form of the columns that may be chosen, in the place of
    :class:`columnist.selection._wide.WideData`."""

    form: LogisticForm
    columns: np.ndarray

    def problem(
        self, size: int, include: Sequence[int], evaluate, deadline: float = np.inf
    ) -> LogisticColumns:
        """The problem for one size."""
        form = self.form.until(deadline)
        return LogisticColumns(form, self.columns, size, include, 1.0, evaluate)
