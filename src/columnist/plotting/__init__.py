"""Pictures of selections, scores and outliers, in the style of scikit-learn's displays.

A display holds numbers; ``plot`` draws them and keeps the artists as attributes, so
that a figure can be restyled without computing anything again. Matplotlib is loaded by ``plot``
and by nothing else: ``pip install "columnist[plot]"`` brings it.
"""

from columnist.plotting._comparison import ComparisonDisplay
from columnist.plotting._error_path import ErrorPathDisplay
from columnist.plotting._feature_scores import FeatureScoresDisplay
from columnist.plotting._image_grid import OutlierImagesDisplay
from columnist.plotting._outlier_map import OutlierMapDisplay
from columnist.plotting._outlier_path import OutlierPathDisplay
from columnist.plotting._representative import RepresentativeDisplay
from columnist.plotting._scree import ScreeDisplay
from columnist.plotting._search_progress import SearchProgressDisplay

__all__ = [
    "ComparisonDisplay",
    "ErrorPathDisplay",
    "FeatureScoresDisplay",
    "OutlierImagesDisplay",
    "OutlierMapDisplay",
    "OutlierPathDisplay",
    "RepresentativeDisplay",
    "ScreeDisplay",
    "SearchProgressDisplay",
]
