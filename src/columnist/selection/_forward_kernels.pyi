import numpy as np
from numpy.typing import NDArray

def deflate(
    G: NDArray[np.float64], w: NDArray[np.float64], energy: NDArray[np.float64]
) -> None: ...
def add_forms(
    indptr: NDArray[np.intp],
    indices: NDArray[np.intp],
    data: NDArray[np.float64],
    block: NDArray[np.float64],
    first: int,
    out: NDArray[np.float64],
) -> None: ...
