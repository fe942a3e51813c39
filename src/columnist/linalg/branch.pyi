import numpy as np

class Workspace:
    @property
    def nbytes(self) -> int: ...

class FrobeniusBrancher:
    def __init__(
        self, columns: np.ndarray, weights: np.ndarray, constant: float, allowance: float
    ) -> None: ...
    def children(
        self,
        chosen: np.ndarray,
        candidates: np.ndarray,
        t: int,
        threshold: float,
        space: Workspace,
    ) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]: ...
    def pairs(
        self,
        chosen: np.ndarray,
        candidates: np.ndarray,
        threshold: float,
        n_best: int,
        space: Workspace,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]: ...
