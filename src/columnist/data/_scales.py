"""Columns of very different size: detection of different units, and a warning.

The rule: sizes that differ by more than a factor of :data:`APART`, unless the columns are of
one kind, as wavelengths (their names are numbers) or counts (most have the same minimum) are.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from columnist._warn import warn_caller
from columnist.data._matrices import Matrices
from columnist.linalg._passes import squared_norms, without_means

# Columns whose sizes differ by more than this factor have different units.
APART = 100.0


class ScaleWarning(UserWarning):
    """The sizes of the columns differ so much that the large ones decide the result."""


def ratio_of(sizes: np.ndarray) -> float:
    """How many times the largest is the smallest; zeros do not count.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.data._scales import ratio_of
    >>> ratio_of(np.array([0.0, 2.0, 500.0]))
    250.0
    """
    sizes = sizes[(sizes > 0.0) & np.isfinite(sizes)]
    return float(sizes.max() / sizes.min()) if len(sizes) > 1 else 1.0


def is_one_kind(names: Sequence[str] | None, low: np.ndarray) -> bool:
    """Whether columns with these names and minima are one kind of quantity."""
    if names is not None and all(map(_is_number, names)):
        return True
    same = np.unique(low, return_counts=True)[1].max(initial=0)
    return bool(same > 0.5 * len(low))


def _is_number(name: str) -> bool:
    try:
        float(name)
    except ValueError:
        return False
    return True


def warn_of_scales(matrices: Matrices, names: Sequence[str] | None) -> None:
    """Warn if X approximates itself and large columns would decide the result.

    Sparse data are mostly counts, and collections are not read once more for a hint.
    """
    X = matrices.X
    if matrices.Y is not None or matrices.gram or matrices.sample or not matrices.is_here:
        return
    if sp.issparse(X) or not X.shape[0]:
        return
    ratio = ratio_of(np.sqrt(squared_norms(without_means(X) if matrices.center else X)))
    if ratio > APART and not is_one_kind(names, X.min(axis=0)):
        warn_caller(
            f"The sizes of the columns differ by a factor of {ratio:.3g}, so that the large ones "
            "decide the result: scale the columns first (sklearn.preprocessing.scale), unless all "
            "are in the same unit.",
            ScaleWarning,
        )
