"""The certificate."""

from __future__ import annotations

import dataclasses
import json
import pickle
from typing import NamedTuple

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from columnist import Certificate, ColumnSelector
from columnist.search._certificate import CertifiedPath, tightened, warn_unless_optimal
from columnist.search._words import STATUSES


def certificate(**changes):
    values = {"status": "time_limit", "error": 4.0, "lower_bound": 3.0} | changes
    return Certificate(**values)


@pytest.mark.parametrize(
    ("error", "bound", "gap"),
    [(4.0, 3.0, 0.25), (4.0, 4.0, 0.0), (0.0, 0.0, 0.0), (5.0, 0.0, 1.0), (1e-300, 5e-301, 0.5)],
)
def test_gap(error, bound, gap):
    assert certificate(error=error, lower_bound=bound).gap == pytest.approx(gap)


def test_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        certificate().error = 1.0


@pytest.mark.parametrize("status", STATUSES)
def test_repr_says_what_is_proven(status):
    text = repr(certificate(status=status, nodes_expanded=12345))
    lines = text.splitlines()
    assert lines[0] == "Certificate"
    assert f"{status} ({STATUSES[status]})" in text
    assert "12,345 expanded" in text
    assert "25%" in text
    assert "optimum <=" not in text and "better " not in text
    assert (certificate(status=status).is_optimal) == (status == "optimal")


def test_repr_of_what_is_there():
    text = repr(certificate(a_priori_bound=0.125, better=(1, 4)))
    assert "error - optimum <= 0.125" in text
    assert "1, 4" in text


def test_preparation_is_shown_where_there_was_any():
    assert "data passes" not in repr(certificate(elapsed=5.0))
    made = certificate(elapsed=5.0, preparation=3.5)
    assert "data passes 3.5 s of these" in repr(made)
    assert "3.5 s of these" in made._repr_html_()
    assert made.to_dict()["preparation"] == 3.5


@pytest.mark.parametrize("status", sorted(set(STATUSES) - {"optimal"}))
def test_more_time_is_recommended_where_it_helps(status):
    with pytest.warns(ConvergenceWarning, match=status) as caught:
        warn_unless_optimal(certificate(status=status))
    said = str(caught[0].message)
    assert ("Raise time_limit" in said) == (status != "precision_limit")
    assert ("too few digits" in said) == (status == "precision_limit")
    assert said.endswith("se search='auto' to accept a gap without this warning.")


def test_a_proof_warns_of_nothing(recwarn):
    warn_unless_optimal(certificate(status="optimal"))
    assert not recwarn


def test_html_is_escaped():
    page = certificate(criterion="<script>&", status="<b>", a_priori_bound=1.0)._repr_html_()
    assert "<script>" not in page and "<b>" not in page
    assert "&lt;script&gt;&amp;" in page
    assert "error - optimum &lt;= 1" in page
    assert page.startswith("<table>") and page.endswith("</table>")
    assert page.count("<tr>") == page.count("</tr>") == len(repr(certificate()).splitlines())


def test_to_dict_is_json():
    values = certificate(
        error=np.float64(4.0),
        nodes_expanded=np.int64(7),
        selection=tuple(np.array([1, 2])),
        better=(np.int32(3),),
        history=({"bound": np.float32(0.5), "expanded": 1},),
    ).to_dict()
    copy = json.loads(json.dumps(values))
    assert copy == values
    assert copy["gap"] == 0.25
    assert copy["selection"] == [1, 2] and copy["better"] == [3]
    assert copy["history"] == [{"bound": 0.5, "expanded": 1}]
    names = {field.name for field in dataclasses.fields(Certificate)}
    assert set(values) == names | {"gap"}


@pytest.mark.parametrize("search", ["auto", "weighted", "greedy", "optimistic"])
def test_the_certificate_of_a_search_is_plain(search):
    X = np.random.default_rng(0).standard_normal((20, 9))
    fitted = ColumnSelector(3, search=search, epsilon=0.3, n_solutions=2).fit(X)
    values = fitted.certificate_.to_dict()
    # Strict JSON knows neither infinity nor NaN.
    copy = json.loads(json.dumps(values, allow_nan=False))
    assert copy["error"] == fitted.error_
    assert copy["selection"] == fitted.selected_.tolist()
    assert pickle.loads(pickle.dumps(fitted.certificate_)) == fitted.certificate_


def test_elapsed_and_nodes_are_filled():
    X = np.random.default_rng(0).standard_normal((30, 12))
    found = ColumnSelector(4, criterion="nuclear").fit(X).certificate_
    assert 0.0 < found.elapsed < 30.0
    assert 0 < found.nodes_expanded <= found.nodes_generated
    assert found.criterion == "nuclear"
    assert found.history[-1]["bound"] == pytest.approx(found.lower_bound)
    assert found.history[-1]["incumbent"] == pytest.approx(found.error)


# --- paths of certified choices --------------------------------------------------


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
