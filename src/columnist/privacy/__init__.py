"""Remove from features what a predictor does not need, so that they contain less other
information."""

from columnist.privacy._cleaner import NullSpaceCleaner
from columnist.privacy._evaluation import (
    AttackResult,
    PrivacyReport,
    attack,
    laplace_noise,
    linear_privacy,
    privacy_error,
    utility_error,
)

__all__ = [
    "AttackResult",
    "NullSpaceCleaner",
    "PrivacyReport",
    "attack",
    "laplace_noise",
    "linear_privacy",
    "privacy_error",
    "utility_error",
]
