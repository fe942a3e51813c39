"""Axes to draw on, and no figure left open."""

from __future__ import annotations

import pytest
from matplotlib.figure import Figure


@pytest.fixture
def ax():
    return Figure().subplots()


@pytest.fixture
def pair():
    return Figure().subplots(2)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")
