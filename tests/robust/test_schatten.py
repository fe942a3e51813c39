"""Greedy removal under Schatten quasi-norms: planted subspaces, the threshold, the rank."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from columnist.robust._schatten import SchattenPCA, _Kept, _Rule, apparent_rank, remove_rows
from columnist.robust._subspace import fit_subspace
from tests.robust.samples import contaminated, largest_angle
from tests.strategies import KINDS, matrices

CENTERINGS = ("optimal", "mean", "none")


def line(noise, seed=0, reach=1.0):
    """Ten outliers, then fifty points of a line in the plane; its direction."""
    rng = np.random.default_rng(seed)
    along = np.array([0.8, 0.6])
    inliers = np.outer(rng.uniform(-reach, reach, 50), along)
    X = np.vstack([rng.uniform(-1.0, 1.0, (10, 2)), inliers])
    return X + noise * rng.standard_normal(X.shape), along[None]


@pytest.mark.parametrize("seed", range(3))
def test_outliers_of_an_exact_line(seed):
    """Figure 8.2: the sum falls by almost a dimension when the last outlier goes."""
    X, along = line(0.0, seed)
    found = SchattenPCA(15, centering="none").fit(X)
    assert set(found.removal_order_[:10]) == set(range(10))
    np.testing.assert_array_equal(found.outliers_, np.arange(10))
    np.testing.assert_array_equal(found.predict(X)[:10], -1)
    assert found.components_.shape == (1, 2)
    assert largest_angle(found.components_, along) < 1e-6
    drops = -np.diff(found.schatten_path_)
    assert np.argmax(drops) == 9 and drops[9] > 0.5
    assert drops[np.arange(15) != 9].max() < 0.2


@pytest.mark.parametrize("seed", range(3))
def test_outliers_of_a_noisy_line(seed):
    X, along = line(0.01, seed)
    found = SchattenPCA(15, centering="none").fit(X)
    assert largest_angle(found.components_, along) < 1.0
    clear = np.abs(X[:10] @ [-0.6, 0.8]) > 0.06
    assert set(np.flatnonzero(clear)) <= set(found.outliers_)
    assert len(found.outliers_) < 15


def test_a_large_exponent_prefers_long_rows():
    X, _ = line(0.0, reach=10.0)
    small, large = (SchattenPCA(15, p=p, centering="none").fit(X) for p in (0.1, 0.7))
    assert set(range(10)) <= set(small.removal_order_)
    assert not set(range(10)) & set(large.removal_order_)


@pytest.mark.parametrize("centering", CENTERINGS)
def test_removal_and_return(centering):
    """What goes is what the kernel says; what returns is near the others' subspace."""
    X, _ = contaminated(60, 6, 2, 5, np.random.default_rng(0))
    mean = {"optimal": None, "mean": X.mean(axis=0), "none": np.zeros(6)}[centering]
    found = SchattenPCA(12, n_components=2, centering=centering).fit(X)
    removed = remove_rows(X, 12, 0.1, mean=mean).order
    np.testing.assert_array_equal(found.removal_order_, removed)
    before = fit_subspace(np.delete(X, removed, axis=0), 2, mean)
    distances = before.orthogonal_distances(X[removed])
    assert set(range(5)) <= set(found.outliers_) <= set(removed)
    stayed = np.isin(removed, found.outliers_)
    assert distances[~stayed].max() < distances[stayed].min()
    after = fit_subspace(np.delete(X, found.outliers_, axis=0), 2, mean)
    np.testing.assert_allclose(found.components_, after.components, atol=1e-12)
    np.testing.assert_allclose(found.mean_, after.mean)


def test_no_outliers_at_all():
    X = np.random.default_rng(0).standard_normal((50, 2)) @ [[1.0, 2, 3, 4], [4.0, -3, 2, 1]]
    found = SchattenPCA(0.2).fit(X)
    assert len(found.removal_order_) == 10 and len(found.outliers_) == 0
    assert found.n_components_ == 2
    nothing = SchattenPCA(0).fit(X)
    assert len(nothing.removal_order_) == 0 and len(nothing.schatten_path_) == 1


@pytest.mark.parametrize("offset", [0.0, 100.0])
def test_affine_subspaces(offset):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3)) @ rng.standard_normal((3, 12)) + offset
    X[:30] += rng.standard_normal((30, 12))
    found = SchattenPCA(0.6).fit(X)
    np.testing.assert_array_equal(found.outliers_, np.arange(30))
    assert found.n_components_ == 3 and found.error_ < 1e-18 * max(offset, 1.0) ** 2


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1))
def test_motions_and_permutations(seed):
    rng = np.random.default_rng(seed)
    X, _ = contaminated(40, 5, 2, 4, rng)
    turn = np.linalg.qr(rng.standard_normal((5, 5)))[0]
    order = rng.permutation(40)
    plain = SchattenPCA(6, n_components=2).fit(X)
    moved = SchattenPCA(6, n_components=2).fit((X @ turn + 7.0)[order])
    np.testing.assert_array_equal(order[moved.removal_order_], plain.removal_order_)
    np.testing.assert_array_equal(np.sort(order[moved.outliers_]), plain.outliers_)
    np.testing.assert_allclose(moved.schatten_path_, plain.schatten_path_)


@pytest.mark.parametrize("scale", [1e-140, 1e140])
def test_path_scales_with_the_data(scale):
    X, _ = line(0.01)
    plain, scaled = SchattenPCA(15).fit(X), SchattenPCA(15).fit(X * scale)
    np.testing.assert_array_equal(scaled.removal_order_, plain.removal_order_)
    np.testing.assert_allclose(scaled.schatten_path_, plain.schatten_path_ * scale**0.1)


@pytest.mark.parametrize(
    ("sigma", "rank"),
    [
        ([5.0, 4.0, 3.0, 0.0, 0.0], 3),
        ([5.0, 4.0, 0.2, 0.15, 0.1], 2),
        ([5.0, 4.0, 3.0, 2.0, 1e-3], 4),
        ([9.0, 8.0, 1.0, 0.9, 0.8, 0.7, 0.6, 1e-5], 2),
        ([5.0, 0.1], 1),
        ([5.0], 1),
        ([0.0, 0.0], 1),
    ],
)
def test_apparent_rank(sigma, rank):
    rng = np.random.default_rng(0)
    n = len(sigma)
    Q, V = (np.linalg.qr(rng.standard_normal((n, n)))[0] for _ in range(2))
    X = (Q * sigma) @ V
    assert apparent_rank(X, np.zeros(n)) == rank
    # The same rows and their opposites have mean zero.
    assert apparent_rank(np.vstack([X, -X])) == rank


def test_given_components():
    X, _ = line(0.0)
    found = SchattenPCA(10, n_components=2).fit(X)
    assert found.components_.shape == (2, 2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"p": 0.0}, "p must be a number > 0 and <= 1"),
        ({"p": 1.5}, "p must be a number > 0 and <= 1"),
        ({"centering": "median"}, "centering must be one of 'optimal', 'mean', 'none'"),
        ({"n_components": 3}, "n_components=3 is too large"),
        ({"n_components": 0}, "n_components must be an integer >= 1"),
    ],
)
def test_parameters(options, message):
    with pytest.raises(ValueError, match=message):
        SchattenPCA(3, **options).fit(line(0.0)[0])


# -- removal -------------------------------------------------------------------------


POWERS = (0.01, 0.1, 0.5, 0.7, 1.0, 1.5)


def spectrum(X, free):
    return np.linalg.svd(X - X.mean(axis=0) if free else X, compute_uv=False)


def rounding(X, free, size):
    """Singular values of the rows below this are zero."""
    largest = max(spectrum(X, free)[0], np.linalg.norm(X.mean(axis=0)) * np.sqrt(len(X)) * free)
    return size * np.finfo(np.float64).eps * largest


def measure(X, p, free, floor):
    sigma = spectrum(X, free)
    return float(np.sum(sigma[sigma > floor] ** p))


def assert_greedy(X, order, p, free):
    """Every row removed is the first of those without which the sum is smallest."""
    rows = np.arange(len(X))
    for row in order:
        floor = rounding(X[rows], free, max(X.shape))
        sums = np.array([measure(X[rows[rows != c]], p, free, floor) for c in rows])
        near = 1e-10 * measure(X[rows], p, free, floor)
        assert row == rows[np.flatnonzero(sums <= sums.min() + near)[0]]
        rows = rows[rows != row]


def remove(X, count, p, free):
    return remove_rows(X, count, p, mean=None if free else np.zeros(X.shape[1]))


@settings(max_examples=150)
@given(
    st.sampled_from(KINDS).flatmap(
        lambda kind: matrices(min_columns=2, max_columns=10, kinds=(kind,))
    ),
    st.sampled_from(POWERS),
    st.booleans(),
    st.data(),
)
def test_against_the_definition(columns, p, free, data):
    """The strategies make awkward columns; here they are rows."""
    X = columns.T
    if data.draw(st.booleans()):
        X = X + np.arange(X.shape[1])
    count = data.draw(st.integers(0, len(X) - 1))
    found = remove(X, count, p, free)
    assert_greedy(X, found.order, p, free)
    for step in range(count + 1):
        left = np.delete(X, found.order[:step], axis=0)
        expected = measure(left, p, free, rounding(left, free, max(X.shape)))
        assert found.sums[step] == pytest.approx(expected, abs=1e-11 * max(found.sums[0], 1e-300))


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize(("n", "q"), [(40, 6), (25, 25), (20, 50)])
def test_larger(n, q, free):
    X = np.random.default_rng(0).standard_normal((n, q)) * np.geomspace(1.0, 1e-3, q)
    assert_greedy(X, remove(X, n // 2, 0.1, free).order, 0.1, free)


@given(st.integers(0, 2**32 - 1), st.sampled_from(POWERS), st.integers(1, 7), st.integers(0, 9))
def test_quadrature(seed, p, d, decades):
    """Graded spectra, and rows of every leverage up to that of a lone direction."""
    rng = np.random.default_rng(seed)
    lam = np.sort(10.0 ** -rng.uniform(0, decades, d))[::-1]
    lam /= lam[0]
    units = rng.standard_normal((6, d))
    units /= np.linalg.norm(units, axis=1)[:, None]
    gaps = np.array([1.0, 0.9, 0.5, 1e-2, 0.0, 0.0])
    u = np.sqrt(1.0 - gaps)[:, None] * units
    found = _Rule(lam, p / 2, lam[-1] * 1e-2).changes(u**2, gaps)
    for change, row, gap in zip(found, u, gaps, strict=True):
        # The eigenvalues through singular values: no squares are lost.
        core = np.diag(np.sqrt(lam)) - np.outer(row, row * np.sqrt(lam)) / (1 + np.sqrt(gap))
        sigma = np.linalg.svd(core, compute_uv=False)[: d - (gap == 0.0)]
        expected = np.sum(sigma**p) - np.sum(lam ** (p / 2))
        assert change == pytest.approx(expected, abs=3e-12 * np.sum(lam ** (p / 2)))


@pytest.mark.parametrize("free", [False, True])
def test_updates_stay_orthonormal(free):
    X = np.random.default_rng(1).standard_normal((80, 30))
    kept = _Kept(X, None if free else np.zeros(30))
    for _ in range(60):
        kept.remove(*kept.best(0.1))
        U = kept.U
        np.testing.assert_allclose(U.T @ U, np.eye(U.shape[1]), atol=1e-12)
        np.testing.assert_allclose(kept.sigma, spectrum(X[kept.rows], free)[: U.shape[1]])


def test_equal_rows_go_in_order():
    X = np.repeat(np.eye(3), 2, axis=0)
    np.testing.assert_array_equal(remove(X, 4, 0.5, free=False).order[:2], [0, 1])
    np.testing.assert_array_equal(remove(np.ones((4, 2)), 3, 0.1, free=True).order, [0, 1, 2])


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1))
def test_motions_do_not_matter(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((12, 4))
    turn = np.linalg.qr(rng.standard_normal((4, 4)))[0]
    plain, moved = remove(X, 6, 0.1, True), remove(X @ turn + 3.0, 6, 0.1, True)
    np.testing.assert_array_equal(moved.order, plain.order)
    np.testing.assert_allclose(moved.sums, plain.sums)


def test_a_given_mean_is_subtracted():
    X = np.random.default_rng(0).standard_normal((15, 4))
    one = remove_rows(X + 5.0, 6, 0.1, mean=np.full(4, 5.0))
    np.testing.assert_array_equal(one.order, remove(X, 6, 0.1, False).order)


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("tiny", [1e-2, 1e-6, 1e-9])
def test_a_small_step_out_of_the_subspace_costs_a_dimension(free, tiny):
    """Squared, the last of these would be lost in rounding."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 3)) @ rng.standard_normal((3, 8))
    X[7] += tiny * rng.standard_normal(8)
    found = remove(X, 1, 0.1, free)
    np.testing.assert_array_equal(found.order, [7])
    assert_greedy(X, found.order, 0.1, free)


def test_small_rows_count_again_when_a_huge_one_is_gone():
    X = np.random.default_rng(0).standard_normal((20, 3))
    X[4] *= 1e18
    found = remove(X, 2, 0.1, False)
    assert found.order[0] == 4
    np.testing.assert_allclose(found.sums[1], np.sum(spectrum(X[np.arange(20) != 4], False) ** 0.1))


@pytest.mark.parametrize("free", [False, True])
def test_all_but_one(free):
    X = np.random.default_rng(0).standard_normal((6, 3))
    found = remove(X, 5, 0.3, free)
    assert len(set(found.order)) == 5
    left = np.delete(X, found.order, axis=0)
    assert found.sums[-1] == pytest.approx(0.0 if free else np.linalg.norm(left) ** 0.3)
