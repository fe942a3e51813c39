"""
Two stages for very wide data
=============================

Accurate selectors are too slow for a hundred thousand columns. A fast selector therefore proposes
candidates, and an accurate one selects among them. If the second selector does not use the target,
weights on the candidates make it select for the target.
"""

# %%
# A collection of documents
# -------------------------
# The data have 3000 documents, 100,000 words and twenty topics. Half of the words of a document are
# common ones; the others come from its topics, and each word belongs to one topic. The matrix has
# 165,000 entries and is never converted to a dense array.

import numpy as np
import scipy.sparse as sp

rng = np.random.default_rng(0)
n_documents, n_words, n_topics = 3000, 100_000, 20
shares = rng.dirichlet(np.full(n_topics, 0.1), n_documents)
topic_of_word = rng.permutation(n_words) % n_topics
popularity = 1.0 / np.arange(1, n_words + 1) ** 0.9


def draw_words(count, allowed):
    """Words of a kind, the popular ones more often."""
    words = np.flatnonzero(allowed)
    return rng.choice(words, count, p=popularity[words] / popularity[words].sum())


documents, words = [], []
for topic in range(n_topics):
    counts = rng.poisson(60 * shares[:, topic])
    documents.append(np.repeat(np.arange(n_documents), counts))
    common = rng.random(counts.sum()) < 0.5
    own = draw_words(counts.sum(), topic_of_word == topic)
    words.append(np.where(common, draw_words(counts.sum(), np.full(n_words, True)), own))
documents, words = np.concatenate(documents), np.concatenate(words)
X = sp.csc_array((np.ones(len(words)), (documents, words)), shape=(n_documents, n_words))
X.data = np.log1p(X.data)

# %%
# We are interested in three of the topics: which twenty words best predict their shares in a
# document?

Y = shares[:, :3]

# %%
# Candidates and weights
# ----------------------
# The first stage samples 200 words by leverage. The second, strong rank-revealing QR, does not use
# the topics: it selects columns that represent its own input. Weights scale the candidates such
# that their inner products approximate those of Y.

from columnist.selection import LeverageSampler, StrongRRQRSelector, TwoStageSelector

first, second = LeverageSampler(rank=20, random_state=0), StrongRRQRSelector(20)
selector = TwoStageSelector(first, second, 200).fit(X, Y)
print(np.count_nonzero(selector.weights_), "of", len(selector.candidates_), "weights are positive")

# %%
# The input of the second stage contains all topics without weights, and almost only the three
# relevant topics with weights.

import matplotlib.pyplot as plt

topics = topic_of_word[selector.candidates_]
before = np.asarray(X[:, selector.candidates_].power(2).sum(axis=0)).ravel()
after = before * selector.weights_**2

figure, axes = plt.subplots(layout="constrained")
places = np.arange(n_topics)
for energy, shift, color, label in (
    (before, -0.2, "0.7", "candidates as they are"),
    (after, 0.2, "#0072B2", "weighted candidates"),
):
    share = np.bincount(topics, energy, minlength=n_topics) / energy.sum()
    axes.bar(places + shift, 100 * share, 0.4, color=color, label=label)
axes.axvspan(-0.5, 2.5, color="#E69F00", alpha=0.15, zorder=0, label="topics of the target")
axes.set(xlabel="topic", ylabel="share of the squared lengths (%)", xlim=(-0.6, n_topics - 0.4))
axes.set_xticks(places)
axes.spines[["top", "right"]].set_visible(False)
axes.legend(frameon=False)
plt.show()

# %%
# The bound
# ---------
# How well the weighted candidates approximate Y bounds the error of any selection from them.

total = np.square(Y).sum()
print(f"error {100 * selector.relative_error_:.1f} %,", end=" ")
print(f"guaranteed to be at most {100 * selector.error_bound_ / total:.1f} %")

# %%
# With and without weights
# ------------------------
# For comparison: the same candidates without weights, and forward selection on all words, which
# uses Y. The errors are means of three random samples of candidates.

from columnist.selection import ForwardSelector

sizes = [5, 10, 20, 30]


def mean_error(size, weights):
    """Error of both stages, in percent."""
    errors = []
    for seed in range(3):
        first = LeverageSampler(rank=20, random_state=seed)
        selector = TwoStageSelector(first, StrongRRQRSelector(size), 200, weights=weights)
        errors.append(100 * selector.fit(X, Y).relative_error_)
    return np.mean(errors)


path = ForwardSelector(max(sizes)).fit(X, Y)
errors = {
    "two stages, no weights": [mean_error(size, "none") for size in sizes],
    "two stages, weights": [mean_error(size, "quadratic") for size in sizes],
    "forward selection, all words": [100 * path.errors_[size - 1] / total for size in sizes],
}

figure, axes = plt.subplots(layout="constrained")
for (label, values), style in zip(errors.items(), ("s:", "o-", "x--"), strict=True):
    color = {"s": "0.5", "o": "#0072B2", "x": "#D55E00"}[style[0]]
    axes.plot(sizes, values, style, color=color, label=label)
axes.set(xlabel="number of words", ylabel="error (% of the squared norm of Y)", ylim=(0, 100))
axes.spines[["top", "right"]].set_visible(False)
axes.legend(frameon=False, loc="lower left")
plt.show()

# %%
# With weights, a selector that does not use Y selects for Y. The remaining difference from forward
# selection is due to the sample of only 200 candidates: with the candidates of a
# :class:`~columnist.selection.MatchingFilter`, which uses Y, it nearly vanishes.

from columnist.selection import MatchingFilter

informed = TwoStageSelector(MatchingFilter(), StrongRRQRSelector(20), 200).fit(X, Y)
print(f"{100 * informed.relative_error_:.1f} % with 20 words,", end=" ")
print(f"forward selection {100 * path.first(20).relative_error_:.1f} %")
