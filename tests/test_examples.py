"""The knob for the number of random problems does turn."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.examples import examples, scale_examples

NUMBERS = st.integers(0, 10**9)


def runs_of(decorate) -> int:
    """Examples that Hypothesis gives to a test, once scaled, however often it is collected."""
    count = 0

    def test(number):
        nonlocal count
        count += 1

    test = decorate(test)
    scale_examples(test)
    scale_examples(test)
    test()
    return count


@pytest.mark.parametrize(
    ("share", "count", "expected"),
    [("1", 60, 60), ("0.2", 60, 12), ("0.2", 12, 5), ("0.2", 3, 3), ("0.001", 1000, 5)],
)
def test_share_of_a_count(monkeypatch, share, count, expected):
    monkeypatch.setenv("COLUMNIST_EXAMPLES", share)
    assert examples(count) == expected


def test_everything_without_the_variable(monkeypatch):
    monkeypatch.delenv("COLUMNIST_EXAMPLES", raising=False)
    assert examples(300) == 300


@pytest.mark.parametrize("share", ["0", "-1", "2", "nan", "many", ""])
def test_not_a_share(monkeypatch, share):
    monkeypatch.setenv("COLUMNIST_EXAMPLES", share)
    with pytest.raises(ValueError, match="COLUMNIST_EXAMPLES must be a number in"):
        examples(10)


def test_hypothesis_tries_so_many(monkeypatch):
    monkeypatch.setenv("COLUMNIST_EXAMPLES", "0.2")
    quiet = {"database": None, "derandomize": True, "deadline": None}
    assert runs_of(lambda test: settings(max_examples=60, **quiet)(given(NUMBERS)(test))) == 12
    assert runs_of(lambda test: given(NUMBERS)(settings(max_examples=60, **quiet)(test))) == 12
    assert runs_of(lambda test: settings(**quiet)(given(NUMBERS)(test))) == 20


def test_this_run_is_scaled(request):
    """Whoever collects the tests has turned the knob on those with Hypothesis."""
    assert marked.examples_are_scaled
    assert not hasattr(request.function, "examples_are_scaled")


@given(NUMBERS)
def test_marked(number):
    assert number >= 0


marked = test_marked
