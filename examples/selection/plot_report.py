"""
A page to hand on
=================

Whoever asks "why these columns?" rarely reads Python. :func:`columnist.report.selection_report`
puts the answer on one page: what was asked, what was chosen, what is proven in plain words, the
runners-up, and which kept column stands for each dropped one. The page is a single file, needs no
network, and follows light and dark colours.
"""

# %%
# Choose, with runners-up and every size
# --------------------------------------

from pathlib import Path
from tempfile import TemporaryDirectory

from columnist import ColumnSelector, selection_path
from columnist.datasets import load_wine
from columnist.report import selection_report, write_report

wine = load_wine(standardize=True)
selector = ColumnSelector(4, n_solutions=5).fit(wine.data)
path = selection_path(wine.data, 10, time_limit=5)

# %%
# Write the page
# --------------
# On the command line, ``columnist select wine.csv -k 4 --center --scale --report wine.html`` does
# all of this at once.

html = selection_report(
    selector,
    wine.data,
    names=wine.feature_names,
    path=path,
    asked={"Data": "178 wines, 13 measurements, on one scale", "Keep": "4 measurements"},
    title="Which four measurements of a wine to keep",
)
with TemporaryDirectory() as folder:
    page = Path(folder) / "wine.html"
    write_report(html, page)
    print(f"{page.name}: {page.stat().st_size // 1024} kB, one file")

# %%
# The page itself, inside this one:

from html import escape


class Page:
    """A page in a frame."""

    def _repr_html_(self):
        return (
            f'<iframe srcdoc="{escape(html)}" title="The report" '
            'style="width: 100%; height: 44rem; border: 1px solid #8888"></iframe>'
        )


Page()

# %%
# What the page draws can also be had one by one, as figures for a paper.

import matplotlib.pyplot as plt

from columnist.plotting import ErrorPathDisplay, RepresentativeDisplay

figure, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
ErrorPathDisplay.from_path(path, ax=axes[0])
RepresentativeDisplay.from_estimator(selector, ax=axes[1])
plt.show()
