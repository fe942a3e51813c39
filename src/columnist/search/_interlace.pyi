import numpy as np

def surviving_tuples(
    high: np.ndarray,
    low: np.ndarray,
    h_high: np.ndarray,
    h_low: np.ndarray,
    cosines: np.ndarray,
    inner: np.ndarray,
    energy: float,
    width: int,
    drop: int,
    slack: float,
    limit: float,
    fill: bool,
    grown: float = 1.0,
) -> tuple[np.ndarray, np.ndarray]: ...
