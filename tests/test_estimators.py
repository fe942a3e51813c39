"""Every public estimator is a scikit-learn citizen.

The estimators are found, not listed: a new class is checked from its first day.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import pickle
import pkgutil
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_wine
from sklearn.feature_selection import SelectorMixin
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_checks, get_tags
from sklearn.utils.estimator_checks import check_estimator

import columnist
from columnist import robust, selection
from columnist.constraints import AtMost
from columnist.knowledge import Source

# Instances to test, for classes whose constructor needs arguments or whose defaults are slow:
# class name -> function from the class to a list of instances. The first goes through the checks of
# scikit-learn in every run, the others only in slow ones.
INSTANCES: dict[str, Callable[[type], list[BaseEstimator]]] = {
    # Half of the columns explain everything in checks of weights: rounding decides which.
    "ColumnSelector": lambda cls: [
        cls(0.2),
        cls(1, n_components=1, max_nodes=100),
        cls(1, constraints=[AtMost([0], 1)], max_nodes=100),
    ],
    "SubsetRegressor": lambda cls: [cls(1), cls(1, alpha=1.0)],
    "ForwardSelector": lambda cls: [
        cls(),
        cls(1, degree=2),
        cls(1, criterion="nuclear"),
        cls(1, constraints=[AtMost([0], 1)]),
    ],
    "ExchangeSelector": lambda cls: [
        cls(0.2, random_state=0),
        cls(1, constraints=[AtMost([0], 1)], random_state=0),
    ],
    "NormSampler": lambda cls: [cls(), cls(replace=True)],
    "MultiLabelForwardClassifier": lambda cls: [cls(), cls(degree=2)],
    "MatchingFilter": lambda cls: [cls(), cls(centering="mean")],
    "TwoStageSelector": lambda cls: [
        cls(selection.UniformSampler(random_state=0), selection.PivotedQRSelector(1), 0.6),
        cls(selection.MatchingFilter(), selection.ForwardSelector(1), 0.6),
    ],
    "SpectralSelector": lambda cls: [cls(), cls(similarity="fisher"), cls(score="phi1", gamma=3)],
    "ReliefF": lambda cls: [cls(), cls(1, n_neighbors=2, n_jobs=2)],
    "TraceRatio": lambda cls: [cls(), cls(laplacian="unsupervised", scaling="none")],
    "HSIC": lambda cls: [cls(), cls(kernel="rbf"), cls(kernel="rbf", direction="backward")],
    "MRSF": lambda cls: [cls(), cls(response="pca"), cls(response="lda")],
    "MCSF": lambda cls: [cls(), cls(form="residual")],
    "MRMR": lambda cls: [cls(), cls(measure="mutual_information", scheme="difference")],
    "KnowledgeSelector": lambda cls: [cls(), cls(aggregation="borda")],
    "MultiSourceSelector": lambda cls: [
        cls(),
        cls(score="phi1", balance=False, sources=[Source("feature_similarity")]),
    ],
    "SemiSupervisedSelector": lambda cls: [
        cls(),
        cls(weight=0.5, supervised="mutual_information"),
    ],
    "QuadraticPCA": lambda cls: [
        cls(1),
        cls(1, alpha_scores=0.1, alpha_loadings=0.2, centering="mean"),
    ],
    "SparseLoadings": lambda cls: [
        cls(1, output="columns", random_state=0),
        cls(1),
        cls(1, loss="robust", alpha=0.1, output="columns"),
    ],
    "NullSpaceCleaner": lambda cls: [
        cls(),
        cls(utility=0.1),
        cls(Ridge(), utility=0.5, gain="count", centering="none"),
    ],
    "RobustPCA": lambda cls: [
        cls(1, n_outliers=0.1, max_nodes=1),
        cls(1, n_outliers=1, criterion="nuclear", centering="none", max_nodes=1),
    ],
    "TrimmedPCA": lambda cls: [cls(1, n_outliers=0.1)],
    "SchattenPCA": lambda cls: [cls(0.1), cls(1, n_components=1, centering="none")],
    "OutlierPursuit": lambda cls: [cls(n_components=1, n_outliers=0.1)],
    "CoherencePursuit": lambda cls: [
        cls(1, n_outliers=0.1),
        cls(1, n_outliers=0.1, norm="l1"),
    ],
    "HRPCA": lambda cls: [cls(1, n_outliers=0.1, random_state=0)],
    "ROBPCA": lambda cls: [cls(1, random_state=0), cls(1, mcd=False, cutoff="classical")],
    "LeverageOutliers": lambda cls: [cls(1, n_outliers=0.1)],
    "BiasCentered": lambda cls: [cls(robust.TrimmedPCA(1, n_outliers=0.1))],
}


def public_estimators() -> list[type]:
    """Every concrete estimator class defined in a module of the package."""
    found = set()
    for info in pkgutil.walk_packages(columnist.__path__, "columnist."):
        module = importlib.import_module(info.name)
        for name, member in inspect.getmembers(module, inspect.isclass):
            if (
                issubclass(member, BaseEstimator)
                and member.__module__ == info.name
                and not name.startswith("_")
                and not inspect.isabstract(member)
            ):
                found.add(member)
    return sorted(found, key=lambda cls: (cls.__module__, cls.__name__))


def instances() -> Iterator[BaseEstimator]:
    """Small instances of every public estimator."""
    for cls in public_estimators():
        if cls.__name__ in INSTANCES:
            yield from INSTANCES[cls.__name__](cls)
        else:
            yield cls()


ALL = list(instances())
SELECTORS = [
    estimator
    for estimator in ALL
    # Some give columns only if asked.
    if isinstance(estimator, SelectorMixin) and getattr(estimator, "output", "columns") == "columns"
]


def label(estimator: BaseEstimator) -> str:
    return str(estimator).replace("\n", " ")


@functools.cache
def standardised_wine():
    X, y = load_wine(return_X_y=True, as_frame=True)
    return StandardScaler().set_output(transform="pandas").fit_transform(X), y


@pytest.fixture
def wine(estimator):
    """Standardised wine data as a pandas frame, with as many classes as the estimator bears."""
    X, y = standardised_wine()
    tags = get_tags(estimator).classifier_tags
    binary = tags is not None and not tags.multi_class
    return X, (y == 0).astype(int) if binary else y


def test_registry_is_current():
    assert INSTANCES.keys() <= {cls.__name__ for cls in public_estimators()}


# Leading arguments that read better without their names.
POSITIONAL = {"TwoStageSelector": 3}


@pytest.mark.parametrize("cls", public_estimators(), ids=lambda cls: cls.__name__)
def test_arguments_after_the_first_are_keyword_only(cls):
    _, *arguments = inspect.signature(cls.__init__).parameters.values()
    named = arguments[POSITIONAL.get(cls.__name__, 1) :]
    assert all(a.kind is a.KEYWORD_ONLY for a in named)


def later_ones_are_slow(estimators: list[BaseEstimator]) -> Iterator:
    """Cases of a test: the first instance of each class as it is, the others marked as slow."""
    seen = set()
    for estimator in estimators:
        marks = [pytest.mark.slow] if type(estimator) in seen else []
        seen.add(type(estimator))
        yield pytest.param(estimator, id=label(estimator), marks=marks)


# Some checks draw classes that are too rare for five folds.
@pytest.mark.filterwarnings("ignore:The least populated class in y has only:UserWarning")
# Most checks of weights ask for more columns than there are rows.
@pytest.mark.filterwarnings("ignore:.*selected . of 15 columns:UserWarning")
@pytest.mark.parametrize("estimator", list(later_ones_are_slow(ALL)))
def test_scikit_learn_checks(estimator):
    """All checks at once: as cases of their own they would be a quarter of all tests."""
    expected = {}
    if getattr(estimator, "degree", 1) > 1:  # an error says so
        known = [name for name in dir(estimator_checks) if "sample_weight" in name]
        expected = dict.fromkeys(known, "powers of a column depend on single rows")
    results = check_estimator(
        estimator, expected_failed_checks=expected, on_skip=None, on_fail=None
    )
    assert len(results) > 30
    passed = ("passed", "skipped", "xfail")
    if failed := [result for result in results if result["status"] not in passed]:
        names = ", ".join(result["check_name"] for result in failed)
        raise ExceptionGroup(names, [result["exception"] for result in failed])


@pytest.mark.parametrize("estimator", ALL, ids=label)
def test_clone_keeps_parameters(estimator):
    copy = clone(estimator)
    assert copy is not estimator
    assert repr(copy) == repr(estimator)


@pytest.mark.parametrize("estimator", ALL, ids=label)
def test_pickle_keeps_the_fit(estimator, wine):
    X, y = wine
    fitted = clone(estimator).fit(X, y)
    copy = pickle.loads(pickle.dumps(fitted))
    for method in ("transform", "predict"):
        if hasattr(fitted, method):
            found, expected = (np.asarray(getattr(one, method)(X)) for one in (copy, fitted))
            if expected.dtype.kind == "f":  # arrays may be laid out in another way
                np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
            else:
                np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("estimator", ALL, ids=label)
def test_silent_by_default(estimator, wine, capsys):
    clone(estimator).fit(*wine)
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "")


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("estimator", SELECTORS, ids=label)
def test_frames_in_and_out(estimator, library, wine):
    X, y = wine
    frame = X if library == "pandas" else pytest.importorskip("polars").DataFrame(X.to_dict("list"))
    selector = clone(estimator).set_output(transform=library).fit(frame, y)
    out = selector.transform(frame)
    assert type(out) is type(frame)
    names = selector.get_feature_names_out()
    assert list(out.columns) == list(names)
    kept = [name for name in names if name in X.columns]
    assert kept == list(X.columns[selector.get_support()])
    np.testing.assert_array_equal(out[kept].to_numpy(), X[kept].to_numpy())


@pytest.mark.parametrize("estimator", SELECTORS, ids=label)
def test_selection_inside_a_pipeline(estimator, wine):
    X, y = wine
    pipeline = make_pipeline(StandardScaler(), clone(estimator)).fit(X, y)
    names = pipeline.get_feature_names_out()
    assert pipeline.transform(X).shape == (len(X), len(names))


@pytest.mark.parametrize("estimator", SELECTORS, ids=label)
def test_selected_agrees_with_support(estimator, wine):
    selector = clone(estimator).fit(*wine)
    np.testing.assert_array_equal(np.sort(selector.selected_), selector.get_support(indices=True))
