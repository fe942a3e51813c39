import numpy as np
from numpy.typing import NDArray

MOST_ROWS: int

def best_removal(
    gram: NDArray[np.float64],
    n_components: int,
    n_removed: int,
    centred: bool,
    limit: float,
    max_nodes: int,
    roundings: int,
) -> tuple[float, NDArray[np.intp] | None, int, bool]: ...
