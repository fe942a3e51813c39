"""One problem given to the library, and what it answered."""

from __future__ import annotations

import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import columnist
from columnist import (
    Certificate,
    ColumnSelector,
    certify,
    column_verdicts,
    selection_path,
    verify,
)
from columnist.robust import RobustPCA, outlier_path
from columnist.robust import _row_data as row_data
from columnist.selection import _wide as wide
from columnist.selection._verdicts import ColumnVerdicts
from tests.soak.criteria import library_criterion
from tests.soak.problems import Problem

__all__ = ["Answer", "Claim", "ask", "contained"]


@dataclass(frozen=True)
class Claim:
    """What is said about the best sets of one size; ``refuted`` is what the check of the proof
    says against it."""

    size: int | None
    sets: tuple[tuple[int, ...], ...]
    errors: tuple[float, ...]
    certificate: Certificate
    verdicts: ColumnVerdicts | None = None
    refuted: str = ""


@dataclass
class Answer:
    """What a call returned or raised."""

    claims: list[Claim] = field(default_factory=list)
    warned: list[warnings.WarningMessage] = field(default_factory=list)
    raised: str = ""
    # Whether Ctrl-C came out of the call although there was a choice to return.
    escaped: bool = False
    interrupted: bool = False
    seconds: float = 0.0

    @property
    def statuses(self) -> list[str]:
        """How the searches ended."""
        if self.claims:
            return [claim.certificate.status for claim in self.claims]
        return ["KeyboardInterrupt" if self.interrupted and not self.escaped else "exception"]


def ask(problem: Problem) -> Answer:
    """Solve a problem with the library."""
    answer = Answer()
    moment = _CtrlC(_delay(problem), problem.stop)
    started = time.process_time()
    recorded = warnings.catch_warnings(record=True)
    with (
        recorded as answer.warned, _scheduler(problem), _in_passes(problem), _as_wide(problem),
        tempfile.TemporaryDirectory() as folder,
    ):  # fmt: skip
        warnings.simplefilter("always")
        path = Path(folder, "a.proof")
        more = moment.options() | ({"proof": path} if problem.proof else {})
        try:
            data = contained(problem)
            with moment:
                answer.claims = _TASKS[problem.task](problem, data, more)
            if problem.proof:
                answer.claims[0] = replace(answer.claims[0], refuted=_refuted(problem, path))
        except KeyboardInterrupt as error:
            if problem.interrupt is None:
                raise
            answer.interrupted = True
            answer.escaped = moment.had_incumbent and _inside(error)
            if answer.escaped:
                answer.raised = _last_frames(error)
        except Exception as error:
            answer.raised = _last_frames(error)
    answer.seconds = time.process_time() - started
    return answer


def _refuted(problem: Problem, path: Path) -> str:
    """What the check says against a proof; nothing if it holds."""
    verdict = verify(path, contained(problem), y=problem.y)
    return "" if verdict.holds else verdict.statement


@contextmanager
def _as_wide(problem: Problem) -> Iterator[None]:
    """Half of the problems with a target are searched as if they had very many columns."""
    usual = wide._MANY
    if problem.y is not None and len(problem.X) % 2:
        wide._MANY = 0
    try:
        yield
    finally:
        wide._MANY = usual


def _delay(problem: Problem) -> float | None:
    """Seconds until Ctrl-C: a share of what the call takes undisturbed."""
    if problem.interrupt is None:
        return None
    started = time.perf_counter()
    ask(replace(problem, interrupt=None, proof=False))
    return max(problem.interrupt * (time.perf_counter() - started), 1e-5)


# -- data ---------------------------------------------------------------------------


def contained(problem: Problem) -> Any:
    """X in the container the problem names."""
    X, form = problem.X, problem.form
    containers: dict[str, Callable] = {
        "dense": lambda: X.copy(),
        "fortran": lambda: np.asfortranarray(X),
        "list": X.tolist,
        "float32": lambda: X.astype(np.float32),
        "csr": lambda: sp.csr_array(X),
        "csc": lambda: sp.csc_matrix(X),
        "gram": lambda: X.T @ X,
        "frame": lambda: _frame(X),
        "stream": lambda: _stream(X),
    }
    return containers[form]() if form in containers else _blocks(X, form)


def _frame(X: np.ndarray):
    import pandas as pd

    return pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])


def _stream(X: np.ndarray):
    from columnist.distributed import RunningMoments

    half = (len(X) + 1) // 2
    return RunningMoments().partial_fit(X[:half]).partial_fit(X[half:])


def _blocks(X: np.ndarray, form: str):
    import dask.array as da
    import dask.dataframe as dd

    if form == "dask frame":
        return dd.from_pandas(_frame(X), npartitions=2)
    return da.from_array(X, chunks=((len(X) + 1) // 2, X.shape[1]))


def _scheduler(problem: Problem):
    if "dask" not in problem.form:
        return nullcontext()
    import dask

    kind = "threads" if problem.form == "dask threads" else "synchronous"
    return dask.config.set(scheduler=kind)


@contextmanager
def _in_passes(problem: Problem) -> Iterator[None]:
    """Rows of a collection stay where they are, however few: they are what many stand for."""
    few = row_data._FEW_ROWS
    if problem.is_rows and "dask" in problem.form:
        row_data._FEW_ROWS = 0
    try:
        yield
    finally:
        row_data._FEW_ROWS = few


# -- tasks --------------------------------------------------------------------------


def _keywords(problem: Problem, more: dict[str, Any]) -> dict[str, Any]:
    keywords = dict(problem.options) | more
    if problem.form == "gram":
        keywords["input"] = "gram"
    if problem.form in ("frame", "dask frame"):
        for name in ("include", "exclude"):
            if name in keywords:
                keywords[name] = [f"x{j}" for j in keywords[name]]
    if problem.constraints:
        keywords["constraints"] = list(problem.constraints)
    return keywords | {"criterion": library_criterion(problem.criterion)}


def _select(problem: Problem, data, more) -> list[Claim]:
    size = "auto" if problem.task == "fewest" else problem.size
    selector = ColumnSelector(size, **_keywords(problem, more))
    found = selector.fit(data, problem.y, sample_weight=problem.weights)
    sets = tuple(tuple(int(j) for j in solution) for solution in found.solutions_)
    errors = (found.error_, *(solution.error for solution in found.solutions_[1:]))
    if tuple(found.selected_) != sets[0] or found.certificate_.selection != sets[0]:
        raise AssertionError("selected_, solutions_ and certificate_ name different sets")
    size = problem.size if problem.constraints else len(sets[0])
    return [Claim(size, sets, errors, found.certificate_)]


def _certify(problem: Problem, data, more) -> list[Claim]:
    keywords = _keywords(problem, more) | {"sample_weight": problem.weights}
    certificate = certify(data, list(problem.given), y=problem.y, **keywords)
    return [Claim(problem.size, (certificate.selection,), (certificate.error,), certificate)]


def _path(problem: Problem, data, more) -> list[Claim]:
    keywords = _keywords(problem, more) | {"sample_weight": problem.weights}
    path = selection_path(data, problem.size, y=problem.y, **keywords)
    return [
        Claim(len(s), (tuple(int(j) for j in s),), (c.error,), c) for s, c in path
    ]  # fmt: skip


def _verdicts(problem: Problem, data, more) -> list[Claim]:
    keywords = _keywords(problem, more) | {"sample_weight": problem.weights}
    found = column_verdicts(data, problem.size, y=problem.y, **keywords)
    certificate = found.certificate
    sets, errors = (certificate.selection,), (certificate.error,)
    return [Claim(problem.size, sets, errors, certificate, found)]


def _outliers(problem: Problem, data, more) -> list[Claim]:
    keywords = _keywords(problem, more)
    components = keywords.pop("n_components")
    found = RobustPCA(components, n_outliers=problem.size, **keywords).fit(data)
    removed = tuple(int(i) for i in found.outliers_)
    if found.certificate_.selection != removed:
        raise AssertionError("outliers_ and certificate_ name different rows")
    return [Claim(problem.size, (removed,), (found.error_,), found.certificate_)]


def _outlier_path(problem: Problem, data, more) -> list[Claim]:
    keywords = _keywords(problem, more)
    path = outlier_path(data, keywords.pop("n_components"), problem.size, **keywords)
    return [Claim(len(s), (tuple(int(i) for i in s),), (c.error,), c) for s, c in path]


_TASKS: dict[str, Callable[[Problem, Any, dict[str, Any]], list[Claim]]] = {
    "select": _select,
    "fewest": _select,
    "certify": _certify,
    "path": _path,
    "verdicts": _verdicts,
    "outliers": _outliers,
    "outlier path": _outlier_path,
}


# -- interrupts and errors ----------------------------------------------------------


class _CtrlC:
    """Raises SIGINT in this process after a while, as Ctrl-C does; nothing if that is None.

    ``stop`` is the call of the callback that ends the search instead.
    """

    def __init__(self, delay: float | None, stop: int | None):
        self._delay, self._stop = delay, stop
        self._calls = 0
        self._seen = False
        self.had_incumbent = False

    def options(self) -> dict[str, Any]:
        """A callback that tells whether there is an incumbent."""
        watched = self._delay is not None or self._stop is not None
        return {"callback": self._watch} if watched else {}

    def _watch(self, progress) -> bool:
        self._seen |= bool(np.isfinite(progress.incumbent))
        self._calls += 1
        return self._calls == self._stop

    def _fire(self, signum, frame) -> None:
        self.had_incumbent = self._seen
        signal.raise_signal(signal.SIGINT)

    def __enter__(self) -> _CtrlC:
        if self._delay is not None:
            self._alarm = signal.signal(signal.SIGALRM, self._fire)
            # A shell starts what runs in the background with Ctrl-C ignored.
            self._int = signal.signal(signal.SIGINT, signal.default_int_handler)
            self._hook, sys.unraisablehook = sys.unraisablehook, _ignore
            signal.setitimer(signal.ITIMER_REAL, self._delay)
        return self

    def __exit__(self, *exception) -> None:
        if self._delay is not None:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            signal.signal(signal.SIGALRM, self._alarm)
            signal.signal(signal.SIGINT, self._int)
            sys.unraisablehook = self._hook


def _ignore(unraisable) -> None:
    """An interrupt inside a finaliser is lost: the search just goes on."""
    if not isinstance(unraisable.exc_value, KeyboardInterrupt):
        sys.__unraisablehook__(unraisable)


def _frames(error: BaseException) -> Iterator[traceback.FrameSummary]:
    home = columnist.__path__[0]
    yield from (f for f in traceback.extract_tb(error.__traceback__) if f.filename.startswith(home))


def _inside(error: BaseException) -> bool:
    """Whether an exception passed through the library."""
    return any(True for _ in _frames(error))


def _last_frames(error: BaseException) -> str:
    places = [f"{f.filename.rsplit('/columnist/')[-1]}:{f.lineno}" for f in _frames(error)]
    return f"{type(error).__name__}: {error} ({' < '.join(reversed(places[-4:]))})"
