"""Small examples of the book on spectral selection."""

from __future__ import annotations

import numpy as np
import pytest

from columnist.spectral import FisherScore, ReliefF
from columnist.spectral._mrsf import MRSF
from reproduction import spectral_examples
from reproduction.data import Data
from reproduction.registry import Run

TABLES = {table.name: table for table in spectral_examples.TABLES}


def test_selection_restores_the_accuracy():
    none, many = spectral_examples.irrelevant(1, (0, 50))[0]
    assert many < none
    for selector in (FisherScore(2), ReliefF(2), MRSF(2, response="lda")):
        assert spectral_examples.irrelevant(1, (50,), selector)[0, 0] > many


def test_cuts_of_the_stars():
    """Without self-similarities the cuts are known in closed form; loops do not change them."""
    for n in (1, 2):
        plain = spectral_examples.cuts(n, loops=False)
        expected = [np.exp(-0.5), np.exp(-9.0 / 8.0)]
        np.testing.assert_allclose(plain["cut"], expected, rtol=1e-14)
        np.testing.assert_allclose(spectral_examples.cuts(n)["cut"], expected, rtol=1e-14)
    figures = [spectral_examples.cuts(n, loops=False)["normalised cut"] for n in (1, 2)]
    np.testing.assert_allclose(np.ravel(figures), [1.4830, 1.2111, 0.4565, 1.0641], atol=5e-5)


def test_cells_of_the_stars():
    cells = list(TABLES["zl-ex8"].cells(Run(Data("nowhere"), True)))
    assert len(cells) == 22 and {cell.verdict for cell in cells} == {"reproduced"}


def test_copies_are_left_out():
    for name in ("Fisher", "ReliefF", "Trace Ratio", "HSIC"):
        assert spectral_examples.share_kept("copies", name, 3) == 0.0
        assert spectral_examples.share_kept("sum", name, 3) == 0.0
    assert spectral_examples.share_kept("copies", "MRSF", 3) == 1.0
    assert spectral_examples.share_kept("copies", "MCSF", 3) == 1.0
    assert spectral_examples.share_kept("sum", "MCSF", 3) == 1.0


@pytest.mark.parametrize("centred", [True, False])
def test_agreement_falls_with_noise(centred):
    means = spectral_examples.consistencies(3, centred=centred).mean(axis=0)
    assert means[0] == 1.0 and (np.diff(means) < 0.0).all()


def test_rows_vanish_as_the_penalty_grows():
    counts = spectral_examples.nonzero_rows(60, (0.0, 10.0, 50.0, 500.0))
    assert counts[0] == 60 and (np.diff(counts) <= 0).all()
    assert 0 < counts[1] < 60 and counts[-1] == 0


def test_every_difference_has_a_reason():
    for name in ("zl-ex14", "zl-ex15"):
        cells = list(TABLES[name].cells(Run(Data("nowhere"), True)))
        assert all(cell.why for cell in cells if cell.verdict != "reproduced")
