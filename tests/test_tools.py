"""What make and the hosted workflows rely on: requirements, targets, and tests that are skipped."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from tests.tools import not_installed
from tools import requirements

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_extras_stand_for_their_own_requirements():
    found = requirements.named(PROJECT, ["test"])
    assert set(PROJECT["project"]["dependencies"]) <= set(found)
    assert not [line for line in found if line.startswith("columnist")]
    for extra in ("cli", "io", "report", "plot", "dask", "neighbors"):
        own = PROJECT["project"]["optional-dependencies"][extra]
        assert {line for line in own if not line.startswith("columnist")} <= set(found)


def test_every_requirement_has_one_lower_bound():
    bounds = dict(line.split("==") for line in requirements.oldest(PROJECT))
    assert bounds["numpy"] == "2.0"
    stated = [line for lines in PROJECT["project"]["optional-dependencies"].values()
              for line in lines if not line.startswith("columnist")]  # fmt: skip
    stated += PROJECT["project"]["dependencies"] + PROJECT["build-system"]["requires"]
    for line in stated:
        name, _, bound = re.sub(r"\[.*\]", "", line).partition(">=")
        assert bounds[name] == bound, line


@pytest.mark.parametrize(
    ("line", "message"),
    [("numpy", "states no lower bound"), ("numpy<3", "not of the form"), ("numpy>=9", "differ")],
)
def test_bounds_that_cannot_be_tested(line, message):
    project = {**PROJECT, "project": {**PROJECT["project"], "dependencies": ["numpy>=2.0", line]}}
    with pytest.raises(ValueError, match=message):
        requirements.oldest(project)


def test_unknown_names(capsys):
    with pytest.raises(SystemExit):
        requirements.main(["nothing"])
    assert "no extra and no group 'nothing'" in capsys.readouterr().err


def test_steps_of_workflows_are_targets():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, flags=re.MULTILINE))
    workflows = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
    if not workflows:
        pytest.skip("a source archive has no workflows")
    for file in workflows:
        commands = re.findall(r"- run: (.*)", file.read_text(encoding="utf-8"))
        assert commands, file.name
        for command in commands:
            found = re.fullmatch(r"(?:sudo )?make ([a-z-]+)(?: [A-Z]+=\d+)?", command)
            assert found, f"{file.name}: {command}"
            assert found[1] in targets, f"{file.name}: {command}"


@pytest.mark.parametrize("hosted", ["", "true"])
def test_missing_programs_skip_a_test_unless_they_are_required(monkeypatch, hosted):
    monkeypatch.setenv("CI", hosted)
    for value in ("", "0"):
        monkeypatch.setenv("COLUMNIST_REQUIRE_TOOLS", value)
        with pytest.raises(pytest.skip.Exception, match=r"^R is not installed$"):
            not_installed("R")
    monkeypatch.setenv("COLUMNIST_REQUIRE_TOOLS", "1")
    with pytest.raises(pytest.fail.Exception, match="R is not installed"):
        not_installed("R")


def test_jobs_that_require_programs_install_them():
    for file in (ROOT / ".github" / "workflows").glob("*.yml"):
        jobs = re.split(r"^  (?=[a-z]+:$)", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
        for job in jobs:
            required = "COLUMNIST_REQUIRE_TOOLS" in job
            assert required == ("make system" in job), f"{file.name}: {job.splitlines()[0]}"
