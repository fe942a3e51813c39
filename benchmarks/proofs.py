"""What proofs cost: size, time of the search with a proof, and time of the check.

``python -m benchmarks.proofs [name ...]``; without names all cases.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.preprocessing import scale

from columnist import ColumnSelector, datasets, verify


def _standardized(X: np.ndarray) -> np.ndarray:
    X = np.asarray(X, dtype=np.float64)
    return scale(X[:, X.std(axis=0) > 0.0])


def cases() -> Iterator[tuple[str, np.ndarray, int, str]]:
    """Name, data, size and criterion of every case."""
    wdbc = _standardized(load_breast_cancer().data)
    digits = _standardized(load_digits().data)
    for k in range(1, wdbc.shape[1]):
        yield "wdbc", wdbc, k, "frobenius"
    for name, largest in (("vehicle", None), ("libras", 8)):
        try:
            X = _standardized(datasets.fetch(name).data)
        except (OSError, ValueError, AttributeError) as error:
            print(f"{name}: left out ({error})")
            continue
        for k in range(1, (largest or X.shape[1] - 1) + 1):
            yield name, X, k, "frobenius"
    for k in range(1, 9):
        yield "digits", digits, k, "frobenius"
    for criterion in ("nuclear", "schatten:0.5"):
        for k in (3, 25):
            yield criterion, wdbc, k, criterion


def measure(X: np.ndarray, k: int, criterion: str, path: Path) -> str:
    """One line of the table."""
    seconds = []
    for proof in (None, path):
        started = time.process_time()
        selector = ColumnSelector(k, criterion=criterion, proof=proof, time_limit=60).fit(X)
        seconds.append(time.process_time() - started)
    started = time.process_time()
    verdict = verify(path, X)
    check = time.process_time() - started
    return (
        f"{selector.certificate_.status:>12} {path.stat().st_size:>10,} {seconds[0]:>8.2f} "
        f"{seconds[1] / max(seconds[0], 1e-9):>7.2f} {check / max(seconds[0], 1e-9):>7.2f} "
        f"{'holds' if verdict.holds else verdict}"
    )


def main(names: list[str]) -> None:
    """Print the table."""
    heads = ("data>12", "k>3", "status>12", "bytes>10", "search>8", "proof>7", "check>7")
    print(" ".join(f"{name:>{width}}" for name, width in (head.split(">") for head in heads)))
    with tempfile.TemporaryDirectory() as folder:
        for name, X, k, criterion in cases():
            if not names or name in names:
                line = measure(X, k, criterion, Path(folder, "p"))
                print(f"{name:>12} {k:>3} {line}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
