"""What rounding is charged is no less than what it does."""

from __future__ import annotations

import re
from pathlib import Path

import mpmath
import numpy as np
import pytest

from columnist.linalg import _rounding as rounding
from tests.examples import examples


def _true_eigenvalues(A: np.ndarray) -> np.ndarray:
    with mpmath.workdps(40):
        exact = mpmath.matrix(A.tolist())
        return np.array([float(x) for x in mpmath.eigsy(exact, eigvals_only=True)])


@pytest.mark.parametrize("order", [1, 3, 8])
def test_eigenvalues_are_known_up_to_the_allowance(order):
    for seed in range(examples(10)):
        rng = np.random.default_rng(seed)
        A = rng.standard_normal((order, order)) * 10.0 ** rng.uniform(-6, 6, order)
        A = A @ A.T
        found, true = np.linalg.eigvalsh(A), _true_eigenvalues(A)
        assert np.abs(found - true).max() <= rounding.allowance(order, np.abs(true).max())
        assert abs(found.sum() - true.sum()) <= rounding.allowance(order, np.abs(true).sum())


def test_an_allowance_of_nothing():
    assert rounding.allowance(0, 1.0) == rounding.allowance(1, 1.0) > 0.0
    assert rounding.allowance(5, 0.0) == 0.0


@pytest.mark.parametrize("shape", [(5, 3), (30, 4), (4, 30)])
def test_nothing_that_should_vanish_exceeds_what_is_negligible(shape):
    for seed in range(examples(20)):
        target = np.random.default_rng(seed).standard_normal(shape)
        Q = np.linalg.qr(target)[0]
        rest = target - Q @ (Q.T @ target)
        rest -= Q @ (Q.T @ rest)
        top = np.linalg.svd(rest, compute_uv=False)[0]
        assert top <= rounding.negligible(shape, float(np.linalg.norm(target)))


@pytest.mark.parametrize("apart", [1e-2, 1e-5, 1e-9])
def test_directions_are_known_up_to_their_growth(apart):
    """The residual of a near copy, in double precision and exactly."""
    for seed in range(examples(20)):
        rng = np.random.default_rng(seed)
        first = rng.standard_normal(6)
        second = first + apart * rng.standard_normal(6)
        unit = first / np.linalg.norm(first)
        rest = second - unit * (unit @ second)
        with mpmath.workdps(40):
            a, b = (mpmath.matrix(v.tolist()) for v in (first, second))
            true = b - a * ((a.T * b)[0] / (a.T * a)[0])
            true = np.array([float(x) for x in true / mpmath.norm(true)])
        length, height = float(np.linalg.norm(second)), float(np.linalg.norm(rest))
        grown = rounding.growth(np.array([height]), np.array([length]))[0]
        assert np.linalg.norm(rest / height - true) <= grown * rounding.allowance(1, 1.0)


def test_growth_of_gram_matrices_and_of_dependent_columns():
    heights, lengths = np.array([0.5, 0.1, 0.0]), np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(rounding.growth(heights, lengths), [2.0, 20.0, 1.0])
    np.testing.assert_allclose(rounding.growth(heights, lengths, 2), [4.0, 400.0, 1.0])


@pytest.mark.parametrize(
    ("error", "least"),
    [(1.0, 0.0), (1e-200, 0.0), (1e200, 0.0), (0.0, 0.0), (-3.0, -np.inf), (-3.0, -4.0)],
)
def test_agreement_is_relative_to_what_is_above_the_least(error, least):
    size = rounding.above(error, least)
    assert size == (abs(error) if np.isinf(least) else error - least)
    assert rounding.agrees(error, error, least)
    assert rounding.agrees(error + abs(error), error, least)
    assert rounding.agrees(error - 0.5 * rounding.AGREEMENT * size, error, least)
    assert not rounding.agrees(error - 2.0 * rounding.AGREEMENT * size - 1e-300, error, least)


def test_a_constant_that_a_criterion_adds_lends_no_precision():
    assert rounding.is_trusted(1e3, 1e3 + 1e-9)
    assert not rounding.is_trusted(1e3, 1e3 + 1e-9, 1e3 - 1e-6)


def test_what_is_trusted_is_sharper_than_what_agrees():
    assert 0.0 < rounding.EPS < rounding.DEPENDENT < rounding.TRUSTED < rounding.AGREEMENT
    assert rounding.NOISE < rounding.DEPENDENT


def test_compiled_kernels_have_the_same_figures():
    source = Path(__file__).parents[2] / "src" / "columnist" / "linalg" / "_rounding.pxd"
    defined = re.findall(r"#define COLUMNIST_(\w+) (\S+)", source.read_text(encoding="utf-8"))
    assert len(defined) == 8
    for name, figure in defined:
        assert float(figure) == getattr(rounding, name), name


def test_no_module_of_a_proof_has_figures_of_its_own():
    """Every other module takes the spacing of doubles, and what follows from it, from here."""
    package = Path(__file__).parents[2] / "src" / "columnist"
    proofs = ["search", "robust", "data", "selection/_columns.py", "selection/_task.py"]
    paths = [p for part in proofs for p in [package / part, *(package / part).rglob("*")]]
    own = re.compile(r"finfo\([^)]*\)\.eps|2\.22\d*e-16|1\.11\d*e-16|2\.0\*\*-5[23]")
    found = [
        p.name for p in paths if p.suffix in (".py", ".pyx") and own.search(p.read_text("utf-8"))
    ]
    assert found == []
