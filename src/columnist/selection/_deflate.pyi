import numpy as np
from numpy.typing import NDArray

def deflate(
    G: NDArray[np.float64], w: NDArray[np.float64], energy: NDArray[np.float64]
) -> None: ...
