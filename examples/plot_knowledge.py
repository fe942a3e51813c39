"""
Several sources of knowledge
============================

Few samples and many features make statistics unreliable. What is known about the features
besides can make up for it.
"""

# %%
# Significant by chance
# ---------------------
# A common rule calls a gene significant if its means in two groups differ at least twofold and a
# t-test agrees at 5%. None of these 10,000 genes has anything to do with the groups.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from columnist.knowledge import (
    KnowledgeSelector,
    Source,
    annotation_similarity,
    count_hits,
    make_gene_study,
    nearest_accuracy,
    significant_features,
)
from columnist.spectral import linear_similarity

rng = np.random.default_rng(0)
levels = np.exp(0.6 * rng.standard_normal((20, 10_000)))
counts = [len(significant_features(levels, rng.permutation(20) % 2)) for _ in range(10)]
print(f"significant genes in ten random splits: {counts}")

# %%
# A study with background knowledge
# ---------------------------------
# 36 samples of three classes and 2000 genes, 60 of them relevant. The same samples were measured in
# another way; genes have terms, and some interact; some are known to have a part in a cancer. Each
# source is a frame with names, or a list of names.

study = make_gene_study(random_state=0)
X = pd.DataFrame(study.X, columns=study.genes)
cancer = [study.genes[i] for i in study.cancer]
terms = pd.DataFrame(study.annotation, index=study.genes, columns=study.terms)
sources = [
    Source("labels", name="classes"),
    Source("auxiliary", study.auxiliary, name="other measurement"),
    Source("annotation", terms, known=cancer, name="terms"),
    Source("interaction", study.interactions, known=cancer, name="interactions"),
]

# %%
# Each source alone, and all together
# -----------------------------------
# The terms and interactions are told which genes are known from cancer; the classes are not. New
# samples tell how well the first genes separate the classes. In a generated study the relevant
# genes are known, too.

selectors = {source.name: KnowledgeSelector(50, sources=[source]) for source in sources}
selectors["all, EM"] = KnowledgeSelector(50, sources=sources)
selectors["all, Borda"] = KnowledgeSelector(50, sources=sources, aggregation="borda")

shared_terms = linear_similarity(study.annotation)
table = {}
for name, selector in selectors.items():
    ranking = selector.fit(X, study.y).ranking_
    accuracy = nearest_accuracy(study.X, study.y, ranking, test=(study.X_test, study.y_test))
    table[name] = {
        "accuracy, 10": accuracy[0],
        "30": accuracy[1],
        "50": accuracy[2],
        "relevant": count_hits(ranking[:50], study.relevant),
        "cancer": count_hits(ranking[:50], study.cancer),
        "shared terms": annotation_similarity(ranking[:50], study.known, shared_terms),
    }
table = pd.DataFrame(table).T
print(table.round(2).to_string())

# %%
# How many relevant genes have been found by each rank?

found = {
    name: np.cumsum(np.isin(selector.ranking_[:100], study.relevant))
    for name, selector in selectors.items()
}
colors = ["#999999", "#56B4E9", "#E69F00", "#009E73", "#D55E00", "#0072B2"]
_, ax = plt.subplots(figsize=(6, 4), layout="constrained")
for color, (name, count) in zip(colors, found.items(), strict=True):
    fused = name.startswith("all")
    ax.plot(np.arange(1, 101), count, color=color, lw=2.5 if fused else 1.5, label=name)
ax.set(xlabel="genes taken", ylabel="relevant genes among them", xlim=(0, 100), ylim=(0, None))
ax.legend(frameon=False)

# %%
# What each source adds
# ---------------------
# ``contributions_`` splits the score of every gene by source, here for the first 25 genes of the
# aggregate by EM. Asterisks mark relevant genes. A gene is found because one source is sure of it,
# or several agree.

selector = selectors["all, EM"]
top = selector.selected_[:25]
parts = selector.contributions_ - selector.contributions_.min(axis=1, keepdims=True)
bottom = np.zeros(len(top))
_, ax = plt.subplots(figsize=(6, 4.5), layout="constrained")
for color, name, part in zip(colors[:4], selector.source_names_, 1e3 * parts[:, top], strict=True):
    ax.barh(np.arange(len(top)), part, left=bottom, color=color, label=name)
    bottom = bottom + part
stars = ["*" if gene in set(study.relevant) else "" for gene in top]
labels = [f"{star} {study.genes[gene]}" for star, gene in zip(stars, top, strict=True)]
ax.set_yticks(np.arange(len(top)), labels, fontsize=7)
ax.invert_yaxis()
ax.set(xlabel="probability above that of the last gene (1/1000)")
ax.legend(frameon=False, loc="lower right")

# %%
# Learnt weights
# --------------
# Without known genes EM asks which lists complement one another. With known genes it looks for the
# lists that have them on top, which is easily a single one, and then warns.

for name, weight in zip(selector.source_names_, selector.source_weights_, strict=True):
    print(f"{name:18s} {weight:.2f}")
