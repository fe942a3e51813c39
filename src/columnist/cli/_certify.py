"""``columnist certify``: a certificate for any selection, including ones made by other tools."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from columnist._text import count
from columnist.cli._errors import FAILED, BadInput
from columnist.cli._names import expanded
from columnist.cli._options import (
    Loading,
    Printing,
    Report,
    Searching,
    Weighting,
    argument,
    option,
)
from columnist.cli._screen import certificate_json
from columnist.cli._task import Task
from columnist.cli._text import listed

EXAMPLES = (
    "columnist certify wine.csv alcohol flavanoids color_intensity --center --scale",
    'columnist certify wine.csv --columns "alcohol,flavanoids,hue" --target class --report p.html',
    "columnist certify new.csv --columns-from model.json --json",
    "columnist certify data.npy x1 x4 --strict && echo nothing is better",
)


@dataclass(frozen=True, kw_only=True)
class Options(Report, Printing, Searching, Weighting, Loading):
    """Options of the selection."""

    names: list[str] | None = argument("[COLUMN]...", "The selection.", default=None)
    columns: str | None = option("--columns", "The selection: a,b or a range a:c.")
    columns_from: str | None = option(
        "--columns-from",
        "A file with the selection: a model, the JSON of select or rank, a JSON list, or one "
        "name a line.",
        metavar="FILE",
    )
    components: int = option("--components", "Extracted features beside the columns.", default=0)
    explain: Literal["X", "y"] | None = option("--explain", "All columns (X) or the target (y).")
    strict: bool = option("--strict", "Exit with 1 if a better selection is found.", default=False)


class Certify(Task):
    """Prove how good a given selection is, and show a better one if there is."""

    command = "certify"
    estimates = True
    options: Options

    def check(self) -> None:
        path = self.options.columns_from
        self.given = _from_file(path) if path else []

    def work(self) -> None:
        import columnist

        options, data = self.options, self.data
        y = data.y if self.explains(options.explain) == "y" else None
        self.wanted = self.spared(data.names)
        if not self.wanted:
            raise BadInput("which columns? Name them after FILE, or use --columns.")
        selection = self.places(self.wanted, "the selection")
        self.watch.phase(f"proving {count(len(selection), 'column')}")
        free = data.mean is not None and (y is not None or data.has_gaps)
        certificate = columnist.certify(
            data.X, selection, y=y, n_components=options.components, time_limit=options.seconds,
            callback=self.watch.callback, sample_weight=data.weights,
            centering="mean" if free else "none",
            **options.given(random_state=options.seed), **self.gaps(),
        )  # fmt: skip
        self.certificate = self.named(certificate)
        self.watch.settle(self.certificate)
        if options.strict and certificate.better is not None:
            self.code = FAILED

    def spared(self, names: Sequence[str]) -> list[str]:
        """The selection: all names that were given."""
        options = self.options
        typed = [*(options.names or []), *([options.columns] if options.columns else [])]
        return [*expanded(typed, names), *self.given]

    def page(self) -> str:
        from columnist.report import certificate_report

        data, asked = self.data, self.asked(selection=listed(self.wanted))
        X, _ = data.for_report("X")
        return certificate_report(
            self.certificate, X, names=data.names, asked=asked, origin=self.origin()
        )

    def show(self) -> None:
        from columnist.search._words import gap_words

        screen, names_of, certificate = self.screen, self.data.names_of, self.certificate
        screen.line(f"Selection: {listed(names_of(certificate.selection), 30)}")
        if certificate.better is not None:
            better = set(certificate.better)
            gone = names_of([i for i in certificate.selection if i not in better])
            new = names_of([i for i in certificate.better if i not in certificate.selection])
            screen.line(f"Better:    {listed(names_of(certificate.better), 30)}", "green")
            if len(new) < len(better):
                screen.line(f"           {listed(new)} instead of {listed(gone)}")
        else:
            said = gap_words(certificate, "selection of this size")
            screen.line(f"{said[0].upper()}{said[1:]}.", "green" if certificate.is_optimal else "")
        screen.certificate(certificate, self.data.seconds)

    def json(self) -> dict[str, Any]:
        data, certificate, better = self.data, self.certificate, self.certificate.better
        return {
            "data": data.summary(),
            "selected": data.names_of(certificate.selection),
            "indices": list(certificate.selection),
            "explains": certificate.target,
            "error": certificate.error,
            "better": None if better is None else data.names_of(better),
            "better_indices": None if better is None else list(better),
            "certificate": certificate_json(certificate),
        }


def _from_file(path: str) -> list[str]:
    """The selection in a file: a model, a result, a list of names."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise BadInput(f"{path}: this is not text.") from None
    try:
        content = json.loads(text)
    except ValueError:
        content = [line.strip() for line in text.splitlines() if line.strip()]
    if isinstance(content, dict) and content.get("format") == "columnist model":
        try:
            content = [content["columns"][i] for i in content["arrays"]["selected"]]
        except (KeyError, IndexError, TypeError):
            content = None
    if isinstance(content, dict):
        content = content.get("selected")
    names = isinstance(content, list) and all(isinstance(name, str) for name in content)
    if not content or not names:
        raise BadInput(
            f"{path} holds no selection: a model, the output of --json, a JSON list of names, or "
            "one name a line is expected."
        )
    return content
