import numpy as np

class RelaxationSpace:
    def __init__(self) -> None: ...

class Relaxation:
    p: int
    n_targets: int
    lowered: float
    total: float
    shift: float
    shaped: bool

    def __init__(
        self,
        columns: np.ndarray,
        weights: np.ndarray,
        k: int,
        allowance: float,
        shift: float,
        shaped: bool = True,
    ) -> None: ...
    def evaluate(
        self,
        chosen: np.ndarray,
        candidates: np.ndarray,
        t: int,
        threshold: float,
        hint: np.ndarray | None,
        free: np.ndarray | None,
        space: RelaxationSpace,
    ) -> tuple[float, np.ndarray, np.ndarray, np.ndarray, np.ndarray]: ...
    def divide(
        self,
        chosen: np.ndarray,
        candidates: np.ndarray,
        z: np.ndarray,
        k: int,
        threshold: float,
        last: int,
        few: float,
        space: RelaxationSpace,
    ) -> tuple[
        list[tuple[float, np.ndarray, np.ndarray, np.ndarray | None]],
        int,
    ]: ...
