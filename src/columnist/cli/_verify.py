"""``columnist verify``: check a proof against data."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from columnist.cli._errors import FAILED, BadInput
from columnist.cli._options import Loading, Printing, Weighting, argument, option
from columnist.cli._task import Task
from columnist.cli._text import listed

if TYPE_CHECKING:
    from columnist.cli._prepared import Data
    from columnist.search._proof import PreparedProof

EXAMPLES = (
    "columnist select wine.csv -k 4 --center --scale --proof wine.proof",
    "columnist verify wine.proof wine.csv",
    "columnist verify wine.proof wine.csv --exact --jobs 4",
    "columnist verify wine.proof wine.csv --sample 1000",
    "columnist verify wine.proof wine.csv --json",
)


@dataclass(frozen=True, kw_only=True)
class Options(Printing):
    """What to check; the proof says how the file is read and prepared."""

    proof: str = argument("PROOF", "Proof file, written by --proof of select or outliers.")
    file: str = argument("FILE", "The data that the proof is about.")
    exact: bool = option(
        "--exact", "Redo all leaves in exact arithmetic, not only those in doubt.", default=False
    )
    sample: int | None = option("--sample", "Check only so many parts, chosen at random.")
    jobs: int | None = option("--jobs", "Processes; -1 takes all processors.")


class Verify(Task):
    """Check a proof with a small separate program: exit code 1 if it does not hold."""

    command = "verify"
    options: Options
    hint = False

    def check(self) -> None:
        from columnist._verify import read_header

        options = self.options
        if options.sample is not None and options.sample < 1:
            raise BadInput(f"--sample takes a number of parts; got {options.sample}.")
        if options.jobs == 0:
            raise BadInput("--jobs takes a number of processes, or -1 for all processors; got 0.")
        self.header = read_header(self.options.proof)
        self.options = _repeated(self.options, self.header.get("preparation"))
        self.weight = self.options.weight

    def work(self) -> None:
        from columnist import verify

        self.watch.phase("checking")
        options, y = self.options, None
        if self.header["problem"]["target"] != "X":
            y = self.data.y
        self.verdict = verify(
            options.proof, self.data.X, y=y, exact=options.exact, sample=options.sample,
            n_jobs=options.jobs, callback=self._progress,
        )  # fmt: skip
        self.code = 0 if self.verdict.holds else FAILED

    def _progress(self, count: int, share: float) -> None:
        self.watch.doing = f"checking: {count:,} parts, {share:.0%} of the file"

    def show(self) -> None:
        verdict, screen = self.verdict, self.screen
        screen.line(str(verdict), "green" if verdict.holds else "red")
        if not verdict.holds:
            return
        rules = [f"{rule} {times:,}" for rule, times in sorted(verdict.rules.items())]
        facts = {name: listed(items, 30) for name, items in self._selected().items()}
        facts["rules"] = ", ".join(rules) or "none"
        if exact := verdict.exact:
            facts["exact arithmetic"] = (
                f"{exact['complete sets']:,} complete sets, {exact['in doubt']:,} of them in "
                f"doubt; {exact['leaves']:,} leaves, {exact['leaves in doubt']:,} in doubt"
            )
        screen.facts(facts)

    def _selected(self) -> dict[str, list[str]]:
        """The columns that are selected, or the numbers of the rows that are removed."""
        places = self.verdict.claim["selection"]
        if self.header["problem"]["kind"] == "rows":
            return {"removed": [str(row) for row in self.data.row_numbers()[places]]}
        return {"selected": self.data.names_of(places)}

    def json(self) -> dict[str, Any]:
        verdict = self.verdict
        return {
            "data": self.data.summary(),
            "holds": verdict.holds,
            "statement": verdict.statement,
            **self._selected(),
            "indices": verdict.claim["selection"],
            "error": verdict.claim["error"],
            "lower_bound": verdict.claim["lower_bound"],
            "rules": verdict.rules,
            "exact": verdict.exact,
            "sample": verdict.sample,
            "seconds": verdict.seconds,
        }


@dataclass(frozen=True, kw_only=True)
class _Repeated(Options, Weighting, Loading):
    """The same with the preparation of the proof."""

    dummies: bool = False


# What a proof records of how a file was read and prepared.
_RECORDED = {f.name for f in fields(_Repeated)} - {f.name for f in fields(Options)}


def prepared_proof(path: str | None, options: Loading, data: Data) -> PreparedProof | None:
    """Where a proof is written, if it is, with how the file was read and prepared."""
    from columnist.search._proof import PreparedProof

    return None if path is None else PreparedProof(path, _preparation_of(options, data))


def _preparation_of(options: Loading, data: Data) -> dict[str, Any]:
    """How a file was read and prepared, whatever its name: also what the data decided."""
    decided = {
        "header": data.table.header, "drop": list(data.table.ignored) or None, "keep_ids": True,
        "center": data.mean is not None, "scale": data.scale is not None,
    }  # fmt: skip
    # Other commands have no weights and categories.
    given = {name: getattr(options, name) for name in sorted(_RECORDED) if hasattr(options, name)}
    return given | decided


def _repeated(options: Options, preparation: Any) -> Any:
    """Options that read and prepare a file as the proof says."""
    given = {} if preparation is None else preparation
    if not (isinstance(given, dict) and set(given) <= _RECORDED):
        raise BadInput(f"{options.proof}: the preparation of the data is not known here.")
    for value in given.values():
        names = isinstance(value, list) and all(isinstance(name, str) for name in value)
        if not (value is None or isinstance(value, bool | float | str) or names):
            raise BadInput(f"{options.proof}: the preparation of the data is not known here.")
    own = {f.name: getattr(options, f.name) for f in fields(Options)}
    return _Repeated(**own, **given)
