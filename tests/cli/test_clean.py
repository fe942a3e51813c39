"""columnist clean: outputs stay, the rest goes."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from columnist.io import write_table
from tests.cli.conftest import NAMES, WINE, read_columns

NUMBERS = ("--drop", "class", "--drop", "bottle")


def test_outputs_of_the_predictor_stay(cli, folder, tmp_path):
    for ending in ("csv", "parquet", "tsv.gz"):
        out = tmp_path / "cleaned.csv"
        answer = cli("clean", folder / f"wine.{ending}", "--target", "proline", *NUMBERS, "--out",
                     out, "--json")  # fmt: skip
        assert answer.code == 0, answer.err
        assert answer.json["removed_dimensions"] == 11
        cleaned = read_columns(out)
        X = np.delete(WINE.data, NAMES.index("proline"), axis=1)
        model = LinearRegression().fit(X, WINE.data[:, NAMES.index("proline")])
        names = [name for name in NAMES if name != "proline"]
        new = np.column_stack([cleaned[name] for name in names])
        np.testing.assert_allclose(model.predict(new), model.predict(X), rtol=1e-8)
        assert np.linalg.matrix_rank(new - new.mean(axis=0), tol=1e-6) == 1
        np.testing.assert_array_equal(cleaned["proline"], WINE.data[:, -1])


def test_coefficients_from_a_file(cli, wine, tmp_path):
    path, out = tmp_path / "coef.csv", tmp_path / "cleaned.npy"
    coef = np.random.default_rng(0).standard_normal((2, 13))
    order = np.random.default_rng(1).permutation(13)
    write_table(path, coef[:, order], [NAMES[i] for i in order])
    assert cli("clean", wine, "--predictor", path, *NUMBERS, "--out", out).code == 0
    cleaned = np.column_stack(list(read_columns(out).values()))
    np.testing.assert_allclose(cleaned @ coef.T, WINE.data @ coef.T, rtol=1e-8)
    write_table(path, coef[:, :5], NAMES[:5])
    answer = cli("clean", wine, "--predictor", path, *NUMBERS)
    assert answer.code == 2
    assert "5 columns for 13 features" in answer.err


def test_the_confidential_column_is_not_written(cli, wine, tmp_path):
    out, page = tmp_path / "cleaned.csv", tmp_path / "page.html"
    answer = cli("clean", wine, "--target", "class", "--id", "bottle", "--confidential", "alcohol",
                 "--scale", "--center", "--out", out, "--report", page)  # fmt: skip
    assert answer.code == 0, answer.err
    header = out.read_text().splitlines()[0].split(",")
    assert "alcohol" not in header
    assert header[0] == "bottle" and header[-1] == "class"
    assert "Confidential labels: R2" in answer.out
    assert page.is_file()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "--target"),
        (("--target", "class", "--utility", "-1"), "utility"),
        (("--target", "class", "--confidential", "nothing"), "nothing"),
    ],
    ids=["no target", "negative", "unknown"],
)
def test_bad_options(cli, wine, options, message):
    answer = cli("clean", wine, "--drop", "bottle", *options)
    assert answer.code == 2
    assert message in answer.err


def test_one_class_is_nothing_to_predict(cli, tmp_path):
    path = tmp_path / "one.csv"
    path.write_text("a,b,y\n1,2,u\n3,1,u\n2,2,u\n")
    answer = cli("clean", path, "--target", "y")
    assert answer.code == 2
    assert "'y' has one class" in answer.err


def test_a_model_that_does_not_converge_is_described_in_our_words(cli, tmp_path):
    X, y = WINE.data, WINE.target
    path = tmp_path / "wine.csv"
    np.savetxt(path, np.column_stack([X, y]), delimiter=",", fmt="%.6g",
               header=",".join([*"abcdefghijklm", "class"]), comments="")  # fmt: skip
    answer = cli("clean", path, "--target", "class", "--json")
    assert answer.code == 0
    assert "a linear model stopped before it converged" in answer.err
    assert "lbfgs" not in answer.err and "https" not in answer.err
    assert any("stopped before it converged" in note for note in answer.json["notes"])
