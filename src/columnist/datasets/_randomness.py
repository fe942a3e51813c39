"""Randomness of the generators."""

from __future__ import annotations

import numpy as np

from columnist.data._validation import random_generator

__all__ = ["generator"]


def generator(random_state) -> np.random.Generator:
    """A NumPy generator from a seed, a RandomState or None; a generator is used as it is."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    return random_generator(random_state)
