import numpy as np
from numpy.typing import NDArray

def descend_gram(
    G: NDArray[np.float64],
    Q: NDArray[np.float64],
    W: NDArray[np.float64],
    t: float,
    work: NDArray[np.float64],
    tol: float,
    max_sweeps: int,
) -> int: ...
def descend_columns(
    columns: NDArray[np.float64],
    squares: NDArray[np.float64],
    R: NDArray[np.float64],
    W: NDArray[np.float64],
    t: float,
    work: NDArray[np.float64],
    tol: float,
    max_sweeps: int,
) -> int: ...
