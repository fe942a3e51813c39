"""Forged proofs with weights and constraints: enumeration says which of them are true."""

import shutil
import subprocess
import sys
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from columnist import ColumnSelector, _verify, _verify_guide, verify
from columnist.constraints import AtMost, Budget, Groups, Requires
from columnist.robust import RobustPCA
from tests.forging import Forger, resealed
from tests.oracles.constrained import every_choice
from tests.strategies import random_constraints, random_size
from tests.test_verify_constrained import errors_of

# Claims whose truth hangs on less than this share of the target are not judged.
NEAR = 1e-7


def read(facts):
    """Constraints of a proof as a user would write them."""
    kinds = {
        "groups": lambda labels: Groups(labels),
        "budget": lambda costs, budget: Budget(costs, budget),
        "at most": lambda columns, m: AtMost(columns, m),
        "requires": lambda column, others: Requires(column, others),
    }
    return [kinds[fact["kind"]](**{k: v for k, v in fact.items() if k != "kind"}) for fact in facts]


# -- what is changed --------------------------------------------------------------------


def _of(problem, kind, rng):
    return rng.choice([fact for fact in problem["constraints"] if fact["kind"] == kind])


def _drop(problem, claim, rng):
    constraints = problem["constraints"]
    del constraints[int(rng.integers(len(constraints)))]
    if not constraints:
        problem["size"] = problem["size"] or len(claim["selection"])


def _add(problem, claim, rng):
    """Fewer of the selected columns than there are, or one with another."""
    n, selection = problem["shape"][1], claim["selection"]
    if rng.random() < 0.5:
        more = {"kind": "at most", "columns": list(selection), "m": len(selection) - 1}
    else:
        others = sorted(set(range(n)) - set(selection))
        more = {"kind": "requires", "column": selection[0], "others": others[:1]}
    problem["constraints"].append(more)


def _cost(problem, claim, rng):
    fact = _of(problem, "budget", rng)
    some = claim["selection"] if rng.random() < 0.5 else range(problem["shape"][1])
    fact["costs"][int(rng.choice(some))] *= float(rng.choice([0.1, 10.0]))


def _budget(problem, claim, rng):
    _of(problem, "budget", rng)["budget"] *= float(rng.choice([0.6, 1.5, 3.0]))


def _label(problem, claim, rng):
    labels = _of(problem, "groups", rng)["labels"]
    labels[int(rng.integers(len(labels)))] = int(rng.integers(len(labels)))


def _limit(problem, claim, rng):
    fact = _of(problem, "at most", rng)
    fact["m"] = max(fact["m"] + int(rng.choice([-1, 1, 2])), 0)


def _required(problem, claim, rng):
    fact = _of(problem, "requires", rng)
    fact["others"] = [] if rng.random() < 0.5 else [int(rng.integers(problem["shape"][1]))]


def _size(problem, claim, rng):
    size = problem["size"] or len(claim["selection"])
    problem["size"] = max(size + int(rng.choice([-1, 1])), 1)


def _weight(problem, claim, rng):
    weights = problem["weights"]
    at = int(rng.choice(np.flatnonzero(weights)))
    weights[at] *= float(rng.choice([0.5, 1.0 + 1e-5, 2.0]))


def _no_weights(problem, claim, rng):
    if problem["weights"] is None:
        raise ValueError("nothing to leave out")
    problem["weights"] = None


def _bound(problem, claim, rng):
    claim["lower_bound"] *= 1.01
    claim["error"] = max(claim["error"], claim["lower_bound"])


def _another(problem, claim, rng):
    """Another selection, perhaps one that breaks a constraint."""
    n, selection = problem["shape"][1], list(claim["selection"])
    others = sorted(set(range(n)) - set(selection))
    selection[int(rng.integers(len(selection)))] = int(rng.choice(others))
    claim["selection"] = claim["solutions"][0] = selection


CHANGES = [
    _drop, _add, _cost, _budget, _label, _limit, _required, _size, _weight, _no_weights, _bound,
    _another,
]  # fmt: skip


# -- what is true -----------------------------------------------------------------------


def is_true(header, X):
    """Whether a claim holds of the problem beside it, by enumeration; None if it hangs on a
    hair."""
    problem, claim = header["problem"], header["claim"]
    options = {"criterion": problem["criterion"], "centering": problem["centering"]}
    n, constraints = problem["shape"][1], read(problem["constraints"])
    choices = every_choice(n, constraints, problem["size"])
    selected = tuple(sorted(claim["selection"]))
    errors, total = errors_of(X, None, problem["weights"], options, [*choices, selected])
    hair, off = NEAR * total, abs(errors[selected] - claim["error"])
    if off > hair or selected not in choices:
        return False
    if off > 1e-4 * hair:
        return None
    best = min(errors[s] for s in choices)
    if best < errors[selected] and abs(best - claim["lower_bound"]) < hair:
        return None
    return claim["lower_bound"] <= best + hair


def proof_of(rng, path):
    """A proof of a problem with constraints, and perhaps with weights."""
    n = int(rng.integers(4, 8))
    X = rng.standard_normal((n + 4, n)) * rng.uniform(0.5, 2.0, n)
    while True:
        constraints = random_constraints(rng, n)
        size = random_size(rng, constraints, n)
        if 1 < len(every_choice(n, constraints, size)):
            break
    weights = rng.random(n + 4) + 0.1 if rng.random() < 0.5 else None
    criterion = str(rng.choice(["frobenius", "frobenius", "nuclear"]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        selector = ColumnSelector(
            size, constraints=constraints, criterion=criterion, proof=path,
            centering=str(rng.choice(["none", "mean"])),
        )  # fmt: skip
        selector.fit(X, sample_weight=weights)
    return X


def check(path, seed):
    """How often each change made a false claim."""
    rng, refuted = np.random.default_rng(seed), Counter()
    X = proof_of(rng, path)
    assert verify(path, X).holds
    for change in CHANGES:
        forger = Forger(path)
        problem, claim = forger.header["problem"], forger.header["claim"]
        if len(claim["selection"]) == X.shape[1]:
            continue
        try:
            change(problem, claim, rng)
        except (ValueError, TypeError, IndexError):  # nothing of that kind
            continue
        if change in (_another, _bound):
            options = {k: problem[k] for k in ("criterion", "centering")}
            chosen = tuple(sorted(claim["selection"]))
            errors, _ = errors_of(X, None, problem["weights"], options, [chosen])
            if change is _another:
                claim["error"] = claim["lower_bound"] = errors[chosen]
        claim["errors"], claim["complete"] = [claim["error"]], False
        if not problem["constraints"] and problem["size"] != len(claim["selection"]):
            continue
        true = is_true(forger.header, X)
        for records in (None, []):
            if true is not None:
                verdict = verify(forger.save(records=records), X)
                assert verdict.holds == true, (seed, change.__name__, str(verdict))
        refuted[change.__name__] += true is False
    return refuted


def test_enumeration_decides_every_claim(tmp_path):
    refuted = sum((check(tmp_path / "p", seed) for seed in range(25)), Counter())
    assert len(refuted) == len(CHANGES)


@pytest.mark.slow
def test_hundreds_of_forgeries(tmp_path):
    refuted = sum((check(tmp_path / "p", seed) for seed in range(100, 1100)), Counter())
    assert min(refuted[change.__name__] for change in CHANGES) >= 100


# -- what is no problem -----------------------------------------------------------------

WEIGHTS = [
    [], [1.0], "1" * 9, {}, 1.0, [1.0] * 10, [0.0] * 9, [-1.0] + [1.0] * 8, [float("nan")] * 9,
    [float("inf")] * 9, [1e308] * 9, [10**400] * 9, [True] * 9, ["1"] * 9, [None] * 9, [[1.0]] * 9,
]  # fmt: skip
CONSTRAINTS = [
    None, {}, "groups", [None], [{}], [{"kind": "groups", "labels": [0, 1]}],
    [{"kind": "budget", "costs": [1.0] * 4, "budget": float("nan")}],
    [{"kind": "budget", "costs": [1.0, -1.0, 1.0, 1.0], "budget": 2.0}],
    [{"kind": "budget", "costs": [10**400] * 4, "budget": 2.0}],
    [{"kind": "at most", "columns": [4], "m": 1}], [{"kind": "requires", "column": "0"}],
    [{"kind": "exec", "code": "print(1)"}], 20_000 * [{"kind": "at most", "columns": [], "m": 0}],
]  # fmt: skip


@pytest.fixture(scope="module")
def plain_proof(tmp_path_factory):
    """A proof without weights and constraints."""
    X = np.random.default_rng(0).standard_normal((9, 4))
    path = tmp_path_factory.mktemp("proof") / "p"
    ColumnSelector(2, proof=path).fit(X)
    return path, X


@pytest.mark.parametrize(
    ("name", "value"),
    [("weights", w) for w in WEIGHTS] + [("constraints", c) for c in CONSTRAINTS]
    + [("size", None), ("within", -0.1), ("within", "all"), ("within", float("nan"))],
    ids=lambda value: str(value)[:20],
)  # fmt: skip
def test_malformed_problems_are_unreadable(plain_proof, name, value):
    path, X = plain_proof
    forger = Forger(path)
    forger.header["claim" if name == "within" else "problem"][name] = value
    with pytest.raises(_verify.Unreadable) as found:
        verify(forger.save(), X)
    assert "\n" not in str(found.value)


def test_proofs_about_rows_have_neither(tmp_path):
    X = np.random.default_rng(0).standard_normal((9, 4))
    RobustPCA(1, n_outliers=2, proof=tmp_path / "p", random_state=0).fit(X)
    assert verify(tmp_path / "p", X).holds
    header = Forger(tmp_path / "p").header
    more = {"weights": [1.0] * 9, "constraints": [{"kind": "at most", "columns": [0], "m": 1}]}
    for name, value in more.items():
        forged = header | {"problem": header["problem"] | {name: value}}
        with pytest.raises(_verify.Unreadable):
            verify(resealed(tmp_path / "p", forged), X)


def test_copies_count_with_constraints(tmp_path):
    """Columns that the budget makes better than their copies must not be left out."""
    X = np.random.default_rng(0).standard_normal((20, 5))
    X[:, 3] = 2.0 * X[:, 0]
    budget = Budget([9.0, 1.0, 1.0, 1.0, 1.0], 2.0)
    ColumnSelector(constraints=[budget], proof=tmp_path / "p").fit(X)
    assert verify(tmp_path / "p", X).holds
    forger = Forger(tmp_path / "p")
    copies = _verify_guide.Record(_verify._COPIES, 0, np.array([3]))
    assert not verify(forger.save(records=[copies, *forger.records()]), X).holds


def test_a_list_covers_the_node_itself(tmp_path):
    """With constraints the columns that are chosen may be all; no child of a list has only them."""
    X = np.random.default_rng(0).standard_normal((20, 4)) * [1.0, 2.0, 3.0, 9.0]
    ColumnSelector(None, constraints=[Budget([1.0] * 4, 1.0)], proof=tmp_path / "p").fit(X)
    forger = Forger(tmp_path / "p")
    error = errors_of(X, None, None, {}, [(0,)])[0][(0,)]
    forger.header["claim"] |= {"selection": [0], "solutions": [[0]], "errors": [error]}
    forger.header["claim"] |= {"error": error, "lower_bound": error}
    lists = [(0, [0, 1, 2, 3]), (2, [0]), (3, [0, 1]), (4, [0, 1, 2])]
    records = [_verify_guide.Record(_verify._LIST, node, np.array(items)) for node, items in lists]
    verdict = verify(forger.save(records=records), X)
    assert not verdict.holds and "are better" in verdict.statement


def test_a_list_within_a_tolerance_is_complete(tmp_path):
    X = np.random.default_rng(1).standard_normal((20, 7))
    selector = ColumnSelector(3, solution_tol=0.4, proof=tmp_path / "p").fit(X)
    assert len(selector.solutions_) > 2
    verdict = verify(tmp_path / "p", X)
    assert verdict.holds
    assert f"none but the {len(selector.solutions_)} listed ones" in verdict.statement
    for change in ({"within": 0.8}, {"solutions": -1, "errors": -1}):
        forger = Forger(tmp_path / "p")
        claim = forger.header["claim"]
        claim |= {k: v if k == "within" else claim[k][:v] for k, v in change.items()}
        assert not verify(forger.save(), X).holds


# -- the program alone --------------------------------------------------------------------


def test_files_beside_the_program(tmp_path):
    """The core runs with its guide; constraints and weights need one more file each."""
    X = np.random.default_rng(0).standard_normal((12, 5))
    ColumnSelector(2, constraints=[AtMost([0, 1], 1)], proof=tmp_path / "p").fit(
        X, sample_weight=np.arange(12)
    )
    np.save(tmp_path / "X.npy", X)
    home, program = Path(_verify.__file__).parent, tmp_path / "_verify.py"

    def run(file):
        shutil.copy(home / file, tmp_path)
        command = [sys.executable, str(program), str(tmp_path / "p"), str(tmp_path / "X.npy")]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    for file, missing in (
        ("_verify.py", "guide"), ("_verify_guide.py", "rules"), ("_verify_rules.py", "special"),
    ):  # fmt: skip
        alone = run(file)
        assert alone.returncode == 2
        assert alone.stderr == f"A file is missing: put _verify_{missing}.py beside this program.\n"
    every = run("_verify_special.py")
    assert every.returncode == 0, every.stderr
    assert "weighted error" in every.stdout and "obey the constraints (at most)" in every.stdout
