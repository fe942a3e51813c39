"""The benchmark about noise: its scores are the library's, and its picture can be drawn."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import noise_figures
from benchmarks.data import Sets
from columnist.spectral import SpectralSelector


@pytest.mark.parametrize(("score", "power"), noise_figures.SCORES)
def test_scores_are_those_of_the_library(score, power):
    X = noise_figures.points(3)
    S = noise_figures.similarity(X[:, :2], own=False)
    ours = SpectralSelector(score=score, gamma=power, n_clusters=3, similarity=S).fit(X).scores_
    theirs = noise_figures.all_scores(noise_figures.graph_parts(S), X)[score, power]
    np.testing.assert_allclose(theirs, ours, rtol=1e-8)


@pytest.mark.parametrize("reading", noise_figures.READINGS)
def test_noise_grows_from_none(reading):
    Z = noise_figures.points(0)[:, :2]
    noisy = noise_figures.READINGS[reading](Z, np.random.default_rng(0))
    own = reading != "the same, no self-similarity"
    clean = noise_figures.graph_parts(noise_figures.similarity(Z, own=own))[0]
    levels = [noise_figures.level_at(clean, noisy(t)) for t in (0.0, 0.02, 0.5)]
    assert levels[0] < 1e-12 < levels[1] < levels[2]


def test_rows_tables_and_picture(tmp_path, monkeypatch):
    monkeypatch.setattr(noise_figures, "QUICK_SEEDS", 1)
    rows = noise_figures.rows(Sets(None), quick=True)
    assert len(rows) == 6 * len(noise_figures.READINGS)
    for lines in noise_figures.tables(rows).values():
        assert [line["noise"] for line in lines] == [*noise_figures.READINGS, "printed"]
        assert lines[-1]["phi1"] == "0.53"
    noise_figures.draw(tmp_path / "noise.png", rows)
    assert (tmp_path / "noise.png").stat().st_size > 10_000
