"""Checks of proofs: the parts that are not in the trusted core.

:mod:`columnist._verify` reads a proof, replays its tree and confirms each part by itself. Here the
parts are shared among processes, progress is shown, a sample of them can be drawn, and what
rounding leaves in doubt is decided in exact arithmetic.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from columnist import _verify as core
from columnist import _verify_guide as guide
from columnist._verify import Refuted, Rules, Task
from columnist._verify_exact import ExactErrors
from columnist._verify_leaves import WHOLE, ExactLeaves
from columnist._verify_rows import check_rows
from columnist.data._parameters import Flag, Integer, checked
from columnist.data._validation import random_generator

# Of a rule by name, a node, what the rule finds, and its D, Y, s and B: what is confirmed of that.
Redo = Callable[[str, Task, np.ndarray, tuple | None], np.ndarray]


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


@checked(exact=Flag(), sample=Integer(1) | None)
def verify(
    proof,
    X,
    *,
    y=None,
    exact: bool = False,
    sample: int | None = None,
    n_jobs: int | None = None,
    random_state: int | np.random.RandomState | None = None,
    callback: Callable[[int, float], object] | None = None,
) -> Verdict:
    """Check a proof file against data.

    Parameters
    ----------
    proof : str or path
        The file that an estimator wrote with ``proof=...``.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The data, or the Gram matrix, that the proof is about.
    y : array-like, optional
        The target, if the proof is about one.
    exact : bool, default=False
        Redo all leaves and complete sets in exact arithmetic, not only those that rounding leaves
        in doubt. Needs python-flint, without which only complete sets in doubt are decided so.
        Not for proofs about rows.
    sample : int, optional
        Check only so many parts of the proof, chosen at random. The verdict then says that it is
        about a sample. Not for proofs about rows.
    n_jobs : int, optional
        Processes; None means 1, -1 all processors. Not for proofs about rows.
    random_state : int, RandomState or None, default=None
        Randomness of the sample.
    callback : callable, optional
        Called regularly with the number of confirmed parts and the share of the file that was read.

    Returns
    -------
    Verdict
        True as a boolean if the proof holds; ``print`` shows what was confirmed.

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
    started, path = time.perf_counter(), Path(proof)
    with path.open("rb") as file:
        header, digest = core.header_of(file)
        verdict = Verdict(True, "", claim=header["claim"])
        try:
            if header["problem"]["kind"] == "rows":
                if exact or sample is not None or n_jobs not in (None, 1):
                    raise ValueError(
                        "This proof is about rows, and checked whole, in one process: leave out "
                        "exact, sample and n_jobs."
                    )
                rows = check_rows(header, np.asarray(X, dtype=np.float64), file, digest)
                verdict.rules, verdict.statement = dict(rows.rules), core.statement_of(header)
                verdict.seconds = time.perf_counter() - started
                return verdict
            check = Check(header, X, y, exact)
            parts: Iterable[Task] = core.tasks(header, check.rules, guide.records_of(file, digest))
            if sample is not None:
                parts, verdict.sample = _drawn(parts, sample, random_generator(random_state))
            size = max(path.stat().st_size, 1)
            for count in check.confirm(parts, effective_n_jobs(n_jobs)):
                if callback is not None:
                    callback(count, file.tell() / size)
            verdict.rules, verdict.exact = dict(check.found), check.exactly
            dependent, alike = check.exactly["dependent"], check.rules.numbers.n_alike
            verdict.statement = core.statement_of(header, dependent, alike)
        except Refuted as reason:
            verdict = Verdict(False, f"Refuted: {reason}", claim=header["claim"])
    if verdict.sample is not None:
        drawn, every = verdict.sample
        verdict.statement = (
            f"A sample of {drawn} of the {every} parts of this proof was checked, and none was "
            f"refuted; the others were not checked. The claim: {verdict.statement}"
        )
    verdict.seconds = time.perf_counter() - started
    return verdict


# What exact arithmetic decides; "dependent" are complete sets that do not count.
_COUNTS = ["complete sets", "in doubt", "dependent", "leaves", "leaves in doubt"]


class Check:
    """One check: its rules, and what has been found."""

    def __init__(self, header: dict[str, Any], X, y, exact: bool):
        rules = core.begin(header, X, y, SharedRules)
        assert isinstance(rules, SharedRules)
        self.rules = rules
        self._exact = ExactErrors(self.rules, header["problem"], X, y)
        self._leaves = ExactLeaves(self._exact, exact) if _has_flint(exact) else None
        self.found: Counter[str] = Counter()
        self.exactly = dict.fromkeys(_COUNTS, 0)
        self.rules.redoes_all, self.rules.errors_exactly = exact, self._exact
        core.check_claim(self.rules, header)
        self.rules.errors_exactly = None  # it stays here

    def confirm(self, parts: Iterable[Task], n_jobs: int) -> Iterator[int]:
        """Confirm parts of a proof; how many were, after some of them."""
        count, leaves = 0, self._leaves
        # Several processes leave those with a leaf in doubt to this one.
        ask = None if leaves is None else leaves if self.rules.redoes_all or n_jobs == 1 else _later
        work = delayed(_confirmed)
        calls = (work(self.rules, chunk, ask) for chunk in core.chunks(parts))
        run = Parallel(n_jobs, return_as="generator", pre_dispatch="2*n_jobs", batch_size=1)
        for n_parts, answer in run(calls):
            self._note(answer)
            for part in answer.later:
                self._note(_confirmed(self.rules, [part], leaves)[1])
            if self.found["branching"] > core.MOST_NODES:
                raise Refuted("the proof leaves too much to be shown by its reader.")
            count += n_parts
            yield count

    def _note(self, answer: Answer) -> None:
        """Add up what was found, and decide what is in doubt."""
        if answer.message is not None:
            raise Refuted(answer.message)
        self.found += answer.found
        for name, times in answer.leaves.items():
            self.exactly[name] += times
        for subset, in_doubt in answer.doubts:
            self._decide(subset, in_doubt)

    def _decide(self, subset: tuple[int, ...], in_doubt: bool) -> None:
        """Decide a complete set in exact arithmetic."""
        self.exactly["complete sets"] += 1
        self.exactly["in doubt"] += in_doubt
        self.exactly["dependent"] += not self._is_above(subset)

    def _is_above(self, subset: tuple[int, ...]) -> bool:
        """Whether a set is above the limit; if not, its columns depend on one another, and it does
        not count, but those that have a copy of another column, or zeros, for one of them do."""
        if self._exact(subset)[0] >= self.rules.limit:
            return True
        if not self._exact.depend(subset):
            raise Refuted(f"nothing shows that the columns {list(subset)} are not better.")
        for column in subset:
            self._is_above(tuple(i for i in subset if i != column))
        return False


class SharedRules(Rules):
    """Rules that note complete sets for another process, and ask ``redo`` about leaves."""

    redo: Redo | None = None
    errors_exactly: ExactErrors | None = None
    doubts: list[tuple[tuple[int, ...], bool]] = []  # of complete sets, and whether there is one

    def exactly(self, subset):
        """What exact arithmetic says, where it is there."""
        return None if self.errors_exactly is None else self.errors_exactly(subset)

    def redone(self, rule, node, found, by=None):
        """What exact arithmetic confirms."""
        return found if self.redo is None else self.redo(rule, node, found, by)

    def decide(self, subset):
        """Note a set in doubt."""
        self.doubts.append((subset, True))

    def _complete(self, sets):
        noted = len(self.doubts)
        super()._complete(sets)
        if self.redoes_all:
            doubtful = {subset for subset, _ in self.doubts[noted:]}
            ordered = (tuple(sorted(subset)) for subset in sets)
            self.doubts += [(s, False) for s in ordered if s not in doubtful | self.listed]


@dataclass
class Answer:
    """What confirming some parts gave: how often which rules, the complete sets that are to be
    decided exactly and whether they must, how many leaves were redone exactly, the parts among
    which a leaf is in doubt, and what refutes the proof, if anything does."""

    found: Counter[str] = field(default_factory=Counter)
    doubts: list[tuple[tuple[int, ...], bool]] = field(default_factory=list)
    leaves: Counter[str] = field(default_factory=Counter)
    later: list[Task] = field(default_factory=list)
    message: str | None = None


class _Later(Exception):
    """A leaf is in doubt."""


def _later(rule: str, node: Task, found: np.ndarray, by: tuple | None) -> np.ndarray:
    """Leave parts with a leaf in doubt to the process that has the exact numbers."""
    if rule in WHOLE and not found[0]:
        raise _Later
    return found


def _confirmed(rules: SharedRules, chunk: list[Task], redo: Redo | None) -> tuple[int, Answer]:
    """Confirm some parts: how many, and what that gave."""
    answer = Answer()
    rules.doubts, rules.redo = answer.doubts, redo
    if isinstance(redo, ExactLeaves):
        redo.count = answer.leaves
    try:
        answer.found = rules.confirm(chunk)
    except _Later:
        answer.doubts, answer.later = [], chunk
    except Refuted as reason:
        answer.message = str(reason)
    finally:
        rules.doubts, rules.redo = [], None
    return len(chunk), answer


def _has_flint(needed: bool) -> bool:
    """Whether python-flint is there; an ImportError if it must be."""
    if find_spec("flint") is None and needed:
        raise ImportError("exact=True needs python-flint: pip install 'columnist[exact]'")
    return find_spec("flint") is not None


def _drawn(
    parts: Iterable[Task], count: int, rng: np.random.Generator
) -> tuple[list[Task], tuple[int, int]]:
    """Some parts, each with the same chance, and how many of how many these are."""
    drawn: list[Task] = []
    total = 0
    for total, part in enumerate(parts, 1):
        if len(drawn) < count:
            drawn.append(part)
        elif (at := int(rng.integers(total))) < count:
            drawn[at] = part
    return drawn, (len(drawn), total)
