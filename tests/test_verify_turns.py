"""Screening in proofs about rows: judged by enumeration, and by forged files."""

import itertools

import numpy as np
import pytest

from columnist import verify
from columnist._verify_turns import Turns
from columnist.robust import _proven
from tests.examples import examples
from tests.forging import Forger, resealed
from tests.test_verify_rows import error, fit


def problem(rng):
    """Rows along one direction, of which some are far away, or not so far."""
    n, p, k = int(rng.integers(9, 14)), int(rng.integers(2, 5)), int(rng.integers(1, 4))
    X = rng.standard_normal((n, p)) * np.r_[rng.uniform(10, 200), np.full(p - 1, 0.3)]
    far = rng.choice(n, k, replace=False)
    X[far, 1:] += 10.0 ** rng.uniform(-0.5, 2) * rng.choice([-1, 1], (k, p - 1))
    if rng.random() < 0.3:
        X *= 10.0 ** rng.uniform(-3, 3, p)
    return X + rng.choice([0.0, 1e3]), k


def errors_of(X, k, r, centering):
    sets = itertools.combinations(range(len(X)), k)
    return {some: error(X, some, r, centering) for some in sets}


def ends_of(turns):
    s = turns.farthest()
    return s * 0.8 ** np.arange(40) if np.isfinite(s) else np.zeros(0)


@pytest.mark.parametrize("seed", range(examples(100)))
def test_nothing_is_below_the_bounds(seed):
    """Whatever choice the rows are measured from, the best one among them."""
    rng = np.random.default_rng(seed)
    X, k = problem(rng)
    centering = str(rng.choice(["optimal", "none"]))
    errors = errors_of(X, k, 1, centering)
    order = sorted(errors, key=errors.get)
    best = order[0]
    for removed in (best, order[1], order[len(order) // 2]):
        turns = Turns(X, removed, 1, centering == "optimal")
        ends = ends_of(turns)
        assert turns.bounds(ends).min() <= errors[best] * (1 + 1e-9)
        for at, end in enumerate(ends):
            closed = turns.bounds(ends)[: at + 1].min(initial=np.inf)
            if closed <= errors[best] * (1 + 1e-9):  # the best may be among what is closed
                continue
            stay, go = turns.decided(float(end))
            assert not stay[list(best)].any()
            assert set(np.flatnonzero(go)) <= set(best)


def test_far_rows_are_decided():
    """The screening is worth something: it decides rows, and proves choices."""
    decided = proven = 0
    for seed in range(30):
        X, k = problem(np.random.default_rng(seed))
        errors = errors_of(X, k, 1, "optimal")
        best = min(errors, key=errors.get)
        turns = Turns(X, best, 1, True)
        ends = ends_of(turns)
        proven += len(ends) > 0 and turns.bounds(ends).min() >= errors[best] * (1 - 1e-6)
        decided += len(ends) > 0 and any(mask.any() for mask in turns.decided(float(ends[10])))
    assert proven > 2
    assert decided > 5


@pytest.fixture(scope="module")
def screened(tmp_path_factory):
    """Proofs by screening alone, and by screening and blocks, with their problems."""
    found = {False: [], True: []}
    folder = tmp_path_factory.mktemp("proofs")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_proven, "_SETS", 0)
        patch.setattr(_proven, "_FEW", 1)
        for seed in range(60):
            rng = np.random.default_rng(seed)
            X, k = problem(rng)
            centering = str(rng.choice(["optimal", "mean", "none"]))
            path = folder / str(seed)
            fit(path, X, 1, k, centering=centering)
            verdict = verify(path, X)
            assert verdict.holds, (seed, str(verdict))
            if "screening" in verdict.rules:
                by_blocks = "tail sum" in verdict.rules
                found[by_blocks].append((path, X, errors_of(X, k, 1, centering)))
    assert min(map(len, found.values())) > 2
    return found


@pytest.mark.parametrize("blocks", [False, True])
def test_enumeration_decides_every_claim(screened, blocks):
    for path, X, errors in screened[blocks]:
        order = sorted(errors, key=errors.get)
        claim = Forger(path).header["claim"]
        assert claim["lower_bound"] <= errors[order[0]] * (1 + 1e-9)
        for place in (1, 2, 5):
            forger, some, worse = Forger(path), list(order[place]), errors[order[place]]
            if worse < errors[order[0]] * (1 + 1e-6):
                continue
            forger.header["claim"] |= {
                "selection": some, "solutions": [some], "errors": [worse], "error": worse,
                "lower_bound": worse,
            }  # fmt: skip
            assert not verify(resealed(path, forger.header, forger.body), X).holds


def _record(ends):
    head = bytes([5]) + bytes(8) + len(ends).to_bytes(4, "little")
    return head + np.asarray(ends, dtype="<f8").tobytes()


FORGED = {
    "the first interval is left out": lambda ends: ends[1:],
    "no interval": lambda ends: ends[:0],
    "ascending": lambda ends: ends[::-1],
    "below zero": lambda ends: np.append(ends, -1.0),
    "no number": lambda ends: np.append(ends, np.nan),
    "infinite": lambda ends: np.append(np.inf, ends),
}


@pytest.mark.parametrize("name", FORGED)
def test_forged_intervals(screened, name):
    for path, X, _ in screened[False]:
        forger = Forger(path)
        ends = np.frombuffer(forger.body[13:], dtype="<f8")
        if name in ("the first interval is left out", "ascending") and len(ends) == 1:
            continue
        body = _record(FORGED[name](ends))
        assert not verify(resealed(path, forger.header, body), X).holds


def test_rows_that_no_screening_decides_are_in_blocks(screened):
    """The blocks without the screening show nothing."""
    for path, X, _ in screened[True]:
        forger = Forger(path)
        count = int.from_bytes(forger.body[9:13], "little")
        records = sum(forger.header["records"].values())
        body = forger.body[13 + 8 * count :]
        assert not verify(resealed(path, forger.header, body, records - 1), X).holds


def test_many_rows(tmp_path):
    """More rows than blocks could hold, with a bound that is that of the search."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((6000, 8)) * [9, 6, 1, 1, 1, 1, 1, 1]
    X[:10] += 30.0 * rng.standard_normal((10, 8))
    for centering in ("optimal", "mean"):
        model = fit(tmp_path / "p", X, 2, 10, centering=centering)
        verdict = verify(tmp_path / "p", X)
        assert verdict.holds
        assert model.certificate_.status == "optimal"
        assert verdict.rules == {"screening": 1}
        assert verdict.claim["lower_bound"] >= (1 - 1e-8) * model.error_
        changed = X.copy()
        changed[77, 3] = np.nextafter(changed[77, 3], np.inf)
        assert not verify(tmp_path / "p", changed).holds
