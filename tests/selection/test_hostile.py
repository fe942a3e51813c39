"""Proofs where double precision runs out of digits, against enumeration in better arithmetic.

Every class of data here has once made a search call a choice optimal that was not.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp

from columnist import ColumnSelector
from columnist.criteria import Criterion, Frobenius, Nuclear, Schatten, Spectral
from columnist.data import _matrices
from tests.examples import examples
from tests.soak.criteria import USERS, library_criterion
from tests.soak.oracle import ColumnTruth

NEAR = 1e-9


def near(error: float) -> float:
    return NEAR * abs(error) + 1e-300


def check(selector, truth: ColumnTruth, *, decided: bool = True) -> None:
    """The certificate holds, the error is that of the selection, and optimal means best."""
    certificate = selector.certificate_
    low, high = truth.of(selector.selected_)
    best = truth.best()[0]
    assert certificate.lower_bound <= best + near(best)
    assert low - near(low) <= selector.error_ <= high + near(high)
    assert certificate.error == selector.error_
    assert certificate.status in ("optimal", "precision_limit")
    if decided:
        assert certificate.status == "optimal"
    if certificate.status == "optimal":
        assert low <= best + near(best)
        assert certificate.lower_bound >= low - near(low)


def near_copies(seed: int, apart: float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((9, 5))
    X[:, 4] = X[:, 0] + apart * rng.standard_normal(9)
    return X, rng.standard_normal((9, 1))


def forms(X: np.ndarray) -> list:
    return [X, sp.csr_array(X), sp.csc_array(X)]


# -- near copies and offsets ---------------------------------------------------------


def test_sparse_near_copies_as_they_were_found():
    X, y = near_copies(3, 1e-7)
    selector = ColumnSelector(4).fit(sp.csr_array(X), y)
    assert selector.error_ == pytest.approx(8.451, abs=1e-3)
    check(selector, ColumnTruth(X, y, 4, criterion="frobenius"))


@pytest.mark.parametrize("apart", [1e-8, 1e-7, 1e-6, 1e-5])
@pytest.mark.parametrize("criterion", ["frobenius", "nuclear"])
def test_near_copies(apart, criterion):
    for seed in range(examples(12)):
        X, y = near_copies(seed, apart)
        for target in (None, y):
            truth = ColumnTruth(X, target, 4, criterion=criterion)
            for form in forms(X):
                check(ColumnSelector(4, criterion=criterion).fit(form, target), truth)


@pytest.mark.parametrize("offset", [1e6, 1e7, 1e8])
def test_offsets_that_centring_removes(offset):
    for seed in range(examples(10)):
        rng = np.random.default_rng(seed)
        X, y = offset + rng.standard_normal((12, 6)), offset + rng.standard_normal((12, 2))
        for target in (None, y):
            truth = ColumnTruth(X, target, 3, criterion="frobenius", center=True)
            for form in forms(X):
                selector = ColumnSelector(3, centering="mean").fit(form, target)
                # 1e7 is what double precision has to decide.
                check(selector, truth, decided=offset <= 1e7)


@pytest.mark.parametrize("criterion", ["frobenius", "spectral"])
@pytest.mark.parametrize("apart", [1.0, 1e-3, 1e-5, 1e-6, 1e-8])
def test_gram_matrices_claim_no_more_than_they_hold(criterion, apart):
    """A Gram matrix holds the square of what tells near copies apart: at 1e-8 nothing is left."""
    for seed in range(examples(20)):
        X, _ = near_copies(seed, apart)
        selector = ColumnSelector(3, criterion=criterion, input="gram").fit(X.T @ X)
        if apart == 1e-8:
            X[:, 4] = X[:, 0]
        truth = ColumnTruth(X, None, 3, criterion=criterion, gram=True)
        # Rounding of the entries of the Gram matrix, seen through what the copies leave.
        doubt = 1e-14 / apart**2 if apart > 1e-8 else 1e-7
        certificate, best = selector.certificate_, truth.best()[0]
        low, _ = truth.of(selector.selected_)
        assert certificate.lower_bound <= best * (1.0 + doubt)
        assert certificate.status in ("optimal", "precision_limit")
        if apart >= 1e-3:
            assert certificate.status == "optimal"
        if certificate.status == "optimal":
            assert low <= best * (1.0 + doubt)


def test_blocks_of_rows_answer_as_arrays_do():
    da = pytest.importorskip("dask.array")
    for seed in range(examples(4, 2)):
        for apart in (1e-8, 1e-5):
            X, y = near_copies(seed, apart)
            truth = ColumnTruth(X, y, 4, criterion="frobenius")
            rows = da.from_array(X, chunks=(5, 5)), da.from_array(y, chunks=(5, 1))
            selector = ColumnSelector(4).fit(*rows)
            check(selector, truth)
            array = ColumnSelector(4).fit(X, y)
            np.testing.assert_array_equal(selector.selected_, array.selected_)
            assert selector.error_ == pytest.approx(array.error_, rel=NEAR)
        X = 1e7 + np.random.default_rng(seed).standard_normal((12, 6))
        selector = ColumnSelector(3, centering="mean").fit(da.from_array(X, chunks=(5, 6)))
        check(selector, ColumnTruth(X, None, 3, criterion="frobenius", center=True))


# -- directions that dominate --------------------------------------------------------


def test_a_dominating_column_as_it_was_found():
    X = np.random.default_rng(19).standard_normal((6, 5))
    X[:, 2] *= 1e8
    selector = ColumnSelector(1, n_components=1, criterion="nuclear").fit(X)
    assert selector.selected_.tolist() == [2]
    assert selector.error_ == pytest.approx(4.9679, abs=1e-4)
    assert selector.certificate_.status == "optimal"


@pytest.mark.parametrize("criterion", ["nuclear", "frobenius", "spectral"])
@pytest.mark.parametrize("ratio", [1e3, 1e5, 1e6, 1e8])
def test_dominating_columns(criterion, ratio):
    for seed in range(20):  # some seeds only are hard: none is left out
        X = np.random.default_rng(seed).standard_normal((6, 5))
        X[:, 2] *= ratio
        selector = ColumnSelector(1, n_components=1, criterion=criterion).fit(X)
        truth = ColumnTruth(X, None, 1, criterion=criterion, n_components=1)
        check(selector, truth, decided=ratio <= 1e6)


@pytest.mark.parametrize("criterion", ["nuclear", "frobenius", "spectral", "schatten:0.5"])
def test_a_long_column_is_decided(criterion):
    for seed in range(examples(15)):
        X = np.random.default_rng(seed).standard_normal((10, 8))
        X[:, seed % 8] *= 1e6
        truth = ColumnTruth(X, None, 3, criterion=criterion)
        check(ColumnSelector(3, criterion=criterion).fit(X), truth)


@pytest.fixture
def measured_with_care(monkeypatch) -> list:
    """The sets whose errors were computed in better than double precision."""
    sets: list = []

    def counting(own):
        def counted(self, subset, *arguments):
            sets.append(subset)
            return own(self, subset, *arguments)

        return counted

    for way in ("_verified_interval", "_accurate_spectra"):
        monkeypatch.setattr(_matrices, way, counting(getattr(_matrices, way)))
    return sets


def test_beside_a_long_column_few_sets_are_measured_with_care(measured_with_care):
    """Only those that may be better than what was found."""
    X = np.random.default_rng(0).standard_normal((40, 25))
    X[:, 2] *= 1e6
    selector = ColumnSelector(4, criterion="nuclear", time_limit=None).fit(X)
    assert selector.certificate_.status == "optimal"
    assert 0 < len(measured_with_care) < selector.certificate_.nodes_expanded / 2


def test_directions_that_selected_columns_took_are_no_errors(measured_with_care):
    """Roots of singular values that are rounding would blur every error."""
    X = np.random.default_rng(0).standard_normal((30, 12))
    selector = ColumnSelector(3, criterion="schatten:0.5").fit(X)
    assert selector.certificate_.status == "optimal"
    assert not measured_with_care


@pytest.mark.parametrize("criterion", ["nuclear", "frobenius", "spectral", "schatten:0.5"])
def test_no_error_at_all_is_decided(criterion):
    for seed in range(examples(10)):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((9, 3)) @ rng.standard_normal((3, 7))
        y = X[:, [1, 4]] @ rng.standard_normal((2, 2))
        for size, target in ((3, None), (2, y)):
            selector = ColumnSelector(size, criterion=criterion).fit(X, target)
            assert selector.certificate_.status == "optimal"
            assert 0.0 <= selector.certificate_.lower_bound <= selector.error_ <= 1e-10


@pytest.mark.parametrize("order", ["optimistic", "weighted"])
def test_other_orders_prove_no_more_than_is_true(order):
    for seed in range(examples(10)):
        X = np.random.default_rng(seed).standard_normal((7, 6))
        X[:, 5] = X[:, 0] + 1e-7 * X[:, 5]
        X[:, 2] *= 1e6
        for criterion in ("frobenius", "nuclear"):
            truth = ColumnTruth(X, None, 3, criterion=criterion, n_components=1)
            selector = ColumnSelector(
                3, n_components=1, criterion=criterion, search=order, epsilon=0.5
            ).fit(X)
            best = truth.best()[0]
            low, high = truth.of(selector.selected_)
            assert selector.certificate_.lower_bound <= best + near(best)
            assert low - near(low) <= selector.error_ <= high + near(high)
            if selector.certificate_.status == "optimal":
                assert low <= best + near(best)


# -- criteria of users ---------------------------------------------------------------


@pytest.mark.parametrize("criterion", USERS)
def test_criteria_of_users(criterion):
    for seed in range(examples(12)):
        rng = np.random.default_rng(seed)
        X, Y = rng.standard_normal((8, 6)), rng.standard_normal((8, 3))
        for target, n_components in ((None, 0), (None, 1), (Y, 0)):
            truth = ColumnTruth(X, target, 3, criterion=criterion, n_components=n_components)
            options = {"criterion": library_criterion(criterion), "n_components": n_components}
            check(ColumnSelector(3, **options).fit(X, target), truth)


def _logs(singular_values):
    return np.log1p(np.square(singular_values)).sum(axis=-1)


class Logs(Spectral):
    """More values count than those of the parent, whose ``n_leading`` is inherited."""

    def value(self, singular_values):
        return _logs(singular_values)


class OfFrobenius(Frobenius):
    """One spectrum at a time, without saying so."""

    def value(self, singular_values):
        return float(np.sum([np.log1p(float(s) ** 2) for s in np.ravel(singular_values)]))


class OfNuclear(Nuclear):
    """Below zero."""

    def value(self, singular_values):
        return _logs(singular_values) - 100.0


class OfSchatten(Schatten):
    """A parameter that says nothing."""

    def value(self, singular_values):
        return _logs(singular_values)


class Debt(Criterion):
    """Negative for every residual."""

    name = "debt"

    def value(self, singular_values):
        return -np.exp(-np.square(singular_values).sum(axis=-1) / 50.0)


@pytest.mark.parametrize(
    "criterion", [Logs(), OfFrobenius(), OfNuclear(), OfSchatten(3.0), Debt()],
    ids=lambda criterion: type(criterion).__name__,
)  # fmt: skip
@pytest.mark.parametrize("n_components", [0, 1])
def test_inherited_shortcuts_are_not_used(criterion, n_components):
    for seed in range(examples(12)):
        X = np.random.default_rng(seed).standard_normal((9, 7))

        def error(subset, X=X):
            Q = np.linalg.qr(X[:, list(subset)])[0]
            s = np.linalg.svd(X - Q @ (Q.T @ X), compute_uv=False)[: 9 - len(subset)]
            return float(criterion.value(s[n_components:]))

        every = {subset: error(subset) for subset in combinations(range(7), 3)}
        best = min(every.values())
        selector = ColumnSelector(3, criterion=criterion, n_components=n_components).fit(X)
        assert selector.certificate_.status == "optimal"
        assert selector.certificate_.lower_bound <= best + near(best)
        assert selector.error_ == pytest.approx(every[tuple(selector.selected_)], rel=NEAR)
        assert selector.error_ == pytest.approx(best, rel=NEAR)
        limited = ColumnSelector(
            3, criterion=criterion, n_components=n_components, max_nodes=1
        ).fit(X)
        assert limited.certificate_.lower_bound <= best + near(best)


# -- pools ---------------------------------------------------------------------------


def check_pool(selector, truth: ColumnTruth, count: int) -> None:
    best = truth.best(count)
    found = [tuple(solution) for solution in selector.solutions_]
    assert len(set(found)) == count
    assert selector.certificate_.status == "optimal"
    for columns, solution, limit in zip(found, selector.solutions_, best, strict=True):
        low, high = truth.of(columns)
        assert low <= limit + near(limit)
        assert low - near(low) <= solution.error <= high + near(high)


def test_pools_where_more_sets_are_best_than_anyone_looks_at():
    """Zero columns fill up the three that count: of 65,780 sets the best 253 are equally good."""
    X = np.zeros((3, 26))
    X[:, 23:] = np.diag([3.0, 2.0, 1.0])
    with pytest.warns(UserWarning, match="explain everything"):
        selector = ColumnSelector(5, n_solutions=5).fit(X)
    assert selector.certificate_.status == "optimal"
    for solution in selector.solutions_:
        assert {23, 24, 25} <= set(solution)
        assert solution.error == 0.0


@pytest.mark.filterwarnings("ignore:.*explain everything that.*:UserWarning")
def test_pools_of_few_directions():
    for seed in range(examples(10)):
        rng = np.random.default_rng(seed)
        n = 25 if seed < 2 else 8
        X = (rng.integers(-2, 3, (8, 2)) @ rng.integers(-2, 3, (2, n))).astype(float)
        for criterion in ("frobenius", "nuclear"):
            truth = ColumnTruth(X, None, 3, criterion=criterion)
            selector = ColumnSelector(3, n_solutions=5, criterion=criterion).fit(X)
            check_pool(selector, truth, 5)


def test_pools_among_near_copies():
    for seed in range(examples(10)):
        X, y = near_copies(seed, 1e-7)
        for target in (None, y):
            truth = ColumnTruth(X, target, 3, criterion="frobenius")
            check_pool(ColumnSelector(3, n_solutions=4).fit(X, target), truth, 4)


# -- columns that are very short -----------------------------------------------------


@pytest.mark.parametrize("exponent", [-100, -162, -178, -200])
@pytest.mark.parametrize("criterion", ["frobenius", "nuclear"])
def test_short_columns_explain_a_target(exponent, criterion):
    for seed in range(examples(6)):
        X = np.random.default_rng(seed).standard_normal((9, 5))
        y = X[:, 3] + 0.1 * X[:, 0]
        X[:, 3] *= 10.0**exponent
        selector = ColumnSelector(2, criterion=criterion).fit(X, y)
        assert selector.selected_.tolist() == [0, 3]
        assert selector.certificate_.status == "optimal"
        assert selector.error_ <= 1e-12
        assert ColumnSelector(1, criterion=criterion).fit(X, y).selected_.tolist() == [3]


@pytest.mark.parametrize(("p", "ratio"), [(50, 1e8), (100, 1e4), (200, 1e2), (1000, 5.0)])
def test_sums_of_high_powers_stay_in_range(p, ratio):
    """Seeds for which the first choice is not the best one."""
    for seed in (4, 28, 35):
        X = np.random.default_rng(seed).standard_normal((6, 6))
        X[:, 0] *= ratio
        criterion = Schatten(p)
        selector = ColumnSelector(3, criterion=criterion).fit(X)
        best = min(plain_error(X, columns, criterion) for columns in combinations(range(6), 3))
        assert selector.certificate_.status == "optimal"
        assert selector.error_ == pytest.approx(best, rel=1e-7)


def plain_error(X, columns, criterion) -> float:
    """In double precision."""
    Q = np.linalg.qr(X[:, columns])[0]
    rest = X - Q @ (Q.T @ X)
    rest -= Q @ (Q.T @ rest)
    return float(criterion.value(np.linalg.svd(rest, compute_uv=False)[: -len(columns)]))


def test_powers_beyond_the_range_are_no_error():
    for seed in range(5):
        X = np.random.default_rng(seed).standard_normal((8, 6))
        assert ColumnSelector(3, criterion=Schatten(2000)).fit(X).certificate_.status == "optimal"


@pytest.mark.parametrize("criterion", ["spectral", "nuclear"])
def test_denormal_data(criterion):
    X = np.random.default_rng(0).standard_normal((5, 4))
    selector = ColumnSelector(2, criterion=criterion).fit(X * 1e-155 * 1e-155)
    expected = ColumnSelector(2, criterion=criterion).fit(X)
    assert selector.certificate_.status == "optimal"
    assert selector.selected_.tolist() == expected.selected_.tolist()
    assert selector.error_ * 1e155 * 1e155 == pytest.approx(expected.error_, rel=1e-5)


def test_columns_at_the_cut_are_read_both_ways():
    """What is left of a column is what counts as nothing, but for its own rounding."""
    for seed in range(examples(20)):
        rng = np.random.default_rng(seed)
        X, y = rng.standard_normal((6, 4)), rng.standard_normal((6, 2))
        X[5] *= 1e6
        rest = rng.standard_normal(6) * [1, 1, 1, 1, 1, 0]
        for left in (0.6e-13, 1e-13, 1.1e-13):
            apart = left * np.linalg.norm(X[:, 2]) / np.linalg.norm(rest)
            X[:, 3] = X[:, 2] + apart * rest
            certificate = ColumnSelector(3, criterion="nuclear").fit(X, y).certificate_
            bounds = [
                ColumnTruth(X, y, 3, criterion="nuclear", exact=view).best()[0]
                for view in (False, True)
            ]
            assert certificate.lower_bound <= max(bounds) * (1.0 + NEAR)
            if certificate.status == "optimal":
                assert any(abs(certificate.error - best) <= near(best) for best in bounds)


def test_few_sparse_rows_span_no_more_than_their_number():
    """A dimension of rounding is none, also under a criterion that counts it most."""
    rng = np.random.default_rng(0)
    for seed in range(examples(20)):
        X, Y = rng.standard_normal((4, 4)), rng.standard_normal((4, 4))
        X[:, 2] *= 10.0 ** (seed % 6)
        dense, sparse = (
            ColumnSelector(1, criterion="schatten:0.5").fit(Z, Y) for Z in (X, sp.csr_array(X))
        )
        assert sparse.certificate_.status == "optimal"
        np.testing.assert_array_equal(sparse.selected_, dense.selected_)
        np.testing.assert_allclose(sparse.error_, dense.error_, rtol=1e-10)
