"""Questions about rows, in memory and block by block."""

from __future__ import annotations

import numpy as np
import pytest

from columnist.data._blocks import as_rows
from columnist.robust._fitted import Points, Yardstick
from columnist.robust._subspace import fit_subspace
from tests.data.test_blocks import Slices


@pytest.mark.parametrize(
    "question", ["coordinates", "score_distances", "orthogonal_distances", "normality"]
)
def test_answers_do_not_depend_on_the_unit_or_on_the_blocks(question):
    X = np.random.default_rng(0).standard_normal((30, 4)) + 2.0
    fit = fit_subspace(X, 2)
    plain = Yardstick(fit, 1.0, 2.0, 3.0).answer(as_rows(X), question)
    scaled = Yardstick(fit.scaled(1 / 8), 8.0, 2.0, 3.0 / 8)
    np.testing.assert_allclose(scaled.answer(as_rows(X), question), plain, rtol=1e-12)
    np.testing.assert_allclose(scaled.answer(Slices(X, [7, 7, 20]), question), plain, rtol=1e-12)


def test_normality_is_the_larger_distance_in_units_of_its_cutoff():
    X = np.array([[-1.0, 0.0], [1.0, 0.0], [0.0, 6.0], [9.0, 0.0]])
    fit = fit_subspace(X[:2], 1)
    answers = Yardstick(fit, 1.0, 2.0, 3.0).answer(as_rows(X), "normality")
    deviation = np.sqrt(2.0)
    np.testing.assert_allclose(-answers, [0.5 / deviation, 0.5 / deviation, 2.0, 4.5 / deviation])


def test_points():
    points = Points(np.array([1.0, 2.0]), np.array([[0.6, 0.8]]))
    coordinates = np.array([[0.0], [5.0], [10.0]])
    expected = [[1.0, 2.0], [4.0, 6.0], [7.0, 10.0]]
    np.testing.assert_allclose(points(coordinates), expected)
    np.testing.assert_allclose(Slices(coordinates, [1]).map(points, 2), expected)
