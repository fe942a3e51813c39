"""The benchmarks of best subsets run, and judge answers by the objective that they state."""

from __future__ import annotations

import importlib
import subprocess
from pathlib import Path

import numpy as np
import pytest

from benchmarks import store
from benchmarks.against import protocol
from benchmarks.against.area import finished, measure
from benchmarks.against.programs import PROGRAMS, R_PROGRAMS
from benchmarks.against.protocol import Contender, Outcome, Runner
from benchmarks.data import Sets
from benchmarks.store import Stored
from benchmarks.subset import classes, generated, judge, real, run
from benchmarks.subset.judge import CappedRunner, Settings
from columnist import ColumnSelector

CALLS = Path(run.HOME).parent / "against" / "calls"
NO_SETS = Sets(None, say=lambda line: None)


class InProcess(Runner):
    """Answers for Columnist without a process; others are not installed."""

    def ask(self, contender, cases, check=bool):
        if contender.program != "columnist":
            return super().ask(contender, cases, check)
        file, _, name = contender.function.partition(".")
        function = getattr(importlib.import_module(f"benchmarks.against.calls.{file}"), name)
        answers = tuple(function(**case, **contender.given) for case in cases)
        for answer in answers:
            check(answer)
        return Outcome(answers, (1.0,) * len(cases), 1.0, 0.0, "here")


@pytest.fixture
def runner(monkeypatch):
    monkeypatch.setattr(protocol, "has_r_package", lambda name: False)
    return InProcess(None)


@pytest.mark.parametrize("name", list(run.PARTS))
def test_every_part_runs(name, runner):
    part = run.PARTS[name](Settings(5.0))
    rows = measure(part, NO_SETS, runner, True, say=lambda line: None)
    ours = [row for row in rows if row["program"] == "columnist"]
    others = [row for row in rows if row["program"] != "columnist"]
    assert ours and not any(row["failure"] for row in ours)
    assert others and all("not installed" in row["failure"] for row in others)
    for row in ours:
        assert not row.get("refuted")
        assert set(part.quality) & set(row)


@pytest.mark.parametrize("name", list(run.PARTS))
def test_every_call_exists(name):
    part = run.PARTS[name](Settings(5.0, Path("folder")))
    for problem in part.problems(NO_SETS, True):
        calls = part.contenders(problem, True)
        ours = {call.call for call in calls if call.program == "columnist"}
        assert {call.ours for call in calls} <= ours
        for call in calls:
            file, _, function = call.function.partition(".")
            in_r = call.program in R_PROGRAMS
            source = (CALLS / f"{file}.{'R' if in_r else 'py'}").read_text()
            assert (f"{function} <- function(" if in_r else f"def {function}(") in source
            assert call.program in {*PROGRAMS, *R_PROGRAMS, *protocol.HERE, "scikit-learn"}


def test_every_problem_is_stored(runner, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(run, "CappedRunner", lambda *_: runner)
    old = {"set": "old", "program": "p", "call": "c", "failure": "f"}
    Stored("subset-designs", tmp_path).put([old])
    assert run.main(["designs", "--quick", "--out", str(tmp_path)]) == 0
    stored = Stored("subset-designs", tmp_path)
    assert stored.rows[0] == old and len(stored.runs) == 2
    row = stored.rows[1]
    assert row["set"] == "AR 0.5, signal 1, draw 0, 120 x 30, k = 3"
    assert (row["proven [%]"], row["gap [%]"]) == (100.0, 0.0)
    (line, *_) = run.over_draws(stored.rows[1:])
    assert line["set"] == "AR 0.5, signal 1, 120 x 30, k = 3" and line["proven"] == "1 of 1"
    assert str(tmp_path) not in stored.path.read_text()
    assert "columnist" in capsys.readouterr().out


def test_a_run_goes_on_where_it_was_cut_off(runner, tmp_path, monkeypatch):
    asked, commits = [], ["2"]
    monkeypatch.setattr(run, "CappedRunner", lambda *_: runner)
    monkeypatch.setattr(run, "contains", lambda commit, since: commit >= since)
    monkeypatch.setattr(store, "commit", lambda: commits[-1])
    ask = runner.ask
    monkeypatch.setattr(runner, "ask", lambda *args: asked.append(args) or ask(*args))
    arguments = ["designs", "--quick", "--out", str(tmp_path), "--since"]
    assert run.main([*arguments, "1"]) == 0
    n_calls = len(asked)
    assert n_calls > 0
    assert Stored("subset-designs", tmp_path).runs[0]["commit"] == "2"
    assert run.main([*arguments, "2"]) == 0
    assert len(asked) == n_calls
    commits.append("3")
    assert run.main([*arguments, "3"]) == 0
    assert len(asked) == 2 * n_calls


def test_commits_contain_those_before_them():
    try:
        head = store.git("rev-parse", "HEAD")
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a repository")
    assert run.contains(f"{head}-dirty", head)
    assert not run.contains("unknown", head) and not run.contains("", head)


def test_options(capsys):
    options = run.parse(["sizes", "--quick"])
    assert (options.seconds, options.out) == (1.0, None)
    assert run.parse([]).out.name == "stored"
    with pytest.raises(SystemExit):
        run.parse(["nonsense"])
    assert "unknown part nonsense" in capsys.readouterr().err


def test_only_some_problems():
    part = run.designs(Settings(words=("signal 5, draw 4, 10000",)))
    assert [one.title for one in part.problems(NO_SETS, True)] == []
    settings = Settings(words=("AR 0.5, signal 1, draw 3, 1000 x 500",))
    (problem,) = run.designs(settings).problems(NO_SETS, False)
    assert problem.title == "AR 0.5, signal 1, draw 3, 1000 x 500, k = 10"


def test_designs_have_their_correlation_and_signal():
    X, y = generated.regression(4000, 20, 0.8, 5.0, 4, seed=0)
    assert np.corrcoef(X[:, 3], X[:, 5])[0, 1] == pytest.approx(0.64, abs=0.04)
    np.testing.assert_array_equal(generated.true_columns(20, 4), [0, 5, 10, 15])
    clean = X[:, ::5].sum(axis=1)
    assert clean.var() / (y - clean).var() == pytest.approx(5.0, rel=0.1)


def test_errors_are_those_of_the_objective():
    X, y = generated.regression(40, 6, 0.5, 1.0, 2, seed=1)
    problem = judge.centred("s", X, y, k=2, alpha=3.0)
    A, b = problem.cases[0]["X"][:, [1, 4]], problem.cases[0]["y"]
    coef = np.linalg.solve(A.T @ A + 3.0 * np.eye(2), A.T @ b)
    error = ((b - A @ coef) ** 2).sum() + 3.0 * (coef**2).sum()
    answer = {"columns": [1, 4], "gap": 0.25, "proven": False, "bound": 0.75 * error}
    found = judge.judge(problem, {"a": Outcome((answer,))})["a"]
    assert found["error [%]"] == pytest.approx(100.0 * error / (b @ b), rel=1e-10)
    assert (found["gap [%]"], found["proven [%]"]) == (25.0, 0.0)


def test_a_bound_above_some_error_is_refuted():
    X, y = generated.regression(40, 6, 0.5, 5.0, 2, seed=1)
    problem = judge.centred("s", X, y, k=2)
    best = ColumnSelector(2).fit(problem.cases[0]["X"], problem.cases[0]["y"][:, None])
    worse = [column for column in range(6) if column not in best.selected_][:2]
    wrong = {"columns": worse, "bound": 2.0 * best.error_, "gap": 0.0, "proven": True}
    outcomes = {
        "columnist: wrong": Outcome((wrong,)),
        "other": Outcome(({"columns": best.selected_},)),
        "leaps: search, exact": Outcome(({"columns": best.selected_},)),
    }
    found = judge.judge(problem, outcomes)
    assert found["columnist: wrong"]["refuted"] and found["columnist: wrong"]["proven [%]"] == 0.0
    assert found["other"]["above the best [%]"] == 0.0
    assert found["leaps: search, exact"]["proven [%]"] == 100.0
    assert not finished(Outcome(({"proven": False},)))


def test_bic_of_a_choice():
    X, y = generated.regression(50, 5, 0.0, 1.0, 2, seed=0)
    X, y = X - X.mean(axis=0), y - y.mean()
    left = y - X[:, [2]] @ np.linalg.lstsq(X[:, [2]], y, rcond=None)[0]
    expected = 50 * np.log(left @ left / 50) + np.log(50)
    assert real.bic(X, y, np.array([2])) == pytest.approx(expected, rel=1e-12)
    nothing = real.bic(X, y, np.array([], dtype=int))
    assert nothing == pytest.approx(50 * np.log(y @ y / 50), rel=1e-12)


def test_incomplete_tables():
    X = np.arange(60.0).reshape(20, 3) ** 1.5
    X = np.column_stack([X, np.ones(20)])
    X[:5, 0] = np.nan  # a quarter: the column goes
    X[7, 1] = np.nan  # one value: the row goes
    rows, columns = real.complete(X)
    np.testing.assert_array_equal(np.flatnonzero(~rows), [7])
    np.testing.assert_array_equal(columns, [False, True, True, False])


def test_log_losses_are_those_of_the_objective():
    X, y = classes.two_classes(60, 5, 0.5, 2, seed=0)
    value = classes.log_loss(X, y, np.array([0, 2]), 2.0)
    for coef in ([0.0, 0.0], [0.5, 0.5], [1.0, 0.2]):
        odds = X[:, [0, 2]] @ coef
        other = np.logaddexp(0.0, np.where(y == 1, -odds, odds)).sum() + 2.0 * np.dot(coef, coef)
        assert value <= other + 1e-9
    assert 0.0 < value < 60 * np.log(2.0)


def test_who_gave_up_is_not_asked_again(monkeypatch):
    asked = []

    def ask(self, contender, cases, check=bool):
        asked.append(self.limit)
        return Outcome(failure="no answer within 5 s of processor time")

    monkeypatch.setattr(Runner, "ask", ask)
    runner = CappedRunner(None, 5.0)
    case = [{"X": np.ones((3, 2))}]
    slow = Contender("leaps", "c", "leaps.select", given={"k": 1})
    assert runner.ask(slow, case).failure.startswith("no answer")
    assert runner.ask(slow, case).failure.startswith("not asked")
    polite = Contender("okridge", "c", "okridge.select", given={"time_limit": 5.0})
    runner.ask(polite, case)
    assert len(asked) == 2 and asked[1] > asked[0]
