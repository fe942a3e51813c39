"""The comparison with other programs: protocol, tables and page, with programs that misbehave."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks.against import (
    area,
    columns,
    environments,
    large,
    protocol,
    robust,
    run,
    scores,
    target,
)
from benchmarks.against.area import Area, Problem, check_choice, measure, summary
from benchmarks.against.programs import PROGRAMS, R_PROGRAMS, Program, RProgram
from benchmarks.against.protocol import Contender, Outcome, Runner
from benchmarks.data import Sets
from benchmarks.store import Stored
from columnist import ColumnSelector
from tests.tools import not_installed

ROOT = Path(__file__).resolve().parents[1]
HOME = ROOT / "benchmarks" / "against"

FAKE = '''
import os, signal, sys, time
import numpy as np

def good(X, k):
    """The first columns."""
    print("noise on standard output")
    return {"columns": np.arange(k), "total": X.sum(), "flag": np.bool_(True)}

def raises(X, k):
    raise ValueError(f"{k} is no number\\nsecond line")

def leaves(X, k):
    print("/home/somebody/file.py: an error of sorts", file=sys.stderr)
    sys.stderr.flush()
    os._exit(3)

def crashes(X, k):
    os.kill(os.getpid(), signal.SIGSEGV)

def hangs(X, k):
    time.sleep(60)

def spins(X, k):
    while True:
        pass

def missing(X, k):
    import no_such_module

def unprintable(X, k):
    return {"columns": object()}

def repeats(X, k):
    return {"columns": [0] * k}
'''


@pytest.fixture
def runner(tmp_path, monkeypatch):
    """A runner whose worker finds the fake program."""
    (tmp_path / "fake.py").write_text(FAKE)
    worker = tmp_path / "worker.py"
    worker.write_text(
        f"import runpy, sys, importlib.util\n"
        f"spec = importlib.util.spec_from_file_location("
        f"'benchmarks.against.calls.fake', {str(tmp_path / 'fake.py')!r})\n"
        f"module = importlib.util.module_from_spec(spec)\n"
        f"spec.loader.exec_module(module)\n"
        f"sys.modules['benchmarks.against.calls.fake'] = module\n"
        f"runpy.run_path({str(HOME / 'worker.py')!r}, run_name='__main__')\n"
    )
    monkeypatch.setattr(protocol, "WORKER", worker)
    return Runner(None, limit=20.0, budget=0.0)


def asked(runner, name, cases=1, check=bool):
    X = np.ones((4, 3))
    contender = Contender("columnist", name, f"fake.{name}", given={"k": 2})
    return runner.ask(contender, [{"X": X * (i + 1)} for i in range(cases)], check)


def test_answers_come_back_with_their_cost(runner):
    outcome = asked(runner, "good", cases=3)
    assert outcome.failure == ""
    assert [answer["total"] for answer in outcome.answers] == [12.0, 24.0, 36.0]
    assert outcome.answers[0]["columns"] == [0, 1] and outcome.answers[0]["flag"] is True
    assert len(outcome.seconds) == 3 and min(outcome.seconds) >= 0.0
    assert len(outcome.waited) == 3 and min(outcome.waited) > 0.0
    assert outcome.megabytes >= 0.0 and outcome.version


@pytest.mark.parametrize(
    ("name", "failure"),
    [
        ("raises", "ValueError: 2 is no number"),
        ("leaves", "ended with exit code 3: ...: an error of sorts"),
        ("crashes", "crashed (SIGSEGV)"),
        ("missing", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("unprintable", "TypeError: an answer holds a object"),
        ("unknown", "AttributeError: module 'benchmarks.against.calls.fake' has no"),
    ],
)
def test_whatever_goes_wrong_is_a_line(runner, name, failure):
    outcome = asked(runner, name)
    assert outcome.failure.startswith(failure) and "\n" not in outcome.failure
    assert outcome.answers == ()


def test_a_program_that_waits_is_stopped(runner):
    runner.limit, runner.patience = 1.0, 1.0
    assert asked(runner, "hangs").failure == "no answer within 1 s"


@pytest.mark.skipif(not Path("/proc/self/stat").is_file(), reason="needs /proc")
def test_a_program_that_computes_for_ever_is_stopped(runner):
    runner.limit, runner.patience = 0.5, 120.0
    assert asked(runner, "spins").failure == "no answer within 0.5 s of processor time"


def test_a_wrong_answer_is_a_failure(runner):
    def check(answer):
        check_choice(answer["columns"], 2, 3)

    assert asked(runner, "good", check=check).failure == ""
    assert asked(runner, "repeats", check=check).failure == "wrong answer: 1 columns instead of 2"


def test_choices_are_checked():
    np.testing.assert_array_equal(check_choice([2.0, 0.0], 2, 3), [2, 0])
    np.testing.assert_array_equal(check_choice([1], 2, 3, at_most=True), [1])
    for wrong in ([0], [0, 0], [0, 3], [-1, 0], [0.5, 1], [[0, 1]], []):
        with pytest.raises(ValueError, match="column"):
            check_choice(wrong, 2, 3)


def test_programs_that_are_not_installed(tmp_path, monkeypatch):
    case = [{"X": np.ones((3, 2))}]
    lost = Contender("fastcan", "call", "fastcan.itself", given={"k": 1})
    assert "not installed" in Runner(None).ask(lost, case).failure
    assert Runner(tmp_path).ask(lost, case).failure == "fastcan is not installed"
    (tmp_path / "fastcan").mkdir()
    (tmp_path / "fastcan" / environments.FAILED).write_text("cannot be installed: no wheel\n")
    assert Runner(tmp_path).ask(lost, case).failure == "cannot be installed: no wheel"
    monkeypatch.setattr(protocol, "has_r_package", lambda name: False)
    leaps = Contender("leaps", "call", "leaps.select", given={"k": 1})
    expected = "R package leaps is not installed (Debian: r-cran-leaps)"
    assert Runner(None).ask(leaps, case).failure == expected
    assert "not packaged" in R_PROGRAMS["subselect"].missing


def test_results_of_r_are_read(tmp_path):
    path = tmp_path / "answers.txt"
    path.write_text(
        "version 3.1\nmegabytes NA\nfirst 0.5\n0 seconds 0.25\n0 waited 1\n0 columns 4 2\n"
        "1 seconds 0.5\n1 waited 2\n1 columns 1\n"
    )
    outcome = protocol.outcome_of_r(path)
    assert outcome == Outcome(
        ({"columns": [4.0, 2.0]}, {"columns": [1.0]}), (0.25, 0.5), 0.5, 0.0, "3.1", "", (1.0, 2.0)
    )
    path.write_text("error no such method in /usr/lib/R/library\n")
    with pytest.raises(protocol.Failure, match=r"^no such method in \.\.\.$"):
        protocol.outcome_of_r(path)
    contender = Contender("leaps", "c", "leaps.select", given={"k": 2, "method": "a", "b": True})
    job = protocol.r_job(contender, 0.5, 3)
    assert 'options <- list(k = 2, method = "a", b = TRUE)' in job and "cases <- 3" in job


def test_leaps_agrees_with_the_certified_search():
    if not protocol.has_r_package("leaps"):
        not_installed("R with leaps")
    X, y = target.correlated(60, 12, 1)
    problem = target.centred("s", X, y, 4)
    calls = target.contenders(problem, quick=True)
    exact = next(call for call in calls if call.call == "exhaustive, exact")
    theirs = Runner(None, budget=0.0).ask(exact, problem.cases)
    assert theirs.failure == ""
    best = ColumnSelector(4).fit(*problem.cases[0].values())
    assert best.certificate_.is_optimal
    assert sorted(theirs.answers[0]["columns"]) == sorted(best.selected_)


def test_reasons_name_no_place_and_no_address():
    text = (
        "Looking in indexes: https://packages.example/simple\n"
        "ERROR: Could not find it (from versions: none)\n"
        "ERROR: No matching distribution found for x at /home/me/x, https://a.example/b\n\n"
    )
    expected = "No matching distribution found for x at ..., ..."
    assert environments.reason(text) == expected
    assert environments.reason("") == "no message"
    assert len(environments.reason("e" * 500)) == 160


def test_a_program_that_cannot_be_installed_leaves_its_reason(tmp_path, monkeypatch):
    monkeypatch.setattr(environments, "base", lambda *_: None)
    monkeypatch.setattr(environments, "interpreter", lambda _: Path(sys.executable))
    said = "import sys; sys.exit('ERROR: no wheel for /here')"
    nothing = Program("nothing", ("nothing>=9",), "")
    failure = environments.install(tmp_path, nothing, pip=("-c", said))
    assert failure == "cannot be installed: no wheel for ..."
    assert environments.python_of(tmp_path, "nothing") is None
    assert environments.failure_of(tmp_path, "nothing") == failure
    assert environments.install(tmp_path, nothing, pip=("-c", "pass")) == ""
    assert environments.python_of(tmp_path, "nothing") == Path(sys.executable)
    # A second time, nothing is run.
    assert environments.install(tmp_path, nothing, pip=("-c", said)) == ""
    assert nothing.package == "nothing"


def tiny(key="columns"):
    """An area of one problem, whose second program is lost and third is wrong."""
    problem = Problem("tiny", [{"X": np.eye(3)}], {"k": 2})
    ours = Contender("columnist", "ours", "fake.good", "ours", {"k": 2})
    return Area(
        key,
        "Tiny",
        "A note with *stars*.",
        lambda sets, quick: [problem],
        lambda problem, quick: [
            ours,
            Contender("robpy", "lost", "fake.good", "ours", {"k": 2}),
            Contender("columnist", "wrong", "fake.repeats", "ours", {"k": 2}),
        ],
        lambda problem, answer: check_choice(answer["columns"], 2, 3),
        lambda problem, outcomes: {name: {"error [%]": 5.0} for name in outcomes},
        ("error [%]",),
    )


def test_rows_summary_and_failures(runner):
    rows = measure(tiny(), Sets(None), runner, True, say=lambda line: None)
    assert [row["failure"] != "" for row in rows] == [False, True, True]
    assert rows[0]["set"] == "tiny, 3 x 3, k = 2" and rows[0]["times ours"] == 1.0
    lines = summary(tiny(), rows)
    assert [line["answered"] for line in lines] == ["1 of 1", "0 of 1", "0 of 1"]
    assert lines[0]["error [%]"] == 5.0 and lines[1]["error [%]"] is None
    assert lines[2]["failures"].startswith("wrong answer")
    assert len(run.failures(rows)) == 2 and len(run.details(rows)) == 1


def test_results_are_stored(runner, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(run, "AREAS", {"columns": tiny()})
    monkeypatch.setattr(run, "Runner", lambda *_: runner)
    assert run.main(["--quick", "--out", str(tmp_path)]) == 0
    assert "columnist" in capsys.readouterr().out
    stored = Stored("peers-columns", tmp_path)
    assert [row["program"] for row in stored.rows] == ["columnist", "robpy", "columnist"]
    assert run.versions(stored.rows).keys() == {"columnist"}
    text = stored.path.read_text()
    assert str(tmp_path) not in text and str(ROOT) not in text


@pytest.mark.parametrize("name", list(run.AREAS))
def test_every_call_exists_and_has_its_counterpart(name):
    chosen = run.AREAS[name]
    for problem in chosen.problems(Sets(None, say=lambda line: None), True):
        calls = chosen.contenders(problem, True)
        ours = {call.call for call in calls if call.program == "columnist"}
        assert {call.ours for call in calls} - {""} <= ours
        assert len({area.label(call) for call in calls}) == len(calls)
        for call in calls:
            file, _, function = call.function.partition(".")
            ending, word = (
                ("R", "{} <- function(") if call.program in R_PROGRAMS else ("py", "def {}(")
            )
            source = (HOME / "calls" / f"{file}.{ending}").read_text()
            assert word.format(function) in source
            known = {*PROGRAMS, *R_PROGRAMS, "columnist", "scipy", "scikit-learn"}
            assert call.program in known


def test_errors_are_measured_from_the_bound():
    X = np.random.default_rng(0).standard_normal((20, 4))
    proof = Outcome(({"columns": [0, 1, 2], "bound": 0.1, "proven": False},))
    other = Outcome(({"columns": [1.0, 2.0, 3.0]},))
    found = columns.against_bound(X, X, {"columnist: ColumnSelector": proof, "other": other})
    left = X[:, 0] - X[:, 1:] @ np.linalg.lstsq(X[:, 1:], X[:, 0], rcond=None)[0]
    error = left @ left / (X**2).sum()
    assert found["other"]["error [%]"] == pytest.approx(100 * error, rel=1e-12)
    assert found["other"]["above the bound [%]"] == pytest.approx(max(1000 * error - 100, 0.0))
    assert found["columnist: ColumnSelector"]["proven"].startswith("within")
    exact = {"columnist: ColumnSelector": proof, "leaps: search, exact": other}
    found = columns.against_bound(X, X, exact)
    assert found["leaps: search, exact"]["above the bound [%]"] == 0.0
    assert found["leaps: search, exact"]["proven"] == "optimal"
    assert not area.finished(proof) and area.finished(other)


def test_good_features_give_a_good_accuracy():
    X, y = scores.clusters(120, 40)
    problem = scores.folds("s", X, y, 2, quick=True)
    outcomes = {
        "columnist: FisherScore": Outcome(({"features": [0, 1]}, {"features": [0, 1]})),
        "scikit-learn: f_classif": Outcome(({"features": [0, 39]}, {"features": [0, 1]})),
    }
    found = scores.judge(problem, outcomes)
    assert found["scikit-learn: f_classif"]["in common [%]"] == 75.0
    assert found["columnist: FisherScore"]["accuracy [%]"] > 25.0


def test_scores_are_compared_with_those_of_our_counterpart():
    (problem,) = large.problems(None, quick=True)
    outcomes = {
        "columnist: ReliefF": Outcome(({"features": [0, 1], "scores": [4.0, 2.0, -1.0]},)),
        "skrebate: ReliefF": Outcome(({"features": [0, 2], "scores": [4.0, 1.0, 1.0]},)),
        "skfeature-chappers: reliefF": Outcome(({"features": [1, 0]},)),
        "skfeature-chappers: lap_score": Outcome(({"features": [1, 0]},)),
    }
    found = large.judge(problem, outcomes)
    assert found["columnist: ReliefF"] == {"in common [%]": 100.0, "scores differ": 0.0}
    assert found["skrebate: ReliefF"] == {"in common [%]": 50.0, "scores differ": 0.5}
    assert found["skfeature-chappers: reliefF"]["scores differ"] is None
    assert "skfeature-chappers: lap_score" not in found  # our counterpart gave no answer


def test_true_axes_find_the_outliers():
    problem = robust.generated((60, 8, 2, 12), "clustered", 2)
    centre = np.zeros(8)
    answers = tuple({"axes": axes.ravel(), "centre": centre} for axes in problem.truth[1])
    for answer in answers:
        robust.check(problem, answer)
    (found,) = robust.judge(problem, {"any": Outcome(answers)}).values()
    assert found["largest angle"] < 1e-5 and found["found [%]"] == 100.0
    for wrong in (
        {"axes": np.ones((2, 8)), "centre": centre},
        {"axes": np.eye(1, 8), "centre": centre},
        {"axes": np.eye(2, 8), "centre": [0.0]},
    ):
        with pytest.raises(ValueError, match=r"orthonormal|reshape|centre"):
            robust.check(problem, wrong)
    assert robust.zeros().title == "zeros of digits, 195 x 64, r = 5"


def test_unknown_areas_are_refused(capsys):
    with pytest.raises(SystemExit):
        run.parse(["clusters"])
    assert "unknown area clusters" in capsys.readouterr().err
    assert RProgram("a", "r-cran-a", "").missing.endswith("(Debian: r-cran-a)")


def test_environments_are_asked_for_by_name(monkeypatch, capsys):
    monkeypatch.setattr(environments, "install", lambda folder, program: program.name)
    assert environments.main(["somewhere", "abess"]) == 0
    assert capsys.readouterr().out == "abess: abess\n"
