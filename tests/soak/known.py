"""Hostile cases that were once answered wrongly; every soak begins with them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tests.soak.problems import Problem

__all__ = ["known_cases"]


def known_cases() -> Iterator[Problem]:
    """All of them."""
    for cases in (
        _sparse,
        _long_columns,
        _long_rows,
        _near_rows,
        _far_rows,
        _subclasses,
        _pools,
        _streams,
        _borrowed,
        _hidden,
        _at_the_cut,
        _others,
    ):
        yield from cases()


def _case(name: str, task: str, X, size: int, **more) -> Problem:
    return Problem(f"known: {name}", task, X, size, decidable=True, **more)


def _sparse() -> Iterator[Problem]:
    """Digits that the Gram matrix of sparse data loses."""
    for seed in range(3, 8):
        for share in (1e-8, 1e-7, 1e-6, 1e-5):
            rng = np.random.default_rng(seed)
            X = rng.standard_normal((9, 5))
            X[:, 4] = X[:, 0] + share * rng.standard_normal(9)
            y = rng.standard_normal((9, 1))
            yield _case("sparse near copies", "select", X, 4, y=y, form="csr")
            yield _case("sparse near copies", "select", X, 4, form="csr")
    for offset in (1e6, 1e7, 1e8):
        for seed in range(4):
            X = offset + np.random.default_rng(seed).standard_normal((12, 6))
            centred = {"centering": "mean"}
            for form in ("csr", "dense", "dask"):
                yield Problem(
                    "known: sparse offsets", "select", X, 3, form=form, options=centred,
                    decidable=offset <= 1e7,
                )  # fmt: skip


def _long_columns() -> Iterator[Problem]:
    """A column that dominates the others."""
    for ratio in (1e3, 1e6, 1e8):
        for seed in range(20):
            X = np.random.default_rng(seed).standard_normal((6, 5))
            X[:, 2] *= ratio
            for criterion in ("nuclear", "frobenius", "spectral"):
                yield Problem(
                    "known: long column", "select", X, 1, criterion=criterion,
                    options={"n_components": 1}, decidable=ratio <= 1e6,
                )  # fmt: skip


def _long_rows() -> Iterator[Problem]:
    """Rows that dominate the others."""
    orders = [("nuclear", "auto"), ("frobenius", "optimistic"), ("frobenius", "weighted")]
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((7, 3))
        X[:2] += 1e8 * rng.standard_normal(3)
        for criterion, search in orders:
            options = {"n_components": 2, "search": search, "random_state": 0}
            if search == "weighted":
                options["epsilon"] = 0.1
            yield Problem(
                "known: long rows", "outliers", X, 1, criterion=criterion, options=options
            )  # fmt: skip


def _near_rows() -> Iterator[Problem]:
    """Some rows lie together, far from the others, which lie together, too."""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((7, 2))
        X[:3] += 10.0 ** rng.uniform(5, 8) * rng.standard_normal(2)
        for criterion in ("nuclear", "frobenius", "spectral"):
            yield Problem(
                "known: near rows", "outliers", X, 4, criterion=criterion,
                options={"n_components": 1, "random_state": 0},
            )  # fmt: skip


def _far_rows() -> Iterator[Problem]:
    """Rows in blocks, far from the origin."""
    for offset in (1e6, 1e9):
        for seed in range(4):
            X = offset + np.random.default_rng(seed).standard_normal((8, 4))
            for centering in ("mean", "optimal"):
                options = {"n_components": 1, "centering": centering, "random_state": 0}
                yield Problem("known: far rows", "outliers", X, 2, form="dask", options=options)


def _subclasses() -> Iterator[Problem]:
    """Criteria that inherit from a built-in one but have a value of their own."""
    for criterion in ("SquaresAndTop", "Powers", "Capped", "TwoTops", "AllOfThem", "Renamed"):
        for seed in range(6):
            rng = np.random.default_rng(seed)
            X = rng.standard_normal((8, 6))
            y = rng.standard_normal((8, 3))
            yield _case("subclass", "select", X, 2, criterion=criterion)
            yield _case("subclass", "select", X, 3, y=y, criterion=criterion)
            options = {"n_components": 1, "random_state": 0}
            yield _case("subclass", "outliers", X, 2, criterion=criterion, options=options)


def _pools() -> Iterator[Problem]:
    """More sets that are as good as the best than are looked at."""
    for n, k in ((26, 5), (9, 4)):
        X = np.zeros((3, n))
        X[:, n - 3 :] = np.eye(3)
        yield _case("pool", "select", X, k, options={"n_solutions": 5})
    X = np.array([[0.0, 0.0, 0.0, -3.0, 1.0], [0.0, 0.0, 0.0, -3.0, 2.0]])
    for criterion in ("nuclear", "frobenius", "spectral", "schatten:0.5", "LogEnergy"):
        for search in ("auto", "optimistic"):
            for epsilon in (0.0, 0.1):
                options = {"n_solutions": 2, "search": search, "epsilon": epsilon}
                yield _case("pool", "select", X, 4, criterion=criterion, options=options)
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = (rng.integers(-2, 3, (8, 2)) @ rng.integers(-2, 3, (2, 7))).astype(float)
        yield _case("pool", "select", X, 3, options={"n_solutions": 5})


def _streams() -> Iterator[Problem]:
    """Rows that are gone, and nothing left to explain."""
    for seed in range(6):
        X = np.random.default_rng(seed).standard_normal((2, 4))
        for criterion in ("frobenius", "nuclear"):
            yield _case("stream", "select", X, 2, criterion=criterion, form="stream")


def _borrowed() -> Iterator[Problem]:
    """Included columns that depend on one another through a near copy."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((4, 5))
        X[:2, [0, 3]] = 0.0
        X[:, 1] = X[:, 0] * (1.0 + 3e-8 * rng.standard_normal(4))
        options = {"include": [0, 3, 1]}
        yield _case("borrowed", "select", X, 4, criterion="schatten:1.5", options=options)
        yield _case("borrowed", "select", X, 4, options=options)


def _hidden() -> Iterator[Problem]:
    """A near copy of a column that is short beside another: no rounding of that one."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X, y = rng.standard_normal((4, 4)), rng.integers(0, 2, 4)
        X[0] *= [2e6, 1e3, 40.0, 40.0]
        X[:, 3] = X[:, 2] + 3e-9 * rng.standard_normal(4)
        for form in ("dense", "csr", "dask frame"):
            yield Problem("known: hidden", "select", X, 4, y=y, form=form)


def _at_the_cut() -> Iterator[Problem]:
    """Of a near copy, beside one long row, about as much is left as counts as nothing."""
    y = np.array(["blue", "red", "red", "blue", "green", "blue"])
    for seed in range(4):
        for left in (0.8e-13, 0.95e-13, 1.0e-13, 1.05e-13, 1.5e-13):
            rng = np.random.default_rng(seed)
            X = rng.standard_normal((6, 4))
            X[:, 0] = 0.0
            X[5] *= 1e6
            rest = rng.standard_normal(6) * [1, 1, 1, 1, 1, 0]
            rest *= left * np.linalg.norm(X[:, 2]) / np.linalg.norm(rest)
            X[:, 3] = X[:, 2] + rest
            for criterion in ("nuclear", "frobenius"):
                for size in (2, 3):
                    for options in ({}, {"max_gap": 0.1}):
                        yield Problem(
                            "known: cut", "select", X, size, y=y, criterion=criterion,
                            options=options,
                        )  # fmt: skip


def _others() -> Iterator[Problem]:
    """Certified ties, values that are negative or near a limit, very short columns."""
    X = np.eye(6, 5)
    for given in ((0, 1), (2, 4), (1, 3)):
        yield _case("tie", "certify", X, 2, given=given, form="frame")
    repeated = np.random.default_rng(0).standard_normal((8, 5))[:, [0, 1, 2, 0, 1]]
    for given in ((3, 4), (0, 4), (1, 3)):
        yield _case("tie", "certify", repeated, 2, given=given, form="frame")
    for criterion in ("Shifted", "Saturated"):
        for seed in range(4):
            rng = np.random.default_rng(seed)
            X = rng.standard_normal((8, 6))
            yield _case("negative", "select", X, 2, criterion=criterion)
            yield _case("negative", "select", X, 2, criterion=criterion, y=X[:, :2] ** 2)
            options = {"n_components": 1, "random_state": 0}
            yield _case("negative", "outliers", X, 2, criterion=criterion, options=options)
    for seed in range(8):  # beside 1, all errors are small: their digits still tell them apart
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((6, 5))
        X[:, 1] = X[:, 0] + 1e-10 * rng.standard_normal(6)
        y = rng.standard_normal((6, 3)) * [1.0, 1.0, 1e4]
        for size in (3, 4):
            yield Problem(
                "known: saturated", "select", X, size, y=y, criterion="Saturated",
                options={"centering": "mean"},
            )  # fmt: skip
    for seed in range(4):  # beside -10, the errors of both sets are the same
        X = np.random.default_rng(seed).standard_normal((7, 7))
        X[:, 6] = X[:, 0] + 1e-6 * np.random.default_rng(seed + 4).standard_normal(7)
        options = {"n_components": 2, "n_solutions": 2, "exclude": [4, 5]}
        yield _case("near tie", "select", X, 4, criterion="Shifted", options=options)
    X = np.array([[-1.5e7, 5.9e7], [-0.24, 0.16], [-0.15, 0.74], [-0.89, 1.29]])
    for max_gap in (1e-3, 0.1):  # a row that saturates the criterion
        options = {"max_gap": max_gap, "random_state": 0, "n_components": 0}
        for task in ("outliers", "outlier path"):
            yield Problem("known: gap", task, X, 1, criterion="Saturated", options=options)
    X = np.outer([-1.0, 1.0, 2.0], [2.0, -1.0, 1.0, 2.0, -1.0])
    options = {"n_components": 0, "random_state": 49}
    yield Problem("known: few rows", "outlier path", X, 1, options=options)
    X = np.array([[6e6, 1e12], [1e2, 2e7]])
    options = {"n_components": 1, "time_limit": 0.0, "random_state": 0}
    yield Problem("known: no time", "outlier path", X, 1, options=options)
    for exponent in (-100, -155, -165, -200):
        X = np.random.default_rng(1).standard_normal((9, 5))
        y = X[:, 3] + 0.1 * X[:, 0]
        X[:, 3] *= 10.0**exponent
        yield _case("short column", "select", X, 2, y=y)
        X[:, 1:3] *= 10.0**exponent
        yield _case("short column", "select", X, 2, y=y, options={"n_solutions": 10})
