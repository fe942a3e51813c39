"""An adversary who knows how rows are cleaned, and trains on cleaned rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import RidgeClassifierCV, RidgeCV
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import KFold, StratifiedKFold, check_cv
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.utils.validation import check_array

from columnist.privacy._metrics import privacy_error, worse_share

__all__ = ["AttackResult", "attack"]

_ALPHAS = np.logspace(-6, 6, 13)


@dataclass(frozen=True)
class AttackResult:
    """What an adversary guesses of a secret, on rows not trained on.

    The scores are shares of right guesses for classes, and shares of explained variance
    (:math:`R^2`) for values, over the guesses of all folds together.
    """

    model: str
    """The adversary's model."""
    scoring: str
    """Meaning of the scores: "accuracy" or "R2"."""
    n_folds: int
    """Folds of the cross-validation."""
    original: float
    """Score with rows as they were: what there is to hide."""
    unaware: float
    """Score on cleaned rows of a model trained on rows as they were."""
    retrained: float
    """Score on cleaned rows of a model trained on cleaned rows: what is left."""
    blind: float
    """Score of a guess that does not look at the row."""
    privacy_error: float
    """Mean squared error of the retrained model; NaN for classes."""
    linear_privacy: float
    """Share of its guesses that are worse than the mean's; NaN for classes."""

    def __str__(self) -> str:
        return "\n".join(
            [
                f"Attack by {self.model}, {self.n_folds} folds, {self.scoring}",
                f"  rows as they were            {self.original:8.3f}",
                f"  cleaned, model not retrained {self.unaware:8.3f}",
                f"  cleaned, model retrained     {self.retrained:8.3f}",
                f"  no row at all                {self.blind:8.3f}",
            ]
        )


def attack(
    cleaner, X, y_confidential, *, estimator="linear", cv=5, random_state=None
) -> AttackResult:
    """Guess a secret from cleaned rows, with a model trained on cleaned rows.

    Cleaning is judged by an adversary who knows about it: whoever has rows with known secrets
    can clean them too, and train on the result.

    Parameters
    ----------
    cleaner : fitted transformer or callable
        How rows are cleaned: a :class:`~columnist.privacy.NullSpaceCleaner`, anything else with a
        ``transform``, or a function of X.
    X : array-like of shape (n_samples, n_features)
        Rows as they were before cleaning.
    y_confidential : array-like of shape (n_samples,) or (n_samples, n_secrets)
        Their secrets: a vector of strings, booleans or integers holds classes; other numbers are
        values.
    estimator : {"linear", "svm"} or estimator, default="linear"
        The adversary's model: ridge regression with a penalty chosen by cross-validation, a
        support vector machine with a Gaussian kernel, each on standardised features; or any
        regressor or classifier.
    cv : int or splitter, default=5
        Number of folds, shuffled, or how to split the rows.
    random_state : int, RandomState or None, default=None
        Source of the shuffling.

    Returns
    -------
    AttackResult

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.privacy import NullSpaceCleaner, attack
    >>> X = np.random.default_rng(0).standard_normal((200, 4))
    >>> cleaner = NullSpaceCleaner([[1.0, 1.0, 0.0, 0.0]]).fit(X)
    >>> print(attack(cleaner, X, X[:, 0], random_state=0))
    Attack by ridge regression, 5 folds, R2
      rows as they were               1.000
      cleaned, model not retrained    0.5...
      cleaned, model retrained        0.5...
      no row at all                  -0.0...
    """
    clean = cleaner.transform if hasattr(cleaner, "transform") else cleaner
    cleaned = check_array(clean(X), dtype=(np.float64, np.float32))
    X = check_array(X, dtype=(np.float64, np.float32), ensure_min_samples=2)
    y = _secrets(y_confidential, X)
    model, title, classes = _adversary(estimator, y)
    folds = list(_splitter(cv, y, classes, random_state).split(X, y))
    guesses = np.stack([np.empty_like(y)] * 4)
    for train, test in folds:
        plain, again = (clone(model).fit(rows[train], y[train]) for rows in (X, cleaned))
        dummy = DummyClassifier(strategy="prior") if classes else DummyRegressor()
        dummy.fit(X[train], y[train])
        trials = [(plain, X), (plain, cleaned), (again, cleaned), (dummy, X)]
        for guess, (tried, rows) in zip(guesses, trials, strict=True):
            guess[test] = tried.predict(rows[test]).reshape(guess[test].shape)
    score = accuracy_score if classes else r2_score
    scores = [float(score(y, guess)) for guess in guesses]
    errors = (np.nan, np.nan) if classes else _errors(y, guesses[2], guesses[3])
    figures: list[Any] = ["accuracy" if classes else "R2", len(folds), *scores, *errors]
    return AttackResult(title, *figures)


def _errors(y: np.ndarray, guess: np.ndarray, blind: np.ndarray) -> tuple[float, float]:
    """Mean squared error, and share of guesses worse than blind ones."""
    return float(privacy_error(y, guess).mean()), worse_share(y, guess, blind)


def _secrets(y, X: np.ndarray) -> np.ndarray:
    """The secrets as an array: classes as they are, values as floating point numbers."""
    y = np.asarray(y)
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.ndim != 1 or y.dtype.kind == "f":
        y = check_array(y, dtype=np.float64, ensure_2d=False, input_name="y_confidential")
    if len(y) != len(X):
        raise ValueError(f"y_confidential has {len(y)} rows, but X has {len(X)}: one each.")
    return y


def _adversary(estimator, y: np.ndarray) -> tuple[BaseEstimator, str, bool]:
    """The model, what to call it, and whether it guesses classes."""
    if isinstance(estimator, BaseEstimator):
        classes = is_classifier(estimator)
        return estimator, type(estimator).__name__, classes
    classes = y.dtype.kind != "f"
    if estimator == "linear":
        ridge = RidgeClassifierCV(_ALPHAS) if classes else RidgeCV(_ALPHAS)
        return make_pipeline(StandardScaler(), ridge), "ridge regression", classes
    if estimator == "svm":
        machine = SVC() if classes else SVR()
        machine = MultiOutputRegressor(machine) if y.ndim == 2 else machine
        return make_pipeline(StandardScaler(), machine), "support vector machine", classes
    raise ValueError(
        f'estimator must be "linear", "svm" or a scikit-learn estimator; got {estimator!r}.'
    )


def _splitter(cv, y: np.ndarray, classes: bool, random_state):
    if not isinstance(cv, int):
        return check_cv(cv, y, classifier=classes)
    n_folds = min(cv, len(y))
    each = np.unique(y, return_counts=True)[1].min() if classes and y.ndim == 1 else 0
    kind = StratifiedKFold if each >= n_folds else KFold
    return kind(n_folds, shuffle=True, random_state=random_state)
