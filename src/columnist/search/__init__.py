"""The search: what the author of a problem needs, and what a callback receives."""

from columnist.search._certificate import Certificate
from columnist.search._engine import Limits, SearchResult, search
from columnist.search._log import Progress
from columnist.search._policies import Policy, get_policy
from columnist.search._problem import Branches, Demand, SubsetProblem

__all__ = [
    "Branches",
    "Certificate",
    "Demand",
    "Limits",
    "Policy",
    "Progress",
    "SearchResult",
    "SubsetProblem",
    "get_policy",
    "search",
]
