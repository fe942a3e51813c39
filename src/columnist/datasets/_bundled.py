"""Bundled data sets: small examples from the literature, and scikit-learn's sets, prepared."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn import datasets as sklearn_datasets
from sklearn.preprocessing import scale
from sklearn.utils import Bunch

from columnist.data._parameters import StrOptions


def load_wdbc(*, standardize: bool = False) -> Bunch:
    """Breast cancer Wisconsin, 569 x 30, two classes, as scikit-learn has it.

    Parameters
    ----------
    standardize : bool, default=False
        Whether columns get mean 0 and standard deviation 1.

    Returns
    -------
    sklearn.utils.Bunch
        ``data``, ``target``, ``feature_names``, ``target_names``, ``DESCR``.

    Examples
    --------
    >>> from columnist.datasets import load_wdbc
    >>> load_wdbc(standardize=True).data.std(axis=0).round(6).max()
    np.float64(1.0)
    """
    return _ready(sklearn_datasets.load_breast_cancer(), standardize)


def load_wine(*, standardize: bool = False) -> Bunch:
    """Wine, 178 x 13, three classes, as scikit-learn has it.

    Parameters
    ----------
    standardize : bool, default=False
        Whether columns get mean 0 and standard deviation 1.

    Returns
    -------
    sklearn.utils.Bunch
        ``data``, ``target``, ``feature_names``, ``target_names``, ``DESCR``.

    Examples
    --------
    >>> from columnist.datasets import load_wine
    >>> load_wine().data.shape
    (178, 13)
    """
    return _ready(sklearn_datasets.load_wine(), standardize)


def load_digits(*, drop_constant: bool = True, standardize: bool = False) -> Bunch:
    """Handwritten digits of 8 x 8 pixels, 1797 x 61, ten classes, as scikit-learn has them.

    Parameters
    ----------
    drop_constant : bool, default=True
        Whether the three pixels that never change are left out.
    standardize : bool, default=False
        Whether columns get mean 0 and standard deviation 1; a constant one stays 0.

    Returns
    -------
    sklearn.utils.Bunch
        ``data``, ``target``, ``feature_names``, ``target_names``, ``DESCR``.

    Examples
    --------
    >>> from columnist.datasets import load_digits
    >>> load_digits().data.shape, load_digits(drop_constant=False).data.shape
    ((1797, 61), (1797, 64))
    """
    found = sklearn_datasets.load_digits()
    if drop_constant:
        changes = np.ptp(found.data, axis=0) > 0.0
        found.data = found.data[:, changes]
        found.feature_names = list(np.array(found.feature_names)[changes])
    return _ready(found, standardize)


def load_body_measures() -> Bunch:
    """Three persons: height in two units, age and weight; two targets, linear or nearly so.

    The second column repeats the first in another unit, and the weight in kilograms is the
    weight in pounds: a first example of redundant columns.

    Returns
    -------
    sklearn.utils.Bunch
        ``data`` 3 x 4, ``target`` 3 x 2, names, ``DESCR``.

    Examples
    --------
    >>> from columnist.datasets import load_body_measures
    >>> load_body_measures().feature_names
    ['height [cm]', 'height [ft]', 'age', 'weight [lb]']
    """
    return _toy(
        load_body_measures,
        [[160.0, 5.24, 17.0, 98.0], [173.0, 5.67, 26.0, 121.0], [185.0, 6.07, 40.0, 174.0]],
        ["height [cm]", "height [ft]", "age", "weight [lb]"],
        [[17.4, 44.45], [18.4, 54.9], [23.0, 78.9]],
        ["BMI", "weight [kg]"],
    )


def load_seven_points() -> Bunch:
    """Seven points in the plane, the last of which is an outlier.

    Returns
    -------
    sklearn.utils.Bunch
        ``data`` 7 x 2; ``target`` is -1 for the outlier and 1 for the others; ``DESCR``.

    Examples
    --------
    >>> from columnist.datasets import load_seven_points
    >>> points = load_seven_points()
    >>> points.data[points.target < 0]
    array([[1., 4.]])
    """
    points = [[7, 3], [7, 2], [7, 1], [8, 3], [8, 2], [8, 1], [1, 4]]
    return _toy(load_seven_points, points, ["x", "y"], [1, 1, 1, 1, 1, 1, -1], ["outlier", "good"])


def load_crossing_lines() -> Bunch:
    """Ten points: six roughly on a falling line, four very nearly on a rising one.

    Which of them are outliers depends on how many may be removed.

    Returns
    -------
    sklearn.utils.Bunch
        ``data`` 10 x 2; ``target`` is 0 on the falling and 1 on the rising line; ``DESCR``.

    Examples
    --------
    >>> from columnist.datasets import load_crossing_lines
    >>> load_crossing_lines().target
    array([0, 0, 0, 0, 0, 0, 1, 1, 1, 1])
    """
    x = np.array([-6.0, -4.0, -2.2, 2.0, 4.2, 6.0])
    z = np.array([-5.5, -1.2, 1.4, 5.6])
    falling = -0.5 * x + 0.3 * np.array([1.0, -1.1, 0.8, -0.9, 1.2, -0.7])
    rising = 0.5 * z + 0.02 * np.array([1, -1, 1, -1])
    points = np.column_stack([np.append(x, z), np.append(falling, rising)])
    return _toy(load_crossing_lines, points, ["x", "y"], [0] * 6 + [1] * 4, ["falling", "rising"])


def load_hybrid_example(which: str = "select first") -> Bunch:
    """A 3 x 3 matrix on which doing two things one after the other is not optimal.

    One column is to be selected, and one direction extracted from what it leaves. With
    ``"select first"`` the best column is 2, but the best pair of column and direction has column
    0; with ``"extract first"`` the best column after the direction is 1, that of the best pair 2.

    Parameters
    ----------
    which : {"select first", "extract first"}, default="select first"
        Which of the two orders fails.

    Returns
    -------
    sklearn.utils.Bunch
        ``data``; ``target`` is the column of the best pair; ``DESCR``.

    Examples
    --------
    >>> from columnist.datasets import load_hybrid_example
    >>> load_hybrid_example().data
    array([[100.,   0.,   1.],
           [  0.,   1., 100.],
           [  0., 100.,  50.]])
    """
    matrices = {
        "select first": ([[100, 0, 1], [0, 1, 100], [0, 100, 50]], 0),
        "extract first": ([[20, 0, 12], [-5, 0, 100], [10, 30, 0]], 2),
    }
    StrOptions(*matrices).check("which", which)
    data, column = matrices[which]
    return _toy(load_hybrid_example, data, ["x0", "x1", "x2"], column, ["column of the best pair"])


def load_bias_example() -> Bunch:
    """Three points whose centred axes are found by adding a large constant column.

    Returns
    -------
    sklearn.utils.Bunch
        ``data`` 3 x 2; ``target`` holds the eigenvalues of the centred scatter matrix;
        ``bias`` is the value of the constant column; ``DESCR``.

    Examples
    --------
    >>> from columnist.datasets import load_bias_example
    >>> load_bias_example().target.round(4)
    array([7.6056, 0.3944])
    """
    data = np.array([[1.0, 3.0], [2.0, 0.0], [3.0, 0.0]])
    # The scatter matrix [[2, -3], [-3, 6]] has the eigenvalues 4 ± sqrt(13).
    spectrum = 4.0 + np.sqrt(13.0) * np.array([1.0, -1.0])
    found = _toy(load_bias_example, data, ["x", "y"], spectrum, ["first axis", "second axis"])
    found.bias = 100.0
    return found


def load_privacy_example() -> Bunch:
    """Four rows of two features: one output to keep, one to hide.

    The desired output is x1 - x2, the confidential one x1 + 2 x2. Taking the mean of both
    features from each keeps the first and hides the second.

    Returns
    -------
    sklearn.utils.Bunch
        ``data`` 4 x 2; ``target`` 4 x 2, desired and confidential; ``coef``, the two outputs as
        rows; ``cleaned``, the rows to send; ``DESCR``.

    Examples
    --------
    >>> from columnist.datasets import load_privacy_example
    >>> toy = load_privacy_example()
    >>> toy.cleaned @ toy.coef[0] == toy.target[:, 0]
    array([ True,  True,  True,  True])
    """
    data = np.array([[3.0, 1.0], [4.0, 2.0], [5.0, 1.0], [6.0, 5.0]])
    coef = np.array([[1.0, -1.0], [1.0, 2.0]])
    names = ["desired", "confidential"]
    found = _toy(load_privacy_example, data, ["x1", "x2"], data @ coef.T, names)
    found.coef, found.cleaned = coef, data - data.mean(axis=1, keepdims=True)
    return found


def _toy(
    function, data, feature_names: Sequence[str], target, target_names: Sequence[str]
) -> Bunch:
    """A toy, described by what its function says."""
    return Bunch(
        data=np.array(data, dtype=np.float64),
        target=np.array(target),
        feature_names=list(feature_names),
        target_names=np.array(target_names),
        DESCR=function.__doc__.partition("\n\n    Returns")[0].replace("\n    ", "\n"),
    )


def _ready(found: Bunch, standardize: bool) -> Bunch:
    """A set of scikit-learn, its columns standardised on request."""
    return Bunch(
        data=scale(found.data) if standardize else found.data,
        target=found.target,
        feature_names=list(map(str, found.feature_names)),
        target_names=found.target_names,
        DESCR=found.DESCR,
    )
