"""What cleaning protects and what not, in plain words."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np

from columnist.privacy._adversary import AttackResult, attack
from columnist.privacy._metrics import utility_error

__all__ = ["PrivacyReport", "make_report"]

_NOT_PROTECTED = (
    "What the outputs of the predictor tell. Who sees a cleaned row can compute them, and guess\n"
    "    from them whatever goes with them: nothing that keeps the outputs can prevent that.",
    'What nonlinear models find in the same numbers: try attack(..., estimator="svm").',
    "Who a row belongs to. Equal rows stay equal, and may be recognised in other data.",
    "The rows that were used for training. This is not differential privacy: no noise is added,\n"
    "    and nothing is promised about an adversary with knowledge of the person.",
)
_OTHER_SECRETS = (
    "Secrets other than the one that was named: rows are moved to hide that one, and may tell\n"
    "    more about others than without."
)


@dataclass(frozen=True)
class PrivacyReport:
    """Figures of cleaned rows; printed, a text for people who decide about sharing them.

    All shares are measured on the rows of the report. A linear adversary is given these rows to
    train on, so that the shares are rather too large than too small.
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
            f"Cleaned {_count(self.n_rows, 'row')} of {_count(self.n_features, 'feature')}",
            "Kept",
            f"  {_count(self.n_outputs, 'output')} of the predictor's linear map, changed by at "
            f"most {self.largest_utility_error:.3g}",
            f"    in squared norm (mean {self.mean_utility_error:.3g}, tolerance "
            f"{self.utility:.3g}).",
            "Removed",
            f"  {removed} of {self.n_features} dimensions. What is left of a row is determined by "
            f"{_count(self.n_numbers_left, 'number')}.",
            f"  The variance of the rows is {self.variance_left:.1%} of what it was.",
        ]
        if self.n_rows_at_mean:
            lines.append(
                f"  All of {_count(self.n_rows_at_mean, 'row')}: too near the mean to be told "
                "from it within the tolerance."
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


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


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
