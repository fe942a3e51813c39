"""Data sets: bundled ones, those used in the literature, and generators."""

from __future__ import annotations

from difflib import get_close_matches
from typing import NoReturn

from columnist.datasets._bundled import (
    load_bias_example,
    load_body_measures,
    load_crossing_lines,
    load_digits,
    load_hybrid_example,
    load_privacy_example,
    load_seven_points,
    load_wdbc,
    load_wine,
)
from columnist.datasets._catalogue import DatasetInfo, describe, list_datasets
from columnist.datasets._fetch import DataNotAvailable, download_dataset, fetch, named_fetchers
from columnist.datasets._files import data_home
from columnist.datasets._make import (
    make_box_classes,
    make_line_and_outliers,
    make_low_rank_outliers,
    make_multilabel_low_rank,
    make_phase_transition,
    make_private_outputs,
    make_redundant_columns,
    make_sparse_loadings,
    make_three_clusters,
    make_two_stars,
    make_wide_sparse,
)

# fetch_arcene, fetch_vehicle and all others: one function per set of the catalogue.
globals().update(named_fetchers())

__all__ = [
    "DataNotAvailable",
    "DatasetInfo",
    "data_home",
    "describe",
    "download_dataset",
    "fetch",
    "list_datasets",
    "load_bias_example",
    "load_body_measures",
    "load_crossing_lines",
    "load_digits",
    "load_hybrid_example",
    "load_privacy_example",
    "load_seven_points",
    "load_wdbc",
    "load_wine",
    "make_box_classes",
    "make_line_and_outliers",
    "make_low_rank_outliers",
    "make_multilabel_low_rank",
    "make_phase_transition",
    "make_private_outputs",
    "make_redundant_columns",
    "make_sparse_loadings",
    "make_three_clusters",
    "make_two_stars",
    "make_wide_sparse",
    *named_fetchers(),
]


def __getattr__(name: str) -> NoReturn:
    close = get_close_matches(name, __all__, n=3)
    hint = f"; did you mean {' or '.join(close)}?" if close else ""
    raise AttributeError(f"module 'columnist.datasets' has no attribute {name!r}{hint}")
