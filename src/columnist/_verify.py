r"""Check a proof of column selection: NumPy and the standard library alone.

A proof names a problem (the data by a hash, k, criterion, weights, constraints), a claim (the
selection, its error, a lower bound that no selection is below) and a tree. This program recomputes
everything that matters from the data. It shares no code with the search that wrote the proof, and
it also runs alone: ``python _verify.py PROOF DATA.csv``, with ``_verify_guide.py`` beside it.

**What has to be trusted** is this file. What ``_verify_guide.py`` finds are proposals: the records
of the tree, coefficients of relaxations, and an order in which to divide. Any of them may be wrong:
they are confirmed here, and a wrong one can only keep a true claim from being shown. Two
kinds of problems need one more file to be trusted: ``_verify_rules.py`` says what constraints mean,
and ``_verify_special.py`` prepares weights and classes, and finds columns that are multiples of
others.

**The tree.** A node is a set S of chosen columns, candidates C and t columns to choose from them.
A record replaces an open node by smaller ones that cover it; everything that it leaves out is
shown to be above the bound. Nodes that no record replaces are leaves, and each of them is closed.

**The numbers.** All rules work on the Gram matrix G of columns and target, eliminated by the chosen
columns (Cholesky). What remains is K (of the candidates), c (candidates and target) and F (of the
target); the error is a function of the eigenvalues of F. G is computed in extended precision, and
its diagonal is lowered by a share :math:`\eta` that covers its own rounding and that of every
elimination: an elimination is exact for a matrix whose entries differ by at most
:math:`2(p + 8)u\sqrt{G_{ii}G_{jj}}`, and a matrix of order N with entries of at most
:math:`\varepsilon\sqrt{G_{ii}G_{jj}}` is at most :math:`\varepsilon N \mathrm{diag}(G)`.
Schur complements are monotone in G, so every F computed here is below the true one, and so is every
error. A column whose pivot is not positive is replaced by a free direction, which is at least as
good, unless it is zero or a multiple of a chosen column by all its numbers.

**The rules.** With :math:`\lambda` the eigenvalues of F, t columns to choose, r free directions:

* *span*: the error is at least that of :math:`\lambda_{t+r+1}, \dots`; within a list of candidates
  also that of the eigenvalues which all of them together leave.
* *relaxation* (squared Frobenius norm): for :math:`0 \prec D \preceq K` diagonal, P = K - D,
  :math:`YY^T + sK \succeq cc^T` and any B the error of S and J is at least
  :math:`\mathrm{tr} F - ts - \mathrm{tr} B^TPB - \sum_{i \in J} g_i` with
  :math:`g_i = \lVert Y_i - P_iB \rVert^2 / D_i`. D, Y, s and B are proposals. Both conditions are
  confirmed by eigenvalues; D is scaled down, and s is raised, until they hold. A
  candidate is dropped, or fixed, if choosing it, or not, raises the bound enough.
* *completion* (squared Frobenius norm): all choices of the last two columns, and
  complete sets in extended precision.
* *branching*: what the rules above leave is divided further, up to a stated number of nodes.

With constraints up to t columns may be chosen: what follows from the constraints is drawn at every
node, :math:`ts + \sum g_i` gives way to the most that :math:`s + g_i` can add up to, and of the
complete sets those that obey are evaluated.

**The order.** :func:`begin` checks the data, :func:`check_claim` the claim, :func:`tasks` replays
the tree and yields what is left to be shown of each node, and :meth:`Rules.confirm` shows it. Tasks
do not depend on one another. A class that has exact arithmetic may override :meth:`Rules.decide`
and :meth:`Rules.redone`.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import math
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain, groupby, islice
from typing import Any, BinaryIO, NamedTuple

import numpy as np

FORMAT, VERSION = "columnist proof", 3
UNIT = 2.0**-53
EXTENDED = float(np.finfo(np.longdouble).eps) / 2
# How much smaller than stated an error, or a bound, may be.
TOLERANCE = 1e-9
# A column depends on others that leave no more than this share of it, squared for Gram matrices.
DEPENDENT = 1e-13
# Bytes of the first line and of the open nodes, nodes that are divided here, parts in one go.
MOST_HEADER, MOST_OPEN, MOST_NODES, PARTS = 2**24, 2**31, 200_000, 2048
# Rows of a product, and operations up to which it is computed in extended precision.
_ROWS, _PRODUCTS = 1024, 2e9
# Proposals that are tried of a relaxation, and entries of matrices that are eliminated in one go.
_PROPOSALS, _STACK = 13, 2**19
# Share of the error without columns up to which rounding may hide whether a bound is reached.
_DOUBT = 1e-10
_LIST, _BRANCH, _SHRINK, _CLOSE, _COPIES = range(1, 6)
_EACH = {"span": "span, each column", "relaxation": "relaxation, fewer columns"}


def beside(name: str) -> Any:
    """Another file of this program: in its package, or in its folder."""
    try:
        return importlib.import_module(f"columnist.{name}" if __package__ else name)
    except ImportError:
        print(f"A file is missing: put {name}.py beside this program.", file=sys.stderr)
        raise SystemExit(2) from None


guide = beside("_verify_guide")
Unreadable = guide.Unreadable


class Refuted(Exception):
    """The proof does not show what it claims."""


# -- reading ------------------------------------------------------------------------


def read_header(proof) -> dict[str, Any]:
    """The first line of a proof: problem, claim and preparation, checked for sense alone."""
    with open(proof, "rb") as file:
        return header_of(file)[0]


def header_of(file: BinaryIO) -> tuple[dict[str, Any], bytes]:
    line = file.readline(MOST_HEADER)
    try:
        header = json.loads(line.decode("utf-8"))
        known = header["format"] == FORMAT and header["version"] == VERSION
        sense = known and _makes_sense(header["problem"], header["claim"])
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        raise Unreadable("This file is no proof: its first line cannot be read.") from None
    if not sense:
        raise Unreadable("This file is no proof of a kind and version that is known here.")
    return header, hashlib.sha256(line).digest()


def _makes_sense(problem: dict[str, Any], claim: dict[str, Any]) -> bool:
    """Types and ranges of what is used below; items are columns, or rows."""
    n, k = problem["shape"][0 if problem["kind"] == "rows" else 1], problem["size"]
    sets, plain = [claim["selection"], *claim["solutions"]], problem["constraints"] == []
    every = [*sets, problem["include"], problem["exclude"]]
    k = n if k is None and not plain else k  # any number of them
    whole = [*problem["shape"], k, problem["n_components"], *chain(*every)]
    words = [problem[name] for name in ("kind", "data", "target", "centering", "input")]
    words += [problem["criterion"], str(problem["target_data"])]
    numbers = [claim["error"], claim["lower_bound"], problem["shift"], *claim["errors"]]
    weights, within = problem["weights"], claim["within"]
    theta = Criterion(problem["criterion"])
    amounts = [problem["alpha"], *(weights or [0.0]), 0.0 if within is None else within]
    special = not plain or weights is not None
    return (
        all(type(number) is int and 0 <= number < 2**31 for number in whole)
        and all(type(number) in (int, float) for number in numbers + amounts)
        and all(map(math.isfinite, numbers + amounts)) and min(amounts) >= 0.0
        and all(type(word) is str for word in words) and type(claim["complete"]) is bool
        and all(len(set(s)) == len(s) and max(s, default=0) < n for s in every)
        and all(len(s) == k for s in sets if plain) and 0 < k <= n and len(problem["shape"]) == 2
        and len(claim["errors"]) == len(claim["solutions"])
        and (plain or beside("_verify_rules").are_known(problem["constraints"], n))
        and (weights is None or (len(weights) == problem["shape"][0] and math.fsum(weights) > 0.0))
        and (problem["kind"] == "columns" or not special)
        and (problem["input"] == "data" or (weights is None and problem["target"] == "X"))
        and (problem["alpha"] == 0.0 or (theta.squared and problem["target"] != "X"))
    )  # fmt: skip


# -- the criterion --------------------------------------------------------------------


class Criterion:
    """A criterion by name, of eigenvalues of F in descending order."""

    def __init__(self, name: str):
        kind, _, parameter = name.partition(":")
        self.squared = kind == "frobenius"
        self.p = float(parameter) if kind == "schatten" else 1.0
        first = parameter if kind == "kyfan" else "1" if kind == "spectral" else None
        self.first = None if first is None else int(first)
        plain = kind in ("frobenius", "nuclear", "spectral") and not parameter
        positive = self.p > 0.0 and (self.first is None or self.first > 0)
        if not positive or not (plain or kind in ("schatten", "kyfan")):
            raise ValueError(f"The criterion {name!r} is not known here.")

    def __call__(self, eigenvalues: np.ndarray) -> np.ndarray:
        values = np.maximum(eigenvalues, 0.0)[..., : self.first]
        if self.squared or not values.shape[-1]:
            return values.sum(axis=-1)
        sigma = np.sqrt(values)
        top = np.where(sigma[..., :1] > 0.0, sigma[..., :1], 1.0)
        return top[..., 0] * ((sigma / top) ** self.p).sum(axis=-1) ** (1.0 / self.p)


# -- the numbers ----------------------------------------------------------------------


def data_hash(values) -> str:
    """SHA-256 of numbers: float64, little-endian, row by row, without negative zeros."""
    digest = hashlib.sha256()
    for start in range(0, values.shape[0], 4096):
        rows = values[start : start + 4096]
        rows = rows.toarray() if hasattr(rows, "toarray") else rows
        rows = np.ascontiguousarray(np.asarray(rows, dtype=np.float64)) + 0.0
        digest.update(rows.astype("<f8").tobytes())
    return digest.hexdigest()


def matrix_of(values) -> Any:
    """A float matrix, or a sparse one that can be cut by rows."""
    if hasattr(values, "tocsr"):
        return values.tocsr()
    matrix = np.asarray(values, dtype=np.float64)
    return matrix[:, None] if matrix.ndim == 1 else matrix


def counted(problem: dict[str, Any], X, y=None) -> tuple[Any, np.ndarray | None, np.ndarray | None]:
    """The rows that count, their target, and their weights."""
    X = matrix_of(X)
    if list(X.shape) != problem["shape"]:
        raise Refuted("these are other data than those of the proof.")
    if problem["target"] == "X":
        y = None
    elif y is None:
        raise Refuted("the proof is about a target y, and none is given.")
    elif np.shape(y)[:1] != (problem["shape"][0],):
        raise Refuted("this is another target than that of the proof.")
    if problem["weights"] is not None or problem["target"] == "classes":
        return beside("_verify_special").counted(problem, X, y)
    return X, None if y is None else matrix_of(y), None


def check_data(problem: dict[str, Any], X, target=None) -> None:
    """Refuse other data than those of the proof."""
    square = problem["input"] != "gram" or X.shape[0] == X.shape[-1]
    if list(X.shape[1:]) != problem["shape"][1:] or data_hash(X) != problem["data"] or not square:
        raise Refuted("these are other data than those of the proof.")
    if target is not None and data_hash(target) != problem["target_data"]:
        raise Refuted("this is another target than that of the proof.")


def rows_of(Z: np.ndarray, center: bool, weights) -> Iterator[np.ndarray]:
    """Rows in extended precision, some at a time, without the means if these are free. A row of
    weight w counts like w equal ones."""
    w = np.ones((len(Z), 1)) if weights is None else weights[:, None]
    w, means = w.astype(np.longdouble), np.zeros(Z.shape[1], dtype=np.longdouble)
    parts = [slice(start, start + _ROWS) for start in range(0, len(Z), _ROWS)]
    if center and parts:
        means = sum((w[part] * Z[part]).sum(axis=0) for part in parts) / w.sum()
    for part in parts:
        yield (Z[part] - means) * np.sqrt(w[part])


def products(Z: np.ndarray, center: bool, weights) -> tuple[np.ndarray, float]:
    """Inner products of columns in extended precision, and their rounding as a share of two
    lengths."""
    m, n = Z.shape
    exact = float(m) * n * n <= _PRODUCTS
    total = np.zeros((n, n), dtype=np.longdouble)
    for rows in rows_of(Z, center, weights):
        rows = rows if exact else rows.astype(np.float64)
        total += rows.T @ rows
    share = (m + 16) * EXTENDED + (0.0 if exact else (_ROWS + 8) * UNIT)
    if center and m:
        lengths, heavy = np.sqrt(np.diag(total)), m if weights is None else weights.sum()
        far = np.sqrt(heavy) * np.abs(Z).max(axis=0) / np.where(lengths > 0.0, lengths, np.inf)
        share += 4.0 * (m + 8) * EXTENDED * float(far.max(initial=0.0))
    return total, share


class Numbers:
    """Gram matrix of the columns, each of length one, and of the target, whose largest column has
    about length one; ``unit`` is what the target was divided by. ``low`` and ``high`` are below
    and above the true one in extended precision, ``fast`` is below it in double precision. Columns
    with the same ``twins`` are multiples of one another by all their numbers, and with the same
    ``alike`` up to rounding; -1 is zero."""

    def __init__(self, X, target, weights, problem: dict[str, Any]):
        self.p = p = X.shape[1]
        center, alpha = problem["centering"] == "mean", np.longdouble(problem["alpha"])
        dense = X.toarray() if hasattr(X, "toarray") else X
        if problem["input"] == "gram":
            G, share = dense.astype(np.longdouble), 2.0 * EXTENDED
            G = (G + G.T) / 2
        else:
            every = dense if target is None else np.hstack([dense, target])
            G, share = products(every, center, weights)
        if target is None:
            G = np.tile(G, (2, 2))
        G[np.arange(p), np.arange(p)] += alpha
        share += 2.0 * EXTENDED
        self.q, order = len(G) - p, len(G)
        lengths = np.sqrt(np.maximum(np.diag(G), 0.0))
        largest = float(lengths[p:].max(initial=0.0))
        if not np.isfinite(float(lengths.max(initial=0.0))):
            raise Refuted("the data hold numbers that cannot be squared.")
        self.unit = 2.0 ** round(math.log2(largest)) if largest > 0.0 else 1.0
        lengths[p:] = self.unit
        lengths[lengths == 0.0] = 1.0
        G, steps = G / lengths / lengths[:, None], p + 8
        margin = order * (2 * steps * EXTENDED + share)
        self.fast = _lowered(G.astype(np.float64), order * (2 * steps * UNIT + share))
        self.low, self.high = _lowered(G, margin), _lowered(G, -margin)
        self.twins = self.alike = np.arange(p)
        constant = center and (dense == dense[:1]).all(axis=0).any()
        near = np.abs(G[:p, :p]) > 1.0 - 1e-12
        # With a ridge every column counts.
        if alpha == 0.0 and (constant or (near != np.eye(p, dtype=bool)).any()):
            rows = partial(rows_of, center=center, weights=weights)
            near &= problem["input"] != "gram" and share < 0.1 * DEPENDENT
            found = beside("_verify_special").multiples(dense, near, problem, rows, DEPENDENT)
            self.twins, self.alike = found
        self.n_alike = int(np.count_nonzero(self.alike != self.twins))


def _lowered(G: np.ndarray, share: float) -> np.ndarray:
    return G - np.diag(np.diag(G) * G.dtype.type(share))


# -- the relaxation -------------------------------------------------------------------


class Bound(NamedTuple):
    """Lower bounds of a node: as it is, with each candidate chosen, and without it; with D, Y, s
    and B of a relaxation."""

    value: float
    into: np.ndarray
    out: np.ndarray
    by: tuple[np.ndarray, np.ndarray, float, np.ndarray] | None = None

    def marks(self, limit: float) -> np.ndarray:
        """1 for candidates that every set below the limit contains, 2 for those that none does."""
        return np.where(self.into >= limit, 2, self.out >= limit)


class Parts(NamedTuple):
    """What the chosen columns of a node leave, and the free directions."""

    K: np.ndarray
    c: np.ndarray
    F: np.ndarray
    free: int


class Relaxation:
    """The relaxation of a node; a LinAlgError if there is none. D, Y and s are proposed, and
    changed until they fit: any numbers may be."""

    def __init__(self, parts: Parts, proposed):
        K, c, F, _ = parts
        n, (D, Y, s) = len(K), proposed
        D, Y, s = _proposed(D, n), c if Y is None else _proposed(Y, n, -1), _proposed(s)
        root, self.K = np.sqrt(D), (K + K.T) / 2
        scaled = self.K / root / root[:, None]
        least = np.linalg.eigvalsh(scaled)[0] - 16 * n * UNIT * float(np.trace(scaled))
        if not least > 0.0:
            raise np.linalg.LinAlgError
        self.D = D * min(float(least), 1.0) * (1.0 - 1e-12)
        self.P = self.K - np.diag(self.D)
        self.energy = float(np.trace(F)) * (1.0 - 4 * len(F) * UNIT)
        self.Y, self.s, root = Y, 0.0, np.sqrt(self.D)
        if Y is not c:
            s = max(float(s), 0.0)
            difference = (Y @ Y.T + s * self.K - c @ c.T) / root / root[:, None]
            sizes = (Y**2).sum(axis=1) + s * np.diag(self.K) + (c**2).sum(axis=1)
            order = 2 * n + max(c.shape[1], Y.shape[1]) + 16
            charge = order * 2 * UNIT * float((sizes / self.D).sum())
            self.s = s + max(charge - float(np.linalg.eigvalsh(difference)[0]), charge)
        self.given = self.D.copy(), self.P.copy(), self.Y.copy()

    def bound(self, B: np.ndarray, most: Callable) -> Bound:
        """The bound with proposed coefficients, of whose terms ``most`` says how much they can add
        up to (:meth:`Choices.most`)."""
        D, P, Y, n = self.D, self.P, self.Y, len(self.D)
        B = _proposed(B, *Y.shape)
        product = P @ B
        lengths, roots = np.linalg.norm(B, axis=1), np.sqrt(np.maximum(np.diag(P), 0.0))
        spread = float((roots * lengths).sum())
        off = (n + 8) * 2 * UNIT * (np.linalg.norm(Y, axis=1) + roots * spread)
        g = (np.linalg.norm(Y - product, axis=1) * (1.0 + (Y.shape[1] + 8) * UNIT) + off) ** 2 / D
        top, into, out = most(g * (1.0 + 16 * UNIT) + self.s)
        quadratic = float((B * product).sum()) + (n * Y.shape[1] + 2 * n + 8) * 2 * UNIT * spread**2
        value = self.energy - quadratic - top
        value -= 8 * UNIT * (abs(self.energy) + abs(quadratic) + abs(top))
        if not np.isfinite(value):
            raise np.linalg.LinAlgError
        into, out = (value + x - 8 * UNIT * (abs(value) + abs(x)) for x in (into, out))
        return Bound(value, into, out, (D, Y, self.s, B))


def _proposed(values, *shape: int) -> np.ndarray:
    """An array of finite numbers that others have found."""
    array = np.array(values, dtype=np.float64).reshape(shape)
    if not np.isfinite(array).all():
        raise np.linalg.LinAlgError
    return array


# -- the rules ------------------------------------------------------------------------


class Task(NamedTuple):
    """A node, and what is to be shown of it: no set that is below the limit is against the marks;
    none is below it at all if there are no marks. z are coefficients to begin with."""

    chosen: np.ndarray
    candidates: np.ndarray
    marks: np.ndarray | None = None
    z: np.ndarray | None = None

    def with_(self, at, others) -> Task:
        """The node with some candidates chosen, and others left."""
        return Task(np.append(self.chosen, self.candidates[at]), self.candidates[others])

    def divided(self, items) -> list[Task]:
        """The node with each of some candidates, beside those before it and all that are none of
        them, and the node without any of them; these cover it, whichever they are."""
        items, others = np.array(items, dtype=np.intp), np.ones(len(self.candidates), dtype=bool)
        known = set(items.tolist())
        if len(known) < len(items) or not known <= set(range(len(others))):
            raise Refuted("a node is divided by columns that it does not have.")
        others[items] = False
        nodes = []
        for at in items:
            nodes.append(self.with_(at, others))
            others[at] = True
        others[items] = False
        return [*nodes, self.with_(items[:0], others)]


class Choices:
    """The selections that count: all of a size. With constraints they are those of
    :mod:`columnist._verify_rules`, and their sizes may vary."""

    varies = False

    def __init__(self, problem: dict[str, Any]):
        self.size = problem["size"]

    def obeys(self, subset) -> bool:
        """Whether a selection counts."""
        return len(subset) == self.size

    def between(self, chosen, added) -> list[tuple[int, ...]]:
        """The selections with all of some columns, and any of others."""
        return [(*chosen, *added)]

    def narrowed(self, chosen, candidates) -> tuple[np.ndarray, np.ndarray] | None:
        """A node without what follows from the problem; None if it holds no selection."""
        left = self.left(chosen, ())
        return (chosen, candidates) if 0 <= left <= len(candidates) else None

    def left(self, chosen, candidates) -> int:
        """At most how many columns are to be added."""
        return self.size - len(chosen)

    def most(self, scores: np.ndarray, chosen, candidates):
        """The most that scores can add up to, and how much less with each one, and without."""
        left, order = self.left(chosen, candidates), np.append(np.sort(scores)[::-1], 0.0)
        value = float(order[:left].sum()) * (1.0 + 2 * (len(order) + 4) * UNIT)
        into = order[left - 1] - scores * (1.0 + 8.0 * UNIT)
        return value, into, scores * (1.0 - 8.0 * UNIT) - order[left]


class Rules:
    """Confirms tasks."""

    def __init__(self, numbers: Numbers, header: dict[str, Any]):
        problem, claim = header["problem"], header["claim"]
        kind = beside("_verify_rules").Constraints if problem["constraints"] else Choices
        self.numbers, self.choices = numbers, kind(problem)
        self.guide = guide.Guide(problem["shift"])
        self.theta, self.components = Criterion(problem["criterion"]), problem["n_components"]
        self.scale = numbers.unit**2 if self.theta.squared else numbers.unit
        self.listed = {tuple(sorted(s)) for s in claim["solutions"]}
        # What no set that is not listed may be below.
        self.limit = limit_of(claim) / self.scale
        self.rules: Counter[str] = Counter()
        self.target = np.arange(numbers.p, numbers.p + numbers.q)
        F = numbers.fast[numbers.p :, numbers.p :]
        self.doubt = _DOUBT * float(self.theta(np.linalg.eigvalsh(F)[::-1]))
        # An error that is rounding: a share of the target's, or, for a Gram matrix, whose
        # eigenvalues are known up to rounding, that of such eigenvalues.
        total = float(np.trace(F))
        noise = float(self.theta(np.full(len(F), 16 * len(F) * UNIT * total)))
        share = 1e-12 * (total if self.theta.squared else math.sqrt(max(total, 0.0)))
        self.nothing = max(share, noise) if problem["input"] == "gram" else share

    # -- what others may do better --------------------------------------------------------

    def exactly(self, subset: tuple[int, ...]) -> tuple[float, float] | None:
        """Two numbers between which the error of a complete set lies, in units of ``scale``."""
        return None

    def redone(self, rule: str, node: Task, found: np.ndarray, by=None) -> np.ndarray:
        """What exact arithmetic confirms of what a rule finds of a node."""
        return found

    redoes_all = False  # whether it is asked about the last columns

    def decide(self, subset: tuple[int, ...]) -> None:
        """A set that extended precision does not show to be above the limit."""
        raise Refuted(
            f"rounding hides whether the columns {list(subset)} are better: exact arithmetic "
            "must decide."
        )

    # -- elimination ----------------------------------------------------------------------

    def eliminated(self, G, chosen: np.ndarray, others: np.ndarray) -> tuple[Any, np.ndarray]:
        """What stacks of chosen columns take of others, one row each, and the free directions: a
        column without a positive pivot is one unless it adds nothing by all its numbers."""
        m, twins = chosen.shape[1], self.numbers.alike[chosen]
        every, free = np.hstack([chosen, others]), np.full(len(chosen), self.components)
        W = G[chosen[:, :, None], every[:, None]]
        for j in range(m):
            pivots = W[:, j, j].copy()
            idle = (twins[:, j] < 0) | (twins[:, :j] == twins[:, j, None]).any(axis=1)
            free += (pivots <= 0.0) & ~idle
            W[:, j] /= np.sqrt(np.where(pivots > 0.0, pivots, np.inf))[:, None]
            W[:, j + 1 :] -= W[:, j, j + 1 : m, None] * W[:, j, None]
        return W[:, :, m:], free

    def parts(self, node: Task) -> Parts:
        """The numbers of one node."""
        n, others = len(node.candidates), np.append(node.candidates, self.target)
        W, free = self.eliminated(self.numbers.fast, node.chosen[None], others[None])
        M = self.numbers.fast[others[:, None], others] - W[0].T @ W[0]
        M.flags.writeable = False  # by those who make proposals
        return Parts(M[:n, :n], M[:n, n:], M[n:, n:], int(free[0]))

    def errors(self, F: np.ndarray, directions: int, sign: float = 1.0) -> np.ndarray:
        """The criterion of what so many free directions leave of each F, less its rounding; that
        added with the other sign."""
        q = F.shape[-1]
        values = np.linalg.eigvalsh(F)[..., ::-1]
        charge = sign * 8 * q * UNIT * np.abs(values).max(axis=-1, initial=0.0)
        if self.theta.squared:
            caught = values[..., :directions].sum(axis=-1)
            found = np.trace(F, axis1=-2, axis2=-1) - caught - (directions + 1) * charge
        else:
            found = self.theta(values[..., directions:] - charge[..., None])
        return found - sign * 8 * (q + 8) * UNIT * np.abs(found)

    # -- one task after the other ---------------------------------------------------------

    def confirm(self, tasks: Iterable[Task]) -> Counter[str]:
        """Which rules show them, and how often; or :class:`Refuted`."""
        self.rules, budget = Counter(), float(MOST_NODES)
        stack: list[Task] = list(chain(*map(self._unshown, tasks)))
        pairs: dict[tuple[int, int], list[Task]] = {}
        whole: list[tuple[int, ...]] = []
        while stack or pairs:
            if not stack:
                stack += self._pairs(pairs.popitem()[1])
                continue
            node = self.narrowed(stack.pop())
            if node is None:
                continue
            n, left, shape = len(node.candidates), self.choices.left(*node[:2]), _shape(node)
            budget -= 1.0 if left > 3 else min(n**left / 1e5, 1.0)
            if budget < 0.0:
                raise Refuted("the proof leaves too much to be shown by its reader.")
            if left <= 1 or (n == left and not self.choices.varies):
                columns = node.candidates.tolist()
                sets = [columns[:left]] if left != 1 else [[column] for column in columns]
                whole += chain(*(self.choices.between(node.chosen.tolist(), s) for s in sets))
            elif left > 3 or not self.theta.squared or self.components > 0:
                stack += self._divided(node)
            elif left == 3:  # by the first of them
                stack += node.divided(range(n)[::-1])
            else:
                pairs.setdefault(shape, []).append(node)
                if len(pairs[shape]) * (n + self.numbers.q) ** 2 > _STACK:
                    stack += self._pairs(pairs.pop(shape))
        self._complete(whole)
        return self.rules

    def narrowed(self, node: Task) -> Task | None:
        """A node without what follows from the problem; None if it holds no selection. Copies of
        chosen columns up to rounding do not count, and are left out."""
        (chosen, candidates), alike, twins = node[:2], self.numbers.alike, self.numbers.twins
        if self.numbers.n_alike:
            idle = np.isin(alike[candidates], alike[chosen])
            candidates = candidates[~idle | np.isin(twins[candidates], twins[chosen])]
        found = self.choices.narrowed(chosen, candidates)
        if found is None or len(found[1]) == len(node.candidates):
            return found and node
        some = np.isin(node.candidates, found[1])
        return Task(*found, *(per if per is None else per[some] for per in node[2:]))

    def _unshown(self, task: Task) -> list[Task]:
        """Nodes that are to be closed to show what a task says."""
        marks, node = task.marks, self.narrowed(task)
        if node is None or marks is None or not marks.any():
            return [node] if node is not None and marks is None else []
        # What follows from the problem, then what bounds say of the others.
        found = np.where(np.isin(task.candidates, node.chosen), 1, 2)
        found[np.isin(task.candidates, node.candidates)] = self._found(node)
        nodes, others = [], np.ones(len(marks), dtype=bool)
        for at in np.flatnonzero((marks > 0) & (found != marks)):
            others[at] = False
            nodes.append(task.with_(np.arange(at, at + (marks[at] == 2)), others))
            others[at] = marks[at] == 1
        return nodes

    def _found(self, node: Task) -> np.ndarray:
        """Which of its marks the bounds of a node confirm."""
        marks = np.asarray(node.marks, dtype=np.intp)
        found = np.zeros_like(marks)
        for rule, bound in self._bounds(node, 0 if node.z is None else 1):
            some = (found != marks) & (np.where(marks == 2, bound.into, bound.out) >= self.limit)
            found += self.redone(_EACH[rule], node, np.where(some, marks, 0), bound.by)
            self.rules[_EACH[rule]] += 1
            if (found == marks).all():
                break
        return found

    def _divided(self, node: Task) -> list[Task]:
        """What is left to close of a node."""
        rule, bound = next(self._bounds(node, None))
        closes = np.array([int(bound.value >= self.limit)])
        if bound.value >= self.limit - self.doubt and self.redone(rule, node, closes, bound.by)[0]:
            self.rules[rule] += 1
            return []
        marks = self.redone(_EACH[rule], node, bound.marks(self.limit), bound.by)
        kept, fewer = node.with_(marks == 1, marks == 0), rule == "relaxation" and marks.any()
        self.rules[_EACH[rule] if fewer or rule == "span" else "branching"] += 1
        if fewer:
            return [kept]
        left = self.choices.left(*node[:2])
        return kept.divided(self.guide.order(bound._replace(into=bound.into[marks == 0]), left))

    def _bounds(self, node: Task, turns: int | None) -> Iterator[tuple[str, Bound]]:
        """Bounds of a node by one rule after the other, with so many proposals at most."""
        parts, left = self.parts(node), self.choices.left(*node[:2])
        fits = 0 < left < len(node.candidates) + self.choices.varies
        if self.theta.squared and parts.free == 0 and fits and turns != 0:
            try:
                with np.errstate(all="ignore"):
                    best = self._relaxed(node, parts, left, turns)
                yield "relaxation", best
            except np.linalg.LinAlgError:
                pass
        yield "span", self._span(node, parts, left)

    def _relaxed(self, node: Task, parts: Parts, left: int, turns: int | None) -> Bound:
        """The best bound of so many proposals; it stops where the limit is reached."""
        relaxation, best = Relaxation(parts, self.guide.frame(*parts[:2], left)), None
        proposed = self.guide.coefficients(*relaxation.given, left, node.z)
        most = partial(self.choices.most, chosen=node.chosen, candidates=node.candidates)
        for B in islice(proposed, turns or _PROPOSALS):
            bound = relaxation.bound(B, most)
            best = bound if best is None or bound.value > best.value else best
            if best.value >= self.limit:
                break
        if best is None:
            raise np.linalg.LinAlgError
        return best

    def _span(self, node: Task, parts: Parts, left: int) -> Bound:
        """Errors of the eigenvalues that no directions catch, or that all candidates leave, and
        those with one candidate chosen."""
        K, c, F, free = parts
        pivots, q, twins = np.diag(K), len(F), self.numbers.alike
        heights = c / np.sqrt(np.where(pivots > 0.0, pivots, np.inf))[:, None]
        some = np.array_split(heights, 1 + heights.size * q // 10**6)
        into = [self.errors(F - h[:, :, None] * h[:, None, :], left + free - 1) for h in some]
        idle = np.isin(twins[node.candidates], [-1, *twins[node.chosen]])
        with_free = np.where((pivots <= 0.0) & ~idle, self.errors(F, left + free), np.hstack(into))
        every, least = np.append(node.chosen, node.candidates), np.zeros(q)
        rest = self.parts(Task(every, every[:0]))
        for M, directions in ((F, left + free), (rest.F, rest.free)):
            values = np.linalg.eigvalsh(M)[::-1]
            values -= 8 * q * UNIT * np.abs(values).max(initial=0.0)
            first = max(q - directions, 0)
            least[:first] = np.maximum(least[:first], values[directions:])
        error = float(self.theta(least))
        value = error - 8 * (q + 8) * UNIT * abs(error)
        return Bound(value, with_free, np.full(len(c), -np.inf))

    # -- complete sets ------------------------------------------------------------------

    def _pairs(self, nodes: list[Task]) -> list[Task]:
        """Close nodes with two columns left, of one shape; those with free directions are divided.

        The steps that choose a column leave :math:`H = cc^T` up to a share of
        :math:`\\sqrt{H_{ii}H_{jj}}`."""
        chosen, rest = (np.array([node[i] for node in nodes]) for i in range(2))
        n, q, G = rest.shape[1], self.numbers.q, self.numbers.fast
        target = np.broadcast_to(self.target, (len(nodes), q))
        others = np.hstack([rest, target])
        W, free = self.eliminated(G, chosen, others)
        K = G[rest[:, :, None], others[:, None]] - np.swapaxes(W[:, :, :n], 1, 2) @ W
        K, c, charge = K[:, :, :n], K[:, :, n:], 4 * (q + 32) * UNIT
        totals = (np.diag(G)[target] - (W[:, :, n:] ** 2).sum(axis=1)).sum(axis=1)
        room = totals - self.limit - charge * (np.abs(totals) + abs(self.limit))
        with np.errstate(all="ignore"):
            heights, H = np.diagonal(K, axis1=1, axis2=2), c @ np.swapaxes(c, 1, 2)
            heights = np.where(heights > 0.0, heights, np.nan)  # nothing is known of what has none
            energy = np.diagonal(H, axis1=1, axis2=2) * (1.0 + charge)
            ratio = K / heights[:, :, None]
            caught = energy[:, None] - 2.0 * ratio * H + ratio**2 * energy[:, :, None]
            height = heights[:, None] - ratio * K
            caught /= np.where(height > 0.0, height, np.nan)
            caught += (energy / heights)[:, :, None]
            closed = caught <= (room * (1.0 - 16 * UNIT))[:, None, None]
        left, sets = list[Task](), list[tuple[int, ...]]()
        for node, is_free, found in zip(nodes, free > 0, closed, strict=True):
            if is_free:
                left += self._divided(node)
                continue
            self.rules["last columns"] += 1
            found = self.redone("last columns", node, found) if self.redoes_all else found
            for pair in np.argwhere(np.triu(~found, 1)).tolist():
                sets += self.choices.between(node.chosen.tolist(), node.candidates[pair].tolist())
        self._complete(sets)
        return left

    def _complete(self, sets: list[tuple[int, ...]]) -> None:
        """Complete sets, unless the proof lists them, in extended precision."""
        sets = sorted({tuple(sorted(s)) for s in sets} - self.listed, key=len)
        some = max(1, 10**6 // (len(sets[-1] if sets else ()) + self.numbers.q) ** 2)
        alike = (list(same) for _, same in groupby(sets, len))
        for part in chain.from_iterable(chunks(same, some) for same in alike):
            for at in np.flatnonzero(~(self.ends(part) >= self.limit)):
                if self.ends([part[at]], upper=True)[0] < self.limit:
                    raise Refuted(f"the columns {list(part[at])} are better.")
                self.rules["complete set, exactly"] += 1
                self.decide(part[at])
        self.rules["complete set"] += len(sets)

    def ends(self, sets: list[tuple[int, ...]], *, upper: bool = False) -> np.ndarray:
        """Lower, or upper, ends of the errors of complete sets in extended precision."""
        G, p = self.numbers.high if upper else self.numbers.low, self.numbers.p
        target = np.broadcast_to(self.target, (len(sets), len(self.target)))
        W, free = self.eliminated(G, np.array(sets, dtype=np.intp), target)
        free = np.full(len(sets), self.components) if upper else free
        if self.theta.squared and not free.any():
            left = np.diag(G)[p:] - (W**2).sum(axis=1)
            return left.sum(axis=1).astype(np.float64)
        F = (G[p:, p:] - np.swapaxes(W, 1, 2) @ W).astype(np.float64)
        sign, pairs = -1.0 if upper else 1.0, zip(F, free, strict=True)
        return np.array([float(self.errors(M, int(f), sign)) for M, f in pairs])


def _shape(node: Task) -> tuple[int, int]:
    return len(node.candidates), len(node.chosen)


def listed_to(claim: dict[str, Any]) -> float:
    """The error below which all sets are listed."""
    if claim["within"] is None:
        return float(claim["errors"][-1])
    return float(claim["error"]) * (1.0 + float(claim["within"]))


def limit_of(claim: dict[str, Any]) -> float:
    """What no set that the proof does not list may be below."""
    bound, error = float(claim["lower_bound"]), float(claim["error"])
    if claim["complete"]:
        bound = error = listed_to(claim)
    return bound - TOLERANCE * abs(error)


# -- the tree -------------------------------------------------------------------------


def replaced(node: Task, record, most: int) -> tuple[list[Task], list[Task]]:
    """The nodes by which a record replaces one with so many columns to choose at most, and what is
    to be shown for that."""
    items, candidates = np.array(record.items, dtype=np.int64), node.candidates
    if record.z is not None:
        if len(record.z) != len(candidates):
            raise Refuted("a relaxation has coefficients for other columns than the node has.")
        if record.kind == _CLOSE:
            return [], [node._replace(z=record.z)]
        fixed, kept = items == 1, items == 0
        if fixed.sum() > most:
            raise Refuted("a relaxation fixes more columns than are to be chosen.")
        shown = node._replace(marks=np.where(fixed, 1, 2 * ~kept), z=record.z)
        return [node.with_(fixed, kept)], [shown]
    listed = np.isin(candidates, items)
    left = node.with_(items[:0], listed) if record.kind == _LIST else node
    places = {column: at for at, column in enumerate(left.candidates.tolist())}
    *parts, none = left.divided([places.get(column, -1) for column in items.tolist()])
    if record.kind == _LIST:
        return parts, [node._replace(marks=2 * ~listed), none]
    return [*parts, none], []


def tasks(header: dict[str, Any], rules: Rules, records: Iterable[Any]) -> Iterator[Task]:
    """Everything that is to be shown of all nodes; the copies that are left out are checked."""
    problem, choices = header["problem"], rules.choices
    include = np.array(problem["include"], dtype=np.int32)
    candidates = np.arange(problem["shape"][1], dtype=np.int32)
    candidates = np.setdiff1d(candidates, [*include, *problem["exclude"]])
    nodes, count, size = {0: Task(include, candidates)}, 1, 0
    for at, record in enumerate(records):
        if rules.limit <= 0.0:  # no error is negative
            continue
        if record.kind == _COPIES:
            twins, left_out = rules.numbers.twins, np.array(record.items, dtype=np.int64)
            kept = beside("_verify_special").without(left_out, include, candidates, header, twins)
            if at or kept is None or choices.varies or not choices.narrowed(include, kept):
                raise Refuted("columns are left out that count.")
            nodes = {0: Task(include, kept)}
            continue
        if record.node not in nodes:
            raise Refuted(f"node {record.node} is divided, but it is not open.")
        node = nodes.pop(record.node)
        most = len(node.candidates) if choices.varies else choices.left(*node[:2])
        parts, shown = replaced(node, record, most)
        for some in parts:
            if choices.varies or choices.narrowed(*some[:2]):
                nodes[count] = some
            count += 1
        yield from (some for some in shown if choices.varies or choices.narrowed(*some[:2]))
        size += 4 * sum(sum(_shape(some)) + 100 for some in parts) - 4 * sum(_shape(node)) - 400
        if size > MOST_OPEN:
            raise Unreadable("The proof has more open nodes than can be kept.")
    if rules.limit > 0.0:
        yield from nodes.values()


# -- the whole ------------------------------------------------------------------------


def begin(header: dict[str, Any], X, y=None, kind: type[Rules] = Rules) -> Rules:
    """The rules for data that are those of a proof."""
    problem = header["problem"]
    if problem["kind"] != "columns":
        raise Unreadable("This proof is not about columns: this program does not check it.")
    X, target, weights = counted(problem, X, y)
    check_data(problem, X, target)
    return kind(Numbers(X, target, weights, problem), header)


def check_claim(rules: Rules, header: dict[str, Any]) -> None:
    """Whether the selections have the errors that are stated, and the constraints are met."""
    problem, claim = header["problem"], header["claim"]
    sets, errors = [claim["selection"], *claim["solutions"]], [claim["error"], *claim["errors"]]
    for subset, error in zip(sets, errors, strict=True):
        if not set(problem["include"]) <= set(subset) or set(problem["exclude"]) & set(subset):
            raise Refuted("a selection contradicts include or exclude.")
        if not rules.choices.obeys(subset):
            raise Refuted("a selection does not obey the constraints.")
        ordered, stated = tuple(sorted(subset)), float(error) / rules.scale
        slack = TOLERANCE * abs(stated) + rules.nothing
        low, high = (float(rules.ends([ordered], upper=upper)[0]) for upper in (False, True))
        if rules.theta.squared and high - low > slack and (ends := rules.exactly(ordered)):
            low = ends[0]
        if not low - slack <= stated <= high + slack:
            raise Refuted("a selection has another error than the proof states.")
    if not sets[1:] or sorted(sets[1]) != sorted(sets[0]) or sorted(errors[1:]) != errors[1:]:
        raise Refuted("the solutions are not in the order of their errors, the selection first.")
    if len({tuple(sorted(s)) for s in sets[1:]}) < len(sets[1:]):
        raise Refuted("a solution is listed twice.")
    if claim["lower_bound"] > claim["error"] * (1.0 + TOLERANCE):
        raise Refuted("the lower bound is above the error.")


def statement_of(header: dict[str, Any], dependent: int = 0, alike: int = 0) -> str:
    """What is certain, in one sentence. Of ``dependent`` selections, and of those that hold one of
    ``alike`` columns and the other that it is a multiple of up to rounding, nothing is said."""
    problem, claim = header["problem"], header["claim"]
    k, fixed, rows = len(claim["selection"]), len(problem["include"]), problem["kind"] == "rows"
    n = problem["shape"][0 if rows else 1] - fixed - len(problem["exclude"])
    digits = math.lgamma(n + 1) - math.lgamma(k - fixed + 1) - math.lgamma(n - k + fixed + 1)
    digits /= math.log(10.0)
    count = str(math.comb(n, k - fixed)) if digits < 100 else f"about 1e{digits:.0f}"
    every = f"all {count} selections"
    if problem["constraints"]:
        kinds = ", ".join(sorted({given["kind"] for given in problem["constraints"]}))
        size = "any size" if problem["size"] is None else f"size {problem['size']}"
        every = f"all selections of {size} that obey the constraints ({kinds})"
    uncounted = [f"{dependent} whose columns depend on one another"] if dependent else []
    uncounted += ["those with a column and a multiple of it"] if alike else []
    if uncounted:
        every += f", but for {' and '.join(uncounted)} up to {DEPENDENT:g},"
    error, bound = float(claim["error"]), float(claim["lower_bound"])
    weighted = "" if problem["weights"] is None else "weighted "
    what = f"The {k} selected columns have the {weighted}error {error:.10g}"
    what = f"Without the {k} removed rows the error is {error:.10g}" if rows else what
    none, few = f"none of {every} is below {bound:.10g}.", f", up to a relative {TOLERANCE:g}."
    if claim["complete"] and (len(claim["solutions"]) > 1 or claim["within"] is not None):
        none = f"of {every} none but the {len(claim['solutions'])} listed ones "
        return f"{what}; {none}is below {listed_to(claim):.10g}{few}"
    if bound >= error * (1.0 - TOLERANCE):
        none = f"none of {every} has a smaller one{few}"
    return f"{what}, and {none}"


def chunks(parts: Iterable[Any], count: int = PARTS) -> Iterator[list[Any]]:
    """Some parts at a time."""
    parts = iter(parts)
    while chunk := list(islice(parts, count)):
        yield chunk


def check(proof, X, y=None) -> str:
    """What a proof shows of data, in this process and without exact arithmetic; or
    :class:`Refuted`."""
    with open(proof, "rb") as file:
        header, digest = header_of(file)
        found: Counter[str] = Counter()
        rules = begin(header, X, y)
        check_claim(rules, header)
        for chunk in chunks(tasks(header, rules, guide.records_of(file, digest))):
            found += rules.confirm(chunk)
            if found["branching"] > MOST_NODES:
                raise Refuted("the proof leaves too much to be shown by its reader.")
    return statement_of(header, alike=rules.numbers.n_alike)


def main(arguments: list[str] | None = None) -> int:
    """Check a proof from the command line: 0 it holds, 1 refuted, 2 unreadable."""
    return guide.main(check, Refuted, arguments)


if __name__ == "__main__":
    sys.exit(main())
