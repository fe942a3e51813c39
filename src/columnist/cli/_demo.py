"""``columnist demo``: a certified selection from start to end, on embedded data."""

from __future__ import annotations

import math
import textwrap
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from columnist.cli._errors import BadInput
from columnist.cli._options import Printing, command, examples, option
from columnist.cli._screen import Screen, Watch, certificate_json, watching
from columnist.cli._text import percent

EPILOG = examples("columnist demo", "columnist demo --out folder", "columnist demo --json")

KEEP = 11
LARGEST = 18
PATH_SECONDS = 8.0
PAGE, DATA = "demo-report.html", "demo-data.csv"


@dataclass(frozen=True, kw_only=True)
class Options(Printing):
    """Where to write."""

    out: str = option("--out", "Folder for the report and the data.", default=".", metavar="FOLDER")


@partial(command, Options)
def demo(options: Options) -> None:
    """The best 11 of 30 measurements, proven, with a report, on bundled data."""
    screen, folder = Screen(options, "demo"), Path(options.out)
    if folder.exists() and not folder.is_dir():
        raise BadInput(f"--out {options.out} is a file: name a folder.")
    folder.mkdir(parents=True, exist_ok=True)
    started = time.perf_counter()
    with watching(screen, "loading") as watch:
        demonstration = Demonstration(screen, watch)
        demonstration.usual_answer()
        demonstration.certified_answer()
        demonstration.how_many()
        demonstration.write(folder)
    screen.heading("Now you")
    for choice in ("--drop", "--target"):
        screen.line(f"columnist select {folder / DATA} -k 5 {choice} diagnosis --center --scale")
    screen.line(f"All of this took {time.perf_counter() - started:.0f} s.")
    screen.finish(demonstration.json())


class Demonstration:
    """Breast cancer data: which measurements can be left out?"""

    def __init__(self, screen: Screen, watch: Watch):
        from sklearn.datasets import load_breast_cancer
        from sklearn.preprocessing import StandardScaler

        self.screen, self.watch, loaded = screen, watch, load_breast_cancer()
        self.raw = loaded.data
        self.diagnosis = loaded.target_names[loaded.target]
        self.names = [str(name) for name in loaded.feature_names]
        self.X = StandardScaler().fit_transform(loaded.data)

    def say(self, text: str) -> None:
        """A paragraph."""
        for line in textwrap.wrap(" ".join(text.split()), 79):
            self.screen.line(line)

    def names_of(self, columns) -> list[str]:
        """Names of columns."""
        return [self.names[i] for i in columns]

    def list_names(self, columns) -> None:
        """Names of columns, indented."""
        for line in textwrap.wrap(", ".join(self.names_of(columns)), 77):
            self.screen.line(f"  {line}")

    def usual_answer(self) -> None:
        """The question, and the answer of forward selection."""
        from columnist import ColumnSelector

        n, m = self.X.shape
        self.screen.heading("The question")
        self.say(f"""{n} tumours, {m} measurements each, all on one scale. Measuring is expensive:
            which {KEEP} of the {m} should we keep so that the others can be reconstructed from
            them (by linear regression) with the least error? There are {math.comb(m, KEEP):,}
            ways to choose.""")
        self.screen.heading("1. The usual answer: forward selection")
        self.greedy = ColumnSelector(KEEP, search="greedy").fit(self.X)
        self.list_names(self.greedy.selected_)
        self.say(f"""It leaves {percent(self.greedy.relative_error_)} of the data unexplained. Is
            that good? Could another choice do much better? Forward selection cannot tell.""")

    def certified_answer(self) -> None:
        """The best choice, and the proof."""
        from columnist import ColumnSelector
        from columnist.search._words import gap_words

        self.screen.heading("2. Columnist: the best choice, with a proof")
        self.watch.phase(f"choosing {KEEP} of {len(self.names)}")
        selector = ColumnSelector(KEEP, n_solutions=4, callback=self.watch.callback)
        self.best = best = selector.fit(self.X)
        self.watch.settle(best.certificate_)
        self.list_names(best.selected_)
        worse = self.greedy.error_ / best.error_ - 1
        self.say(f"""{percent(best.relative_error_)} unexplained: forward selection was
            {percent(worse, 1)} worse. What is proven: {gap_words(best.certificate_)}.
            {best.certificate_.nodes_generated:,} partial choices were examined; their bounds rule
            out all the others.""")
        self.screen.certificate(best.certificate_)
        self._runners_up(best)

    def _runners_up(self, best) -> None:
        self.screen.heading("3. The runners-up, proven as well")
        winner = set(best.solutions_[0])
        rows = [
            [place, percent(s.error / best.error_ - 1),
             ", ".join(self.names_of(sorted(set(s) - winner))) or "the choice above",
             ", ".join(self.names_of(sorted(winner - set(s))))]
            for place, s in enumerate(best.solutions_, start=1)
        ]  # fmt: skip
        self.screen.table(["rank>", "worse by>", "with", "instead of"], rows, best=0)
        if best.certificate_.is_optimal:
            self.say("""No set outside this list is better than the last one in it. If a runner-up
                is cheaper to measure, you now know what it costs in accuracy.""")

    def how_many(self) -> None:
        """Every size."""
        from columnist import selection_path

        self.screen.heading("4. How many columns do I need?")
        self.say(f"""Every size up to {LARGEST}, at most {PATH_SECONDS:.0f} s for all of them
            together. Where time runs out, the gap says how far from the best the choice can be at
            most.""")
        self.watch.phase(f"every size up to {LARGEST}")
        self.path = selection_path(
            self.X, LARGEST, time_limit=PATH_SECONDS, callback=self.watch.callback
        )
        self.screen.path(self.path)

    def write(self, folder: Path) -> None:
        """The report, and the data for a first try."""
        from columnist.io import write_table
        from columnist.report import selection_report

        self.watch.phase("writing")
        n, m = self.X.shape
        asked = {
            "data": f"breast cancer (scikit-learn), {n} rows, {m} columns",
            "select": f"{KEEP} columns",
            "columns": "centred and scaled",
        }
        page = selection_report(self.best, self.X, names=self.names, path=self.path, asked=asked)
        self.screen.write_page(page, str(folder / PAGE))
        write_table(folder / DATA, self.raw, self.names, after={"diagnosis": self.diagnosis})
        self.screen.written("data", str(folder / DATA))

    def json(self) -> dict:
        """The result for JSON."""
        best, names_of = self.best, self.names_of
        return {
            "selected": names_of(best.selected_),
            "relative_error": best.relative_error_,
            "forward_relative_error": self.greedy.relative_error_,
            "certificate": certificate_json(best.certificate_),
            "solutions": [{"columns": names_of(s), "error": s.error} for s in best.solutions_],
        }
