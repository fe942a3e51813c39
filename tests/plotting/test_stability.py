"""The picture of a stability."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

from columnist.plotting import StabilityDisplay
from columnist.selection import Replacement, SelectionStability

SUPPORTS = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 1, 0], [1, 1, 0, 0]], dtype=bool)
LOSSES = np.array([[0.5, 0.3, 0.2], [0.5, 0.2, 0.2], [0.4, 0.2, 0.1], [0.4, 0.3, 0.2]])


def stability(n_sizes=3):
    pairs = (Replacement(1, 2, 2, 2, 1.0, 0.9),)
    return SelectionStability(
        np.array([0, 1]), SUPPORTS, np.arange(1, n_sizes + 1), LOSSES[:, :n_sizes], pairs,
        feature_names=("a", "b", "c", "d"),
    )  # fmt: skip


def test_bars_and_error():
    display = StabilityDisplay(stability()).plot(Figure().subplots(1, 2))
    assert [bar.get_width() for bar in display.bars_] == [1.0, 0.5, 0.5]
    assert [t.get_text() for t in display.ax_.get_yticklabels()] == ["a", "b", "c"]
    assert "or c" in [t.get_text() for t in display.ax_.texts]
    assert display.line_.get_ydata() == pytest.approx([45.0, 25.0, 17.5])
    words = [t.get_text() for t in display.axes_[1].get_legend().get_texts()]
    assert "within it: 3 columns" in words


def test_one_size_has_one_panel():
    display = StabilityDisplay(stability(1)).plot(Figure().subplots(), max_features=2)
    assert len(display.bars_) == 2
    assert display.line_ is None


def test_names():
    display = StabilityDisplay(stability(), names=["w", "x", "y", "z"])
    assert list(display._bars().names) == ["w", "x", "y"]
    with pytest.raises(ValueError, match="names must have one entry"):
        StabilityDisplay(stability(), names=["w"])
