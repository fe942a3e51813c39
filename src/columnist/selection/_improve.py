r"""Improvement of subsets by exchanges with a memory (tabu search), from inner products.

With the Gram matrix K of the columns and their products c with the targets, a set S leaves the
error :math:`\mathrm{total} - \mathrm{tr}(c_S^T K_{SS}^{-1} c_S)`; the columns themselves as
targets are a special case. Let :math:`X = K_{SS}^{-1}`, :math:`W = X K_{S\cdot}`,
:math:`M = cc^T`, and let

.. math::

   g_i = K_{ii} - W_i^TK_{Si}, \qquad f_i = \|u_i\|^2, \qquad
   h_{li} = b_l^Tu_i, \qquad u = c - K_{\cdot S}b, \quad b = X c_S,

be what S leaves of column i, of its products with the targets, and how these agree with the
coefficients of column l. Adding i gains :math:`f_i/g_i`, giving up l costs
:math:`\|b_l\|^2/X_{ll}`, and exchanging l for i gains, with :math:`t = W_{li}/X_{ll}`,

.. math:: \frac{f_i + 2th_{li} + t^2\|b_l\|^2}{g_i + tW_{li}} - \frac{\|b_l\|^2}{X_{ll}}.

The whole table of exchanges is three products of matrices, so it is recomputed for every set:
nothing drifts. The moves:

* *exchange with a memory* (tabu search): always the best exchange, even if it makes the set worse;
  columns that moved rest for some steps, unless they lead to a set better than any before. This
  passes through sets that no single exchange would accept, which is how two or three columns come
  to be exchanged for others together.
* *splice*: when that has found nothing for some time, several columns of the best set give way to
  those that fit best to the rest, every other time without being allowed back.
* *starts*: whatever sets the caller knows, and forward selection.

Everything is counted in operations, so that results do not depend on the clock unless the deadline
ends the work. Sets hold columns only that do not nearly depend on one another; columns that are
missing because there are no others are filled up. No input validation.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dpotrf, dtrtri

from columnist.linalg._reduce import Reduced
from columnist.search._incumbent import Items
from columnist.search._interrupts import expired

# Exchanges without a better set after which several columns are exchanged together.
_PATIENCE = 30
# At most so many of them.
_SPLICE = 9
# Exchanges for which a column that moved rests: at least, and at most so many more.
_REST, _LONGER = 2, 10
# Share of what the best set explains by which a better one explains more.
_BETTER = 1e-12
# A column of whose squared length the others leave no more than this share depends on them:
# inner products do not determine what it adds.
_DEPENDENT = 1e-8
# Operations that take as long as the calls of a table do.
_OVERHEAD = 6e5
# Operations that a multiplication in a large product counts for.
_PRODUCT = 0.3
# Columns among which sets are looked for, at most, where these are many.
_LISTED = 1000


class _Fit(NamedTuple):
    """What a set explains (``energy``); the figures of the module's docstring: the diagonals
    ``x`` of X and ``b`` of the coefficients' moment, and W, h, f and g."""

    energy: float
    x: np.ndarray
    b: np.ndarray
    W: np.ndarray
    h: np.ndarray
    f: np.ndarray
    g: np.ndarray


class GramImprover:
    """Looks for ``size`` columns that explain much, for as long as it is asked to.

    Parameters
    ----------
    K : ndarray of shape (p, p)
        Inner products of the columns.
    c : ndarray of shape (p, q)
        Their inner products with the targets.
    size : int
        Columns to choose, the included ones counted.
    include, candidates : sequence of int
        Columns of every set; columns that may be chosen beside them.

    Attributes
    ----------
    best : list of int
        Best set so far; empty before the first :meth:`run`.
    """

    def __init__(self, K, c, size: int, include: Items, candidates: Items):
        self._K, self._c, self._size = K, c, size
        self._M = c @ c.T if c.shape[1] > size else None
        self._lengths, self._heights = K.diagonal(), np.einsum("ij,ij->i", c, c)
        self._least = _DEPENDENT * self._lengths
        self._include = [int(i) for i in include]
        self._fixed = self._independent(self._include)
        free = np.zeros(len(K), dtype=bool)
        free[candidates] = True
        free[self._include] = False
        self._spare, self._free = np.flatnonzero(free), free & (self._lengths > 0.0)
        # Included columns that depend on others take up room, but explain nothing.
        self._room = size - (len(self._include) - len(self._fixed))
        self._rng = np.random.default_rng(0)
        self._starts: deque[list[int]] = deque()
        self._current: list[int] = []
        self._over = True  # nothing more is expected from the current set
        self._rest_until = np.zeros(len(K))
        self._step = self._stale = self._n_splices = 0
        self._best: list[int] = []
        self._best_energy = -np.inf

    # -- what callers use -----------------------------------------------------------

    @property
    def best(self) -> list[int]:
        """Best set so far, in increasing order."""
        chosen = {*self._include, *self._best}
        spare = [int(i) for i in self._spare if i not in chosen]
        return sorted([*chosen, *spare[: self._size - len(chosen)]])

    @property
    def energy(self) -> float:
        """What it explains."""
        return self._best_energy

    def start_from(self, subset: Items) -> None:
        """Improve this set next; it may be too small, or too large by columns that depend on
        others."""
        self._starts.appendleft([int(i) for i in subset])

    def run(self, budget: float, deadline: float = np.inf) -> list[int]:
        """Go on for about ``budget`` operations and return the best set."""
        spent = 0.0
        if self._step == 0 and not self._starts:
            self.start_from(())  # forward selection
        while spent < budget and not (self._best and expired(deadline)):
            if self._over:
                spent += self._begin()
            fit = self._fit(self._current)
            spent += self._price(len(self._current))
            self._note(fit)
            if not self._exchange(fit) or self._stale > _PATIENCE:
                if not self._starts and self._movable() < 2:
                    break  # single exchanges have seen everything
                self._over = True
        return self.best

    # -- the course of the search ------------------------------------------------------

    def _begin(self) -> float:
        """The next start, or a splice of the best set; returns operations."""
        self._over, self._stale = False, 0
        self._rest_until[:] = 0.0
        barred: list[int] = []
        if self._starts:
            known = [i for i in self._starts.popleft() if self._free[i]]
            kept = self._independent([*self._fixed, *known])[: self._room]
        else:
            kept, barred = self._spliced()
        self._current, operations = self._completed(kept, barred)
        return operations

    def _spliced(self) -> tuple[list[int], list[int]]:
        """The best set without some columns, and those that must not come back."""
        moving = [i for i in self._best if i not in self._fixed]
        most = max(min(_SPLICE, len(moving) - 1), 1)
        count = min(2 + self._n_splices // 2 % most, len(moving))
        out = self._rng.choice(moving, count, replace=False).tolist() if moving else []
        self._n_splices += 1
        return [i for i in self._best if i not in out], out if self._n_splices % 2 else []

    def _completed(self, kept: list[int], barred: list[int]) -> tuple[list[int], float]:
        """A set with the columns that gain most added one by one, and the operations spent."""
        chosen, operations = list(kept), 0.0
        free = self._free.copy()
        free[[*kept, *barred]] = False
        while len(chosen) < self._room:
            fit = self._fit(chosen)
            operations += self._price(len(chosen))
            possible = free & (fit.g > self._least)
            if not possible.any():
                if not barred:
                    break
                free[barred], barred = True, []
                continue
            item = int(np.argmax(_divide(fit.f, fit.g, possible, -np.inf)))
            free[item] = False
            chosen.append(item)
        return chosen, operations

    def _note(self, fit: _Fit) -> None:
        """Remember the current set if it is the best one."""
        self._step += 1
        self._stale += 1
        larger = len(self._current) > len(self._best)
        if larger or fit.energy > self._best_energy * (1.0 + _BETTER):
            self._best, self._best_energy = list(self._current), fit.energy
            self._stale = 0

    def _exchange(self, fit: _Fit) -> bool:
        """Make the best exchange of columns that need no rest; False if there is none."""
        chosen = self._current
        gains = self._gains(fit)
        resting = self._rest_until > self._step
        if resting.any():
            rests = resting[chosen][:, None] | resting
            wanted = self._best_energy * (1.0 + _BETTER) - fit.energy
            gains[rests & (gains <= wanted)] = -np.inf
        if not gains.size:
            return False
        position, item = divmod(int(np.argmax(gains)), gains.shape[1])
        if gains[position, item] == -np.inf:
            return False
        for column, others in ((chosen[position], len(self._spare)), (item, len(chosen))):
            longer = self._rng.integers(min(max(others // 2, 2), _LONGER))
            self._rest_until[column] = self._step + _REST + longer
        chosen[position] = item
        return True

    def _movable(self) -> int:
        return len(self._best) - len(self._fixed)

    # -- figures -----------------------------------------------------------------------

    def _gains(self, fit: _Fit) -> np.ndarray:
        """Gains of exchanging chosen columns (rows) for others; -inf for those that may not."""
        chosen = self._current
        t = fit.W / fit.x[:, None]
        lengths = t * fit.W
        lengths += fit.g
        gains = 2.0 * fit.h
        gains += t * fit.b[:, None]
        gains *= t
        gains += fit.f
        gains = _divide(gains, lengths, lengths > self._least, -np.inf)
        gains -= (fit.b / fit.x)[:, None]
        shut = ~self._free
        shut[chosen] = True
        gains[:, shut] = -np.inf
        gains[: len(self._fixed)] = -np.inf  # every set begins with them
        return gains

    def _fit(self, chosen: list[int]) -> _Fit:
        """Figures of a set of independent columns."""
        K, M = self._K[chosen], self._moment(chosen)
        inner = M[:, chosen]
        X = _inverse(K[:, chosen])
        W = X @ K
        explained = inner @ W
        h = X @ (M - explained)
        explained -= 2.0 * M
        f = self._heights + np.einsum("ij,ij->j", W, explained)
        g = self._lengths - np.einsum("ij,ij->j", W, K)
        coefficients = X @ inner
        energy, b = float(np.trace(coefficients)), np.einsum("ij,ij->i", coefficients, X)
        return _Fit(energy, X.diagonal(), b, W, h, np.maximum(f, 0.0), g)

    def _moment(self, chosen: list[int]) -> np.ndarray:
        return self._c[chosen] @ self._c.T if self._M is None else self._M[chosen]

    def _independent(self, order: Sequence[int]) -> list[int]:
        """The columns that do not nearly depend on earlier ones."""
        order = [i for i in dict.fromkeys(order) if self._lengths[i] > 0.0]
        gram, least = self._K[np.ix_(order, order)], self._least[order]
        factor, failed = dpotrf(gram) if order else (gram, 0)
        if not failed and (np.square(factor.diagonal()) > least).all():
            return order
        kept: list[int] = []
        for at, column in enumerate(order):
            if gram[at, at] > least[at]:
                kept.append(column)
                gram -= np.outer(gram[at], gram[at] / gram[at, at])
        return kept

    def _price(self, count: int) -> float:
        """Operations of one table."""
        return _OVERHEAD + len(self._K) * (6.0 * count * count + 30.0 * count)


class ColumnImprover:
    """The same for columns in reduced coordinates. Of long lists, the first columns take part:
    ``first`` ones, ``include`` among them, and then ``others``."""

    def __init__(self, reduced: Reduced, size: int, include, first, others):
        room = max(_LISTED, size) - len(first)
        self._listed = np.union1d(first, others[: max(room, 0)])
        columns, heavy = reduced.columns[self._listed], reduced.weights > 0.0
        inside = np.isin(self._listed, include)
        self._improver = GramImprover(
            columns @ columns.T, columns[:, heavy] * np.sqrt(reduced.weights[heavy]), size,
            np.flatnonzero(inside), np.flatnonzero(~inside),
        )  # fmt: skip

    @staticmethod
    def price(reduced: Reduced) -> float:
        """Operations before the first set is examined."""
        p, r = reduced.columns.shape
        return _PRODUCT * min(p, _LISTED) ** 2 * (r + np.count_nonzero(reduced.weights))

    def run(self, known: Items, budget: float, deadline: float) -> list[int]:
        """Go on, from the best set that is ``known`` if it is another one than was found here."""
        if len(known) and self._listed[self._improver.best].tolist() != sorted(known):
            self._improver.start_from(np.flatnonzero(np.isin(self._listed, known)))
        return self._listed[self._improver.run(budget, deadline)].tolist()


def _inverse(gram: np.ndarray) -> np.ndarray:
    """Inverse of a positive definite matrix."""
    factor, failed = dpotrf(gram) if len(gram) else (gram, 1)
    if failed:  # columns that nearly depend on one another, several together
        return np.linalg.pinv(gram, _DEPENDENT, hermitian=True)
    inverse, _ = dtrtri(factor)
    return inverse @ inverse.T


def _divide(a: np.ndarray, b: np.ndarray, where: np.ndarray, otherwise: float) -> np.ndarray:
    return np.divide(a, b, out=np.full_like(a, otherwise), where=where)


def improve_by_gram(
    K: np.ndarray,
    c: np.ndarray,
    size: int,
    *,
    include: Items = (),
    candidates: Items | None = None,
    starts: Iterable[Items] = (),
    budget: float = 1e8,
    deadline: float = np.inf,
) -> list[int]:
    """A good set of ``size`` columns, no worse than any of the ``starts`` but for rounding.

    Parameters
    ----------
    K : ndarray of shape (p, p)
        Inner products of the columns.
    c : ndarray of shape (p, q)
        Their inner products with the targets.
    size : int
        Columns to choose, the included ones counted.
    include : sequence of int
        Columns of every set.
    candidates : sequence of int, optional
        Columns that may be chosen beside them; all by default.
    starts : iterable of sequences of int
        Known sets, or parts of them, to be improved before forward selection is: the last first.
    budget : float
        Operations; 1e9 take about half a second. At least one set is completed.
    deadline : float
        When to stop in any case (``time.perf_counter``).

    Returns
    -------
    list of int
        The set, in increasing order.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.selection._improve import improve_by_gram
    >>> X = np.array([[1.0, 1.0, 0.0], [1.0, 0.0, 2.0], [0.0, 1.0, 2.0]])
    >>> y = np.array([[0.0], [1.0], [1.0]])
    >>> improve_by_gram(X.T @ X, X.T @ y, 1)
    [2]
    """
    allowed = np.arange(len(K)) if candidates is None else candidates
    improver = GramImprover(K, c, size, include, allowed)
    for subset in [(), *starts]:
        improver.start_from(subset)
    return improver.run(budget, deadline)
