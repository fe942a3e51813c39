"""Plots of selections, scores and outliers, in the style of scikit-learn's displays.

A display holds numbers; ``plot`` draws them and keeps the artists as attributes, so
that a figure can be restyled without computing anything again. Matplotlib is loaded only by
``plot``: ``pip install "columnist[plot]"`` brings it.
"""

from columnist.plotting._bars import FeatureScoresDisplay, RepresentativeDisplay
from columnist.plotting._comparison import ComparisonDisplay
from columnist.plotting._outliers import OutlierImagesDisplay, OutlierMapDisplay, ScreeDisplay
from columnist.plotting._paths import ErrorPathDisplay, OutlierPathDisplay, SearchProgressDisplay
from columnist.plotting._stability import StabilityDisplay
from columnist.plotting._subset import SubsetPathDisplay
from columnist.plotting._verdicts import VerdictDisplay

__all__ = [
    "ComparisonDisplay", "ErrorPathDisplay", "FeatureScoresDisplay", "OutlierImagesDisplay",
    "OutlierMapDisplay", "OutlierPathDisplay", "RepresentativeDisplay", "ScreeDisplay",
    "SearchProgressDisplay", "StabilityDisplay", "SubsetPathDisplay", "VerdictDisplay",
]  # fmt: skip
