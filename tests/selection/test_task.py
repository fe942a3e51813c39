"""A selection that knows its error."""

from __future__ import annotations

import pickle

import numpy as np

from columnist.selection import Solution


def test_is_a_sorted_tuple_of_plain_numbers():
    solution = Solution(np.array([4, 1]), error=np.float64(2.5))
    assert solution == (1, 4)
    assert [type(column) for column in solution] == [int, int]
    assert solution.error == 2.5
    assert np.arange(10)[list(solution)].tolist() == [1, 4]


def test_survives_pickling():
    solution = pickle.loads(pickle.dumps(Solution([3, 5], error=0.25)))
    assert isinstance(solution, Solution)
    assert (solution, solution.error) == ((3, 5), 0.25)
