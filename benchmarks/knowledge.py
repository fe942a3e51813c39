"""Generated gene studies (``reproduction/gene_study.py``): 36 samples in three classes, 2000 genes
of which 60 are relevant, a second measurement of the samples, terms, interactions, and a list of
cancer genes, a third of it wrong. Each source alone, and all together, also with the expression
levels as two more (similarity of the samples, and covariance), or with 20 of the relevant genes
known.

Nearest-neighbour accuracy on new samples with the first 10, 30 and 50 genes, relevant genes
among the first 50, and the terms that these share with known genes, as means over the studies;
in how many of these EM gave nearly all weight to one source.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
import pandas as pd

from benchmarks.data import Sets
from benchmarks.measure import Row
from columnist.knowledge import KnowledgeSelector, MultiSourceSelector, Source
from columnist.spectral import linear_similarity
from reproduction.evidence import annotation_similarity, count_hits, nearest_accuracy
from reproduction.gene_study import GeneStudy, gene_sources, make_gene_study

__all__ = ["TITLE", "rows"]

TITLE = "Sources of knowledge"

STUDIES, SIZE = 24, 50
NEARLY_ALL = 0.99


def rows(sets: Sets, quick: bool = False) -> list[Row]:
    """One row per source and combination: means over the studies."""
    warnings.simplefilter("ignore")  # all weight on one source is counted
    found: dict[str, list[Row]] = {}
    n_studies = 2 if quick else STUDIES
    for seed in range(n_studies):
        for name, row in measured(make_gene_study(random_state=seed)):
            found.setdefault(name, []).append(row)
    return [{"set": name, "studies": n_studies} | means(parts) for name, parts in found.items()]


def means(parts: list[Row]) -> Row:
    """Means of the measures, and the number of studies with all weight on one source."""
    row: Row = {key: float(np.mean([p[key] for p in parts])) for key in parts[0] if key != "one"}
    return row | {"all weight on one": sum(p["one"] for p in parts) if "one" in parts[0] else None}


def measured(study: GeneStudy) -> Iterator[tuple[str, Row]]:
    """Every source of a study, and what combines them."""
    X, shared_terms = (
        pd.DataFrame(study.X, columns=study.genes),
        linear_similarity(study.annotation),
    )
    for name, selector in selectors(study).items():
        ranking = selector.fit(X, study.y).ranking_
        accuracy = nearest_accuracy(study.X, study.y, ranking, test=(study.X_test, study.y_test))
        row: Row = {
            "accuracy": accuracy.mean(),
            "relevant of 50": count_hits(ranking[:SIZE], study.relevant),
            "shared terms": annotation_similarity(ranking[:SIZE], study.known, shared_terms),
        }
        if "EM" in name:
            row["one"] = bool(np.max(selector.source_weights_) > NEARLY_ALL)
        yield name, row


def selectors(study: GeneStudy) -> dict[str, KnowledgeSelector | MultiSourceSelector]:
    """Each source alone, then all in the ways there are."""
    four = gene_sources(study)
    six = [*four, Source("sample_similarity"), Source("feature_similarity")]
    known = [study.genes[i] for i in study.known]
    return {
        **{source.name: KnowledgeSelector(SIZE, sources=[source]) for source in four},
        "all, EM": KnowledgeSelector(SIZE, sources=four),
        "all, Borda": KnowledgeSelector(SIZE, sources=four, aggregation="borda"),
        "all, as similarities": MultiSourceSelector(SIZE, sources=four),
        "all, EM with known genes": KnowledgeSelector(SIZE, sources=four, known=known),
        "with expression, EM": KnowledgeSelector(SIZE, sources=six),
        "with expression, Borda": KnowledgeSelector(SIZE, sources=six, aggregation="borda"),
    }
