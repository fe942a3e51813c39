"""The benchmarks run, and what they compare agrees. Nothing here looks at a clock."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
import scipy.sparse as sp

from benchmarks import (
    compare,
    knowledge,
    large_graph,
    limits,
    mrsf_blocks,
    mrsf_path,
    reach,
    robust_criteria,
    robust_reach,
    robust_rows,
    run,
    secular,
    table,
    textbook,
    weighted_tables,
    wide,
)
from benchmarks.data import Sets
from benchmarks.store import Stored
from columnist import Certificate
from columnist.criteria import Frobenius
from columnist.datasets._catalogue import read_arff, read_table
from columnist.metrics import reconstruction_error
from columnist.search._words import STATUSES
from reproduction.weighted_search import Order
from tests.oracles.textbook import textbook_search
from tests.real_data import load_multilabel, load_vehicle


def test_textbook_rows_agree_on_the_optimum():
    skipped = []
    sets = Sets(None, say=skipped.append)
    name, X = next(sets.these("wdbc"))
    row = textbook.compare(name, X, 2, quick=True)
    assert row["same optimum"]
    assert (row["set"], row["columns"], row["k"]) == ("wdbc", 30, 2)
    assert row["textbook nodes"] >= 1 and row["our nodes"] >= 1
    assert all(isinstance(row[key], float) for key in ("ratio fit", "ratio search"))
    assert not skipped


def test_sets_without_a_folder_are_skipped_with_a_line():
    skipped = []
    names = [name for name, _ in Sets(None, say=skipped.append).these("wdbc", "libras", "digits")]
    assert names == ["wdbc", "digits"]
    assert len(skipped) == 1 and "libras" in skipped[0]


def test_a_run_stores_its_rows_and_keeps_those_of_other_sets(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(textbook, "QUICK_SIZES", {"wdbc": (2,)})
    Stored("textbook", tmp_path).put([{"set": "libras", "k": 2}, {"set": "wdbc", "k": 9}])
    monkeypatch.setattr(run, "show", lambda name, rows: None)
    assert run.main(["textbook", "--quick", "--out", str(tmp_path)]) == 0
    stored = Stored("textbook", tmp_path)
    assert [(row["set"], row["k"]) for row in stored.rows] == [("libras", 2), ("wdbc", 2)]
    assert len(stored.runs) == 2
    assert str(tmp_path) not in stored.path.read_text()
    assert "commit" in capsys.readouterr().out


def test_unknown_benchmark_is_refused(capsys):
    with pytest.raises(SystemExit):
        run.parse(["nonsense"])
    assert "nonsense" in capsys.readouterr().err


def test_limits_have_a_row_for_every_case():
    rows = limits.rows(Sets(None, say=pytest.fail), quick=True)
    assert len({row["case"] for row in rows}) == len(rows) == 9
    assert all(row["limit [s]"] == 0.2 and row["seconds"] > 0.0 for row in rows)
    assert {row["status"] for row in rows} <= set(STATUSES)
    late = limits.measured("slow", lambda limit: Certificate("time_limit", 4.0, 3.0), -3.0)
    assert not late["in time"] and late["gap [%]"] == 25.0


def test_reach_summary():
    row = {"set": "s", "columns": 7, "criterion": "frobenius", "nodes": 1, "cores": 2.0}
    times = {1: 1.0, 2: 20.0, 3: 61.0, 6: 5.0, 7: 0.1}
    group = [row | {"k": k, "seconds": s, "proven": s <= 60} for k, s in times.items()]
    (line,) = reach.tables(group)[""]
    assert line["10 s: every k up to"] == 1 and line["60 s: every k up to"] == 2
    assert line["also in 10 s"] == line["also in 60 s"] == "6-7"


def test_lapack_reference_agrees():
    d, Z = secular.residual_like(5, 3)
    assert secular.lapack_time(d, Z, budget=0.0) is None or secular.compare(5, 3, 0.0)


def test_tables_line_up():
    lines = table.fixed_width([{"a": 1, "b": "x"}, {"a": 10.5, "b": "long"}]).splitlines()
    assert lines[0].startswith("   a  b") and lines[2].startswith("   1  x")


DENSE_ARFF = """% comment
@relation r
@attribute 'a b' numeric
@attribute size {small, 'very large'}
@attribute label {0,1}

@data
1.5,small,1
?,'very large',0
"""


@pytest.mark.parametrize("compressed", [False, True])
def test_dense_arff(tmp_path, compressed):
    path = tmp_path / ("a.arff.gz" if compressed else "a.arff")
    path.write_bytes(gzip.compress(DENSE_ARFF.encode()) if compressed else DENSE_ARFF.encode())
    np.testing.assert_array_equal(read_arff(path), [[1.5, 0, 1], [np.nan, 1, 0]])


def test_sparse_arff(tmp_path):
    path = tmp_path / "a.arff"
    path.write_text(DENSE_ARFF.split("1.5")[0] + "{0 2.5, 1 'very large'}\n{}\n{2 1}\n")
    X = read_arff(path)
    assert sp.issparse(X)
    np.testing.assert_array_equal(X.toarray(), [[2.5, 1, 0], [0, 0, 0], [0, 0, 1]])


def test_tables_of_numbers(tmp_path):
    path = tmp_path / "a.data"
    path.write_text("1, 2.\n\n?, -4\n")
    np.testing.assert_array_equal(read_table(path), [[1, 2], [np.nan, -4]])
    path.write_text("1 2\n3 4\n")
    np.testing.assert_array_equal(read_table(path, None), [[1, 2], [3, 4]])


# Rows, columns, labels and labels per row, as their source states them.
MULTILABEL = {
    "emotions": (593, 72, 6, 1.868),
    "scene": (2407, 294, 6, 1.074),
    "yeast": (2417, 103, 14, 4.237),
    "medical": (978, 1449, 45, 1.245),
    "enron": (1702, 1001, 53, 3.378),
}


@pytest.mark.data
@pytest.mark.parametrize("name", MULTILABEL)
def test_multilabel_sets(name):
    X, Y = load_multilabel(name)
    n_rows, n_columns, n_labels, cardinality = MULTILABEL[name]
    assert X.shape == (n_rows, n_columns) and Y.shape == (n_rows, n_labels)
    assert set(np.unique(Y)) == {0.0, 1.0}
    assert Y.sum(axis=1).mean() == pytest.approx(cardinality, abs=5e-4)
    assert sp.issparse(X) == (name in ("medical", "enron"))


@pytest.mark.parametrize("order", weighted_tables.TEXTBOOK)
def test_order_alone_is_the_textbook_search(order):
    X = np.random.default_rng(3).standard_normal((20, 12)) * np.arange(1, 13)
    options = {"order": weighted_tables.TEXTBOOK[order], "eps": 0.1}
    book = textbook_search(X, 4, Frobenius(), **options)
    search = Order(X, 4, Frobenius(), **options)
    ours = search.result(search.run())
    assert ours.visited == book.visited
    assert ours.error == pytest.approx(book.error, rel=1e-12)
    assert ours.lower_bound == pytest.approx(book.lower_bound, rel=1e-12)


@pytest.mark.data
def test_weighted_rows_and_tables():
    X = load_vehicle()
    found = weighted_tables.compare("madelon", X, 3, limit=5.0)
    optimum = next(row["error"] for row in found if row["method"] == "auto")
    assert all(row["error"] >= optimum * (1 - 1e-9) for row in found)
    assert all(row["best bound"] == pytest.approx(optimum, rel=1e-9) for row in found)
    lines = weighted_tables.tables(found)
    assert [line["order"] for line in lines["Weighted searches"]] == ["h", "g", "b"]
    assert all(line["gap [%]"] >= -1e-7 for line in lines["Weighted searches"])
    errors = {row["method"]: row["error"] for row in found}
    line = lines["The best choices"][0]
    assert all(line[name] == errors[name] for name in ("exchange", "auto"))


def test_printed_figures_are_met_up_to_their_rounding():
    assert weighted_tables.met(6.054e8, "6.05e8") is True
    assert weighted_tables.met(6.056e8, "6.05e8") is False
    assert weighted_tables.met("", "6.05e8") == weighted_tables.met(1.0, "") == ""
    assert weighted_tables.cell("isolet5+label", 60, "auto")["printed"] == "3.70e4"
    assert weighted_tables.cell("cnae9+label", 100, "weighted b") == {
        "printed": "1.76e3",
        "printed min": 10.97,
    }


def test_generated_wide_data():
    X = wide.popular_columns(50, 1000, 20)
    assert X.shape == (50, 1000) and set(X.data) == {1.0}
    counts = np.diff(X.indptr)
    assert counts.sum() <= 50 * 20
    assert counts[:10].sum() > counts[500:].sum() > 0


@pytest.mark.filterwarnings("ignore:RobustL21Selector stopped")
def test_every_selector_is_compared_with_what_is_proven():
    X = next(iter(Sets(None).these("wdbc")))[1]
    _, scaled, y = compare.labelled()[0]
    rows = [
        *compare.problem("wdbc", X, None, 3, compare.PLAIN | compare.RANDOM, 60.0, 2),
        *compare.problem("wdbc labels", scaled, y, 3, compare.LABELS, 60.0, 1),
    ]
    assert {row["selector"] for row in rows} == set(compare.GUARANTEES)
    assert all(row["optimum known"] and row["above [%]"] > -1e-6 for row in rows)
    best = [row for row in rows if row["selector"] == "ColumnSelector"]
    assert all(row["above [%]"] == pytest.approx(0.0, abs=1e-6) for row in best)
    forward = next(row for row in rows if row["selector"] == "ForwardSelector")
    chosen = compare.ForwardSelector(3).fit(X).selected_
    expected = reconstruction_error(X, chosen, relative=True)
    assert forward["relative error"] == pytest.approx(expected, rel=1e-9)
    assert len(compare.tables(rows)) == 2


class OneSet:
    """A data set in place of all."""

    def __init__(self, X):
        self.X = X

    def these(self, *names):
        return [(name, self.X) for name in names]


def test_reach_of_robust_pca(monkeypatch):
    X = np.random.default_rng(0).standard_normal((12, 9)) * np.geomspace(1.0, 9.0, 9)
    monkeypatch.setattr(robust_reach, "POINTS", {"small": [(1, 2, 1.0), (1, 3, 1.0)]})
    monkeypatch.setattr(robust_reach, "FAR_POINTS", {"small": [(2, 2, 1.0)]})
    monkeypatch.setattr(robust_reach, "SAMPLES", {"small": (1, 2)})
    monkeypatch.setattr(robust_reach, "QUICK_TALL", (400, 10, 2, 0.05))
    rows = robust_reach.rows(OneSet(X), quick=True)
    tables = list(robust_reach.tables(rows).values())
    assert [len(table) for table in tables] == [1, 3, 1] and "part" not in tables[0][0]
    assert tables[0][0]["same optimum"] and tables[0][0]["textbook nodes"] >= 1
    assert [(row["form"], row["rows"]) for row in tables[1]] == [
        ("columns", 9), ("raw", 12), ("standardised", 12),
    ]  # fmt: skip
    assert all(row["status"] == "optimal" for row in tables[1])
    assert tables[2][0]["true outliers removed"] == tables[2][0]["k"] == 20


@pytest.mark.parametrize("first", [1, 5, 13, 14, 30])
def test_largest_number_of_outliers_proven(monkeypatch, first):
    def fit(X, r, k, centering, limit):
        certificate = type("Certificate", (), {"is_optimal": k <= 13})
        return type("Fit", (), {"certificate_": certificate})

    monkeypatch.setattr(robust_reach, "fit", fit)
    found = robust_reach.largest(np.zeros((100, 2)), 1, first, first <= 13, 1.0)
    # the true figure is within the last step, half of what is known
    assert found <= 13 < found + max(2, found // 2 + 1)
    assert robust_reach.largest(np.zeros((20, 2)), 1, 9, True, 1.0) == 10  # half of the rows


@pytest.mark.slow
def test_path_and_full_solves_agree():
    rows = mrsf_path.rows(Sets(None), quick=True)
    assert {r["entries"] for r in rows} == {"uniform", "normal"}
    strict = [r for r in rows if "1e-12" in r["how"] or r["how"].startswith(("path", "Multi"))]
    assert max(r["distance"] for r in strict) < 1e-6
    assert all(r["features"] == r["asked"] for r in rows if r["how"] == "path")


def test_blocks_of_columns_give_one_path():
    pytest.importorskip("dask.array")
    rows = mrsf_blocks.rows(Sets(None), quick=True)
    assert {row["how"] for row in rows} == {"1 thread", "2 threads", "4 threads", "Dask"}
    assert all(row["same features"] and row["distance"] < 1e-9 for row in rows)
    assert all((row["longest path [s]"] is None) == (row["how"] == "Dask") for row in rows)


def test_scores_on_large_graphs_find_the_informative_features():
    (row,) = large_graph.rows(Sets(None), quick=True)
    assert row["informative"] == 1.0
    assert 5 * 2000 <= row["edges"] <= 10 * 2000


def test_blocks_never_make_a_gap_larger():
    rows = robust_criteria.rows(Sets(None), quick=True)
    assert {row["criterion"] for row in rows} == set(robust_criteria.CRITERIA)
    for row in rows:
        assert row["gap with blocks [%]"] <= row["gap without blocks [%]"] + 1e-9
    assert any(row["gap with blocks [%]"] < row["gap without blocks [%]"] - 1.0 for row in rows)


def test_what_the_guide_says_of_sources_of_knowledge():
    found = {row["set"]: row for row in Stored("knowledge").rows}
    measured = {row["set"] for row in knowledge.rows(Sets(None), quick=True)}
    assert measured == set(found)
    accuracy = {name: row["accuracy"] for name, row in found.items()}
    single = ["classes", "other measurement", "terms", "interactions"]
    best = max(accuracy[name] for name in single)
    assert (
        min(accuracy["all, EM"], accuracy["all, Borda"]) > best > accuracy["all, as similarities"]
    )
    with_poor = max(accuracy["with expression, EM"], accuracy["with expression, Borda"])
    assert with_poor < accuracy["classes"]
    known = found["all, EM with known genes"]
    assert known["accuracy"] < accuracy["all, EM"]
    assert known["all weight on one"] > known["studies"] / 2
    relevant = {name: row["relevant of 50"] for name, row in found.items()}
    assert min(relevant["all, EM"], relevant["all, Borda"]) > max(relevant[name] for name in single)


def test_outliers_among_many_rows_are_found_and_proven():
    planted, none = robust_rows.rows(Sets(None), quick=True)
    assert planted["planted found"] == planted["k"] == 20
    assert planted["status"] == none["status"] == "optimal"
