"""How good a choice of columns is."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from columnist import ColumnSelector
from columnist.criteria import Frobenius, Nuclear
from columnist.metrics import (
    matrix_consistency,
    neighbour_jaccard,
    reconstruction_error,
    redundancy_rate,
    similarity_residue,
)
from columnist.spectral._similarity import fisher_similarity, knn_similarity
from tests.oracles.brute_force import subset_error
from tests.strategies import CRITERIA, matrices, targets, tolerance

FORMS = [np.asarray, sp.csr_array, sp.csc_array]


def unit(X):
    lengths = np.linalg.norm(X, axis=0)
    return X / np.where(lengths > 0.0, lengths, 1.0)


def kernel(n, seed, density=0.5):
    rng = np.random.default_rng(seed)
    K = rng.standard_normal((n, n)) * (rng.random((n, n)) < density)
    return K + K.T


@given(
    matrices(), st.integers(0, 10**6), st.sampled_from(FORMS), st.sampled_from(FORMS),
    st.booleans(), st.booleans(), st.booleans(), st.data(),
)  # fmt: skip
def test_residue_by_definition(X, seed, form, kernel_form, normalize, weighted, squared, data):
    K = kernel(len(X), seed)
    columns = data.draw(st.lists(st.integers(0, X.shape[1] - 1), unique=True, min_size=1))
    F = unit(X[:, columns]) if normalize else X[:, columns]
    W = np.random.default_rng(seed).standard_normal((len(columns), 2)) if weighted else None
    F = F if W is None else F @ W
    expected = np.linalg.norm(F @ F.T - K) ** (2 if squared else 1)
    residue = similarity_residue(
        form(X), kernel_form(K), columns, weights=W, normalize=normalize, squared=squared
    )
    assert residue == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("kernel_form", FORMS)
def test_no_residue(kernel_form):
    X = np.random.default_rng(0).standard_normal((12, 4))
    residue = similarity_residue(X, kernel_form(X @ X.T), normalize=False)
    assert residue < 1e-13
    nearly = similarity_residue(X, kernel_form(X @ X.T + 1e-9 * np.eye(12)), normalize=False)
    assert nearly == pytest.approx(1e-9 * np.sqrt(12), rel=1e-5)


def test_many_blocks(monkeypatch):
    X = np.random.default_rng(1).standard_normal((40, 5))
    K = kernel(40, 1, density=0.1)
    expected = np.linalg.norm(unit(X) @ unit(X).T - K)
    monkeypatch.setattr("columnist.linalg._passes._BLOCK", 200)
    for form in FORMS:
        assert similarity_residue(X, form(K)) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("scale", [1e-150, 1e150])
@pytest.mark.parametrize("form", FORMS)
def test_scales(scale, form):
    X, K = np.random.default_rng(2).standard_normal((8, 3)), kernel(8, 2)
    plain = similarity_residue(X, K)
    assert similarity_residue(form(scale * X), K) == pytest.approx(plain, rel=1e-10)
    whole = similarity_residue(X, K, normalize=False)
    large = similarity_residue(form(scale * X), form(scale**2 * K), normalize=False)
    assert large == pytest.approx(scale**2 * whole, rel=1e-9)


def test_similarities_of_the_spectral_family():
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((30, 4)), rng.integers(0, 3, 30)
    for S in (fisher_similarity(y), knn_similarity(X)):
        assert similarity_residue(X, S) == pytest.approx(similarity_residue(X, S.toarray()))
        assert matrix_consistency(S, S) == pytest.approx(np.trace(S.toarray() @ S.toarray()))


@given(st.integers(0, 10**6), st.sampled_from(FORMS), st.sampled_from(FORMS))
def test_consistency_by_definition(seed, first, second):
    K, S = kernel(7, seed), kernel(7, seed + 1)
    trace = np.trace(K @ S)
    assert matrix_consistency(first(K), second(S)) == pytest.approx(trace, abs=1e-12)
    cosine = trace / np.linalg.norm(K) / np.linalg.norm(S)
    normalized = matrix_consistency(first(K), second(S), normalize=True)
    assert normalized == pytest.approx(cosine, abs=1e-12)
    own = matrix_consistency(first(K), second(1e-150 * K), normalize=True)
    assert own == pytest.approx(1.0)


def test_noise_lowers_the_consistency():
    rng = np.random.default_rng(4)
    X = rng.standard_normal((60, 2)) + 4.0 * rng.integers(0, 3, 60)[:, None]
    noise = rng.standard_normal(X.shape) * X.std(axis=0)
    values = []
    for level in (0.0, 0.3, 0.6, 0.9):
        Z = unit((1.0 - level) * X + level * noise)
        values.append(matrix_consistency(Z @ Z.T, unit(X) @ unit(X).T))
    assert (np.diff(values) < 0.0).all()


def test_names():
    X = pd.DataFrame(np.random.default_rng(5).standard_normal((6, 3)), columns=list("abc"))
    K = kernel(6, 5)
    assert similarity_residue(X, K, ["c", "a"]) == similarity_residue(X.to_numpy(), K, [2, 0])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"similarity": np.eye(3)}, "similarity is a matrix of 3 samples; expected 4"),
        ({"similarity": np.ones((4, 2))}, "square matrix of samples"),
        ({"similarity": np.full((4, 4), np.nan)}, "NaN"),
        ({"weights": np.ones((2, 1))}, "a row for each of the 1 columns; got 2 rows"),
        ({"columns": [9]}, "columns holds the index 9"),
    ],
)
def test_bad_input(arguments, message):
    arguments = {"X": np.eye(4, 3), "similarity": np.eye(4), "columns": [0], **arguments}
    with pytest.raises(ValueError, match=message):
        similarity_residue(**arguments)


def test_bad_consistency():
    with pytest.raises(ValueError, match="S is a matrix of 3 samples; expected 4"):
        matrix_consistency(np.eye(4), np.eye(3))
    with pytest.raises(ValueError, match="zero everywhere"):
        matrix_consistency(np.eye(2), np.zeros((2, 2)), normalize=True)


def by_hand(F, K, k) -> float:
    total = 0.0
    for i in range(len(F)):
        others = [j for j in range(len(F)) if j != i]
        near = [set(sorted(others, key=lambda j: -row[j])[:k]) for row in (F[i] @ F.T, K[i])]
        total += len(near[0] & near[1]) / len(near[0] | near[1])
    return total / len(F)


# Whole numbers, so that equal products are equal in every order of summation.
@given(
    matrices(min_rows=3, kinds=("integers", "low rank", "ties")), st.integers(0, 10**6),
    st.integers(1, 2), st.sampled_from(FORMS), st.sampled_from(FORMS), st.booleans(),
)  # fmt: skip
def test_by_definition(X, seed, k, form, kernel_form, weighted):
    K = np.rint(kernel(len(X), seed))
    W = np.rint(kernel(X.shape[1], seed)) if weighted else None
    F = X if W is None else X @ W
    score = neighbour_jaccard(form(X), kernel_form(K), n_neighbors=k, weights=W, normalize=False)
    assert score == pytest.approx(by_hand(F, K, k), rel=1e-12)


@given(st.integers(0, 10**6), st.integers(1, 9))
def test_normalized_columns(seed, k):
    X = np.random.default_rng(seed).standard_normal((10, 4)) * np.array([1.0, 10.0, 100.0, 0.1])
    K = kernel(10, seed)
    expected = by_hand(unit(X[:, [3, 1]]), K, k)
    assert neighbour_jaccard(X, K, [3, 1], n_neighbors=k) == pytest.approx(expected, rel=1e-12)


def test_extremes():
    X = np.random.default_rng(0).standard_normal((20, 5))
    K = X @ X.T
    assert neighbour_jaccard(X, K, normalize=False) == 1.0
    assert neighbour_jaccard(X, -K, n_neighbors=5, normalize=False) == 0.0
    assert neighbour_jaccard(X, K, [0], n_neighbors=19) == 1.0
    assert neighbour_jaccard(1e150 * X, 1e150 * K) == neighbour_jaccard(X, K)


def test_many_blocks_of_neighbours(monkeypatch):
    X, K = np.random.default_rng(1).standard_normal((30, 4)), kernel(30, 1)
    expected = by_hand(unit(X), K, 5)
    monkeypatch.setattr("columnist.linalg._passes._BLOCK", 400)
    for form in FORMS:
        assert neighbour_jaccard(form(X), form(K)) == pytest.approx(expected, rel=1e-12)


def test_bad_input_of_neighbours():
    with pytest.raises(ValueError, match="less than the number of samples"):
        neighbour_jaccard(np.eye(4), np.eye(4), n_neighbors=4)
    with pytest.raises(ValueError, match="n_neighbors must be an integer >= 1"):
        neighbour_jaccard(np.eye(4), np.eye(4), n_neighbors=0)
    with pytest.raises(ValueError, match="expected 4"):
        neighbour_jaccard(np.eye(4), sp.eye_array(3, format="csr"))


@settings(max_examples=60)
@given(
    matrices(),
    st.sampled_from(CRITERIA),
    st.integers(0, 2),
    st.booleans(),
    st.booleans(),
    st.data(),
)
def test_error_by_definition(X, criterion, n_components, center, sparse, data):
    columns = data.draw(st.lists(st.integers(0, X.shape[1] - 1), unique=True), label="columns")
    by_hand = X - X.mean(axis=0) if center else X
    error = reconstruction_error(
        sp.csr_array(X) if sparse else X, columns, criterion=criterion, n_components=n_components,
        centering="mean" if center else "none",
    )  # fmt: skip
    expected = subset_error(by_hand, columns, criterion, n_components)
    # Through the Gram matrix of sparse data half of the digits are lost.
    slack = tolerance(criterion, X) * (1.0 if not sparse else 1e2)
    assert error == pytest.approx(expected, rel=1e-8, abs=slack)


@settings(max_examples=40)
@given(matrices(min_rows=2), st.sampled_from(CRITERIA), st.booleans(), st.data())
def test_error_of_a_target(X, criterion, sparse, data):
    y, Y = data.draw(targets(X.shape[0]), label="y")
    columns = data.draw(st.lists(st.integers(0, X.shape[1] - 1), unique=True), label="columns")
    error = reconstruction_error(
        sp.csc_array(X) if sparse else X, columns, y=y, criterion=criterion
    )
    expected = subset_error(X, columns, criterion, Y=Y)
    slack = tolerance(criterion, Y) * (1.0 if not sparse else 1e2)
    assert error == pytest.approx(expected, rel=1e-8, abs=slack)


@pytest.mark.parametrize("centering", ["none", "mean"])
@pytest.mark.parametrize(
    "form", ["strings", "objects", "integers", "list", "booleans", "floats", "column"]
)
def test_same_error_as_a_selector(form, centering):
    rng = np.random.default_rng(1)
    X, codes = rng.standard_normal((20, 6)), rng.integers(0, 2, 20)
    y = {
        "strings": np.array(["no", "yes"])[codes],
        "objects": pd.Series(np.array(["no", "yes"])[codes]),
        "integers": codes,
        "list": codes.tolist(),
        "booleans": codes.astype(bool),
        "floats": codes.astype(float),
        "column": codes[:, None],
    }[form]
    selector = ColumnSelector(2, centering=centering).fit(X, y)
    error = reconstruction_error(X, selector.selected_, y=y, centering=centering)
    assert error == pytest.approx(selector.error_, rel=1e-10)
    relative = reconstruction_error(X, selector.selected_, y=y, centering=centering, relative=True)
    assert relative == pytest.approx(selector.relative_error_, rel=1e-10)


def test_columns_by_name_and_by_mask():
    frame = pd.DataFrame(np.random.default_rng(2).standard_normal((8, 4)), columns=list("abcd"))
    expected = reconstruction_error(frame.to_numpy(), [3, 1])
    assert reconstruction_error(frame, ["d", "b"]) == expected
    assert reconstruction_error(frame, [False, True, False, True]) == pytest.approx(expected)
    pl = pytest.importorskip("polars")
    assert reconstruction_error(pl.DataFrame(frame.to_dict("list")), ["d", "b"]) == expected


@pytest.mark.parametrize("criterion", [Frobenius(), Nuclear()], ids=str)
@pytest.mark.parametrize("scale", [1e-150, 1e150])
@pytest.mark.parametrize("form", [np.asarray, sp.csc_array])
def test_scales_of_reconstruction(criterion, scale, form):
    X = np.random.default_rng(3).standard_normal((9, 5))
    for options in ({}, {"centering": "mean"}, {"y": X[:, :2] + 1.0}):
        errors = [
            reconstruction_error(form(s * X), [1, 4], criterion=criterion, relative=True, **options)
            for s in (1.0, scale)
        ]
        assert errors[1] == pytest.approx(errors[0], rel=1e-10)


def test_float32_is_summed_in_double_precision():
    X = np.random.default_rng(4).standard_normal((30, 6)).astype(np.float32)
    for criterion in (Frobenius(), Nuclear()):
        error = reconstruction_error(X, [0, 2], criterion=criterion)
        wide = reconstruction_error(X.astype(np.float64), [0, 2], criterion=criterion)
        assert error == pytest.approx(wide, rel=1e-12)


def test_nothing_to_rebuild():
    X = np.zeros((4, 3))
    assert reconstruction_error(X, [0]) == 0.0
    assert reconstruction_error(X, [0], relative=True) == 0.0
    X = np.eye(3)
    assert reconstruction_error(X, [0, 1, 2], n_components=2, criterion="nuclear") == 0.0
    assert reconstruction_error(X, [], relative=True) == 1.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"columns": [7]}, "columns holds the index 7, but X has 3 columns"),
        ({"columns": ["a"]}, "X has no column names"),
        ({"criterion": "frobenious"}, "Unknown criterion"),
        ({"centering": "median"}, "centering must be one of"),
        ({"n_components": -1}, "n_components must be an integer >= 0"),
        ({"y": [1.0, np.nan, 0.0, 2.0]}, "NaN"),
        ({"y": ["a", None, "b", "a"]}, "missing labels"),
        ({"y": ["a", np.nan, "b", "a"]}, "missing labels"),
        ({"y": [1.0, 2.0]}, "inconsistent numbers of samples"),
        ({"X": [[1.0, np.inf, 0.0]] * 4}, "infinity"),
    ],
)
def test_bad_input_of_reconstruction(arguments, message):
    arguments = {"X": np.eye(4, 3), "columns": [0], **arguments}
    with pytest.raises(ValueError, match=message):
        reconstruction_error(**arguments)


def redundancy_by_hand(X, absolute=True) -> float:
    X = X[:, np.ptp(X, axis=0) > 0.0]
    k = X.shape[1]
    if k < 2:
        return 0.0
    rho = np.corrcoef(X.T)[np.triu_indices(k, 1)]
    return float((np.abs(rho) if absolute else rho).mean())


@given(
    matrices(min_rows=2),
    st.booleans(),
    st.sampled_from([np.asarray, sp.csr_array, sp.csc_array]),
    st.data(),
)
def test_mean_over_pairs(X, absolute, form, data):
    rate = redundancy_rate(form(X), absolute=absolute)
    assert rate == pytest.approx(redundancy_by_hand(X, absolute), abs=1e-12)
    columns = data.draw(st.lists(st.integers(0, X.shape[1] - 1), unique=True), label="columns")
    rate = redundancy_rate(form(X), columns, absolute=absolute)
    assert rate == pytest.approx(redundancy_by_hand(X[:, columns], absolute), abs=1e-12)


def test_many_blocks_of_redundancy(monkeypatch):
    X = np.random.default_rng(0).standard_normal((20, 30))
    expected = redundancy_by_hand(X)
    monkeypatch.setattr("columnist.linalg._passes._BLOCK", 20 * 7)
    for form in (X, sp.csc_array(X)):
        assert redundancy_rate(form) == pytest.approx(expected, rel=1e-12)
    assert redundancy_rate(X, absolute=False) == pytest.approx(
        redundancy_by_hand(X, False), rel=1e-9
    )


def test_copies_and_constants():
    x = np.random.default_rng(1).standard_normal(20)
    X = np.column_stack([x, -2.0 * x, np.full(20, 0.1), x + 1e6])
    assert redundancy_rate(X, [0, 1]) == pytest.approx(1.0)
    assert redundancy_rate(X, [0, 1], absolute=False) == pytest.approx(-1.0)
    assert redundancy_rate(X, [0, 3]) == pytest.approx(1.0)
    assert redundancy_rate(X, [0, 1, 2]) == pytest.approx(1.0)
    assert redundancy_rate(X, [0, 2]) == redundancy_rate(X, [0]) == redundancy_rate(X, []) == 0.0


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_scales_and_float32(scale):
    X = np.random.default_rng(2).standard_normal((20, 5))
    expected = redundancy_rate(X)
    assert redundancy_rate(scale * X) == pytest.approx(expected, rel=1e-12)
    mixed = X * np.array([scale, 1.0, 1.0, 1.0 / scale, 1.0])
    assert redundancy_rate(mixed) == pytest.approx(expected, rel=1e-12)
    assert redundancy_rate(X.astype(np.float32)) == pytest.approx(expected, rel=1e-5)


def test_names_and_masks():
    X = pd.DataFrame(np.random.default_rng(3).standard_normal((9, 4)), columns=list("abcd"))
    expected = redundancy_rate(X, ["b", "d"])
    assert redundancy_rate(X.to_numpy(), [1, 3]) == expected
    assert redundancy_rate(X, [False, True, False, True]) == expected


def test_bad_input_of_redundancy():
    with pytest.raises(ValueError, match="columns holds the index 5"):
        redundancy_rate(np.eye(3), [5])
    with pytest.raises(ValueError, match="NaN"):
        redundancy_rate([[np.nan, 1.0]])
