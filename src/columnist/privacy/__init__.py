"""Remove from features what a predictor does not need, so that they tell less about the rest."""

from columnist.privacy._adversary import AttackResult, attack
from columnist.privacy._cleaner import NullSpaceCleaner
from columnist.privacy._metrics import linear_privacy, privacy_error, utility_error
from columnist.privacy._noise import laplace_noise
from columnist.privacy._report import PrivacyReport

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
