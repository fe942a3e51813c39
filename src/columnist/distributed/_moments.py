"""Means and inner products of all rows of a collection or a stream."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from sklearn.utils.validation import check_array

from columnist.data._blocks import RowBlocks, open_blocks
from columnist.data._target import StreamTarget, open_target
from columnist.data._validation import check_weights
from columnist.linalg._moments import Moments, merged_moments, moments_of


def moments(X, y=None) -> Moments:
    """Count, means and inner products of the columns (and of y), in one pass.

    Parameters
    ----------
    X : Dask array or dataframe of shape (n_samples, n_features)
        Data; blocks may be sparse, float32 is summed up in float64.
    y : Dask collection or array-like, optional
        Target, whose columns follow those of X; class labels become an indicator matrix.

    Returns
    -------
    Moments
        With ``count``, ``mean``, ``covariance()``, ``gram()``, ``factor()`` and ``sample()``.

    Examples
    --------
    >>> import dask.array as da
    >>> from columnist.distributed import moments
    >>> summed = moments(da.ones((1000, 3), chunks=(300, 3)))
    >>> summed.count, summed.mean, summed.gram()[0, 0]
    (1000, array([1., 1., 1.]), np.float64(1000.0))
    """
    X = opened(X)
    return X.moments(*(() if y is None else open_target(y, X)))


def opened(X) -> RowBlocks:
    """A collection as blocks of rows; anything else is an error."""
    blocks = open_blocks(X)
    if blocks is None:
        raise TypeError(
            f"X must be a Dask array or dataframe; got {type(X).__name__}. "
            "Wrap an array with dask.array.from_array(X, chunks=...)."
        )
    return blocks


class RunningMoments(RowBlocks):
    """Means and inner products of rows that arrive in batches.

    Pass it to ``fit`` in place of X (and y): every selector that depends on inner products of
    columns alone, :class:`~columnist.ColumnSelector` and :func:`~columnist.certify` among them,
    gives the same result as for all rows at once.

    Parameters
    ----------
    classes : array-like, optional
        All class labels that y may hold, if it holds labels.

    Attributes
    ----------
    n_samples_seen_ : int or float
        Rows so far; the sum of their weights if they have any.
    n_features_in_ : int
        Columns of X.
    mean_ : ndarray of shape (n_features,)
        Means of the columns.
    covariance_ : ndarray of shape (n_features, n_features)
        Covariances of the columns (divided by the number of rows).

    Examples
    --------
    >>> import numpy as np
    >>> from columnist import ColumnSelector
    >>> from columnist.distributed import RunningMoments
    >>> rng = np.random.default_rng(0)
    >>> stream = RunningMoments()
    >>> for _ in range(10):
    ...     batch = rng.standard_normal((100, 2)) @ rng.standard_normal((2, 6))
    ...     stream = stream.partial_fit(batch)
    >>> stream.n_samples_seen_
    1000
    >>> ColumnSelector(2).fit(stream).certificate_.status
    'optimal'
    """

    keeps_rows = False
    _moments: Moments | None = None

    def __init__(self, *, classes=None):
        self.classes = classes

    # -- summing up ---------------------------------------------------------------

    def partial_fit(self, X, y=None, sample_weight=None) -> RunningMoments:
        """Add rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,) or (n_samples, n_targets), optional
            Target of these rows; if any batch has one, all must.
        sample_weight : array-like of shape (n_samples,), optional
            How often each row counts.

        Returns
        -------
        self
        """
        X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], input_name="X")
        joint = X
        if y is not None:
            Y = self._target.read(y, X.shape[0])
            joint = np.hstack([X.toarray() if hasattr(X, "toarray") else X, Y])
        self._check_alike(X.shape[1], joint.shape[1])
        self.n_features = self.n_features_in_ = X.shape[1]
        weights = None if sample_weight is None else check_weights(sample_weight, X.shape[0])
        return self._add(moments_of(joint, weights))

    def merge(self, other: RunningMoments) -> RunningMoments:
        """Add the rows that another one has seen.

        Parameters
        ----------
        other : RunningMoments
            Sums over other rows of the same columns.

        Returns
        -------
        self
        """
        if other._moments is not None:
            self._check_alike(other.n_features_in_, len(other._moments.mean))
            self.n_features = self.n_features_in_ = other.n_features_in_
            self._target.merge(other._target)
            self._add(other._moments)
        return self

    @cached_property
    def _target(self) -> StreamTarget:
        return StreamTarget(self.classes)

    def _check_alike(self, n_features: int, width: int) -> None:
        if self._moments is None:
            return
        if n_features != self.n_features_in_:
            raise ValueError(
                f"X has {n_features} features, but the rows before had {self.n_features_in_}."
            )
        if width != len(self._moments.mean):
            raise ValueError("y must be given for all rows or for none, with the same targets.")

    def _add(self, moments: Moments) -> RunningMoments:
        seen = [] if self._moments is None else [self._moments]
        self._moments = merged_moments([*seen, moments])
        return self

    # -- what was seen ------------------------------------------------------------

    @property
    def n_samples_seen_(self) -> int:
        return self._seen().count

    @property
    def mean_(self) -> np.ndarray:
        return self._seen().mean[: self.n_features]

    @property
    def covariance_(self) -> np.ndarray:
        return self._seen().covariance()[: self.n_features, : self.n_features]

    def _seen(self) -> Moments:
        if self._moments is None:
            raise ValueError("No rows were seen: call partial_fit first.")
        return self._moments

    # -- in place of X ------------------------------------------------------------

    dtype = np.dtype(np.float64)
    is_sparse = False
    ndim = 2

    @property
    def header(self) -> np.ndarray:
        self._seen()
        return np.empty((1, self.n_features))

    @property
    def has_target(self) -> bool:
        return self._moments is not None and len(self._moments.mean) > self.n_features

    @property
    def target_kind(self) -> str:
        return self._target.kind

    @property
    def lengths(self) -> tuple[int, ...]:
        return (self.n_samples_seen_,)

    def moments(self, y=None, read=None, weights=None) -> Moments:
        """The sums themselves; y and weights are part of them."""
        if y is not None:
            raise ValueError("The target belongs to partial_fit: call fit with the sums alone.")
        if weights is not None:
            raise ValueError("sample_weight belongs to partial_fit: call fit with the sums alone.")
        return self._seen()

    def _rows(self, *_):
        raise ValueError(
            "RunningMoments keeps sums, not rows: this computation needs the rows themselves."
        )

    fold = collect = against = fold_links = map = take = divided = cut_like = gather = _rows
