"""Evaluation of cleaning: errors of the outputs, attacks, comparison with noise, and a report."""

from __future__ import annotations

from dataclasses import asdict, dataclass

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
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array

from columnist._text import count
from columnist.data._parameters import FINITE, checked
from columnist.privacy._predictor import coefficients_of

# Guesses closer than this share of their size differ by rounding.
_EQUAL = 1e-12
# Penalties that the linear adversary chooses from.
_ALPHAS = np.logspace(-6, 6, 13)
_NOT_PROTECTED = (
    "Information in the outputs of the predictor. They can be computed from a cleaned row, and\n"
    "    what is correlated with them can be inferred. No method that keeps the outputs can\n"
    "    prevent that.",
    'What nonlinear models find in the same numbers: try attack(..., estimator="svm").',
    "Who a row belongs to. Equal rows stay equal, and may be recognised in other data.",
    "The rows that were used for training. This is not differential privacy: no noise is added,\n"
    "    and nothing is promised about an adversary with knowledge of the person.",
)
_OTHER_SECRETS = (
    "Secrets other than the one that was named: rows are moved to hide that one, and may tell\n"
    "    more about others than without."
)


def utility_error(X, X_cleaned, predictor) -> np.ndarray:
    r"""Squared change of the predictor's outputs, :math:`\|Ax - A\tilde x\|^2`, for every row.

    Parameters
    ----------
    X, X_cleaned : array-like of shape (n_samples, n_features)
        Rows before and after.
    predictor : array-like of shape (n_outputs, n_features) or fitted model
        As for :class:`~columnist.privacy.NullSpaceCleaner`.

    Returns
    -------
    ndarray of shape (n_samples,)

    Examples
    --------
    >>> from columnist.privacy import utility_error
    >>> utility_error([[3.0, 1.0]], [[1.0, -1.0]], [[1.0, -1.0], [0.0, 1.0]])
    array([4.])
    """
    X, X_cleaned = _pair("X", X, "X_cleaned", X_cleaned)
    coef = coefficients_of(predictor, X.shape[1])
    change = (X.astype(np.float64) - X_cleaned) @ coef.T
    return np.einsum("ij,ij->i", change, change)


def privacy_error(y_confidential, y_guessed) -> np.ndarray:
    r"""Squared error of an adversary's prediction, :math:`\|\tilde y_c - y_c\|^2`, for every row.

    Parameters
    ----------
    y_confidential, y_guessed : array-like of shape (n_samples,) or (n_samples, n_secrets)
        The truth, or what a model finds from the rows themselves; and the guess from cleaned rows.

    Returns
    -------
    ndarray of shape (n_samples,)

    Examples
    --------
    >>> from columnist.privacy import privacy_error
    >>> privacy_error([5.0, 8.0], [-1.0, -1.0])
    array([36., 81.])
    """
    truth, guess = _pair("y_confidential", y_confidential, "y_guessed", y_guessed)
    return np.einsum("ij,ij->i", guess - truth, guess - truth)


def linear_privacy(y_confidential, y_guessed, y_at_mean) -> float:
    """Share of predictions that are worse than the prediction without the row.

    A guess that equals the one for the mean, up to rounding, counts one half. About one half is
    also the best possible value: an adversary whose guesses are mostly worse uses a bad model and
    can train another.

    Parameters
    ----------
    y_confidential, y_guessed : array-like of shape (n_samples,) or (n_samples, n_secrets)
        The truth and the guess. Every secret of every row counts.
    y_at_mean : float or array-like of shape (n_secrets,)
        The guess for a row that equals the mean.

    Returns
    -------
    float

    Examples
    --------
    >>> from columnist.privacy import linear_privacy
    >>> linear_privacy([1.0, 2.0, 3.0, 6.0], [1.1, 1.5, 2.0, 5.0], 3.0)
    0.25
    """
    truth, guess = _pair("y_confidential", y_confidential, "y_guessed", y_guessed)
    base = np.asarray(y_at_mean, dtype=np.float64)
    if base.ndim > 1 or base.size not in (1, truth.shape[1]):
        raise ValueError(
            f"y_at_mean must hold one value for each of the {truth.shape[1]} secrets; "
            f"got the shape {base.shape}."
        )
    return _worse_share(truth, guess, base)


def _worse_share(truth: np.ndarray, guess: np.ndarray, base: np.ndarray) -> float:
    """Share of guesses farther from the truth than others; equal guesses count one half."""
    worse = np.abs(guess - truth) > np.abs(base - truth)
    near = _EQUAL * (np.abs(guess) + np.abs(base) + np.abs(truth))
    return float(np.mean(np.where(np.abs(guess - base) <= near, 0.5, worse)))


def _pair(first: str, A, second: str, B) -> tuple[np.ndarray, np.ndarray]:
    """Two matrices of one shape; vectors become columns."""
    A, B = (
        check_array(M, dtype=(np.float64, np.float32), ensure_2d=False, input_name=name)
        for name, M in ((first, A), (second, B))
    )
    A, B = (M[:, None] if M.ndim == 1 else M for M in (A, B))
    if A.shape != B.shape:
        raise ValueError(f"{first} and {second} differ in shape: {A.shape} and {B.shape}.")
    return A, B


@checked(utility=FINITE)
def laplace_noise(X, predictor, utility: float, *, random_state=None) -> np.ndarray:
    r"""Rows with Laplace noise that changes the predictor's outputs by a given mean amount.

    Independent noise of scale b changes the outputs :math:`Ax` by
    :math:`2b^2\|A\|_F^2` in expected squared norm, so
    :math:`b = \sqrt{\text{utility} / (2\|A\|_F^2)}`.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Rows.
    predictor : array-like of shape (n_outputs, n_features) or fitted model
        As for :class:`~columnist.privacy.NullSpaceCleaner`.
    utility : float
        Expected squared change of the outputs of a row.
    random_state : int, RandomState or None, default=None
        Source of the noise.

    Returns
    -------
    ndarray of shape (n_samples, n_features)

    Notes
    -----
    Noise of this size gives little protection: it is spread over all directions, including those
    that the predictor uses. It is not differential privacy either, whose scale depends on the
    influence of one person, and not on the change of the outputs.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.privacy import laplace_noise, utility_error
    >>> X = np.zeros((10_000, 3))
    >>> noisy = laplace_noise(X, [[1.0, 2.0, 2.0]], 0.5, random_state=0)
    >>> float(utility_error(X, noisy, [[1.0, 2.0, 2.0]]).mean().round(1))
    0.5
    """
    X = check_array(X, dtype=(np.float64, np.float32))
    size = np.linalg.norm(coefficients_of(predictor, X.shape[1]))
    if size == 0.0:
        raise ValueError(
            "The coefficients of the predictor are all zero: no noise changes its outputs."
        )
    scale = np.sqrt(utility / 2.0) / size
    noise = check_random_state(random_state).laplace(scale=scale, size=X.shape)
    return (X + noise).astype(X.dtype, copy=False)


@dataclass(frozen=True)
class AttackResult:
    """Accuracy of an adversary's predictions of a secret, on rows not used for training.

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
        return (
            f"Attack by {self.model}, {self.n_folds} folds, {self.scoring}\n"
            f"  rows as they were            {self.original:8.3f}\n"
            f"  cleaned, model not retrained {self.unaware:8.3f}\n"
            f"  cleaned, model retrained     {self.retrained:8.3f}\n"
            f"  no row at all                {self.blind:8.3f}"
        )


def attack(
    cleaner, X, y_confidential, *, estimator="linear", cv=5, random_state=None
) -> AttackResult:
    """Predict a secret from cleaned rows, with a model trained on cleaned rows.

    The adversary knows the cleaner: rows with known secrets are cleaned, and the model is trained
    on the result.

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
    original, unaware, retrained, blind = (float(score(y, guess)) for guess in guesses)
    scoring, error, worse = "accuracy", np.nan, np.nan
    if not classes:
        scoring, error = "R2", float(privacy_error(y, guesses[2]).mean())
        worse = _worse_share(y, guesses[2], guesses[3])
    return AttackResult(
        title, scoring, len(folds), original, unaware, retrained, blind, error, worse
    )


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


@dataclass(frozen=True)
class PrivacyReport:
    """Summary of cleaned rows: what is kept, what is removed, and what is not protected.

    All shares are measured on the rows of the report. A linear adversary is given these rows to
    train on, so that the shares tend to be too large.
    """

    n_rows: int
    """Rows."""
    n_features: int
    """Features."""
    n_outputs: int
    """Outputs of the predictor's linear map."""
    n_numbers_left: int
    """Numbers that determine a cleaned row."""
    utility: float
    """The tolerance."""
    largest_utility_error: float
    """Largest squared change of the outputs of a row."""
    mean_utility_error: float
    """Its mean."""
    n_rows_at_mean: int
    """Rows whose outputs were within the tolerance of the mean's: nothing is left of them."""
    variance_left: float
    """Variance of cleaned rows as a share of that of the rows; above 1 if rows had to be moved."""
    recoverable: float
    """Share of the variance of the features that a linear model finds in cleaned rows."""
    secret_recoverable: float | None
    """The same for the confidential outputs, if their coefficients are known."""
    attack: AttackResult | None
    """What linear models guess of the confidential labels, if these were given."""

    def to_dict(self) -> dict:
        """The figures as plain numbers."""
        return asdict(self)

    def __str__(self) -> str:
        removed = self.n_features - self.n_numbers_left
        lines = [
            f"Cleaned {count(self.n_rows, 'row')} of {count(self.n_features, 'feature')}",
            "Kept",
            f"  {count(self.n_outputs, 'output')} of the predictor's linear map, changed by at "
            f"most {self.largest_utility_error:.3g}",
            f"    in squared norm (mean {self.mean_utility_error:.3g}, tolerance "
            f"{self.utility:.3g}).",
            "Removed",
            f"  {removed} of {self.n_features} dimensions. What is left of a row is determined by "
            f"{count(self.n_numbers_left, 'number')}.",
            f"  The variance of the rows is {self.variance_left:.1%} of what it was.",
        ]
        if self.n_rows_at_mean:
            lines.append(
                f"  All of {count(self.n_rows_at_mean, 'row')}: too near the mean to be "
                "distinguished from it within the tolerance."
            )
        lines += ["Still there for an adversary with a linear model", *self._still_there()]
        lines += ["Not protected"]
        lines += [f"  - {text}" for text in _NOT_PROTECTED]
        if self.secret_recoverable is not None:
            lines.append(f"  - {_OTHER_SECRETS}")
        return "\n".join(lines)

    def _still_there(self) -> list[str]:
        lines = [f"  {self.recoverable:.1%} of the variance of the features."]
        if self.secret_recoverable is not None:
            lines.append(f"  {self.secret_recoverable:.1%} of that of the confidential outputs.")
        if self.attack is not None:
            found = self.attack
            lines.append(
                f"  Confidential labels: {found.scoring} {found.retrained:.3f}, after "
                f"{found.original:.3f} from uncleaned rows;"
            )
            lines.append(f"    {found.blind:.3f} would be a blind guess.")
        return lines


def make_report(cleaner, X: np.ndarray, cleaned: np.ndarray, y_confidential) -> PrivacyReport:
    """The report of a fitted cleaner on rows; no input validation but that of the labels."""
    errors = utility_error(X, cleaned, cleaner.coef_)
    mean = cleaner.mean_
    left = np.asarray(cleaned - mean, dtype=np.float64)
    numbers = left @ cleaner.components_.T
    spread = np.sum((X - X.mean(axis=0, dtype=np.float64)) ** 2)
    secret = cleaner.confidential_coef_
    found = None
    if y_confidential is not None:
        found = attack(lambda _: cleaned, X, y_confidential, random_state=0)
    return PrivacyReport(
        n_rows=len(X),
        n_features=X.shape[1],
        n_outputs=len(cleaner.coef_),
        n_numbers_left=len(cleaner.components_),
        utility=float(cleaner.utility),
        largest_utility_error=float(errors.max()),
        mean_utility_error=float(errors.mean()),
        n_rows_at_mean=int(np.sum(np.all(cleaned == mean.astype(cleaned.dtype), axis=1))),
        variance_left=float(np.sum((left - left.mean(axis=0)) ** 2) / (spread or 1.0)),
        recoverable=_explained(X, numbers),
        secret_recoverable=None if secret is None else _explained(X @ secret.T, numbers),
        attack=found,
    )


def _explained(targets: np.ndarray, numbers: np.ndarray) -> float:
    """Share of the variance of the targets that is linear in the numbers."""
    targets = targets - targets.mean(axis=0, dtype=np.float64)
    numbers = numbers - numbers.mean(axis=0)
    U, s, _ = np.linalg.svd(numbers, full_matrices=False)
    U = U[:, s > 1e-10 * max(s.max(initial=0.0), np.finfo(np.float64).tiny)]
    total = np.sum(targets**2)
    return float(np.sum((U.T @ targets) ** 2) / total) if total > 0.0 else 0.0
