from typing import NamedTuple

import numpy as np

class Children(NamedTuple):
    bound: float
    kept: np.ndarray
    f: np.ndarray
    u: np.ndarray
    errors: np.ndarray
    items: np.ndarray
    counts: tuple[int, int, int]
    order: np.ndarray
    charges: np.ndarray
    floor: float
    doubtful: bool

class Completions(NamedTuple):
    errors: np.ndarray
    items: np.ndarray
    finished: bool
    charges: np.ndarray
    floor: float
    doubtful: bool

class Workspace:
    @property
    def nbytes(self) -> int: ...
    def last_frame(self) -> tuple[float, np.ndarray, np.ndarray]: ...

class FrobeniusBrancher:
    def __init__(
        self,
        columns: np.ndarray,
        weights: np.ndarray,
        constant: float,
        allowance: float,
        power: int = 1,
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
    ) -> Children: ...
    def additions(
        self, chosen: np.ndarray, candidates: np.ndarray, space: Workspace
    ) -> tuple[float, np.ndarray, float]: ...
    def completions(
        self,
        chosen: np.ndarray,
        candidates: np.ndarray,
        t: int,
        threshold: float,
        n_best: int,
        space: Workspace,
        budget: float,
    ) -> Completions: ...
