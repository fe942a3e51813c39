"""
Combine several sources of knowledge
====================================

With few samples and many features, statistics are unreliable. Other knowledge about the features
can compensate for this.
"""

# %%
# False positives
# ---------------
# By a common rule, a gene is significant if its means in two groups differ at least twofold and a
# t-test rejects equality at 5%. None of these 10,000 genes is related to the groups.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from columnist.knowledge import KnowledgeSelector
from columnist.spectral import linear_similarity
from reproduction.evidence import (
    annotation_similarity,
    count_hits,
    nearest_accuracy,
    significant_features,
)
from reproduction.gene_study import gene_sources, make_gene_study

rng = np.random.default_rng(0)
levels = np.exp(0.6 * rng.standard_normal((20, 10_000)))
counts = [len(significant_features(levels, rng.permutation(20) % 2)) for _ in range(10)]
print(f"significant genes in ten random splits: {counts}")

# %%
# A study with background knowledge
# ---------------------------------
# The study has 36 samples of three classes and 2000 genes, 60 of them relevant. There is a second
# measurement of the same samples; genes are annotated with terms, and some interact; some are known
# cancer genes. Each source is a data frame with names, or a list of names. The study is generated
# by code in the folder ``reproduction`` of the repository, from which this example must be run.

study = make_gene_study(random_state=0)
X = pd.DataFrame(study.X, columns=study.genes)
sources = gene_sources(study)

# %%
# Each source alone, and all sources combined
# -------------------------------------------
# Terms and interactions use the known cancer genes; the classes do not. New samples measure how
# well the first genes separate the classes. In this generated study the relevant genes are known as
# well.

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
# The number of relevant genes among the first genes of each ranking:

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
plt.show()

# %%
# Contributions of the sources
# ----------------------------
# ``contributions_`` decomposes the score of every gene by source, here for the first 25 genes of
# the aggregate by EM. Asterisks mark relevant genes. A gene ranks high if one source ranks it very
# high or several sources agree.

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
plt.show()

# %%
# Learnt weights
# --------------
# Without known genes, EM finds lists that complement one another. With known genes, it prefers the
# lists that rank them at the top. Often this is a single list, and a warning is issued.

for name, weight in zip(selector.source_names_, selector.source_weights_, strict=True):
    print(f"{name:18s} {weight:.2f}")
