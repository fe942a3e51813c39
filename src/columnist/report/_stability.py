"""The section of a report about the stability of a selection."""

from __future__ import annotations

from collections.abc import Sequence

from columnist._text import count, number, percent
from columnist.plotting._stability import StabilityDisplay
from columnist.report._blocks import Block, Note, Section, Table, Text
from columnist.report._figures import bar_figure, figure
from columnist.selection._stability import SelectionStability

_MOST_BARS, _MOST_PAIRS = 30, 200


def stability_section(stability: SelectionStability | None, names: Sequence[str]) -> Section:
    """How often columns are kept in resamples, by which they are replaced, and the error on rows
    left out; empty without a result."""
    title = "How stable the selection is"
    if stability is None:
        return Section(title)
    display = StabilityDisplay(stability, names=names)
    caption = "The number after ± is the standard error of the share."
    blocks: list[Block] = [
        Text(_summary(stability)),
        bar_figure(display._bars(_MOST_BARS), ("Kept", "percent"), caption),
        *_pairs(stability, names),
        *_sizes(stability, display),
    ]
    if stability.interrupted:
        blocks.append(Note("The resampling was interrupted: these are the finished resamples."))
    if stability.n_proven is not None and stability.n_proven < stability.n_resamples:
        blocks.append(Note(
            f"{stability.n_proven} of {stability.n_resamples} selections are proven optimal; the "
            "others are the best found in their share of the time limit, which may make the "
            "selection look less stable than it is."
        ))  # fmt: skip
    return Section(title, blocks)


def _summary(s: SelectionStability) -> str:
    text = f"The selection was repeated on {count(s.n_resamples, 'resample')} of the rows. "
    low, high = s.index_interval
    if s.index == s.index:
        text += (
            f"The stability index is {s.index:.2f} (95\u00a0% interval {low:.2f} to {high:.2f}): 1 "
            "if all resamples keep the same columns, about 0 if they keep random ones. "
        )
    if len(s.sizes) == 1:
        text += _left_out_words(s)
    return text


def _left_out_words(s: SelectionStability) -> str:
    """The error on rows left out of a single size in a sentence."""
    error, spread = float(s.errors[0]), float(s.error_standard_errors[0])
    if error != error:
        return "No rows were left out that an error could be computed from."
    thing = "the rows left out" if s.target == "X" else "the target of the rows left out"
    told = f"{percent(error)} of {thing} is unexplained (standard error {percent(spread)})"
    return f"On average, {told}."


def _pairs(s: SelectionStability, names: Sequence[str]) -> list[Block]:
    if not s.replacements:
        return [Note("No column takes the place of a selected one more often than by chance.")]
    rows = [
        (names[pair.column], names[pair.by], f"{pair.times} of {pair.absent}", pair.share,
         None if pair.r2 != pair.r2 else pair.r2)
        for pair in s.replacements[:_MOST_PAIRS]
    ]  # fmt: skip
    kinds = [("Selected column", "text"), ("Replaced by", "text"), ("In its absence", "figure"),
             ("Share of its place", "percent"), ("R² of the two", "percent")]  # fmt: skip
    text = (
        "The share of its place is how much more frequent the replacement is in resamples without "
        "the selected column than in resamples with it. Pairs are listed if it is larger than the "
        "fixed number of columns and chance explain."
    )
    return [Table("Columns that replace one another", kinds, rows), Note(text)]


def _sizes(s: SelectionStability, display: StabilityDisplay) -> list[Block]:
    if len(s.sizes) < 2 or not (s.errors == s.errors).all():
        return []
    rows = list(
        zip(s.sizes.tolist(), s.errors.tolist(), s.error_standard_errors.tolist(), strict=True)
    )
    kinds = [("Columns", "count"), ("Unexplained", "percent"), ("Standard error", "percent")]
    marked = frozenset([s.sizes.tolist().index(s.best_size)])
    table = Table("Error on rows left out", kinds, rows, marked)
    caption = (
        f"{count(s.best_size, 'column')} is the smallest size whose error is within one standard "
        f"error of the least, {number(100 * float(s.errors.min()))}\u00a0%."
    )
    return [figure(display._picture(), caption, table)]
