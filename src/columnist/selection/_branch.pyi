from typing import NamedTuple

import numpy as np

class Children(NamedTuple):
    bound: float  # of every completion of the node; infinite if none is below the threshold
    kept: np.ndarray  # items of the children, ascending by bound
    f: np.ndarray  # their bounds, infinite where a child was explored to its end
    u: np.ndarray  # their errors
    errors: np.ndarray  # complete sets found: the best, and those rounding cannot tell from them
    items: np.ndarray  # what each of them adds
    counts: tuple[int, int, int]  # nodes explored, children explored to the end or not
    order: np.ndarray  # how the children were sorted: see Workspace.last_frame
    charges: np.ndarray  # rounding of the errors
    floor: float  # least error of complete sets there was no room for
    doubtful: bool  # a column was taken for dependent that may be more than rounding

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
