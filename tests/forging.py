"""Proof files taken apart and put together again."""

import hashlib
import json
import struct
import zlib

import numpy as np

from columnist import _verify, _verify_guide


class Forger:
    """The parts of a proof, to be changed and put together again."""

    def __init__(self, path):
        self.path = path
        line, _, body = path.read_bytes().partition(b"\n")
        self.header = json.loads(line)
        self.body = zlib.decompress(body)[:-41]

    def records(self):
        with self.path.open("rb") as file:
            digest = _verify.header_of(file)[1]
            return list(_verify_guide.records_of(file, digest))

    def save(self, path=None, records=None):
        """Write it with a valid end."""
        line = json.dumps(self.header).encode() + b"\n"
        body, count = self.body, len(self.records())
        if records is not None:
            body, count = b"".join(map(packed, records)), len(records)
        end = struct.pack("<BQ", 0, count) + hashlib.sha256(line).digest()
        path = path or self.path.with_suffix(".forged")
        path.write_bytes(line + zlib.compress(body + end))
        return path


def packed(record):
    """A record as it is written."""
    body, count = record.items.astype("<u4").tobytes(), len(record.items)
    if record.z is not None:
        count, marks = len(record.z), record.items.astype("<u1").tobytes()
        body = np.rint(np.log(record.z) / np.log(1e-5) * 65535).astype("<u2").tobytes() + marks
    return struct.pack("<BQI", record.kind, record.node, count) + body


def resealed(path, header, body=None, count=None):
    """A copy of a proof with another first line, or body, and a valid end."""
    line, inflate = json.dumps(header).encode() + b"\n", zlib.decompressobj()
    old = inflate.decompress(path.read_bytes().partition(b"\n")[2])
    count = struct.unpack("<Q", old[-40:-32])[0] if count is None else count
    end = struct.pack("<BQ", 0, count) + hashlib.sha256(line).digest()
    forged = path.with_suffix(".forged")
    forged.write_bytes(line + zlib.compress((old[:-41] if body is None else body) + end))
    return forged
