"""Pictures of selections, scores and outliers, in the style of scikit-learn's displays.

A display holds numbers; ``plot`` draws them and keeps the artists as attributes, so
that a figure can be restyled without computing anything again. Matplotlib is loaded by ``plot``
and by nothing else: ``pip install "columnist[plot]"`` brings it.
"""

from columnist.plotting.comparison import ComparisonDisplay
from columnist.plotting.error_path import ErrorPathDisplay
from columnist.plotting.feature_scores import FeatureScoresDisplay
from columnist.plotting.image_grid import OutlierImagesDisplay
from columnist.plotting.outlier_map import OutlierMapDisplay
from columnist.plotting.outlier_path import OutlierPathDisplay
from columnist.plotting.representative import RepresentativeDisplay
from columnist.plotting.scree import ScreeDisplay
from columnist.plotting.search_progress import SearchProgressDisplay

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
