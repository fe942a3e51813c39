r"""Dealing rows into blocks by the share of the scatter that each row needs.

Give block b the matrix w A, A the scatter of the kept rows and w a share of it. Removing a kept
row y lowers the tail sum by g(w A) - g(w A - y y'), which falls towards the squared distance q of
the row as w grows; putting a removed row back raises it by g(w A + y y') - g(w A), which grows
towards q. The programme leaves the row where it is if that change is on the right side of the
price of a removal. The least such w is the row's *need*: high for rows whose distance is near the
price and for rows of high leverage.

The shares sum to one, and a block needs the largest need among its rows. So rows of similar
need share a block, every block gets a share in proportion to its need, and the sum of these
tells how far from tight the bound begins.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from columnist.robust._blocks import Blocks, every_set
from columnist.robust._contract import Contraction
from columnist.robust._tails import rank_one_tails

__all__ = ["Needs", "block_size", "deal", "evaluation_seconds", "first_size", "needs"]

# A row may be this far (relative) on the wrong side of the price.
_MARGIN = 0.1
# A change of the tail sum may stop this share of the way from the price to its limit q.
_SLACK = 0.5
_BISECTIONS = 12
_RANGE = (1e-5, 2.0)
# Blocks of this many rows begin as two halves.
_PAIRED = 8


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

    Short lists are ascended in a fraction of the time, and their multipliers are a good start for
    pairs of blocks.
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
