"""Models on the data of the fit give what the fit gave; on new data, what they should."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.preprocessing import StandardScaler, scale

from columnist import ColumnSelector
from columnist.io import write_table
from columnist.privacy import NullSpaceCleaner
from columnist.robust import RobustPCA
from tests.cli.conftest import CLASSES, NAMES, WINE, read_columns

SCALED = scale(WINE.data)
ONLY = ("--drop", "class", "--drop", "bottle")


def matrix(path) -> np.ndarray:
    return np.column_stack(list(read_columns(path).values()))


@pytest.fixture
def model(cli, wine, tmp_path):
    """Write a model: ``model("select", "-k", 3)``."""

    def make(command, *options, drop=ONLY):
        path = tmp_path / "model.json"
        answer = cli(command, wine, *drop, *options, "--model", path, "--quiet")
        assert answer.code == 0, answer.err
        return path

    return make


@pytest.mark.parametrize("components", [0, 2])
def test_a_selection_equals_transform(cli, model, numbers, tmp_path, components):
    path = model("select", "-k", 3, "--center", "--scale", "--components", components)
    out = tmp_path / "out.npy"
    assert cli("apply", path, numbers[0], "--prepared", "--out", out).code == 0
    fitted = ColumnSelector(3, n_components=components).fit(SCALED)
    np.testing.assert_allclose(matrix(out), fitted.transform(SCALED), rtol=1e-9, atol=1e-12)


def test_kept_columns_are_as_in_the_file(cli, model, wine, tmp_path):
    path, out = model("select", "-k", 3, "--center", "--scale"), tmp_path / "out.csv"
    answer = cli("apply", path, wine, "--id", "bottle", "--target", "class", "--out", out, "--json")
    for name in answer.json["selected"]:
        np.testing.assert_array_equal(read_columns(out)[name], WINE.data[:, NAMES.index(name)])
    assert out.read_text().splitlines()[0].startswith("bottle,")
    assert out.read_text().splitlines()[0].endswith(",class")


def test_all_columns_are_rebuilt_from_the_kept_ones_alone(cli, model, tmp_path):
    path = model("select", "-k", 4, "--center", "--scale")
    kept = [NAMES[i] for i in json.loads(path.read_text())["arrays"]["selected"]]
    small, out = tmp_path / "small.csv", tmp_path / "whole.npy"
    columns = [NAMES.index(name) for name in kept]
    write_table(small, WINE.data[:, columns], kept)
    assert cli("apply", path, small, "--rebuild", "--out", out).code == 0
    # Regression of every column on the kept ones, with an intercept, in the file's own units.
    by_hand = LinearRegression().fit(WINE.data[:, columns], WINE.data)
    np.testing.assert_allclose(matrix(out), by_hand.predict(WINE.data[:, columns]), rtol=1e-7)


def test_columns_are_found_by_name(cli, model, tmp_path):
    path = model("select", "-k", 3, "--no-scale")
    shuffled, out = tmp_path / "shuffled.csv", tmp_path / "out.npy"
    order = np.random.default_rng(0).permutation(13)
    names = [NAMES[i] for i in order]
    write_table(shuffled, WINE.data[:, order], names, before={"extra": np.arange(178)})
    assert cli("apply", path, shuffled, "--out", out).code == 0
    selected = ColumnSelector(3).fit(WINE.data).selected_
    np.testing.assert_array_equal(matrix(out), WINE.data[:, selected])
    answer = cli("apply", model("outliers", "-k", 3), tmp_path / "shuffled.csv", "--drop", NAMES[0])
    assert answer.code == 2
    assert NAMES[0] in answer.err


def test_missing_columns_are_named(cli, model, tmp_path):
    path = model("select", "-k", 3, "--include", "proline")
    other = tmp_path / "other.csv"
    write_table(other, WINE.data[:, :5], NAMES[:5])
    answer = cli("apply", path, other)
    assert answer.code == 2
    assert "proline" in answer.err
    write_table(other, WINE.data, [name.title() for name in NAMES])
    assert (
        "the 'Proline' of the file"
        in cli("apply", model("select", "-k", 1, "--include", "proline"), other).err
    )


def test_gaps_are_filled_with_the_values_of_the_fit(cli, tmp_path):
    first, new, path, out = (tmp_path / n for n in ("a.csv", "b.csv", "m.json", "o.npy"))
    first.write_text("a,b,c\n1,2,3\n3,,5\n8,4,1\n2,1,7\n")
    options = ["-k", 3, "--missing", "median", "--model", path]
    assert cli("select", first, *options).code == 0
    new.write_text("a,b,c\n,5,\n1,,2\n")
    answer = cli("apply", path, new, "--out", out)
    assert answer.code == 0, answer.err
    np.testing.assert_array_equal(matrix(out), [[2.5, 5, 4], [1, 2, 2]])
    assert "3 missing values filled in" in answer.err
    assert cli("select", first, "-k", 3, "--missing", "drop", "--model", path).code == 0
    assert "missing" in cli("apply", path, new).err
    answer = cli("apply", path, new, "--missing", "mean", "--out", out)
    assert "3 missing values filled in: a, b, c" in answer.err


def test_outliers_are_flagged_as_by_predict(cli, model, wine, numbers, tmp_path):
    path = model("outliers", "-k", 5, "--center", "--scale", "--seed", 0)
    out = tmp_path / "out.csv"
    answer = cli("apply", path, numbers[0], "--out", out, "--json")
    fitted = RobustPCA(2, n_outliers=5, random_state=0).fit(SCALED)
    far = np.flatnonzero(fitted.predict(SCALED) < 0)
    assert answer.json["outliers"] == (far + 1).tolist()
    written = read_columns(out)
    np.testing.assert_array_equal(np.flatnonzero(written["outlier"]), far)
    np.testing.assert_allclose(
        written["orthogonal_distance"], fitted.orthogonal_distances(SCALED), rtol=1e-9, atol=1e-12
    )


def test_outliers_keep_their_numbers_where_rows_are_dropped(cli, tmp_path):
    old, new, path = (tmp_path / name for name in ("old.csv", "new.csv", "model.json"))
    rng = np.random.default_rng(0)
    rows = [[f"s{i}", x, 2 * x + 0.01 * e] for i, (x, e) in enumerate(rng.normal(size=(40, 2)))]
    for file in (old, new):
        text = "\n".join(",".join(map(str, row)) for row in rows)
        file.write_text(f"name,a,b\n{text}\n")
        rows[3][2], rows[20][2] = "", 50.0
    how = ("--id", "name", "--missing", "drop")
    assert cli("outliers", old, "-k", 1, "-r", 1, *how, "--model", path).code == 0
    assert cli("apply", path, new, *how, "--json").json["outliers"].count(21) == 1
    assert re.search(r"\b21 +s20\b", cli("apply", path, new, *how).out)


@pytest.mark.parametrize("secret", [None, "alcohol"])
def test_rows_are_cleaned_as_by_transform(cli, model, wine, tmp_path, secret):
    options = ["--center", "--scale", "--utility", 0.01, "--target", "class"]
    options += [] if secret is None else ["--confidential", secret]
    out = tmp_path / "out.npy"
    path = model("clean", *options, drop=("--drop", "bottle"))
    assert cli("apply", path, wine, "--out", out).code == 0
    columns = [i for i, name in enumerate(NAMES) if name != secret]
    scaler = StandardScaler().fit(WINE.data[:, columns])
    X = scaler.transform(WINE.data[:, columns])
    guess = None
    if secret:
        guess = LinearRegression().fit(X, WINE.data[:, [NAMES.index(secret)]])
    predictor = LogisticRegression(max_iter=2000)
    cleaner = NullSpaceCleaner(predictor, utility=0.01, confidential=guess)
    cleaner.fit(X, CLASSES.astype(str))
    expected = scaler.inverse_transform(cleaner.transform(X))
    np.testing.assert_allclose(matrix(out), expected, rtol=1e-8, atol=1e-8)


def test_rebuilding_is_for_selections_of_all_columns(cli, model, wine):
    path = model("outliers", "-k", 3)
    assert cli("apply", path, wine, "--rebuild").code == 2
    path = model("select", "-k", 3, "--target", "class", drop=("--drop", "bottle"))
    answer = cli("apply", path, wine, "--rebuild")
    assert answer.code == 2
    assert "--explain X" in answer.err
