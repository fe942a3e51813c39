import numpy as np

def descend(
    P: np.ndarray,
    D: np.ndarray,
    forced: np.ndarray,
    free: np.ndarray,
    t: int,
    B: np.ndarray,
    U: np.ndarray,
    s: float,
    n_sweeps: int,
) -> float: ...
