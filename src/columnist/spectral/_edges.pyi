import numpy as np

def laplacian_forms(
    indptr: np.ndarray, indices: np.ndarray, weights: np.ndarray, X: np.ndarray
) -> np.ndarray: ...
