"""What only a process of its own can show: signals, pipes, terminals."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
from contextlib import suppress

import numpy as np
import pytest

COMMAND = [sys.executable, "-m", "columnist.cli"]


@pytest.fixture(scope="module")
def hard(tmp_path_factory):
    """A file whose proof takes hours."""
    path = tmp_path_factory.mktemp("hard") / "hard.npy"
    np.save(path, np.random.default_rng(0).standard_normal((300, 70)))
    return path


def test_ctrl_c_keeps_the_best_so_far(hard, tmp_path):
    out, page, model = tmp_path / "kept.csv", tmp_path / "page.html", tmp_path / "model.json"
    files = ["--out", str(out), "--report", str(page), "--model", str(model)]
    # The log tells when the search has begun; the limit ends a test that goes wrong.
    process = subprocess.Popen(
        [*COMMAND, "select", str(hard), "-k", "14", "--time-limit", "60", "--json", "-v", *files],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    for line in process.stderr:
        if "%" in line:
            break
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 0, stderr
    assert "interrupted: best so far kept" in stderr
    result = json.loads(stdout)
    assert result["certificate"]["status"] == "interrupted"
    assert len(result["selected"]) == 14
    assert 0 < result["certificate"]["gap"] < 1
    assert out.read_text().splitlines()[0].split(",") == result["selected"]
    assert page.stat().st_size > 1000
    assert json.loads(model.read_text())["arrays"]["selected"] == result["indices"]


def test_ctrl_c_before_anything_is_found(tmp_path):
    process = subprocess.Popen(
        [*COMMAND, "select", "-", "-k", "2", "--out", str(tmp_path / "kept.csv")],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    # More than a pipe holds: when all is written, the process reads, and waits for the end.
    process.stdin.write(b"a,b\n" + b"1,2\n" * 100_000)
    process.stdin.flush()
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=60)
    assert (process.returncode, stdout) == (1, b"")
    assert stderr.decode().startswith("error: interrupted before anything was found")
    assert list(tmp_path.iterdir()) == []


def test_a_reader_that_leaves_is_no_error(tmp_path):
    path = tmp_path / "long.npy"
    np.save(path, np.random.default_rng(0).standard_normal((60_000, 3)))
    command = f'"{sys.executable}" -m columnist.cli select "{path}" -k 2 --out - | head -n 2'
    run = subprocess.run(
        ["bash", "-c", f"{command}; echo ${{PIPESTATUS[0]}}"], capture_output=True, text=True
    )
    lines = run.stdout.splitlines()
    assert lines[0].count(",") == 1
    assert lines[-1] == "0"
    assert "error: " not in run.stderr and "Traceback" not in run.stderr


def test_standard_input_and_output(wine):
    with open(wine, "rb") as file:
        run = subprocess.run(
            [sys.executable, "-m", "columnist", "select", "-", "-k", "2", "--non-numeric", "drop",
             "--out", "-"],
            stdin=file, capture_output=True, text=True,
        )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert len(run.stdout.splitlines()) == 179


def in_terminal(arguments: list[str], **environment: str) -> str:
    """What a command writes to a terminal of 70 columns."""
    leader, follower = pty.openpty()
    variables = {**os.environ, "COLUMNS": "70", "TERM": "xterm-256color", **environment}
    process = subprocess.Popen(
        [*COMMAND, *arguments], stdin=follower, stdout=follower, stderr=follower, env=variables
    )
    os.close(follower)
    chunks = []
    while True:
        try:
            chunk = os.read(leader, 65536)
        except OSError:
            break
        if not chunk:
            break
        chunks.append(chunk)
    os.close(leader)
    assert process.wait(timeout=60) == 0
    return b"".join(chunks).decode()


def test_a_terminal_gets_progress_and_colours(hard):
    shown = in_terminal(["select", str(hard), "-k", "14", "--time-limit", "1"])
    assert "gap" in shown.split("Selected 14")[0]
    assert "\x1b[1m" in shown
    assert "\x1b[36m" in shown


@pytest.mark.parametrize(
    "arguments",
    [("select", "-k", 14, "--time-limit", 1), ("outliers", "-k", 9, "-r", 3, "--time-limit", 1),
     ("select", "-k", 3, "--path", 4, "--bootstrap", 5, "--verdicts", "--time-limit", 2)],
    ids=lambda arguments: arguments[0],
)  # fmt: skip
def test_progress_fits_the_terminal(hard, arguments):
    command, *options = map(str, arguments)
    shown = in_terminal([command, str(hard), *options])
    progress = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.replace("\x1b[1A", "\n"))
    live = [line for line in re.split(r"[\r\n]", progress) if "Ctrl-C: stop" in line]
    assert live and max(map(len, live)) <= 70


def test_ctrl_c_while_dask_starts(tmp_path):
    pytest.importorskip("distributed")
    import psutil

    path = tmp_path / "rows.csv"
    path.write_text("a,b,c\n" + "1,2,4\n3,5,1\n" * 50)
    process = subprocess.Popen(
        [*COMMAND, "select", str(path), "-k", "2", "--dask"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    begun = False  # to start a worker
    while process.poll() is None and not begun:
        with suppress(psutil.NoSuchProcess):
            children = psutil.Process(process.pid).children(recursive=True)
            begun = any("spawn_main" in " ".join(child.cmdline()) for child in children)
    # A terminal sends the signal to all processes of the command.
    os.killpg(process.pid, signal.SIGINT)
    stdout, stderr = process.communicate(timeout=120)
    assert (process.returncode, stdout) == (1, "")
    assert stderr == "error: interrupted before anything was found; nothing was written\n"
