import numpy as np

class Workspace:
    @property
    def nbytes(self) -> int: ...
    def last_frame(self) -> tuple[float, np.ndarray, np.ndarray]: ...

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
        budget: float = 0.0,
        n_best: int = 1,
    ) -> tuple[
        float,
        np.ndarray,
        np.ndarray,
        np.ndarray,
        np.ndarray,
        np.ndarray,
        tuple[int, int, int],
        np.ndarray,
    ]: ...
    def additions(
        self, chosen: np.ndarray, candidates: np.ndarray, space: Workspace
    ) -> tuple[float, np.ndarray]: ...
    def completions(
        self,
        chosen: np.ndarray,
        candidates: np.ndarray,
        t: int,
        threshold: float,
        n_best: int,
        space: Workspace,
        budget: float,
    ) -> tuple[np.ndarray, np.ndarray, bool]: ...
