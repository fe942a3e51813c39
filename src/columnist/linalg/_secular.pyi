import numpy as np
from numpy.typing import ArrayLike, NDArray

def downdated_eigenvalues(
    d: ArrayLike, Z: ArrayLike, first: int = 0, last: int | None = None
) -> NDArray[np.float64]: ...
