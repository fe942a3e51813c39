"""--dask, against the same commands without it."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import socket
import subprocess
import sys

import numpy as np
import pytest

from columnist.io import read_table, write_table
from tests.cli.conftest import WINE

if importlib.util.find_spec("distributed") is None:
    pytest.skip("needs the extra dask", allow_module_level=True)

import dask
import distributed
import pyarrow.parquet as pq
import zarr
from distributed import LocalCluster

from columnist.cli import _dask, _prepared
from columnist.cli._options import _with_value
from columnist.cli._screen import Watch

COMMAND = [sys.executable, "-m", "columnist.cli"]
TARGET = ["--target", "class", "--id", "bottle"]
NUMBERS = ["--drop", "class", "--id", "bottle"]


@pytest.fixture
def address(cluster):
    return cluster.scheduler.address


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of about fifty rows of wine."""
    monkeypatch.setattr(_dask, "BLOCKSIZE", 50 * 8 * 13)


@pytest.fixture(scope="module")
def files(folder, tmp_path_factory):
    """Wine, stored in several pieces."""
    path = tmp_path_factory.mktemp("pieces")
    pq.write_table(pq.read_table(folder / "wine.parquet"), path / "wine.parquet", row_group_size=50)
    (path / "wine.csv").write_bytes((folder / "wine.csv").read_bytes())
    np.save(path / "wine.npy", WINE.data)
    array = zarr.open(str(path / "wine.zarr"), mode="w", shape=WINE.data.shape, chunks=(50, 13),
                      dtype="f8")  # fmt: skip
    array[:] = WINE.data
    return path


# What a clock or the order of a search decides.
CHANGING = {
    "elapsed", "preparation", "seconds", "history", "nodes_expanded", "nodes_generated",
}  # fmt: skip


def same(one, other, where: str = "") -> None:
    """Equal up to rounding, but for what a clock or the order of a search decides."""
    if isinstance(one, dict):
        assert one.keys() == other.keys(), where
        for key in one.keys() - CHANGING:
            same(one[key], other[key], f"{where}/{key}")
    elif isinstance(one, list):
        assert len(one) == len(other), where
        for place, pair in enumerate(zip(one, other, strict=True)):
            same(*pair, f"{where}/{place}")
    elif isinstance(one, float) and isinstance(other, (int, float)):
        assert other == pytest.approx(one, rel=1e-7, abs=1e-9), where
    else:
        assert one == other, where


@pytest.fixture
def both(cli, address, small_blocks):
    """Run a command without and with --dask; the JSON of both."""

    def run(*arguments):
        alone = cli(*arguments, "--json")
        spread = cli(*arguments, "--json", "--dask", address)
        assert (alone.code, spread.code) == (0, 0), alone.err + spread.err
        return alone.json, spread.json

    return run


@pytest.mark.parametrize(
    "options",
    [
        [*TARGET, "--center", "--scale"],
        NUMBERS,
        [*TARGET, "--explain", "X", "--path", 3, "--solutions", 2],
        [*NUMBERS, "--method", "forward", "--scale"],
        [*TARGET, "--method", "fisher"],
    ],
)
def test_selections_are_those_without_dask(both, files, options):
    # Whatever the options, the same reader: one case takes both.
    for name in ("wine.parquet", "wine.csv")[: 2 if options is NUMBERS else 1]:
        same(*both("select", files / name, "-k", 3, *options))


def test_arrays_on_disk(both, cli, files, address):
    alone, spread = both("select", files / "wine.npy", "-k", 4, "--target", "x1", "--scale")
    same(alone, spread)
    stored = cli("select", files / "wine.zarr", "-k", 4, "--target", "x1", "--scale", "--json",
                 "--dask", address).json  # fmt: skip
    alone["data"] |= {"source": str(files / "wine.zarr"), "format": "zarr"}
    same(alone, stored)


def test_constant_columns_and_gaps(both, cli, address, tmp_path):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((200, 5)) @ rng.standard_normal((5, 5)) + 3
    X[:, 1] = 0.1
    X[rng.random(X.shape) < 0.05] = np.nan
    after = {"y": rng.integers(0, 3, 200), "v": rng.standard_normal(200)}
    write_table(tmp_path / "g.csv", np.column_stack([X, np.full(200, np.nan)]), list("abcdef"),
                after=after)  # fmt: skip
    path, filled = tmp_path / "g.csv", ["--missing", "mean"]
    for options in (
        ["-t", "y", "-t", "v", "--scale"],
        ["-t", "y", "--drop", "v", "--center"],
        ["--drop", "y", "--drop", "v", "--center", "--scale"],
    ):
        alone, spread = both("select", path, "-k", 2, *filled, *options)
        assert any("filled in" in note for note in alone["notes"])
        for result in (alone, spread):  # rounding decides who stands for the constant column
            del result["representative"]["b"], result["column_r2"]["b"]
        same(alone, spread)
    refused = cli("select", path, "-k", 2, "--dask", address)
    assert refused.code == 2
    gaps = np.isnan(X).sum(axis=0)
    assert f"'a' ({gaps[0]}), 'b' ({gaps[1]})" in refused.err and "--missing mean" in refused.err
    refused = cli("select", path, "-k", 2, "--missing", "median", "--dask", address)
    assert refused.code == 2 and "with --dask use --missing mean" in refused.err


def test_classes_or_values(both, tmp_path):
    rng = np.random.default_rng(5)
    kinds = {
        "few": (rng.integers(0, 20, 90), "classes"),
        "many": (np.arange(90) % 21, "values"),
        "two": (rng.choice([0.5, 1.5], 90), "classes"),
        "three": (rng.choice([0.5, 1.5, 2.5], 90), "values"),
    }
    path = tmp_path / "y.csv"
    after = {name: values for name, (values, _) in kinds.items()}
    write_table(path, rng.standard_normal((90, 3)), list("abc"), after=after)
    for name, (_, kind) in kinds.items():
        others = [part for other in kinds if other != name for part in ("--drop", other)]
        alone, spread = both("select", path, "-k", 2, "-t", name, *others)
        assert alone["data"]["target_kind"] == kind
        same(alone, spread)


@pytest.mark.parametrize("by", ["qr", "correlation", "laplacian"])
def test_rankings_are_those_without_dask(both, files, tmp_path, by):
    target = ["--target", "x13"] if by == "correlation" else []
    options = ["-k", 4, "--seed", 0, "--center", "--scale"]
    name = "wine.npy" if target else "wine.parquet"
    same(*both("rank", files / name, "--by", by, *options, *(target or TARGET)))


@pytest.mark.parametrize("method", ["trimmed", "robpca"])
def test_outliers_are_those_without_dask(both, files, method):
    options = ["-k", 5, "--method", method, "--seed", 0, "--center", "--scale"]
    same(*both("outliers", files / "wine.parquet", *NUMBERS, *options))


@pytest.mark.parametrize("ending", ["csv", "tsv.gz", "parquet", "npy"])
def test_written_data_are_those_without_dask(cli, files, address, small_blocks, tmp_path, ending):
    sides = NUMBERS if ending != "npy" else ["--drop", "class", "--drop", "bottle"]
    commands = {
        "kept": ["select", files / "wine.parquet", *sides, "-k", 3, "--components", 1],
        "flagged": ["outliers", files / "wine.csv", *sides, "-k", 3, "--method", "trimmed"],
    }
    if ending == "csv":
        commands["clean"] = [*commands["flagged"], "--remove"]
        commands["target"] = ["select", files / "wine.csv", *TARGET, "-k", 3]
    for name, command in commands.items():
        one, other = tmp_path / f"{name}1.{ending}", tmp_path / f"{name}2.{ending}"
        assert cli(*command, "--out", one).code == 0
        assert cli(*command, "--out", other, "--dask", address).code == 0
        ids = () if ending == "npy" else ("bottle",)
        expected = read_table(one, ids=ids, non_numeric="drop")
        found = read_table(other, ids=ids, non_numeric="drop")
        assert found.names == expected.names
        np.testing.assert_allclose(np.abs(found.X), np.abs(expected.X), rtol=1e-9)
        assert {n: v.tolist() for n, v in found.ids.items()} == {
            n: v.tolist() for n, v in expected.ids.items()
        }
        if ending == "csv" and name != "kept":
            assert one.read_bytes() == other.read_bytes()


def test_zarr_and_standard_output(cli, files, address, small_blocks, tmp_path):
    out = tmp_path / "kept.zarr"
    command = ["select", files / "wine.zarr", "-k", 3, "--dask", address, "--out"]
    for _ in range(2):  # the second time it is replaced
        answer = cli(*command, out)
        assert answer.code == 0, answer.err
        stored = zarr.open(str(out), mode="r")
        places = [int(name[1:]) - 1 for name in stored.attrs["columns"]]
        np.testing.assert_array_equal(stored[:], WINE.data[:, places])
    assert os.listdir(tmp_path) == ["kept.zarr"]
    answer = cli(*command, "-")
    assert len(answer.out.splitlines()) == 179 and "Selected 3 columns" in answer.err
    assert "--dask" in cli("select", out, "-k", 2).err
    assert cli("select", out, "-k", 2, "--dask", address).code == 0
    (tmp_path / "mine.zarr").mkdir()
    (tmp_path / "mine.zarr" / "letter.txt").write_text("dear")
    answer = cli(*command, tmp_path / "mine.zarr")
    assert answer.code == 2 and (tmp_path / "mine.zarr" / "letter.txt").read_text() == "dear"


def test_reports_and_models(cli, files, address, small_blocks, tmp_path):
    page, model = tmp_path / "page.html", tmp_path / "model.json"
    outputs = ["--report", page, "--dask", address]
    for command in (
        ["select", files / "wine.parquet", *TARGET, "-k", 3, "--model", model],
        ["select", files / "wine.parquet", *NUMBERS, "-k", 3, "--method", "forward"],
        ["rank", files / "wine.parquet", *TARGET, "--by", "fisher"],
        ["outliers", files / "wine.parquet", *NUMBERS, "--method", "trimmed"],
    ):
        answer = cli(*command, *outputs)
        assert answer.code == 0, answer.err
        text = page.read_text(encoding="utf-8")
        assert "178 rows" in text
        if command[-1] == model:
            assert "class ay" in text
    alone = tmp_path / "alone.json"
    options = [files / "wine.parquet", *NUMBERS, "-k", 3, "--center", "--scale", "--model"]
    cli("select", *options, alone)
    cli("select", *options, model, "--dask", address)
    same(json.loads(alone.read_text()), json.loads(model.read_text()))


# -- clusters ---------------------------------------------------------------------


def test_what_follows_dask_may_be_the_file():
    for given, meant in [
        (["--dask", "big.parquet"], ["--dask=local", "big.parquet"]),
        (["a", "--dask"], ["a", "--dask=local"]),
        (["--dask", "-k", "3"], ["--dask=local", "-k", "3"]),
        (["--dask", "tcp://10.0.0.1:8786", "a"], ["--dask=tcp://10.0.0.1:8786", "a"]),
        (["--dask", "node-1:8786"], ["--dask=node-1:8786"]),
        (["--dask=tls://a:1"], ["--dask=tls://a:1"]),
        (["--", "--dask"], ["--", "--dask"]),
    ]:
        assert _with_value(given) == meant


@pytest.mark.slow
@pytest.mark.cluster
def test_a_cluster_of_this_machine(files, tmp_path):
    """As typed, in a process of its own."""
    out = tmp_path / "kept.csv"
    run = subprocess.run(
        [*COMMAND, "select", "--dask", str(files / "wine.zarr"), "-k", "3", "--scale", "--json",
         "--out", str(out)],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout)["certificate"]["status"] == "optimal"
    lines = [line for line in run.stderr.splitlines() if not line.startswith("dashboard:")]
    assert lines == [f"written: {out}"]
    assert len(out.read_text().splitlines()) == 179


@pytest.mark.slow
@pytest.mark.cluster
def test_ctrl_c_keeps_the_best_so_far(tmp_path):
    path, out = tmp_path / "hard.npy", tmp_path / "kept.npy"
    np.save(path, np.random.default_rng(0).standard_normal((300, 70)))
    process = subprocess.Popen(
        [*COMMAND, "select", str(path), "-k", "14", "--time-limit", "60", "--json", "-v", "--dask",
         "--out", str(out)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    for line in process.stderr:
        if "%" in line:
            break
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: workers hear it, too
    stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 0, stderr
    assert "interrupted: best so far kept" in stderr
    assert json.loads(stdout)["certificate"]["status"] == "interrupted"
    assert np.load(out).shape == (300, 14)


def test_no_scheduler_there(cli, files, monkeypatch):
    monkeypatch.setattr(_dask, "_PATIENCE", 0.5)
    waited = []

    class Waiting(distributed.Client):
        def __init__(self, *arguments, timeout=None, **options):
            waited.append(timeout)
            super().__init__(*arguments, timeout=timeout, **options)

    monkeypatch.setattr(distributed, "Client", Waiting)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        nobody = f"tcp://127.0.0.1:{taken.getsockname()[1]}"
        answer = cli("select", files / "wine.npy", "-k", 2, "--dask", nobody)
    assert answer.code == 2 and "no Dask scheduler answers" in answer.err
    assert len(answer.err.splitlines()) == 1
    assert waited == [0.5]
    answer = cli("select", files / "wine.npy", "-k", 2, "--dask=nowhere")
    assert answer.code == 2 and "tcp://127.0.0.1:8786" in answer.err


@pytest.mark.slow
def test_a_scheduler_that_goes_away(cli, files, monkeypatch, tmp_path):
    out = tmp_path / "kept.csv"
    out.write_text("old")
    with (
        dask.config.set({"temporary-directory": str(tmp_path / "scratch")}),
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, protocol="tcp", host="127.0.0.1",
            memory_limit=0, dashboard_address="127.0.0.1:0", silence_logs="CRITICAL",
        ) as cluster,
    ):  # fmt: skip
        chosen = _prepared.Data.write_columns

        def last(self, *arguments):
            cluster.close()
            chosen(self, *arguments)

        monkeypatch.setattr(_prepared.Data, "write_columns", last)
        answer = cli(
            "select", files / "wine.npy", "-k", 2, "--dask", cluster.scheduler_address, "--out", out
        )
    assert answer.code == 1 and "Dask" in answer.err
    assert len([line for line in answer.err.splitlines() if line.startswith("error:")]) == 1
    assert out.read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == ["kept.csv", "scratch"]


# -- bad input --------------------------------------------------------------------


def test_refused_before_a_cluster_is_started(cli, files, tmp_path):
    wine = files / "wine.csv"
    for arguments, message in [
        (["select", "-", "-k", 2], "standard input"),
        (["select", tmp_path / "no.parquet", "-k", 2], "no such file"),
        (["select", wine, "-k", 2], "not numeric: 'bottle' (text), 'class' (text)"),
        (["select", wine, "-k", 2, "-t", "clas"], "did you mean 'class'"),
        (["select", wine, "-k", 2, "--out", tmp_path / "a.npz"], "not written block by block"),
        (["rank", tmp_path, "--by", "qr"], "no Parquet files"),
        (["outliers", files / "wine.npy", "--missing", "drop"], "--missing mean"),
    ]:
        answer = cli(*arguments, "--dask")
        assert answer.code == 2, arguments
        assert message in answer.err and len(answer.err.splitlines()) == 1
    (tmp_path / "long.csv").write_text("a,b\n1,2\n3,4,5\n")
    answer = cli("select", tmp_path / "long.csv", "-k", 1, "--dask")
    assert answer.code == 2 and "long.csv: a row has more fields" in answer.err
    (tmp_path / "long.csv").unlink()
    answer = cli("select", wine, "-k", 2, "--out", tmp_path / "a.zarr")
    assert answer.code == 2 and "with --dask" in answer.err
    assert list(tmp_path.iterdir()) == []


def test_starting_up_does_not_load_dask():
    code = "import sys, columnist.cli._app; print([m for m in sys.modules if m.startswith('dask')])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout.strip() == "[]", run.stderr


def test_progress_tells_of_blocks():
    watch = Watch(screen=None)
    watch.phase("reading")
    watch.blocks(3, 1200)
    assert "3 of 1,200 blocks  reading" in watch.__rich__().plain
    watch.blocks(1200, 1200)
    assert "blocks" not in watch.__rich__().plain
