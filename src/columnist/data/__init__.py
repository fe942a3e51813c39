"""The one door: what X, y and weights are, wherever they live.

Arrays, frames, sparse matrices, Gram matrices, Dask collections and streams are checked, scaled and
opened here, and nowhere else. A selection works on :class:`Matrices`; whatever visits rows, on
:class:`RowBlocks`, of which an array is one block.
"""

from columnist.data._blocks import RowBlocks, open_blocks, register_blocks
from columnist.data._matrices import Matrices
from columnist.data._open import (
    check_rows,
    in_memory,
    is_target_given,
    matrices_of,
    open_matrices,
    open_rows,
    uses_target,
)

__all__ = [
    "Matrices", "RowBlocks", "check_rows", "in_memory", "is_target_given", "matrices_of",
    "open_blocks", "open_matrices", "open_rows", "register_blocks", "uses_target",
]  # fmt: skip
