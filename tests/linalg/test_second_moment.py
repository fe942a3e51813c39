"""Blocks of XX' against the product itself, however X is stored and cut."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from columnist.linalg import _passes as passes
from columnist.linalg import _second_moment as second_moment
from columnist.linalg._second_moment import kernel_blocks, squared_kernel_norm
from tests.strategies import matrices

STORED = {
    "dense": np.asarray,
    "by columns in memory": np.asfortranarray,
    "csc": sp.csc_array,
    "csr": sp.csr_array,
    "csc matrix": sp.csc_matrix,
    "coo": sp.coo_array,
}


@pytest.fixture
def skewed(monkeypatch):
    """A matrix with columns of every popularity, and blocks of about 5 rows and 10 columns."""
    monkeypatch.setattr(passes, "_BLOCK", 400)
    rng = np.random.default_rng(0)
    return rng.standard_normal((40, 60)) * (rng.random((40, 60)) < 0.9 ** np.arange(60))


def assembled(X, upper=False):
    """The whole of XX' from its blocks; what was left out is zero."""
    kernel = np.zeros((X.shape[0], X.shape[0]))
    for rows, block in kernel_blocks(X, upper=upper):
        assert block.dtype == np.float64
        kernel[rows, rows.start if upper else 0 :] = block
    return kernel


@pytest.mark.parametrize("kept", [0, 2**23], ids=["dense part in blocks", "dense part at once"])
@pytest.mark.parametrize("stored", STORED.values(), ids=STORED)
def test_blocks_of_the_product(skewed, stored, kept, monkeypatch):
    monkeypatch.setattr(second_moment, "_KEPT", kept)
    kernel = skewed @ skewed.T
    X = stored(skewed)
    np.testing.assert_allclose(assembled(X), kernel, atol=1e-13)
    above = assembled(X, upper=True)
    np.testing.assert_allclose(np.triu(above), np.triu(kernel), atol=1e-13)


def test_blocks_are_cut(skewed):
    assert len(list(kernel_blocks(skewed))) == 8
    assert [block.shape[1] for _, block in kernel_blocks(skewed, upper=True)] == list(
        range(40, 0, -5)
    )


@pytest.mark.parametrize("stored", [np.asarray, sp.csc_array], ids=["dense", "sparse"])
def test_single_precision_is_summed_in_double(skewed, stored):
    X = skewed.astype(np.float32)
    exact = X.astype(np.float64) @ X.T.astype(np.float64)
    np.testing.assert_allclose(assembled(stored(X)), exact, atol=1e-13)


@given(matrices(), st.sampled_from([np.asarray, sp.csc_array, sp.csr_array]))
def test_norm_is_the_fourth_power_of_the_spectrum(X, stored):
    spectrum = np.linalg.svd(X, compute_uv=False)
    assert squared_kernel_norm(stored(X)) == pytest.approx((spectrum**4).sum(), rel=1e-12)


@pytest.mark.parametrize("stored", [np.asarray, sp.csc_array], ids=["dense", "sparse"])
def test_norm_from_either_side(skewed, stored):
    expected = pytest.approx(np.linalg.norm(skewed @ skewed.T) ** 2, rel=1e-13)
    assert squared_kernel_norm(stored(skewed)) == expected
    assert squared_kernel_norm(stored(np.ascontiguousarray(skewed.T))) == expected


@pytest.mark.parametrize("shape", [(3, 0), (2, 5)])
def test_empty(shape):
    assert squared_kernel_norm(sp.csc_array(shape, dtype=float)) == 0.0


def test_as_wide_as_a_vocabulary():
    """Ten million columns: anything dense of that width would take gigabytes."""
    rng = np.random.default_rng(0)
    rows, columns = rng.integers(0, 50, 500), rng.integers(0, 10**7, 500)
    X = sp.csc_array((rng.random(500), (rows, columns)), shape=(50, 10**7))
    used = X[:, np.unique(columns)].toarray()
    np.testing.assert_allclose(assembled(X), used @ used.T, atol=1e-14)
