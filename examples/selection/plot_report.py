"""
A shareable report
==================

People who ask why these columns were selected often do not use Python.
:func:`columnist.report.selection_report` writes the answer to one page: the question, the selected
columns, what is proven, the runners-up, and which selected column represents each dropped one. The
page is a single HTML file, needs no network, and follows the light or dark colour scheme.
"""

# %%
# Select columns, with runners-up and a path
# ------------------------------------------

from pathlib import Path
from tempfile import TemporaryDirectory

from columnist import ColumnSelector, selection_path
from columnist.datasets import load_wine
from columnist.report import selection_report, write_report

wine = load_wine(standardize=True)
selector = ColumnSelector(4, n_solutions=5).fit(wine.data)
path = selection_path(wine.data, 10, time_limit=5)

# %%
# Write the report
# ----------------
# On the command line, ``columnist select wine.csv -k 4 --center --scale --report wine.html`` does
# the same in one step.

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
# The report, embedded in this page:

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
# The figures of the report are also available separately, for example for a paper.

import matplotlib.pyplot as plt

from columnist.plotting import ErrorPathDisplay, RepresentativeDisplay

figure, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
ErrorPathDisplay.from_path(path, ax=axes[0])
RepresentativeDisplay.from_estimator(selector, ax=axes[1])
plt.show()
