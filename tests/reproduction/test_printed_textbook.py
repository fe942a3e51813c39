"""The printed greedy and weighted figures, and the theorems, with the textbook oracle.

The printed weighted searches add up plain sums over eigenvalues: squared
Frobenius, the Schatten sum without its root, and the *square* of the spectral
norm. With these keys every cell is reproduced but those of ``DIFFERENT``.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations

import numpy as np
import pytest

from columnist.criteria import Criterion, Frobenius, KyFan, Nuclear, Schatten, Spectral
from columnist.selection import ExchangeSelector
from reproduction.cells import agrees, last_unit
from reproduction.column_tables import WEIGHTS, WRONG, Key, key_of
from reproduction.example_tables import small_matrix
from reproduction.printed import printed
from tests.examples import slow_if
from tests.oracles.brute_force import best_subsets, residual_singular_values, subset_error
from tests.oracles.textbook import (
    Search,
    TextbookResult,
    optimistic_search,
    pivoted_qr_error,
    textbook_astar,
    textbook_search,
)
from tests.real_data import load_libras, load_vehicle, load_wdbc
from tests.reproduction.conventions import CRITERIA, DATASETS, KEYS, from_key

Cell = tuple[str, str, int, str, str]
XU_5_3, HE_3_1 = printed("xu-5.3"), printed("he-3.1")

# Cells that run, but for too long here: expanded nodes and recomputed figure.
SLOW: dict[tuple[str, int, str, str], tuple[int, float | None]] = {
    ("spectf", 4, "nuclear", "0.2"): (3134, 4029.171),
    ("spectf", 4, "schatten:0.5", "0.2"): (4376, 385.7294),
    ("spectf", 5, "nuclear", "0.2"): (19042, 3814.142),
    ("spectf", 5, "schatten:0.5", "0.2"): (20000, None),
    ("libras", 3, "schatten:0.5", "0.2"): (396, 53.91384),
}

ZEROS = (
    "the print counts the square roots of numerically zero eigenvalues, which for"
    " p = 0.5 add about 0.01; without them the figure is smaller"
)
LAST_DIGITS = (
    "differs by less than 2e-4 of its size and no subset in reach has the printed"
    " figure; the other spectral rows agree, so this is taken for rounding in the source"
)

# Cells that the textbook search does not reproduce: recomputed figure and reason.
DIFFERENT: dict[Cell, tuple[float, str]] = {
    ("xu", "spectf", 4, "frobenius", "0.8"): (
        579680.08,
        "prints the optimum again; neither pruning, nor the root of the norm,"
        " nor the other width of the data gives it at this weight",
    ),
    ("xu", "libras", 3, "schatten:0.5", "0.8"): (53.91384, ZEROS),
    ("xu", "libras", 4, "schatten:0.5", "0.8"): (50.74435, ZEROS),
    ("he", "spectf", 15, "spectral", "0.2"): (152.0938, LAST_DIGITS),
    ("he", "spectf", 15, "spectral", "0.4"): (151.8094, LAST_DIGITS),
    ("he", "spectf", 15, "spectral", "0.8"): (165.39996, LAST_DIGITS),
}


def weighted_cells() -> list[tuple[Cell, str]]:
    """Every printed weighted figure that runs in a few seconds."""
    cells = []
    for document, rows in (("xu", XU_5_3), ("he", HE_3_1)):
        for row in rows:
            key = key_of(row)
            cells += [
                ((document, *key, eps), row[eps])
                for eps in WEIGHTS
                if row[eps] and (*key, eps) not in SLOW
            ]
    return cells


# Searches that take a second or more.
LONG = {
    ("spectf", 15, "spectral", "0.2"),
    ("libras", 4, "schatten:0.5", "0.2"),
    ("spectf", 5, "frobenius", "0.2"),
}
WEIGHTED = [
    pytest.param(cell, figure, marks=slow_if(cell[1:] in LONG)) for cell, figure in weighted_cells()
]


def optimum(dataset: str, k: int, criterion: str) -> float | None:
    """A value that the optimum, measured in ``KEYS``, does not exceed by rounding."""
    for rows in (XU_5_3, HE_3_1):
        for row in rows:
            if key_of(row) == (dataset, k, criterion) and row["optimal"]:
                value = float(row["optimal"]) + last_unit(row["optimal"])
                return value**2 if criterion == "spectral" else value
    return None


@lru_cache
def best_known(dataset: str, k: int, criterion: str) -> float:
    """Least error of other methods, where no optimum is printed: it cannot be less than that."""
    X = DATASETS[dataset]()
    found = ExchangeSelector(k, criterion=CRITERIA[criterion]).fit(X).selected_
    return subset_error(X, found, KEYS[criterion]) * (1.0 + 1e-9)


@lru_cache
def weighted(dataset: str, k: int, criterion: str, eps: str) -> TextbookResult:
    """f + eps u with the documents' keys; two tables share many cells."""
    X = DATASETS[dataset]()
    return textbook_search(X, k, KEYS[criterion], order="f+u", eps=float(eps), max_nodes=2000)


@pytest.mark.data
@pytest.mark.parametrize(("cell", "figure"), WEIGHTED, ids=str)
def test_weighted_cells(cell: Cell, figure: str) -> None:
    result = weighted(*cell[1:])
    value = from_key(cell[3], result.error)
    if cell in DIFFERENT:
        recomputed, reason = DIFFERENT[cell]
        assert value == pytest.approx(recomputed, rel=2e-6), reason
        assert not agrees(value, figure)
    else:
        assert agrees(value, figure)


@pytest.mark.data
@pytest.mark.parametrize(("cell", "figure"), WEIGHTED, ids=str)
def test_weighted_bounds(cell: Cell, figure: str) -> None:
    """B1 and B4 = eps (u_max - e**) hold, and B4 <= B3 = eps u_root."""
    best = optimum(*cell[1:4])
    if best is None:
        best = best_known(*cell[1:4])
    result, eps = weighted(*cell[1:]), float(cell[4])
    b4 = eps * (result.u_max - result.error)
    assert result.lower_bound <= best
    assert result.error - b4 <= best
    assert b4 <= eps * result.u_root
    assert result.a_posteriori <= b4 * (1 + 1e-12)


@pytest.mark.data
@pytest.mark.parametrize("row", HE_3_1, ids=lambda row: "-".join(list(row.values())[:3]))
def test_greedy_cells(row: dict[str, str]) -> None:
    """The greedy error, B2 = u_root - f_root and B1 = error - min f of the fringe."""
    key = key_of(row)
    result = textbook_search(DATASETS[key[0]](), key[1], CRITERIA[key[2]], order="u")
    wrong = ("he-3.1", key, "greedy")
    if wrong in WRONG:
        assert result.error == pytest.approx(WRONG[wrong][0], rel=2e-5)
        assert not agrees(result.error, row["greedy"])
    else:
        assert agrees(result.error, row["greedy"])
    assert agrees(result.a_priori_greedy, row["a_priori"])
    assert agrees(result.a_posteriori, row["a_posteriori"])
    assert result.n_expanded == key[1]


@pytest.mark.data
@pytest.mark.parametrize(
    ("key", "eps", "with_norm"),
    [
        (("vehicle", 10, "spectral"), "0.4", 138.8081),
        (("spectf", 5, "spectral"), "0.4", 272.3768),
        (("libras", 4, "spectral"), "0.2", 8.5586),
    ],
    ids=str,
)
def test_spectral_norm_enters_the_printed_key_squared(key: Key, eps: str, with_norm: float) -> None:
    """f + eps u on sigma_1 itself gives another, here smaller, figure."""
    (figure,) = (row[eps] for row in HE_3_1 if key_of(row) == key)
    result = textbook_search(DATASETS[key[0]](), key[1], Spectral(), order="f+u", eps=float(eps))
    assert result.error == pytest.approx(with_norm, rel=1e-5)
    assert not agrees(result.error, figure)


@pytest.mark.data
@pytest.mark.parametrize("criterion", sorted(CRITERIA))
def test_pruning_with_pivoted_qr_keeps_the_optimum(criterion: str) -> None:
    X, theta = load_vehicle(), KEYS[criterion]
    prune = pivoted_qr_error(X, 4, theta) * (1 + 1e-12)
    plain = textbook_search(X, 4, theta, max_nodes=5000)
    pruned = textbook_search(X, 4, theta, prune=prune, max_nodes=5000)
    assert pruned.columns == plain.columns
    assert pruned.visited == plain.visited
    assert plain.error <= prune


NORMS = {(row["matrix"], row["steps"]): row["norm"] for row in printed("he-sec3.2.1-errors")}


def test_selection_then_extraction_is_not_optimal() -> None:
    """Section 3.2.1 of the second document, the first matrix."""
    X1 = small_matrix("X1")
    selected = textbook_search(X1, 1, Frobenius())
    hybrid = textbook_search(X1, 1, Frobenius(), n_components=1)
    assert selected.columns == (2,)
    assert agrees(selected.error**0.5, NORMS["X1", "select"])
    both = subset_error(X1, selected.columns, Frobenius(), 1)
    assert agrees(both**0.5, NORMS["X1", "select then extract"])
    assert hybrid.columns == (0,)
    assert agrees(hybrid.error**0.5, NORMS["X1", "together"])
    assert hybrid.error**0.5 == pytest.approx(77.4575, abs=1e-4)


def test_extraction_then_selection_is_not_optimal() -> None:
    """Section 3.2.1 of the second document, the second matrix."""
    X2 = small_matrix("X2")
    extracted = np.linalg.svd(X2)[0][:, :1]
    both = np.hstack([X2, extracted])
    errors = [np.sum(residual_singular_values(both, (j, 3), Y=X2) ** 2) for j in range(3)]
    hybrid = textbook_search(X2, 1, Frobenius(), n_components=1)
    assert int(np.argmin(errors)) == 1
    assert agrees(min(errors) ** 0.5, NORMS["X2", "extract then select"])
    assert hybrid.columns == (2,)
    assert agrees(hybrid.error**0.5, NORMS["X2", "together"])


ALL_CRITERIA: list[Criterion] = [Frobenius(), Spectral(), Nuclear(), Schatten(0.5), KyFan(2)]


def random_matrix(seed: int) -> np.ndarray:
    """A small matrix, tall or wide, of graded spectrum; every third one is rank deficient."""
    rng = np.random.default_rng(seed)
    m, n = rng.integers(5, 9), rng.integers(6, 8)
    X = rng.normal(size=(m, n)) * rng.exponential(size=n) ** 2
    if seed % 3 == 0:
        X = X[:, :4] @ rng.integers(-2, 3, size=(4, n))
    return X


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("theta", ALL_CRITERIA, ids=str)
@pytest.mark.parametrize("n_components", [0, 1, 2])
def test_bounds_against_brute_force(seed: int, theta: Criterion, n_components: int) -> None:
    """Theorems 3.2, 3.3, 3.4 and every stated bound, for every order and weight."""
    X, k = random_matrix(seed), 3
    best = best_subsets(X, k, theta, n_components)[0][0]
    tol = 1e-7 * float(theta.value(np.linalg.svd(X, compute_uv=False)))
    exact = textbook_search(X, k, theta, n_components=n_components)
    assert exact.error == pytest.approx(best, abs=tol)
    greedy = textbook_search(X, k, theta, order="u", n_components=n_components)
    assert greedy.n_expanded == k
    assert greedy.error - best <= greedy.a_priori_greedy + tol
    for eps in (0.1, 0.5, 1.0, 4.0):
        for order in ("f+u", "f+h"):
            run = textbook_search(X, k, theta, order=order, eps=eps, n_components=n_components)
            root = run.u_root if order == "f+u" else run.u_root - run.f_root
            assert run.lower_bound - tol <= best <= run.error + tol
            assert run.error <= best + eps * root + tol
            if order == "f+u" and np.isfinite(run.u_max):
                assert run.error <= best + eps * (run.u_max - run.error) + tol
                assert run.error - best <= eps / (1 + eps) * (run.u_root - run.f_root) + tol


@pytest.mark.parametrize("seed", range(30))
def test_multiplicative_bound_of_b(seed: int) -> None:
    """(1 + eps) g** <= (1 + eps (k + 1)) g*, and b is at least the best error below its node."""
    X, k = random_matrix(seed), 3
    best = best_subsets(X, k, Frobenius())[0][0]
    tol = 1e-10 * (X * X).sum()
    for eps in (0.1, 0.5, 1.0, 4.0):
        run = textbook_search(X, k, Frobenius(), order="f+b", eps=eps)
        assert run.lower_bound - tol <= best
        assert (1 + eps) * run.error <= (1 + eps * (k + 1)) * best + tol
    search = Search(X, k, Frobenius(), order="f+b", eps=1.0)
    search.expand(search.pop())
    for node in search.open_nodes():
        below = best_subsets(X, k, Frobenius(), include=node.columns)[0][0]
        assert node.key - node.f >= below - tol


def test_first_corollary_is_false() -> None:
    """g** <= g* + eps v(n_r) fails for a visited node n_r on the path to the solution."""
    X = np.array([[-2.0, 12, -8, -12, -9], [2, 12, 0, 6, 0], [3, 0, -2, -3, -3], [0, 6, -2, 0, 0]])
    eps, visited = 0.1, (1, 2)
    run = textbook_search(X, 3, Frobenius(), order="f+u", eps=eps)
    best = best_subsets(X, 3, Frobenius())[0][0]
    assert visited in run.visited
    assert set(visited) < set(run.columns)
    excess = (run.error - best) / (eps * subset_error(X, visited, Frobenius()))
    assert excess == pytest.approx(1.8989, abs=1e-3)
    assert run.error <= best + eps * run.u_root


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("theta", [Frobenius(), Nuclear(), Spectral()], ids=str)
@pytest.mark.parametrize("eps", [0.25, 1.0])
def test_weights_g_and_h_visit_the_same_nodes(seed: int, theta: Criterion, eps: float) -> None:
    """Section 4.3.3: eps_h = eps_g / (1 + eps_g), since f + eps_g g = (1 + eps_g) f'_h."""
    X = np.random.default_rng(seed).normal(size=(12, 9))
    g = textbook_search(X, 4, theta, order="f+u", eps=eps)
    h = textbook_search(X, 4, theta, order="f+h", eps=eps / (1 + eps))
    assert g.visited == h.visited


def test_weights_g_and_h_visit_the_same_nodes_on_real_data() -> None:
    g = textbook_search(load_vehicle(), 6, Frobenius(), order="f+u", eps=0.1)
    h = textbook_search(load_vehicle(), 6, Frobenius(), order="f+h", eps=0.1 / 1.1)
    assert g.visited == h.visited


@pytest.mark.parametrize("theta", ALL_CRITERIA, ids=str)
@pytest.mark.parametrize("n_components", [0, 1])
def test_f_rises_and_u_falls_along_every_edge(theta: Criterion, n_components: int) -> None:
    X, k = random_matrix(4), 3
    search = Search(X, k, theta, n_components=n_components)
    nodes = {(): search.root}
    while search.fringe:
        node = search.pop()
        nodes[node.columns] = node
        if not search.is_goal(node):
            search.expand(node)
    tol = 1e-7 * search.root.u
    for child in nodes.values():
        for parent in combinations(child.columns, max(len(child.columns) - 1, 0)):
            assert nodes[parent].f <= child.f + tol
            assert nodes[parent].u >= child.u - tol
        assert child.f <= child.u + tol


@pytest.mark.parametrize("seed", range(6))
def test_start_state_searches_the_supersets(seed: int) -> None:
    X = random_matrix(seed)
    run = textbook_search(X, 3, Nuclear(), start=(1,))
    best = best_subsets(X, 3, Nuclear(), include=(1,))[0][0]
    assert 1 in run.columns
    assert run.error == pytest.approx(best, abs=1e-7 * run.u_root)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("order", "eps"), [("u", 0.0), ("f+u", 0.5)])
def test_optimistic_search_improves_until_it_proves(seed: int, order: str, eps: float) -> None:
    """Errors never rise, bounds never widen, and the last iteration proves the optimum."""
    X = random_matrix(seed)
    best = best_subsets(X, 3, Frobenius(), 1)[0][0]
    runs = optimistic_search(X, 3, Frobenius(), 500, order=order, eps=eps, n_components=1)
    tol = 1e-10 * runs[0].u_root
    errors = np.array([run.error for run in runs])
    bounds = np.array([run.lower_bound for run in runs])
    assert (np.diff(errors) <= tol).all()
    assert (np.diff(bounds) >= -tol).all()
    assert (bounds <= best + tol).all()
    assert errors[-1] == pytest.approx(best, abs=tol)
    assert runs[-1].a_posteriori <= tol


# Node counts of the textbook A* on squared Frobenius: data, k, expanded nodes, optimum.
ASTAR = [
    ("wdbc", 2, 11, (5, 22), 7072.413238947),
    ("wdbc", 3, 206, (5, 10, 22), 5835.764464584),
    ("wdbc", 4, 1181, (5, 10, 21, 22), 4733.959084459),
    ("libras", 2, 91, (38, 63), 870.596766511),
]


@pytest.mark.data
@pytest.mark.parametrize("secular", [False, True], ids=["dense", "secular"])
@pytest.mark.parametrize(("name", "k", "n_expanded", "columns", "error"), ASTAR)
def test_node_counts_of_the_textbook_astar(
    name: str, k: int, n_expanded: int, columns: tuple[int, ...], error: float, secular: bool
) -> None:
    X = load_wdbc(standardised=True) if name == "wdbc" else load_libras()
    result = textbook_astar(X, k, secular=secular)
    assert result.n_expanded == n_expanded
    assert result.columns == columns
    assert result.error == pytest.approx(error, rel=1e-10)


@pytest.mark.data
def test_node_count_of_the_textbook_astar_on_the_larger_benchmark() -> None:
    result = textbook_astar(load_libras(), 3, secular=True)
    assert result.n_expanded == 1891
    assert result.columns == (14, 37, 80)
    assert result.error == pytest.approx(560.1186852793, rel=1e-10)


@pytest.mark.data
def test_both_forms_of_the_textbook_visit_the_same_nodes() -> None:
    X = load_wdbc(standardised=True)
    general = textbook_search(X, 3, Frobenius())
    assert textbook_astar(X, 3).visited == general.visited
    assert textbook_astar(X, 3, secular=True).visited == general.visited
