"""Forged proofs: claims that were once believed, many mutations, and bytes at random."""

import itertools
import json
import time
import warnings
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from columnist import ColumnSelector, _verify, _verify_guide, verify
from columnist._verify import Refuted
from columnist.criteria import get_criterion
from columnist.robust import RobustPCA
from tests import test_verify as forgeries
from tests.forging import Forger, resealed
from tests.soak.known import known_cases


def refused(path, X, y=None):
    """Whether a file is refuted, or found to be none."""
    try:
        return not verify(path, X, y=y).holds
    except _verify.Unreadable:
        return True


# -- false proofs that rounding once produced -----------------------------------------------


def exact_errors(X, y, k, center):
    """Errors in rational arithmetic of all sets that count: in which others leave nothing of a
    column, or more than 1e-13 of it."""
    target = X if y is None else y.reshape(len(y), -1)
    Z = [[Fraction(float(v)) for v in row] for row in np.hstack([X, target])]
    m, n = len(Z), X.shape[1]
    if center:
        means = [sum(column) / m for column in zip(*Z, strict=True)]
        Z = [[v - mean for v, mean in zip(row, means, strict=True)] for row in Z]
    columns = list(zip(*Z, strict=True))
    G = [[sum(a * b for a, b in zip(u, v, strict=True)) for v in columns] for u in columns]
    errors = {}
    for subset in itertools.combinations(range(n), k):
        if any(0 < height(G, subset, i) <= Fraction(1e-13) ** 2 * G[i][i] for i in subset):
            continue
        names = [*subset, *range(n, len(G))]
        M = [[G[i][j] for j in names] for i in names]
        for i in range(k):
            for row in M[i + 1 :] if M[i][i] else []:
                ratio = row[i] / M[i][i]
                row[:] = [a - ratio * b for a, b in zip(row, M[i], strict=True)]
        errors[subset] = float(sum(M[i][i] for i in range(k, len(M))))
    return errors


def height(G, subset, last):
    """Squared length of what the other columns of a set leave of one."""
    names = [*(i for i in subset if i != last), last]
    M = [[G[i][j] for j in names] for i in names]
    for i in range(len(names) - 1):
        for row in M[i + 1 :] if M[i][i] else []:
            ratio = row[i] / M[i][i]
            row[:] = [a - ratio * b for a, b in zip(row, M[i], strict=True)]
    return M[-1][-1]


def small_known_cases():
    for case in known_cases():
        plain = case.criterion == "frobenius" and not set(case.options) - {"centering"}
        dense = case.form in ("csr", "dense") and isinstance(case.X, np.ndarray)
        if case.task == "select" and plain and dense and case.X.size <= 150:
            yield case


CASES = list(small_known_cases())


def test_there_are_such_cases():
    kinds = {case.kind for case in CASES}
    assert len(CASES) > 50
    assert {"known: sparse near copies", "known: sparse offsets"} <= kinds


@pytest.mark.parametrize("at", range(len(CASES)))
def test_false_proofs_that_rounding_once_produced(tmp_path, at):
    """A set that is not the best one, claimed to be, with the tree of the search and without."""
    case = CASES[at]
    X = sp.csr_array(case.X) if case.form == "csr" else case.X
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ColumnSelector(case.size, proof=tmp_path / "p", **case.options).fit(X, case.y)
    verdict = verify(tmp_path / "p", X, y=case.y)
    center = case.options.get("centering") == "mean"
    y = case.y
    if y is not None and np.asarray(y).dtype.kind in "US":
        y = (np.asarray(y)[:, None] == np.unique(y)).astype(float)
    errors = exact_errors(case.X, y, case.size, center)
    best = min(errors.values())
    total = float(((case.X if y is None else y) ** 2).sum())
    told_apart = best + 1e-8 * best + 1e-11 * total
    assert verdict.holds
    assert verdict.claim["lower_bound"] <= told_apart
    for subset in sorted(errors, key=errors.get)[1:8]:
        if errors[subset] <= told_apart:
            continue
        forger = Forger(tmp_path / "p")
        error, columns = errors[subset], list(subset)
        forger.header["claim"] |= {
            "selection": columns, "solutions": [columns], "error": error, "errors": [error],
            "lower_bound": error, "complete": False,
        }  # fmt: skip
        assert refused(forger.save(), X, case.y)
        assert refused(forger.save(records=[]), X, case.y)


# -- mutations --------------------------------------------------------------------------------

COLUMN_MUTATIONS = len(forgeries.CLAIMS) + len(forgeries.TREES)


def test_there_are_twenty_kinds():
    assert COLUMN_MUTATIONS + len(ROW_MUTATIONS) >= 20


def mutated(path, X, rng):
    """Every mutation of one proof that there is something to mutate for."""
    for change in forgeries.CLAIMS.values():
        forger = Forger(path)
        change(forger, X)
        yield change, forger.save()
    for change in forgeries.TREES:
        forger = Forger(path)
        records = forger.records()
        try:
            change(records, rng)
        except (ValueError, IndexError):  # no record of that kind
            continue
        yield change, forger.save(records=records)


def check_mutations(tmp_path, seeds):
    counts: dict[object, int] = {}
    for seed in seeds:
        rng = np.random.default_rng(seed)
        n = int(rng.integers(17, 20))
        X = rng.standard_normal((40, n)) @ (rng.standard_normal((n, n)) * np.linspace(0.3, 3, n))
        forgeries.write(tmp_path / "p", X, 7)
        assert verify(tmp_path / "p", X).holds
        for change, path in mutated(tmp_path / "p", X, rng):
            assert refused(path, X), (seed, change)
            counts[change] = counts.get(change, 0) + 1
        changed = X.copy()
        at = tuple(rng.integers(X.shape))
        changed[at] = np.nextafter(changed[at], np.inf)
        assert refused(tmp_path / "p", changed)
    return counts


def test_mutations(tmp_path):
    assert len(check_mutations(tmp_path, range(2))) == COLUMN_MUTATIONS


@pytest.mark.slow
def test_hundreds_of_mutations(tmp_path):
    assert min(check_mutations(tmp_path, range(100, 350)).values()) >= 200


# -- rows ---------------------------------------------------------------------------------


def _with_claim(**factors):
    def change(header, body):
        claim = header["claim"]
        for key, factor in factors.items():
            old = claim[key]
            claim[key] = [factor * old[0]] if isinstance(old, list) else factor * old
        return body

    return change


def _other_rows(header, body):
    claim = header["claim"]
    new = min(set(range(header["problem"]["shape"][0])) - set(claim["selection"]))
    claim["selection"] = [new, *claim["selection"][1:]]
    claim["solutions"] = [claim["selection"]]
    return body


def _with_problem(**changes):
    def change(header, body):
        header["problem"] |= changes
        return body

    return change


def _longer_rows(header, body):
    """Rows that are made longer."""
    n, p = header["problem"]["shape"]
    d = int.from_bytes(body[9:13], "little")
    start = 13 + 8 * (d * p + p + 1)
    scales = np.frombuffer(body[start : start + 8 * n]) * 1.5
    return body[:start] + scales.tobytes() + body[start + 8 * n :]


ROW_MUTATIONS = {
    "bound raised": _with_claim(lower_bound=1 + 1e-6), "rows renamed": _other_rows,
    "error lowered": _with_claim(error=0.999, errors=0.999, lower_bound=0.999),
    "error and bound raised": _with_claim(error=1.001, errors=1.001, lower_bound=1.001),
    "fewer components": _with_problem(n_components=0),
    "criterion": _with_problem(criterion="nuclear"),
    "centred otherwise": _with_problem(centering="none"), "hash": _with_problem(data="0" * 64),
    "rows stretched": _longer_rows,
}  # fmt: skip


@pytest.fixture(scope="module")
def row_proofs(tmp_path_factory):
    """Proofs by blocks."""
    found = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((60, 5)) * [4, 3, 1, 1, 0.5]
        X[:6] += 6.0 * rng.standard_normal((6, 5))
        path = tmp_path_factory.mktemp("proof") / "p"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            RobustPCA(2, n_outliers=7, proof=path, random_state=0).fit(X)
        assert verify(path, X).holds
        found.append((path, X))
    return found


@pytest.mark.parametrize("name", ROW_MUTATIONS)
def test_mutations_of_row_proofs(row_proofs, name):
    for path, X in row_proofs:
        forger = Forger(path)
        body = ROW_MUTATIONS[name](forger.header, forger.body)
        assert refused(resealed(path, forger.header, body), X)


def test_the_second_best_rows_are_no_proof(row_proofs):
    """With another set claimed, its true error, and the blocks of the search."""
    for path, X in row_proofs:
        header = json.loads(path.read_bytes().partition(b"\n")[0])
        claim, rng = header["claim"], np.random.default_rng(0)
        for _ in range(20):
            rows = list(claim["selection"])
            rows[int(rng.integers(7))] = int(rng.choice(np.setdiff1d(np.arange(60), rows)))
            kept = np.delete(X, rows, axis=0)
            error = float((np.linalg.svd(kept - kept.mean(axis=0))[1][2:] ** 2).sum())
            if error <= claim["error"] * (1 + 1e-6):
                continue
            other = {"selection": rows, "solutions": [rows], "errors": [error]}
            forged = header | {"claim": claim | other | {"error": error, "lower_bound": error}}
            assert refused(resealed(path, forged), X)


# -- bytes --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def content(tmp_path_factory):
    X = np.random.default_rng(5).standard_normal((30, 10)) * 1.6 ** np.arange(10)
    path = tmp_path_factory.mktemp("proof") / "p"
    forgeries.write(path, X, 5)
    return path, X


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_random_records(content, data):
    """Whatever stands between a good first line and a good end: one line, soon."""
    path, X = content
    forger = Forger(path)
    forger.body = data.draw(
        st.one_of(
            st.binary(max_size=400),
            st.builds(
                lambda body, at, junk: body[:at] + junk + body[at + len(junk) :],
                st.just(forger.body), st.integers(0, max(len(forger.body) - 1, 0)),
                st.binary(min_size=1, max_size=8),
            ),
        )
    )  # fmt: skip
    started = time.process_time()
    try:
        verdict = verify(forger.save(), X)
        assert "\n" not in str(verdict)
        if verdict.holds:  # then the claim, which is true, was shown all the same
            assert verdict.claim["complete"]
    except _verify.Unreadable as problem:
        assert "proof" in str(problem)
        assert "\n" not in str(problem)
    assert time.process_time() - started < 30.0


@settings(max_examples=200, deadline=None)
@given(junk=st.binary(max_size=300))
def test_random_files(tmp_path_factory, junk):
    path = tmp_path_factory.mktemp("junk") / "p"
    path.write_bytes(junk)
    with pytest.raises(_verify.Unreadable, match="no proof"):
        verify(path, np.eye(3))


def test_no_code_is_ever_executed():
    """Nothing in the reading modules can run what a file holds."""
    import ast
    from pathlib import Path

    home = Path(_verify.__file__).parent
    others = ("guide", "rules", "special", "rows", "turns", "exact", "leaves")
    for name in ("_verify.py", "_verification.py", *(f"_verify_{part}.py" for part in others)):
        tree = ast.parse((home / name).read_text(encoding="utf-8"))
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        assert not names & {"eval", "exec", "pickle", "marshal", "__import__", "compile"}


# -- proposals ----------------------------------------------------------------------------


class Hostile:
    """Proposes anything at all, or what is good with a part of it changed."""

    def __init__(self, rng):
        self.rng, self.good = rng, _verify_guide.Guide(1.0)

    def some(self, shape):
        """Numbers of any size, now and then none, or of another shape."""
        sizes = 10.0 ** self.rng.integers(-300 if self.rng.random() < 0.2 else -3, 4, shape)
        values = self.rng.standard_normal(shape) * sizes
        if self.rng.random() < 0.1:
            values = np.where(
                self.rng.random(shape) < 0.1, self.rng.choice([np.nan, np.inf]), values
            )
        return values[: -1 if self.rng.random() < 0.02 else None]

    def changed(self, values):
        """Something good, or changed a little, in some places, or altogether."""
        kind, values = self.rng.integers(4), np.array(values, dtype=float)
        if kind == 0:
            return self.some(values.shape)
        if kind == 1:
            return values * (1.0 + 0.1 * self.rng.standard_normal(values.shape))
        return (
            values * self.rng.choice([-1.0, 0.0, 1.0, 1e3], values.shape) if kind == 2 else values
        )

    def frame(self, K, c, left):
        D, Y, s = self.good.frame(K, c, left)
        Y = Y if Y is None or self.rng.random() < 0.5 else self.changed(Y)
        return abs(self.changed(D)), Y, float(self.changed([s])[-1:].sum())

    def coefficients(self, D, P, Y, left, z):
        for B in itertools.islice(self.good.coefficients(D, P, Y, left, None), 3):
            yield self.changed(B)

    def order(self, bound, left):
        n = len(bound.into)
        kind = self.rng.integers(5)
        if kind == 0:
            return self.rng.integers(-2, n + 2, self.rng.integers(4))
        return self.rng.permutation(n)[: self.rng.integers(1, n + 1) if kind < 3 else n]


def hostile_records(rng, n):
    """Records of any kind about nodes that are likely to be there."""
    count = 1
    for _ in range(int(rng.integers(8))):
        kind, node = int(rng.integers(1, 6)), int(rng.integers(count))
        items, z = rng.integers(-1, n + 1, int(rng.integers(n + 1))), None
        if kind in (_verify._LIST, _verify._BRANCH) and rng.random() < 0.8:
            items = rng.permutation(n)[: int(rng.integers(1, n + 1))]
        if kind in (_verify._SHRINK, _verify._CLOSE):
            items, z = rng.choice([0, 0, 0, 1, 2, 3], n), rng.uniform(1e-5, 1.0, n)
        count += len(items) + 1
        yield _verify_guide.Record(kind, node, items, z)


def check_proposals(seed):
    """Whether what a hostile guide led to was confirmed: only of claims that are true."""
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(6, 10)), int(rng.integers(2, 6))
    X = rng.standard_normal((12, n)) @ (np.eye(n) + rng.standard_normal((n, n)))
    y = X @ rng.standard_normal((n, 2)) + rng.standard_normal((12, 2)) if seed % 2 else None
    criterion = "nuclear" if seed % 7 == 0 else "frobenius"
    target = X if y is None else y
    bases = {s: np.linalg.qr(X[:, s])[0] for s in itertools.combinations(range(n), k)}
    value = get_criterion(criterion).value
    errors = {
        s: float(value(np.linalg.svd(target - Q @ (Q.T @ target), compute_uv=False)))
        for s, Q in bases.items()
    }  # fmt: skip
    ranked = sorted(errors, key=errors.__getitem__)
    claimed = ranked[int(rng.integers(3)) if rng.random() < 0.8 else 0]
    error, best = errors[claimed], errors[ranked[0]]
    bound = error if rng.random() < 0.7 else best * rng.uniform(0.5, 1.3)
    bound = min(bound, error)
    claim = {"selection": list(claimed), "solutions": [list(claimed)], "errors": [error]}
    claim |= {"error": error, "lower_bound": bound, "complete": bound == error, "within": None}
    problem = {
        "kind": "columns", "shape": list(X.shape), "data": _verify.data_hash(X),
        "target": "X" if y is None else "numbers", "weights": None, "size": k, "n_components": 0,
        "target_data": None if y is None else _verify.data_hash(y), "criterion": criterion,
        "centering": "none", "input": "data", "include": [], "exclude": [], "constraints": [],
        "shift": 1.0, "alpha": 0.0,
    }  # fmt: skip
    header = {"problem": problem, "claim": claim}
    assert _verify._makes_sense(problem, claim)
    rules = _verify.begin(header, X, y)
    rules.guide = Hostile(rng)
    try:
        _verify.check_claim(rules, header)
        rules.confirm(_verify.tasks(header, rules, hostile_records(rng, n)))
    except (Refuted, ValueError, IndexError):
        return False, bound <= best * (1.0 + 1e-9)
    assert bound <= best * (1.0 + 1e-8), seed
    return True, True


@pytest.mark.parametrize(
    "first", [0, *(pytest.param(i, marks=pytest.mark.slow) for i in range(1, 10))]
)
def test_hostile_proposals(monkeypatch, first):
    """Whatever is proposed, a false claim is never confirmed, and now and then a true one is."""
    monkeypatch.setattr(_verify, "MOST_NODES", 60)
    found = Counter(check_proposals(seed) for seed in range(300 * first, 300 * (first + 1)))
    assert found[True, True] > 10 and found[False, False] > 50, found
