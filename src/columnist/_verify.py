r"""Check a proof of column selection: NumPy and the standard library alone.

A proof names a problem (the data by a hash, k, criterion, weights, constraints), a claim (the
selection, its error, a lower bound that no selection is below) and a tree. This program recomputes
everything that matters from the data. It shares no code with the search that wrote the proof, and
it also runs alone: ``python _verify.py PROOF DATA.csv``. What constraints mean is in
``_verify_rules.py``, which proofs with constraints need beside it.

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
  :math:`g_i = \lVert Y_i - P_iB \rVert^2 / D_i`. Both conditions are confirmed by eigenvalues. A
  candidate is dropped, or fixed, if choosing it, or not, raises the bound enough.
* *completion* (squared Frobenius norm): all choices of the last two or three columns, and
  complete sets in extended precision.
* *branching*: what the rules above leave is divided further, up to a stated number of nodes.

With constraints up to t columns may be chosen: what follows from the constraints is drawn at every
node, :math:`ts + \sum g_i` gives way to the most that :math:`s + g_i` can add up to, and of the
complete sets those that obey are evaluated.

**The order.** :func:`begin` checks data and claim, :func:`tasks` replays the tree and yields what
is left to be shown of each node, and :meth:`Rules.confirm` shows it. Tasks do not depend on one
another. A class that has exact arithmetic may override :meth:`Rules.decide` and
:meth:`Rules.redone`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import struct
import sys
import zlib
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
# Turns that look for coefficients where the proof has none, or poor ones.
_TURNS = 12
# Share of the error without columns up to which rounding may hide whether a bound is reached.
_DOUBT = 1e-10
_END, _LIST, _BRANCH, _SHRINK, _CLOSE, _COPIES = range(6)
_LEAST_Z = 1e-5
# Entries of the matrices that are eliminated in one go.
_STACK = 2**19


class Unreadable(ValueError):
    """The file is no proof, or a damaged one."""


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
    except Unreadable:
        raise
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        raise Unreadable("This file is no proof: its first line cannot be read.") from None
    if not sense:
        raise Unreadable("This file is no proof of a kind and version that is known here.")
    return header, hashlib.sha256(line).digest()


def _makes_sense(problem: dict[str, Any], claim: dict[str, Any]) -> bool:
    """Types and ranges of what is used below; items are columns, or rows."""
    n, k = problem["shape"][0 if problem["kind"] == "rows" else 1], problem["size"]
    sets = [claim["selection"], *claim["solutions"]]
    every = [*sets, problem["include"], problem["exclude"]]
    plain, weights = problem["constraints"] == [], problem["weights"]
    k = n if k is None and not plain else k  # any number of them
    whole = [*problem["shape"], k, problem["n_components"], *chain(*every)]
    words = [problem[name] for name in ("kind", "data", "target", "centering", "input")]
    words += [problem["criterion"], str(problem["target_data"])]
    numbers = [claim["error"], claim["lower_bound"], problem["shift"], *claim["errors"]]
    within = 0.0 if claim["within"] is None else claim["within"]
    alpha, squared = float(problem["alpha"]), Criterion(problem["criterion"]).squared
    return (
        all(type(number) is int and 0 <= number < 2**31 for number in whole)
        and all(len(set(s)) == len(s) and max(s, default=0) < n for s in every)
        and all(len(s) == k for s in sets if plain) and 0 < k <= n and len(problem["shape"]) == 2
        and (plain or constraining().are_known(problem["constraints"], n))
        and (weights is None or _are_weights(weights, problem["shape"][0]))
        and ((plain and weights is None) or problem["kind"] == "columns")
        and (weights is None or problem["input"] == "data") and 0.0 <= within < math.inf
        and all(type(word) is str for word in words) and type(claim["complete"]) is bool
        and all(math.isfinite(float(number)) for number in numbers)
        and len(claim["errors"]) == len(claim["solutions"])
        and (alpha == 0.0 or (0.0 < alpha < math.inf and squared and problem["target"] != "X"))
    )  # fmt: skip


def _are_weights(weights: Any, count: int) -> bool:
    """Whether these are so many numbers, none negative, and not all zero."""
    return (
        type(weights) is list and len(weights) == count
        and all(type(w) in (int, float) and 0.0 <= w < math.inf for w in weights)
        and 0.0 < math.fsum(weights) < math.inf
    )  # fmt: skip


def constraining():
    """What knows constraints: its file must be beside this one."""
    try:
        if __package__:
            from columnist import _verify_rules
        else:
            import _verify_rules  # type: ignore # beside this file
    except ImportError:
        raise Unreadable(
            "This proof has constraints: put _verify_rules.py beside this program."
        ) from None
    return _verify_rules


class Body:
    """Bytes of the compressed part, a piece at a time."""

    def __init__(self, file: BinaryIO):
        self.file, self.inflate, self.buffer = file, zlib.decompressobj(), b""

    def read(self, size: int, *, end: bool = False) -> bytes:
        """So many bytes; at the ``end`` there may be none."""
        try:
            while len(self.buffer) < size and not self.inflate.eof:
                more = self.inflate.unconsumed_tail or self.file.read(2**16)
                if not more:
                    break
                self.buffer += self.inflate.decompress(more, 2**20)
        except zlib.error:
            raise Unreadable("The proof is damaged.") from None
        if len(self.buffer) < size and not end:
            raise Unreadable("The proof ends before its end mark.")
        data, self.buffer = self.buffer[:size], self.buffer[size:]
        return data

    def finish(self) -> None:
        """Nothing may follow, and the checksum must be there."""
        rest = self.read(1, end=True) + self.inflate.unused_data + self.file.read(1)
        if rest or not self.inflate.eof:
            raise Unreadable("The proof is damaged: it does not stop at its end mark.")

    def records(self, digest: bytes, last: int) -> Iterator[tuple[int, int, int]]:
        """Kind, node and count of every record up to the end; kinds are 1 to ``last``."""
        count = 0
        while True:
            kind, node = struct.unpack("<BQ", self.read(9))
            if kind == _END:
                if node != count or self.read(32) != digest:
                    raise Unreadable("The proof is damaged: its end does not match its beginning.")
                return self.finish()
            if kind > last:
                raise Unreadable("The proof is damaged: it holds an unknown record.")
            count += 1
            yield kind, node, *struct.unpack("<I", self.read(4))

    def array(self, kind: str, count: int) -> np.ndarray:
        if count > 2**24:
            raise Unreadable("The proof is damaged: a record is too long.")
        return np.frombuffer(self.read(count * np.dtype(kind).itemsize), dtype=kind)


class Record(NamedTuple):
    """One record: its kind, the node, columns or marks, and coefficients z of the candidates.

    Marks say what becomes of each candidate, in ascending order: 0 kept, 1 fixed, 2 dropped.
    """

    kind: int
    node: int
    items: np.ndarray
    z: np.ndarray | None = None


def records_of(file: BinaryIO, digest: bytes) -> Iterator[Record]:
    """The records after the first line, which has this hash."""
    body = Body(file)
    for kind, node, n in body.records(digest, _COPIES):
        if kind in (_SHRINK, _CLOSE):
            z = _LEAST_Z ** (body.array("<u2", n) / 65535.0)
            yield Record(kind, node, body.array("<u1", n if kind == _SHRINK else 0), z)
        else:
            yield Record(kind, node, body.array("<u4", n).astype(np.int64))


# -- the criterion --------------------------------------------------------------------


class Criterion:
    """A criterion by name, of eigenvalues of F in descending order."""

    def __init__(self, name: str):
        self.kind, _, parameter = name.partition(":")
        self.p = float(parameter) if self.kind == "schatten" else 2.0
        self.first = int(parameter) if self.kind == "kyfan" else None
        self.squared = self.kind == "frobenius"
        plain = self.kind in ("frobenius", "nuclear", "spectral") and not parameter
        if not (plain or self.kind in ("schatten", "kyfan")) or not self.p > 0.0 or (
            self.first is not None and self.first < 1
        ):  # fmt: skip
            raise ValueError(f"The criterion {name!r} is not known here.")

    def __call__(self, eigenvalues: np.ndarray) -> np.ndarray:
        if eigenvalues.shape[-1] == 0:
            return np.zeros(eigenvalues.shape[:-1])
        values = np.maximum(eigenvalues, 0.0)
        if self.squared:
            return values.sum(axis=-1)
        sigma = np.sqrt(values)
        if self.kind == "spectral":
            return sigma[..., 0]
        if self.kind != "schatten":
            return sigma[..., : self.first].sum(axis=-1)
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


def target_of(problem: dict[str, Any], y) -> np.ndarray | None:
    """The target matrix: classes have one column of zeros and ones each."""
    if problem["target"] == "X":
        return None
    if y is None:
        raise Refuted("the proof is about a target y, and none is given.")
    if problem["target"] == "classes":
        labels = np.asarray(y).ravel()
        return (labels[:, None] == np.unique(labels)).astype(np.float64)
    return matrix_of(y)


def counted(problem: dict[str, Any], X, y=None) -> tuple[Any, np.ndarray | None, np.ndarray | None]:
    """The rows that count, their target, and their weights."""
    X, weights = matrix_of(X), problem["weights"]
    if list(X.shape) != problem["shape"]:
        raise Refuted("these are other data than those of the proof.")
    if weights is not None:
        there = np.flatnonzero(weights)
        if y is not None and len(y := np.asarray(y)) != len(weights):
            raise Refuted("this is another target than that of the proof.")
        X, y, weights = X[there], y if y is None else y[there], np.array(weights)[there]
    return X, target_of(problem, y), weights


def check_data(problem: dict[str, Any], X, target=None) -> None:
    """Refuse other data than those of the proof."""
    square = problem["input"] != "gram" or X.shape[0] == X.shape[-1]
    if list(X.shape[1:]) != problem["shape"][1:] or data_hash(X) != problem["data"] or not square:
        raise Refuted("these are other data than those of the proof.")
    if target is not None and (
        len(target) != X.shape[0] or data_hash(target) != problem["target_data"]
    ):
        raise Refuted("this is another target than that of the proof.")


def _rows_of(Z: np.ndarray, center: bool, weights) -> Iterator[np.ndarray]:
    """Rows in extended precision, some at a time, without the means if these are free. A row of
    weight w counts like w equal ones."""
    w = np.ones((len(Z), 1)) if weights is None else weights[:, None]
    w, means = w.astype(np.longdouble), np.zeros(Z.shape[1], dtype=np.longdouble)
    parts = [slice(start, start + _ROWS) for start in range(0, len(Z), _ROWS)]
    if center and parts:
        means = sum((w[part] * Z[part]).sum(axis=0) for part in parts) / w.sum()
    for part in parts:
        yield (Z[part] - means) * np.sqrt(w[part])


def _products(Z: np.ndarray, center: bool, weights) -> tuple[np.ndarray, float]:
    """Inner products of columns in extended precision, and their rounding as a share of two
    lengths."""
    m, n = Z.shape
    exact = float(m) * n * n <= _PRODUCTS
    total = np.zeros((n, n), dtype=np.longdouble)
    for rows in _rows_of(Z, center, weights):
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
    and above the true one in extended precision, ``fast`` is below it in double precision."""

    def __init__(self, X, target, weights, problem: dict[str, Any]):
        self.p = p = X.shape[1]
        gram, center, alpha = problem["input"] == "gram", problem["centering"] == "mean", 0.0
        dense = X.toarray() if hasattr(X, "toarray") else X
        if gram:
            G = dense.astype(np.longdouble)
            G, share = (G + G.T) / 2, 2.0 * EXTENDED
        else:
            every = dense if target is None else np.hstack([dense, target])
            G, share = _products(every, center, weights)
        if target is None:
            G = np.vstack([np.hstack([G, G]), np.hstack([G, G])])
        else:
            alpha = float(problem["alpha"])
            G[np.arange(p), np.arange(p)] += np.longdouble(alpha)
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
        # With a ridge every column counts.
        self.twins = np.arange(p) if alpha > 0.0 else _twins(dense, gram, center)
        self.alike = self.twins.copy()  # up to rounding
        if not gram and alpha == 0.0 and share < 0.1 * DEPENDENT:
            self._find_alike(G[:p, :p], dense, center, weights)
        self.n_alike = int(np.count_nonzero(self.alike != self.twins))

    def _find_alike(self, G: np.ndarray, dense: np.ndarray, center: bool, weights) -> None:
        """Columns of which another one leaves so little that they count as dependent."""
        for j, i in np.argwhere(np.tril(np.abs(G) > 1.0 - 1e-12, -1)).tolist():
            if self.alike[i] != i or self.alike[j] != j:
                continue
            Z = np.concatenate([*_rows_of(dense[:, [i, j]], center, weights)])
            x, y = (Z / np.sqrt((Z * Z).sum(axis=0))).T
            rest = y - x * (x @ y)
            if np.sqrt(rest @ rest) <= 0.5 * DEPENDENT:
                self.alike[j] = i


def _lowered(G: np.ndarray, share: float) -> np.ndarray:
    return G - np.diag(np.diag(G) * G.dtype.type(share))


def _twins(dense: np.ndarray, gram: bool, center: bool) -> np.ndarray:
    """For every column the first one of which it is a power of two, or its negative, times; -1 for
    columns of zeros, and, without their means, of one number."""
    twins = np.arange(dense.shape[1])
    seen: dict[bytes, int] = {}
    for j, column in enumerate(dense.T):
        if not (column - column[0] if center and len(column) else column).any():
            twins[j] = -1
            continue
        largest = column[np.argmax(np.abs(column))]
        scaled = np.ldexp(column * math.copysign(1.0, largest), -math.frexp(largest)[1]) + 0.0
        first = seen.setdefault(hashlib.sha256(scaled.tobytes()).digest(), j)
        if not gram or dense[j, j] * dense[first, first] == dense[j, first] ** 2:
            twins[j] = first
    return twins


# -- the relaxation -------------------------------------------------------------------


class Bound(NamedTuple):
    """Lower bound of a node, by how much it rises with each candidate chosen, and not chosen, the z
    that gave it, and the next one."""

    value: float
    into: np.ndarray
    out: np.ndarray
    given: np.ndarray
    z: np.ndarray

    def marks(self, limit: float) -> np.ndarray:
        """1 for candidates that every set below the limit contains, 2 for those that none does."""
        slack = (limit - self.value) * (1.0 + 8.0 * UNIT)
        return np.where(self.into >= slack, 2, self.out >= slack)


class Parts(NamedTuple):
    """What the chosen columns of a node leave, and the free directions."""

    K: np.ndarray
    c: np.ndarray
    F: np.ndarray
    free: int


class Relaxation:
    """The relaxation of a node with up to ``left`` columns to choose, of which ``most`` says how
    much they can add up to (:meth:`Choices.most`); a LinAlgError if there is none."""

    def __init__(self, parts: Parts, left: int, shift: float, most: Callable):
        (K, c, F, _), self.left, self.most = parts, left, most
        self.K = (K + K.T) / 2
        self.energy = float(np.trace(F)) * (1.0 - 4 * len(F) * UNIT)
        self._diagonal()
        self._shifted(c, shift)

    def _diagonal(self) -> None:
        """D, a multiple of the heights of the columns above one another that is below K."""
        heights, n = 1.0 / np.diag(np.linalg.inv(self.K)), len(self.K)
        if not (np.isfinite(heights).all() and (heights > 0.0).all()):
            raise np.linalg.LinAlgError
        scaled = self.K / np.sqrt(heights) / np.sqrt(heights)[:, None]
        least = np.linalg.eigvalsh(scaled)[0] - 16 * n * UNIT * float(np.trace(scaled))
        if not least > 0.0:
            raise np.linalg.LinAlgError
        self.D = heights * min(float(least), 1.0) * (1.0 - 1e-12)
        self.P = self.K - np.diag(self.D)

    def _shifted(self, c: np.ndarray, shift: float) -> None:
        """Y and s with YY' + sK above cc'."""
        n, q = c.shape
        if min(n, q) <= self.left:
            self.Y, self.s = c, 0.0
            return
        L = np.linalg.cholesky(self.K)
        inner = np.linalg.solve(L, c)
        values, vectors = np.linalg.eigh(inner @ inner.T)
        s = min(max(shift, 0.0), 1.0) * max(float(values[n - 1 - self.left]), 0.0)
        above = values > s
        self.Y = L @ (vectors[:, above] * np.sqrt(values[above] - s))
        root = np.sqrt(self.D)
        difference = (self.Y @ self.Y.T + s * self.K - c @ c.T) / root / root[:, None]
        sizes = (self.Y**2).sum(axis=1) + s * np.diag(self.K) + (c**2).sum(axis=1)
        charge = (2 * n + q + 16) * 2 * UNIT * float((sizes / self.D).sum())
        self.s = s + max(charge - float(np.linalg.eigvalsh(difference)[0]), charge)

    def bound(self, z: np.ndarray) -> Bound:
        """The bound with the coefficients that belong to z."""
        D, P, Y, n = self.D, self.P, self.Y, len(self.D)
        B = self.coefficients(z)
        product = P @ B
        rest = Y - product
        lengths, roots = np.linalg.norm(B, axis=1), np.sqrt(np.maximum(np.diag(P), 0.0))
        spread = float((roots * lengths).sum())
        off = (n + 8) * 2 * UNIT * (np.linalg.norm(Y, axis=1) + roots * spread)
        g = (np.linalg.norm(rest, axis=1) * (1.0 + (Y.shape[1] + 8) * UNIT) + off) ** 2 / D
        g *= 1.0 + 16 * UNIT
        top, into, out = self.most(g + self.s)
        quadratic = float((B * product).sum()) + (n * Y.shape[1] + 2 * n + 8) * 2 * UNIT * spread**2
        value = self.energy - quadratic - top
        value -= 8 * UNIT * (abs(self.energy) + abs(quadratic) + abs(top))
        return Bound(value, into, out, z, _capped(np.sqrt(D) * lengths, self.left))

    def coefficients(self, z: np.ndarray) -> np.ndarray:
        """B for these weights."""
        return np.linalg.solve(self.P + np.diag(self.D / z), self.Y)

    def best(self, limit: float, z: np.ndarray | None) -> Bound:
        """The best bound of some turns; it stops where the limit is reached."""
        n = len(self.D)
        best = bound = self.bound(np.full(n, self.left / n) if z is None else z)
        for _ in range(_TURNS):
            if best.value >= limit:
                break
            bound = self.bound(bound.z)
            best = max(best, bound, key=lambda bound: bound.value)
        return best


def _capped(weights: np.ndarray, left: int) -> np.ndarray:
    """z proportional to the weights, at most 1, with sum ``left``."""
    weights = weights + 1e-12 * weights.max(initial=0.0) + 1e-300
    full = np.zeros(len(weights), dtype=bool)
    while True:
        z = np.where(full, 1.0, weights * (left - full.sum()) / max(weights[~full].sum(), 1e-300))
        now = z >= 1.0
        if (now == full).all() or now.sum() >= left:
            return np.clip(z, _LEAST_Z, 1.0)
        full = now


# -- the last columns -----------------------------------------------------------------


class Completions:
    r"""What the last columns catch at most beside those of a stack of nodes, under the squared
    Frobenius norm. The steps that choose a column leave :math:`H = cc^T` up to a share of
    :math:`\sqrt{E_iE_j}`, where E starts as the diagonal of H."""

    def __init__(self, K: np.ndarray, H: np.ndarray, E: np.ndarray, share: float):
        self.K, self.H, self.E, self.share = K, H, E, share
        heights = np.diagonal(K, axis1=1, axis2=2)
        # Nothing is known of what has no height.
        self.heights = np.where(heights > 0.0, heights, np.nan)
        self.energy = np.diagonal(H, axis1=1, axis2=2) + share * E

    def pairs(self) -> np.ndarray:
        """What two of them catch."""
        ratio = self.K / self.heights[:, :, None]
        second = ratio * ratio
        second *= self.energy[:, :, None]
        second += self.energy[:, None]
        second -= 2.0 * ratio * self.H
        ratio *= self.K
        height = self.heights[:, None] - ratio
        height[height <= 0.0] = np.nan
        second /= height
        second += (self.energy / self.heights)[:, :, None]
        return second

    def after(self, i: int) -> Completions:
        """The same beside the i-th candidate, of those behind it."""
        rest = slice(i + 1, None)
        k, u = self.K[:, i, rest], self.H[:, i, rest]
        v = k / self.heights[:, i, None]
        w = (u - 0.5 * self.H[:, i, i, None] * v)[:, None]
        K = self.K[:, rest, rest] - k[:, :, None] * v[:, None]
        H = v[:, :, None] * w
        H = self.H[:, rest, rest] - H - np.swapaxes(H, 1, 2)
        return Completions(K, H, self.E[:, rest] + v * v * self.E[:, i, None], 2 * self.share)


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
        return (chosen, candidates) if len(candidates) >= self.left(chosen, ()) else None

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
        kind = constraining().Constraints if problem["constraints"] else Choices
        self.numbers, self.choices = numbers, kind(problem)
        self.theta = Criterion(problem["criterion"])
        self.components, self.shift = problem["n_components"], float(problem["shift"])
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

    def redone(self, rule: str, node: Task, found: np.ndarray, z=None) -> np.ndarray:
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
        few: dict[tuple[int, int, int], list[Task]] = {}
        whole: list[tuple[int, ...]] = []
        while stack or few:
            if not stack:
                kind, nodes = few.popitem()
                stack += self._last(nodes, kind[0])
                continue
            node = self.narrowed(stack.pop())
            if node is None:
                self.rules["no set"] += 1
                continue
            n, left = len(node.candidates), self.choices.left(*node[:2])
            if left <= 1 or (n == left and not self.choices.varies):
                columns = node.candidates.tolist()
                sets = [columns[:left]] if left != 1 else [[column] for column in columns]
                whole += chain(*(self.choices.between(node.chosen.tolist(), s) for s in sets))
            elif self.theta.squared and self.components == 0 and left <= 3:
                budget -= n**left / 1e5
                kind = left, n, len(node.chosen)
                few.setdefault(kind, []).append(node)
                if len(few[kind]) * (n + self.numbers.q) ** 2 > _STACK:
                    stack += self._last(few.pop(kind), left)
            else:
                budget -= 1.0
                stack += self._divide(node, left)
            if budget < 0.0:
                raise Refuted("the proof leaves too much to be shown by its reader.")
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
        if marks is None or node is None:
            return [] if node is None else [node]
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
        marks, z, parts = np.asarray(node.marks), node.z, self.parts(node)
        left, found = self.choices.left(*node[:2]), np.zeros_like(marks)
        if z is not None and (relaxation := self.relaxation(node, parts, left)):
            bound = relaxation.bound(z)
            found = marks if bound.value >= self.limit else bound.marks(self.limit)
            found = np.where(found == marks, found, 0)
            found = self.redone("relaxation, fewer columns", node, found, z)
            self.rules["relaxation"] += 1
        # Of constraints no record says which bound has dropped a column.
        rest = (marks == 2) & (found != 2)
        if z is None or (self.choices.varies and rest.any()):
            self.rules["span, each column"] += 1
            bounds = self._children(node, parts, left)
            closed = self.redone("span, each column", node, rest & (bounds >= self.limit))
            found = np.where(closed, 2, found)
        return found

    def _closes(self, rule: str, node: Task, value: float, z: np.ndarray | None = None) -> bool:
        """Whether a bound closes a node."""
        closes = value >= self.limit
        if value >= self.limit - self.doubt:
            closes = bool(self.redone(rule, node, np.array([int(closes)]), z)[0])
        self.rules[rule] += closes
        return closes

    def relaxation(self, node: Task, parts: Parts, left: int) -> Relaxation | None:
        """The relaxation of a node, if there is one."""
        fits = 0 < left < len(node.candidates) + self.choices.varies
        if self.theta.squared and parts.free == 0 and fits:
            most = partial(self.choices.most, chosen=node.chosen, candidates=node.candidates)
            try:
                with np.errstate(all="ignore"):
                    return Relaxation(parts, left, self.shift, most)
            except np.linalg.LinAlgError:
                pass
        return None

    def _divide(self, node: Task, left: int) -> list[Task]:
        """What is left to close of a node."""
        parts = self.parts(node)
        relaxation = self.relaxation(node, parts, left)
        if relaxation is None:
            return self._by_span(node, parts, left)
        bound, every = relaxation.best(self.limit, node.z), np.arange(len(node.candidates))
        if self._closes("relaxation", node, bound.value, bound.given):
            return []
        marks = bound.marks(self.limit)
        marks = self.redone("relaxation, fewer columns", node, marks, bound.given)
        if marks.any():
            self.rules["relaxation, fewer columns"] += 1
            return [node.with_(marks == 1, marks == 0)]
        self.rules["branching"] += 1
        if left == 4 and not self.choices.varies:  # by the first of the four
            return [node.with_(i, every > i) for i in every[:-3]]
        at = int(np.argmax(bound.z * (parts.c**2).sum(axis=1) / np.diag(parts.K)))
        return [node.with_(every[:0], every != at), node.with_(at, every != at)]

    def _by_span(self, node: Task, parts: Parts, left: int) -> list[Task]:
        """Children by the column that comes first in an order by their bounds."""
        if self._closes("span", node, self._span(node, parts, left)):
            return []
        bounds = self._children(node, parts, left)
        closed = self.redone("span, each column", node, bounds >= self.limit)
        order = np.argsort(bounds, kind="stable")
        order = order[~closed[order]]
        self.rules["span, each column"] += 1
        varies, none = self.choices.varies, order[:0]
        nodes = [node.with_(none, none)] if varies else []
        first = 0 if varies else left - 1
        return nodes + [node.with_(order[i], order[:i]) for i in range(first, len(order))]

    def _children(self, node: Task, parts: Parts, left: int) -> np.ndarray:
        """Span bound of the node with each one of its candidates."""
        K, c, F, free = parts
        pivots, found = np.diag(K), np.empty(len(c))
        heights = c / np.sqrt(np.where(pivots > 0.0, pivots, np.inf))[:, None]
        width = max(1, 10**6 // max(F.size, 1))
        for start in range(0, len(c), width):
            part = heights[start : start + width]
            after = F - part[:, :, None] * part[:, None, :]
            found[start : start + width] = self.errors(after, left + free - 1)
        twins = self.numbers.alike
        idle = np.isin(twins[node.candidates], [-1, *twins[node.chosen]])
        return np.where((pivots <= 0.0) & ~idle, self.errors(F, left + free), found)

    def _span(self, node: Task, parts: Parts, left: int) -> float:
        """Error of the eigenvalues that no directions catch, or that all candidates leave."""
        every, q = np.append(node.chosen, node.candidates), len(parts.F)
        rest = self.parts(Task(every, every[:0]))
        least = np.zeros(q)
        for F, directions in ((parts.F, left + parts.free), (rest.F, parts.free)):
            if F is parts.F or rest.free == parts.free:
                values = np.linalg.eigvalsh(F)[::-1]
                values -= 8 * q * UNIT * np.abs(values).max(initial=0.0)
                least[: max(q - directions, 0)] = np.maximum(
                    least[: max(q - directions, 0)], values[directions:]
                )
        error = float(self.theta(least))
        return error - 8 * (q + 8) * UNIT * abs(error)

    # -- complete sets ------------------------------------------------------------------

    def _last(self, nodes: list[Task], left: int) -> list[Task]:
        """Close nodes with two or three columns left; those with free directions are divided."""
        chosen, rest = (np.array([node[i] for node in nodes]) for i in range(2))
        n, G = rest.shape[1], self.numbers.fast
        target = np.broadcast_to(self.target, (len(nodes), len(self.target)))
        W, free = self.eliminated(G, chosen, np.hstack([rest, target]))
        A = np.swapaxes(W[:, :, :n], 1, 2)
        K = G[rest[:, :, None], rest[:, None]] - A @ W[:, :, :n]
        c = G[rest[:, :, None], target[:, None]] - A @ W[:, :, n:]
        totals = (np.diag(G)[target] - (W[:, :, n:] ** 2).sum(axis=1)).sum(axis=1)
        some = free == 0
        nodes_left = [node for node, fits in zip(nodes, some, strict=True) if not fits]
        self.rules["last columns"] += int(some.sum())
        with np.errstate(all="ignore"):
            H, charge = c[some] @ np.swapaxes(c[some], 1, 2), 4 * (self.numbers.q + 32) * UNIT
            every = Completions(K[some], H, np.diagonal(H, axis1=1, axis2=2), charge)
            room = totals[some] - self.limit
            room -= charge * (np.abs(totals[some]) + abs(self.limit))
            if left == 2:
                self._caught(every, room, chosen[some], rest[some], 0)
            for i in range(n - 2 if left == 3 else 0):
                first = np.hstack([chosen[some], rest[some, i, None]])
                now = room - (1.0 + 8 * UNIT) * every.energy[:, i] / every.heights[:, i]
                self._caught(every.after(i), now, first, rest[some, i + 1 :], 1)
        return [
            child for node in nodes_left for child in self._by_span(node, self.parts(node), left)
        ]

    def _caught(self, some: Completions, room: np.ndarray, chosen, rest, added: int) -> None:
        """Completions by two columns, which leave the limit if they catch no more than there is
        room for; those in doubt are evaluated. So many of the chosen columns were added, too."""
        closed = some.pairs() <= (room * (1.0 - 16 * UNIT))[:, None, None]
        if self.redoes_all:
            nodes = zip(chosen, rest, closed, strict=True)
            closed = np.array([self.redone("last columns", Task(*n[:2]), n[2]) for n in nodes])
        doubtful = [(b, i, j) for b, i, j in np.argwhere(~closed).tolist() if i < j]
        last, sets = chosen.shape[1] - added, list[tuple[int, ...]]()
        for b, i, j in doubtful:
            columns = [*chosen[b].tolist(), *rest[b, [i, j]].tolist()]
            sets += self.choices.between(columns[:last], columns[last:])
        self._complete(sets)

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


class Tree:
    """The open nodes."""

    def __init__(self, choices: Choices, chosen: np.ndarray, candidates: np.ndarray):
        self.choices, self.next, self.bytes = choices, 0, 0
        self.open: dict[int, Task] = {}
        self.add(Task(chosen, candidates))

    def add(self, node: Task) -> None:
        """One more node; one with too few candidates has no sets, and is none."""
        chosen, candidates = (some.astype(np.int32) for some in node[:2])
        if self.choices.varies or self.choices.narrowed(chosen, candidates):
            self.open[self.next] = Task(chosen, np.sort(candidates))
            self.bytes += 4 * (len(chosen) + len(candidates)) + 400
        self.next += 1
        if self.bytes > MOST_OPEN:
            raise Unreadable("The proof has more open nodes than can be kept.")

    def pop(self, name: int) -> Task:
        """A node, which is open no longer."""
        if name not in self.open:
            raise Refuted(f"node {name} is divided, but it is not open.")
        node = self.open.pop(name)
        self.bytes -= 4 * (len(node.chosen) + len(node.candidates)) + 400
        return node

    def replace(self, record: Record) -> Iterator[Task]:
        """Replace a node by what a record says; what is to be shown for that."""
        node, items = self.pop(record.node), record.items
        n = left = len(node.candidates)
        if not self.choices.varies:
            left = self.choices.left(node.chosen, node.candidates)
        if left < 1:
            raise Refuted(f"node {record.node} has no column left to choose.")
        if record.z is not None:
            if len(record.z) != n:
                raise Refuted("a relaxation has coefficients for other columns than the node has.")
            marks = items if record.kind == _SHRINK else None
            yield node._replace(marks=marks, z=record.z)
            if marks is not None:
                if items.max(initial=0) > 2 or (items == 1).sum() > left:
                    raise Refuted("a relaxation fixes more columns than are to be chosen.")
                self.add(node.with_(items == 1, items == 0))
            return
        at = np.searchsorted(node.candidates, items)
        if not n or (at == n).any() or (node.candidates[at] != items).any() or (
            len(np.unique(at)) < len(at)
        ):  # fmt: skip
            raise Refuted(f"node {record.node} is divided by columns that it does not have.")
        others = np.ones(n, dtype=bool)
        others[at] = False
        if record.kind == _BRANCH and len(at) == 1:
            self.add(node.with_(at, others))
            self.add(node.with_(at[:0], others))
            return
        if others.any():
            yield node._replace(marks=2 * others)
        if self.choices.varies:  # nothing may be added
            yield node.with_(at[:0], at[:0])
        for i in range(len(at)):
            self.add(node.with_(at[i], at[:i]))


def tasks(header: dict[str, Any], rules: Rules, records: Iterator[Record]) -> Iterator[Task]:
    """Everything that is to be shown of all nodes; the copies that are left out are checked."""
    problem, claim, twins = header["problem"], header["claim"], rules.numbers.twins
    include = np.array(problem["include"], dtype=np.intp)
    candidates = np.setdiff1d(np.arange(len(twins)), [*include, *problem["exclude"]])
    tree, choices = Tree(rules.choices, include, candidates), rules.choices
    for at, record in enumerate(records):
        if rules.limit <= 0.0:  # no error is negative
            continue
        if record.kind != _COPIES:
            yield from tree.replace(record)
            continue
        # No search for one set needs columns of zeros and multiples of others.
        kept = np.setdiff1d(candidates, record.items)
        same = np.isin(twins[candidates], [-1, *twins[kept], *twins[include]])
        if at or len(claim["solutions"]) > 1 or choices.varies or claim["within"] is not None or (
            choices.narrowed(include, kept) is None
        ):  # fmt: skip
            raise Refuted("copies are left out where they count.")
        if not (np.isin(record.items, candidates).all() and same.all()):
            raise Refuted("a column is left out, but no other one is a multiple of it.")
        candidates = kept
        tree = Tree(choices, include, candidates)
    for name in list(tree.open) if rules.limit > 0.0 else []:
        yield tree.pop(name)


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
    if rows:
        what = f"Without the {k} removed rows the error is {error:.10g}"
    tolerance = f", up to a relative {TOLERANCE:g}."
    if claim["complete"] and (len(claim["solutions"]) > 1 or claim["within"] is not None):
        return (
            f"{what}; of {every} none but the {len(claim['solutions'])} listed ones "
            f"is below {listed_to(claim):.10g}{tolerance}"
        )
    if bound >= error * (1.0 - TOLERANCE):
        return f"{what}, and none of {every} has a smaller one{tolerance}"
    return f"{what}, and none of {every} is below {bound:.10g}."


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
        for chunk in chunks(tasks(header, rules, records_of(file, digest))):
            found += rules.confirm(chunk)
            if found["branching"] > MOST_NODES:
                raise Refuted("the proof leaves too much to be shown by its reader.")
    return statement_of(header, alike=rules.numbers.n_alike)


def main(arguments: list[str] | None = None) -> int:
    """Check a proof from the command line: 0 it holds, 1 refuted, 2 unreadable."""
    parser = argparse.ArgumentParser(description="Check a proof of column selection.")
    parser.add_argument("proof")
    parser.add_argument("data", help="a .npy file, or numbers separated by commas")
    parser.add_argument("--target", help="a .npy or .csv file with the target")
    options = parser.parse_args(arguments)
    try:
        X, y = _load(options.data), None if options.target is None else _load(options.target)
        print(check(options.proof, X, y))
    except Refuted as reason:
        print(f"Refuted: {reason}")
        return 1
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def _load(path: str) -> np.ndarray:
    if path.endswith(".npy"):
        return np.load(path, allow_pickle=False)
    with open(path, encoding="utf-8") as file:
        first = file.readline()
    try:
        [float(value) for value in first.split(",")]
    except ValueError:
        return np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)
    return np.loadtxt(path, delimiter=",", ndmin=2)


if __name__ == "__main__":
    sys.exit(main())
