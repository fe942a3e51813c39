"""The generated study has the structure that it promises."""

from __future__ import annotations

import numpy as np
import pytest

from reproduction.gene_study import make_gene_study


def test_structure():
    study = make_gene_study(30, 400, n_relevant=40, random_state=0)
    assert study.X.shape == (30, 400)
    assert study.X_test.shape == (120, 400)
    assert set(study.known) <= set(study.relevant)
    assert len(set(study.cancer) & set(study.relevant)) == 16
    assert len(study.cancer) == 24
    names = set(study.genes)
    assert all(a in names and b in names and a != b for a, b in study.interactions)
    inside = np.isin(np.arange(400), study.relevant)
    share = study.annotation[:, :6].mean(axis=1)
    assert share[inside].mean() > 4.0 * share[~inside].mean()
    apart = np.array([study.X_test[study.y_test == c].mean(axis=0) for c in range(3)]).std(axis=0)
    assert apart[inside].mean() > 1.5 * apart[~inside].mean()


def test_repeats_with_the_same_seed():
    first, second = (make_gene_study(random_state=3, n_genes=200) for _ in range(2))
    np.testing.assert_array_equal(first.X, second.X)
    assert first.interactions == second.interactions


@pytest.mark.parametrize("options", [{"n_samples": 2}, {"n_genes": 50}, {"n_relevant": 1}])
def test_bad_input(options):
    with pytest.raises(ValueError, match="must be an integer"):
        make_gene_study(**options)
