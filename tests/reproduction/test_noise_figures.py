"""Noise until three scores fail: the scores are the library's, and noise grows from none."""

from __future__ import annotations

import numpy as np
import pytest

from columnist.spectral import SpectralSelector
from reproduction import noise_figures
from reproduction.data import Data
from reproduction.registry import Run


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
    own = reading != noise_figures.READING
    clean = noise_figures.graph_parts(noise_figures.similarity(Z, own=own))[0]
    levels = [noise_figures.level_of(clean, noisy(t)) for t in (0.0, 0.02, 0.5)]
    assert levels[0] < 1e-12 < levels[1] < levels[2]


def test_the_first_mix_up_is_the_first():
    """Just before it the features are apart, and at it they are not."""
    mixes = noise_figures.first_mixes(noise_figures.READING, 0, 20)
    X, noisy = noise_figures.drawn(0)
    for score in (("phi1", 1), ("phi3", 1)):
        share = mixes[score].share
        before, at = (noise_figures.all_scores(noisy(t), X)[score] for t in (share - 0.05, share))
        assert not noise_figures.are_mixed(before) and noise_figures.are_mixed(at)


def test_share_of_a_level():
    _, noisy = noise_figures.drawn(1)
    clean = noisy(0.0)[0]
    share = noise_figures.share_at(noisy, 0.3)
    assert noise_figures.level_of(clean, noisy(share)) >= 0.3
    assert noise_figures.level_of(clean, noisy(share - 0.02)) < 0.3


def test_cells(monkeypatch):
    monkeypatch.setattr(noise_figures, "QUICK_DRAWS", 2)
    for table in noise_figures.TABLES:
        cells = list(table.cells(Run(Data("nowhere"), True)))
        assert all(cell.why for cell in cells if cell.verdict != "reproduced")
        assert len({cell.where for cell in cells}) == len(cells)
        if table.name == "zl-ex9":
            assert {cell.verdict for cell in cells} == {"reproduced"}


def test_noise_that_keeps_the_degrees_mixes_up_nothing(monkeypatch):
    """No score fails, so no order can be read from it."""
    monkeypatch.setattr(noise_figures, "N_DRAWS", 1)
    reading = "in the Laplacian"
    monkeypatch.setattr(noise_figures, "READINGS", {reading: noise_figures.READINGS[reading]})
    (cell,) = noise_figures.order_cells(Run(Data("nowhere"), False))
    assert cell.ours == "none fails" and cell.verdict == "different" and cell.why
