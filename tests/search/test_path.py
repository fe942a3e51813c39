"""What all paths of certified choices share."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from columnist.search._certificate import Certificate
from columnist.search._path import CertifiedPath, tightened


class Step(NamedTuple):
    """A step that names nothing but its certificate."""

    certificate: Certificate


def steps(errors, bounds):
    return [
        Step(Certificate("time_limit", error, bound))
        for error, bound in zip(errors, bounds, strict=True)
    ]


def test_a_bound_for_larger_choices_holds_for_smaller_ones():
    path = CertifiedPath(tightened(steps([9.0, 8.0, 7.0, 6.0], [2.0, 1.0, 5.0, 3.0])))
    np.testing.assert_array_equal(path.lower_bounds, [5.0, 5.0, 5.0, 3.0])
    np.testing.assert_array_equal(path.errors, [9.0, 8.0, 7.0, 6.0])


def test_a_bound_never_passes_the_error_of_its_step():
    assert tightened(steps([4.0, 5.0], [1.0, 5.0]))[0].certificate.lower_bound == 4.0


def test_a_path_is_a_sequence():
    path = CertifiedPath(tuple(steps([3.0, 2.0, 1.0], [0.0, 0.0, 0.0])))
    assert len(path) == 3
    assert path[1] in path
    assert path[1:] == tuple(path)[1:]
