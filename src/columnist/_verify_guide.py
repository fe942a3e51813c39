"""What a checker of proofs is told, and need not believe: NumPy and the standard library alone.

:mod:`columnist._verify` confirms all that it finds here by itself: the records of a file, which
say how its nodes are divided, coefficients of relaxations, and orders in which nodes are divided. A
fault in this file can make a check fail, but not succeed. Loading data is of that kind, too: they
must have the hash that is in the proof.
"""

from __future__ import annotations

import argparse
import struct
import sys
import zlib
from collections.abc import Callable, Iterator
from typing import BinaryIO, NamedTuple

import numpy as np

_END, _LIST, _BRANCH, _SHRINK, _CLOSE, _COPIES = range(6)
_LEAST_Z = 1e-5


class Unreadable(ValueError):
    """The file is no proof, or a damaged one."""


# -- records of a file --------------------------------------------------------------


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
        """So many numbers of a kind."""
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


# -- proposals ------------------------------------------------------------------------


class Guide:
    """Proposes relaxations, and how to divide nodes."""

    def __init__(self, shift: float):
        self.shift = min(max(float(shift), 0.0), 1.0)

    def frame(self, K: np.ndarray, c: np.ndarray, left: int):
        """D, a multiple of which is below K, and Y and s with YY' + sK above cc'; Y is None for
        c."""
        D, (n, q) = 1.0 / np.diag(np.linalg.inv(K)), c.shape
        if min(n, q) <= left:
            return D, None, 0.0
        L = np.linalg.cholesky(K)
        inner = np.linalg.solve(L, c)
        values, vectors = np.linalg.eigh(inner @ inner.T)
        s = self.shift * max(float(values[n - 1 - left]), 0.0)
        above = values > s
        return D, L @ (vectors[:, above] * np.sqrt(values[above] - s)), s

    def coefficients(self, D, P, Y, left: int, z) -> Iterator[np.ndarray]:
        """B for weights z of the candidates, and for better and better ones."""
        z = np.full(len(D), left / len(D)) if z is None else z
        while True:
            B = np.linalg.solve(P + np.diag(D / z), Y)
            yield B
            z = _capped(np.sqrt(D) * np.linalg.norm(B, axis=1), left)

    def order(self, bound, left: int) -> np.ndarray:
        """Candidates by which a node is divided, one after the other: by one of them, by the first
        of the last four, or in the order of their bounds."""
        if bound.by is None:
            return np.argsort(bound.into, kind="stable")
        if left == 4:
            return np.arange(len(bound.into))[::-1]
        return np.array([np.argmax(np.linalg.norm(bound.by[3], axis=1))])


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


# -- the command line -----------------------------------------------------------------


def main(check: Callable, refuted: type[Exception], arguments: list[str] | None = None) -> int:
    """Check a proof from the command line: 0 it holds, 1 refuted, 2 unreadable."""
    parser = argparse.ArgumentParser(description="Check a proof of column selection.")
    parser.add_argument("proof")
    parser.add_argument("data", help="a .npy file, or numbers separated by commas")
    parser.add_argument("--target", help="a .npy or .csv file with the target")
    options = parser.parse_args(arguments)
    try:
        X, y = _load(options.data), None if options.target is None else _load(options.target)
        print(check(options.proof, X, y))
    except refuted as reason:
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
