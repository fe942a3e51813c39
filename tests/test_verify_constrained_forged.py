"""Forged proofs with weights and constraints: enumeration says which of them are true."""

import warnings
from collections import Counter

import numpy as np
import pytest

from columnist import ColumnSelector, verify
from columnist.constraints import AtMost, Budget, Groups, Requires
from tests.forging import Forger
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
