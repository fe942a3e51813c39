"""Opening of data: the interpretation of X, y and weights, in memory or elsewhere.

Arrays, frames, sparse matrices, Gram matrices, Dask collections and streams are checked, scaled and
opened only here. Selections use :class:`Matrices`; computations that pass over rows use
:class:`RowBlocks`, where an array is a single block.
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
