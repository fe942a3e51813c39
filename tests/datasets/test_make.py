"""What all generators have in common."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
import scipy.sparse as sp

from columnist import datasets

SMALL = {
    "make_wide_sparse": {"n_samples": 50, "n_features": 2000},
    "make_phase_transition": {"n": 20},
}
GENERATORS = [name for name in datasets.__all__ if name.startswith("make_")]
RANDOM = [name for name in GENERATORS if name != "make_two_stars"]


def made(name: str, random_state):
    return getattr(datasets, name)(**SMALL.get(name, {}), random_state=random_state)


def dense(parts) -> list[np.ndarray]:
    return [part.toarray() if sp.issparse(part) else part for part in parts]


@pytest.mark.parametrize("name", RANDOM)
def test_a_seed_decides_all(name):
    for first, second in zip(dense(made(name, 3)), dense(made(name, 3)), strict=True):
        np.testing.assert_array_equal(first, second)
    assert not np.array_equal(dense(made(name, 3))[0], dense(made(name, 4))[0])


@pytest.mark.parametrize("name", RANDOM)
def test_every_kind_of_random_state(name):
    made(name, None)
    state = np.random.RandomState(0)
    first, second = (dense(made(name, state))[0] for _ in range(2))
    assert not np.array_equal(first, second)
    rng = np.random.default_rng(0)
    first, second = (dense(made(name, rng))[0] for _ in range(2))
    assert not np.array_equal(first, second)


@pytest.mark.parametrize("name", RANDOM)
def test_the_global_generator_is_left_alone(name):
    np.random.seed(0)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    made(name, 0)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


@pytest.mark.parametrize("name", GENERATORS)
def test_counts_are_checked(name):
    parameters = inspect.signature(getattr(datasets, name)).parameters
    first = next(iter(parameters))
    for wrong in (0, -1, 2.5, "many", True):
        with pytest.raises(ValueError, match=first):
            getattr(datasets, name)(**{first: wrong})


@pytest.mark.parametrize("name", RANDOM)
def test_values_are_finite(name):
    X = made(name, 0)[0]
    assert X.dtype == np.float64
    assert np.isfinite(X.data if sp.issparse(X) else X).all()
