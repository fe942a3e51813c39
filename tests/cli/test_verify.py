"""``columnist verify`` and ``select --proof``."""

import json

import numpy as np
import pytest

from columnist.cli._app import run


@pytest.fixture
def proof(tmp_path):
    X = np.random.default_rng(0).standard_normal((30, 6))
    np.savetxt(tmp_path / "d.csv", X, delimiter=",", header="a,b,c,d,e,f", comments="")
    names = [str(tmp_path / name) for name in ("d.csv", "d.proof")]
    assert run(["select", names[0], "-k", "2", "--center", "--scale", "--drop", "f",
                "--proof", names[1], "-q"]) == 0  # fmt: skip
    return tmp_path, *names


def test_preparation_is_repeated(proof, capsys):
    _, data, path = proof
    assert run(["verify", path, data, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["holds"]
    assert found["data"]["columns"] == 5


def test_exit_codes(proof, capsys):
    folder, data, path = proof
    changed = folder / "changed.csv"
    changed.write_text((folder / "d.csv").read_text().replace("1.2", "1.3", 1))
    assert run(["verify", path, str(changed)]) == 1
    assert run(["verify", data, data]) == 2
    assert run(["verify", str(folder / "none"), data]) == 2


def test_a_proof_replaces_no_data(proof, capsys):
    folder, data, _ = proof
    before = (folder / "d.csv").read_bytes()
    assert run(["select", data, "-k", "2", "--proof", data]) == 2
    assert "is the file that is read" in capsys.readouterr().err
    assert run(["select", data, "-k", "2", "--method", "forward", "--proof", "x.proof"]) == 2
    assert (folder / "d.csv").read_bytes() == before
