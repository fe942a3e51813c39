r"""Check a proof of column selection: NumPy and the standard library alone.

A proof names a problem (the data by a hash, k, criterion, constraints), a claim (the selection, its
error, a lower bound that no selection is below) and a tree. This program recomputes everything that
matters from the data. It shares no code with the search that wrote the proof, and it also runs
alone: ``python _verify.py PROOF DATA.csv``.

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
* *completion*: all choices of the last one or two columns, and complete sets in extended precision.
* *branching*: what the rules above leave is divided further, up to a stated number of nodes.

**The order.** :func:`begin` checks data and claim, :func:`tasks` replays the tree and yields what
is left to be shown of each node, and :meth:`Rules.confirm` shows it. Tasks do not depend on one
another. Complete sets that extended precision leaves in doubt are handed to ``Rules.exact``, and
what the other rules find to ``Rules.redo``, if there are such.
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
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, BinaryIO, NamedTuple

import numpy as np

FORMAT, VERSION = "columnist proof", 2
UNIT = 2.0**-53
EXTENDED = float(np.finfo(np.longdouble).eps) / 2
# How much smaller than stated an error, or a bound, may be.
TOLERANCE = 1e-9
# Bytes of the first line and of the open nodes, nodes that are divided here.
MOST_HEADER, MOST_OPEN, MOST_NODES = 2**24, 2**31, 200_000
# Rows of a product, and operations up to which it is computed in extended precision.
_ROWS, _PRODUCTS = 1024, 2e9
# Turns that look for coefficients where the proof has none, or poor ones.
_TURNS = 12
# Share of the error without columns up to which rounding may hide whether a bound is reached.
_DOUBT = 1e-10
_END, _LIST, _BRANCH, _SHRINK, _CLOSE, _COPIES = range(6)
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
        Whether the claim is certain, or, of a ``sample``, was confirmed as far as it was checked.
    statement : str
        What is certain, or what is wrong, in one sentence.
    rules : dict of str to int
        How often each rule closed a part of the tree.
    claim : dict
        The claim of the proof.
    seconds : float
        Time of the check.
    exact : dict of str to int
        How often exact arithmetic decided.
    sample : tuple of (int, int) or None
        Parts of the proof that were checked, and all of them, if these are not the same.
    """

    holds: bool
    statement: str
    rules: dict[str, int] = field(default_factory=dict)
    claim: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    exact: dict[str, int] = field(default_factory=dict)
    sample: tuple[int, int] | None = None

    def __bool__(self) -> bool:
        return self.holds

    def __str__(self) -> str:
        return self.statement


# -- reading ------------------------------------------------------------------------


def read_header(proof) -> dict[str, Any]:
    """The first line of a proof: problem, claim and preparation, checked for sense alone."""
    with open(proof, "rb") as file:
        return header_of(file)[0]


def header_of(file: BinaryIO) -> tuple[dict[str, Any], bytes]:
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
    """Types and ranges of what is used below; items are columns, or rows."""
    n, k = problem["shape"][0 if problem["kind"] == "rows" else 1], problem["size"]
    sets = [claim["selection"], *claim["solutions"]]
    whole = [*problem["shape"], k, problem["n_components"], *problem["include"]]
    whole += [*problem["exclude"], *chain(*sets)]
    if not all(type(number) is int and 0 <= number < 2**31 for number in whole):
        raise Unreadable("Sizes and columns of the proof are no numbers.")
    every = [*sets, problem["include"], problem["exclude"]]
    if not all(len(set(s)) == len(s) and max(s, default=0) < n for s in every):
        raise Unreadable("Columns of the proof are not columns of its data.")
    if not all(len(s) == k for s in sets) or not 0 < k <= n or len(problem["shape"]) != 2:
        raise Unreadable("Selections of the proof have another size than it says.")
    words = [problem[name] for name in ("kind", "data", "target", "centering", "input")]
    words += [problem["criterion"], str(problem["target_data"])]
    if not all(type(word) is str for word in words):
        raise Unreadable("The problem of the proof is not known here.")
    numbers = [claim["error"], claim["lower_bound"], problem["shift"], problem["alpha"]]
    if not all(math.isfinite(float(number)) for number in [*numbers, *claim["errors"]]):
        raise Unreadable("Errors of the proof are no numbers.")
    if len(claim["errors"]) != len(claim["solutions"]) or type(claim["complete"]) is not bool:
        raise Unreadable("Solutions of the proof have no errors.")
    squared, alpha = Criterion(problem["criterion"]).squared, float(problem["alpha"])
    if alpha < 0.0 or (alpha > 0.0 and not (squared and problem["target"] != "X")):
        raise Unreadable("The ridge of the proof is not known here.")


class Body:
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
    body, count = Body(file), 0
    while True:
        kind, node = body.unpack("<BQ")
        if kind == _END:
            if node != count or body.read(32) != digest:
                raise Unreadable("The proof is damaged: its end does not match its beginning.")
            body.finish()
            return
        if kind > _COPIES:
            raise Unreadable("The proof is damaged: it holds an unknown record.")
        count += 1
        (n,) = body.unpack("<I")
        if kind in (_SHRINK, _CLOSE):
            z = _LEAST_Z ** (body.array("<u2", n) / 65535.0)
            yield Record(kind, node, body.array("<u1", n if kind == _SHRINK else 0), z)
        else:
            yield Record(kind, node, body.array("<u4", n).astype(np.int64))


# -- the criterion --------------------------------------------------------------------


class Criterion:
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


def check_data(problem: dict[str, Any], X, target) -> None:
    """Refuse other data than those of the proof."""
    if X.ndim != 2 or list(X.shape) != problem["shape"] or data_hash(X) != problem["data"]:
        raise Refuted("these are other data than those of the proof.")
    if problem["input"] == "gram" and X.shape[0] != X.shape[1]:
        raise Refuted("these are other data than those of the proof.")
    if target is not None and (
        len(target) != X.shape[0] or data_hash(target) != problem["target_data"]
    ):
        raise Refuted("this is another target than that of the proof.")


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
        gram, center, alpha = problem["input"] == "gram", problem["centering"] == "mean", 0.0
        dense = X.toarray() if hasattr(X, "toarray") else X
        if gram:
            G = dense.astype(np.longdouble)
            G, share = (G + G.T) / 2, 2.0 * EXTENDED
        else:
            Z = dense if target is None else np.hstack([dense, target])
            G, share = _products(Z, center)
        if target is None:
            G = np.vstack([np.hstack([G, G]), np.hstack([G, G])])
        else:
            alpha = float(problem["alpha"])
            G[np.arange(p), np.arange(p)] += np.longdouble(alpha)
            share += 2.0 * EXTENDED
        self.p, self.q, order = p, len(G) - p, len(G)
        lengths = np.sqrt(np.maximum(np.diag(G), 0.0))
        largest = float(lengths[p:].max(initial=0.0))
        if not np.isfinite(float(lengths.max(initial=0.0))):
            raise Refuted("the data hold numbers that cannot be squared.")
        self.unit = 2.0 ** round(math.log2(largest)) if largest > 0.0 else 1.0
        lengths[p:] = self.unit
        lengths[lengths == 0.0] = 1.0
        G = G / lengths / lengths[:, None]
        steps = p + 8
        self.fast = _lowered(G.astype(np.float64), order * (2 * steps * UNIT + share))
        margin = order * (2 * steps * EXTENDED + share)
        self.low, self.high = _lowered(G, margin), _lowered(G, -margin)
        # With a ridge every column counts.
        self.twins = np.arange(p) if alpha > 0.0 else _twins(X, gram, center)


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


class Node(NamedTuple):
    """A node with its numbers: G holds the candidates first, then the target. ``twins`` has a
    number for every candidate, the same for multiples, and -1 for those that add nothing."""

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
        n, positions = len(self.candidates), np.asarray(positions, dtype=np.intp)
        some = np.concatenate([positions, np.arange(n, len(self.G))])
        twins, G = self.twins[positions], self.G[some[:, None], some]
        return self._replace(candidates=self.candidates[positions], G=G, twins=twins)

    def take(self, position: int, positions) -> Node:
        """The node with one candidate chosen, and some of the others: one step of elimination. If
        the pivot is not positive, the column is a free direction, or adds nothing."""
        rest, n = self.keep(positions), len(self.candidates)
        some = np.concatenate([np.asarray(positions, dtype=np.intp), np.arange(n, len(self.G))])
        G, free, pivot = rest.G, self.free, self.G[position, position]
        if pivot > 0.0:
            height = self.G[position, some] / math.sqrt(pivot)
            G = G - height[:, None] * height
        else:
            free += int(self.twins[position] >= 0)
        chosen = (*self.chosen, int(self.candidates[position]))
        twins = np.where(rest.twins == self.twins[position], -1, rest.twins)
        return Node(chosen, rest.candidates, self.left - 1, free, G, twins)

    def without(self, position: int) -> np.ndarray:
        """The positions of all other candidates."""
        return np.delete(np.arange(len(self.candidates)), position)

    def after(self, marks: np.ndarray) -> Node:
        """The node after candidates were fixed (1) and dropped (2)."""
        node, marks = self.keep(np.flatnonzero(marks < 2)), marks[marks < 2]
        for name in node.candidates[marks == 1]:
            at = int(np.flatnonzero(node.candidates == name)[0])
            node = node.take(at, node.without(at))
        return node


# -- the relaxation -------------------------------------------------------------------


class Bound(NamedTuple):
    """Lower bound of a node, what each candidate adds, the z that gave it, and the next one."""

    value: float
    g: np.ndarray
    given: np.ndarray
    z: np.ndarray

    def marks(self, left: int, limit: float) -> np.ndarray:
        """1 for candidates that every set below the limit contains, 2 for those that none does."""
        order = np.sort(self.g)[::-1]
        slack = (limit - self.value) * (1.0 + 8.0 * UNIT)
        fixed = self.g * (1.0 - 8.0 * UNIT) - order[left] >= slack
        dropped = order[left - 1] - self.g * (1.0 + 8.0 * UNIT) >= slack
        return np.where(dropped, 2, fixed.astype(int))


class Relaxation:
    """The relaxation of one node with more candidates than columns to choose; ``usable`` says
    whether there is one."""

    def __init__(self, node: Node, shift: float):
        K, c, F = node.parts
        self.K, self.left, self.usable = K, node.left, False
        self.energy = float(np.trace(F)) * (1.0 - 4 * len(F) * UNIT)
        try:
            heights = 1.0 / np.diag(np.linalg.inv(K))
            if np.isfinite(heights).all() and (heights > 0.0).all():
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
        B = self.coefficients(z)
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
        return Bound(value, g, z, _capped(np.sqrt(D) * lengths, self.left))

    def coefficients(self, z: np.ndarray) -> np.ndarray:
        """B for these weights."""
        return np.linalg.solve(self.P + np.diag(self.D / z), self.Y)

    def best(self, limit: float, z: np.ndarray | None, turns: int) -> Bound:
        """The best bound of some turns; it stops where the limit is reached."""
        n = len(self.D)
        best = self.bound(np.full(n, self.left / n) if z is None else z)
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


class Task(NamedTuple):
    """What is to be shown: no set of the node that is below the limit is against the marks; none
    is below it at all if there are no marks. z are coefficients to begin with."""

    chosen: np.ndarray
    candidates: np.ndarray
    marks: np.ndarray | None = None
    z: np.ndarray | None = None


# Of a rule by name, a node, what the rule finds, and its weights z.
Redo = Callable[[str, Node, np.ndarray, np.ndarray | None], np.ndarray]


class Rules:
    """Confirms tasks. ``exact`` gives two numbers between which the error of a complete set lies,
    in units of ``scale``; without it such sets are left in doubt, and the proof is refuted.
    ``seen`` collects the complete sets that needed no such decision. ``redo`` is told what a rule
    finds of a node (not zero where it holds), and returns what it confirms of that; a bound that
    misses the limit by less than ``doubt`` is asked about as well."""

    def __init__(self, numbers: Numbers, header: dict[str, Any]):
        problem, claim = header["problem"], header["claim"]
        self.numbers, self.size = numbers, problem["size"]
        self.theta = Criterion(problem["criterion"])
        self.components, self.shift = problem["n_components"], float(problem["shift"])
        self.scale = numbers.unit**2 if self.theta.squared else numbers.unit
        self.listed = {tuple(sorted(s)) for s in claim["solutions"]}
        self.limit, self.budget = limit_of(claim) / self.scale, MOST_NODES
        self.rules: Counter[str] = Counter()
        self.exact: Callable[[tuple[int, ...]], tuple[float, float]] | None = None
        self.seen: list[tuple[int, ...]] | None = None
        self.redo: Redo | None = None
        self.doubt = _DOUBT * float(self.theta(np.linalg.eigvalsh(self._target())[::-1]))
        self.nothing = self._nothing(problem["input"] == "gram")

    def _nothing(self, gram: bool) -> float:
        """An error that is rounding: a share of the target's, or, for a Gram matrix, whose
        eigenvalues are known up to rounding, that of such eigenvalues."""
        F = self._target()
        total = float(np.trace(F))
        least = 1e-12 * (total if self.theta.squared else math.sqrt(max(total, 0.0)))
        noise = np.full(len(F), 16 * len(F) * UNIT * total)
        return max(least, float(self.theta(noise))) if gram else least

    def _target(self) -> np.ndarray:
        return self.numbers.fast[self.numbers.p :, self.numbers.p :]

    def node(self, chosen: np.ndarray, candidates: np.ndarray) -> Node:
        """A node from the beginning: the chosen columns are eliminated one after the other."""
        p, q, m = self.numbers.p, self.numbers.q, len(chosen)
        some = np.concatenate([chosen, candidates, np.arange(p, p + q)]).astype(np.intp)
        G, names = self.numbers.fast[np.ix_(some, some)], some[: m + len(candidates)]
        node = Node((), names, self.size, self.components, G, self.numbers.twins[names])
        for _ in range(m):
            node = node.take(0, np.arange(1, len(node.candidates)))
        return node

    def confirm(self, task: Task) -> Counter[str]:
        """Which rules show it, and how often; or :class:`Refuted`."""
        self.rules, self.budget = Counter(), MOST_NODES
        node, marks = self.node(task.chosen, task.candidates), task.marks
        if marks is None:
            self.close(node, task.z)
            return self.rules
        found = np.zeros(len(marks), dtype=int)
        if task.z is not None and (relaxation := self._relaxation(node)):
            bound = relaxation.best(self.limit, task.z, 0)
            found = marks if bound.value >= self.limit else bound.marks(node.left, self.limit)
            found = np.where(found == marks, found, 0)
            found = self._redone("relaxation, fewer columns", node, found, bound.given)
            self.rules["relaxation"] += 1
        for at in np.flatnonzero((marks > 0) & (found != marks)):
            rest = node.without(int(at))
            self.close(node.keep(rest) if marks[at] == 1 else node.take(int(at), rest))
        return self.rules

    def _closes(self, rule: str, node: Node, value: float, z: np.ndarray | None = None) -> bool:
        """Whether a bound closes a node."""
        closes = value >= self.limit
        if closes or value >= self.limit - self.doubt:
            closes = bool(self._redone(rule, node, np.array([int(closes)]), z)[0])
        self.rules[rule] += closes
        return closes

    def _redone(self, rule: str, node: Node, found: np.ndarray, z=None) -> np.ndarray:
        return found if self.redo is None else self.redo(rule, node, found, z)

    def _relaxation(self, node: Node) -> Relaxation | None:
        if self.theta.squared and node.free == 0 and 0 < node.left < len(node.candidates):
            relaxation = Relaxation(node, self.shift)
            return relaxation if relaxation.usable else None
        return None

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

    def close(self, node: Node, z: np.ndarray | None = None) -> None:
        """Close a node, dividing it as often as it takes; or refute the proof."""
        stack = [(node, z)]
        while stack:
            node, z = stack.pop()
            self.budget -= 1
            if self.budget < 0:
                raise Refuted("the proof leaves too much to be shown by its reader.")
            stack += [(child, None) for child in self._divide(node, z)]

    def _divide(self, node: Node, z: np.ndarray | None) -> list[Node]:
        """What is left to close of a node."""
        n = len(node.candidates)
        if n < node.left:
            self.rules["no set"] += 1
        elif node.left == 0 or n == node.left:
            every = node.candidates.tolist() if node.left else []
            self._complete([(*node.chosen, *every)])
        elif self.theta.squared and node.free == 0 and node.left <= 2:
            self._last(node)
        elif self._closes("span", node, float(self.errors(node.parts[2], node.left + node.free))):
            pass
        elif relaxation := self._relaxation(node):
            return self._relaxed(node, relaxation, z)
        else:
            return self._by_span(node)
        return []

    def _last(self, node: Node) -> None:
        """All completions by one column, or by two."""
        K, c, F = node.parts
        q, pivots, H = len(F), np.diag(K), c @ c.T
        energy, total = np.diag(H), float(np.trace(F))
        with np.errstate(all="ignore"):
            alone = energy * (1.0 + 2 * q * UNIT) / np.where(pivots > 0.0, pivots, 0.0)
            caught = alone
            if node.left == 2:
                ratio, sizes = K / pivots[:, None], np.sqrt(energy)
                height = pivots - ratio * K
                pair = energy - 2.0 * ratio * H + ratio**2 * energy[:, None]
                pair += (q + 16) * 2 * UNIT * (sizes + np.abs(ratio) * sizes[:, None]) ** 2
                caught = alone[:, None] + pair / np.where(height > 0.0, height, 0.0)
            low = total - caught - 4 * (q + 8) * UNIT * (total + np.abs(caught))
            doubtful = ~self._redone("last columns", node, low >= self.limit)
        if node.left == 2:
            doubtful = np.triu(doubtful, 1)
        self.rules["last columns"] += 1
        some = node.candidates[np.argwhere(doubtful)]
        self._complete([(*node.chosen, *few) for few in some.tolist()])

    def _relaxed(self, node: Node, relaxation: Relaxation, z: np.ndarray | None) -> list[Node]:
        bound = relaxation.best(self.limit, z, _TURNS)
        if self._closes("relaxation", node, bound.value, bound.given):
            return []
        marks = bound.marks(node.left, self.limit)
        marks = self._redone("relaxation, fewer columns", node, marks, bound.given)
        if marks.any():
            self.rules["relaxation, fewer columns"] += 1
            return [node.after(marks)]
        self.rules["branching"] += 1
        if node.left == 3:  # by the first of the three
            n = len(node.candidates)
            return [node.take(i, np.arange(i + 1, n)) for i in range(n - 2)]
        K, c, _ = node.parts
        at = int(np.argmax(bound.z * (c**2).sum(axis=1) / np.diag(K)))
        return [node.keep(node.without(at)), node.take(at, node.without(at))]

    def _by_span(self, node: Node) -> list[Node]:
        """Children by the column that comes first in an order by their bounds."""
        if self._closes("span of all candidates", node, self._outside(node)):
            return []
        bounds = self._children(node)
        closed = self._redone("span, each column", node, bounds >= self.limit)
        order = np.argsort(bounds, kind="stable")
        order = order[~closed[order]]
        self.rules["span, each column"] += 1
        if node.left == 1:
            self._complete([(*node.chosen, int(node.candidates[i])) for i in order])
            return []
        first = node.left - 1
        return [node.take(int(order[i]), order[:i]) for i in range(first, len(order))]

    def _children(self, node: Node) -> np.ndarray:
        """Span bound of the node with each one of its candidates."""
        K, c, F = node.parts
        pivots, directions = np.diag(K), node.left + node.free
        heights = c / np.sqrt(np.where(pivots > 0.0, pivots, np.inf))[:, None]
        found, width = np.empty(len(c)), max(1, 10**6 // max(len(F) ** 2, 1))
        for start in range(0, len(c), width):
            part = heights[start : start + width]
            after = F - part[:, :, None] * part[:, None, :]
            found[start : start + width] = self.errors(after, directions - 1)
        free = (pivots <= 0.0) & (node.twins >= 0)
        return np.where(free, self.errors(F, directions), found) if free.any() else found

    def _outside(self, node: Node) -> float:
        """Span bound of a node, with what all candidates together leave."""
        n, F, directions = len(node.candidates), node.parts[2], node.left + node.free
        rest, q = node.after(np.ones(n)), len(F)
        if rest.free > node.free:
            return -np.inf
        values = [np.linalg.eigvalsh(M)[::-1] for M in (F, rest.G)]
        low = [v - 8 * q * UNIT * np.abs(v).max(initial=0.0) for v in values]
        inside = np.append(low[0][directions:], np.zeros(min(directions, q)))[:q]
        others = np.append(low[1][node.free :], np.zeros(min(node.free, q)))[:q]
        found = float(self.theta(np.maximum(inside, others)))
        return found - 8 * (q + 8) * UNIT * abs(found)

    # -- complete sets ------------------------------------------------------------------

    def _complete(self, sets: list[tuple[int, ...]]) -> None:
        """Complete sets, unless the proof lists them, in extended precision."""
        sets = [s for s in (tuple(sorted(s)) for s in sets) if s not in self.listed]
        some = max(1, 10**6 // (self.size + self.numbers.q) ** 2)
        for start in range(0, len(sets), some):
            part = sets[start : start + some]
            sure = self.ends(part) >= self.limit
            for at in np.flatnonzero(~sure):
                self._decide(part[at])
            if self.seen is not None:
                self.seen += [part[at] for at in np.flatnonzero(sure)]
        self.rules["complete set"] += len(sets)

    def _decide(self, subset: tuple[int, ...]) -> None:
        """A set that extended precision does not show to be above the limit."""
        if self.ends([subset], upper=True)[0] < self.limit:
            raise Refuted(f"the columns {list(subset)} are better.")
        if self.exact is None:
            raise Refuted(
                f"rounding hides whether the columns {list(subset)} are better: exact arithmetic "
                "must decide."
            )
        self.rules["complete set, exactly"] += 1
        if not self.exact(subset)[0] >= self.limit:
            raise Refuted(f"nothing shows that the columns {list(subset)} are not better.")

    def ends(self, sets: list[tuple[int, ...]], *, upper: bool = False) -> np.ndarray:
        """Lower, or upper, ends of the errors of complete sets in extended precision."""
        p, q, k = self.numbers.p, self.numbers.q, len(sets[0])
        G = self.numbers.high if upper else self.numbers.low
        target = np.broadcast_to(np.arange(p, p + q), (len(sets), q))
        index = np.hstack([np.array(sets, dtype=np.intp).reshape(len(sets), k), target])
        part = G[index[:, :, None], index[:, None, :]]
        free = np.full(len(sets), self.components)
        for j in range(k):
            pivots, twins = part[:, j, j].copy(), self.numbers.twins[index[:, : j + 1]]
            idle = (twins[:, j] < 0) | (twins[:, :j] == twins[:, j:]).any(axis=1)
            free += (pivots <= 0.0) & ~idle & (not upper)
            height = part[:, j, j + 1 :] / np.sqrt(np.where(pivots > 0.0, pivots, np.inf))[:, None]
            part[:, j + 1 :, j + 1 :] -= height[:, :, None] * height[:, None, :]
        F = part[:, k:, k:]
        if self.theta.squared and not free.any():
            return np.trace(F, axis1=1, axis2=2).astype(np.float64)
        F = F.astype(np.float64)
        sign, pairs = -1.0 if upper else 1.0, zip(F, free, strict=True)
        return np.array([float(self.errors(M, int(f), sign)) for M, f in pairs])


def limit_of(claim: dict[str, Any]) -> float:
    """What no set that the proof does not list may be below."""
    bound, error = float(claim["lower_bound"]), float(claim["error"])
    if claim["complete"]:
        bound = error = float(claim["errors"][-1])
    return bound - TOLERANCE * abs(error)


# -- the tree -------------------------------------------------------------------------


class Tree:
    """The open nodes, each as its number of chosen columns, these, and its candidates."""

    def __init__(self, size: int, chosen: np.ndarray, candidates: np.ndarray):
        self.size, self.next, self.bytes = size, 0, 0
        self.open: dict[int, tuple[int, bytes]] = {}
        self.add(chosen, candidates)

    def add(self, chosen: np.ndarray, candidates: np.ndarray) -> None:
        """One more node; one with too few candidates has no sets, and is none."""
        if len(candidates) >= self.size - len(chosen):
            columns = np.concatenate([chosen, np.sort(candidates)]).astype("<u4").tobytes()
            self.open[self.next] = len(chosen), columns
            self.bytes += len(columns) + 200
        self.next += 1
        if self.bytes > MOST_OPEN:
            raise Unreadable("The proof has more open nodes than can be kept.")

    def pop(self, name: int) -> tuple[np.ndarray, np.ndarray]:
        """Chosen columns and candidates of a node, which is open no longer."""
        if name not in self.open:
            raise Refuted(f"node {name} is divided, but it is not open.")
        n, columns = self.open.pop(name)
        self.bytes -= len(columns) + 200
        every = np.frombuffer(columns, dtype="<u4").astype(np.intp)
        return every[:n], every[n:]

    def replace(self, record: Record) -> Iterator[Task]:
        """Replace a node by what a record says; what is to be shown for that."""
        chosen, candidates = self.pop(record.node)
        items, left = record.items, self.size - len(chosen)
        if left < 1:
            raise Refuted(f"node {record.node} has no column left to choose.")
        if record.z is not None and len(record.z) != len(candidates):
            raise Refuted("a relaxation has coefficients for other columns than the node has.")
        if record.kind == _CLOSE:
            yield Task(chosen, candidates, None, record.z)
        elif record.kind == _SHRINK:
            if items.max(initial=0) > 2 or (items == 1).sum() > left:
                raise Refuted("a relaxation fixes more columns than are to be chosen.")
            yield Task(chosen, candidates, items, record.z)
            self.add(np.append(chosen, candidates[items == 1]), candidates[items == 0])
        else:
            if len(np.unique(items)) < len(items) or not np.isin(items, candidates).all():
                raise Refuted(f"node {record.node} is divided by columns that it does not have.")
            dropped = np.where(np.isin(candidates, items), 0, 2)
            if record.kind == _BRANCH and len(items) == 1:
                self.add(np.append(chosen, items), np.setdiff1d(candidates, items))
                self.add(chosen, np.setdiff1d(candidates, items))
                return
            if dropped.any():
                yield Task(chosen, candidates, dropped)
            for i, item in enumerate(items):
                self.add(np.append(chosen, item), items[:i])


def tasks(header: dict[str, Any], rules: Rules, records: Iterator[Record]) -> Iterator[Task]:
    """Everything that is to be shown of all nodes; the copies that are left out are checked."""
    problem, claim, found = header["problem"], header["claim"], rules.numbers
    include = np.array(problem["include"], dtype=np.intp)
    candidates = np.setdiff1d(np.arange(found.p), [*include, *problem["exclude"]])
    tree = Tree(problem["size"], include, candidates)
    for at, record in enumerate(records):
        if rules.limit <= 0.0:  # no error is negative
            continue
        if record.kind != _COPIES:
            yield from tree.replace(record)
            continue
        if at or len(claim["solutions"]) > 1:
            raise Refuted("copies are left out where they count.")
        candidates = _without_copies(record.items, found.twins, problem, candidates)
        tree = Tree(problem["size"], include, candidates)
    for name in list(tree.open) if rules.limit > 0.0 else []:
        yield Task(*tree.pop(name))


def _without_copies(copies: np.ndarray, twins, problem, candidates) -> np.ndarray:
    """Candidates without zeros and multiples of others: what no search for one set needs."""
    kept = np.setdiff1d(candidates, copies)
    left = problem["size"] - len(problem["include"])
    if not np.isin(copies, candidates).all() or len(kept) < left:
        raise Refuted("columns are left out that cannot be.")
    for copy in copies.tolist():
        if twins[copy] >= 0 and not np.isin(twins[copy], twins[[*kept, *problem["include"]]]):
            raise Refuted(f"column {copy} is left out, but no other one is a multiple of it.")
    return kept


# -- the whole ------------------------------------------------------------------------


def begin(header: dict[str, Any], X, y=None) -> Rules:
    """The rules for data that are those of a proof."""
    problem = header["problem"]
    if problem["kind"] != "columns":
        raise Unreadable("This proof is not about columns: this program does not check it.")
    X, target = matrix_of(X), target_of(problem, y)
    check_data(problem, X, target)
    return Rules(Numbers(X, target, problem), header)


def check_claim(rules: Rules, header: dict[str, Any]) -> None:
    """Whether the selections have the errors that are stated, and the constraints are met."""
    problem, claim = header["problem"], header["claim"]
    sets, errors = [claim["selection"], *claim["solutions"]], [claim["error"], *claim["errors"]]
    for subset, error in zip(sets, errors, strict=True):
        if not set(problem["include"]) <= set(subset) or set(problem["exclude"]) & set(subset):
            raise Refuted("a selection contradicts include or exclude.")
        ordered, stated = tuple(sorted(subset)), float(error) / rules.scale
        slack = TOLERANCE * abs(stated) + rules.nothing
        low, high = (float(rules.ends([ordered], upper=upper)[0]) for upper in (False, True))
        if rules.theta.squared and high - low > slack and rules.exact is not None:
            low = rules.exact(ordered)[0]
        if not low - slack <= stated <= high + slack:
            raise Refuted("a selection has another error than the proof states.")
    if not sets[1:] or sorted(sets[1]) != sorted(sets[0]) or sorted(errors[1:]) != errors[1:]:
        raise Refuted("the solutions are not in the order of their errors, the selection first.")
    if len({tuple(sorted(s)) for s in sets[1:]}) < len(sets[1:]):
        raise Refuted("a solution is listed twice.")
    if claim["lower_bound"] > claim["error"] * (1.0 + TOLERANCE):
        raise Refuted("the lower bound is above the error.")


def statement_of(header: dict[str, Any]) -> str:
    """What is certain, in one sentence."""
    problem, claim = header["problem"], header["claim"]
    rows, k = problem["kind"] == "rows", problem["size"]
    n, fixed = problem["shape"][0 if rows else 1], len(problem["include"])
    sets = math.comb(n - fixed - len(problem["exclude"]), k - fixed)
    error, bound = float(claim["error"]), float(claim["lower_bound"])
    what = f"The {k} selected columns have the error {error:.10g}"
    if rows:
        what = f"Without the {k} removed rows the error is {error:.10g}"
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


def check(proof, X, y=None) -> Verdict:
    """Check a proof against data, in this process and without exact arithmetic."""
    with open(proof, "rb") as file:
        header, digest = header_of(file)
        found: Counter[str] = Counter()
        try:
            rules = begin(header, X, y)
            check_claim(rules, header)
            for task in tasks(header, rules, records_of(file, digest)):
                found += rules.confirm(task)
                if found["branching"] > MOST_NODES:
                    raise Refuted("the proof leaves too much to be shown by its reader.")
        except Refuted as reason:
            return Verdict(False, f"Refuted: {reason}", {}, header["claim"])
    return Verdict(True, statement_of(header), dict(found), header["claim"])


def main(arguments: list[str] | None = None) -> int:
    """Check a proof from the command line: 0 it holds, 1 refuted, 2 unreadable."""
    parser = argparse.ArgumentParser(description="Check a proof of column selection.")
    parser.add_argument("proof")
    parser.add_argument("data", help="a .npy file, or numbers separated by commas")
    parser.add_argument("--target", help="a .npy or .csv file with the target")
    options = parser.parse_args(arguments)
    try:
        X, y = _load(options.data), None if options.target is None else _load(options.target)
        verdict = check(options.proof, X, y)
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
