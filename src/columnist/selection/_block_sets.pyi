import numpy as np

def best_in_blocks(
    D: np.ndarray,
    G: np.ndarray,
    U: np.ndarray,
    starts: np.ndarray,
    levels: np.ndarray,
    budget: int,
    best: np.ndarray,
    within: np.ndarray,
    without: np.ndarray,
    which: np.ndarray,
) -> None: ...
