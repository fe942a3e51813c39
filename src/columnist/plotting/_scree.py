"""Variances of the kept rows against those of all rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from columnist.data._parameters import Integer
from columnist.plotting._draw import SCALE, log_scale, panels_for, tidy
from columnist.plotting._picture import FOUND, PROVEN
from columnist.robust._base import BaseRobustPCA

__all__ = ["ScreeDisplay"]

# A wider range of variances than this is drawn on a logarithmic axis.
_WIDE = 100.0


class ScreeDisplay:
    """Variance along each principal axis, with and without the outliers.

    The left panel shows the variances of the kept rows and those of a classical PCA of all rows,
    each along its own axes; the right panel their cumulative shares. A few outliers can
    own the first axes of the classical PCA: then its variances lie far above.

    Parameters
    ----------
    kept_variances, all_variances : array-like of shape (n_axes,)
        Variances, descending: of the rows the fit kept, and of all rows.
    n_components : int, optional
        Dimension of the fitted subspace, to be marked.
    n_kept, n_samples : int, optional
        Numbers of rows, for the legend.

    Attributes
    ----------
    axes_, figure_ : ndarray of matplotlib Axes, and their Figure
        Where it was drawn; ``ax_`` is the first of the axes.
    kept_line_, all_line_ : matplotlib Line2D
        The variances.
    kept_share_, all_share_ : matplotlib Line2D
        The cumulative shares, in percent.
    component_lines_ : list of matplotlib Line2D
        Where the fitted subspace ends, one line per panel.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")  # no window; not needed in a notebook
    >>> import numpy as np
    >>> from columnist.plotting import ScreeDisplay
    >>> from columnist.robust import RobustPCA
    >>> X = np.random.default_rng(0).standard_normal((50, 4)) * [5.0, 3.0, 1.0, 1.0]
    >>> X[:3] += [0.0, 0.0, 60.0, 0.0]
    >>> display = ScreeDisplay.from_estimator(RobustPCA(2, n_outliers=3).fit(X), X)
    >>> bool(display.all_variances[0] > 5 * display.kept_variances[0])
    True
    """

    def __init__(
        self,
        kept_variances,
        all_variances,
        *,
        n_components: int | None = None,
        n_kept: int | None = None,
        n_samples: int | None = None,
    ):
        self.kept_variances = np.asarray(kept_variances, dtype=np.float64)
        self.all_variances = np.asarray(all_variances, dtype=np.float64)
        if not len(self.kept_variances) == len(self.all_variances) > 0:
            raise ValueError(
                "kept_variances and all_variances need one entry per axis; got "
                f"{len(self.kept_variances)} and {len(self.all_variances)}."
            )
        self.n_components, self.n_kept, self.n_samples = n_components, n_kept, n_samples

    @classmethod
    def from_estimator(cls, estimator: BaseRobustPCA, X, **options: Any) -> ScreeDisplay:
        """Draw the variances of the rows a robust PCA was fitted to.

        Rows are measured from their own mean, or from the origin if the fit was not centred.

        Parameters
        ----------
        estimator : robust PCA
            Fitted; any estimator of :mod:`columnist.robust`.
        X : array-like of shape (n_samples, n_features)
            The rows of the fit.
        **options
            As in :meth:`plot`.

        Returns
        -------
        ScreeDisplay
        """
        check_is_fitted(estimator)
        X = check_array(X, dtype=np.float64)
        if len(estimator.outliers_) and len(X) <= estimator.outliers_[-1]:
            raise ValueError(
                f"Row {estimator.outliers_[-1]} was removed by the fit, but X has {len(X)} "
                "rows: pass the rows of the fit."
            )
        kept = np.delete(X, estimator.outliers_, axis=0)
        centred = bool(np.any(estimator.mean_))
        display = cls(
            _variances(kept, centred),
            _variances(X, centred),
            n_components=estimator.n_components_,
            n_kept=len(kept),
            n_samples=len(X),
        )
        return display.plot(**options)

    def plot(self, axes=None, *, n_axes: int = 10, scale: str = "auto") -> ScreeDisplay:
        """Draw.

        Parameters
        ----------
        axes : pair of matplotlib Axes, optional
            Where to; a new figure by default.
        n_axes : int, default=10
            Principal axes to show, at most (always one more than the subspace has).
        scale : {"auto", "linear", "log"}, default="auto"
            Scale of the variances; ``"auto"`` is logarithmic if they span more than a factor
            of a hundred.

        Returns
        -------
        self
        """
        Integer(1).check("n_axes", n_axes)
        SCALE.check("scale", scale)
        left, right = panels_for(axes, 2, ncols=2, figsize=(8.4, 3.8))
        count = min(max(n_axes, (self.n_components or 0) + 1), len(self.all_variances))
        numbers = np.arange(1, count + 1)
        whole = {"color": PROVEN, "marker": "s", "linestyle": "--", "markerfacecolor": "white"}
        clean = {"color": FOUND, "marker": "o", "label": _counted("{}kept rows", self.n_kept)}
        whole["label"] = _counted("all {}rows (classical PCA)", self.n_samples)
        (self.all_line_,) = left.plot(numbers, self.all_variances[:count], **whole)
        (self.kept_line_,) = left.plot(numbers, self.kept_variances[:count], **clean)
        (self.all_share_,) = right.plot(numbers, _shares(self.all_variances)[:count], **whole)
        (self.kept_share_,) = right.plot(numbers, _shares(self.kept_variances)[:count], **clean)
        left.set(ylabel="variance along the axis")
        right.set(ylabel="cumulative share of the variance (%)")
        least = min(self.all_share_.get_ydata()[0], self.kept_share_.get_ydata()[0])
        span = max(100.0 - least, 1e-3)
        right.set_ylim(max(least - 0.1 * span, 0.0), 100.0 + 0.05 * span)
        right.ticklabel_format(axis="y", useOffset=False)
        shown = np.concatenate([self.all_variances[:count], self.kept_variances[:count]])
        wide = shown.max() > _WIDE * shown.min() > 0.0
        if shown.max() > 0.0 and (scale == "log" or (scale == "auto" and wide)):
            log_scale(left)
        else:
            left.set(yscale="linear")
            left.set_ylim(bottom=0.0)
        self._finish(left, right, count)
        left.legend(frameon=False)
        self.axes_ = np.array([left, right])
        self.ax_, self.figure_ = left, left.figure
        return self

    def _finish(self, left, right, count: int) -> None:
        """Mark the fitted subspace, and what both panels share."""
        self.component_lines_ = []
        for ax in (left, right):
            ax.set(xlabel="principal axis", xlim=(0.4, count + 0.6))
            ax.xaxis.get_major_locator().set_params(integer=True)
            tidy(ax)
            if self.n_components is not None:
                line = ax.axvline(self.n_components + 0.5, color="0.35", linestyle=":", zorder=1)
                self.component_lines_.append(line)
        if self.n_components is not None:
            self.component_lines_[0].set_label(f"fitted components: {self.n_components}")


def _variances(X: np.ndarray, centred: bool) -> np.ndarray:
    """Variances along all min(n, p) principal axes."""
    Z = X - X.mean(axis=0) if centred else X
    sigma = scipy.linalg.svdvals(Z, check_finite=False)
    variances = np.zeros(X.shape[1])
    variances[: len(sigma)] = sigma**2 / max(len(X) - centred, 1)
    return variances


def _shares(variances: np.ndarray) -> np.ndarray:
    total = variances.sum()
    return 100.0 * np.cumsum(variances) / (total if total > 0.0 else 1.0)


def _counted(text: str, count: int | None) -> str:
    return text.format("" if count is None else f"{count} ")
