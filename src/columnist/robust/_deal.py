r"""Distribution of rows over blocks: contraction, then groups of rows with similar needs.

*Contraction*: data are shrunk where that costs an incumbent nothing, so that bounds by blocks are
tight. A contraction never raises a singular value. So for every set P of kept rows the error of P
(sum of all but the r largest eigenvalues of its scatter) is at least that of

    y_i = c_i (diag(s) V'(x_i - m), b),    s, c_i <= 1,

with one eigenvalue more left out if the error is centred: appending the constant b to centred
rows turns their scatter C into C + |P| (mean, b)(mean, b)', and a rank-one term moves eigenvalues
by one place at most. No value of b has to be large.

Here m is the mean and V the eigenvectors of the scatter of an incumbent's rows, with eigenvalues
l_1 >= l_2 >= ...; s shrinks the r leading directions to a few times l_{r+1}, the least size at
which the incumbent keeps its own error, and b is of that order. A direction that towers above
the rest costs a bound by blocks dearly, because every block may turn away from it. Directions
that hold next to nothing of the incumbent's error may be left out: smaller matrices are cheaper,
and the bound loses no more than that.

The map is rounded, but how far is known: computed rows differ from exact ones by at most
``drift`` in the Frobenius norm, which moves the root of any error by as much, and
|V|^2 <= ``stretch``. Rows far beyond all kept ones are scaled down by c_i, or their rounding
would swamp the rest.

*Needs*: give block b the matrix w A, A the scatter of the kept rows, w a share of it. Removing a
kept row y lowers the tail sum by g(w A) - g(w A - y y'), which falls towards the squared distance q
of the row as w grows; putting a removed row back raises it by g(w A + y y') - g(w A), which grows
towards q. The programme leaves the row where it is if that change is on the right side of the
price of a removal. The least such w is the row's *need*: high for rows whose distance is near the
price and for rows of high leverage.

The shares sum to one, and a block needs the largest need among its rows. So rows of similar
need share a block, every block gets a share in proportion to its need, and the sum of these
shows how far from tight the bound begins.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from columnist.linalg._rounding import UNIT, rank_floor
from columnist.robust._blocks import Blocks, every_set
from columnist.robust._subspace import about_mean, at_most_square
from columnist.robust._tails import rank_one_tails
from columnist.search._run import PrecisionError

# Leading directions keep at most l_r, within these multiples of l_{r+1}.
_LEAD = 2.0, 7.0
# The constant column: this share of (kept rows) * price / l_{r+1}, but at least as much.
_BIAS, _LEAST_BIAS = 0.5, 2.5
# The share of the price that a removed row may lose, in units of the incumbent's loss.
_STICKING_OUT = 50.0
# A row longer than this many times the longest kept one is scaled down to that.
_LONGEST = 2.0**8
# A row may be this far (relative) on the wrong side of the price.
_MARGIN = 0.1
# A change of the tail sum may stop this share of the way from the price to its limit q.
_SLACK = 0.5
_BISECTIONS = 12
_RANGE = (1e-5, 2.0)
# Blocks of this many rows begin as two halves.
_PAIRED = 8


@dataclass(frozen=True)
class Contraction:
    """Contracted rows and what their tail sums say of errors."""

    rows: np.ndarray  # (n, d), the contracted data
    top: int  # eigenvalues left out of their tail sums
    squares: np.ndarray  # (n,), squared distances from the incumbent's subspace
    price: float  # where these separate kept from removed rows
    drift: float  # bound on the rounding of the rows
    stretch: float  # bound on the squared norm of the map
    lost: float = 0.0  # share of the incumbent's error in directions that are left out
    # Matrix, centre, constant and factors of the rows, from which these are made.
    map: tuple[np.ndarray, np.ndarray, float, np.ndarray] | None = None

    def proves(self, tail: float) -> float:
        """Error that no set can stay below if no tail sum is below ``tail``."""
        root = math.sqrt(max(tail, 0.0)) * (1.0 - 4.0 * UNIT) - self.drift
        return max(root, 0.0) ** 2 / self.stretch * (1.0 - 8.0 * UNIT)

    def needed(self, error: float) -> float:
        """Tail sum that proves an error: ``proves(needed(error)) >= error``."""
        root = math.sqrt(error * self.stretch) * (1.0 + 16.0 * UNIT) + self.drift
        return (root * (1.0 + 16.0 * UNIT)) ** 2


def contract(
    X: np.ndarray,
    kept: np.ndarray,
    active: np.ndarray,
    n_components: int,
    centred: bool,
    loss: float = 0.0,
    fixed: np.ndarray | None = None,
    weights: np.ndarray | None = None,
) -> Contraction:
    """Contract the data at an incumbent, whose error must not be zero. It keeps the rows ``kept``;
    rows that are not ``active`` cannot be kept and become zero (masks). A share ``loss`` of its
    error may be given up for fewer directions. Rows that are ``fixed`` represent many others: their
    distances set no price."""
    r = n_components
    mass = np.count_nonzero(kept) if weights is None else float(np.sum(weights[kept] ** 2))
    Z = np.where(active[:, None], _about_kept_mean(X, kept, weights) if centred else X, 0.0)
    norms = np.linalg.norm(Z, axis=1)
    scale = _row_scale(norms, kept)
    V, spectrum = _basis(Z * scale[:, None], kept)
    if len(spectrum) <= r or not spectrum[r] > 0.0:
        raise PrecisionError("Too few directions of the kept rows can be told from rounding.")
    coords = (Z * scale[:, None]) @ V
    squares = np.einsum("ij,ij->i", coords[:, r:], coords[:, r:])
    price = _price(squares, kept if fixed is None else kept & ~fixed, active & ~kept)
    d, lost = _directions(spectrum, coords[active & ~kept], price, r, loss)
    V, coords, spectrum = V[:, :d], coords[:, :d], spectrum[:d]
    shrink = np.ones(d)
    if r:
        lead = np.clip(spectrum[r - 1] / spectrum[r], *_LEAD)
        shrink[:r] = np.sqrt(np.minimum(1.0, lead * spectrum[r] / spectrum[:r]))
    rows, bias = coords * shrink, 0.0
    if centred:
        share = max(_LEAST_BIAS, _BIAS * mass * price / spectrum[r])
        bias = math.sqrt(share * spectrum[r] / mass)
        constant = bias * (1.0 if weights is None else weights)
        rows = np.column_stack([rows, np.where(active, constant * scale, 0.0)])
    # What was long beside the kept rows only where they have shrunk is long now.
    shorter = _row_scale(np.linalg.norm(rows, axis=1), kept)
    rows *= shorter[:, None]
    # V'V - I rounds by p u per entry. A sum of products rounds by its own terms, times p u, which
    # is little where a long direction meets an axis that hardly turns to it; the difference X - m,
    # and an earlier shift of X, round by u.
    p = X.shape[1]
    stretch = 1.0 + scipy.linalg.norm(V.T @ V - np.eye(d)) + (p + 2) * d * UNIT
    terms = np.abs(Z) * (p + 6) + np.abs(X) * active[:, None]
    rounded = (terms * scale[:, None]) @ (np.abs(V) * shrink)
    drift = 1.1 * UNIT * (scipy.linalg.norm(rounded) + (p + 6) * scipy.linalg.norm(rows))
    centre = X[kept].mean(axis=0) if centred else np.zeros(p)
    return Contraction(
        np.ascontiguousarray(rows), r + centred, squares, price, drift, stretch, lost,
        (V * shrink, centre, bias, scale * shorter),
    )  # fmt: skip


def _about_kept_mean(X: np.ndarray, kept: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    if weights is None:
        return X - X[kept].mean(axis=0)
    return X - weights[:, None] * about_mean(X[kept], weights[kept])[1]


def _price(squares: np.ndarray, kept: np.ndarray, removed: np.ndarray) -> float:
    """Half-way between the squared distances of kept and removed rows."""
    price = squares[kept].max()
    return float((price + squares[removed].min()) / 2.0 if removed.any() else price)


def _directions(
    spectrum: np.ndarray, removed: np.ndarray, price: float, r: int, loss: float
) -> tuple[int, float]:
    """How many directions to take, and the share of the error that the others hold.

    Removed rows may stick out where the incumbent has nothing: these directions stay.
    """
    left_out = np.cumsum(spectrum[:r:-1]) / spectrum[r:].sum()
    sticking_out = np.cumsum(removed[:, :r:-1] ** 2, axis=1).max(axis=0, initial=0.0)
    spare = (left_out <= loss) & (sticking_out <= _STICKING_OUT * loss * price)
    count = len(spare) if spare.all() else int(spare.argmin())
    return len(spectrum) - count, float(left_out[count - 1]) if count else 0.0


def _row_scale(norms: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """Powers of two that bring rows down to a multiple of the longest kept one."""
    limit = _LONGEST * norms[kept].max()
    return np.exp2(-np.ceil(np.log2(np.maximum(norms / limit, 1.0))))


def _basis(Z: np.ndarray, kept: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Orthonormal basis of all rows, turned to the axes of the kept ones; their eigenvalues."""
    _, sigma, axes = scipy.linalg.svd(at_most_square(Z), full_matrices=False, check_finite=False)
    axes = axes[sigma > rank_floor(Z.shape, sigma[0])].T
    _, sigma, turn = scipy.linalg.svd(at_most_square(Z[kept] @ axes), check_finite=False)
    spectrum = np.zeros(axes.shape[1])
    spectrum[: len(sigma)] = sigma**2
    return axes @ turn.T, spectrum


@dataclass(frozen=True)
class Needs:
    """The free rows of a problem, and what they need."""

    rows: np.ndarray  # the neediest first
    values: np.ndarray

    def total(self, size: int) -> float:
        """Sum of the largest needs of blocks of ``size`` rows."""
        return float(self.values[::size].sum())


def evaluation_seconds(d: int) -> float:
    """Seconds for one tail sum of order d, roughly."""
    return 2e-6 + 3.5e-8 * d * d


def block_size(n: int, d: int) -> int:
    """Rows per block in the end: more where tail sums are cheap."""
    size = 10 if d <= 14 else 8 if d <= 18 else 6
    while size > 2 and n / size * 2**size * evaluation_seconds(d) > 1.0:
        size -= 1
    return size


def first_size(size: int) -> int:
    """Rows per block to begin with: half as many, where the lists of all are long.

    Short ones are ascended in a fraction of the time; their multipliers are a good start for pairs.
    """
    return size // 2 if size >= _PAIRED else size


def needs(
    contraction: Contraction,
    kept: np.ndarray,
    free: np.ndarray,
    expired: Callable[[], bool] = lambda: False,
) -> Needs:
    """The needs of the free rows at an incumbent, coarser if time is up; both masks."""
    Y, top = contraction.rows, contraction.top
    scatter = Y[kept].T @ Y[kept]
    whole = float(np.linalg.eigvalsh(scatter)[: max(len(scatter) - top, 0)].sum())
    rows = np.flatnonzero(free)
    free_rows = np.ascontiguousarray(Y[rows])
    signs = np.where(kept[rows], -1.0, 1.0)
    limit = contraction.price * (1.0 - signs * _MARGIN)
    limit += _SLACK * (contraction.squares[rows] - limit)
    low, high = (np.full(len(rows), end) for end in _RANGE)
    for _ in range(_BISECTIONS):
        if expired():
            break
        share = np.sqrt(low * high)
        change = rank_one_tails(scatter, free_rows, share, signs, top) - share * whole
        enough = change >= signs * limit
        high, low = np.where(enough, share, high), np.where(enough, low, share)
    order = np.argsort(-high, kind="stable")
    return Needs(rows[order], high[order])


def deal(contraction: Contraction, kept: np.ndarray, k: int, needed: Needs, size: int) -> Blocks:
    """Blocks of ``size`` rows of similar need, each with its share of the scatter; k rows go."""
    Y = contraction.rows
    scatter = Y[kept].T @ Y[kept]
    shares = needed.values[::size] / needed.total(size)
    blocks = []
    for b, share in enumerate(shares):
        rows = needed.rows[b * size : (b + 1) * size]
        blocks.append(every_set(rows, ~kept[rows], share * scatter, k))
    return Blocks(Y, contraction.top, k, kept, blocks)
