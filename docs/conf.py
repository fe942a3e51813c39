"""Sphinx configuration."""

from __future__ import annotations

import sys
from importlib.metadata import version as installed_version
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))
import charts
import comparison_page
import mathjax
import report_page
import reproduction_page
import scaling_page
import stored_pages

project = "Columnist"
author = "The Columnist developers"
copyright = author
release = version = installed_version("columnist")

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
]

root_doc = "index"
templates_path = ["_templates"]
exclude_patterns = ["_build", "auto_examples/**/*.ipynb", "auto_examples/**/*.py"]
default_role = "literal"

autosummary_generate = True
autosummary_imported_members = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
mathjax_path = f"mathjax/{mathjax.SCRIPT}"

# The gallery by task: one folder each, in this order.
TASKS = [
    "tutorials",
    "selection",
    "prediction",
    "robust",
    "spectral",
    "privacy",
    "large_data",
    "extending",
]
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "subsection_order": [f"../examples/{task}" for task in TASKS],
    "nested_sections": False,
    # Its table loads scripts from a network.
    "write_computation_times": False,
    "filename_pattern": r"/plot_",
    # Only plot_*.py are gallery pages.
    "ignore_pattern": r"(^|/)(?!plot_)[^/]*\.py$",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "doc_module": ("columnist",),
    "backreferences_dir": None,
}

html_theme = "pydata_sphinx_theme"
html_title = "Columnist"
html_show_sourcelink = False
html_static_path = ["_static"]
html_css_files = ["columnist.css"]
# Short names of methods in the contents of a page.
toc_object_entries_show_parents = "hide"
html_theme_options = {
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}


def setup(app) -> None:
    """Write what is made from benchmark results, and the charts."""
    for page in (mathjax, comparison_page, stored_pages, reproduction_page, scaling_page, charts):
        app.connect("builder-inited", page.write)
    for page in (reproduction_page, report_page):
        app.connect("build-finished", page.publish)


# The folder of a checkout may have spaces in its name; the examples have none.
suppress_warnings = ["sphinx_gallery.space_in_filename"]
