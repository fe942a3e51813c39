"""The search: the interface of problems, and the progress that a callback receives."""

from columnist.search._certificate import Certificate
from columnist.search._engine import search
from columnist.search._log import Progress
from columnist.search._policies import Policy, get_policy
from columnist.search._problem import Branches, Demand, SubsetProblem
from columnist.search._run import Limits, Run, SearchResult, Strategy

__all__ = [
    "Branches", "Certificate", "Demand", "Limits", "Policy", "Progress", "Run", "SearchResult",
    "Strategy", "SubsetProblem", "get_policy", "search",
]  # fmt: skip
