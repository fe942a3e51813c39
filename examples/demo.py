"""A certified selection from start to end: ``make demo``, or ``python examples/demo.py [folder]``.

Prints a short story and saves one picture in the folder (the current one by default).
"""

from __future__ import annotations

import math
import sys
import textwrap
import time
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from columnist import ColumnSelector, selection_path
from columnist.plotting import ErrorPathDisplay

KEEP = 11
LARGEST = 18
PATH_SECONDS = 8.0
PICTURE = "demo-error-path.png"


def say(text: str) -> None:
    """Print a paragraph."""
    print(textwrap.fill(" ".join(text.split()), 79), end="\n\n")


def headline(text: str) -> None:
    print(f"{text}\n{'-' * len(text)}")


def listing(names, indent: str = "  ") -> str:
    return textwrap.fill(", ".join(names), 79, initial_indent=indent, subsequent_indent=indent)


def load():
    X = load_breast_cancer(as_frame=True).data
    return StandardScaler().set_output(transform="pandas").fit_transform(X)


def introduce(X) -> None:
    n = X.shape[1]
    print()
    headline("The question")
    say(f"""{len(X)} tumours, {n} measurements each, all on one scale. Measuring is expensive: which
        {KEEP} of the {n} should we keep so that the others can be rebuilt from them (by linear
        regression) with the least error? There are {math.comb(n, KEEP):,} ways to choose.""")


def usual_answer(X) -> ColumnSelector:
    headline("1. The usual answer: forward selection")
    greedy = ColumnSelector(KEEP, search="greedy").fit(X)
    print(listing(greedy.get_feature_names_out()))
    say(f"""It leaves {100 * greedy.relative_error_:.2f} % of the data unexplained. Is that good?
        Could another choice do much better? Forward selection cannot tell.""")
    return greedy


def certified_answer(X) -> ColumnSelector:
    headline("2. Columnist: the best choice, with a proof")
    say("""The search keeps two numbers: the error of the best choice so far (Incumbent), and a
        Bound that no choice can beat. Stars mark better choices; when the two meet, the proof is
        done.""")
    best = ColumnSelector(KEEP, n_solutions=4, verbose=True).fit(X)
    print("\nKept:")
    print(listing(best.get_feature_names_out()), end="\n\n")
    return best


def compare(greedy: ColumnSelector, best: ColumnSelector) -> None:
    certificate = best.certificate_
    worse = 100 * (greedy.error_ / best.error_ - 1)
    verdict = "nothing can do better" if certificate.is_optimal else "little can be gained"
    say(f"""{100 * best.relative_error_:.2f} % unexplained instead of
        {100 * greedy.relative_error_:.2f} %: forward selection was {worse:.1f} % worse than
        necessary, and now {verdict}. {certificate.nodes_generated:,} partial choices were looked
        at; their bounds rule out all the others.""")
    first = certificate.history[0]["incumbent"]
    if first > best.error_ * 1.0001:
        say(f"""Swapping columns until no swap helps, the usual remedy, would have stopped at
            {100 * (first / best.error_ - 1):.2f} % above the best.""")


def runners_up(best: ColumnSelector) -> None:
    headline("3. The runners-up, proven as well")
    names, winner = best.feature_names_in_, set(best.selected_)
    for place, columns in enumerate(best.solutions_, start=1):
        if place == 1:
            print("  1.            the choice above")
            continue
        gone = ", ".join(names[i] for i in sorted(winner - set(columns)))
        new = ", ".join(names[i] for i in sorted(set(columns) - winner))
        worse = 100 * (columns.error / best.error_ - 1)
        line = f"{place}.  +{worse:.2f} %   {new}  instead of  {gone}"
        print(textwrap.fill(line, 79, initial_indent="  ", subsequent_indent=" " * 16))
    print()
    if best.certificate_.is_optimal:
        say("""No set outside this list is better than the last one in it. If a runner-up is cheaper
            to measure, you now know exactly what it costs in accuracy.""")


def how_many(X, folder: Path) -> None:
    headline("4. How many columns do I need?")
    say(f"""Every size up to {LARGEST}, at most {PATH_SECONDS:.0f} s for all of them together. Where
        time runs out, the gap says how far from the best the choice can be at most.""")
    path = selection_path(X, LARGEST, time_limit=PATH_SECONDS)
    print(path, end="\n\n")
    forward = [
        100 * ColumnSelector(int(size), search="greedy").fit(X).relative_error_
        for size in path.sizes
    ]
    display = ErrorPathDisplay.from_path(path, log=True)
    display.ax_.plot(
        path.sizes, forward, ":x", color="0.35", markersize=5, zorder=2.5, label="forward selection"
    )
    display.ax_.legend(frameon=False)
    display.ax_.set_title("Breast cancer data: what the kept columns leave unexplained")
    display.figure_.savefig(folder / PICTURE, dpi=150)
    print(f"Picture saved: {folder / PICTURE}")


def main(folder: str = ".") -> None:
    started = time.perf_counter()
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    X = load()
    introduce(X)
    greedy = usual_answer(X)
    best = certified_answer(X)
    compare(greedy, best)
    runners_up(best)
    how_many(X, target)
    print(f"All of this took {time.perf_counter() - started:.0f} s.")


if __name__ == "__main__":
    main(*sys.argv[1:2])
