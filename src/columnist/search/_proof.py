"""Recording how a search divides its nodes, for a proof that can be checked independently.

A proof is one line of JSON, which states the problem and the claim, and compressed records, in the
order in which the search made them. The root is node 0, and every record gives the parts of one
node the next numbers. A node that no record divides is a leaf, which the checker
(:mod:`columnist._verify`) closes by itself.

========  ============================================================================
list      items: child i takes ``items[i]`` and may use ``items[:i]``
branch    one column: the node with it, and without it
shrink    z and mark of every candidate: the node with some of them fixed, and some dropped
close     z of every candidate: no part is left
copies    columns that are left out: multiples of others; before everything else
end       the number of records, and the hash of the first line
========  ============================================================================
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import struct
import tempfile
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from columnist.criteria import Criterion, get_criterion
from columnist.search._problem import Branches, Step

FORMAT, VERSION = "columnist proof", 3
_RECORD = struct.Struct("<BQI")
_END, _LIST, _BRANCH, _SHRINK, _CLOSE, _COPIES = range(6)
# The smallest z that is told from zero, and the steps of a logarithmic scale down to it.
_LEAST_Z, _SCALE = 1e-5, 65535
# Bytes of records that are compressed in one go, and of compressed ones that need no file.
_BUFFER, _IN_MEMORY = 2**16, 2**20


class PreparedProof(os.PathLike):
    """The path of a proof, with what the command line did to the data before."""

    def __init__(self, path: str, preparation: dict[str, Any]):
        self.path, self.preparation = path, preparation

    def __fspath__(self) -> str:
        return self.path


class ProofRecorder:
    """Collects records, many of them in a file without a name, until :meth:`finish` writes them."""

    def __init__(self, path: str | os.PathLike):
        self.path = Path(path).absolute()
        self.preparation = path.preparation if isinstance(path, PreparedProof) else None
        if not self.path.parent.is_dir():
            raise ValueError(f"The proof cannot be written: there is no folder {self.path.parent}.")
        if self.path.is_dir():
            raise ValueError(f"The proof cannot be written: {self.path} is a folder.")
        self._file: Any = None
        self._buffer = bytearray()
        self.begin()

    def begin(self) -> None:
        """Forget what was recorded: another search begins."""
        self.discard()
        self._file, self._compress, self._next = io.BytesIO(), zlib.compressobj(6), 1
        self._counts: Counter[int] = Counter()

    def discard(self) -> None:
        """Leave nothing behind."""
        if self._file is not None:
            self._file.close()
            self._file = None
        self._buffer.clear()

    # -- records ------------------------------------------------------------------

    def listed(self, node: int, items: np.ndarray) -> int:
        """Children of a node, in the order of the partition; the number of the first one."""
        self.write(_LIST, node, items)
        return self._names(len(items))

    def divided(self, node: int, result: Branches) -> tuple[Branches, int]:
        """What relaxation made of a node: the same with numbers for its parts, and the number of
        what is left of it if it has none."""
        assert result.trace is not None
        branch, chains = result.trace
        names = [node]
        if branch >= 0:
            self.write(_BRANCH, node, [branch])
            first = self._names(2)
            names = [first, first + 1]
        ends = [self._chain(name, steps) for name, (_, steps) in zip(names, chains, strict=True)]
        left = [name for name, (is_open, _) in zip(ends, chains, strict=True) if is_open]
        parts = [part._replace(node=name) for part, name in zip(result.parts, left, strict=False)]
        return replace(result, parts=parts), left[0] if left else node

    def _chain(self, node: int, steps: list[Step]) -> int:
        """Bounds of one node, one after the other; the number of what they leave."""
        for step in steps:
            order = np.argsort(step.candidates)
            z = np.clip(step.z[order].astype(np.float64), _LEAST_Z, 1.0)
            scaled = np.rint(np.log(z) / np.log(_LEAST_Z) * _SCALE).astype("<u2").tobytes()
            if step.marks is None:
                self.write(_CLOSE, node, scaled, len(order))
            else:
                marks = step.marks[order].tobytes()
                self.write(_SHRINK, node, scaled + marks, len(order))
                node = self._names(1)
        return node

    def copies(self, columns: Sequence[int] | np.ndarray) -> None:
        """Columns that the search does without: multiples of others, or zero."""
        if len(columns):
            self.write(_COPIES, 0, columns)

    def _names(self, count: int) -> int:
        self._next += count
        return self._next - count

    def write(
        self, kind: int, node: int, body: bytes | Sequence[int] | np.ndarray, count: int = 0
    ) -> None:
        """A record of columns, or of ``count`` other things as bytes."""
        if not isinstance(body, bytes):
            body, count = np.asarray(body).astype("<u4").tobytes(), len(body)
        self._counts[kind] += 1
        self._buffer += _RECORD.pack(kind, node, count)
        self._buffer += body
        if len(self._buffer) > _BUFFER:
            self._flush()

    def _flush(self) -> None:
        """Compress what has gathered; much of it goes into a file without a name."""
        self._file.write(self._compress.compress(self._buffer))
        self._buffer.clear()
        if isinstance(self._file, io.BytesIO) and self._file.tell() > _IN_MEMORY:
            gathered, self._file = self._file, tempfile.TemporaryFile(dir=self.path.parent)
            self._file.write(gathered.getbuffer())

    # -- the end ------------------------------------------------------------------

    def finish(self, problem: dict[str, Any], claim: dict[str, Any]) -> None:
        """Write the file, all of it or nothing."""
        from columnist import __version__

        header = {"format": FORMAT, "version": VERSION, "package": __version__}
        header |= {"problem": problem, "claim": claim, "preparation": self.preparation}
        header["records"] = {str(kind): count for kind, count in sorted(self._counts.items())}
        line = json.dumps(header, allow_nan=False).encode() + b"\n"
        self._buffer += struct.pack("<BQ", _END, self._counts.total())
        self._buffer += hashlib.sha256(line).digest()
        self._flush()
        self._file.write(self._compress.flush())
        self._file.seek(0)
        unfinished = self.path.with_name(f".proof-{os.getpid()}-{id(self):x}")
        try:
            with open(unfinished, "xb") as whole:
                whole.write(line)
                shutil.copyfileobj(self._file, whole)
            os.replace(unfinished, self.path)
        except BaseException:
            unfinished.unlink(missing_ok=True)
            raise
        self.discard()


def criterion_name(criterion: Criterion) -> str:
    """The name of a criterion, with all digits of its parameter."""
    kind, _, parameter = str(criterion).partition(":")
    value = getattr(criterion, "p", None) if kind == "schatten" else getattr(criterion, "k", None)
    name = f"{kind}:{value!r}" if parameter else kind
    try:
        named = get_criterion(name) == criterion
    except ValueError:
        named = False
    if not named:
        raise ValueError(
            f"proof needs a criterion with a name, got {criterion!r}: use 'frobenius', 'spectral', "
            "'nuclear', 'schatten:<p>' or 'kyfan:<k>'."
        )
    return name
