"""
Write your own constraint: sensors at a distance
================================================

Thirty temperature sensors are placed in a field, and five of them are to be selected. Neighbouring
sensors often fail together, so selected sensors have to be at least 22 m apart.
:mod:`columnist.constraints` has no such constraint, but a class with one method defines it, and two
more methods make the proof faster.
"""

# %%
# The constraint
# --------------
# ``obeys`` checks a complete selection; only this method is required. ``allowed`` refuses sensors
# that are too close to a selected one. ``most`` bounds a sum of scores: of the sensors in one
# square whose diagonal is shorter than the distance at most one can be selected.

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from columnist.constraints import Constraint


@dataclass(frozen=True)
class FarApart(Constraint):
    """Selected sensors are at least so far from one another."""

    places: tuple[tuple[float, float], ...]
    distance: float

    def _near(self, some, others):
        some, others = (np.asarray(self.places)[np.asarray(i, dtype=int)] for i in (some, others))
        steps = some[:, None, :] - others[None, :, :]
        return np.square(steps).sum(axis=2) < self.distance**2

    def obeys(self, subset):
        return self._near(subset, subset).sum() == len(subset)  # each is near itself only

    def allowed(self, chosen, candidates):
        return ~self._near(candidates, chosen).any(axis=1)

    @cached_property
    def _squares(self):
        """Number of the square of each sensor."""
        squares = np.floor(np.asarray(self.places) / (0.7 * self.distance))
        return np.unique(squares, axis=0, return_inverse=True)[1].ravel()

    def most(self, scores, chosen, candidates, limit):
        best = np.zeros(len(self.places))
        np.maximum.at(best, self._squares[candidates], scores)
        return float(np.sort(best)[::-1][:limit].sum()) * (1.0 + 1e-12)


# %%
# The data
# --------
# The temperature is a smooth random field, measured at 200 moments.

from columnist import ColumnSelector

rng = np.random.default_rng(0)
places = rng.uniform(0.0, 60.0, (30, 2))
waves = rng.uniform(-0.25, 0.25, (2, 12))
field = np.hstack([np.sin(places @ waves), np.cos(places @ waves)])
X = rng.standard_normal((200, 24)) @ field.T + 0.3 * rng.standard_normal((200, 30))

# %%
# Five sensors, with and without the constraint
# ---------------------------------------------

apart = FarApart(tuple(map(tuple, places.tolist())), 22.0)
free = ColumnSelector(5, centering="mean").fit(X)
obeying = ColumnSelector(5, centering="mean", constraints=[apart]).fit(X)
for name, selector in (("any five", free), ("at a distance", obeying)):
    print(f"{name:>14}: {selector.relative_error_:.4f}  {selector.certificate_.status}")

# %%
# Both selections are proven, so the increase of the error by the constraint is known exactly.

import matplotlib.pyplot as plt

figure, axes = plt.subplots(1, 2, figsize=(8, 4), sharey=True, layout="constrained")
for axis, selector, title in zip(
    axes, (free, obeying), ("any five sensors", "at least 22 m apart"), strict=True
):
    axis.scatter(*places.T, color="0.8", label="dropped")
    axis.scatter(*places[selector.selected_].T, color="C0", label="selected")
    axis.set(title=f"{title}: {selector.relative_error_:.1%} unexplained", xlabel="metres")
    axis.set_aspect("equal")
axes[0].legend()
plt.show()
