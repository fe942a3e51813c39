"""Problems as files and as Python code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from columnist import constraints
from tests.soak.criteria import USERS
from tests.soak.problems import Problem

__all__ = ["as_code", "as_dict", "read", "write"]


def as_dict(problem: Problem) -> dict[str, Any]:
    """A problem in plain types; numbers keep their last bit."""
    plain = dict(vars(problem))
    plain["X"] = problem.X.tolist()
    plain["y"] = None if problem.y is None else problem.y.tolist()
    plain["weights"] = None if problem.weights is None else problem.weights.tolist()
    plain["given"] = list(problem.given)
    plain["constraints"] = [[type(c).__name__, vars(c)] for c in problem.constraints]
    return plain


def of_dict(plain: dict[str, Any]) -> Problem:
    """The problem that :func:`as_dict` wrote."""
    y, weights = plain["y"], plain.get("weights")
    changed = {
        "X": np.array(plain["X"], dtype=np.float64),
        "y": None if y is None else np.array(y),
        "given": tuple(plain["given"]),
        "weights": None if weights is None else np.array(weights),
        "constraints": tuple(
            getattr(constraints, name)(**given) for name, given in plain.get("constraints", ())
        ),
    }
    return Problem(**{**plain, **changed})


def write(path: Path, problem: Problem, faults: list[str]) -> None:
    """Store a problem and what is wrong with it."""
    text = json.dumps({"faults": faults, "problem": as_dict(problem)}, indent=1)
    path.write_text(text + "\n", encoding="utf-8")


def read(path: str | Path) -> Problem:
    """A stored problem."""
    return of_dict(json.loads(Path(path).read_text(encoding="utf-8"))["problem"])


def as_code(problem: Problem) -> str:
    """Python code that repeats a problem."""
    lines = ["import numpy as np"]
    lines += _imports(problem)
    lines.append(f"X = np.array({problem.X.tolist()})")
    data = {
        "csr": "scipy.sparse.csr_array(X)",
        "csc": "scipy.sparse.csc_matrix(X)",
        "gram": "X.T @ X",
        "stream": "RunningMoments().partial_fit(X)",
        "frame": "pandas.DataFrame(X).add_prefix('x')",
        "fortran": "np.asfortranarray(X)",
        "list": "X.tolist()",
        "float32": "X.astype(np.float32)",
    }.get(problem.form, "X")
    if problem.form == "dask frame":
        data = "dask.dataframe.from_pandas(pandas.DataFrame(X).add_prefix('x'), npartitions=2)"
    elif "dask" in problem.form:
        data = f"dask.array.from_array(X, chunks=({(len(problem.X) + 1) // 2}, -1))"
    y = "None"
    if problem.y is not None:
        y = "y"
        lines.append(f"y = np.array({problem.y.tolist()})")
    lines += _calls(problem, data, y)
    if problem.stop is not None:
        lines.append(f"# ended by a callback that returns True the {problem.stop}. time")
    if problem.interrupt is not None:
        lines.append(f"# interrupted after {problem.interrupt:.0%} of the time it takes")
    return "\n".join(lines)


def _imports(problem: Problem) -> list[str]:
    lines = []
    if problem.form in ("csr", "csc"):
        lines.append("import scipy.sparse")
    if problem.form in ("frame", "dask frame"):
        lines.append("import pandas")
    if "dask" in problem.form:
        lines.append(f"import dask.{'dataframe' if problem.form == 'dask frame' else 'array'}")
    if problem.form == "stream":
        lines.append("from columnist.distributed import RunningMoments")
    lines.append("from columnist import ColumnSelector, certify, selection_path")
    if problem.constraints:
        lines.append("from columnist.constraints import AtMost, Budget, Groups, Requires")
    if problem.is_rows:
        lines[-1] = "from columnist.robust import RobustPCA, outlier_path"
    if problem.criterion in USERS:
        lines.append("from tests.soak.criteria import library_criterion")
    return lines


def _calls(problem: Problem, data: str, y: str) -> list[str]:
    options = dict(problem.options)
    if problem.form == "gram":
        options["input"] = "gram"
    if problem.form in ("frame", "dask frame"):
        options |= {
            name: [f"x{j}" for j in options[name]]
            for name in ("include", "exclude")
            if name in options
        }
    components = options.pop("n_components", 0) if problem.is_rows else None
    criterion = repr(problem.criterion)
    if problem.criterion in USERS:
        criterion = f"library_criterion({criterion})"
    if problem.constraints:
        options["constraints"] = list(problem.constraints)
    if problem.proof:
        options["proof"] = "a.proof"
    weights = ""
    if problem.weights is not None:
        weights = f", sample_weight={problem.weights.tolist()}"
    more = "".join(f", {name}={value!r}" for name, value in options.items())
    more = f"criterion={criterion}{more}"
    size, given = problem.size, list(problem.given)
    size = "'auto'" if problem.task == "fewest" else size
    fitted = {
        "select": f"ColumnSelector({size}, {more}).fit({data}, {y}{weights})",
        "fewest": f"ColumnSelector({size}, {more}).fit({data}, {y}{weights})",
        "outliers": f"RobustPCA({components}, n_outliers={size}, {more}).fit({data})",
    }
    if problem.task in fitted:
        lines = [f"found = {fitted[problem.task]}", "print(found.certificate_)"]
        checked = f"print(columnist.verify('a.proof', {data}, y={y}))"
        return [*lines, "import columnist", checked] if problem.proof else lines
    more += weights
    called = {
        "certify": f"certify({data}, {given}, y={y}, {more})",
        "path": f"selection_path({data}, {size}, y={y}, {more})",
        "verdicts": f"column_verdicts({data}, {size}, y={y}, {more})",
        "outlier path": f"outlier_path({data}, {components}, {size}, {more})",
    }
    return [f"print({called[problem.task]})"]
