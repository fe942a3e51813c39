"""The catalogue: complete, and true of the files where they are here."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import datasets as sklearn_datasets

from columnist import datasets
from columnist.datasets._catalogue import CATALOGUE, find_dataset
from columnist.datasets._files import data_files
from reproduction.sources import SOURCES, TARGETS, load
from tests.examples import slow_if
from tests.real_data import data_folder, require

# Sizes of the classes, in the order of the labels; so many classes of one size as n * size.
CLASSES = {
    "vehicle": [212, 217, 218, 199],
    "spectf": [55, 212],
    "libras": 15 * [24],
    "madelon": [1300, 1300],
    "isolet5": 12 * [60] + [59] + 13 * [60],
    "isolet": 26 * [60],
    "cnae-9": 9 * [120],
    "arcene": [112, 88],
    "lung-cancer": [9, 13, 10],
    "iris": 3 * [50],
    "wine": [59, 71, 48],
    "glass": [70, 76, 17, 13, 9, 29],
    "wdbc": [212, 357],
    "ionosphere": [126, 225],
    "farm-ads": [1933, 2210],
    "tox-171": [45, 45, 39, 42],
    "warpar10p": 10 * [13],
    "warppie10p": 10 * [21],
    "pixraw10p": 10 * [10],
    "orlraws10p": 10 * [10],
    "basehock": [994, 999],
    "relathe": [779, 648],
    "pcmac": [982, 961],
    "coil20": 20 * [72],
    "orl": 40 * [10],
    "yale": 15 * [11],
    "yale32": 15 * [11],
    "colon": [40, 22],
    "leukemia": [47, 25],
    "allaml": [47, 25],
    "glioma": [14, 7, 14, 15],
    "prostate-ge": [50, 52],
    "olivetti": 40 * [10],
}
# Labels of a sample, on average.
CARDINALITY = {
    "emotions": 1.868,
    "scene": 1.074,
    "yeast": 4.237,
    "medical": 1.245,
    "enron": 3.378,
    "cal500": 26.044,
}
MISSING = {"lung-cancer": 5, "rf1": 3264, "osales": 10012, "scpf": 9255}


def fetched(name: str, **options):
    """A set from the folder of the files; once that is set, a missing file is a failure."""
    home = require(CATALOGUE[name].data.path)
    return datasets.fetch(name, data_home=home, download=False, **options)


def _is_large(dataset) -> bool:
    return dataset.n_samples * dataset.n_features > 300_000


@pytest.mark.data
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=slow_if(_is_large(own))) for name, own in CATALOGUE.items()],
)
def test_a_set_is_as_described(name):
    dataset = CATALOGUE[name]
    found = fetched(name)
    X, y = found.data, found.target
    assert X.shape == (dataset.n_samples, dataset.n_features)
    assert X.dtype == np.float64
    values = X.data if sp.issparse(X) else X
    assert np.count_nonzero(np.isnan(values)) == MISSING.get(name, 0)
    assert len(found.target_names) == dataset.n_targets == len(set(found.target_names))
    if found.feature_names is not None:
        assert len(found.feature_names) == dataset.n_features == len(set(found.feature_names))
    if dataset.kind == "classes":
        counts = np.bincount(y, minlength=dataset.n_targets)
        assert (counts > 0).all()
        assert counts.tolist() == CLASSES.get(name, counts.tolist())
    else:
        assert y.shape == (dataset.n_samples, dataset.n_targets)
        assert np.isfinite(y).all()
    if name in CARDINALITY:
        assert set(np.unique(y)) == {0, 1}
        assert round(y.sum(axis=1).mean(), 3) == CARDINALITY[name]


@pytest.mark.data
@pytest.mark.parametrize(
    "name", ["arcene", "emotions", "farm-ads", "glioma", "madelon", "medical", "wine", "yale"]
)
def test_the_printed_experiments_see_the_same_data(name):
    """Up to the rows that the documents leave out."""
    X, _ = fetched(name, return_X_y=True)
    used = load(SOURCES[name], data_folder())
    assert used.shape[1] == X.shape[1]
    if sp.issparse(X):
        assert (X != used).nnz == 0
    else:
        np.testing.assert_array_equal(X[: len(used)], used)


@pytest.mark.data
def test_the_same_as_in_scikit_learn():
    for name, theirs in (
        ("wdbc", sklearn_datasets.load_breast_cancer()),
        ("wine", sklearn_datasets.load_wine()),
    ):
        ours = fetched(name)
        np.testing.assert_array_equal(ours.data, theirs.data)
        np.testing.assert_array_equal(ours.target, theirs.target)
    wdbc, theirs = fetched("wdbc"), sklearn_datasets.load_breast_cancer()
    assert wdbc.feature_names == theirs.feature_names.tolist()
    assert wdbc.target_names.tolist() == theirs.target_names.tolist()
    iris, theirs = fetched("iris"), sklearn_datasets.load_iris()
    assert np.argwhere(iris.data != theirs.data).tolist() == [[34, 3], [37, 1], [37, 2]]


@pytest.mark.data
def test_images_stand_upright():
    faces = fetched("olivetti")
    assert faces.images.shape == (400, 64, 64)
    np.testing.assert_array_equal(faces.images.reshape(400, -1), faces.data)
    for name in ("olivetti", "orl", "yale", "yale32", "yaleb", "orlraws10p", "warpar10p"):
        mean = fetched(name).images.mean(axis=0)
        left_and_right = np.corrcoef(mean.ravel(), mean[:, ::-1].ravel())[0, 1]
        up_and_down = np.corrcoef(mean.ravel(), mean[::-1].ravel())[0, 1]
        assert left_and_right > up_and_down, name  # as faces are


def test_every_file_belongs_to_a_set():
    used = {file.path for dataset in CATALOGUE.values() for file in dataset.files}
    assert used == set(data_files())
    for dataset in CATALOGUE.values():
        assert dataset.needed
        assert {file.path for file in dataset.needed} <= {file.path for file in dataset.files}


def test_files_that_come_in_parts_are_all_needed():
    def needed(name):
        return [file.path for file in CATALOGUE[name].needed]

    assert needed("scene") == ["scene/scene-test.arff.gz", "scene/scene-train.arff.gz"]
    assert needed("url-mini") == [f"url-mini/Day{i}_mini.svm" for i in range(6)]
    assert needed("farm-ads") == ["farm-ads/X_raw.npz", "farm-ads/y_raw.npy"]
    assert needed("arcene") == ["arcene/arcene.mat"]


def test_the_printed_sets_are_all_there():
    folders = {source.path for source in (*SOURCES.values(), *TARGETS.values())}
    assert folders <= set(data_files())


@pytest.mark.parametrize("name", ["cnae-9", "cnae_9", "CNAE-9", "fetch_cnae_9"])
def test_ways_to_write_a_name(name):
    assert find_dataset(name).name == "cnae-9"


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("vehicel", "did you mean 'vehicle'"),
        ("isolet4", "did you mean 'isolet' or 'isolet5'"),
        ("mnist", "list_datasets"),
        ("", "list_datasets"),
        (17, "list_datasets"),
    ],
)
def test_a_misspelt_name(name, hint):
    with pytest.raises(ValueError, match=hint):
        find_dataset(name)


def test_a_description_says_it_all():
    for name, dataset in CATALOGUE.items():
        text = dataset.description
        for fact in (dataset.title, str(dataset.n_samples), str(dataset.n_features), "Cite:"):
            assert fact in text, name
        assert all(file.path in text for file in dataset.needed), name
        assert max(map(len, text.splitlines()[:3])) < 100, name


def test_the_guide_lists_every_set():
    guide = Path(__file__).parents[2] / "docs" / "user_guide" / "datasets.rst"
    lines = {line.strip() for line in guide.read_text(encoding="utf-8").splitlines()}
    expected = {
        f'{d.name}, "{d.title}", {d.n_samples}, {d.n_features}, {d.n_targets} {d.kind}'
        for d in CATALOGUE.values()
    }
    assert expected <= lines
