"""Scores of the features, best first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from columnist._text import number
from columnist.data._parameters import Integer
from columnist.data._validation import feature_names
from columnist.linalg._ties import ranked
from columnist.plotting._draw import axes_for, draw_bars
from columnist.plotting._picture import Bars

__all__ = ["FeatureScoresDisplay"]


class FeatureScoresDisplay:
    """Bars of the features' scores from the best down, the selected ones in colour.

    Parameters
    ----------
    scores : array-like of shape (n_features,)
        Larger is better; NaN for a feature without a score.
    selected : array-like of int, optional
        Selected features.
    names : sequence of str, optional
        Names of all features; ``x0``, ``x1``, ... by default.
    ranking : array-like of int, optional
        All features, best first; by score if not given.
    title : str, optional
        What the scores are.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    bars_ : matplotlib BarContainer
        One bar per feature shown, the best first.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")  # no window; not needed in a notebook
    >>> from sklearn.datasets import load_wine
    >>> from columnist.plotting import FeatureScoresDisplay
    >>> from columnist.spectral import FisherScore
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> display = FeatureScoresDisplay.from_estimator(FisherScore(3).fit(X, y))
    >>> display.ax_.get_yticklabels()[0].get_text()
    'flavanoids'
    """

    def __init__(
        self,
        scores,
        *,
        selected=(),
        names: Sequence[str] | None = None,
        ranking=None,
        title: str | None = None,
    ):
        self.scores = np.asarray(scores, dtype=np.float64)
        self.selected = np.asarray(selected, dtype=np.intp)
        self.names = [f"x{j}" for j in range(len(self.scores))] if names is None else list(names)
        if len(self.names) != len(self.scores):
            raise ValueError(
                f"{len(self.scores)} scores need as many names; got {len(self.names)}."
            )
        self.ranking = ranked(self.scores) if ranking is None else np.asarray(ranking)
        self.title = title

    @classmethod
    def from_estimator(cls, estimator, **options: Any) -> FeatureScoresDisplay:
        """Draw the scores of a fitted selector.

        Parameters
        ----------
        estimator : selector
            Fitted; any selector with ``scores_``.
        **options
            As in :meth:`plot`.

        Returns
        -------
        FeatureScoresDisplay
        """
        check_is_fitted(estimator)
        name = type(estimator).__name__
        if not hasattr(estimator, "scores_"):
            raise ValueError(f"{name} does not score features one by one: it has no scores_.")
        display = cls(
            estimator.scores_,
            selected=estimator.selected_,
            names=feature_names(estimator).tolist(),
            ranking=getattr(estimator, "ranking_", None),
            title=name,
        )
        return display.plot(**options)

    def plot(self, ax=None, *, max_features: int = 20) -> FeatureScoresDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to; a new figure by default.
        max_features : int, default=20
            Features to show, at most.

        Returns
        -------
        self
        """
        Integer(1).check("max_features", max_features)
        bars = self._picture(max_features)
        ax = axes_for(ax, figsize=(6.4, 1.2 + 0.26 * len(bars.values)))
        self.bars_ = draw_bars(ax, bars)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _picture(self, max_features: int) -> Bars:
        shown = self.ranking[:max_features]
        kept, values = np.isin(shown, self.selected), self.scores[shown]
        left_out = len(self.ranking) - len(shown)
        more = f", {left_out} more not shown" if left_out else ""
        return Bars(
            [self.names[j] for j in shown],
            values,
            ["no score" if np.isnan(value) else number(value, 3) for value in values],
            f"{self.title or 'Features'}: {kept.sum()} selected{more}",
            kept,
            f"{len(shown)} columns, the best first; {kept.sum()} of them are selected.",
            "score (larger is better)",
            ("selected", "not selected"),
        )
