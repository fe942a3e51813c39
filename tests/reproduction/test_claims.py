"""Statements beside what we measure."""

from __future__ import annotations

from reproduction.claims import DRAWN, claim


def test_reason_is_kept_only_for_a_difference():
    assert claim("a", "grows", "1, 2", True, "because").why == ""
    cell = claim("a", "grows", "2, 1", False, "because")
    assert (cell.verdict, cell.why, cell.printed, cell.ours) == (
        "different", "because", "grows", "2, 1",
    )  # fmt: skip


def test_a_difference_has_a_reason():
    assert claim("a", "grows", "2, 1", False).why == DRAWN
