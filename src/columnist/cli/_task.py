"""The steps of a command: read a file, compute, write the outputs, report."""

from __future__ import annotations

import difflib
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, ClassVar

from columnist.cli._errors import BadInput
from columnist.cli._model import Model, write_model
from columnist.cli._names import expanded
from columnist.cli._screen import Screen, Watch, watching
from columnist.cli._text import listed

if TYPE_CHECKING:
    from columnist.cli._prepared import Data
    from columnist.report import Origin


class Task(ABC):
    """A command that reads a file.

    Subclasses ``check`` their options, ``work`` on the ``data``, and return their results in the
    forms that they have options for: ``write_data``, ``fitted``, ``page``, ``show``, ``json``.
    """

    command: ClassVar[str]
    note: ClassVar[str] = ""
    options: Any
    watch: Watch
    data: Data
    certificate: Any = None
    code = 0
    # Whether the scales of the columns matter.
    hint = True
    # Whether all columns are features: none is left out unasked.
    takes_all = False
    # Whether columns with different units are put on one scale unasked.
    scales = True
    # Whether moments may be estimated where values are missing.
    estimates = False
    # Further columns that are no features.
    ids: Sequence[str] = ()

    def __init__(self, options: Any):
        self.options = options
        names = ("out", "report", "model", "dask", "weight")
        self.out, self.report, self.model, self.dask, self.weight = (
            getattr(options, n, None) for n in names
        )
        self.screen = Screen(options, self.command, taken=self.out == "-")

    @classmethod
    def carry_out(cls, options: Any) -> int:
        """Run the command and return its exit code."""
        return cls(options).run()

    def run(self) -> int:
        """Run all steps and return the exit code."""
        check_outputs(self.outputs(), self.options.file, blocks=self.dask is not None)
        self.check()
        with watching(self.screen, f"reading {self.options.file}") as self.watch, self.opened():
            self.work()
            self.watch.phase("writing")
            self._write()
        if self.screen.shows_tables:
            self.screen.heading(self.title())
            self.show()
        self.screen.finish(self.json())
        return self.code

    def outputs(self) -> dict[str, str | None]:
        """Files to be written, by their options."""
        return {"--out": self.out, "--report": self.report, "--model": self.model}

    @contextmanager
    def opened(self) -> Iterator[None]:
        """The data are there: in memory, or with ``--dask`` in blocks, until the block ends."""
        from columnist.cli._prepare import read_here

        options, watch = self.options, self.watch
        if getattr(options, "missing", None) == "covariance" and (
            not self.estimates or self.weight or self.dask
        ):
            raise BadInput(
                "--missing covariance is for select and certify, without --dask and --weight."
            )
        if self.dask is None:
            data = read_here(options, [*self.ids, *([self.weight] if self.weight else [])])
            if self.weight:
                data.weigh(self.weight)
                self.screen.note(f"rows are weighted by {self.weight}")
            self._prepare(data)
            yield
            return
        if self.weight or getattr(options, "dummies", False):
            given = "--weight" if self.weight else "--dummies"
            raise BadInput(f"{given} needs the data in memory: leave out --dask.")
        try:
            from columnist.cli._dask import DataInBlocks, on_cluster, open_in_blocks
        except ModuleNotFoundError as error:
            raise BadInput(f"--dask needs {error.name}: pip install 'columnist[dask]'") from error
        from columnist.distributed._run import watch as watch_blocks

        collection = open_in_blocks(options)
        watch.phase("starting Dask")
        with on_cluster(self.dask, self.screen), watch_blocks(watch.blocks):
            watch.phase(f"reading {options.file}")
            self._prepare(DataInBlocks(collection, options.missing))
            yield
            watch.phase("stopping Dask")

    def _prepare(self, data: Data) -> None:
        from columnist.cli._prepare import prepare

        spared = None if self.takes_all else self.spared(data.names)
        self.data = prepare(
            data, self.options, self.screen, hint=self.hint, scales=self.scales, spared=spared
        )
        self.data.seconds = self.watch.passed_seconds

    def spared(self, names: Sequence[str]) -> Sequence[str]:
        """Columns that the user named, and that are features whatever they look like."""
        return expanded(getattr(self.options, "include", None), names)

    def _write(self) -> None:
        if self.out:
            self.write_data(self.out)
            self.screen.written("out", self.out)
        if self.model:
            write_model(self.fitted(), self.model)
            self.screen.written("model", self.model)
        if self.report:
            self.screen.write_page(self.page(), self.report)

    # -- what subclasses do ---------------------------------------------------------

    @abstractmethod
    def check(self) -> None:
        """Refuse options that cannot be used, before anything is read."""

    @abstractmethod
    def work(self) -> None:
        """Everything that takes long."""

    def write_data(self, path: str) -> None:
        """For ``--out``."""
        raise NotImplementedError

    def fitted(self) -> Model:
        """For ``--model``."""
        raise NotImplementedError

    def page(self) -> str:
        """HTML for ``--report``."""
        raise NotImplementedError

    def title(self) -> str:
        """The heading of what is shown."""
        details = [self.data.names_from(), self.data.prepared()]
        return f"{self.data.describe()} ({'; '.join(filter(None, details))})"

    @abstractmethod
    def show(self) -> None:
        """The result as tables."""

    @abstractmethod
    def json(self) -> dict[str, Any]:
        """The result for JSON."""

    # -- shared by all commands ------------------------------------------------------------

    def fit(self, estimator, doing: str, y: Any = None):
        """Fit to the data; a search may be interrupted."""
        self.watch.phase(doing)
        estimator.fit(self.data.X, y, **self.weighed(estimator))
        self.certificate = getattr(estimator, "certificate_", None)
        if self.certificate is not None and hasattr(estimator, "selected_"):
            estimator.certificate_ = self.named(self.certificate)
            self.certificate = estimator.certificate_
        self.watch.settle(self.certificate)
        return estimator

    def weighed(self, estimator) -> dict[str, Any]:
        """The weights of the rows for a fit; an estimator that takes none is refused."""
        if self.data.weights is None:
            return {}
        from sklearn.utils.validation import has_fit_parameter

        if not has_fit_parameter(estimator, "sample_weight"):
            raise BadInput(f"--weight does not apply to {type(estimator).__name__}.")
        return {"sample_weight": self.data.weights}

    def gaps(self) -> dict[str, Any]:
        """Parameters of a selector for missing values."""
        return {"missing": "covariance"} if self.options.missing == "covariance" else {}

    def named(self, certificate):
        """The certificate of a selection with the names of its columns."""
        return replace(certificate, names=tuple(self.data.names_of(certificate.selection)))

    def asked(self, **further: str) -> dict[str, str]:
        """The settings of the run, for a report."""
        prepared = "; ".join(filter(None, [self.data.names_from(), self.data.prepared()]))
        weights = {"weights": self.weight} if self.weight else {}
        return {"data": self.data.describe(), **weights, **further, "columns": prepared}

    def origin(self) -> Origin:
        """The origin of a report."""
        from columnist.cli._invocation import command_line, file_hash
        from columnist.report import Origin

        path = self.options.file
        return Origin(
            command_line(), path, file_hash(path), tuple(self.screen.notes), self.data.seconds
        )

    def explains(self, explain: str | None, required: bool = False) -> str:
        """What a selection explains, all columns or the target; it has to be there if asked for."""
        if self.data.y is None and (explain == "y" or required):
            raise BadInput("a target is needed: name its column with --target.")
        return "X" if self.data.y is None or explain == "X" else "y"

    def selection_page(
        self,
        selector,
        explains: str,
        asked: dict[str, str],
        path=None,
        stability=None,
        verdicts=None,
        budgets=None,
    ) -> str:
        """The report of a selector."""
        from columnist.report import ranking_report, selection_report

        data = self.data
        X, y = data.for_report(explains)
        if self.certificate is None:
            return ranking_report(
                selector, X, y, names=data.names, stability=stability, asked=asked,
                origin=self.origin(),
            )  # fmt: skip
        return selection_report(
            selector, X, y, names=data.names, path=path, stability=stability, verdicts=verdicts,
            budgets=budgets, asked=asked, origin=self.origin(),
        )  # fmt: skip

    def require_dense(self) -> None:
        """Refuse sparse data."""
        if hasattr(self.data.X, "toarray"):
            raise BadInput(f"{self.command} needs dense data; this file is sparse.")

    def places(self, given: Sequence[str] | None, option: str) -> list[int]:
        """Places of columns named on the command line."""
        names = self.data.names
        places = {name: i for i, name in enumerate(names)}
        dummies = self.data.dummies
        named = expanded(given, [*names, *dummies])
        wanted = [column for name in named for column in dummies.get(name, [name])]
        for name in wanted:
            if name not in places:
                close = difflib.get_close_matches(name, list(names)[:100_000], n=3)
                hint = f"did you mean {listed(close)}?" if close else f"there are: {listed(names)}."
                raise BadInput(
                    f"{option} names the column {name!r}, which the data do not have; {hint}"
                )
        return [places[name] for name in wanted]

    def rehearse(self, write: Callable[[str], None]) -> None:
        """Refuse a format that cannot hold what there is, before the long work begins."""
        from columnist.io import DataFileError

        if self.out is None or self.out == "-":
            return
        with TemporaryDirectory() as folder:
            path = str(Path(folder) / Path(self.out).name)
            try:
                write(path)
            except DataFileError as error:
                raise BadInput(str(error).replace(path, f"--out {self.out}")) from None


def check_outputs(outputs: dict[str, str | None], source: str, *, blocks: bool) -> None:
    """Refuse what cannot be written, before the long work begins.

    ``blocks`` says that data are written block by block.
    """
    endings = {"--report": (".html", ".htm"), "--model": (".json",)}
    seen: dict[Path, str] = {}
    for option, path in outputs.items():
        if path is None or (option == "--out" and path == "-"):
            continue
        _check_place(option, path, folder=blocks and option == "--out")
        if option in endings and not path.lower().endswith(endings[option]):
            raise BadInput(f"{option} {path}: the name must end in {' or '.join(endings[option])}.")
        place = Path(path).resolve()
        if source != "-" and place == Path(source).resolve():
            raise BadInput(f"{option} {path} is the file that is read: choose another name.")
        if place in seen:
            raise BadInput(f"{seen[place]} and {option} both name {path}.")
        seen[place] = option
    out = outputs["--out"]
    if out is not None and out != "-":
        _check_format(out, blocks)


def _check_place(option: str, path: str, *, folder: bool) -> None:
    """``folder`` says that a folder of Zarr may be replaced."""
    from columnist.io._inputs import is_zarr

    place = Path(path)
    around = place.parent
    if "\0" in path or not place.name:
        raise BadInput(f"{option} {path!r} is not a file name.")
    if place.is_dir() and not (folder and is_zarr(path)):
        raise BadInput(f"{option} {path} is a folder: name a file in it.")
    if not around.is_dir():
        raise BadInput(f"{option} {path}: there is no folder {around}; make it first.")
    if not os.access(around, os.W_OK | os.X_OK):
        raise BadInput(f"{option} {path}: the folder {around} cannot be written to.")


def _check_format(path: str, blocks: bool) -> None:
    from columnist.io import FORMATS, DataFileError
    from columnist.io._inputs import READ_ONLY, extension_format, is_zarr
    from columnist.io._write import streamed_format

    if blocks:
        try:
            streamed_format(path)
        except DataFileError as error:
            raise BadInput(f"--out {path}: {error}") from None
        return
    if is_zarr(path):
        raise BadInput(f"--out {path}: Zarr is written with --dask only.")
    if extension_format(path) in (None, *READ_ONLY):
        known = ", ".join(extensions[0] for extensions in FORMATS.values())
        raise BadInput(f"--out {path}: this format is not written; use one of {known}.")
