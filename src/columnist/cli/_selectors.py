"""Selectors by name, and names as the shell completes them."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from columnist.cli._errors import BadInput
from columnist.cli._text import parsed

_OPTIONS = {
    "constraints": "--groups, --budget, --at-most or --requires",
    "n_components": "--components",
    "n_jobs": "--jobs",
    "n_solutions": "--solutions",
}
CRITERIA = ("frobenius", "spectral", "nuclear", "schatten:0.5", "schatten:1.5", "kyfan:3")


@dataclass(frozen=True)
class Entry:
    """A selector that can be named: where its class is, and whether it uses a target.

    ``target`` is "no", "optional" or "required".
    """

    name: str
    path: str
    target: str

    @property
    def class_name(self) -> str:
        """Name of the class."""
        return self.path.partition(":")[2]

    def load(self) -> type:
        """The class; imports its module."""
        module, _, name = self.path.partition(":")
        return getattr(import_module(f"columnist.{module}"), name)

    def summary(self) -> str:
        """What it does, in one line."""
        return (inspect.getdoc(self.load()) or self.name).splitlines()[0]


_ENTRIES = (
    Entry("certified", "selection._certified:ColumnSelector", "optional"),
    Entry("forward", "selection._forward:ForwardSelector", "optional"),
    Entry("exchange", "selection._exchange:ExchangeSelector", "optional"),
    Entry("qr", "selection._algebraic:PivotedQRSelector", "no"),
    Entry("gks", "selection._algebraic:GKSSelector", "no"),
    Entry("strong-rrqr", "selection._algebraic:StrongRRQRSelector", "no"),
    Entry("uniform", "selection._sampling:UniformSampler", "no"),
    Entry("norm", "selection._sampling:NormSampler", "no"),
    Entry("leverage", "selection._sampling:LeverageSampler", "no"),
    Entry("volume", "selection._sampling:VolumeSampler", "no"),
    Entry("correlation", "selection._filters:CorrelationFilter", "required"),
    Entry("matching", "selection._filters:MatchingFilter", "required"),
    Entry("two-stage", "selection._two_stage:TwoStageSelector", "optional"),
    Entry("rfs", "selection._robust_l21:RobustL21Selector", "required"),
    Entry("mifs", "selection._multilabel_informed:MultiLabelInformedSelector", "required"),
    Entry("spectral", "spectral._spec:SpectralSelector", "optional"),
    Entry("laplacian", "spectral._spec:LaplacianScore", "no"),
    Entry("fisher", "spectral._ratios:FisherScore", "required"),
    Entry("relief", "spectral._relief:Relief", "required"),
    Entry("relief-f", "spectral._relief:ReliefF", "required"),
    Entry("trace-ratio", "spectral._ratios:TraceRatio", "optional"),
    Entry("hsic", "spectral._sequential:HSIC", "optional"),
    Entry("mrsf", "spectral._mrsf:MRSF", "optional"),
    Entry("mcsf", "spectral._mcsf:MCSF", "optional"),
    Entry("semi-supervised", "spectral._spec:SemiSupervisedSelector", "required"),
    Entry("mrmr", "spectral._sequential:MRMR", "required"),
    Entry("zero-norm", "spectral._sequential:ZeroNormSVM", "required"),
    Entry("sparse-loadings", "lowrank._models:SparseLoadings", "no"),
)
SELECTORS: Mapping[str, Entry] = {entry.name: entry for entry in _ENTRIES}


def find(name: str) -> Entry:
    """The selector of that name: ours or the class's, in any case, with dashes or not."""
    key = _key(name)
    for entry in _ENTRIES:
        if key in (_key(entry.name), _key(entry.class_name)):
            return entry
    known = {_key(n): e.name for e in _ENTRIES for n in (e.class_name, e.name)}
    close = dict.fromkeys(known[k] for k in difflib.get_close_matches(key, known, n=3))
    hint = f" Did you mean {' or '.join(close)}?" if close else ""
    raise BadInput(f"No selector is called {name!r}.{hint} columnist rank --list shows all.")


def _key(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "")


def build(
    entry: Entry,
    size: Any,
    given: Mapping[str, Any] = {},
    parameters: Mapping[str, Any] = {},
    seed: int | None = None,
):
    """An estimator, not fitted.

    ``given`` are options by the names of parameters: refused where the selector has no such
    parameter; None was not given. ``parameters`` are further ones, by the names of the class.
    """
    cls = entry.load()
    known = inspect.signature(cls).parameters
    given = {name: value for name, value in given.items() if value is not None}
    for name in given:
        if name not in known:
            option = _OPTIONS.get(name, f"--{name.replace('_', '-')}")
            raise BadInput(f"{option} does not apply to {entry.name}.")
    for name in parameters:
        if name not in known:
            hidden = ("callback", "verbose", "n_features_to_select")
            listed = ", ".join(n for n in known if n not in hidden) or "none"
            raise BadInput(f"{entry.name} has no parameter {name!r}; it has: {listed}.")
    settings = {**given, **parameters}
    if "random_state" in known and seed is not None:
        settings.setdefault("random_state", seed)
    if entry.name == "two-stage":
        return _two_stage(cls, size, settings)
    if entry.name == "sparse-loadings":
        return _sparse_loadings(cls, size, settings)
    return cls(size, **settings)


def _two_stage(cls: type, size: Any, settings: dict[str, Any]):
    """Stages are named; by default candidates by pivoted QR, then exchange."""
    first = build(find(settings.pop("first", "qr")), None)
    second = build(find(settings.pop("second", "exchange")), size)
    return cls(first, second, settings.pop("n_candidates", None), **settings)


def _sparse_loadings(cls: type, size: Any, settings: dict[str, Any]):
    """Two components unless said otherwise; a penalty takes the place of the size."""
    components = settings.pop("n_components", 2)
    if "alpha" not in settings:
        settings["n_features_to_select"] = size
    return cls(components, **settings)


def parse_parameters(pairs: Sequence[str] | None) -> dict[str, Any]:
    """``name=value`` pairs; values are integers, numbers, true, false, none, or text."""
    parameters = {}
    for pair in pairs or ():
        name, equals, value = pair.partition("=")
        if not equals or not name.strip():
            raise BadInput(f"-o takes name=value; got {pair!r}.")
        parameters[name.strip().replace("-", "_")] = _value(value.strip())
    return parameters


def _value(text: str) -> Any:
    words = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    value = parsed(text)
    return text if value is None else value


# -- what the shell proposes when the tab key is pressed -----------------------------


def complete_criterion(incomplete: str) -> Iterator[str]:
    """Criteria that begin so."""
    return (name for name in CRITERIA if name.startswith(incomplete))


def complete_selector(incomplete: str) -> Iterator[str]:
    """Selectors that begin so; of a list, the last one."""
    head, comma, last = incomplete.rpartition(",")
    return (head + comma + name for name in SELECTORS if name.startswith(last))
