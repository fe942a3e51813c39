r"""Check a proof of column selection: NumPy and the standard library alone.

A proof names a problem (the data by a hash, k, criterion, constraints), a claim (the selection, its
error, a lower bound that no selection is below) and a tree. This program recomputes everything that
matters from the data. It shares no code with the search that wrote the proof, and it also runs
alone: ``python _verify.py PROOF DATA.csv``.

**The tree.** A node is a set S of chosen columns, candidates C and t columns to choose from them.
A record replaces an open node by smaller ones that cover it, after the check that everything left
out is above the bound. Nodes that no record replaces are leaves, and each of them is closed here.

**The numbers.** All rules work on the Gram matrix G of columns and target, eliminated by the chosen
columns (Cholesky). What remains is K (of the candidates), c (candidates and target) and F (of the
target); the error is a function of the eigenvalues of F. G is computed in extended precision, and
its diagonal is lowered by a share :math:`\eta` that covers its own rounding and that of every
elimination: an elimination is exact for a matrix whose entries differ by at most
:math:`2(p + 8)u\sqrt{G_{ii}G_{jj}}`, and a matrix of order N with entries of at most
:math:`\varepsilon\sqrt{G_{ii}G_{jj}}` is at most :math:`\varepsilon N \mathrm{diag}(G)`.
Schur complements are monotone in G, so every F computed here is below the true one, and so is every
error. A column whose pivot is not positive is replaced by a free direction, which is at least as
good; in complete sets, unless rational arithmetic shows that it depends on the others.

**The rules.** With :math:`\lambda` the eigenvalues of F, t columns to choose, r free directions:

* *span*: the error is at least that of :math:`\lambda_{t+r+1}, \dots`; within a list of candidates
  also that of the eigenvalues which all of them together leave.
* *relaxation* (squared Frobenius norm): for :math:`0 \prec D \preceq K` diagonal, P = K - D,
  :math:`YY^T + sK \succeq cc^T` and any B the error of S and J is at least
  :math:`\mathrm{tr} F - ts - \mathrm{tr} B^TPB - \sum_{i \in J} g_i` with
  :math:`g_i = \lVert Y_i - P_iB \rVert^2 / D_i`. Both conditions are confirmed by eigenvalues. A
  candidate is dropped, or fixed, if choosing it, or not, raises the bound enough.
* *completion*: all choices of the last one or two columns, and complete sets in extended precision.
* *branching*: what the rules above leave is divided further, up to a stated number of nodes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import struct
import sys
import time
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain
from typing import Any, BinaryIO, NamedTuple

import numpy as np

FORMAT, VERSION = "columnist proof", 1
UNIT = 2.0**-53
EXTENDED = float(np.finfo(np.longdouble).eps) / 2
# How much smaller than stated an error, or a bound, may be.
TOLERANCE = 1e-9
# Bytes of the first line, open nodes at a time, nodes that are divided here.
MOST_HEADER, MOST_OPEN, MOST_NODES = 2**24, 10**7, 200_000
# Numbers up to which dependence of columns is decided in rational arithmetic.
MOST_EXACT = 20_000
# Rows of a product, and operations up to which it is computed in extended precision.
_ROWS, _PRODUCTS = 1024, 2e9
# Turns that look for coefficients where the proof has none, or poor ones.
_TURNS = 12
_LIST, _RELAXED, _COPIES, _END = 1, 2, 3, 0
_LEAST_Z = 1e-5


class Unreadable(ValueError):
    """The file is no proof, or a damaged one."""


class Refuted(Exception):
    """The proof does not show what it claims."""


@dataclass
class Verdict:
    """What a check found.

    Attributes
    ----------
    holds : bool
        Whether the claim is certain.
    statement : str
        What is certain, or what is wrong, in one sentence.
    rules : dict of str to int
        How often each rule closed a part of the tree.
    claim : dict
        The claim of the proof.
    seconds : float
        Time of the check.
    """

    holds: bool
    statement: str
    rules: dict[str, int] = field(default_factory=dict)
    claim: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0

    def __bool__(self) -> bool:
        return self.holds

    def __str__(self) -> str:
        return self.statement


def verify(proof, X, *, y=None) -> Verdict:
    """Check a proof file against data.

    Parameters
    ----------
    proof : str or path
        The file that ``ColumnSelector(proof=...)`` wrote.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The data, or the Gram matrix, that the proof is about.
    y : array-like, optional
        The target, if the proof is about one.

    Returns
    -------
    Verdict
        True in a condition if the proof holds; ``print`` says what is certain.

    Raises
    ------
    Unreadable
        If the file is no proof, or damaged; a ValueError.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> import columnist
    >>> X = scale(load_wine().data)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "wine.proof")
    ...     selector = columnist.ColumnSelector(3, proof=path).fit(X)
    ...     verdict = columnist.verify(path, X)
    >>> verdict.holds
    True
    """
    started = time.perf_counter()
    with open(proof, "rb") as file:
        header, digest = _header(file)
        claim = header["claim"]
        try:
            rules = _check(header, _records(file, digest), X, y)
            verdict = Verdict(True, _statement(header), dict(rules), claim)
        except Refuted as reason:
            verdict = Verdict(False, f"Refuted: {reason}", {}, claim)
    verdict.seconds = time.perf_counter() - started
    return verdict


def read_header(proof) -> dict[str, Any]:
    """The first line of a proof: problem, claim and preparation, checked for sense alone."""
    with open(proof, "rb") as file:
        return _header(file)[0]


# -- reading ------------------------------------------------------------------------


def _header(file: BinaryIO) -> tuple[dict[str, Any], bytes]:
    line = file.readline(MOST_HEADER)
    try:
        header = json.loads(line.decode("utf-8"))
        if header["format"] != FORMAT:
            raise Unreadable("This file is no proof.")
        if header["version"] != VERSION:
            raise Unreadable(f"Version {header['version']!r} of a proof is not known here.")
        _check_header(header["problem"], header["claim"])
    except Unreadable:
        raise
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        raise Unreadable("This file is no proof: its first line cannot be read.") from None
    return header, hashlib.sha256(line).digest()


def _check_header(problem: dict[str, Any], claim: dict[str, Any]) -> None:
    """Types and ranges of what is used below."""
    p, k = problem["shape"][1], problem["size"]
    whole = [*problem["shape"], k, problem["n_components"], *problem["include"]]
    whole += [*problem["exclude"], *claim["selection"], *chain(*claim["solutions"])]
    if not all(type(number) is int and 0 <= number < 2**31 for number in whole):
        raise Unreadable("Sizes and columns of the proof are no numbers.")
    sets = [claim["selection"], problem["include"], problem["exclude"], *claim["solutions"]]
    if not all(len(set(s)) == len(s) and max(s, default=0) < p for s in sets):
        raise Unreadable("Columns of the proof are not columns of its data.")
    if not all(len(s) == k for s in [claim["selection"], *claim["solutions"]]) or not 0 < k <= p:
        raise Unreadable("Selections of the proof have another size than it says.")
    words = [problem[name] for name in ("data", "target", "centering", "input", "criterion")]
    words.append(str(problem["target_data"]))
    if not all(type(word) is str for word in words) or len(problem["shape"]) != 2:
        raise Unreadable("The problem of the proof is not known here.")
    numbers = [claim["error"], claim["lower_bound"], problem["shift"], *claim["errors"]]
    if not all(math.isfinite(float(number)) for number in numbers):
        raise Unreadable("Errors of the proof are no numbers.")
    if len(claim["errors"]) != len(claim["solutions"]) or type(claim["complete"]) is not bool:
        raise Unreadable("Solutions of the proof have no errors.")
    _Criterion(problem["criterion"])


class _Body:
    """Bytes of the compressed part, a piece at a time."""

    def __init__(self, file: BinaryIO):
        self.file, self.inflate, self.buffer = file, zlib.decompressobj(), b""

    def read(self, size: int) -> bytes:
        while len(self.buffer) < size:
            compressed = self.inflate.unconsumed_tail or self.file.read(2**16)
            if not compressed:
                raise Unreadable("The proof ends before its end mark.")
            try:
                self.buffer += self.inflate.decompress(compressed, 2**20)
            except zlib.error:
                raise Unreadable("The proof is damaged.") from None
        data, self.buffer = self.buffer[:size], self.buffer[size:]
        return data

    def finish(self) -> None:
        """Nothing may follow, and the checksum must be there."""
        try:
            rest = self.buffer + self.inflate.decompress(
                self.inflate.unconsumed_tail + self.file.read(64), 1
            )
        except zlib.error:
            raise Unreadable("The proof is damaged.") from None
        if rest or not self.inflate.eof or self.inflate.unused_data or self.file.read(1):
            raise Unreadable("The proof is damaged: it does not stop at its end mark.")

    def unpack(self, layout: str) -> tuple:
        return struct.unpack(layout, self.read(struct.calcsize(layout)))

    def array(self, kind: str, count: int) -> np.ndarray:
        if count > 2**24:
            raise Unreadable("The proof is damaged: a record is too long.")
        return np.frombuffer(self.read(count * np.dtype(kind).itemsize), dtype=kind)


class Step(NamedTuple):
    """Coefficients z of the candidates, in ascending order, and what becomes of each of them: 0
    kept, 1 fixed, 2 dropped."""

    z: np.ndarray
    marks: np.ndarray


class Record(NamedTuple):
    """One record: its kind, the node, and the rest."""

    kind: int
    node: int = 0
    items: np.ndarray = np.zeros(0, dtype=np.int64)
    branch: int = -1
    chains: tuple[tuple[bool, list[Step]], ...] = ()


def _records(file: BinaryIO, digest: bytes) -> Iterator[Record]:
    body, count = _Body(file), 0
    while True:
        (kind,) = body.unpack("<B")
        if kind == _END:
            if body.unpack("<Q") != (count,) or body.read(32) != digest:
                raise Unreadable("The proof is damaged: its end does not match its beginning.")
            body.finish()
            return
        if kind not in (_LIST, _RELAXED, _COPIES):
            raise Unreadable("The proof is damaged: it holds an unknown record.")
        count += 1
        yield _read_record(body, kind)


def _read_record(body: _Body, kind: int) -> Record:
    (node,) = body.unpack("<Q")
    if kind == _RELAXED:
        (branch,) = body.unpack("<i")
        chains = tuple(_read_chain(body) for _ in range(1 if branch < 0 else 2))
        return Record(kind, node, branch=branch, chains=chains)
    items = body.array("<u4", *body.unpack("<I"))
    return Record(kind, node, items.astype(np.int64))


def _read_chain(body: _Body) -> tuple[bool, list[Step]]:
    is_open, n_steps = body.unpack("<?H")
    steps = []
    for _ in range(n_steps):
        (n,) = body.unpack("<I")
        z = _LEAST_Z ** (body.array("<u2", n) / 65535.0)
        steps.append(Step(z, body.array("<u1", n)))
    return is_open, steps


# -- the criterion --------------------------------------------------------------------


class _Criterion:
    """A criterion by name, of eigenvalues of F in descending order."""

    def __init__(self, name: str):
        kind, _, parameter = name.partition(":")
        self.kind, self.p, self.first = kind, 2.0, None
        if kind == "schatten":
            self.p = float(parameter)
        elif kind == "kyfan":
            self.first = int(parameter)
        elif kind not in ("frobenius", "nuclear", "spectral") or parameter:
            raise Unreadable(f"The criterion {name!r} is not known here.")
        if not self.p > 0.0 or (self.first is not None and self.first < 1):
            raise Unreadable(f"The criterion {name!r} is not known here.")

    @property
    def squared(self) -> bool:
        return self.kind == "frobenius"

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


def _matrix(values) -> Any:
    """A float matrix, or a sparse one that can be cut by rows."""
    if hasattr(values, "tocsr"):
        return values.tocsr()
    matrix = np.asarray(values, dtype=np.float64)
    return matrix[:, None] if matrix.ndim == 1 else matrix


def _target(problem: dict[str, Any], y) -> np.ndarray | None:
    """The target matrix: classes have one column of zeros and ones each."""
    if problem["target"] == "X":
        return None
    if y is None:
        raise Refuted("the proof is about a target y, and none is given.")
    if problem["target"] == "classes":
        labels = np.asarray(y).ravel()
        return (labels[:, None] == np.unique(labels)).astype(np.float64)
    return _matrix(y)


def _products(Z: np.ndarray, center: bool) -> tuple[np.ndarray, float]:
    """Inner products of columns in extended precision, and their rounding as a share of two
    lengths."""
    m, n = Z.shape
    means = np.zeros(n, dtype=np.longdouble)
    if center and m:
        means = Z.sum(axis=0, dtype=np.longdouble) / m
    exact = float(m) * n * n <= _PRODUCTS
    total = np.zeros((n, n), dtype=np.longdouble)
    for start in range(0, m, _ROWS):
        rows = Z[start : start + _ROWS].astype(np.longdouble) - means
        rows = rows if exact else rows.astype(np.float64)
        total += rows.T @ rows
    share = (m + 8) * EXTENDED + (0.0 if exact else (_ROWS + 8) * UNIT)
    if center and m:
        lengths = np.sqrt(np.diag(total))
        far = np.sqrt(m) * np.abs(Z).max(axis=0) / np.where(lengths > 0.0, lengths, np.inf)
        share += 4.0 * (m + 8) * EXTENDED * float(far.max(initial=0.0))
    return total, share


class Numbers:
    """Gram matrix of the columns, each of length one, and of the target, whose largest column has
    about length one; ``unit`` is what the target was divided by."""

    def __init__(self, X, target, problem: dict[str, Any]):
        p = X.shape[1]
        gram = problem["input"] == "gram"
        dense = X.toarray() if hasattr(X, "toarray") else X
        if gram:
            G = dense.astype(np.longdouble)
            G, share = (G + G.T) / 2, 2.0 * EXTENDED
        else:
            Z = dense if target is None else np.hstack([dense, target])
            G, share = _products(Z, problem["centering"] == "mean")
        if target is None:
            G = np.vstack([np.hstack([G, G]), np.hstack([G, G])])
        self.p, self.q, order = p, len(G) - p, len(G)
        lengths = np.sqrt(np.maximum(np.diag(G), 0.0))
        largest = float(lengths[p:].max(initial=0.0))
        if not np.isfinite(float(lengths.max(initial=0.0))):
            raise Refuted("the data hold numbers that cannot be squared.")
        self.unit = 2.0 ** round(math.log2(largest)) if largest > 0.0 else 1.0
        lengths[p:] = self.unit
        lengths[lengths == 0.0] = 1.0
        G = G / lengths / lengths[:, None]
        self.steps = p + 8
        self.fast = self._lowered(G.astype(np.float64), order * (2 * self.steps * UNIT + share))
        margin = order * (2 * self.steps * EXTENDED + share)
        self.low, self.high = self._lowered(G, margin), self._lowered(G, -margin)
        self.twins = _twins(X, gram, problem["centering"] == "mean")
        self.columns, self.gram, self.center = dense, gram, problem["centering"] == "mean"
        self.known: dict[tuple[int, ...], bool] = {}

    def are_idle(self, chosen: tuple[int, ...]) -> bool:
        """Whether the last of these columns adds nothing to the others, in exact arithmetic."""
        if chosen not in self.known:
            some = self.columns[np.ix_(chosen, chosen) if self.gram else (slice(None), chosen)]
            if self.center:
                some = np.hstack([np.ones((len(some), 1)), some])
            self.known[chosen] = _is_idle(self.twins, chosen) or (
                some.size <= MOST_EXACT and _is_combination(some)
            )
        return self.known[chosen]

    @staticmethod
    def _lowered(G: np.ndarray, share: float) -> np.ndarray:
        G = G.copy()
        G[np.diag_indices(len(G))] *= G.dtype.type(1.0) - G.dtype.type(share)
        return G


def _twins(X, gram: bool, center: bool) -> np.ndarray:
    """For every column the first one of which it is a power of two, or its negative, times; -1 for
    columns of zeros, and, without their means, of one number."""
    twins = np.arange(X.shape[1])
    seen: dict[bytes, int] = {}
    for j in range(X.shape[1]):
        column = X[:, [j]]
        column = np.asarray(column.toarray() if hasattr(column, "toarray") else column).ravel()
        if not (column - column[0] if center and len(column) else column).any():
            twins[j] = -1
            continue
        largest = column[np.argmax(np.abs(column))]
        scaled = np.ldexp(column * math.copysign(1.0, largest), -math.frexp(largest)[1]) + 0.0
        first = seen.setdefault(hashlib.sha256(scaled.tobytes()).digest(), j)
        if not gram or X[j, j] * X[first, first] == X[j, first] ** 2:
            twins[j] = first
    return twins


def _is_idle(twins: np.ndarray, chosen) -> bool:
    """Whether the last of these columns adds nothing to the others, by all its numbers."""
    return bool(np.isin(twins[chosen[-1]], [-1, *twins[list(chosen[:-1])]]))


def _is_combination(columns: np.ndarray) -> bool:
    """Whether the last column is a linear combination of the others: rational elimination."""
    rows = [list(map(Fraction, row)) for row in np.unique(columns, axis=0).tolist()]
    for j in range(columns.shape[1] - 1):
        pivot = next((row for row in rows if row[j]), None)
        if pivot is None:
            continue
        rows.remove(pivot)
        for row in rows:
            if row[j]:
                ratio = row[j] / pivot[j]
                row[j:] = [a - ratio * b for a, b in zip(row[j:], pivot[j:], strict=True)]
    return not any(row[-1] for row in rows)


class Node(NamedTuple):
    """A node with its numbers: G holds the candidates first, then the target."""

    chosen: tuple[int, ...]
    candidates: np.ndarray
    left: int
    free: int
    G: np.ndarray
    twins: np.ndarray

    @property
    def parts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """K, c and F."""
        n = len(self.candidates)
        return self.G[:n, :n], self.G[:n, n:], self.G[n:, n:]

    def keep(self, positions) -> Node:
        """The same with some candidates only."""
        n = len(self.candidates)
        some = np.concatenate([np.asarray(positions, dtype=np.intp), np.arange(n, len(self.G))])
        return self._replace(candidates=self.candidates[positions], G=self.G[np.ix_(some, some)])

    def take(self, position: int, positions) -> Node:
        """The node with one candidate chosen, and some of the others."""
        row, rest = self.G[position], self.keep(positions)
        n = len(self.candidates)
        some = np.concatenate([np.asarray(positions, dtype=np.intp), np.arange(n, len(self.G))])
        chosen, G, free = (*self.chosen, int(self.candidates[position])), rest.G, self.free
        if row[position] > 0.0:
            height = row[some] / math.sqrt(row[position])
            G = G - np.outer(height, height)
        else:
            free += not self.idle[position]
        return Node(chosen, rest.candidates, self.left - 1, free, G, self.twins)

    @property
    def idle(self) -> np.ndarray:
        """Candidates that add nothing: zero, or multiples of a chosen column."""
        return np.isin(self.twins[self.candidates], [-1, *self.twins[list(self.chosen)]])


# -- the relaxation -------------------------------------------------------------------


class Bound(NamedTuple):
    """Lower bound of a node, what each candidate adds, and the z to go on from."""

    value: float
    g: np.ndarray
    z: np.ndarray

    def decided(self, left: int, limit: float) -> tuple[np.ndarray, np.ndarray]:
        """Which candidates every set below the limit contains, and which none does."""
        order = np.sort(self.g)[::-1]
        slack = (limit - self.value) * (1.0 + 8.0 * UNIT)
        fixed = self.g * (1.0 - 8.0 * UNIT) - order[left] >= slack
        dropped = order[left - 1] - self.g * (1.0 + 8.0 * UNIT) >= slack
        return fixed, dropped


class Relaxation:
    """The relaxation of one node with more candidates than columns to choose; ``usable`` says
    whether there is one."""

    def __init__(self, node: Node, shift: float):
        K, c, F = node.parts
        self.K, self.left, self.usable = K, node.left, False
        self.energy = float(np.trace(F)) * (1.0 - 4 * len(F) * UNIT)
        try:
            inverse = np.linalg.inv(K)
            heights = 1.0 / np.diag(inverse)
            if not (np.isfinite(heights).all() and (heights > 0.0).all()):
                return
            self._diagonal(heights)
            if self.usable:
                self._shifted(c, shift)
        except np.linalg.LinAlgError:
            self.usable = False

    def _diagonal(self, heights: np.ndarray) -> None:
        """D, a multiple of the heights that is below K."""
        root, n = np.sqrt(heights), len(heights)
        scaled = self.K / root / root[:, None]
        least = np.linalg.eigvalsh(scaled)[0] - 16 * n * UNIT * float(np.trace(scaled))
        self.usable = bool(least > 0.0)
        self.D = heights * min(float(least), 1.0) * (1.0 - 1e-12)
        self.P = self.K - np.diag(self.D)

    def _shifted(self, c: np.ndarray, shift: float) -> None:
        """Y and s with YY' + sK above cc'."""
        n, q = c.shape
        if q <= self.left:
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
        B = np.linalg.solve(P + np.diag(D / z), Y)
        product = P @ B
        rest = Y - product
        lengths, roots = np.linalg.norm(B, axis=1), np.sqrt(np.maximum(np.diag(P), 0.0))
        spread = float((roots * lengths).sum())
        off = (n + 8) * 2 * UNIT * (np.linalg.norm(Y, axis=1) + roots * spread)
        g = (np.linalg.norm(rest, axis=1) * (1.0 + (Y.shape[1] + 8) * UNIT) + off) ** 2 / D
        g *= 1.0 + 16 * UNIT
        top = float(np.sort(g)[::-1][: self.left].sum()) * (1.0 + 2 * (n + 4) * UNIT)
        quadratic = float((B * product).sum()) + (n * Y.shape[1] + 2 * n + 8) * 2 * UNIT * spread**2
        value = self.energy - self.left * self.s - quadratic - top
        value -= 8 * UNIT * (abs(self.energy) + abs(quadratic) + self.left * self.s)
        return Bound(value, g, _capped(np.sqrt(D) * lengths, self.left))

    def best(self, limit: float, z: np.ndarray | None, turns: int) -> Bound:
        """The best bound of some turns; it stops where the limit is reached."""
        n = len(self.D)
        z = np.full(n, self.left / n) if z is None else np.clip(z, _LEAST_Z, 1.0)
        best = self.bound(z)
        z = best.z
        for _ in range(turns):
            if best.value >= limit:
                break
            new = self.bound(z)
            z = new.z
            best = max(best, new, key=lambda bound: bound.value)
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


# -- the rules ------------------------------------------------------------------------


class Rules:
    """Closes nodes: shows that none of their sets is below the limit. ``rules`` counts what did."""

    def __init__(self, numbers: Numbers, header: dict[str, Any]):
        problem, claim = header["problem"], header["claim"]
        self.numbers, self.size = numbers, problem["size"]
        self.theta = _Criterion(problem["criterion"])
        self.components, self.shift = problem["n_components"], float(problem["shift"])
        self.scale = numbers.unit**2 if self.theta.squared else numbers.unit
        self.listed = {tuple(sorted(s)) for s in claim["solutions"]}
        self.rules: Counter[str] = Counter()
        self.limit = _limit(claim) / self.scale
        self.budget = MOST_NODES
        self.nothing = self._nothing(problem["input"] == "gram")

    def _nothing(self, gram: bool) -> float:
        """An error that is rounding: a share of the target's, or, for a Gram matrix, whose
        eigenvalues are known up to rounding, that of such eigenvalues."""
        F = self.numbers.fast[self.numbers.p :, self.numbers.p :]
        total = float(np.trace(F))
        least = 1e-12 * (total if self.theta.squared else math.sqrt(max(total, 0.0)))
        noise = np.full(len(F), 16 * len(F) * UNIT * total)
        return max(least, float(self.theta(noise))) if gram else least

    def node(self, chosen, candidates) -> Node:
        """A node from the beginning: the chosen columns are eliminated one after the other."""
        p, q, m = self.numbers.p, self.numbers.q, len(chosen)
        some = np.concatenate([chosen, candidates, np.arange(p, p + q)]).astype(np.intp)
        G, free = self.numbers.fast[np.ix_(some, some)], self.components
        for j in range(m):
            if G[j, j] > 0.0:
                height = G[j, j + 1 :] / math.sqrt(G[j, j])
                G[j + 1 :, j + 1 :] -= np.outer(height, height)
            else:
                free += not _is_idle(self.numbers.twins, chosen[: j + 1])
        left, chosen = self.size - m, tuple(int(i) for i in chosen)
        return Node(chosen, np.asarray(candidates), left, free, G[m:, m:], self.numbers.twins)

    def errors(self, F: np.ndarray, directions: int, sign: float = 1.0) -> np.ndarray:
        """The criterion of what so many free directions leave of each F, less its rounding; that
        added with the other sign."""
        q = F.shape[-1]
        values = np.linalg.eigvalsh(F)[..., ::-1]
        charge = sign * 8 * q * UNIT * np.abs(values).max(axis=-1, initial=0.0)
        if self.theta.squared:
            trace = np.trace(F, axis1=-2, axis2=-1)
            caught = values[..., :directions].sum(axis=-1)
            found = trace - caught - (directions + 1) * charge
        else:
            found = self.theta(values[..., directions:] - charge[..., None])
        return found - sign * 8 * (q + 8) * UNIT * np.abs(found)

    def children(self, node: Node) -> np.ndarray:
        """Span bound of the node with each one of its candidates."""
        K, c, F = node.parts
        pivots, q = np.diag(K), len(F)
        alone = np.zeros(len(c))
        if (pivots <= 0.0).any():
            some = [node.left + node.free - 1, node.left + node.free]
            less, more = (float(self.errors(F, directions)) for directions in some)
            alone = np.where(node.idle, less, more)
        heights = c / np.sqrt(np.where(pivots > 0.0, pivots, np.inf))[:, None]
        found, width = np.empty(len(c)), max(1, 10**6 // max(q * q, 1))
        for start in range(0, len(c), width):
            part = heights[start : start + width]
            after = F - part[:, :, None] * part[:, None, :]
            found[start : start + width] = self.errors(after, node.left - 1 + node.free)
        return np.where(pivots > 0.0, found, alone)

    def close(self, node: Node) -> None:
        """Close a node, dividing it as often as it takes; or refute the proof."""
        stack = [node]
        while stack:
            node = stack.pop()
            self.budget -= 1
            if self.budget < 0:
                raise Refuted("the proof leaves too much to be shown by its reader.")
            stack += self._divide(node)

    def _divide(self, node: Node) -> list[Node]:
        n = len(node.candidates)
        if n < node.left:
            self.rules["no set"] += 1
            return []
        if node.left == 0 or n == node.left:
            self._complete([(*node.chosen, *(node.candidates.tolist() if node.left else ()))])
            return []
        if not (self.theta.squared and node.free == 0):
            return self._by_span(node)
        if node.left == 1:
            return self._last_one(node)
        return self._last_two(node) if node.left == 2 else self._relaxed(node)

    def _last_one(self, node: Node) -> list[Node]:
        K, c, F = node.parts
        pivots = np.diag(K)
        caught = (c**2).sum(axis=1) * (1.0 + 2 * len(F) * UNIT)
        left = np.trace(F) - caught / np.where(pivots > 0.0, pivots, 1e-300)
        low = left - 4 * (len(F) + 8) * UNIT * np.trace(F)
        some = np.flatnonzero(~(low >= self.limit))
        self.rules["last column"] += 1
        self._complete([(*node.chosen, int(node.candidates[i])) for i in some])
        return []

    def _last_two(self, node: Node) -> list[Node]:
        K, c, F = node.parts
        q, pivots, H = len(F), np.diag(K).copy(), c @ c.T
        sizes = np.sqrt(np.diag(H))
        with np.errstate(all="ignore"):
            ratio = K / pivots[:, None]
            height = pivots[None, :] - ratio * K
            pair = np.diag(H)[None, :] - 2.0 * ratio * H + ratio**2 * np.diag(H)[:, None]
            charge = (q + 16) * 2 * UNIT * (sizes[None, :] + np.abs(ratio) * sizes[:, None]) ** 2
            caught = (np.diag(H) / pivots)[:, None] + (pair + charge) / height
            low = np.trace(F) - caught - 4 * (q + 8) * UNIT * (np.trace(F) + np.abs(caught))
            usable = (pivots[:, None] > 0.0) & (height > 0.0)
            doubtful = np.triu(~(usable & (low >= self.limit)), 1)
        self.rules["last two columns"] += 1
        pairs = node.candidates[np.argwhere(doubtful)]
        self._complete([(*node.chosen, *pair) for pair in pairs.tolist()])
        return []

    def _relaxed(self, node: Node) -> list[Node]:
        relaxation = Relaxation(node, self.shift)
        if not relaxation.usable:
            return self._by_span(node)
        bound = relaxation.best(self.limit, None, _TURNS)
        if bound.value >= self.limit:
            self.rules["relaxation"] += 1
            return []
        fixed, dropped = bound.decided(node.left, self.limit)
        node = _shrunk(node, fixed, dropped)
        if fixed.any() or dropped.any():
            self.rules["relaxation, fewer columns"] += 1
            return [node]
        self.rules["branching"] += 1
        K, c, _ = node.parts
        at = int(np.argmax(bound.z * (c**2).sum(axis=1) / np.diag(K)))
        rest = np.delete(np.arange(len(node.candidates)), at)
        return [node.keep(rest), node.take(at, rest)]

    def _by_span(self, node: Node) -> list[Node]:
        """Children by the column that comes first in an order by their bounds."""
        if self.outside(node) >= self.limit:
            self.rules["span"] += 1
            return []
        bounds = self.children(node)
        order = np.argsort(bounds, kind="stable")
        order = order[bounds[order] < self.limit]
        self.rules["span, each column"] += 1
        if node.left == 1:
            self._complete([(*node.chosen, int(node.candidates[i])) for i in order])
            return []
        first = node.left - 1
        return [node.take(int(order[i]), order[:i]) for i in range(first, len(order))]

    def outside(self, node: Node) -> float:
        """Span bound of a node, with what all candidates together leave."""
        n, G = len(node.candidates), node.G.copy()
        F = node.parts[2]
        q, directions = len(F), node.left + node.free
        whole = float(self.errors(F, directions))
        if n >= q or (np.diag(G)[:n] <= 0.0).any():
            return whole
        for j in range(n):
            if not G[j, j] > 0.0:
                return whole
            height = G[j, j + 1 :] / math.sqrt(G[j, j])
            G[j + 1 :, j + 1 :] -= np.outer(height, height)
        values = [np.linalg.eigvalsh(M)[::-1] for M in (F, G[n:, n:])]
        low = [v - 8 * q * UNIT * np.abs(v).max(initial=0.0) for v in values]
        inside = np.append(low[0][directions:], np.zeros(min(directions, q)))[:q]
        rest = np.append(low[1][node.free :], np.zeros(min(node.free, q)))[:q]
        found = float(self.theta(np.maximum(inside, rest)))
        return max(whole, found - 8 * (q + 8) * UNIT * abs(found))

    # -- complete sets ------------------------------------------------------------------

    def _complete(self, sets: list[tuple[int, ...]]) -> None:
        """Complete sets, unless the proof lists them, in extended precision."""
        sets = [s for s in (tuple(sorted(s)) for s in sets) if s not in self.listed]
        some = max(1, 10**6 // (self.size + self.numbers.q) ** 2)
        for start in range(0, len(sets), some):
            part = sets[start : start + some]
            low = self.ends(part)
            for subset in (part[i] for i in np.flatnonzero(~(low >= self.limit))):
                raise Refuted(f"nothing shows that the columns {list(subset)} are not better.")
        self.rules["complete set"] += len(sets)

    def ends(self, sets: list[tuple[int, ...]], *, upper: bool = False) -> np.ndarray:
        """Lower, or upper, ends of the errors of complete sets in extended precision."""
        p, q, k = self.numbers.p, self.numbers.q, len(sets[0])
        G = self.numbers.high if upper else self.numbers.low
        target = np.broadcast_to(np.arange(p, p + q), (len(sets), q))
        index = np.hstack([np.array(sets, dtype=np.intp).reshape(len(sets), k), target])
        part = G[index[:, :, None], index[:, None, :]]
        free = np.full(len(sets), self.components)
        for j in range(k):
            pivots = part[:, j, j].copy()
            for i in np.flatnonzero(pivots <= 0.0):
                free[i] += not self.numbers.are_idle(sets[i][: j + 1])
            height = part[:, j, j + 1 :] / np.sqrt(np.where(pivots > 0.0, pivots, np.inf))[:, None]
            part[:, j + 1 :, j + 1 :] -= height[:, :, None] * height[:, None, :]
        F = part[:, k:, k:]
        if self.theta.squared and not free.any():
            return np.trace(F, axis1=1, axis2=2).astype(np.float64)
        F = F.astype(np.float64)
        sign, pairs = -1.0 if upper else 1.0, zip(F, free, strict=True)
        return np.array([float(self.errors(M, int(f), sign)) for M, f in pairs])


def _shrunk(node: Node, fixed: np.ndarray, dropped: np.ndarray) -> Node:
    """A node after candidates were fixed and dropped."""
    node_kept = node.keep(np.flatnonzero(~dropped))
    fixed = fixed[~dropped]
    while fixed.any():
        at = int(np.argmax(fixed))
        rest = np.delete(np.arange(len(fixed)), at)
        node_kept, fixed = node_kept.take(at, rest), fixed[rest]
    return node_kept


def _limit(claim: dict[str, Any]) -> float:
    """What no set that the proof does not list may be below."""
    bound, error = float(claim["lower_bound"]), float(claim["error"])
    if claim["complete"]:
        bound = error = float(claim["errors"][-1])
    return bound - TOLERANCE * abs(error)


# -- the tree -------------------------------------------------------------------------


class _Family(NamedTuple):
    """Children of one node: child i takes ``items[i]`` and may use ``items[:i]``."""

    chosen: np.ndarray
    items: np.ndarray
    bounds: np.ndarray

    def child(self, i: int) -> tuple[np.ndarray, np.ndarray, float]:
        return np.append(self.chosen, self.items[i]), self.items[:i], float(self.bounds[i])


class Tree:
    """The open nodes; a record replaces one of them."""

    def __init__(self, rules: Rules, chosen: np.ndarray, candidates: np.ndarray):
        self.rules = rules
        self.open: dict[int, tuple[Any, int]] = {}
        self.next = 0
        self._add(chosen, candidates, -np.inf)

    def _add(self, chosen, candidates, bound: float) -> None:
        self.open[self.next] = ((chosen, np.sort(candidates), bound), -1)
        self.next += 1
        if len(self.open) > MOST_OPEN:
            raise Unreadable("The proof has more open nodes than can be kept.")

    def _pop(self, name: int) -> tuple[np.ndarray, np.ndarray, float]:
        if name not in self.open:
            raise Refuted(f"node {name} is divided, but it is not open.")
        source, i = self.open.pop(name)
        return source if i < 0 else source.child(i)

    def replace(self, record: Record) -> None:
        """Replace a node by what a record says."""
        chosen, candidates, bound = self._pop(record.node)
        if record.kind == _LIST:
            self._list(record, chosen, candidates, bound)
        else:
            self._chains(record, chosen, candidates, bound)

    def _list(self, record: Record, chosen, candidates, bound: float) -> None:
        items, rules = record.items, self.rules
        if len(np.unique(items)) < len(items) or not np.isin(items, candidates).all():
            raise Refuted(f"node {record.node} is divided by columns that it does not have.")
        if rules.size - len(chosen) < 1:
            raise Refuted(f"node {record.node} has no column left to choose.")
        dropped = np.setdiff1d(candidates, items)
        node = rules.node(chosen, np.concatenate([items, dropped]))
        bounds = np.maximum(rules.children(node), bound)
        for i in np.flatnonzero(bounds[len(items) :] < rules.limit):
            others = np.delete(np.arange(len(candidates)), len(items) + i)
            rules.close(node.take(len(items) + int(i), others))
        rules.rules["span, dropped column"] += len(dropped)
        family = _Family(chosen, items, bounds[: len(items)])
        for child in range(len(items)):
            self.open[self.next] = (family, child)
            self.next += 1
        if len(self.open) > MOST_OPEN:
            raise Unreadable("The proof has more open nodes than can be kept.")

    def _chains(self, record: Record, chosen, candidates, bound: float) -> None:
        node = self.rules.node(chosen, np.sort(candidates))
        parts = [node]
        if record.branch >= 0:
            at = np.flatnonzero(node.candidates == record.branch)
            if len(at) != 1 or node.left < 1:
                raise Refuted(f"node {record.node} is divided by a column that it does not have.")
            rest = np.delete(np.arange(len(node.candidates)), at)
            parts = [node.take(int(at[0]), rest), node.keep(rest)]
        for part, (is_open, steps) in zip(parts, record.chains, strict=True):
            self._chain(part, is_open, steps, bound)

    def _chain(self, node: Node, is_open: bool, steps: list[Step], bound: float) -> None:
        for step in steps:
            if bound >= self.rules.limit:
                break
            node, bound = self._step(node, step, bound)
        if is_open:
            self._add(np.array(node.chosen, dtype=np.int64), node.candidates, bound)
        elif bound < self.rules.limit:
            self.rules.close(node)

    def _step(self, node: Node, step: Step, bound: float) -> tuple[Node, float]:
        """A node after one evaluation; what it fixes and drops is confirmed, or closed here."""
        rules, n = self.rules, len(node.candidates)
        if len(step.z) != n:
            raise Refuted("a relaxation has coefficients for other columns than the node has.")
        fixed, dropped = step.marks == 1, step.marks == 2
        sure_fixed = sure_dropped = np.zeros(n, dtype=bool)
        if rules.theta.squared and node.free == 0 and 0 < node.left < n:
            relaxation = Relaxation(node, rules.shift)
            if relaxation.usable:
                enough = fixed.any() or dropped.any()
                found = relaxation.best(rules.limit, step.z, 0 if enough else 2)
                bound = max(bound, found.value)
                sure_fixed, sure_dropped = found.decided(node.left, rules.limit)
        if bound >= rules.limit:
            rules.rules["relaxation"] += 1
            return node, bound
        rules.rules["relaxation, fewer columns"] += 1
        for at in np.flatnonzero(fixed & ~sure_fixed):
            rules.close(node.keep(np.delete(np.arange(n), at)))
        for at in np.flatnonzero(dropped & ~sure_dropped):
            if node.left < 1:
                raise Refuted("a relaxation drops columns of a complete set.")
            rules.close(node.take(int(at), np.delete(np.arange(n), at)))
        if fixed.sum() > node.left:
            raise Refuted("a relaxation fixes more columns than are to be chosen.")
        return _shrunk(node, fixed, dropped), bound

    def finish(self) -> None:
        """Close every node that no record has replaced."""
        rules = self.rules
        for source, i in self.open.values():
            chosen, candidates, bound = source if i < 0 else source.child(i)
            if len(candidates) < rules.size - len(chosen):
                rules.rules["no set"] += 1
            elif bound >= rules.limit:
                rules.rules["bound of the parent"] += 1
            else:
                rules.close(rules.node(chosen, candidates))


def _check(header, records: Iterator[Record], X, y) -> Counter[str]:
    """Check a proof; the rules that it took, or :class:`Refuted`."""
    problem, claim = header["problem"], header["claim"]
    X, target = _matrix(X), _target(problem, y)
    _check_data(problem, X, target)
    numbers = Numbers(X, target, problem)
    rules = Rules(numbers, header)
    _check_claim(rules, problem, claim)
    include = np.array(problem["include"], dtype=np.int64)
    candidates = np.setdiff1d(np.arange(numbers.p), [*include, *problem["exclude"]])
    if rules.limit <= 0.0:  # no error is negative
        for _ in records:
            pass
        return rules.rules
    first = next(records, None)
    if first is not None and first.kind == _COPIES:
        candidates = _without_copies(first, numbers.twins, problem, claim, candidates)
        rules.rules["copy"] += len(first.items)
        first = next(records, None)
    tree = Tree(rules, include, candidates)
    while first is not None:
        if first.kind == _COPIES:
            raise Refuted("copies are left out after the tree has begun.")
        tree.replace(first)
        first = next(records, None)
    tree.finish()
    return rules.rules


def _check_data(problem, X, target) -> None:
    square = problem["input"] != "gram" or X.shape[0] == X.shape[1]
    if not square or list(X.shape) != problem["shape"] or data_hash(X) != problem["data"]:
        raise Refuted("these are other data than those of the proof.")
    if target is not None and (
        len(target) != X.shape[0] or data_hash(target) != problem["target_data"]
    ):
        raise Refuted("this is another target than that of the proof.")


def _check_claim(rules: Rules, problem, claim) -> None:
    """Whether the selections have the errors that are stated, and the constraints are met."""
    sets, errors = [claim["selection"], *claim["solutions"]], [claim["error"], *claim["errors"]]
    for subset, error in zip(sets, errors, strict=True):
        if not set(problem["include"]) <= set(subset) or set(problem["exclude"]) & set(subset):
            raise Refuted("a selection contradicts include or exclude.")
        ordered = [tuple(sorted(subset))]
        low, high = (float(rules.ends(ordered, upper=upper)[0]) for upper in (False, True))
        stated, slack = float(error) / rules.scale, TOLERANCE * abs(float(error)) / rules.scale
        slack += rules.nothing
        if not low - slack <= stated <= high + slack:
            raise Refuted("a selection has another error than the proof states.")
    if not sets[1:] or sorted(sets[1]) != sorted(sets[0]) or sorted(errors[1:]) != errors[1:]:
        raise Refuted("the solutions are not in the order of their errors, the selection first.")
    if claim["lower_bound"] > claim["error"] * (1.0 + TOLERANCE):
        raise Refuted("the lower bound is above the error.")


def _without_copies(record: Record, twins, problem, claim, candidates) -> np.ndarray:
    """Candidates without zeros and multiples of others: what no search for one set needs."""
    copies = record.items
    if len(claim["solutions"]) > 1:
        raise Refuted("copies are left out where they count.")
    kept = np.setdiff1d(candidates, copies)
    left = problem["size"] - len(problem["include"])
    if not np.isin(copies, candidates).all() or len(kept) < left:
        raise Refuted("columns are left out that cannot be.")
    for copy in copies.tolist():
        if twins[copy] >= 0 and not np.isin(twins[copy], twins[[*kept, *problem["include"]]]):
            raise Refuted(f"column {copy} is left out, but no other one is a multiple of it.")
    return kept


def _statement(header: dict[str, Any]) -> str:
    """What is certain, in one sentence."""
    problem, claim = header["problem"], header["claim"]
    (_, n), k = problem["shape"], problem["size"]
    sets = math.comb(n - len(problem["include"]) - len(problem["exclude"]),
                     k - len(problem["include"]))  # fmt: skip
    error, bound = float(claim["error"]), float(claim["lower_bound"])
    what = f"The {k} selected columns have the error {error:.10g}"
    if claim["complete"] and len(claim["solutions"]) > 1:
        return (
            f"{what}; of all {sets} selections none but the {len(claim['solutions'])} listed ones "
            f"is below {float(claim['errors'][-1]):.10g}, up to a relative {TOLERANCE:g}."
        )
    if bound >= error * (1.0 - TOLERANCE):
        return (
            f"{what}, and none of all {sets} selections has a smaller one, up to a relative "
            f"{TOLERANCE:g}."
        )
    return f"{what}, and none of all {sets} selections is below {bound:.10g}."


def main(arguments: list[str] | None = None) -> int:
    """Check a proof from the command line: 0 it holds, 1 refuted, 2 unreadable."""
    parser = argparse.ArgumentParser(description="Check a proof of column selection.")
    parser.add_argument("proof")
    parser.add_argument("data", help="a .npy file, or numbers separated by commas")
    parser.add_argument("--target", help="a .npy or .csv file with the target")
    options = parser.parse_args(arguments)
    try:
        X, y = _load(options.data), None if options.target is None else _load(options.target)
        verdict = verify(options.proof, X, y=y)
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    print(verdict)
    return 0 if verdict.holds else 1


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
