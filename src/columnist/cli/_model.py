"""The model file: JSON with everything needed for new data, and no executable code.

Numbers are written with all their digits: on the data of the fit, a model gives what the fit gave.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from columnist.cli._errors import BadInput
from columnist.cli._text import plain

if TYPE_CHECKING:
    import numpy as np

    from columnist.cli._prepared import Data

FORMAT, VERSION = "columnist model", 1
# Entries of the largest matrix that is worth writing.
_LARGEST = 5_000_000


@dataclass(frozen=True)
class Model:
    """What a fit found, ready for new data: columns in the order of all arrays, numbers by name.

    ``fill`` replaces missing values, ``mean`` is subtracted from the columns, ``scale`` divides
    them; ``facts`` are everything else: error, certificate, options.
    """

    kind: str
    columns: tuple[str, ...]
    arrays: dict[str, np.ndarray]
    fill: np.ndarray | None = None
    mean: np.ndarray | None = None
    scale: np.ndarray | None = None
    facts: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, kind: str, data: Data, arrays: dict[str, Any], facts: Mapping[str, Any]) -> Model:
        """The model of a fit to these data."""
        fill = data.fill_values()
        return cls(kind, data.names, arrays, fill, data.mean, data.scale, dict(facts))

    def prepare(self, X, columns):
        """Some columns as the fit saw them: centred and scaled."""
        X = X if self.mean is None else X - self.mean[columns]
        return X if self.scale is None else X / self.scale[columns]

    def restore(self, X):
        """All columns in the units of the file."""
        X = X if self.scale is None else X * self.scale
        return X if self.mean is None else X + self.mean


def write_model(model: Model, path: str) -> None:
    """Write a model, whole or not at all."""
    from columnist import __version__
    from columnist.io import atomic_path

    largest = max((a.size for a in model.arrays.values()), default=0)
    if largest > _LARGEST:
        raise BadInput(f"--model {path}: {largest:,} numbers are too many for a JSON file.")
    content: dict[str, Any] = {"format": FORMAT, "version": VERSION, "columnist": __version__}
    content |= {
        "kind": model.kind,
        "columns": list(model.columns),
        "prepare": {"fill": model.fill, "mean": model.mean, "scale": model.scale},
        "arrays": model.arrays,
        "facts": model.facts,
    }
    text = json.dumps(plain(content), allow_nan=False, separators=(",", ":"))
    with atomic_path(path) as temporary:
        Path(temporary).write_text(text + "\n", encoding="utf-8")


def read_model(path: str) -> Model:
    """Read and check a model."""
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BadInput(f"{path}: there is no such file.") from None
    except (ValueError, RecursionError):
        raise BadInput(f"{path} is no model: it is not JSON, or cut off.") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise BadInput(f"{path} is no model: columnist select --model writes one.")
    if content.get("version") != VERSION:
        raise BadInput(
            f"{path} has version {content.get('version')!r} of the model format; this columnist "
            f"reads version {VERSION}."
        )
    try:
        return _checked(content)
    except _Damaged as damage:
        raise BadInput(f"{path} is damaged: {damage}.") from None


class _Damaged(Exception):
    """A model file with an invalid entry."""


# Shapes of the arrays of each kind: m features, other letters are free; ``?`` may be absent.
_SHAPES: Mapping[str, Mapping[str, str]] = {
    "selection": {"coef?": "km", "intercept?": "m", "components?": "rm"},
    "outliers": {"mean": "m", "components": "rm", "variances": "r"},
    "cleaning": {"coef": "qm", "mean": "m", "confidential?": "sm"},
}
_NUMBERS: Mapping[str, tuple[str, ...]] = {
    "selection": (),
    "outliers": ("score_cutoff", "orthogonal_cutoff", "unit"),
    "cleaning": ("utility",),
}


def _require(right: object, what: str) -> None:
    if not right:
        raise _Damaged(what)


def _checked(content: dict[str, Any]) -> Model:
    kind: Any = content.get("kind")
    columns: Any = content.get("columns")
    _require(kind in tuple(_SHAPES), f"unknown kind {kind!r}")
    _require(_are_different(columns, str), "columns must be different names")
    for name in ("arrays", "prepare", "facts"):
        _require(isinstance(content.get(name), dict), f"{name} is missing")
    given, prepare, facts = content["arrays"], content["prepare"], content["facts"]
    arrays: dict[str, np.ndarray] = {}
    sizes = {"m": len(columns)}
    if kind == "selection":
        arrays["selected"] = _indices(given.get("selected"), len(columns))
        sizes["k"] = len(arrays["selected"])
    for name, shape in _SHAPES[kind].items():
        if name.endswith("?") and given.get(name[:-1]) is None:
            continue
        name = name.removesuffix("?")
        arrays[name] = _numbers(given.get(name), name, shape, sizes)
    for name in _NUMBERS[kind]:
        _require(_is_number(facts.get(name)), f"{name} must be a number")
    steps = {
        name: None if prepare.get(name) is None else _numbers(prepare[name], name, "m", sizes)
        for name in ("fill", "mean", "scale")
    }
    _require(steps["scale"] is None or (steps["scale"] > 0.0).all(), "scale must be positive")
    return Model(kind, tuple(columns), arrays, **steps, facts=facts)


def _are_different(values: Any, kind: type) -> bool:
    """Whether this is a list of different values of one kind, and not an empty one."""
    alike = isinstance(values, list) and all(type(value) is kind for value in values)
    return alike and 0 < len(values) == len(set(values))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _indices(values: Any, limit: int) -> np.ndarray:
    import numpy as np

    _require(_are_different(values, int), "selected must hold different whole numbers")
    inside = min(values) >= 0 and max(values) < limit
    _require(inside, f"selected must be between 0 and {limit - 1}")
    return np.array(values, dtype=np.intp)


def _numbers(values: Any, name: str, shape: str, sizes: dict[str, int]) -> np.ndarray:
    """An array of finite numbers; letters that are met for the first time become known."""
    import numpy as np

    rows = values if len(shape) == 2 else [values]
    right = isinstance(rows, list) and all(
        isinstance(row, list) and all(map(_is_number, row)) for row in rows
    )
    _require(right, f"{name} must hold numbers")
    if len(shape) == 2:
        high = sizes.setdefault(shape[0], len(rows))
        _require(len(rows) == high, f"{name} has {len(rows)} rows instead of {high}")
    wide = sizes.setdefault(shape[-1], len(rows[0]) if rows else 0)
    _require(all(len(row) == wide for row in rows), f"{name} must have {wide} numbers a row")
    try:
        array = np.array(rows, dtype=np.float64).reshape(-1, wide)
    except OverflowError:
        array = np.array([np.inf])
    _require(np.isfinite(array).all(), f"{name} must hold finite numbers")
    return array if len(shape) == 2 else array[0]
