"""The textbook best-first search over column subsets, in plain NumPy.

This is the graph search of the documents: every child goes into the fringe,
a closed list forbids repetitions, ties go to the deeper node. It is the oracle
for the printed greedy and weighted figures, and :func:`textbook_astar` is the
reference that benchmarks compare with.

For a node S with j of the k columns, R its residual and sigma its singular
values,

    f(S) = theta(sigma_{k-j+r2+1}, ...)    no completion of S is better
    u(S) = theta(sigma_{r2+1}, ...)        S alone with r2 free vectors
    h(S) = u(S) - f(S)
    b(S) = min_{i=1..k-j+1} i (sigma_i^2 + sigma_{i+1}^2 + ...)    (Frobenius, r2 = 0)
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from scipy.linalg import qr

__all__ = [
    "Search",
    "TextbookResult",
    "optimistic_search",
    "pivoted_qr_error",
    "textbook_astar",
    "textbook_search",
]

Columns = tuple[int, ...]


class Theta(Protocol):
    """Any criterion: one number from each row of singular values."""

    def values(self, spectra: np.ndarray) -> np.ndarray: ...


@dataclass(frozen=True)
class Node:
    """A subset with its bounds and its place in the order."""

    columns: Columns
    f: float
    u: float
    key: float

    @property
    def rank(self) -> tuple[float, int, Columns]:
        """Smaller key first, then the deeper node, then the smaller subset."""
        return (self.key, -len(self.columns), self.columns)


@dataclass(frozen=True)
class TextbookResult:
    """What a search returns.

    ``f_min`` and ``u_max`` are taken over the fringe that is left (inf and -inf
    when it is empty); ``visited`` holds the expanded nodes in order, then the goal.
    """

    columns: Columns
    error: float
    f_min: float
    u_max: float
    f_root: float
    u_root: float
    n_expanded: int
    visited: tuple[Columns, ...] = field(repr=False)

    @property
    def lower_bound(self) -> float:
        """min(error, f_min): no subset has a smaller error."""
        return min(self.error, self.f_min)

    @property
    def a_posteriori(self) -> float:
        """B1 = error - f_min, and 0 when the fringe holds nothing better."""
        return self.error - self.lower_bound

    @property
    def a_priori_greedy(self) -> float:
        """B2 = u_root - f_root."""
        return self.u_root - self.f_root


class Reduced:
    """X = U diag(s) V^T reduced to C = diag(s) V^T, which has the same errors."""

    def __init__(self, X: np.ndarray) -> None:
        _, s, Vt = np.linalg.svd(np.asarray(X, dtype=np.float64), full_matrices=False)
        rank = int((s > np.finfo(float).eps * max(np.shape(X)) * s[0]).sum())
        self.C = s[:rank, None] * Vt[:rank]
        self.norms = np.sqrt((self.C**2).sum(axis=0))
        self.n_columns = self.C.shape[1]

    def residual(self, columns: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """Eigenvalues lam (descending) of R R^T = W diag(lam) W^T, and W^T R.

        Only the rank(X) - rank(X_S) eigenvalues that can be nonzero are kept.
        """
        Q = self._basis(columns)
        R = self.C - Q @ (Q.T @ self.C)
        lam, W = np.linalg.eigh(R @ R.T)
        keep = slice(None, -(self.C.shape[0] - Q.shape[1]) - 1, -1)
        return np.maximum(lam[keep], 0.0), W[:, keep].T @ R

    def _basis(self, columns: Sequence[int]) -> np.ndarray:
        """Orthonormal basis of the columns, dependent ones dropped."""
        basis = np.zeros((self.C.shape[0], 0))
        for j in columns:
            q = self.C[:, j].copy()
            for _ in range(2):
                q -= basis @ (basis.T @ q)
            norm = np.linalg.norm(q)
            if norm > self._tolerance(j):
                basis = np.column_stack([basis, q / norm])
        return basis

    def _tolerance(self, columns: object) -> np.ndarray:
        """A residual shorter than this share of the column's own norm counts as zero."""
        return 1e-10 * self.norms[columns]

    def updates(
        self, lam: np.ndarray, WtR: np.ndarray, candidates: Sequence[int]
    ) -> tuple[np.ndarray, np.ndarray]:
        """One row z per candidate with spec(R'R'^T) = spec(diag(lam) - z z^T), and |R_y| > 0.

        With q = R_y / |R_y|, z = diag(lam)^{1/2} W^T q.
        """
        R = WtR[:, candidates]
        norms = np.sqrt((R * R).sum(axis=0))
        independent = norms > self._tolerance(candidates)
        scale = np.where(independent, 1.0 / np.where(independent, norms, 1.0), 0.0)
        return (np.sqrt(lam)[:, None] * R * scale).T, independent


def child_spectra(lam: np.ndarray, Z: np.ndarray, independent: np.ndarray) -> np.ndarray:
    """Singular values, descending, of every child: one dense eigenproblem each.

    diag(lam) - z z^T has one zero eigenvalue when the column was independent.
    """
    H = np.einsum("ci,cj->cij", -Z, Z)
    diagonal = np.arange(lam.size)
    H[:, diagonal, diagonal] += lam
    eigenvalues = np.maximum(np.linalg.eigvalsh(H)[:, ::-1], 0.0)
    if lam.size:
        eigenvalues[independent, -1] = 0.0
    return np.sqrt(eigenvalues)


def volume_bound(spectra: np.ndarray, t: int) -> np.ndarray:
    """b = min over i = 1..t+1 of i times the tail sum_{s >= i} sigma_s^2."""
    squares = spectra**2
    tails = np.cumsum(squares[:, ::-1], axis=1)[:, ::-1][:, : t + 1]
    return (tails * np.arange(1, tails.shape[1] + 1)).min(axis=1)


ORDERS: dict[str, Callable[[float, np.ndarray, np.ndarray, np.ndarray], np.ndarray]] = {
    "f": lambda eps, f, u, b: f,
    "u": lambda eps, f, u, b: u,
    "f+u": lambda eps, f, u, b: f + eps * u,
    "f+h": lambda eps, f, u, b: f + eps * (u - f),
    "f+b": lambda eps, f, u, b: f + eps * b,
}


class Search:
    """Best-first search with a fringe and a closed list, which may be continued.

    Parameters
    ----------
    X : array of shape (n_samples, n_columns)
    k : int
        Number of columns to select (r1).
    criterion : object with ``values``
    order : {"f", "u", "f+u", "f+h", "f+b"}
        The key of a node; ``eps`` weighs the second term.
    n_components : int
        Number of free vectors (r2).
    prune : float
        Children with f above this value are not put into the fringe.
    start : sequence of int
        The subset of the first node.
    """

    def __init__(
        self,
        X: np.ndarray,
        k: int,
        criterion: Theta,
        *,
        order: str = "f",
        eps: float = 0.0,
        n_components: int = 0,
        prune: float = np.inf,
        start: Sequence[int] = (),
    ) -> None:
        self.reduced = Reduced(X)
        self.k, self.r2, self.criterion = k, n_components, criterion
        self.order, self.eps, self.prune = order, eps, prune
        self.visited: list[Columns] = []
        self.n_expanded = 0
        root = tuple(sorted(start))
        lam, _ = self.reduced.residual(root)
        self.root = self._nodes([root], np.sqrt(lam)[None])[0]
        self.seen = {root}
        self.fringe = [(self.root.rank, self.root)]

    def _nodes(self, subsets: Sequence[Columns], spectra: np.ndarray) -> list[Node]:
        """Bounds and key of nodes of one depth from their singular values."""
        t = self.k - len(subsets[0])
        f = self.criterion.values(spectra[:, t + self.r2 :])
        u = self.criterion.values(spectra[:, self.r2 :])
        b = volume_bound(spectra, t) if self.order == "f+b" else u
        keys = ORDERS[self.order](self.eps, f, u, b)
        return [
            Node(S, float(fi), float(ui), float(ki))
            for S, fi, ui, ki in zip(subsets, f, u, keys, strict=True)
        ]

    def expand(self, node: Node) -> None:
        """Put every child that is neither closed nor in the fringe into the fringe."""
        self.visited.append(node.columns)
        self.n_expanded += 1
        inside = set(node.columns)
        outside = (y for y in range(self.reduced.n_columns) if y not in inside)
        children = {y: tuple(sorted((*node.columns, y))) for y in outside}
        fresh = [y for y, child in children.items() if child not in self.seen]
        if not fresh:
            return
        subsets = [children[y] for y in fresh]
        self.seen.update(subsets)
        lam, WtR = self.reduced.residual(node.columns)
        spectra = child_spectra(lam, *self.reduced.updates(lam, WtR, fresh))
        for child in self._nodes(subsets, spectra):
            if child.f <= self.prune:
                heapq.heappush(self.fringe, (child.rank, child))

    def is_goal(self, node: Node) -> bool:
        """Whether all k columns are chosen."""
        return len(node.columns) == self.k

    def pop(self) -> Node:
        """Remove and return the first node of the fringe."""
        return heapq.heappop(self.fringe)[1]

    def remove(self, node: Node) -> None:
        """Take one node out of the fringe."""
        self.fringe.remove((node.rank, node))
        heapq.heapify(self.fringe)

    def run(self, max_nodes: int = 10**9) -> Node | None:
        """Expand until a goal is popped; None when the fringe is empty or nodes run out."""
        while self.fringe and self.n_expanded < max_nodes:
            node = self.pop()
            if self.is_goal(node):
                self.visited.append(node.columns)
                return node
            self.expand(node)
        return None

    def open_nodes(self) -> Iterable[Node]:
        """The nodes of the fringe."""
        return (node for _, node in self.fringe)

    def result(self, goal: Node) -> TextbookResult:
        """The result for a goal, with the extremes of the fringe as it is now."""
        return TextbookResult(
            columns=goal.columns,
            error=goal.u,
            f_min=min((node.f for node in self.open_nodes()), default=np.inf),
            u_max=max((node.u for node in self.open_nodes()), default=-np.inf),
            f_root=self.root.f,
            u_root=self.root.u,
            n_expanded=self.n_expanded,
            visited=tuple(self.visited),
        )


def textbook_search(
    X: np.ndarray, k: int, criterion: Theta, *, max_nodes: int = 10**9, **options: Any
) -> TextbookResult:
    """One search to its first goal; ``options`` are those of :class:`Search`."""
    search = Search(X, k, criterion, **options)
    goal = search.run(max_nodes)
    if goal is None:
        raise RuntimeError(f"no goal after {search.n_expanded} nodes")
    return search.result(goal)


def pivoted_qr_error(X: np.ndarray, k: int, criterion: Theta, n_components: int = 0) -> float:
    """The pruning value P: error of the first k pivots of the QR factorisation of X."""
    _, pivots = qr(np.asarray(X), mode="r", pivoting=True)
    lam, _ = Reduced(X).residual(pivots[:k])
    return float(criterion.values(np.sqrt(lam)[None, n_components:])[0])


def optimistic_search(
    X: np.ndarray, k: int, criterion: Theta, n_iterations: int, **options: Any
) -> list[TextbookResult]:
    """The optimistic search, one result per iteration (the best goal so far).

    Each iteration runs the search to its next goal, states the bounds
    B1 = error - f_min and B4 = eps (u_max - error), and expands the fringe node
    behind the smaller of the two; the greedy order has B1 only.
    """
    search = Search(X, k, criterion, **options)
    best: Node | None = None
    results = []
    for _ in range(n_iterations):
        goal = search.run()
        best = min((node for node in (best, goal) if node), key=lambda node: node.u)
        results.append(search.result(best))
        if not search.fringe or results[-1].f_min >= best.u:
            break
        worst = bottleneck(search, results[-1])
        search.remove(worst)
        if search.is_goal(worst):
            best = min(best, worst, key=lambda node: node.u)
        else:
            search.expand(worst)
    return results


def bottleneck(search: Search, result: TextbookResult) -> Node:
    """The fringe node that holds the effective bound."""
    b1 = result.error - result.f_min
    b4 = search.eps * (result.u_max - result.error) if search.order == "f+u" else np.inf
    if b1 < b4:
        return min(search.open_nodes(), key=lambda node: node.f)
    return max(search.open_nodes(), key=lambda node: node.u)


def top_secular_roots(d: np.ndarray, Z: np.ndarray, t: int, steps: int = 60) -> np.ndarray:
    """The t largest eigenvalues of diag(d) - z z^T for every row z of Z, by bisection.

    The i-th one lies in [d_{i+1}, d_i], where 1 - sum_j z_j^2 / (d_j - x) decreases.
    """
    low = np.broadcast_to(np.append(d, 0.0)[1 : t + 1], (Z.shape[0], t)).copy()
    high = np.broadcast_to(d[:t], low.shape).copy()
    squares = (Z * Z)[:, None, :]
    for _ in range(steps):
        middle = 0.5 * (low + high)
        with np.errstate(divide="ignore", invalid="ignore"):
            secular = 1.0 - (squares / (d - middle[:, :, None])).sum(axis=2)
        right = secular > 0
        low, high = np.where(right, middle, low), np.where(right, high, middle)
    return 0.5 * (low + high)


def frobenius_children(
    reduced: Reduced, columns: Columns, candidates: Sequence[int], k: int, secular: bool
) -> np.ndarray:
    """f of the children for squared Frobenius: trace - |z|^2 - top k-j-1 eigenvalues."""
    lam, WtR = reduced.residual(columns)
    Z, independent = reduced.updates(lam, WtR, candidates)
    t = min(k - len(columns) - 1, lam.size)
    if not secular:
        return (child_spectra(lam, Z, independent)[:, t:] ** 2).sum(axis=1)
    g = lam.sum() - (Z * Z).sum(axis=1)
    return np.maximum(g - top_secular_roots(lam, Z, t).sum(axis=1), 0.0)


def textbook_astar(X: np.ndarray, k: int, secular: bool = False) -> TextbookResult:
    """The textbook A* for squared Frobenius and r2 = 0, as fast as plain NumPy allows.

    Children are evaluated together, by dense eigenproblems or by the secular
    equation of their parent.
    """
    reduced = Reduced(X)
    root_f = float(np.sort((reduced.C**2).sum(axis=1))[::-1][k:].sum())
    fringe: list[tuple[float, int, Columns]] = [(root_f, 0, ())]
    seen: set[Columns] = {()}
    visited: list[Columns] = []
    while fringe:
        f, depth, columns = heapq.heappop(fringe)
        visited.append(columns)
        if -depth == k:
            break
        inside = set(columns)
        options = [y for y in range(reduced.n_columns) if y not in inside]
        children = [tuple(sorted((*columns, y))) for y in options]
        fresh = [i for i, child in enumerate(children) if child not in seen]
        if not fresh:
            continue
        bounds = frobenius_children(reduced, columns, [options[i] for i in fresh], k, secular)
        for i, bound in zip(fresh, bounds.tolist(), strict=True):
            seen.add(children[i])
            heapq.heappush(fringe, (bound, depth - 1, children[i]))
    return TextbookResult(
        columns=columns,
        error=f,
        f_min=min((entry[0] for entry in fringe), default=np.inf),
        u_max=np.nan,
        f_root=root_f,
        u_root=float((reduced.C**2).sum()),
        n_expanded=len(visited) - 1,
        visited=tuple(visited),
    )
