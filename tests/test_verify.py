"""Proofs are written and checked; the checker is judged by enumeration, and by forged proofs."""

import ast
import io
import itertools
import re
import struct
import sys
import tokenize
import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import example, given, settings
from hypothesis import strategies as st

import columnist
from columnist import ColumnSelector, _verify, _verify_guide, verify
from columnist.criteria import Nuclear, get_criterion
from columnist.selection import _relaxed, _traced
from tests.forging import Forger

HOME = Path(_verify.__file__).parent
CRITERIA = ["frobenius", "spectral", "nuclear", "schatten:0.5", "schatten:3", "kyfan:2"]


def write(path, X, k, y=None, **options):
    """Fit with a proof, by relaxation even where that is not worth it, and what was fitted."""
    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(_relaxed, "_FEW_TRACED", 0)
        patch.setattr(_relaxed, "_FEW_SETS", 0)
        patch.setattr(_relaxed, "_WORTHWHILE", -np.inf)
        patch.setattr(_relaxed, "_TRACED", _relaxed._Use(3, 300))
        patch.setattr(_traced, "_FEW_TARGETS", _relaxed._Use(3, 300))
        warnings.simplefilter("ignore")
        return ColumnSelector(k, proof=path, **options).fit(X, y)


def best_error(X, k, criterion="frobenius", n_components=0):
    """Least error of all choices, by enumeration."""
    theta = get_criterion(criterion)
    errors = []
    for subset in itertools.combinations(range(X.shape[1]), k):
        Q = np.linalg.qr(X[:, subset])[0]
        # No more than the columns that were not chosen; others are rounding.
        values = np.linalg.svd(X - Q @ (Q.T @ X), compute_uv=False)[: X.shape[1] - k]
        values = values[n_components:]
        errors.append(theta.value(values if len(values) else np.zeros(1)))
    return min(errors)


# -- random problems ------------------------------------------------------------------


def random_problem(rng):
    """Data, target and options of any kind."""
    m, n = int(rng.integers(2, 18)), int(rng.integers(2, 9))
    X = rng.standard_normal((m, n))
    kind = rng.integers(5)
    if kind == 1:
        X = rng.integers(-2, 3, (m, n)).astype(float)
    elif kind == 2:
        X = X @ rng.standard_normal((n, n)) * np.logspace(0, -3, n)
    elif kind == 3:
        X[:, 1] = -2.0 * X[:, 0]
    elif kind == 4:
        X *= 2.0 ** rng.integers(-300, 300)
    X[0, 0] += 1.0 * (not X.any())
    options = {"criterion": str(rng.choice(CRITERIA)) if kind != 4 else "nuclear"}
    if rng.random() < 0.4:
        options["criterion"] = "frobenius" if kind != 4 else "nuclear"
    choices = {
        "n_components": int(rng.integers(1, 3)), "n_solutions": int(rng.integers(2, 5)),
        "centering": "mean", "max_nodes": int(rng.integers(1, 4)), "n_jobs": 2,
        "search": str(rng.choice(["greedy", "weighted", "optimistic", "optimal"])),
        "include": [int(rng.integers(n))], "max_gap": 0.1,
    }  # fmt: skip
    options |= {name: value for name, value in choices.items() if rng.random() < 0.2}
    y = rng.standard_normal((m, int(rng.integers(1, 3)))) if rng.random() < 0.3 else None
    if y is None and kind != 4 and "centering" not in options and rng.random() < 0.2:
        X, options["input"] = X.T @ X, "gram"
    return X, y, int(rng.integers(1, n + 1)), options


def written_and_verified(path, seed):
    X, y, k, options = random_problem(np.random.default_rng(seed))
    selector = write(path, X, k, y, **options)
    verdict = verify(path, X, y=y)
    assert verdict.holds, (seed, options, str(verdict))
    assert sorted(verdict.claim["selection"]) == selector.selected_.tolist()
    return verdict


@pytest.mark.parametrize("seed", range(60))
def test_random_problems(tmp_path, seed):
    written_and_verified(tmp_path / "p", seed)


@pytest.mark.slow
def test_thousands_of_random_problems(tmp_path):
    for seed in range(1000, 4000):
        written_and_verified(tmp_path / "p", seed)


@pytest.mark.parametrize("k", [6, 9, 12])
def test_relaxed_search(tmp_path, k):
    rng = np.random.default_rng(k)
    X = rng.standard_normal((60, 18)) @ rng.standard_normal((18, 18)) * np.linspace(1, 3, 18)
    write(tmp_path / "p", X, k)
    verdict = verify(tmp_path / "p", X)
    assert verdict.holds
    assert verdict.rules["relaxation"] > 0


def test_doors(tmp_path):
    """Frames, sparse matrices and labels; the same numbers in another form are the same data."""
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (20, 6)).astype(float)
    labels = np.array(["a", "b", "c"])[rng.integers(0, 3, 20)]
    write(tmp_path / "p", pandas.DataFrame(X, columns=list("abcdef")), 2)
    assert verify(tmp_path / "p", X).holds
    assert verify(tmp_path / "p", sp.csr_array(X)).holds
    write(tmp_path / "p", sp.csr_array(X), 3, labels)
    assert verify(tmp_path / "p", X, y=labels).holds
    assert not verify(tmp_path / "p", X).holds
    assert not verify(tmp_path / "p", X, y=labels[::-1]).holds


def test_interrupted_search(tmp_path):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((40, 25))
    selector = write(tmp_path / "p", X, 8, callback=lambda progress: progress.expanded > 3)
    assert selector.certificate_.status == "interrupted"
    verdict = verify(tmp_path / "p", X)
    assert verdict.holds
    assert 0.9 * selector.certificate_.lower_bound < verdict.claim["lower_bound"]


def test_fewest_columns(tmp_path):
    X = np.random.default_rng(2).standard_normal((30, 7)) * np.arange(1.0, 8.0)
    selector = write(tmp_path / "p", X, "auto", tol=0.3)
    verdict = verify(tmp_path / "p", X)
    assert verdict.holds
    assert len(verdict.claim["selection"]) == len(selector.selected_)


# -- an oracle of the verdict -----------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), factor=st.floats(0.9, 1.1))
@example(seed=37593, factor=1.0)  # the root of a rounded zero counts under schatten:0.5
def test_enumeration_decides_every_claim(tmp_path_factory, seed, factor):
    """A bound that is claimed holds if and only if no choice is below it, whatever the tree is."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 8))
    X, k = rng.standard_normal((n + 2, n)), int(rng.integers(1, n))
    criterion = str(rng.choice(CRITERIA))
    path = tmp_path_factory.mktemp("proof") / "p"
    write(path, X, k, criterion=criterion)
    forger, best = Forger(path), best_error(X, k, criterion)
    order = [int(i) for i in rng.permutation(n)[:k]]
    claimed = forger.header["claim"]
    Q = np.linalg.qr(X[:, order])[0]
    values = np.linalg.svd(X - Q @ (Q.T @ X), compute_uv=False)[: n - k]
    error = float(get_criterion(criterion).value(values))
    claimed |= {"selection": order, "solutions": [order], "errors": [error], "error": error}
    claimed |= {"lower_bound": min(factor * best, error), "complete": False}
    true = claimed["lower_bound"] <= best * (1 + 1e-10)
    near = abs(claimed["lower_bound"] - best) < 1e-8 * best
    for records in (None, []):
        if not near or true:
            assert verify(forger.save(records=records), X).holds == true


# -- forged proofs ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    """A proof by relaxation, with all kinds of records that such a one has."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((50, 17)) @ (rng.standard_normal((17, 17)) * np.linspace(0.3, 3, 17))
    path = tmp_path_factory.mktemp("proof") / "p"
    write(path, X, 7)
    assert verify(path, X).holds
    return path, X


def with_claim(**changes):
    return lambda forger, X: forger.header["claim"].update(changes)


def with_problem(**changes):
    return lambda forger, X: forger.header["problem"].update(changes)


def _raise_bound(forger, X):
    claim = forger.header["claim"]
    claim["lower_bound"] = claim["error"] = claim["error"] * 1.001
    claim["errors"] = [claim["error"]]


def _lower_error(forger, X):
    claim = forger.header["claim"]
    claim["error"] = claim["lower_bound"] = claim["error"] * (1 - 1e-7)
    claim["errors"] = [claim["error"]]


def _bound_above_error(forger, X):
    claim = forger.header["claim"]
    claim.update(complete=False, lower_bound=claim["error"] * 1.01)


def _another_selection(forger, X):
    claim = forger.header["claim"]
    others = [i for i in range(X.shape[1]) if i not in claim["selection"]]
    claim["selection"] = claim["solutions"][0] = [others[0], *claim["selection"][1:]]


def _worse_selection(forger, X):
    """Another selection with its own error, which is claimed to be the best."""
    _another_selection(forger, X)
    claim = forger.header["claim"]
    Q = np.linalg.qr(X[:, claim["selection"]])[0]
    claim["error"] = claim["lower_bound"] = float(((X - Q @ (Q.T @ X)) ** 2).sum())
    claim["errors"] = [claim["error"]]


def _second_solution(forger, X):
    """The second place for a set that is not the second best."""
    claim = forger.header["claim"]
    worst = sorted(range(X.shape[1]), key=lambda i: np.linalg.norm(X[:, i]))[:7]
    Q = np.linalg.qr(X[:, worst])[0]
    claim["solutions"] = [claim["selection"], worst]
    claim["errors"] = [claim["error"], float(((X - Q @ (Q.T @ X)) ** 2).sum())]


def _fewer_columns(forger, X):
    claim, problem = forger.header["claim"], forger.header["problem"]
    problem["size"] -= 1
    claim["selection"] = claim["solutions"][0] = claim["selection"][:-1]


def _excluded(forger, X):
    forger.header["problem"]["exclude"] = [forger.header["claim"]["selection"][0]]


def _included(forger, X):
    left = set(range(X.shape[1])) - set(forger.header["claim"]["selection"])
    forger.header["problem"]["include"] = [min(left)]


def _shape(forger, X):
    forger.header["problem"]["shape"] = [X.shape[0] + 1, X.shape[1]]


CLAIMS = {
    "bound raised": _raise_bound,
    "bound above the error": _bound_above_error,
    "error lowered": _lower_error,
    "column renamed": _another_selection,
    "worse selection": _worse_selection,
    "second solution invented": _second_solution,
    "k changed": _fewer_columns,
    "selection excluded": _excluded,
    "column included": _included,
    "criterion changed": with_problem(criterion="nuclear"),
    "components added": with_problem(n_components=1),
    "centred": with_problem(centering="mean"),
    "gram": with_problem(input="gram"),
    "shape": _shape,
    "hash": with_problem(data="0" * 64),
    "target": with_problem(target="numbers"),
}


@pytest.mark.parametrize("name", CLAIMS)
def test_forged_claims(example, name):
    path, X = example
    forger = Forger(path)
    CLAIMS[name](forger, X)
    verdict = verify(forger.save(), X)
    assert not verdict.holds
    assert str(verdict).startswith("Refuted: ")


def _of_kind(records, kind):
    return [i for i, record in enumerate(records) if record.kind == kind]


def _rename_node(records, rng):
    at = int(rng.integers(len(records)))
    records[at] = records[at]._replace(node=10**6)


def _expand_twice(records, rng):
    at = int(rng.integers(len(records)))
    records.insert(at, records[at])


def _foreign_branch(records, rng):
    at = int(rng.choice(_of_kind(records, _verify._BRANCH)))
    records[at] = records[at]._replace(items=np.array([10**6]))


def _short_coefficients(records, rng):
    at = int(rng.choice([i for i, record in enumerate(records) if record.z is not None]))
    records[at] = records[at]._replace(z=records[at].z[1:])


def _foreign_item(records, rng):
    records.insert(0, _verify_guide.Record(_verify._LIST, 0, np.array([0, 1, 99])))


def _repeated_item(records, rng):
    records.insert(0, _verify_guide.Record(_verify._LIST, 0, np.array([0, 1, 1])))


def _invented_copies(records, rng):
    records.insert(0, _verify_guide.Record(_verify._COPIES, 0, np.array([int(rng.integers(17))])))


def _late_copies(records, rng):
    records.append(_verify_guide.Record(_verify._COPIES, 0, np.array([1])))


def _too_many_fixed(records, rng):
    at = int(rng.choice(_of_kind(records, _verify._SHRINK)))
    ones = np.ones(len(records[at].items), dtype=np.uint8)
    records[at] = records[at]._replace(items=ones)


TREES = [
    _rename_node, _expand_twice, _foreign_branch, _short_coefficients, _foreign_item,
    _repeated_item, _invented_copies, _late_copies, _too_many_fixed,
]  # fmt: skip


@pytest.mark.parametrize("forge", TREES)
@pytest.mark.parametrize("seed", range(5))
def test_forged_trees(example, forge, seed):
    path, X = example
    forger = Forger(path)
    records = forger.records()
    forge(records, np.random.default_rng(seed))
    assert not verify(forger.save(records=records), X).holds


def _drop_everything(records, good):
    """The root without the columns of the best set, as if a relaxation had dropped them."""
    marks = np.where(np.isin(np.arange(17), good), 2, 0).astype(np.uint8)
    return [_verify_guide.Record(_verify._SHRINK, 0, marks, np.full(17, 0.5))]


def _fix_bad(records, good):
    """The root with a column fixed that the best set does not have."""
    bad = next(i for i in range(17) if i not in good)
    marks = (np.arange(17) == bad).astype(np.uint8)
    return [_verify_guide.Record(_verify._SHRINK, 0, marks, np.full(17, 0.5))]


def _close_the_root(records, good):
    return [_verify_guide.Record(_verify._CLOSE, 0, np.zeros(0, dtype=np.uint8), np.full(17, 0.5))]


def _garbage(records, good):
    rng = np.random.default_rng(0)
    return [r if r.z is None else r._replace(z=rng.uniform(1e-5, 1.0, len(r.z))) for r in records]


def _short_list(records, good):
    return [_verify_guide.Record(_verify._LIST, 0, np.setdiff1d(np.arange(17), good[:1]))]


@pytest.mark.parametrize(
    "forge", [_drop_everything, _fix_bad, _close_the_root, _garbage, _short_list]
)
def test_unjustified_steps_hide_nothing(example, forge):
    """With the best set hidden from the claim, no tree makes the second best one the best."""
    path, X = example
    forger = Forger(path)
    good = sorted(forger.header["claim"]["selection"])
    records = forge(forger.records(), good)
    _worse_selection(forger, X)
    assert not verify(forger.save(records=records), X).holds


def test_every_leaf_counts(example):
    """Without some records the checker has more to show by itself, and the claim is still true."""
    path, X = example
    forger = Forger(path)
    assert verify(forger.save(records=forger.records()[:2]), X).holds


def test_last_digit_of_the_data(example):
    path, X = example
    for seed in range(50):
        rng = np.random.default_rng(seed)
        changed = X.copy()
        at = tuple(rng.integers(X.shape))
        changed[at] = np.nextafter(changed[at], np.inf)
        assert not verify(path, changed).holds


def test_pool_without_its_second_set(tmp_path):
    X = np.random.default_rng(8).standard_normal((20, 7))
    write(tmp_path / "p", X, 3, n_solutions=4)
    assert verify(tmp_path / "p", X).holds
    forger = Forger(tmp_path / "p")
    claim = forger.header["claim"]
    del claim["solutions"][1], claim["errors"][1]
    assert not verify(forger.save(), X).holds


def test_near_copies_and_dominating_directions(tmp_path):
    """Data that drown bounds in rounding: a claim that is off by more than the tolerance is found
    out, and one that holds is never proven wrong by it."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((30, 6))
    X[:, 3] = X[:, 0] * (1 + 1e-15 * rng.standard_normal(30))
    X[:, 4] = X[:, 1] + 1e-9 * rng.standard_normal(30)
    X[:, 5] = 1e6 * rng.standard_normal(30)
    write(tmp_path / "p", X, 3)
    forger = Forger(tmp_path / "p")
    best = best_error(X, 3)
    forger.header["claim"]["lower_bound"] = 0.0
    forger.header["claim"]["complete"] = False
    assert verify(forger.save(), X).holds
    _worse = forger.header["claim"]
    _worse.update(lower_bound=best * 1.01, error=best * 1.01, errors=[best * 1.01])
    assert not verify(forger.save(), X).holds


# -- files that are no proofs -------------------------------------------------------------


def test_truncated_anywhere(example, tmp_path):
    path, X = example
    content = path.read_bytes()
    for cut in np.linspace(0, len(content) - 1, 40).astype(int):
        (tmp_path / "p").write_bytes(content[:cut])
        with pytest.raises(_verify.Unreadable):
            verify(tmp_path / "p", X)


def test_flipped_bits(example, tmp_path):
    """Damage is refused, or refuted; it never passes for another claim."""
    path, X = example
    content = path.read_bytes()
    rng = np.random.default_rng(0)
    for _ in range(100):
        changed = bytearray(content)
        changed[rng.integers(len(content))] ^= 1 << int(rng.integers(8))
        (tmp_path / "p").write_bytes(bytes(changed))
        try:
            assert not verify(tmp_path / "p", X).holds
        except _verify.Unreadable:
            pass


@pytest.mark.parametrize(
    "content",
    [
        b"", b"\n", b"null\n", b"[]\n", b"{}\n", b"\xff\xfe\n", b"[" * 10**5 + b"\n",
        b'{"format": "columnist proof", "version": 1}\n',
        b'{"format": "columnist proof", "version": 2, "problem": 3, "claim": {}}\n',
        b"0" * 10**6,
    ],
)  # fmt: skip
def test_no_proofs(tmp_path, content):
    (tmp_path / "p").write_bytes(content)
    with pytest.raises(_verify.Unreadable, match="proof"):
        verify(tmp_path / "p", np.eye(3))


@pytest.mark.parametrize(
    ("part", "key", "value"),
    [
        ("problem", "size", -1), ("problem", "size", 1e300), ("problem", "size", 10**9),
        ("problem", "criterion", "os.system"), ("problem", "criterion", "schatten:nan"),
        ("problem", "shape", [10**9, 10**9, 3]), ("problem", "include", [[]]),
        ("problem", "shift", "x"), ("claim", "selection", [0, 0, 1, 2, 3, 4, 5]),
        ("claim", "selection", [10**6] * 7), ("claim", "errors", []),
        ("claim", "error", "nan"), ("claim", "complete", 1),
    ],
)  # fmt: skip
def test_senseless_headers(example, part, key, value):
    path, X = example
    forger = Forger(path)
    forger.header[part][key] = value
    with pytest.raises(_verify.Unreadable):
        verify(forger.save(), X)


def test_bombs(example, tmp_path):
    """Long records, and much from a few bytes, end soon."""
    path, X = example
    forger = Forger(path)
    forger.body = struct.pack("<BQI", 1, 0, 2**32 - 1)
    with pytest.raises(_verify.Unreadable, match="too long"):
        verify(forger.save(), X)
    forger.body = bytes([2]) + bytes(10**7)
    with pytest.raises(_verify.Unreadable):
        verify(forger.save(), X)


# -- the checker itself -------------------------------------------------------------------


@pytest.mark.parametrize("name", ["", "_guide", "_rules", "_special"])
def test_imports(name):
    """The checker needs NumPy and the standard library alone; three files may lie beside it."""
    tree = ast.parse((HOME / f"_verify{name}.py").read_text(encoding="utf-8"))
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {name.name.partition(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            found |= {str(node.module).partition(".")[0]}
    assert found <= {*sys.stdlib_module_names, "numpy"}
    assert ("importlib" in found) == (not name)


def test_files_beside():
    """What the core loads by name: three files, whose names are written out."""
    tree = ast.parse((HOME / "_verify.py").read_text(encoding="utf-8"))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    loads = [node.args for node in calls if ast.unparse(node.func) == "beside"]
    assert {ast.literal_eval(name) for (name,) in loads} == {
        "_verify_guide", "_verify_rules", "_verify_special",
    }  # fmt: skip
    assert sum("import_module" in ast.unparse(node.func) for node in calls) == 1


def lines_of_code(name):
    """Lines of a file that hold code: no comments, documentation or empty lines."""
    source, counted = (HOME / name).read_text(encoding="utf-8"), set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in (tokenize.NAME, tokenize.OP, tokenize.NUMBER, tokenize.STRING):
            counted |= set(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                counted -= set(range(first.lineno, first.end_lineno + 1))
    return len(counted)


def test_lines_of_the_core():
    """What has to be read to trust a verdict: one file, all of it; the page says how long it is."""
    page = Path(__file__).parents[1] / "docs" / "user_guide" / "proofs.rst"
    table = re.findall(r"^``(_verify\w*\.py)`` +(\d+) ", page.read_text(encoding="utf-8"), re.M)
    assert {name: lines_of_code(name) for name, _ in table} == {n: int(c) for n, c in table}
    assert len(table) == 8
    assert lines_of_code("_verify.py") <= 635


def test_runs_alone(example, tmp_path, capsys):
    path, X = example
    np.save(tmp_path / "X.npy", X)
    np.savetxt(tmp_path / "X.csv", X, delimiter=",", fmt="%.17g", header="a", comments="x")
    for name in ("X.npy", "X.csv"):
        assert _verify.main([str(path), str(tmp_path / name)]) == 0
    np.save(tmp_path / "X.npy", X + 1)
    assert _verify.main([str(path), str(tmp_path / "X.npy")]) == 1
    assert _verify.main([str(tmp_path / "X.npy"), str(tmp_path / "X.npy")]) == 2
    assert "no proof" in capsys.readouterr().err


def test_what_cannot_be_proven(tmp_path):
    X = np.random.default_rng(0).standard_normal((9, 4))

    class Mine(Nuclear):
        pass

    with pytest.raises(ValueError, match="a criterion with a name"):
        write(tmp_path / "p", X, 2, criterion=Mine())
    with pytest.raises(ValueError, match="reduction='exact'"):
        write(tmp_path / "p", X, 2, reduction="randomized")
    with pytest.raises(ValueError, match="no folder"):
        write(tmp_path / "none" / "p", X, 2)
    assert list(tmp_path.iterdir()) == []


def test_dask_is_refused(tmp_path):
    dask = pytest.importorskip("dask.array")
    X = dask.from_array(np.random.default_rng(0).standard_normal((50, 4)), chunks=(10, 4))
    with pytest.raises(ValueError, match="data in memory"):
        write(tmp_path / "p", X, 2)


def test_public_name():
    assert columnist.verify is verify
