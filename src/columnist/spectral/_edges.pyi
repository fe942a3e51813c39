import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

class NearestByClass:
    positions: NDArray[np.int32]
    def __init__(
        self,
        X: np.ndarray | sp.csr_matrix,
        low: NDArray[np.float64],
        scale: NDArray[np.float64],
        order: NDArray[np.intp],
        starts: NDArray[np.intp],
        size: int,
        grid: float,
    ) -> None: ...
    def meet(self, a: int, a_stop: int, b: int, b_stop: int) -> None: ...

def edge_sums(
    indptr: NDArray[np.int32],
    indices: NDArray[np.int32],
    weights: NDArray[np.float64],
    X: np.ndarray,
    squared: bool = False,
) -> NDArray[np.float64]: ...
def sparse_edge_sums(
    indptr: NDArray[np.int32],
    indices: NDArray[np.int32],
    weights: NDArray[np.float64],
    starts: NDArray[np.intp],
    columns: NDArray[np.int32],
    data: NDArray[np.float64],
    m: int,
) -> NDArray[np.float64]: ...
