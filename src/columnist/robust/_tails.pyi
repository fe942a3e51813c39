from collections.abc import Callable

import numpy as np

def rank_one_tails(
    matrix: np.ndarray, rows: np.ndarray, weights: np.ndarray, signs: np.ndarray, top: int
) -> np.ndarray: ...
def least_elsewhere(least: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]: ...

class BlockTables:
    matrices: np.ndarray
    bounds: np.ndarray
    starts: np.ndarray
    def __init__(
        self,
        rows: np.ndarray,
        top: int,
        blocks: list[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]],
        workers: int = 1,
    ) -> None: ...
    @property
    def n_evaluated(self) -> int: ...
    def evaluate(self, block: int, start: int, stop: int, worker: int = 0) -> None: ...
    def evaluate_picks(self, picks: np.ndarray, first: int, last: int, worker: int = 0) -> None: ...
    def shift(
        self, matrices: np.ndarray, first: int = 0, last: int = -1, worker: int = 0
    ) -> None: ...
    def minimise(
        self, k: int, budget: int, evaluate: Callable[[np.ndarray], None] | None = None
    ) -> tuple[float, np.ndarray, bool]: ...
    def top_projectors(
        self, picks: np.ndarray, out: np.ndarray, first: int = 0, last: int = -1, worker: int = 0
    ) -> None: ...
