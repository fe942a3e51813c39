r"""The screening of rows: how much better any other choice of rows can be, for a checker of proofs.

K are the rows that a selection keeps, V the r leading axes of their scatter, with eigenvalues
:math:`\lambda_1 \ge \lambda_2 \ge \dots`, E their error. With N the projector off the best subspace
of any other choice K', :math:`\delta` the distance of the two centres along N (0 if the centre is
given) and :math:`w_j = \lVert N v_j \rVert^2`,

.. math:: \sum_{x \in K} d'(x)^2 \ge E + s^2, \qquad
          s^2 = \sum_{j \le r} (\lambda_j - \lambda_{r+1}) w_j + |K| \delta^2,

since the other axes lose :math:`\sum_{j \le r} w_j` of their weights together, at most
:math:`\lambda_{r+1}` each. By Cauchy's inequality a row at the distance d, with coordinates t, has

.. math:: \sqrt{1 - s^2 / (\lambda_r - \lambda_{r+1})}\, d - hs \le d' \le d + hs, \qquad
          h^2 = \sum_{j \le r} t_j^2 / (\lambda_j - \lambda_{r+1}) + 1 / |K|,

and at most its length and :math:`s / \sqrt{|K|}`. K' gives up j rows and takes as many others: its
error is at least :math:`E + s^2 - F(s)`, F the largest difference of sums of d'^2 of j rows. F
grows with s, so an interval from a to b gives :math:`E + a^2 - F(b)`; a proof states where the
intervals end. Of the best choice no row that is kept is farther than one that is removed, or the
two would be exchanged: where the last interval stays open, a row that is certainly nearer than k
others stays, and one that is certainly among the k farthest goes. The roots of sums of several
rows move by at most s times the largest singular value of their vectors h.

**Rounding.** The scatter is off by :math:`2(m + 8)u` times its trace in the Frobenius norm (m rows
of a product), its decomposition by :math:`8pu` times its norm, which the error sees
:math:`\sqrt p`, or p, times. A distance, and a coordinate, is off by :math:`16(p + 16)u` times the
row's length and twice the centre's.
"""

from __future__ import annotations

import math

import numpy as np

from columnist._verify import EXTENDED, UNIT

# Rows of a product.
_ROWS = 1024


class Turns:
    """Bounds errors of all choices by the distances of their subspaces from that of one.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Rows, taken to be exact.
    removed : sequence of int
        Rows that the choice removes.
    r : int
        Dimension of the subspace.
    centred : bool
        Whether the rows are about the mean of those that are kept.
    """

    def __init__(self, X: np.ndarray, removed, r: int, centred: bool):
        (n, p), gone = X.shape, np.zeros(len(X), dtype=bool)
        gone[list(removed)] = True
        self.k, size = int(gone.sum()), float(np.linalg.norm(X))
        count = n - self.k
        self.swaps = min(n - count, count)
        centre = X[~gone].mean(axis=0, dtype=np.longdouble) * centred
        Y = (X - centre).astype(np.float64)
        scatter = np.zeros((p, p), dtype=np.longdouble)
        for start in range(0, count, _ROWS):
            rows = Y[~gone][start : start + _ROWS]
            scatter += rows.T @ rows
        values, axes = np.linalg.eigh(scatter.astype(np.float64))
        values, V = values[::-1], axes[:, ::-1][:, :r]
        total, top = float(np.trace(scatter)), float(np.abs(values).max(initial=0.0))
        off = 2 * (_ROWS + 8) * UNIT * math.sqrt(p) * total + 8 * p * p * UNIT * top
        off += 4 * count * ((n + 8) * EXTENDED * size + UNIT * float(np.linalg.norm(centre))) ** 2
        # What every error is above if it is that of another subspace, and its rows are the same.
        self.error = float(values[r:].sum()) * (1.0 - 2 * p * UNIT) - 2.0 * off
        gaps = (values[:r] - values[r]) * (1.0 - 4 * UNIT) if r < p else np.zeros(r)
        self.usable = bool((gaps > 0.0).all()) and r < p and self.swaps > 0
        if not self.usable:
            return
        self._gap = float(gaps.min(initial=np.inf))
        self._drift = centred / math.sqrt(count)
        lengths = np.linalg.norm(Y, axis=1)
        noise = 16 * (p + 16) * UNIT * (lengths + 2.0 * float(np.linalg.norm(centre)))
        T = Y @ V
        distances = np.linalg.norm(Y - T @ V.T, axis=1)
        H = np.column_stack([(np.abs(T) + noise[:, None]) / np.sqrt(gaps), np.full(n, self._drift)])
        slopes = np.linalg.norm(H, axis=1) * (1.0 + 4 * (p + 8) * UNIT)
        moved = np.column_stack([T / np.sqrt(gaps), np.full(n, self._drift)])[gone]
        turn = float(np.linalg.norm(moved, ord=2)) * (1.0 + 8 * (n + p) * UNIT)
        turn += float(np.linalg.norm(noise[gone])) * math.sqrt(float((1.0 / gaps).sum()))
        self._gone = gone
        self._most, self._slopes, self._lengths = distances + noise, slopes, lengths + noise
        self._least = np.maximum(distances - noise, 0.0)
        self._far = _running(self._largest(self._most[~gone]))
        self._kept_turn = _running(self._largest(slopes[~gone]))
        self._near = _running(np.sort(self._least[gone])[: self.swaps])
        gone_turn = _running(self._largest(slopes[gone]))
        self._gone_turn = np.minimum(gone_turn, turn)

    def _largest(self, values: np.ndarray) -> np.ndarray:
        """The largest values, as many as may be swapped, descending."""
        return np.sort(np.partition(values, -self.swaps)[-self.swaps :])[::-1]

    def farthest(self) -> float:
        """Subspaces farther away than this do not belong to a smaller error than that of K: s is
        at most the root of the sum of the d' that are given up."""
        if not self.usable:
            return math.inf
        found = math.inf
        lengths = float(np.linalg.norm(self._largest(self._lengths[~self._gone])))
        drift = self._drift * math.sqrt(self.swaps)
        for size, share in ((self._far[-1], self._kept_turn[-1]), (lengths, drift)):
            if share < 1.0:
                found = min(found, float(size) / (1.0 - float(share)))
        return found * (1.0 + 1e-9)

    def _shrinkage(self, s: float) -> float:
        """What such a turn leaves of a distance."""
        return math.sqrt(max(1.0 - s * s / self._gap * (1.0 + 8 * UNIT), 0.0))

    def _ends(self, s: float) -> tuple[np.ndarray, np.ndarray]:
        """Smallest and largest distances of the rows from subspaces that are no farther away."""
        low = np.maximum(self._shrinkage(s) * self._least - s * self._slopes, 0.0)
        high = np.minimum(self._most + s * self._slopes, self._lengths + s * self._drift)
        return low * (1.0 - 16 * UNIT), high * (1.0 + 16 * UNIT)

    def gain(self, s: float) -> float:
        """F(s)."""
        low, high = self._ends(s)
        given = np.cumsum(self._largest(high[~self._gone]) ** 2)
        given = np.minimum(given, (self._far + s * self._kept_turn) ** 2)
        taken = np.cumsum(np.sort(low[self._gone])[: self.swaps] ** 2)
        together = self._shrinkage(s) * self._near - s * self._gone_turn
        charge = 8 * (self.swaps + 16) * UNIT
        lost = np.maximum(taken, np.maximum(together, 0.0) ** 2) * (1.0 - charge)
        return max(float((given * (1.0 + charge) - lost).max()), 0.0)

    def bounds(self, ends: np.ndarray) -> np.ndarray:
        """Lower bounds of the errors of all choices: farther away than the first of these ends of
        intervals, descending, and in each interval; zeros if these are no such ends."""
        sense = len(ends) > 0 and self.usable and ends[0] >= self.farthest()
        if not (sense and np.isfinite(ends).all() and (ends > 0.0).all()):
            return np.zeros(1)
        starts = np.append(ends[1:], 0.0) * (1.0 - 4 * UNIT)
        if not (starts < ends).all():
            return np.zeros(1)
        losses = [self.gain(float(b)) - float(a) ** 2 for a, b in zip(starts, ends, strict=True)]
        return self.error - np.maximum([0.0, *losses], 0.0)

    def decided(self, s: float) -> tuple[np.ndarray, np.ndarray]:
        """Masks of the rows that the best choice keeps, and removes, if it is no farther away."""
        low, high = self._ends(s)
        n = len(low)
        surely = np.partition(low, n - self.k)[n - self.k]
        possibly = np.partition(high, n - self.k - 1)[n - self.k - 1]
        return high < surely, low > possibly


def _running(values: np.ndarray) -> np.ndarray:
    """Roots of the sums of the first squares."""
    return np.sqrt(np.cumsum(values**2))
