import numpy as np
from numpy.typing import ArrayLike, NDArray

def downdated_eigenvalues(
    d: ArrayLike,
    Z: ArrayLike,
    first: int = 0,
    last: int | None = None,
    n_threads: int = 1,
) -> NDArray[np.float64]: ...
def downdated_top_sums(d: ArrayLike, Z: ArrayLike, t: int) -> NDArray[np.float64]: ...
