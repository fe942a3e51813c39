"""Orders of the search, and their guarantees.

A policy turns the bound f and a second figure of a branch into its priority (smallest first). With
e the error of the best complete set, the search ends once no open branch has a smaller priority
than a complete set of that error would have; then, for the open branch z on the way to the optimum
e*,

* ``weighted`` with u:  (1 + eps) e <= e* + eps u(z), hence
  e - e* <= eps / (1 + eps) (u(root) - f(root)),
* ``weighted`` with h = u - f:  e <= e* + eps h(root),
* ``weighted`` with b:  e <= e* (1 + eps (k + 1)) / (1 + eps),
* ``greedy``:  e - e* <= u(root) - f(root).

Whatever the order, the smallest f of all open branches is a proof, and usually the better one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

SEARCHES = ("auto", "optimal", "weighted", "greedy", "optimistic")
WEIGHTS = ("u", "g", "h", "b")


@dataclass(frozen=True)
class Policy:
    """An order of the search.

    Attributes
    ----------
    name : str
        ``"optimal"``, ``"weighted"``, ``"greedy"`` or ``"optimistic"``.
    weight : str or None
        Second figure the order needs: ``"u"``, ``"h"``, ``"b"`` or None.
    epsilon : float
        Its weight.
    """

    name: str
    weight: str | None = None
    epsilon: float = 0.0

    @property
    def by_bound(self) -> bool:
        """Whether the order is the bound itself."""
        return self.name == "optimal"

    @property
    def figure(self) -> str | None:
        """The figure that the problem computes for every child."""
        return "u" if self.weight == "h" else self.weight

    @property
    def follows_u(self) -> bool:
        """Whether the order is u alone, so that the best child must keep every candidate."""
        return self.weight == "u" and not np.isfinite(self.epsilon)

    @property
    def starts_strong(self) -> bool:
        """Whether greedy and exchanges provide an incumbent first."""
        return self.name in ("optimal", "weighted")

    def priority(self, f: np.ndarray, figure: np.ndarray) -> np.ndarray:
        """Priority of branches, smallest first."""
        if self.weight is None:
            return f
        if self.follows_u:
            return figure
        if self.weight == "h":
            return f + self.epsilon * (figure - f)
        return f + self.epsilon * figure

    def goal_priority(self, error: float) -> float:
        """Priority a complete set of this error would have."""
        if self.weight is None or self.weight == "h" or self.follows_u:
            return error
        return (1.0 + self.epsilon) * error

    def a_priori(self, f: float, u: float, size: int) -> float | None:
        """Bound on error - optimum before the search, from f and u of the root."""
        if self.weight is None or self.name == "optimistic":
            return None
        if self.follows_u:
            return u - f
        if self.weight == "h":
            return self.epsilon * (u - f)
        if self.weight == "b":
            # e - e* <= eps k / (1 + eps) e*, and e* <= min((k + 1) f, u).
            return self.epsilon * size / (1.0 + self.epsilon) * min((size + 1) * f, u)
        return self.epsilon / (1.0 + self.epsilon) * (u - f)


def get_policy(search: str, weight: str = "u", epsilon: float = 0.0) -> Policy:
    """The policy for a name.

    Examples
    --------
    >>> from columnist.search import get_policy
    >>> get_policy("weighted", "u", 0.5).goal_priority(2.0)
    3.0
    """
    for name, value, known in (("search", search, SEARCHES), ("weight", weight, WEIGHTS)):
        if value not in known:
            raise ValueError(f"{name} must be one of {', '.join(known)}, got {value!r}.")
    weight = "u" if weight == "g" else weight
    if search in ("auto", "optimal") or (search == "weighted" and epsilon == 0.0):
        return Policy("optimal")
    if search == "weighted":
        return Policy("weighted", weight, epsilon)
    if search == "greedy" or epsilon == 0.0:
        return Policy(search, "u", np.inf)
    return Policy(search, weight, epsilon)
