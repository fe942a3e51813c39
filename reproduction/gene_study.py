"""A gene expression study that never was, with knowledge about its genes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from columnist.data._parameters import Integer, checked
from columnist.data._validation import random_generator
from columnist.knowledge import Source

__all__ = ["GeneStudy", "gene_sources", "make_gene_study"]

_N_FACTORS = 6
_N_TERMS, _N_RELEVANT_TERMS = 120, 6
_N_AUXILIARY = 40


@dataclass(frozen=True)
class GeneStudy:
    """Expression of genes in samples of three classes, and four sources of knowledge."""

    X: np.ndarray
    """Logarithms of expression levels, samples x genes."""
    y: np.ndarray
    """Classes of the samples."""
    X_test: np.ndarray
    """More samples, to judge a selection by."""
    y_test: np.ndarray
    """Their classes."""
    genes: list[str]
    """Names of the genes."""
    relevant: np.ndarray
    """Genes whose expression depends on the class: the truth that a selection is after."""
    known: np.ndarray
    """A third of them, known from earlier studies."""
    cancer: np.ndarray
    """Genes with a part in some cancer: two in five relevant ones, and half as many others."""
    annotation: np.ndarray
    """Which genes (rows) have which terms (columns)."""
    terms: list[str]
    """Names of the terms."""
    interactions: list[tuple[str, str]]
    """Pairs of genes that interact."""
    auxiliary: np.ndarray
    """Other measurements of the same samples."""


@checked(n_samples=Integer(6), n_relevant=Integer(6))
def make_gene_study(
    n_samples: int = 36,
    n_genes: int = 2000,
    *,
    n_relevant: int = 60,
    effect: float = 0.5,
    random_state=None,
) -> GeneStudy:
    """Generate a study with few samples, many genes, and imperfect knowledge.

    A few genes differ between the classes; groups of all genes vary together for other reasons.
    The terms, interactions and lists of genes favour relevant genes, but most of what they say
    is about others. No source alone suffices, and their errors are independent.

    Parameters
    ----------
    n_samples : int, default=36
        Samples, and a fourth of the samples for testing.
    n_genes : int, default=2000
        Genes.
    n_relevant : int, default=60
        Relevant genes.
    effect : float, default=0.5
        Standard deviation of their class means, for a noise of 1.
    random_state : int, RandomState instance or None, default=None
        Seed.

    Returns
    -------
    GeneStudy

    Examples
    --------
    >>> from reproduction.gene_study import make_gene_study
    >>> study = make_gene_study(random_state=0)
    >>> study.X.shape, study.annotation.shape, len(study.relevant)
    ((36, 2000), (2000, 120), 60)
    """
    Integer(2 * n_relevant).check("n_genes", n_genes)
    rng = random_generator(random_state)
    relevant = np.sort(rng.permutation(n_genes)[:n_relevant])
    others = np.setdiff1d(np.arange(n_genes), relevant)
    y = np.arange(5 * n_samples) % 3
    X = _expression(rng, y, n_genes, relevant, effect)
    genes = [f"gene{i:04d}" for i in range(n_genes)]
    shuffled = rng.permutation(relevant)
    third, fifths = n_relevant // 3, 2 * n_relevant // 5
    cancer = np.concatenate([shuffled[-fifths:], rng.choice(others, fifths // 2, replace=False)])
    pairs = _interactions(rng, n_genes, relevant)
    return GeneStudy(
        X=X[:n_samples],
        y=y[:n_samples],
        X_test=X[n_samples:],
        y_test=y[n_samples:],
        genes=genes,
        relevant=relevant,
        known=np.sort(shuffled[:third]),
        cancer=np.sort(cancer),
        annotation=_annotation(rng, n_genes, relevant),
        terms=[f"term{i:03d}" for i in range(_N_TERMS)],
        interactions=[(genes[i], genes[j]) for i, j in pairs],
        auxiliary=_auxiliary(rng, y[:n_samples]),
    )


def _expression(rng, y: np.ndarray, n_genes: int, relevant: np.ndarray, effect: float):
    """Noise, factors that groups of genes share, and class means of the relevant genes."""
    factors = rng.standard_normal((len(y), _N_FACTORS))
    loadings = rng.standard_normal((_N_FACTORS, n_genes)) * (rng.random((1, n_genes)) < 0.4)
    X = rng.standard_normal((len(y), n_genes)) + 0.5 * factors @ loadings
    X[:, relevant] += effect * rng.standard_normal((3, len(relevant)))[y]
    return X + 8.0


def _annotation(rng, n_genes: int, relevant: np.ndarray) -> np.ndarray:
    """Terms at random; a few of them more often for relevant genes."""
    chance = np.full((n_genes, _N_TERMS), 0.03)
    chance[np.ix_(relevant, np.arange(_N_RELEVANT_TERMS))] = 0.3
    return (rng.random((n_genes, _N_TERMS)) < chance).astype(np.float64)


def _interactions(rng, n_genes: int, relevant: np.ndarray) -> list[tuple[int, int]]:
    """Pairs at random, two per gene, and three per relevant gene among those."""
    anywhere = rng.integers(0, n_genes, (2 * n_genes, 2))
    inside = rng.choice(relevant, (3 * len(relevant), 2))
    pairs = np.sort(np.concatenate([anywhere, inside]), axis=1)
    return [(int(i), int(j)) for i, j in np.unique(pairs, axis=0) if i != j]


def _auxiliary(rng, y: np.ndarray) -> np.ndarray:
    """Measurements of which half separate the classes."""
    means = rng.standard_normal((3, _N_AUXILIARY)) * (np.arange(_N_AUXILIARY) % 2)
    return rng.standard_normal((len(y), _N_AUXILIARY)) + means[y]


def gene_sources(study: GeneStudy) -> list[Source]:
    """Four sources about a study; terms and interactions know the cancer genes."""
    cancer = [study.genes[i] for i in study.cancer]
    terms = pd.DataFrame(study.annotation, study.genes, study.terms)
    return [
        Source("labels", name="classes"),
        Source("auxiliary", study.auxiliary, name="other measurement"),
        Source("annotation", terms, known=cancer, name="terms"),
        Source("interaction", study.interactions, known=cancer, name="interactions"),
    ]
