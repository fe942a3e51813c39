"""Small sets that need no file, and what the documents say of them."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from sklearn import datasets as sklearn_datasets

from columnist import datasets
from reproduction.robust_toys import matrix, seven_points

LOADERS = [name for name in datasets.__all__ if name.startswith("load_")]


def tail(X: np.ndarray, rank: int) -> float:
    """Error of the best approximation of this rank."""
    return float(np.sqrt(np.sum(np.linalg.svd(X, compute_uv=False)[rank:] ** 2)))


def without(X: np.ndarray, column: int) -> np.ndarray:
    """X less its projection on one column."""
    q = X[:, [column]] / np.linalg.norm(X[:, column])
    return X - q @ (q.T @ X)


@pytest.mark.parametrize("name", LOADERS)
def test_every_set_is_whole_and_the_callers(name):
    load = getattr(datasets, name)
    found = load()
    assert found.data.dtype == np.float64 and found.data.ndim == 2
    assert len(found.feature_names) == found.data.shape[1]
    assert found.DESCR.strip()
    kept = found.data.copy()
    found.data[:] = -7.0
    np.testing.assert_array_equal(load().data, kept)


def test_standardized():
    for load in (datasets.load_wdbc, datasets.load_wine, datasets.load_digits):
        X = load(standardize=True).data
        np.testing.assert_allclose(X.mean(axis=0), 0.0, atol=1e-12)
        np.testing.assert_allclose(X.std(axis=0), 1.0)


def test_digits_without_constant_columns():
    theirs, ours = sklearn_datasets.load_digits(), datasets.load_digits()
    assert ours.data.shape == (1797, 61)
    places = [theirs.feature_names.index(name) for name in ours.feature_names]
    np.testing.assert_array_equal(theirs.data[:, places], ours.data)
    dropped = sorted(set(range(64)) - set(places))
    assert np.ptp(theirs.data[:, dropped], axis=0).max() == 0.0
    assert datasets.load_digits(drop_constant=False).data.shape == (1797, 64)


def test_select_first_is_not_optimal():
    X, best = datasets.load_hybrid_example().data, datasets.load_hybrid_example().target
    alone = [tail(without(X, j), 0) for j in range(3)]
    pairs = [tail(without(X, j), 1) for j in range(3)]
    assert np.argmin(alone) == 2 and np.argmin(pairs) == best == 0
    assert round(alone[2], 1) == 133.9
    assert round(pairs[2], 1) == 89.0
    assert int(10 * pairs[0]) / 10 == 77.4  # cut, not rounded, in print


def test_extract_first_is_not_optimal():
    example = datasets.load_hybrid_example("extract first")
    X = example.data
    u, s, vt = np.linalg.svd(X)
    rest = X - s[0] * np.outer(u[:, 0], vt[0])
    after = [tail(rest - projection(X[:, j], u[:, 0]) @ rest, 0) for j in range(3)]
    pairs = [tail(without(X, j), 1) for j in range(3)]
    assert np.argmin(after) == 1 and np.argmin(pairs) == example.target == 2
    assert int(100 * min(after)) / 100 == 20.44
    assert round(min(pairs), 1) == 18.8


def projection(*vectors: np.ndarray) -> np.ndarray:
    """On the span of some vectors."""
    q = np.linalg.qr(np.column_stack(vectors))[0]
    return q @ q.T


def test_an_unknown_example():
    with pytest.raises(ValueError, match="which must be one of"):
        datasets.load_hybrid_example("both")


def test_seven_points_are_the_printed_ones():
    toy = datasets.load_seven_points()
    np.testing.assert_array_equal(toy.data, seven_points()[0])
    errors = {
        left: tail(np.delete(toy.data, left, 0) - np.delete(toy.data, left, 0).mean(axis=0), 1)
        for left in range(7)
    }
    assert min(errors, key=errors.get) == np.flatnonzero(toy.target < 0).item() == 6


def test_bias_example():
    toy = datasets.load_bias_example()
    np.testing.assert_array_equal(toy.data, matrix("X").T)
    assert toy.bias == matrix("biased")[-1, 0]
    centred = toy.data - toy.data.mean(axis=0)
    spectrum = np.linalg.eigvalsh(centred.T @ centred)[::-1]
    np.testing.assert_allclose(toy.target, spectrum)
    np.testing.assert_allclose(toy.target, matrix("centred eigenvalues").ravel(), atol=1e-4)


def test_privacy_example():
    toy = datasets.load_privacy_example()
    np.testing.assert_array_equal(toy.target, [[2, 5], [2, 8], [4, 7], [1, 16]])
    np.testing.assert_array_equal(toy.cleaned, [[1, -1], [1, -1], [2, -2], [0.5, -0.5]])
    np.testing.assert_array_equal(toy.cleaned @ toy.coef[0], toy.target[:, 0])


def test_body_measures_repeat_themselves():
    toy = datasets.load_body_measures()
    np.testing.assert_allclose(toy.data[:, 0] / toy.data[:, 1], 30.48, atol=0.06)
    np.testing.assert_allclose(toy.data[:, 3] / toy.target[:, 1], 2.2046, atol=2e-3)


def test_outliers_of_crossing_lines_depend_on_how_many():
    toy = datasets.load_crossing_lines()

    def best(k: int) -> set[int]:
        """The k points without which the others lie best on a line through the origin."""
        removals = combinations(range(10), k)
        return set(min(removals, key=lambda out: tail(np.delete(toy.data, out, axis=0), 1)))

    assert best(4) == set(np.flatnonzero(toy.target == 1))
    assert best(6) == set(np.flatnonzero(toy.target == 0))
