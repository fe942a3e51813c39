"""Pictures of selections, in the style of scikit-learn's displays.

A display holds numbers; ``plot`` draws them and keeps the artists as attributes, so
that a figure can be restyled without computing anything again. Matplotlib is loaded by ``plot``
and by nothing else: ``pip install "columnist[plot]"`` brings it.
"""

from columnist.plotting.comparison import ComparisonDisplay
from columnist.plotting.error_path import ErrorPathDisplay
from columnist.plotting.representative import RepresentativeDisplay
from columnist.plotting.search_progress import SearchProgressDisplay

__all__ = [
    "ComparisonDisplay",
    "ErrorPathDisplay",
    "RepresentativeDisplay",
    "SearchProgressDisplay",
]
