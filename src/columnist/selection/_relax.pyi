import numpy as np

class RelaxationSpace:
    def __init__(self) -> None: ...

class Relaxation:
    p: int
    r: int
    n_targets: int
    power: int
    lowered: float
    allowance: float
    total: float

    def __init__(
        self,
        columns: np.ndarray,
        weights: np.ndarray,
        k: int,
        power: int,
        allowance: float,
    ) -> None: ...
    def expand(
        self,
        chosen: np.ndarray,
        candidates: np.ndarray,
        t: int,
        threshold: float,
        hint: np.ndarray | None,
        free: np.ndarray | None,
        n_chain: int,
        margin: float,
        space: RelaxationSpace,
    ) -> tuple[float, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, int]: ...
