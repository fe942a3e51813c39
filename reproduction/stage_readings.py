"""Weights and bounds of two stages that Xu may have used: an experiment on table 6.6."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from columnist.selection import GKSSelector, LeverageSampler, StrongRRQRSelector
from reproduction.data import Data
from reproduction.experiments import Trial, tried
from reproduction.printed import printed
from reproduction.settings import RRQR_F, TUNED_GKS_EXTRA, TUNED_RRQR_F
from reproduction.two_stage_tables import MEAN_OF, NOT_HERE, RANDOM, candidates, two_ways

__all__ = ["stages"]

SECOND: dict[str, dict[str, Callable[[int], Any]]] = {
    "GE": {f"f = {f}": partial(StrongRRQRSelector, f=f) for f in (RRQR_F, 1.1, TUNED_RRQR_F)},
    "GKS": {
        "rank k": GKSSelector,
        "rank k + 1": lambda k: GKSSelector(k, rank=k + TUNED_GKS_EXTRA),
    },
}
WEIGHTS = ("weights solved for once", "weights fitted anew after every round")


def stages(data: Data) -> Iterator[Trial]:
    """Every pair of stages with every bound and both kinds of weights, set by set."""
    for row in (row for row in printed("xu-6.6") if row["set"] not in NOT_HERE):
        X, y, k = data.matrix(row["set"]), data.labels(row["set"])[:, 0], int(row["k"])
        scores = LeverageSampler(k, random_state=0).fit(X).probabilities_
        for pair, figure in row.items():
            first, _, second = pair.partition(" ")
            if second not in SECOND or not figure:
                continue
            runs = range(MEAN_OF if first in RANDOM else 1)
            for bound, make in SECOND[second].items():
                ways = [
                    two_ways(candidates(first, scores, seed), make(k), X, y, k) for seed in runs
                ]
                for how, ours in zip(WEIGHTS, np.mean(ways, axis=0), strict=True):
                    where = f"{row['set']}, k = {k}, {pair}"
                    yield tried(
                        f"xu-6.6, {row['set']}, {pair}", "xu-6.6", where, figure,
                        f"{bound}, {how}", ours, random=first in RANDOM,
                    )  # fmt: skip
