"""PCA without the rows whose removal leaves the smallest error, with a proof."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace

import numpy as np

from columnist.criteria import Criterion, is_frobenius
from columnist.data._parameters import Number, StrOptions
from columnist.data._validation import random_generator
from columnist.robust._base import BaseRobustPCA
from columnist.robust._proven import RowProof
from columnist.robust._robpca import ROBPCA
from columnist.robust._row_data import RowData, given_mean
from columnist.robust._solve import Question, certified_outliers
from columnist.robust._subspace import Subspace
from columnist.search._certificate import Certificate, warn_unless_optimal
from columnist.search._interrupts import at_once, keeps_answer, raise_pending
from columnist.search._log import Progress
from columnist.search._options import SearchOptions
from columnist.search._policies import SEARCHES


class RobustPCA(BaseRobustPCA):
    r"""PCA without the rows whose removal leaves the smallest error, with a proof.

    Removes the set of k rows that leaves the smallest error

    .. math:: \Theta(\sigma_{r+1}, \sigma_{r+2}, \dots)

    of a PCA with r components of the other rows, :math:`\sigma_i` their singular values
    about their own mean. A search returns the rows together with a
    :class:`~columnist.Certificate`: the error, a lower bound on the error of every other set of k
    rows, and the gap between the two. Outliers are whole rows; this is not a split of the entries
    into a low-rank and a sparse part.

    The proof is about this error alone. Rows far away within the subspace (leverage) cost nothing,
    and a group of outliers that attracts a component is kept (masking):
    ``max_distance`` and :class:`~columnist.robust.ROBPCA` are for such data.

    Parameters
    ----------
    n_components : int
        Dimension r of the subspace; 0 for a point.
    n_outliers : int or float
        Rows to remove: a number, or a fraction of the rows. A number larger than that of the
        outliers does little harm: ``predict`` flags only distant rows.
    centering : {"optimal", "mean", "none"}, default="optimal"
        Point through which the subspace passes: the mean of the kept rows, found with them; the
        mean of all rows; or the origin.
    criterion : str or Criterion, default="frobenius"
        Error of the kept rows: ``"frobenius"`` (squared distances), ``"spectral"``,
        ``"nuclear"``, ``"schatten:<p>"``, ``"kyfan:<k>"`` or an object of
        :mod:`columnist.criteria`.
    search : {"auto", "optimal", "weighted", "greedy", "optimistic"}, default="auto"
        ``"auto"`` and ``"optimal"`` find a good choice, then search for a proof until the limits
        (``"optimal"`` warns if the proof is incomplete); ``"weighted"`` stops within a
        guarantee set by ``epsilon``; ``"greedy"`` removes the best row each time;
        ``"optimistic"`` starts from that choice and alternates between choice and proof.
    epsilon : float, default=0.0
        Weight of the error so far in the weighted search.
    max_distance : float, optional
        Rows farther than this from a robust reference are always removed, and count among the
        k. The reference is :class:`~columnist.robust.ROBPCA` with the same number of
        components; the distance is the larger of its score and orthogonal distances, each in units
        of its cut-off, so that 1 removes all rows it flags. The certificate then holds for the sets
        of k rows that contain these rows.
    cutoff : {"cross-fitted", "classical"}, default="cross-fitted"
        How ``predict`` calibrates its distances.
    time_limit : float or None, default=30.0
        Seconds from the call on. The first choice and the fit to it are always completed.
    max_nodes : int, optional
        Nodes to expand, or stages of the proof by blocks, at most.
    max_memory : float, optional
        Bytes for open nodes and lists of sets; half of the free memory by default.
    max_gap : float, default=0.0
        Relative gap at which the search stops.
    n_jobs : int, optional
        Worker threads; None means 1, -1 all processors. They do not change the result.
    random_state : int, RandomState or None, default=None
        Randomness of the first choice.
    callback : callable, optional
        Receives a :class:`~columnist.search.Progress`; the search stops if it returns true.
    verbose : bool, default=False
        Print the solver log.
    proof : str or path, optional
        File to which a proof is written that :func:`columnist.verify` checks. It is made after the
        search, in what is left of the time limit, or as long as the search took if that is longer;
        for rows in memory, without ``max_distance``.

    Attributes
    ----------
    outliers_ : ndarray of int
        Rows removed, ascending.
    mean_, components_, explained_variance_ : ndarrays
        The affine subspace of the kept rows.
    error_ : float
        Criterion of the kept rows.
    far_rows_ : ndarray of int
        Rows removed because of ``max_distance``, ascending.
    certificate_ : Certificate
        The proof. "Optimal" means that no set of k rows has an error smaller by more than a
        relative 1e-9.
    score_cutoff_, orthogonal_cutoff_ : float
        Largest distances of an inlier.

    See Also
    --------
    columnist.robust.TrimmedPCA : The same error, a local optimum.
    columnist.robust.ROBPCA : Also finds outliers that mask one another.
    columnist.robust.outlier_path : How many outliers?

    Notes
    -----
    Under the squared Frobenius norm a screening decides for most rows whether they stay: a subspace
    that is determined by many rows changes little when a few are exchanged. The remaining rows are
    distributed over blocks, whose bounds are added. Other criteria and orders use bounds that
    vanish once r + k reaches the number of features, so they prove much only for few rows in many
    dimensions; the gap shows how much.

    More than 8,000 rows are processed in a few passes if the criterion is the squared
    Frobenius norm and the search "auto" or "optimal"; Dask arrays and dataframes then stay where
    they are. Fewer rows are brought together.

    References
    ----------
    .. [1] S. Shah, B. He, C. Maung, H. Schweitzer. Computing robust principal components by
       A* search. International Journal on Artificial Intelligence Tools, 2018.
    .. [2] B. He, G. Wan, H. Schweitzer. A bias trick for centered robust principal component
       analysis. AAAI, 2020.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from columnist.robust import RobustPCA
    >>> X = scale(load_wine().data)
    >>> found = RobustPCA(2, n_outliers=4, random_state=0).fit(X)
    >>> found.outliers_
    array([ 59,  69,  95, 121])
    >>> found.certificate_.status
    'optimal'
    """

    certificate_: Certificate
    _parameter_constraints = {
        "search": StrOptions(*SEARCHES),
        "max_distance": Number(0.0, above=True) | None,
    }

    def __init__(
        self,
        n_components: int,
        *,
        n_outliers: int | float,
        centering: str = "optimal",
        criterion: str | Criterion = "frobenius",
        search: str = "auto",
        epsilon: float = 0.0,
        max_distance: float | None = None,
        cutoff: str = "cross-fitted",
        time_limit: float | None = 30.0,
        max_nodes: int | None = None,
        max_memory: float | None = None,
        max_gap: float = 0.0,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        callback: Callable[[Progress], object] | None = None,
        verbose: bool = False,
        proof: str | os.PathLike | None = None,
    ):
        self._set_rows(n_components, n_outliers, centering, cutoff)
        self.criterion = criterion
        self.search = search
        self.epsilon = epsilon
        self.max_distance = max_distance
        self.time_limit = time_limit
        self.max_nodes = max_nodes
        self.max_memory = max_memory
        self.max_gap = max_gap
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.callback = callback
        self.verbose = verbose
        self.proof = proof

    @keeps_answer
    def fit(self, X, y=None):
        return super().fit(X, y)

    def _begin(self, X) -> RowData:
        self._started = time.perf_counter()
        with at_once():
            data = super()._begin(X)
        # A pass over data elsewhere does not count for the time limit.
        self._preparation = time.perf_counter() - self._started if data.elsewhere else 0.0
        return data

    @property
    def _in_passes(self) -> bool:
        options = SearchOptions.of(self, self.time_limit)
        return is_frobenius(options.criterion) and options.policy().by_bound

    def _find_rows(self, data: RowData) -> tuple[np.ndarray, Subspace]:
        k, r = self._sizes(*data.shape, least=0)
        proof = self._row_proof(data, r, k)
        rng = random_generator(self.random_state)
        self.far_rows_ = self._far_rows(data, r, k, rng)
        near = np.delete(np.arange(data.shape[0]), self.far_rows_)
        rows = data if self.max_distance is None else data.part(near)
        question = Question(rows, r, k - len(self.far_rows_), self.centering, rng)
        limit = self._time_left()
        raise_pending()
        with at_once() if data.elsewhere else nullcontext():
            chosen = near[self._search(question, limit)]
            outliers = np.sort(np.concatenate([self.far_rows_, chosen]))
            self.certificate_ = replace(self.certificate_, selection=tuple(outliers.tolist()))
            if proof is not None:
                spent, left = time.perf_counter() - self._started, self._time_left()
                seconds = np.inf if left is None else max(left, spent, 1.0)
                proof.write(data.array() * data.unit, self.certificate_, seconds)
            return self._fitted(data, outliers)

    def _row_proof(self, data: RowData, r: int, k: int) -> RowProof | None:
        """The proof that is to be written."""
        if self.proof is None:
            return None
        if data.elsewhere or self.max_distance is not None:
            raise ValueError(
                "proof is not available with max_distance, or for rows that are not in memory: "
                "leave out one of the two."
            )
        proof = RowProof(
            self.proof, r, self.centering, SearchOptions.of(self, self.time_limit).criterion
        )
        proof.check(*data.shape, k)
        return proof

    def _far_rows(self, data: RowData, r: int, k: int, rng) -> np.ndarray:
        """Rows beyond the limit on the distance from a robust reference."""
        if self.max_distance is None:
            return np.zeros(0, dtype=np.intp)
        if data.elsewhere or self.centering == "mean":
            raise ValueError(
                "max_distance needs rows in memory, and centering 'optimal' or 'none'."
            )
        X = data.array()
        reference = ROBPCA(max(r, 1), random_state=int(rng.integers(2**31))).fit(X)
        far = np.flatnonzero(-reference.score_samples(X) > self.max_distance)
        if len(far) > k:
            raise ValueError(
                f"{len(far)} rows are farther than max_distance={self.max_distance:g}, but "
                f"n_outliers allows {k}: raise one of the two."
            )
        return far

    def _time_left(self) -> float | None:
        """Seconds until the time limit."""
        if self.time_limit is None:
            return None
        spent = time.perf_counter() - self._started - self._preparation
        return max(self.time_limit - spent, 0.0)

    def _search(self, question: Question, time_limit: float | None) -> np.ndarray:
        self.certificate_ = certified_outliers(question, SearchOptions.of(self, time_limit))
        return np.array(self.certificate_.selection, dtype=np.intp)

    def _fitted(self, data: RowData, outliers: np.ndarray) -> tuple[np.ndarray, Subspace]:
        """The rows to remove, and the subspace of the others."""
        mean = given_mean(self.centering, data.moments.mean)
        return outliers, data.without(outliers, self.n_components, mean).subspace

    def _store(self, data: RowData, removed: np.ndarray, subspace: Subspace) -> None:
        super()._store(data, removed, subspace)
        self._conclude()

    def _conclude(self) -> None:
        elapsed = time.perf_counter() - self._started
        self.certificate_ = replace(
            self.certificate_, elapsed=elapsed, preparation=self._preparation
        )
        self.error_ = self.certificate_.error
        if self.search == "optimal":
            warn_unless_optimal(self.certificate_)
